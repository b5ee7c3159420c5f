//! Properties: any text is handled without a panic, and printed output is a
//! fixed point.

use proptest::prelude::*;

use super::run;
use crate::diagnostic::Severity;
use crate::front::token::{LogicalLine, TokenKind};

/// Checks that printed output, preprocessed again, prints as itself and has the
/// same tokens.
fn check_fixed_point(text: &str) -> Result<(), TestCaseError> {
    let first = run(text);
    if first.diagnostics.iter().any(|d| d.level == Severity::Error) {
        return Ok(());
    }
    let printed = first.print();
    let second = run(&printed);
    prop_assert!(second.diagnostics.is_empty(), "{:?}", second.diagnostics);
    prop_assert_eq!(second.print(), printed);
    prop_assert_eq!(first.processed.lines.len(), second.processed.lines.len());
    for (a, b) in first.processed.lines.iter().zip(&second.processed.lines) {
        let kinds = |line: &LogicalLine| {
            line.tokens
                .iter()
                .map(|t| match t.kind {
                    TokenKind::Label => (t.kind.clone(), String::new()),
                    _ => (t.kind.clone(), t.text.to_string()),
                })
                .collect::<Vec<_>>()
        };
        prop_assert_eq!(kinds(a), kinds(b));
    }
    Ok(())
}

/// Generates lines that match often enough to reach deep into the preprocessor.
fn source() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "#define A 1",
        "#define A(x) x-x",
        "#define B A/**/C",
        "#define C(x, y) [x##y, 'x']",
        "#define_eval N (N + 1)",
        "#undef A",
        "#if A",
        "#if defined(B) && N < 3",
        "#ifdef N",
        "#else",
        "#elif 1",
        "#endif",
        "#endif",
        "#macro m(p, q)",
        "#macro n",
        "#endm",
        "#endm",
        "#define N 0\n#while N < 4\n#define_eval N (N + 1)",
        "#repeat 2",
        "#for v [1, (a, b), -]",
        "#endloop",
        "#endloop",
        "m(a, A)",
        "m(C(1, 2), -)",
        "lab#: n",
        "lab#: alu[--, p, -q, B-A]",
        "alu[$x, p/**/q, <<A, (1 - -A)]",
        "br=ctx[v, lab#], defer[1]",
        "use['p q', p##v, &$r[N] & &s]",
        "#line 40 \"x.uc\"",
        "alu[a,",
        "b] /* c */ ; d",
        "*l$index0++ --A--",
    ]);
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

/// Generates programs whose blocks are all closed.
fn balanced() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "#define A 1",
        "#define B (A - -A)",
        "#define_eval N 2 - 5",
        "#define_eval T 'x/**/A'",
        "#undef A",
        "m(a, A)",
        "m([1, 2], out#)",
        "n",
        "lab#: n()",
        "out#: nop",
        "lab#: alu[--, p, -q, B-A]",
        "alu[$x, p/**/q, <<A, (1 - -N)]",
        "br=ctx[v, lab#], defer[1]",
        "use['p q', p##v, &$r[N] & &s, T]",
        "#line 40 \"x.uc\"",
        "#line 7",
        "join[a,\n  // rest\n b]",
        "*l$index0++ --A-- N",
        "br[out#]",
    ])
    .prop_map(str::to_owned);
    let heads = [
        ("#macro m(p, q)", "#endm"),
        ("#macro n", "#endm"),
        ("#if defined(A) && A", "#endif"),
        ("#ifndef A", "#else\nlab#: m(z, lab#)\n#endif"),
        ("#for v [1, (a, b), -, lab]", "#endloop"),
        ("#repeat 2", "#endloop"),
    ];
    let block = line.prop_recursive(3, 48, 8, move |inner| {
        (
            prop::sample::select(heads.to_vec()),
            prop::collection::vec(inner, 0..8),
        )
            .prop_map(|((open, close), body)| format!("{open}\n{}\n{close}", body.join("\n")))
    });
    prop::collection::vec(block, 1..16).prop_map(|blocks| {
        let defined = "#macro m(p, q)\nlab#: set[p, q, lab#]\n#endm\n#macro n\nm(1, lab#)\n#endm\n";
        format!("{defined}{}", blocks.join("\n"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_handled(text in "\\PC{0,200}") {
        run(&text);
    }

    #[test]
    fn arbitrary_ascii_prints_to_a_fixed_point(text in "[ -~\n]{0,300}") {
        check_fixed_point(&text)?;
    }

    #[test]
    fn broken_programs_print_to_a_fixed_point(text in source()) {
        check_fixed_point(&text)?;
    }

    #[test]
    fn balanced_programs_print_to_a_fixed_point(text in balanced()) {
        check_fixed_point(&text)?;
    }
}
