//! No text makes the assembler panic, and if there is no image, there is an error with a position.

use crate::support::{describe, run};
use npsim_asm::{Severity, codes};
use proptest::prelude::*;

fn word() -> impl Strategy<Value = String> {
    let fixed = [
        "alu",
        "alu_shf",
        "immed",
        "br",
        "beq",
        "br=byte",
        "br!=ctx",
        "sram",
        "scratch",
        "dram",
        "read",
        "write",
        "ctx_swap",
        "sig_done",
        "defer",
        "x",
        "y",
        "$x",
        "$$d",
        "@a",
        "n$n",
        "s1",
        "a0",
        "b31",
        "L3",
        "l#",
        "l#:",
        "[",
        "]",
        "(",
        ")",
        ",",
        "--",
        "+",
        "-",
        "B",
        "AND",
        "~",
        "<<",
        ">>",
        "indirect",
        "rot3",
        "0",
        "1",
        "255",
        "0x10000",
        "99999999999",
        ".reg",
        ".sig",
        ".begin",
        ".end",
        ".set",
        ".xfer_order",
        ".addr",
        ".num_contexts",
        ".init",
        ".if",
        ".elif",
        ".else",
        ".endif",
        ".while",
        ".endw",
        ".repeat",
        ".until",
        ".break",
        ".import_var",
        ".operand_synonym",
        ".subroutine",
        ".endsub",
        "BIT",
        "SIGNAL",
        "mask",
        "&&",
        "||",
        "!",
        "==",
        "<",
        "volatile",
        "&",
        "*",
        "*l$index0",
        "*$index",
        "++",
        "ctx_arb",
        "kill",
        "any",
        "targets",
        "jump",
        "rtn",
        "load_addr",
        "local_csr_rd",
        "local_csr_wr",
        "ACTIVE_CTX_STS",
        "indirect_ref",
        "max_8",
        "hash_48",
        "cap",
        "fast_wr",
        "msf",
        "mul_step",
        "16x16_start",
        "ld_field",
        "0011",
        "#define",
        "#macro",
        "#endm",
        "#if",
        "#endif",
        "\"t\"",
        "'q'",
        ";",
        "//",
        "/*",
        "\u{e4}",
        "\t",
    ];
    prop_oneof![
        8 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => "[ -~]{0,6}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    let operand = || {
        proptest::sample::select(vec![
            "x",
            "y",
            "z",
            "$x",
            "$y",
            "$$d",
            "@a",
            "--",
            "5",
            "300",
            "a3",
            "b4",
            "(1<<3)",
            "&$x",
            "(&s | 1)",
            "l#",
            "*l$index0[3]",
            "*l$index1++",
            "$9",
            "w[1]",
            "w[9]",
            "s",
            "t",
        ])
    };
    let instruction = (
        proptest::sample::select(vec![
            "alu",
            "alu_shf",
            "immed",
            "br_bset",
            "sram",
            "dram",
            "scratch",
            "msf",
            "ctx_arb",
            "br_signal",
            "ld_field",
            "crc_be",
            "cam_lookup",
            "local_csr_wr",
            "hash_48",
            "cap",
            "rtn",
            "dbl_shf",
            "br",
            "jump",
        ]),
        proptest::collection::vec(
            prop_oneof![
                operand(),
                proptest::sample::select(vec![
                    "+",
                    "AND",
                    "B",
                    "read",
                    "write",
                    "test_and_add",
                    ">>3"
                ])
            ],
            0..6,
        ),
        proptest::sample::select(vec![
            "",
            ", ctx_swap[s]",
            ", sig_done[t]",
            ", defer[1]",
            ", indirect_ref",
            ", any",
            ", load_cc",
        ]),
    )
        .prop_map(|(name, operands, option)| format!("{name}[{}]{option}", operands.join(", ")));
    prop_oneof![
        3 => instruction,
        2 => proptest::collection::vec(word(), 0..10).prop_map(|words| words.join(" ")),
        1 => Just("l#:".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_text_gives_an_image_or_an_error(lines in proptest::collection::vec(line(), 0..25)) {
        let declarations = ".reg x y z w[3] $x $y $$d @a\n.sig s t\n";
        let text = format!("{declarations}{}\n", lines.join("\n"));
        let assembly = run(&text);
        let errors: Vec<_> = assembly
            .diagnostics
            .iter()
            .filter(|d| d.level == Severity::Error)
            .collect();
        prop_assert_eq!(errors.is_empty(), assembly.image.is_some(), "{}", describe(&assembly));
        for diagnostic in &assembly.diagnostics {
            let span = diagnostic.primary.span;
            let file = &assembly.sources.file(span.file).text;
            prop_assert!(span.lo <= span.hi && span.hi as usize <= file.len());
            prop_assert!(!diagnostic.message.is_empty());
            prop_assert!(npsim_asm::codes::explain(diagnostic.code).is_some(), "{}", diagnostic.code);
        }
    }
}

/// Messages of one code.
fn diagnostics_with_code<'a>(
    assembly: &'a npsim_asm::Assembly,
    code: &str,
) -> Vec<&'a npsim_asm::Diagnostic> {
    let all = assembly.diagnostics.iter();
    all.filter(|d| d.code == code).collect()
}

#[test]
fn mistake_in_an_endless_loop_is_reported_once() {
    let assembly = run("#define I 0\n#while (I < 3)\n#evall I (I + 1)\n#endloop\n");
    assert_eq!(
        diagnostics_with_code(&assembly, "unknown-directive").len(),
        1
    );
    assert_eq!(diagnostics_with_code(&assembly, "expansion-limit").len(), 1);
    let assembly = run("#while 1\nimmedd[a0, 1]\n#endloop\n");
    assert_eq!(assembly.diagnostics.len(), 1, "{}", describe(&assembly));
    assert_eq!(assembly.diagnostics[0].code, "expansion-limit");
    let assembly = run("#while (LIMIT < 3)\n#endloop\n");
    assert_eq!(
        diagnostics_with_code(&assembly, "undefined-in-condition").len(),
        1
    );
}

#[test]
fn mistake_in_a_macro_is_reported_per_use_with_one_suggestion() {
    for (condition, code, meant) in [
        ("LIMT > 2", "undefined-in-condition", "`LIMIT`"),
        ("strlem('ab') > 2", "unknown-function", "`strlen`"),
    ] {
        let uses = "m()\nm()\nm()\nhalt\n";
        let macros = format!("#macro m()\n#if {condition}\nnop\n#endif\n#endm\n");
        let assembly = run(&format!("#define LIMIT 3\n{macros}{uses}"));
        let reported = diagnostics_with_code(&assembly, code);
        assert_eq!(reported.len(), 3, "{}", describe(&assembly));
        let guesses = |d: &npsim_asm::Diagnostic| format!("{:?}", d.help).contains(meant);
        assert!(guesses(reported[0]), "{}", describe(&assembly));
        assert!(!guesses(reported[1]) && !guesses(reported[2]), "{code}");
    }
}

#[test]
fn many_unused_names_assemble() {
    let names = |letter: &str| -> String {
        let all: Vec<String> = (0..40_000).map(|i| format!("{letter}{i}")).collect();
        all.join(" ")
    };
    let assembly = run(&format!(".reg {}\n.sig {}\nhalt\n", names("r"), names("s")));
    let image = assembly.image.as_ref().map(|image| image.words.len());
    assert_eq!(image, Some(1));
    assert_eq!(
        diagnostics_with_code(&assembly, "unused-register").len(),
        40_000
    );
    assert_eq!(
        diagnostics_with_code(&assembly, "unused-signal").len(),
        40_000
    );
}

#[test]
fn unclosed_blocks_from_a_loop_are_each_reported() {
    let assembly = run(".reg x\nimmed[x, 0]\n#repeat 20000\n.if (x == 1)\n#endloop\nhalt\n");
    assert!(assembly.image.is_none());
    assert_eq!(
        diagnostics_with_code(&assembly, "unbalanced-block").len(),
        20_000
    );
}

#[test]
fn nested_synonym_expansion_is_limited() {
    let assembly = run(&".operand_synonym x x x x x\n".repeat(40));
    assert!(assembly.image.is_none());
    let reported = &assembly.diagnostics[0].message;
    assert!(reported.contains("1024 tokens"), "{}", describe(&assembly));
}

#[test]
fn overlong_conditions_are_refused() {
    let condition = |parts: usize| {
        format!(
            ".if ({}a0 == 1)\nnop\n.endif\n",
            "a0 == 1 && ".repeat(parts)
        )
    };
    let (short, long) = (run(&condition(100)), run(&condition(20_000)));
    assert_eq!(diagnostics_with_code(&short, codes::CONDITION).len(), 0);
    let [error] = diagnostics_with_code(&long, codes::CONDITION)[..] else {
        panic!("{}", describe(&long));
    };
    assert!(error.message.contains("512 operators"), "{}", error.message);
    assert!(
        error
            .help
            .as_ref()
            .is_some_and(|help| help.contains("split"))
    );
}

#[test]
fn thousands_of_mistakes_are_reported() {
    let macros = (0..4_000)
        .map(|n| format!("#macro put_{n}(a)\nnop\n#endm\n"))
        .collect::<Vec<_>>()
        .concat();
    let calls = (0..4_000)
        .map(|n| format!("putt_{n}(1)\n"))
        .collect::<Vec<_>>()
        .concat();
    let names = (0..5_000)
        .map(|n| format!(".reg name_{n}\n"))
        .collect::<Vec<_>>()
        .concat();
    let uses = (0..4_000)
        .map(|n| format!("alu[nane_{n}, --, B, 1]\n"))
        .collect::<Vec<_>>()
        .concat();
    let open = "#if 1\n".repeat(50_000);
    // This would take minutes if each name were compared with every other.
    for text in [macros + &calls, names + &uses, open] {
        let assembly = run(&text);
        assert!(
            assembly
                .diagnostics
                .iter()
                .filter(|it| it.is_error())
                .count()
                >= 100
        );
    }
}

/// Without bounds on the work of the analyses, each of these programs would take from half a minute
/// to many minutes.
#[test]
fn thousands_of_indirect_jumps_assemble() {
    let each =
        |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let head = ".reg x\nimmed[x, 0]\n";
    let to_any_label = head.to_owned() + &each(4_000, &|n| format!("l{n}#:\nrtn[x]\n"));
    let to_loaded_labels = ".reg x\n".to_owned()
        + &each(2_000, &|n| format!("immed[x, l{n}#]\n"))
        + &each(2_000, &|n| format!("l{n}#:\nrtn[x]\n"));
    let from_subroutines = to_loaded_labels.replace("rtn[x]\n", ".subroutine\nrtn[x]\n.endsub\n");
    let chain = head.to_owned()
        + &each(1_500, &|n| {
            let (next, other) = (n + 1, n + 2);
            format!(
                ".reg v{n}\nl{n}#:\nimmed[v{n}, {n}]\njump[x, l{next}#], targets[l{next}#, l{other}#]\n"
            )
        })
        + "l1500#:\nnop\nl1501#:\nnop\n";
    for (text, words) in [
        (to_any_label, 4_001),
        (to_loaded_labels, 4_000),
        (from_subroutines, 4_000),
        (chain, 3_003),
    ] {
        let assembly = run(&text);
        let image = assembly.image.as_ref();
        let image = image.unwrap_or_else(|| panic!("{}", describe(&assembly)));
        assert_eq!(image.words.len(), words);
    }
}
