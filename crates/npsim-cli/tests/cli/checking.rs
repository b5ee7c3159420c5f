use serde_json::Value;

use crate::harness::{Dir, LOOP};

const UNUSED: &str = ".reg unused\nhere#: br[here#]\n";
const WRONG: &str = "#macro set(r)\n  immed[r, SIZE]\n#endm\n.reg x\nset(x)\nhere#: br[here#]\n";

fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn check_reports_errors_and_writes_nothing() {
    let dir = Dir::new()
        .with("good.uc", LOOP)
        .with("bad.uc", WRONG)
        .with("p/npsim.toml", "[[me]]\nid = 0\nsource = \"../bad.uc\"\n");
    let before = dir.files();
    let done = dir.npsim("check good.uc").expect(0, &[]);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
    dir.npsim("check bad.uc")
        .expect(1, &["error[", "SIZE", "1 error"]);
    dir.npsim("check p")
        .expect(1, &["in this expansion of `set`"]);
    dir.npsim("check nothing.uc").expect(1, &["cannot read"]);
    assert_eq!(dir.files(), before);
}

#[test]
fn failing_project_source_suggests_the_project() {
    let source = ".reg x\nimmed[x, RING]\nhere#: br[here#]\n";
    let project = "[[me]]\nid = 0\nsource = \"tx.uc\"\ndefine = { RING = 3 }\n";
    let dir = Dir::new()
        .with("p/npsim.toml", project)
        .with("p/tx.uc", source)
        .with("p/other.uc", source);
    for command in ["check", "asm", "run --until 1us"] {
        dir.npsim(&format!("{command} p/tx.uc"))
            .expect(1, &["RING", "`p/npsim.toml` runs this source", "give `p`"]);
        dir.npsim(&format!("{command} p")).expect(0, &[]);
        let other = dir
            .npsim(&format!("{command} p/other.uc"))
            .expect(1, &["RING"]);
        assert!(!other.err.contains("npsim.toml"), "{}", other.err);
    }
    let dir = dir.with("p/tx.uc", source.to_owned() + "#include \"part.uc\"\n");
    dir.npsim("pp p/tx.uc")
        .expect(1, &["part.uc", "`p/npsim.toml` runs this source"]);
    // The file that the project extends may name the source.
    let dir = dir
        .with("q/npsim.toml", "extends = \"../q/base.part.toml\"\n")
        .with("q/base.part.toml", project)
        .with("q/tx.uc", source);
    dir.npsim("check q/tx.uc")
        .expect(1, &["`q/npsim.toml` runs"]);
}

#[test]
fn project_source_read_alone_is_noted() {
    let source = "#ifdef RING\n.reg x\nimmed[x, RING]\n#endif\nhere#: br[here#]\n";
    let project = "[[me]]\nid = \"0-1\"\nsource = \"src/tx.uc\"\ndefine = { RING = 3 }\n";
    let dir = Dir::new()
        .with("p/npsim.toml", project)
        .with("p/src/tx.uc", source)
        .with("p/src/other.uc", source)
        .with("script", "run 10\n");
    for command in [
        "check TARGET",
        "asm TARGET",
        "asm TARGET --words",
        "run TARGET --until 1us",
        "debug TARGET --script script --batch",
        "pp TARGET",
    ] {
        let of = |target: &str| {
            let done = dir.npsim(&command.replace("TARGET", target)).expect(0, &[]);
            done.err.matches("`p/npsim.toml` runs this source").count()
        };
        assert_eq!(of("p/src/tx.uc"), 1, "{command}");
        assert_eq!(of("p/src/other.uc"), 0, "{command}");
        assert_eq!(of("p"), 0, "{command}");
    }
    // One line is explained with the project's settings.
    dir.npsim("explain p/src/tx.uc:3")
        .expect(0, &["on microengines 0, 1", "immed[x, RING]"]);
    dir.npsim("explain p/src/other.uc:3")
        .expect(1, &["produces no word"]);
    let done = dir.npsim("check p/src/tx.uc --message-format json");
    let told = json_lines(&done.expect(0, &[]).err);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["level"], "note");
    assert_eq!(told[0]["help"], "give `p` in place of the source");
}

#[test]
fn warnings_can_be_allowed_or_denied() {
    let dir = Dir::new().with("a.uc", UNUSED);
    let warned = dir
        .npsim("check a.uc")
        .expect(0, &["warning[unused-register]"]);
    assert!(!warned.err.contains("error"), "{}", warned.err);
    let silent = dir.npsim("check a.uc --allow-warning unused-register");
    assert_eq!(silent.expect(0, &[]).err, "");
    for deny in ["unused-register", "all"] {
        dir.npsim(&format!("check a.uc --deny-warning {deny}"))
            .expect(1, &["error[unused-register]", "1 error"]);
    }
    dir.npsim("asm a.uc --words --deny-warning all")
        .expect(1, &["error[unused-register]"]);
    dir.npsim("run a.uc --until 1us --deny-warning all")
        .expect(1, &["error[unused-register]"]);
    dir.npsim("check a.uc --deny-warning all --allow-warning unused-register")
        .expect(0, &[]);
    dir.npsim("check a.uc --allow-warning unused-registr")
        .expect(2, &["did you mean `unused-register`?"]);
}

#[test]
fn messages_can_be_json() {
    let dir = Dir::new()
        .with("bad.uc", WRONG)
        .with("a.uc", UNUSED)
        .with("p/npsim.toml", "nmae = 1\n");
    for command in ["check bad.uc", "asm bad.uc", "run bad.uc --until 1us"] {
        let done = dir.npsim(&format!("{command} --message-format json"));
        let found = json_lines(&done.expect(1, &[]).err);
        assert_eq!(found.len(), 1, "{command}");
        let place = &found[0]["primary"];
        assert_eq!(found[0]["level"], "error");
        assert_eq!(place["text"], "SIZE");
        assert_eq!(
            (place["line"].as_u64(), place["column"].as_u64()),
            (Some(2), Some(12))
        );
        assert_eq!(place["expansions"][0]["macro"], "set");
        assert_eq!(place["expansions"][0]["call"]["line"], 5);
    }
    let done = dir.npsim("asm a.uc --words --message-format json");
    let done = done.expect(0, &[]);
    assert_eq!(json_lines(&done.err)[0]["code"], "unused-register");
    assert!(done.out.starts_with("; me 0: a.uc"), "{}", done.out);
    let done = dir.npsim("check p --message-format json").expect(1, &[]);
    let found = json_lines(&done.err);
    assert_eq!(found[0]["code"], Value::Null);
    assert_eq!(found[0]["primary"]["line"], 1);
}

#[test]
fn source_with_only_macros_passes() {
    let dir = Dir::new().with("lib.uc", "#macro add(x)\nalu[x, x, +, 1]\n#endm\n");
    for command in ["check lib.uc", "asm lib.uc", "asm lib.uc --list"] {
        dir.npsim(command)
            .expect(0, &["has no instruction", "include it in a program"]);
    }
    dir.npsim("asm lib.uc -o lib.npi")
        .expect(1, &["nothing to write to `lib.npi`"]);
    dir.npsim("run lib.uc --until 1us")
        .expect(1, &["nothing to run"]);
    assert_eq!(dir.files(), ["lib.uc"]);
}

#[test]
fn recursive_macro_is_reported_once() {
    let source = "#macro one(n)\ntwo(n)\n#endm\n#macro two(n)\none(n)\n#endm\none(3)\n";
    let done = Dir::new().with("a.uc", source).npsim("check a.uc");
    let done = done.expect(1, &["`one` > `two` > `one`"]);
    assert!(done.err.lines().count() < 40, "{}", done.err);
}

#[test]
fn message_codes_are_explained() {
    let dir = Dir::new();
    let all = dir
        .npsim("codes")
        .expect(0, &["bank-conflict", "unused-signal"]);
    // Continuation lines are indented further.
    let names = all.out.lines().filter(|line| !line.starts_with(' '));
    assert_eq!(names.count(), npsim_asm::codes::all().len());
    dir.npsim("codes bank-conflict").expect(
        0,
        &[
            "the same bank",
            "    alu[a0, a1, +, a2]",
            "error[bank-conflict]",
            "help: copy one of the registers",
        ],
    );
    dir.npsim("codes include-cycle")
        .expect(0, &["includes itself", "#ifndef NAME"]);
    dir.npsim("codes bank-conflct")
        .expect(1, &["did you mean `bank-conflict`?"]);
}
