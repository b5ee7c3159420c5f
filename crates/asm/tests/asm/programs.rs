//! Whole programs through the assembler.

#![allow(clippy::format_push_string, reason = "what is wrong is built as text")]

use crate::support::{describe, image, run_with};
use npsim_asm::Options;
use npsim_image::ImportPart;
use npsim_image::{disassemble, listing};
use npsim_isa::{ImmedShift, Instruction, decode};

const RECEIVE: &str = r"
.num_contexts 8
.sig volatile next_context
.sig arrived got
.reg read $rsw0 $rsw1
.xfer_order $rsw0 $rsw1
.reg $desc0 $desc1
.xfer_order $desc0 $desc1
.reg freelist element value buffer ring
.reg @packets

    immed[@packets, 0]
    immed[ring, 4]
    local_csr_rd[ACTIVE_CTX_STS]
    immed[value, 0]
    alu[value, value, AND, 7]
    immed[freelist, (&$rsw0 | (&arrived << 12))]
    alu_shf[freelist, freelist, OR, value, <<20]
loop#:
    msf[fast_wr, --, freelist, 0x30]
    .set_sig arrived
    ctx_arb[arrived]
    .set $rsw0 $rsw1
    alu_shf[element, 127, AND, $rsw0, >>24]
    alu[@packets, @packets, +, 1]
    scratch[get, $desc0, 0, ring, 2], ctx_swap[got]
    alu[buffer, --, B, $desc0]
    beq[loop#]
    alu[$desc0, --, B, buffer]
    alu_shf[$desc1, element, OR, buffer, <<8]
    sram[write, $desc0, buffer, 0, 2], ctx_swap[got], defer[1]
    alu[value, $rsw1, AND, 0xff]
    br=byte[value, 0, 3, loop#], defer[1]
    nop
    local_csr_wr[SAME_ME_SIGNAL, 0x88]
    br[loop#]
";

#[test]
fn receive_loop_round_trips_through_disassembly() {
    let first = image(RECEIVE);
    let text = disassemble(&first);
    let second = image(&text);
    assert_eq!(first.words, second.words, "{text}");
    assert_eq!(first.origins.len(), first.words.len());
    assert_eq!(first.place(7), "main.uc:20");
    let listing = listing(&first);
    assert!(
        listing.contains("loop#:\n.%line 20 \"main.uc\"\n.7 3D"),
        "{listing}"
    );
    assert!(listing.contains("; .reg @packets @"), "{listing}");
}

#[test]
fn halt_alone_assembles() {
    assert_eq!(image("halt\n").words, [0xe0_0002_0000]);
}

#[test]
fn macro_labels_are_local_and_arguments_use_the_callers_scope() {
    let image = image(
        "
#macro skip_if_zero(r, out)
    alu[--, --, B, r]
    beq[end#]
    br[out]
end#:
    nop
#endm
end#:
    skip_if_zero(a0, end#)
    skip_if_zero(a1, end#)
    ctx_arb[kill]
",
    );
    let targets: Vec<u64> = image.words.iter().map(|word| word >> 22 & 0x1fff).collect();
    assert_eq!((targets[1], targets[2]), (3, 0));
    assert_eq!((targets[5], targets[6]), (7, 0));
    let names: Vec<&str> = image
        .labels
        .iter()
        .map(|label| label.name.as_str())
        .collect();
    assert_eq!(names, ["end", "end.1", "end.2"]);
    assert_eq!(image.place(1), "main.uc:4 (in skip_if_zero, main.uc:10)");
}

#[test]
fn dram_signal_is_even_and_its_wait_covers_the_pair() {
    let image = image(
        "
.sig volatile first
.sig pair
.reg $$d0 $$d1
.xfer_order $$d0 $$d1
    ctx_arb[first]
    dram[read, $$d0, a0, 0, 1], sig_done[pair]
    ctx_arb[pair]
    alu[a0, --, B, $$d1]
    ctx_arb[kill]
",
    );
    assert_eq!(image.words[0], 0xe000000002);
    assert_eq!(image.words[1] >> 28 & 0xf, 2);
    assert_eq!(image.words[2], 0xe00000000c);
}

#[test]
fn addresses_of_labels_and_registers_are_constants() {
    let image = image(
        "
.sig s
.reg read $x[3]
.xfer_order $x
.reg back r
.breg back 5
.addr s 9
.init r 0x1234
    load_addr[back, here#]
    immed[r, (&$x[2] | (&s << 8))]
    rtn[back]
here#:
    sram[read, $x[0], r, 0, 3], ctx_swap[s]
    alu[r, r, +, $x[2]]
    rtn[back]
",
    );
    let texts = disassemble(&image);
    let lines: Vec<&str> = texts.lines().map(str::trim).collect();
    assert_eq!(lines[0], "immed[b5, 0x3]");
    assert!(lines[1].ends_with(", 0x902]"), "{texts}");
    assert!(lines[3].ends_with("ctx_swap[s9]"), "{texts}");
    assert_eq!(image.initial_values[0].value, 0x1234);
}

#[test]
fn inner_scopes_hide_outer_names() {
    let image = image(
        "
.reg x
    immed[x, 1]
.begin
    .reg x
    immed[x, 2]
    local_csr_wr[0x10, x]
.end
    local_csr_wr[0x10, x]
    ctx_arb[kill]
",
    );
    assert_eq!(image.registers.len(), 2);
    assert_ne!(image.registers[0].operand, image.registers[1].operand);
    assert_ne!(image.words[2], image.words[3]);
    assert!(listing(&image).contains("; .reg l0001!x "));
}

#[test]
fn constants_select_the_immed_form() {
    for (constant, text) in [
        ("0x1234", "immed[a0, 0x1234]"),
        ("-1", "immed[a0, 0xffffffff]"),
        ("-65536", "immed[a0, 0xffff, <<16]"),
        ("0xffffff00", "immed[a0, 0xffffff00]"),
        ("0x120000", "immed[a0, 0x1200, <<8]"),
        ("0x12340000", "immed[a0, 0x1234, <<16]"),
        ("0x123400", "immed[a0, 0x1234, <<8]"),
        // Inverted after the shift: the part that is shifted, upper half ones.
        ("0xfff6edff", "immed[a0, 0xfffff6ed, <<8]"),
        ("0xf6edffff", "immed[a0, 0xfffff6ed, <<16]"),
    ] {
        let image = image(&format!("immed[a0, {constant}]\nbr[L0]\n"));
        assert_eq!(
            self::image(&disassemble(&image)).words,
            image.words,
            "{constant}"
        );
        assert!(
            disassemble(&image).contains(text),
            "{constant}: {}",
            disassemble(&image)
        );
    }
}

#[test]
fn disassembled_words_reassemble_identically() {
    // A shift without and with something in the unused A field, a rotation that passes B
    // without and with it, two fast writes, one of them with the bit of `indirect_ref`,
    // reserved bits of a branch, words that are not valid instructions, and two encodings of one
    // constant, of which the first is not the one that the assembler chooses.
    let words = vec![
        0x8c_3010_0900,
        0x8c_3010_0901,
        0x81_8010_0800,
        0x81_8010_0840,
        0x33_0001_2f20,
        0x73_0001_2f20,
        0xd8_0000_0038,
        0xff_ffff_ffff,
        0xd8_05c0_0018,
        0xf0_8fff_fc00,
        0xf4_0fff_fc00,
    ];
    let text = disassemble(&npsim_image::Image::from_words("words", words.clone()));
    let expected = [
        "L0#:",
        "    asr[a1, b2, >>3]",
        "    .word 0x8c30100901 ; asr[a1, b2, >>3], with more in fields that have no effect",
        "    alu_shf[a1, --, B, b2, <<rot8]",
        "    alu_shf[a1, *$index, B, b2, <<rot8]",
        "    cap[fast_wr, 0, 0x4b20]",
        "    cap[fast_wr, 0, 0x4b20], indirect_ref",
        "    .word 0xd800000038 ; br[L0], with more in fields that have no effect",
        "    .word 0xffffffffff ; not an instruction: word ffffffffff: bits 39..32 belong to no instruction class",
        "    .word 0xd805c00018 ; br[L23], which leads out of the program",
        "    immed[a0, 0xffff0000, <<0]",
        "    immed[a0, 0xffff, <<16]",
        "",
    ];
    assert_eq!(text, expected.join("\n"));
    assert_eq!(image(&text).words, words);
}

#[test]
fn random_words_reassemble_identically() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 24
    };
    let options = crate::support::newest();
    let mut wrong = String::new();
    for _ in 0..4000 {
        let word = random();
        let words = vec![word, random(), 0xf0_000c_0001];
        let text = disassemble(&npsim_image::Image {
            generation: options.generation,
            ..npsim_image::Image::from_words("words", words.clone())
        });
        let assembly = crate::support::run_with(&text, &options);
        let found = assembly.diagnostics.iter().map(|d| d.code);
        if assembly.image.as_ref().map(|image| &image.words) != Some(&words) {
            wrong += &format!("{word:010x}: {text}{:?}\n", found.collect::<Vec<_>>());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn more_words_than_addresses_are_disassembled() {
    let mut words = vec![0xf0_000c_0300; 70_000];
    words[66_000] = 0xff_ffff_ffff;
    let text = disassemble(&npsim_image::Image::from_words("words", words));
    let line = text.lines().nth(66_000).unwrap_or_default();
    assert!(
        line.contains(".word 0xffffffffff ; not an instruction"),
        "{line}"
    );
}

#[test]
fn an_inverted_constant_with_a_shift_assembles_to_its_word() {
    for word in [0xf2_809c_4801, 0xf4_809c_4801_u64] {
        let text = disassemble(&npsim_image::Image::from_words("words", vec![word]));
        assert!(!text.contains(';'), "{text}");
        assert_eq!(image(&text).words, [word], "{text}");
    }
}

#[test]
fn four_contexts_have_twice_the_registers() {
    let names: Vec<String> = (0..20).map(|i| format!("$x{i}")).collect();
    let names = names.join(" ");
    let body = format!(
        ".reg {names}\n.xfer_order {names}\nimmed[$x19, 1]\nsram[write, $x19, a0, 0, 1], ctx_swap[s1]\nctx_arb[kill]\n"
    );
    let image = image(&format!(".num_contexts 4\n{body}"));
    assert!(
        disassemble(&image).contains("sram[write, $19, a0, 0, 1]"),
        "{}",
        disassemble(&image)
    );
    assert!(crate::support::run(&body).image.is_none());
}

const IMPORTING: &str = ".import_var BASE SIZE\n\
    immed[a0, (BASE & 0xffff)]\nimmed_w1[a0, (BASE >> 16)]\n\
    immed[a1, SIZE]\nimmed_b2[a2, ((BASE >> 8) & 0xff)]\nctx_arb[kill]\n";

#[test]
fn imports_are_linked_when_values_arrive() {
    let open = image(IMPORTING);
    assert_eq!(open.unresolved_imports(), ["BASE", "SIZE"]);
    let parts: Vec<ImportPart> = open.imports.iter().map(|fixup| fixup.part).collect();
    assert_eq!(
        parts,
        [
            ImportPart::Low,
            ImportPart::High,
            ImportPart::Whole,
            ImportPart::Byte(1)
        ]
    );
    let values = [
        ("BASE".to_owned(), 0x1234_5678),
        ("SIZE".to_owned(), 0x0056_0000),
        ("OTHER".to_owned(), 1),
    ];
    let mut linked = open.clone();
    linked.link(&values).unwrap();
    assert!(linked.unresolved_imports().is_empty());
    let options = Options {
        imports: values.to_vec(),
        ..Options::default()
    };
    assert_eq!(run_with(IMPORTING, &options).image, Some(linked.clone()));
    let constants: Vec<(u16, Option<ImmedShift>)> = linked.words[..4]
        .iter()
        .map(|word| match decode(*word).unwrap() {
            Instruction::Immed { value, shift, .. } => (value, Some(shift)),
            Instruction::ImmedWord { value, .. } => (value, None),
            Instruction::ImmedByte { value, .. } => (u16::from(value), None),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(
        constants,
        [
            (0x5678, Some(ImmedShift::None)),
            (0x1234, None),
            (0x5600, Some(ImmedShift::By8)),
            (0x56, None)
        ]
    );
    // Another value may come later.
    linked.link(&[("SIZE".to_owned(), 7)]).unwrap();
    let mut direct = open;
    direct.link(&values[..1]).unwrap();
    direct.link(&[("SIZE".to_owned(), 7)]).unwrap();
    assert_eq!(linked, direct);
}

#[test]
fn import_value_too_large_for_its_field_is_refused() {
    let options = Options {
        imports: vec![("SIZE".to_owned(), 0x1234_5678)],
        ..Options::default()
    };
    let assembly = run_with(IMPORTING, &options);
    assert!(assembly.image.is_none());
    let error = &assembly.diagnostics[0];
    assert_eq!(error.code, "import-value", "{}", describe(&assembly));
    assert_eq!(assembly.sources.line_column(error.primary.span).0, 4);
}

/// A register that is live over only one call may share a place with one that is live over the
/// other call, if returns go back to their own caller.
#[test]
fn returns_reach_only_callers_of_their_subroutine() {
    let text = ".reg ret sum first second\n.areg ret 0\n.areg sum 1\n\
        immed[sum, 0]\nimmed[first, 1]\n\
        br[add#], defer[1]\nload_addr[ret, one#]\none#: alu[sum, sum, +, first]\n\
        br[sub#], defer[1]\nload_addr[ret, two#]\ntwo#: local_csr_wr[0x10, sum]\nctx_arb[kill]\n\
        .subroutine\nadd#: alu[sum, sum, +, 1]\nrtn[ret]\n.endsub\n\
        .subroutine\nsub#: immed[second, 3]\nalu[sum, sum, -, second]\nrtn[ret]\n.endsub\n";
    let found = |text: &str| {
        let image = image(text);
        let of = |name: &str| {
            let symbol = image.registers.iter().find(|r| r.name == name);
            symbol.map(|symbol| symbol.operand)
        };
        (of("first"), of("second"))
    };
    let (first, second) = found(text);
    assert_eq!(first, second);
    // Without the marks the second return might go back to the first call.
    let (first, second) = found(&text.replace(".subroutine\n", "").replace(".endsub\n", ""));
    assert_ne!(first, second);
}

#[test]
fn zero_shift_element_bank_and_csr_prefix_are_accepted() {
    let image = image(
        "
.reg a v[2]
.reg read $x
.sig s
.reg_addr v[1] 4 B
    immed[a, 1]
    alu[a, a, OR, 3, 0]
    immed[v[0], 2]
    immed[v[1], 3]
    .use v[0] v[1] a
    cap[read, $x, MISC_CONTROL], ctx_swap[s]
    cap[read, $x, CAP_MISC_CONTROL], ctx_swap[s]
    halt
",
    );
    let texts = disassemble(&image);
    let lines: Vec<&str> = texts.lines().map(str::trim).collect();
    assert!(lines.contains(&"immed[b4, 0x3]"), "{texts}");
    assert!(!texts.contains("<<"), "{texts}");
    assert_eq!(image.words[4], image.words[5]);
}
