use super::client::Editor;

const TEXT: &str = "\
#define LIMIT 3
#macro put(a)
#endm
.reg outer
.begin
    .reg inner $x
    .sig done
    local_csr_rd[]
    br_inp_state[, go#]
    sram[]
    alu[outer, inner, ]
    scratch[put, $x, outer, 0, 1], ctx_s
    ctx_arb[]
    al
    alu[outer, inner, +, o]
.end
go#:
    .re
    alu[outer, outer, +, i]
#if
#inc
";

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|label| label == name)
}

#[test]
fn operand_completions_fit_their_position() {
    let mut editor = Editor::new(&[("a.uc", TEXT)]);
    editor.open("a.uc");
    let list = editor.completion("a.uc", "csr_rd[|]");
    assert!(
        has(&list, "ACTIVE_CTX_STS") && !has(&list, "outer"),
        "{list:?}"
    );
    let list = editor.completion("a.uc", "state[|,");
    assert!(
        has(&list, "scr_ring1_status") && has(&list, "LIMIT"),
        "{list:?}"
    );
    let list = editor.completion("a.uc", "sram[|]");
    assert!(has(&list, "enqueue") && !has(&list, "outer"), "{list:?}");
    let list = editor.completion("a.uc", "inner, |]");
    assert!(has(&list, "AND~") && !has(&list, "outer"), "{list:?}");
    let list = editor.completion("a.uc", "ctx_s|");
    assert!(has(&list, "ctx_swap") && has(&list, "defer"), "{list:?}");
    let list = editor.completion("a.uc", "ctx_arb[|]");
    assert!(has(&list, "done") && !has(&list, "inner"), "{list:?}");
}

#[test]
fn name_completions_are_those_in_scope() {
    let mut editor = Editor::new(&[("a.uc", TEXT)]);
    editor.open("a.uc");
    let list = editor.completion("a.uc", "+, o|");
    for name in ["outer", "inner", "$x", "LIMIT", "go#"] {
        assert!(has(&list, name), "{name}: {list:?}");
    }
    let list = editor.completion("a.uc", "+, i|");
    assert!(has(&list, "outer") && !has(&list, "inner"), "{list:?}");
}

#[test]
fn line_start_completes_instructions_macros_and_directives() {
    let mut editor = Editor::new(&[("a.uc", TEXT)]);
    editor.open("a.uc");
    let list = editor.completion("a.uc", "    al|");
    for name in ["alu", "alu_shf", "put", ".while", "br_!signal"] {
        assert!(has(&list, name), "{name}: {list:?}");
    }
    let list = editor.completion("a.uc", ".re|\n");
    assert!(has(&list, ".reg") && !has(&list, "alu"), "{list:?}");
    let list = editor.completion("a.uc", "#inc|");
    assert!(has(&list, "#include") && !has(&list, "alu"), "{list:?}");
    let list = editor.completion("a.uc", "#if|\n");
    assert!(has(&list, "#ifdef"), "{list:?}");
}
