//! Texts that `##` and `/**/` join, and texts that they must not join.

use super::{lines, run};

#[test]
fn arguments_are_substituted_in_quotes_labels_and_pastes() {
    let text = "#macro m(p, n)\n#if streq('p', '--')\n none\n#else\n use[p/**/_x, n##n, n#]\n\
                #endif\n#endm\nm(--, 1)\nm(pre, lab)";
    assert_eq!(lines(text), ["none", "use[pre_x, lablab, lab#]"]);
}

#[test]
fn loop_counters_are_pasted() {
    let text = "#define i 0\n#while (i < 3)\nport/**/i#: set[$x/**/i, i]\n\
                #define_eval i (i + 1)\n#endloop";
    assert_eq!(
        lines(text),
        [
            "port0#: set[$x0, 0]",
            "port1#: set[$x1, 1]",
            "port2#: set[$x2, 2]"
        ]
    );
    assert_eq!(lines("#define i 7\na/**/i/**/#: nop"), ["a7#: nop"]);
    assert_eq!(
        lines("#define i 7\n#define_eval V_/**/i 5\n#ifdef V_7\nnop[V_/**/i]\n#endif"),
        ["nop[5]"]
    );
    assert_eq!(lines("immed[a, 0x/**/FF]"), ["immed[a, 0xFF]"]);
    assert_eq!(
        lines("#macro m(e, f)\nn[a/**/e/**/b, a/**/e]\n#endm\nm(,1)\nm(_,1)"),
        ["n[ab, a]", "n[a_b, a_]"]
    );
}

/// Checks that a source yields no line and one error.
fn assert_refused(text: &str, code: &str) {
    let run = run(text);
    assert_eq!(run.diagnostics.len(), 1, "{text}");
    assert_eq!(run.diagnostics[0].code, code, "{text}");
    assert_eq!(run.print(), "", "{text}");
}

#[test]
fn pastes_leaving_a_stray_hash_are_refused() {
    for text in [
        "'b'###d",
        "#define S 's'\nbr[S###]",
        "#for i ['s'###]\nbr[i]\n#endloop",
        "#macro m(x)\nbr[x]\n#endm\n#define C m('s'###)\nC",
    ] {
        assert_refused(text, "invalid-character");
    }
    assert!(run("#define N loop\nN###: br[N###]").diagnostics.is_empty());
}

#[test]
fn pastes_forming_invalid_numbers_are_refused() {
    for text in [
        ".##99999999999999999999",
        "#define N(x) 0##x\nalu[a, b, +, N(xyz)]",
        "#for i [0##xyz]\nalu[a, b, +, i]\n#endloop",
        "#macro m(x)\nalu[a, b, +, x]\n#endm\n#define C m(0##xyz)\nC",
        "#define L 0##xyz, b\n#macro m(x, y)\nalu[a, x, +, y]\n#endm\nm(L)",
    ] {
        assert_refused(text, "invalid-number");
    }
    let labelled = run("l#: .##99999999999999999999");
    assert_eq!(labelled.lines(), ["l#:"]);
    for text in [
        "br[a##99999999999999999999]",
        "#for i [0##x]\nalu[a, b, +, i##1f]\n#endloop",
    ] {
        assert!(run(text).diagnostics.is_empty(), "{text}");
    }
}
