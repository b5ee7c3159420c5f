//! Every diagnostic of parser, allocator and encoder: a text that causes it.

#![allow(
    clippy::format_push_string,
    reason = "short programs are built as text"
)]

use std::collections::BTreeSet;

use crate::support::{codes, describe, run, run_with};
use npsim_asm::{Options, Severity};
use npsim_isa::{Generation, Instruction, encode};

/// A code and a text whose only error has that code.
const ERRORS: &[(&str, &str)] = &[
    ("syntax", "alu[a0, --, B a1\n, ]"),
    ("syntax", "alu[a0, --, B, a1] defer[1]"),
    ("syntax", ".reg 5"),
    ("syntax", "br[loop]\n"),
    ("empty-program", "; only a remark\n.reg x"),
    ("unknown-instruction", "aul[a0, --, B, b1]"),
    ("unknown-option", "sram[read, $0, a0, 0, 1], ctx_swp[s1]"),
    ("unknown-option", "alu[a0, --, B, b1], defer[1]"),
    ("operand-count", "alu[a0, a1]"),
    ("undefined-register", "alu[x, --, B, b1]"),
    ("undefined-signal", "ctx_arb[x]"),
    ("undefined-label", "br[x#]"),
    ("label-twice", "x#: nop\nx#: br[x#]"),
    (
        "ambiguous-label",
        ".begin\nx#: nop\n.end\n.begin\nx#: nop\n.end\nbr[x#]",
    ),
    ("declared-twice", ".reg x\n.reg x[2]\nimmed[x, 0]"),
    ("array-bounds", ".reg w[2]\nimmed[w[2], 0]"),
    ("array-bounds", ".reg x\nimmed[x[1], 0]"),
    ("unbalanced-scope", ".begin\nnop"),
    ("unbalanced-scope", ".end\nnop"),
    (
        "signal-as-register",
        ".sig s\nalu[a0, --, B, s]\nctx_arb[s]",
    ),
    ("register-as-signal", ".reg r\nctx_arb[r]"),
    ("constant-range", "alu[a0, a1, +, 256]"),
    ("constant-range", "immed[a0, 0x12345678]"),
    ("constant-range", "alu_shf[a0, --, B, b1, <<32]"),
    ("constant-range", "sram[read, $0, a0, 128, 1], ctx_swap[s1]"),
    ("constant-range", "sram[read, $0, a0, 0, 9], ctx_swap[s1]"),
    ("constant-range", "br=ctx[8, L0]"),
    ("constant-range", "local_csr_wr[0x46, a0]"),
    ("constant-destination", "alu[5, --, B, a0]"),
    ("late-constant", ".reg $x\nalu_shf[$x, --, B, a0, <<(&$x)]"),
    ("not-constant", "alu[a0, a1, +, (FOO + 1)]"),
    ("missing-operand", "alu[a0, --, +, b1]"),
    ("unused-operand", "mul_step[a0, b0], 16x16_last"),
    ("operator-with-shift", "alu[a0, a1, +, b1, <<2]"),
    ("byte-mask", "ld_field[a0, 2, b1]"),
    ("mul-step", "mul_step[a0, b0]"),
    ("crc-kind", "crc_be[crc_33, --, b1]"),
    ("unknown-state", "br_inp_state[scr_ring99_status, L0]"),
    ("unknown-csr", "local_csr_wr[ACTIVE_CTX_STZ, a0]"),
    ("unknown-command", "sram[raed, $0, a0, 0, 1], ctx_swap[s1]"),
    (
        "not-a-transfer-register",
        ".reg x\nsram[read, x, a0, 0, 1], ctx_swap[s1]",
    ),
    (
        "transfer-direction",
        ".reg write $x\nsram[read, $x, a0, 0, 1], ctx_swap[s1]",
    ),
    ("transfer-direction", ".reg read $x\nalu[$x, --, B, a0]"),
    (
        "transfer-group-too-short",
        ".reg $x $y\nsram[read, $x, a0, 0, 2], ctx_swap[s1]\nalu[a0, --, B, $y]",
    ),
    (
        "transfer-order",
        ".reg $x $y\n.xfer_order $x $y\n.xfer_order $y $x\nimmed[$x, 0]\nimmed[$y, 0]",
    ),
    (
        "ambiguous-address",
        ".reg read $x\n.reg write $x\nimmed[$x, 0]\nalu[a0, --, B, $x]\nimmed[a1, &$x]",
    ),
    (
        "two-completions",
        "sram[read, $0, a0, 0, 1], ctx_swap[s1], sig_done[s2]",
    ),
    (
        "defer-without-swap",
        "sram[read, $0, a0, 0, 1], sig_done[s1], defer[1]",
    ),
    ("defer-too-large", "br[L0], defer[3]\nnop\nnop\nnop"),
    ("defer-too-large", "beq[L0], defer[4]"),
    ("defer-past-end", "nop\nbr[L0], defer[1]"),
    ("branch-in-defer", "br[L0], defer[1]\nbr[L0]"),
    (
        "branch-in-defer",
        "br[L0], defer[1]\nsram[read, $0, a0, 0, 1], ctx_swap[s1]",
    ),
    (
        "max-count",
        "dram[rbuf_rd, --, a0, b4, max_8], sig_done[s4]",
    ),
    ("any-and-all", "ctx_arb[s1], any, all"),
    (
        "csr-read-without-immed",
        "local_csr_rd[ACTIVE_CTX_STS]\nnop",
    ),
    ("assertion-failed", ".assert (1 == 2) \"no\"\nnop"),
    ("import-value", ".import_var N\nalu[a0, a1, +, N]"),
    ("import-value", ".import_var N\nimmed[a0, (N * 3)]"),
    ("unbalanced-scope", ".subroutine\nnop"),
    ("unbalanced-scope", ".endsub\nnop"),
    ("unbalanced-block", ".if (1)\nnop"),
    ("unbalanced-block", ".endif\nnop"),
    ("unbalanced-block", ".break\nnop"),
    ("condition", ".if\nnop\n.endif"),
    ("condition", ".if (a0 ==)\nnop\n.endif"),
    ("condition", ".if (a0 * 3)\nnop\n.endif"),
    ("unsupported-directive", ".reeg x\nnop"),
    ("bank-conflict", "alu[a0, a1, +, a2]"),
    ("bank-conflict", ".reg x\nimmed[x, 1]\nalu[x, x, +, x]"),
    (
        "bank-conflict",
        ".reg x y z\nalu[--, x, +, y]\nalu[--, y, +, z]\nalu[--, z, +, x]",
    ),
    ("restricted-operand", "alu_shf[a0, @a3, OR, b1, <<2]"),
    ("path-conflict", "alu[a0, $1, +, $2]"),
    ("two-constants", "alu[a0, 1, +, 2]"),
    ("signal-odd", "dram[read, $$0, a0, 0, 1], sig_done[s3]"),
    (
        "command-without-signal",
        "sram[enqueue, --, a0, b0], sig_done[s3]",
    ),
    (
        "transfer-kind",
        ".num_contexts 4\ndram[read, $20, a0, 0, 1], ctx_swap[s2]",
    ),
    ("use-instead", "immed[--, 0]"),
    (
        "signal-kinds",
        ".sig s\nscratch[test_and_add, $0, a0, 0], sig_done[s]\nctx_arb[s]\nsram[test_and_incr, $0, a0, 0], sig_done[s]\nctx_arb[s]",
    ),
    ("address-taken", ".reg y\n.areg y 20\nimmed[y, 0]"),
    (
        "address-taken",
        ".reg @x @y\n.areg @x 3\n.areg @y 3\nimmed[@x, 0]\nimmed[@y, 0]",
    ),
];

const WARNINGS: &[(&str, &str)] = &[
    ("unused-register", ".reg x\nctx_arb[kill]"),
    ("unused-signal", ".sig x\nctx_arb[kill]"),
    (
        "declared-twice",
        ".reg x\n.reg x\nimmed[x, 0]\nctx_arb[kill]",
    ),
    (
        "read-before-write",
        ".reg x\nalu[--, --, B, x]\nctx_arb[kill]",
    ),
    ("runs-off-the-end", "nop"),
    ("no-completion", "dram[read, $$0, a0, 0, 1]\nctx_arb[kill]"),
    (
        "no-completion",
        "cap[write, $0, hash_multiplier_48_1]\nctx_arb[kill]",
    ),
    (
        "pointer-too-soon",
        "local_csr_wr[ACTIVE_LM_ADDR_0, a0]\nnop\nalu[a1, --, B, *l$index0[2]]\nctx_arb[kill]",
    ),
    (
        "pointer-too-soon",
        "local_csr_wr[T_INDEX, a0]\nnop\nnop\nalu[a1, --, B, *$index++]\nctx_arb[kill]",
    ),
    (
        "pointer-too-soon",
        "byte_align_be[--, a0]\nlocal_csr_wr[BYTE_INDEX, a0]\nbyte_align_be[a1, a2]\nctx_arb[kill]",
    ),
    (
        "align-without-predecessor",
        "byte_align_be[a1, a2]\nctx_arb[kill]",
    ),
    (
        "align-without-predecessor",
        "byte_align_le[--, a0]\nctx_arb[voluntary]\nbyte_align_le[a1, a2]\nctx_arb[kill]",
    ),
    (
        "transfer-in-flight",
        ".sig s\nsram[write, $0, a0, 0, 2], sig_done[s]\nimmed[$1, 3]\nctx_arb[s]\nctx_arb[kill]",
    ),
    (
        "transfer-in-flight",
        ".sig s\n.reg read $x\nsram[read, $x, a0, 0, 1], ctx_swap[s], defer[1]\nalu[a1, --, B, $x]\nctx_arb[kill]",
    ),
    ("unreachable-code", "br[end#]\nnop\nend#: ctx_arb[kill]"),
    (
        "indirect-source",
        "nop\nalu_shf[a0, --, B, b0, <<indirect]\nctx_arb[kill]",
    ),
    (
        "indirect-source",
        "alu[--, a0, OR, 0]\nx#: asr[a0, b0, >>3]\nbr[x#]",
    ),
    (
        "signed-compare",
        ".reg x\nimmed[x, 1]\n.while (x > 0x80000000)\nalu[x, x, +, 1]\n.endw\nctx_arb[kill]",
    ),
    (
        "signal-never-awaited",
        ".sig s\nsram[read, $0, a0, 0, 1], sig_done[s]\nctx_arb[kill]",
    ),
];

#[test]
fn each_error_is_reported_within_its_source() {
    let mut wrong = String::new();
    for (code, text) in ERRORS {
        let assembly = run(text);
        let found = codes(text, Severity::Error);
        if assembly.image.is_some() || !found.contains(code) || found.iter().any(|c| c != code) {
            wrong.push_str(&format!("--- {code}: {text}\n{}", describe(&assembly)));
        }
        for diagnostic in assembly.diagnostics.iter().filter(|d| d.code == *code) {
            let span = diagnostic.primary.span;
            assert_eq!(span.file.0, 0, "{text}");
            assert!(span.hi as usize <= text.len(), "{text}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn each_warning_is_reported_and_an_image_is_produced() {
    let mut wrong = String::new();
    for (code, text) in WARNINGS {
        let assembly = run(text);
        if assembly.image.is_none() || !codes(text, Severity::Warning).contains(code) {
            wrong.push_str(&format!("--- {code}: {text}\n{}", describe(&assembly)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn register_shortage_error_names_the_worst_point() {
    let names: Vec<String> = (0..40).map(|i| format!("r{i}")).collect();
    let mut text = format!(".reg sum {}\nimmed[sum, 0]\n", names.join(" "));
    for name in &names {
        text += &format!("immed[{name}, 1]\n");
    }
    for name in &names {
        text += &format!("alu[sum, sum, +, {name}]\n");
    }
    text += "local_csr_wr[0x10, sum]\nctx_arb[kill]\n";
    let assembly = run(&text);
    let error = assembly
        .diagnostics
        .iter()
        .find(|d| d.code == "too-many-registers")
        .unwrap();
    assert!(
        error.notes.iter().any(|note| note.contains("`r38`")),
        "{error:?}"
    );
    assert!(
        error.notes.iter().any(|note| note.contains("4 too many")),
        "{error:?}"
    );
    let (line, _) = assembly.sources.line_column(error.primary.span);
    assert_eq!(line, 41);
}

#[test]
fn transfer_register_and_signal_shortages_are_reported() {
    let names: Vec<String> = (0..17).map(|i| format!("$r{i}")).collect();
    let mut text = format!(".reg {0}\n.xfer_order {0}\n", names.join(" "));
    for name in &names {
        text += &format!("immed[{name}, 1]\n");
    }
    assert!(codes(&text, Severity::Error).contains(&"too-many-registers"));
    let mut text = String::new();
    for i in 0..16 {
        text += &format!(".sig volatile v{i}\nctx_arb[v{i}]\n");
    }
    let assembly = run(&text);
    let error = assembly
        .diagnostics
        .iter()
        .find(|d| d.code == "too-many-signals")
        .unwrap();
    assert!(error.primary.text.contains("16 numbers"), "{error:?}");
}

#[test]
fn program_exceeding_the_control_store_is_refused() {
    let options = Options {
        control_store_words: 3,
        ..Options::default()
    };
    let assembly = run_with("nop\nnop\nnop\nbr[L0]\n", &options);
    assert!(assembly.image.is_none());
    assert_eq!(assembly.diagnostics[0].code, "program-too-long");
    assert_eq!(
        assembly
            .sources
            .line_column(assembly.diagnostics[0].primary.span),
        (4, 1)
    );
}

#[test]
fn spelling_suggestions_include_a_patch() {
    for (text, wanted) in [
        (".reg count\nimmed[count, 0]\nalu[cuont, --, B, 1]", "count"),
        (".sig done\nctx_arb[dnoe]\nctx_arb[done]", "done"),
        ("loop#: br[lopo#]", "loop#"),
        ("immde[a0, 1]", "immed"),
    ] {
        let assembly = run(text);
        let patched = assembly
            .diagnostics
            .iter()
            .flat_map(|d| &d.patches)
            .any(|patch| patch.replacement == wanted);
        assert!(patched, "{text}: {}", describe(&assembly));
    }
}

#[test]
fn bank_cycle_error_names_all_its_instructions() {
    let text = ".reg x y z\nalu[--, x, +, y]\nalu[--, y, +, z]\nalu[--, z, +, x]\n";
    let assembly = run(text);
    let error = assembly
        .diagnostics
        .iter()
        .find(|d| d.code == "bank-conflict")
        .unwrap();
    let mut lines: Vec<u32> = error
        .secondary
        .iter()
        .map(|label| assembly.sources.line_column(label.span).0)
        .collect();
    lines.push(assembly.sources.line_column(error.primary.span).0);
    lines.sort_unstable();
    assert_eq!(lines, [2, 3, 4], "{error:?}");
}

#[test]
fn help_texts_name_the_specific_remedy() {
    let messages_of = |text: &str| describe(&run(text));
    let negative = messages_of("alu[a0, a0, +, -1]");
    assert!(
        negative.contains("immed[reg, 0xffffffff]") && negative.contains("subtract 1"),
        "{negative}"
    );
    let banks = messages_of(".reg x y z\nalu[--, x, +, y]\nalu[--, y, +, z]\nalu[--, z, +, x]\n");
    assert!(banks.contains("copy `"), "{banks}");
    let paths = messages_of(
        ".reg $x $y\n.sig s\n.xfer_order $x $y\nsram[read, $x, a0, 0, 2], ctx_swap[s]\nalu[a0, $x, +, $y]\nctx_arb[kill]\n",
    );
    assert!(
        paths.contains("`$x` and `$y` use the same read path"),
        "{paths}"
    );
    for (text, help) in [
        ("start: nop", "as in `start#:`"),
        ("start:\nnop", "as in `start#:`"),
        (".while (1)\nnop\n.endwhile", "write `.endw`"),
        ("add[a0, a0, 1]", "write `alu[dest, a, +, b]`"),
        ("alu[a0, --, B b1]", "a comma missing between `B` and `b1`"),
        ("alu[a0, a0, <<, 2]", "a shift is the last operand"),
        ("immed[a0, RING_SIZE]", "from the project file"),
        ("local_csr_wr[FOO_BAR_BAZ, a0]", "npsim isa"),
    ] {
        let messages = messages_of(text);
        assert!(messages.contains(help), "{text}: {messages}");
    }
    let direction = messages_of(".reg write $x\nimmed[$x, 1]\nalu[a0, --, B, $x]\n");
    assert!(
        direction.contains("not what was written") && direction.contains("general-purpose"),
        "{direction}"
    );
}

#[test]
fn mistyped_block_end_is_reported_once() {
    for (text, meant) in [
        (".if (a0 == 0)\nnop\n.endf\nctx_arb[kill]\n", ".endif"),
        (".while (a0 == 0)\nnop\n.endwhile\nctx_arb[kill]\n", ".endw"),
        (
            ".if (a0 == 0)\nnop\n.elsif (a0 == 1)\nnop\n.endif\nctx_arb[kill]\n",
            ".elif",
        ),
    ] {
        assert_eq!(
            codes(text, Severity::Error),
            ["unsupported-directive"],
            "{text}"
        );
        let messages = describe(&run(text));
        assert!(
            messages.contains(&format!("write `{meant}`")),
            "{text}: {messages}"
        );
    }
}

#[test]
fn spill_move_resolves_a_bank_conflict() {
    let text = ".reg x y z\nimmed[x, 1]\nimmed[y, 2]\nimmed[z, 3]\nalu[--, x, +, y]\nalu[--, y, +, z]\nalu[--, z, +, x]\nctx_arb[kill]\n";
    assert_eq!(codes(text, Severity::Error), ["bank-conflict"]);
    let options = Options {
        spill_moves: true,
        ..Options::default()
    };
    let assembly = run_with(text, &options);
    assert_eq!(assembly.image.as_ref().unwrap().words.len(), 8);
    let notes: Vec<_> = assembly
        .diagnostics
        .iter()
        .filter(|d| d.code == "spill-move")
        .collect();
    assert_eq!(notes.len(), 1, "{}", describe(&assembly));
    assert_eq!(notes[0].level, Severity::Note);
    assert!(notes[0].notes[0].contains("ld_field_w_clr[_copy_3, 1111, "));
}

#[test]
fn spill_move_is_not_placed_in_a_defer_shadow() {
    let text = ".reg x\nimmed[x, 1]\nend#: br[end#], defer[1]\nalu[--, x, +, x]\n";
    let options = Options {
        spill_moves: true,
        ..Options::default()
    };
    let assembly = run_with(text, &options);
    assert!(assembly.image.is_none());
    assert_eq!(assembly.diagnostics[0].code, "bank-conflict");
}

/// Texts that come close to a warning without causing it.
const CORRECT_PROGRAMS: &[&str] = &[
    "local_csr_wr[ACTIVE_LM_ADDR_0, a0]\nnop\nnop\nnop\nalu[a1, --, B, *l$index0[2]]\nctx_arb[kill]",
    "local_csr_wr[ACTIVE_LM_ADDR_0, a0]\nalu[a1, --, B, *l$index1[2]]\nctx_arb[kill]",
    "byte_align_be[--, a0]\nbyte_align_be[a1, a2]\nctx_arb[kill]",
    ".sig s\nsram[write, $0, a0, 0, 2], sig_done[s]\nimmed[$2, 3]\nctx_arb[s]\nimmed[$1, 3]\nctx_arb[kill]",
    ".sig s\nsram[read, $0, a0, 0, 2], sig_done[s]\nimmed[$1, 3]\n.io_completed s\nalu[a0, --, B, $1]\nctx_arb[kill]",
    "br[end#], defer[1]\nnop\nend#: ctx_arb[kill]",
    "load_addr[a0, back#]\nrtn[a0]\nback#: ctx_arb[kill]",
    ".reg x\nimmed[x, 1]\n.if (x > -1)\nnop\n.elif_unsigned (x < 0x80000000)\nnop\n.elif (x == 0x80000000)\nnop\n.endif\nctx_arb[kill]",
    ".if (1)\nbr[end#]\n.endif\nend#: ctx_arb[kill]",
];

#[test]
fn correct_programs_cause_no_warnings() {
    for text in CORRECT_PROGRAMS {
        let assembly = run(text);
        assert!(
            assembly.diagnostics.is_empty(),
            "{text}\n{}",
            describe(&assembly)
        );
    }
}

#[test]
fn lint_levels_allow_and_deny_warnings() {
    use npsim_asm::LintLevel;
    let text = ".reg x\nctx_arb[kill]";
    let with = |lints: &[(&str, LintLevel)]| {
        let options = Options {
            lints: lints.iter().map(|(n, l)| ((*n).to_owned(), *l)).collect(),
            ..Options::default()
        };
        run_with(text, &options)
    };
    assert!(
        with(&[("unused-register", LintLevel::Allow)])
            .diagnostics
            .is_empty()
    );
    let denied = with(&[("unused-register", LintLevel::Deny)]);
    assert!(denied.image.is_none());
    assert_eq!(denied.diagnostics[0].level, Severity::Error);
    let last = with(&[
        ("unused-register", LintLevel::Deny),
        ("unused-register", LintLevel::Warn),
    ]);
    assert_eq!(last.diagnostics[0].level, Severity::Warning);
    assert!(last.image.is_some());
}

#[test]
fn every_code_after_preprocessing_has_a_test() {
    let tested: BTreeSet<&str> = ERRORS
        .iter()
        .chain(WARNINGS)
        .map(|(code, _)| *code)
        .chain([
            "too-many-registers",
            "too-many-signals",
            "program-too-long",
            "spill-move",
        ])
        .collect();
    let mut back = npsim_asm::codes::all()
        .iter()
        .map(|code| code.name)
        .skip_while(|name| *name != "address-taken");
    let missing: Vec<&str> = back
        .by_ref()
        .filter(|name| !tested.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn diagnostics_are_in_source_order() {
    let assembly = run("br[nowhere#]\n.reg unused\nalu[x, --, B, 1]\naul[a0]\n");
    let lines: Vec<u32> = assembly
        .diagnostics
        .iter()
        .map(|d| assembly.sources.line_column(d.primary.span).0)
        .collect();
    assert_eq!(lines, [1, 3, 4], "{}", describe(&assembly));
}

#[test]
fn instructions_of_a_later_generation_are_refused_by_name() {
    let older = Options {
        generation: Generation::MEv1,
        ..Options::default()
    };
    let word = encode(&Instruction::Nop).unwrap();
    for (text, name, column) in [
        ("ffs[a0, b1]".to_owned(), "ffs", 1),
        (
            "  scratch[read, $0, a0, 0, 1], ctx_swap[s1]".to_owned(),
            "scratch",
            3,
        ),
        (format!(".word {word:#x}"), "nop", 1),
    ] {
        assert!(
            run(&format!("{text}\nctx_arb[kill]")).image.is_some(),
            "{text}"
        );
        let assembly = run_with(&text, &older);
        assert!(assembly.image.is_none());
        let found = &assembly.diagnostics[0];
        assert_eq!(found.code, "unknown-instruction");
        assert_eq!(
            found.message,
            format!("`{name}` is an instruction of MEv2, which MEv1 does not have")
        );
        assert_eq!(
            found.help.as_deref(),
            Some(
                "choose a chip with MEv2 microengines, or replace the instruction with older ones"
            )
        );
        let place = assembly.sources.line_column(found.primary.span);
        assert_eq!(place, (1, column), "{text}");
    }
}

#[test]
fn images_record_their_generation() {
    let image = run("ctx_arb[kill]").image.unwrap();
    assert_eq!(image.generation, Generation::MEv2);
    assert_eq!(image.check_generation(Generation::MEv2), Ok(()));
    let (address, newer) = image.check_generation(Generation::MEv1).unwrap_err();
    assert_eq!((address, newer.mnemonic), (0, "ctx_arb"));
}
