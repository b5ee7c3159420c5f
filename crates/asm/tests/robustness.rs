//! No text makes the assembler panic, and no image means an error with a place.

mod support;

use npsim_asm::Level;
use proptest::prelude::*;
use support::{describe, run};

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
    fn any_text_gives_an_image_or_an_error(lines in proptest::collection::vec(line(), 0..25)) {
        let declarations = ".reg x y z w[3] $x $y $$d @a\n.sig s t\n";
        let text = format!("{declarations}{}\n", lines.join("\n"));
        let assembly = run(&text);
        let errors: Vec<_> = assembly
            .diagnostics
            .iter()
            .filter(|d| d.level == Level::Error)
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
