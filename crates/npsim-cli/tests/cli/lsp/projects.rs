//! Project files in an editor: completions, and the meaning of keys.

use super::client::Editor;

const BASE: &str = "\
[[queue]]
name = \"FREE\"
";

const PROJECT: &str = "\
extends = \"base.toml\"
nam
[chip]
profile = \"\"
bo
[[me]]
id = 0
source = \"\"
[[ring]]
name = \"RX\"
status = \"empty\"
[[ring]]
name = \"TX\"
[buffers]
queue = 
[gpp]
tasks = [\"routes\", \"\"]
[gpp.exceptions]
ring = \"\"
[gpp.]
[[gpp.]]
[load]
special = { tcp = 0.1,  }
rate = 0.5
# a comment
";

fn editor() -> Editor {
    let mut editor = Editor::new(&[
        ("p/npsim.toml", ""),
        ("p/base.toml", BASE),
        ("p/stage/main.uc", "ctx_arb[kill]\n"),
    ]);
    editor.open_text("p/npsim.toml", PROJECT);
    editor
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|label| label == name)
}

#[test]
fn key_completions_fit_their_section() {
    let mut editor = editor();
    let list = editor.completion("p/npsim.toml", "nam|");
    assert!(
        has(&list, "name") && has(&list, "[[ring]]") && has(&list, "[chip]"),
        "{list:?}"
    );
    assert!(!has(&list, "profile") && !has(&list, "chip"), "{list:?}");
    let list = editor.completion("p/npsim.toml", "bo|");
    assert!(
        has(&list, "board") && has(&list, "profile") && !has(&list, "name"),
        "{list:?}"
    );
    let list = editor.completion("p/npsim.toml", "\n[gpp.|]");
    assert!(
        has(&list, "gpp.xcp") && has(&list, "coprocessor") && !has(&list, "ring"),
        "{list:?}"
    );
    let list = editor.completion("p/npsim.toml", "[[gpp.|]]");
    assert!(
        has(&list, "gpp.srp.class") && has(&list, "ring") && !has(&list, "chip"),
        "{list:?}"
    );
    let list = editor.completion("p/npsim.toml", "tcp = 0.1, | }");
    assert!(has(&list, "arp") && !has(&list, "rate"), "{list:?}");
    assert_eq!(editor.completion("p/npsim.toml", "# a com|"), [""; 0]);
}

#[test]
fn value_completions_are_the_valid_ones() {
    let mut editor = editor();
    let list = editor.completion("p/npsim.toml", "profile = \"|");
    assert!(
        has(&list, "ixp2400") && has(&list, "ixp2800") && !has(&list, "enp-2611"),
        "{list:?}"
    );
    assert_eq!(
        editor.completion("p/npsim.toml", "source = \"|"),
        ["stage/main.uc"]
    );
    assert_eq!(
        editor.completion("p/npsim.toml", "status = \"|"),
        ["full", "empty"]
    );
    // The queue is in the extended file.
    assert_eq!(editor.completion("p/npsim.toml", "queue = |"), ["FREE"]);
    let list = editor.completion("p/npsim.toml", "\"routes\", \"|");
    assert!(
        has(&list, "exceptions") && has(&list, "quick-start"),
        "{list:?}"
    );
    assert_eq!(
        editor.completion("p/npsim.toml", "ring = \"|"),
        ["RX", "TX"]
    );
}

#[test]
fn hover_explains_keys_and_values() {
    let mut editor = editor();
    let text = editor.hover("p/npsim.toml", "pro|file");
    assert!(text.starts_with("`chip.profile`: a text"), "{text}");
    assert!(text.contains("A chip profile by name or file"), "{text}");
    let text = editor.hover("p/npsim.toml", "em|pty");
    assert!(text.contains("When the status flag is set"), "{text}");
    assert!(text.ends_with("`empty`: While it is empty."), "{text}");
    let text = editor.hover("p/npsim.toml", "[gpp.exc|eptions]");
    assert!(
        text.contains("`gpp.exceptions`") && text.contains("slow path"),
        "{text}"
    );
    assert_eq!(editor.hover("p/npsim.toml", "# a com|"), "");
    // A project file is not microcode.
    let edits = editor.document_request("p/npsim.toml", "textDocument/foldingRange");
    assert!(edits.is_null(), "{edits}");
}
