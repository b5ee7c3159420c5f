//! Tests of the assignment of programs to microengines, and of the names that sources see.

use super::{ME, bad, good, resolved, value};
use crate::resolve::Overrides;

#[test]
fn programs_are_assigned_to_microengines() {
    let text = "[[me]]\nid = \"0-1,4\"\nsource = \"a.uc\"\ndefine = { N = 3, QS = \"atomic\" }\n[[me]]\nid = 2\nsource = \"b.uc\"\n";
    let plan = good(text);
    let ids: Vec<_> = plan.programs.iter().map(|p| p.me).collect();
    assert_eq!(ids, [0, 1, 2, 4]);
    let of = |index: usize, name: &str| {
        plan.programs[index]
            .defines
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    };
    assert_eq!(
        (of(3, "ME_INDEX"), of(3, "ME_NUMBER"), of(3, "ME_COUNT")),
        (Some("4"), Some("16"), Some("4"))
    );
    assert_eq!(
        (of(0, "N"), of(0, "QS"), of(2, "N")),
        (Some("3"), Some("atomic"), None)
    );
    assert_eq!(
        (of(0, "IXP2400"), of(0, "RBUF_ELEMENT_SIZE")),
        (Some("1"), Some("64"))
    );
}

#[test]
fn invalid_programs_are_refused() {
    assert!(bad("", 1).contains("runs no microcode"));
    assert!(
        bad("[[me]]\nid = 8\nsource = \"a.uc\"\n", 1)
            .contains("no microengine 8: this chip has 0 to 7")
    );
    let twice = "[[me]]\nid = \"0-3\"\nsource = \"a.uc\"\n[[me]]\nid = 2\nsource = \"b.uc\"\n";
    assert!(bad(twice, 1).contains("microengine 2 is given two programs"));
    assert!(bad("[[me]]\nid = 0\nsource = \"c.uc\"\n", 1).contains("there is no source"));
    let clash = "[[me]]\nid = 0\nsource = \"a.uc\"\ndefine = { R = 1 }\n[[ring]]\nname = \"R\"\n";
    let text = bad(clash, 1);
    assert!(
        text.contains("npsim.toml:4:12: `R` is already defined by ring `R`"),
        "{text}"
    );
}

#[test]
fn command_line_overrides_the_file() {
    let overrides = Overrides {
        ids: Some("3-4".into()),
        defines: vec![("N".into(), "9".into())],
        ..Overrides::default()
    };
    let plan = resolved(
        "[[me]]\nid = 0\nsource = \"a.uc\"\ndefine = { N = 3 }\n",
        &overrides,
    )
    .unwrap();
    assert_eq!(
        plan.programs.iter().map(|p| p.me).collect::<Vec<_>>(),
        [3, 4]
    );
    assert_eq!(value(&plan, "N"), "9");
    for name in ["ME_INDEX", "PORT_COUNT", "a b"] {
        let overrides = Overrides {
            defines: vec![(name.into(), "1".into())],
            ..Overrides::default()
        };
        assert!(
            resolved(ME, &overrides)
                .unwrap_err()
                .to_string()
                .starts_with(&format!("-D {name}"))
        );
    }
    let two = "[[me]]\nid = 0\nsource = \"a.uc\"\n[[me]]\nid = 1\nsource = \"b.uc\"\n";
    let overrides = Overrides {
        ids: Some("2".into()),
        ..Overrides::default()
    };
    assert!(
        resolved(two, &overrides)
            .unwrap_err()
            .to_string()
            .contains("--me is ambiguous")
    );
}

#[test]
fn stage_names_define_first_and_count() {
    let text = "[[me]]\nname = \"work\"\nid = \"2-4\"\nsource = \"a.uc\"\n[[me]]\nname = \"out\"\nid = 0\nsource = \"b.uc\"\n";
    let plan = good(text);
    let names = ["WORK_FIRST", "WORK_COUNT", "OUT_FIRST", "OUT_COUNT"];
    assert_eq!(names.map(|name| value(&plan, name)), ["2", "3", "0", "1"]);
    assert!(bad(&text.replace("\"work\"", "\"a stage\""), 1).contains("not a name"));
    let problems = bad(&text.replace("\"out\"", "\"work\""), 1);
    assert!(
        problems.contains("the stage `work` is given twice"),
        "{problems}"
    );
}
