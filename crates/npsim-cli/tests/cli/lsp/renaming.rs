use super::client::Editor;

const TEXT: &str = "\
#define ALSO shared
#macro twice(r)
    alu[r, r, +, 1]
#endm
#macro loud()
    alu[seen, seen, +, 1]
#endm
#macro own()
.begin
    .reg hidden
    immed[hidden, 1]
    alu[--, hidden, -, 2]
.end
#endm
.reg x seen shared
.reg $w
immed[x, 1] ; x here is no use
immed[seen, 1]
immed[shared, 1]
alu[ALSO, shared, +, 1]
loud()
own()
top#:
twice(x)
.begin
    .reg x
    immed[x, IXP2400]
    alu[--, x, -, 1]
.end
alu[--, seen, +, x]
alu[$w, --, B, 0]
alu[--, --, B, shared]
br[top#]
";

fn editor() -> Editor {
    let mut editor = Editor::new(&[("a.uc", TEXT)]);
    editor.open("a.uc");
    let errors: Vec<_> = editor
        .diagnostics("a.uc")
        .into_iter()
        .filter(|shown| shown.starts_with('1'))
        .collect();
    assert_eq!(errors, [] as [&str; 0]);
    editor
}

#[test]
fn name_is_renamed_in_its_scope_only() {
    let mut editor = editor();
    let outer = &editor.rename("a.uc", "immed[|x, 1]", "sum").expect("edits")["a.uc"];
    for line in [
        ".reg sum seen shared",
        "immed[sum, 1] ; x here is no use",
        "twice(sum)",
        "    .reg x\n",
        "    alu[--, x, -, 1]",
        "alu[--, seen, +, sum]",
    ] {
        assert!(outer.contains(line), "no `{line}` in\n{outer}");
    }
    let inner = &editor.rename("a.uc", "|x, -, 1]", "sum").expect("edits")["a.uc"];
    assert!(
        inner.contains(".reg x seen") && inner.contains("    .reg sum\n"),
        "{inner}"
    );
    assert!(inner.contains("alu[--, seen, +, x]"), "{inner}");
}

#[test]
fn renamed_label_keeps_its_hash_sign() {
    let mut editor = editor();
    let text = &editor.rename("a.uc", "top|#:", "begin").expect("edits")["a.uc"];
    assert!(
        text.contains("begin#:\n") && text.contains("br[begin#]"),
        "{text}"
    );
}

#[test]
fn unsafe_renames_are_refused() {
    let mut editor = editor();
    let mut refused = |mark: &str, new: &str, why: &str| {
        let answer = editor.rename("a.uc", mark, new);
        let text = answer.expect_err(mark);
        assert!(text.contains(why), "{mark}: {text}");
    };
    refused("|seen, +, x", "other", "`loud`");
    refused("|hidden, 1", "other", "declared by the macro `own`");
    refused("IXP|2400", "other", "name of the project");
    refused("al|u[--", "other", "not a register, signal, label");
    refused("|x, -, 1", "seen", "already");
    refused("|x, -, 1", "a5", "physical");
    refused("|x, -, 1", "1x", "not a name");
    refused("|x, -, 1", "$x", "sigil");
    refused("|x, -, 1", "alu", "instruction");
    refused("|x, -, 1", "ALSO", "defined name");
    refused("|$w, --", "w", "sigil");
}

#[test]
fn name_used_in_a_define_is_not_renamed() {
    let mut editor = editor();
    let refused = editor.rename("a.uc", "|shared, +, 1", "common");
    let why = refused.expect_err("other programs may use the define");
    assert!(why.contains("ALSO"), "{why}");
}
