//! Tests of files that extend others, in temporary folders.

use std::fs;

use super::super::{Overrides, Project};

const ME: &str = "[[me]]\nid = 0\nname = \"work\"\nsource = \"a.uc\"\n";

/// Creates a folder with files in it.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn load(dir: &tempfile::TempDir, name: &str, set: &[&str]) -> Result<Project, String> {
    let overrides = Overrides {
        set: set.iter().map(|s| s.parse().unwrap()).collect(),
        ..Overrides::default()
    };
    Project::load(
        &dir.path().join(name),
        &overrides,
        &crate::Registry::default(),
    )
    .map_err(|problems| problems.to_string())
}

fn value(project: &Project, name: &str) -> Option<String> {
    let defines = &project.programs[0].defines;
    let found = defines.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

#[test]
fn named_entries_and_tables_are_merged() {
    let base = format!(
        "# the base\nname = \"base\"\nchip.profile = \"ixp2400\"\ninclude = [\"lib\"] # ours\n{ME}define = {{ A = 1, B = 2 }} # names\n\
         [[port]]\nrate = \"1Gbps\"\n[[port]]\nrate = \"100Mbps\"\n\
         [[ring]]\nname = \"R\"\nsize = 128\n[[ring]]\nname = \"S\"\n\
         [[route]]\nprefix = \"10.0.0.0/8\"\nport = 0\nmac = \"02:00:00:00:00:01\"\n[gpp]\ntasks = [\"routes\"]\n"
    );
    let own = "extends = \"../base\"\nname = \"own\"\ninclude = [\"mine\"]\n\
        [[me]]\nname = \"work\"\nid = \"0-1\"\n[me.define]\nB = 3 # other\nC = 4\n\
        [[me]]\nid = 5\nsource = \"b.uc\"\n\
        [[ring]]\nname = \"R\"\nsize = 256\n[[ring]]\nname = \"T\"\n\
        [[route]]\nprefix = \"10.0.0.0/8\"\nport = 1\n[[route]]\nprefix = \"11.0.0.0/8\"\nport = 0\nmac = \"02:00:00:00:00:01\"\n\
        [media]\nelement_size = 128\n";
    let dir = folder(&[
        ("base/npsim.toml", &base),
        ("base/a.uc", "nop\n"),
        ("own/npsim.toml", own),
        ("own/b.uc", "nop\n"),
        ("base/lib/c.uc", "nop\n"),
        ("own/mine/c.uc", "nop\n"),
    ]);
    let project = load(&dir, "own", &[]).unwrap();
    assert_eq!(project.name, "own");
    let mes: Vec<_> = project.programs.iter().map(|plan| plan.me).collect();
    assert_eq!(mes, [0, 1, 5]);
    assert_eq!(project.programs[0].source, dir.path().join("base/a.uc"));
    assert_eq!(project.programs[2].source, dir.path().join("own/b.uc"));
    let of = |name| value(&project, name);
    assert_eq!(of("A").as_deref(), Some("1"));
    assert_eq!(of("B").as_deref(), Some("3"));
    assert_eq!(of("C").as_deref(), Some("4"));
    assert_eq!(of("PORT1_MBPS").as_deref(), Some("100"));
    assert!(of("T").is_some() && of("S").is_some());
    assert_eq!(project.boot.element_size, 128);
    assert_eq!(project.routed.len(), 2);
    let folders = ["base/lib", "own/mine"].map(|name| dir.path().join(name));
    assert_eq!(project.include, folders);
    assert_eq!(project.text.files.len(), 2);
    let text = &project.text.text;
    assert!(
        text.contains("size = 256") && !text.contains("extends"),
        "{text}"
    );
    let set = load(&dir, "own", &["ring.T.size=512", "me.work.define.A=7"]).unwrap();
    assert_eq!(value(&set, "A").as_deref(), Some("7"));
}

#[test]
fn unnamed_lists_and_values_are_replaced() {
    let base = format!(
        "{ME}[[port]]\nrate = \"1Gbps\"\n[[port]]\nrate = \"1Gbps\"\n[[ring]]\nname = \"R\"\n\
         [gpp]\ntasks = [\"exceptions\"]\n"
    );
    let dir = folder(&[
        ("base.toml", &base),
        ("a.uc", "nop\n"),
        (
            "own.toml",
            "extends = [\"base.toml\"]\nring = []\n[[port]]\nrate = \"10Mbps\"\n[gpp]\ntasks = []\n",
        ),
        (
            "inline.toml",
            "extends = \"own.toml\"\nport = [{ rate = \"20Mbps\" }]\nme = [{ name = \"work\", define = { X = 1 } }]\n",
        ),
    ]);
    let project = load(&dir, "own.toml", &[]).unwrap();
    assert_eq!(value(&project, "PORT_COUNT").as_deref(), Some("1"));
    assert_eq!(value(&project, "PORT0_MBPS").as_deref(), Some("10"));
    assert_eq!(value(&project, "R"), None);
    let project = load(&dir, "inline.toml", &[]).unwrap();
    assert_eq!(value(&project, "PORT0_MBPS").as_deref(), Some("20"));
    assert_eq!(value(&project, "X").as_deref(), Some("1"));
    assert_eq!(project.programs[0].source, dir.path().join("a.uc"));
}

#[test]
fn similar_name_in_the_extended_file_is_suggested() {
    let base = format!(
        "{ME}[[memory]]\nname = \"STATE\"\nspace = \"scratch\"\nsize = 8\n\
         [[lock]]\nname = \"QS_LOCK\"\nmemory = \"STATE\"\n"
    );
    for (entry, expected) in [
        (
            "[[me]]\nname = \"worc\"\ndefine = { A = 1 }\n",
            Some("work"),
        ),
        ("[[memory]]\nname = \"STATES\"\nsize = 64\n", Some("STATE")),
        ("[[lock]]\nname = \"QSLOCK\"\noffset = 4\n", Some("QS_LOCK")),
        ("[[me]]\nname = \"other\"\n", None),
    ] {
        let dir = folder(&[
            ("base.toml", &base),
            ("a.uc", "nop\n"),
            ("own.toml", &format!("extends = \"base.toml\"\n{entry}")),
        ]);
        let said = load(&dir, "own.toml", &[]).unwrap_err();
        assert!(said.contains("own.toml:2:1: the key `"), "{said}");
        let hint = expected.map(|name| format!("did you mean `{name}`?"));
        match hint {
            Some(hint) => assert!(said.contains(&hint), "{said}"),
            None => assert!(!said.contains("did you mean"), "{said}"),
        }
    }
}

#[test]
fn diamond_extends_merges_once_and_later_files_win() {
    let dir = folder(&[
        (
            "d.toml",
            &format!("{ME}define = {{ X = 1, Y = 1 }}\n[[me]]\nid = 3\nsource = \"a.uc\"\n"),
        ),
        ("a.uc", "nop\n"),
        (
            "b.toml",
            "extends = \"d.toml\"\n[[me]]\nname = \"work\"\ndefine = { X = 2 }\n",
        ),
        (
            "c.toml",
            "extends = \"d.toml\"\n[[me]]\nname = \"work\"\ndefine.Y = 3\n",
        ),
        ("own.toml", "extends = [\"b.toml\", \"c.toml\"]\n"),
    ]);
    let project = load(&dir, "own.toml", &[]).unwrap();
    assert_eq!(value(&project, "X").as_deref(), Some("2"));
    assert_eq!(value(&project, "Y").as_deref(), Some("3"));
    assert_eq!(project.programs.len(), 2);
    assert_eq!(project.text.files.len(), 4);
}

#[test]
fn errors_point_to_the_file_that_contains_them() {
    let dir = folder(&[
        ("a.uc", "nop\n"),
        (
            "unknown.toml",
            &format!("{ME}[[ring]]\nname = \"R\"\nsise = 3\n"),
        ),
        (
            "value.toml",
            &format!("# first\n{ME}[[ring]]\nname = \"R\"\nsize = 100\n"),
        ),
        (
            "element.toml",
            &format!("{ME}[gpp]\ntasks = [\"routes\", \"rutes\"]\n"),
        ),
        ("source.toml", "[[me]]\nid = 0\nsource = \"gone.uc\"\n"),
        ("sub/source.toml", "[[me]]\nid = 0\nsource = \"gone.uc\"\n"),
        ("lacks.toml", &format!("{ME}[[me]]\nid = 1\n")),
        ("broken.toml", "[[me\n"),
        (
            "define.toml",
            &format!("{ME}define = {{ A = 1, PORT_COUNT = 2 }}\n"),
        ),
    ]);
    for (extended, own, expected) in [
        (
            "unknown.toml",
            "",
            vec!["unknown.toml:7:1: there is no key `sise`"],
        ),
        ("value.toml", "", vec!["value.toml:8:8: ", "100 longwords"]),
        ("element.toml", "", vec!["element.toml:6:20: ", "`rutes`"]),
        ("source.toml", "", vec!["source.toml:3:10: ", "gone.uc"]),
        (
            "sub/source.toml",
            "",
            vec!["sub/source.toml:3:10: ", "sub/gone.uc"],
        ),
        (
            "lacks.toml",
            "",
            vec!["lacks.toml:5:1: the key `source` is missing"],
        ),
        (
            "broken.toml",
            "",
            vec!["broken.toml:1:", "own.toml` extends `"],
        ),
        (
            "define.toml",
            "",
            vec!["define.toml:5:19: ", "already defined"],
        ),
        (
            "value.toml",
            "[[ring]]\nname = \"R\"\nsize = 101\n",
            vec!["own.toml:4:8: ", "101"],
        ),
        (
            "value.toml",
            "[[ring]]\nname = \"R\"\nsize = 128\nnummer = 1\n",
            vec!["own.toml:5:1: "],
        ),
        ("value.toml", "[[rin]]\n", vec!["own.toml:2:3: ", "`rin`"]),
        ("value.toml", "ring = 3\n", vec!["own.toml:2:8: "]),
    ] {
        fs::write(
            dir.path().join("own.toml"),
            format!("extends = \"{extended}\"\n{own}"),
        )
        .unwrap();
        let message = load(&dir, "own.toml", &[]).expect_err(extended);
        for phrase in expected {
            assert!(message.contains(phrase), "{extended} {own}: {message}");
        }
    }
    fs::write(dir.path().join("own.toml"), "extends = \"value.toml\"\n").unwrap();
    let message = load(&dir, "own.toml", &["ring.R.size=77"]).unwrap_err();
    assert!(message.contains("77 longwords"), "{message}");
    assert!(!message.contains("value.toml"), "{message}");
    let message = load(&dir, "own.toml", &["media.element_size=128"]).unwrap_err();
    assert!(message.contains("value.toml:8:8: "), "{message}");
}

#[test]
fn refused_extends_gives_the_reason() {
    let deep: Vec<(String, String)> = (0..40)
        .map(|n| {
            (
                format!("{n}.toml"),
                format!("extends = \"{}.toml\"\n", n + 1),
            )
        })
        .collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let dir = folder(&deep);
    fs::write(dir.path().join("binary.toml"), [0xff, 0xfe]).unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::write(dir.path().join("one.toml"), "extends = \"two.toml\"\n").unwrap();
    fs::write(dir.path().join("two.toml"), "extends = \"./one.toml\"\n").unwrap();
    for (own, expected) in [
        (
            "extends = 3\n",
            vec!["own.toml:1:11: ", "a file, or a list"],
        ),
        ("extends = [\"two.toml\", 3]\n", vec!["one.toml"]),
        ("extends = [3]\n", vec!["own.toml:1:11: "]),
        ("[extends]\na = 1\n", vec!["own.toml:1:1: "]),
        (
            "extends = \"gone.toml\"\n",
            vec!["own.toml:1:11: ", "gone.toml", "No such file"],
        ),
        ("extends = \"empty\"\n", vec!["empty/npsim.toml"]),
        (
            "extends = \"binary.toml\"\n",
            vec!["binary.toml` is not text"],
        ),
        (
            "extends = \"own.toml\"\n",
            vec!["extends itself", "own.toml` extends `"],
        ),
        (
            "extends = \"one.toml\"\n",
            vec![
                "two.toml:1:11: ",
                "one.toml` extends itself",
                "own.toml` extends `",
            ],
        ),
        ("extends = \"0.toml\"\n", vec!["more than 32 files"]),
        ("extends = []\n", vec!["runs no microcode"]),
    ] {
        fs::write(dir.path().join("own.toml"), own).unwrap();
        let message = load(&dir, "own.toml", &[]).expect_err(own);
        for phrase in expected {
            assert!(message.contains(phrase), "{own}: {message}");
        }
    }
}

#[test]
fn referenced_files_are_inputs_but_not_merged() {
    let chip = "extends = \"ixp2400\"\n[scratch]\nread = { value = 70, unit = \"ME cycles\", provenance = \"assumed\", basis = \"test\" }\n";
    let dir = folder(&[
        ("base.toml", ME),
        (
            "own/npsim.toml",
            "extends = \"../base.toml\"\n[chip]\nprofile = \"chip.toml\"\n",
        ),
        ("own/chip.toml", chip),
        ("a.uc", "nop\n"),
    ]);
    let project = load(&dir, "own", &[]).unwrap();
    let names = |paths: Vec<&std::path::Path>| -> Vec<String> {
        let names = paths.iter().map(|path| path.file_name().unwrap());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    };
    let merged = project.text.files.iter().map(std::path::PathBuf::as_path);
    assert_eq!(names(merged.collect()), ["base.toml", "npsim.toml"]);
    let inputs = project.inputs.iter().map(|input| input.path.as_path());
    assert_eq!(names(inputs.collect()), ["chip.toml"]);
}
