use super::client::Editor;

const TEXT: &str = "\
#define SIZE 0x40 ; bytes of it
; wait(s)
;   Waits for s.
#macro wait(s)
    ctx_arb[s]
#endm
.num_contexts 8
.reg read $in
.reg write $out
.reg count
.sig done
start#:
    local_csr_rd[ACTIVE_CTX_STS]
    immed[count, 0]
    msf[read, $in, count, 0, 1], sig_done[done]
    wait(done)
    alu[count, count, +, $in]
    alu[$out, --, B, count]
    .if (count > 5000)
        alu[count, count, -, 1]
    .endif
    .begin
        .sig done
        scratch[put, $out, count, 0, 1], ctx_swap[done], defer[1]
        alu[count, count, OR, SIZE]
    .end
    br_inp_state[scr_ring1_status, start#]
    br[start#]
";

#[test]
fn hover_explains_instructions_keywords_and_registers() {
    let mut editor = Editor::new(&[("a.uc", TEXT)]);
    editor.open("a.uc");
    let mut has = |mark: &str, phrases: &[&str]| {
        let text = editor.hover("a.uc", mark);
        for phrase in phrases {
            assert!(text.contains(phrase), "{mark}: no `{phrase}` in\n{text}");
        }
    };
    has(
        "al|u[count",
        &["alu[dest, a, op, b]", "Defer: none", "Word format", "B - A"],
    );
    has(
        "scra|tch[",
        &[
            "`test_and_set`",
            "Where this is known from: ",
            "golden (words that the vendor's own",
        ],
    );
    has("pu|t, $out", &["scratch[put"]);
    has("br_|inp", &["Defer: at most"]);
    has("ACTIVE|_CTX", &["local CSR at"]);
    has("scr_ri|ng1", &["Input state 3"]);
    has("def|er[1", &["defer[n]"]);
    has(".be|gin", &["Opens a scope"]);
    has("#mac|ro", &["#endm"]);
}

#[test]
fn hover_explains_names_of_the_program() {
    let mut editor = Editor::new(&[("a.uc", TEXT)]);
    editor.open("a.uc");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
    let mut has = |mark: &str, phrases: &[&str]| {
        let text = editor.hover("a.uc", mark);
        for phrase in phrases {
            assert!(text.contains(phrase), "{mark}: no `{phrase}` in\n{text}");
        }
    };
    has(
        "cou|nt, +",
        &["register: `count` is ", ".reg count", "a.uc:10"],
    );
    has("$i|n]", &[".reg read $in", "`$in` is $", "a.uc:8"]);
    has("[don|e], defer", &["is signal", "a.uc:23"]);
    has("sig_done[don|e]", &["a.uc:11", "is signal "]);
    has("wai|t(done)", &["#macro wait(s)", "Waits for s."]);
    has("SI|ZE]", &["#define SIZE 0x40", "bytes of it"]);
    has("start|#]", &["label: address 0", "a.uc:12"]);
}

#[test]
fn hover_shows_the_register_used_at_the_line() {
    // The two live ranges of `x` are independent, and each must be in a different bank from the
    // register it is added to.
    let text = ".reg x a b\n.reg_addr a 0 A\n.reg_addr b 1 B\nimmed[a, 1]\nimmed[b, 2]\n\
        immed[x, 3]\nalu[a, a, +, x]\nimmed[x, 4]\nalu[b, b, +, x]\n\
        local_csr_wr[0x10, a]\nlocal_csr_wr[0x10, b]\nctx_arb[kill]\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
    let first = editor.hover("a.uc", "immed[|x, 3]");
    assert!(first.contains("register: `x` is b"), "{first}");
    let second = editor.hover("a.uc", "alu[b, b, +, |x]");
    assert!(second.contains("register: `x` is a"), "{second}");
    let declared = editor.hover("a.uc", ".reg |x a b");
    for part in [
        "`x` is b",
        " in words 2 to 3",
        "`x` is a",
        " in words 4 to 5",
    ] {
        assert!(declared.contains(part), "{declared}");
    }
}
