//! The table generator accepts the shipped tables and rejects bad ones.

use std::collections::BTreeSet;

use npsim_isa_generator::{Sources, generate};

/// Replaces the first `from` in one of the files.
fn edited(file: fn(&mut Sources) -> &mut String, from: &str, to: &str) -> Sources {
    let mut sources = Sources::shipped();
    let text = file(&mut sources);
    assert!(text.contains(from), "the tables do not hold {from:?}");
    *text = text.replacen(from, to, 1);
    sources
}

fn errors(sources: &Sources) -> String {
    match generate(sources) {
        Ok(_) => panic!("bad tables were accepted"),
        Err(errors) => errors.join("\n"),
    }
}

fn formats(sources: &mut Sources) -> &mut String {
    &mut sources.formats
}

fn enums(sources: &mut Sources) -> &mut String {
    &mut sources.enums
}

fn generations(sources: &mut Sources) -> &mut String {
    &mut sources.generations
}

fn operands(sources: &mut Sources) -> &mut String {
    &mut sources.operands
}

fn commands(sources: &mut Sources) -> &mut String {
    &mut sources.commands
}

fn csrs(sources: &mut Sources) -> &mut String {
    &mut sources.csrs
}

fn mnemonics(sources: &mut Sources) -> &mut String {
    &mut sources.mnemonics
}

#[test]
fn shipped_tables_generate_deterministic_source() {
    let once = generate(&Sources::shipped()).unwrap();
    assert_eq!(once, generate(&Sources::shipped()).unwrap());
    assert!(once.iter().all(|(_, text)| !text.is_empty()));
}

#[test]
fn overlapping_formats_are_refused() {
    let text = errors(&edited(formats, "match = \"11010\"", "match = \"1101\""));
    assert_eq!(text, "format branch: overlaps format br_bit");
}

#[test]
fn a_match_outside_the_top_byte_is_refused() {
    let text = errors(&edited(formats, "match = \"100\"", "match = \"100000000\""));
    assert!(text.contains("format alu_shf: match"), "{text}");
    let text = errors(&edited(formats, "match = \"100\"", "match = \"10x\""));
    assert!(text.contains("format alu_shf: match"), "{text}");
}

#[test]
fn overlapping_fields_are_refused() {
    let from = "name = \"op\", lo = 31, width = 5";
    let text = errors(&edited(formats, from, "name = \"op\", lo = 30, width = 5"));
    assert!(text.contains("alu.swap: overlaps op"), "{text}");
    let text = errors(&edited(formats, from, "name = \"op\", lo = 31, width = 6"));
    assert!(text.contains("overlaps"), "{text}");
}

#[test]
fn field_overlapping_the_match_bits_is_refused() {
    let text = errors(&edited(
        formats,
        "name = \"load_cc\", lo = 34",
        "name = \"load_cc\", lo = 36",
    ));
    assert!(
        text.contains("ld_field.load_cc: overlaps the match bits"),
        "{text}"
    );
}

#[test]
fn a_field_outside_the_word_is_refused() {
    let from = "name = \"indirect\", lo = 38, width = 1";
    let text = errors(&edited(
        formats,
        from,
        "name = \"indirect\", lo = 38, width = 3",
    ));
    assert!(
        text.contains("sram.indirect: lies outside the 40-bit word"),
        "{text}"
    );
    let text = errors(&edited(
        formats,
        from,
        "name = \"indirect\", lo = 4000, width = 1",
    ));
    assert!(text.contains("lies outside"), "{text}");
    let text = errors(&edited(
        formats,
        from,
        "name = \"indirect\", lo = 38, width = 0",
    ));
    assert!(text.contains("width is zero"), "{text}");
}

#[test]
fn duplicate_names_are_refused() {
    let text = errors(&edited(formats, "name = \"jump\"", "name = \"alu\""));
    assert!(
        text.contains("duplicate format or group name alu"),
        "{text}"
    );
    let text = errors(&edited(enums, "name = \"Xor\"", "name = \"Or\""));
    assert!(text.contains("duplicate variant Or"), "{text}");
    let text = errors(&edited(enums, "text = \"XOR\"", "text = \"or\""));
    assert!(text.contains("duplicate text or"), "{text}");
    let text = errors(&edited(mnemonics, "name = \"dbl_shf\"", "name = \"alu\""));
    assert!(text.contains("duplicate mnemonic alu"), "{text}");
    let text = errors(&edited(csrs, "name = \"CC_ENABLE\"", "name = \"ALU_OUT\""));
    assert!(text.contains("duplicate CSR name ALU_OUT"), "{text}");
    let text = errors(&edited(commands, "name = \"write\"", "name = \"read\""));
    assert!(text.contains("duplicate command name sram[read]"), "{text}");
}

/// The two lines of an error about a code of the `alu` format: the error, and the free codes.
fn duplicate_and_free(text: &str) -> (&str, BTreeSet<u64>) {
    let (duplicate, free) = text
        .split_once("\nfree codes of alu.op: ")
        .expect("two lines");
    let free = free.split(", ").map(|code| code.parse().expect("a code"));
    (duplicate, free.collect())
}

#[test]
fn duplicate_codes_are_refused_even_across_enumerations() {
    let text = errors(&edited(
        enums,
        "name = \"Sub\", code = 21",
        "name = \"Sub\", code = 20",
    ));
    let (duplicate, mut free_without_21) = duplicate_and_free(&text);
    assert_eq!(duplicate, "duplicate code 20: AluOp::Or and AluOp::Sub");
    let text = errors(&edited(
        mnemonics,
        "form = [{ code = 14,",
        "form = [{ code = 1,",
    ));
    let (duplicate, mut free_without_14) = duplicate_and_free(&text);
    assert_eq!(duplicate, "duplicate code 1: AluOp::Add and UnaryOp::Ffs");
    // The code that an edit removed from a row is free; those of the other rows are not.
    assert!(free_without_21.remove(&21) && free_without_14.remove(&14));
    assert_eq!(free_without_21, free_without_14);
    assert!(
        [1, 14, 20, 21]
            .iter()
            .all(|code| !free_without_21.contains(code))
    );
    let text = errors(&edited(csrs, "address = 0x010", "address = 0x014"));
    assert!(text.contains("duplicate CSR address 0x14"), "{text}");
}

#[test]
fn a_code_that_does_not_fit_its_field_is_refused() {
    let text = errors(&edited(
        enums,
        "name = \"Xor\", code = 24",
        "name = \"Xor\", code = 32",
    ));
    assert_eq!(text, "AluOp::Xor: code 32 does not fit alu.op");
    let text = errors(&edited(enums, "field = \"alu.op\"", "field = \"alu.ops\""));
    assert!(
        text.contains("enum AluOp: there is no field alu.ops"),
        "{text}"
    );
    let text = errors(&edited(commands, "code = 15\n", "code = 16\n"));
    assert!(
        text.contains("command SramRdQdescOther: code 16 does not fit"),
        "{text}"
    );
    let text = errors(&edited(commands, "max_count = 8", "max_count = 9"));
    assert!(text.contains("unit sram: max_count"), "{text}");
    let text = errors(&edited(csrs, "address = 0x4b20", "address = 0x14b20"));
    assert!(text.contains("XSCALE_INT_A: 0x14b20"), "{text}");
}

#[test]
fn a_command_shadowed_by_ignore_data_error_is_refused() {
    // Token 2 of the SRAM read is its ignore_data_error form.
    let text = errors(&edited(
        commands,
        "name = \"wr_qdesc_count\"\ncode = 14",
        "name = \"wr_qdesc_count\"\ncode = 0",
    ));
    assert!(
        text.contains(
            "duplicate command code sram 0 token 2: command SramRead and command SramWrQdescCount"
        ),
        "{text}"
    );
}

#[test]
fn overlapping_or_unreachable_operand_codes_are_refused() {
    let text = errors(&edited(
        operands,
        "match = \"01110.....\"",
        "match = \"01100.....\"",
    ));
    assert_eq!(text, "unrestricted $$N: overlaps $N");
    let text = errors(&edited(
        operands,
        "match = \"01110.....\"",
        "match = \"011.......\"",
    ));
    assert_eq!(text, "unrestricted $$N: overlaps $N");
    let text = errors(&edited(
        operands,
        "source = true, dest = true",
        "source = false, dest = false",
    ));
    assert!(text.contains("unreachable"), "{text}");
    let text = errors(&edited(
        operands,
        "match = \"00000.....\"",
        "match = \"0000.....\"",
    ));
    assert!(text.contains("is not 10 of 0, 1 and ."), "{text}");
}

#[test]
fn unknown_keys_are_refused_with_their_file() {
    let text = errors(&edited(
        formats,
        "word_bits = 40",
        "word_bits = 40\nendian = \"big\"",
    ));
    assert!(
        text.starts_with("formats.toml:") && text.contains("endian"),
        "{text}"
    );
    let text = errors(&edited(
        commands,
        "doc = \"reads longwords\"",
        "latency = 3\ndoc = \"x\"",
    ));
    assert!(
        text.starts_with("commands.toml:") && text.contains("latency"),
        "{text}"
    );
}

#[test]
fn evidence_is_required_and_uncertainty_needs_a_remark() {
    let text = errors(&edited(enums, "evidence = [\"golden\"]", "evidence = []"));
    assert_eq!(text, "AluOp::B: evidence is empty");
    let text = errors(&edited(
        enums,
        "evidence = [\"golden\"]",
        "evidence = [\"uncertain\"]",
    ));
    assert_eq!(text, "AluOp::B: evidence \"uncertain\" needs a remark");
    let text = errors(&edited(
        enums,
        "evidence = [\"golden\"]",
        "evidence = [\"hearsay\"]",
    ));
    assert!(text.starts_with("enums.toml:"), "{text}");
}

#[test]
fn unencodable_defer_count_is_refused() {
    let text = errors(&edited(
        mnemonics,
        "defer = 0\nform = [{ variant = \"Alu\"",
        "defer = 1\nform = [{ variant = \"Alu\"",
    ));
    assert_eq!(
        text,
        "mnemonic alu: defer 1 cannot be encoded\n\
         mnemonic alu: only control transfers have defer slots"
    );
}

#[test]
fn contradictory_forms_are_refused() {
    for (from, to, what) in [
        (
            "operands = [\"dest\", \"a\", \"op\"",
            "operands = [\"dest\", \"x\", \"op\"",
            "there is no operand x",
        ),
        (
            "codes = true, leaves = \"result\"",
            "codes = true",
            "leaves a result",
        ),
        (
            "code = 14, operands = [\"dest\", \"src\"]",
            "code = 14, operands = [\"dest\"]",
            "needs a source",
        ),
        (
            "form = [{ code = 14,",
            "form = [{ code = 14, variant = \"Nop\",",
            "without a variant",
        ),
    ] {
        let text = errors(&edited(mnemonics, from, to));
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn unknown_and_duplicate_generations_are_refused() {
    let since = edited(mnemonics, "defer = 0", "defer = 0\nsince = \"MEv9\"");
    assert!(errors(&since).contains("there is no generation MEv9"));
    let twice = edited(generations, "\"MEv1\"", "\"mev2\"");
    assert!(errors(&twice).contains("duplicate generation mev2"));
}

#[test]
fn later_generation_and_its_instruction_are_emitted() {
    let mut sources = edited(
        mnemonics,
        "name = \"ffs\"",
        "name = \"ffs\"\nsince = \"MEv9\"",
    );
    sources.generations += "\n[[generation]]\nname = \"MEv9\"\ndoc = \"a test\"\nevidence = [\"uncertain\"]\nuncertain = \"made up\"\n";
    let files = generate(&sources).unwrap_or_else(|errors| panic!("{}", errors.join("\n")));
    let text = |name: &str| &files.iter().find(|(it, _)| *it == name).unwrap().1;
    assert!(text("generations.rs").contains(", Self::MEv9]"));
    assert!(text("mnemonics.rs").contains("name: \"ffs\", since: Generation::MEv9"));
    assert!(text("mnemonics.rs").contains("name: \"alu\", since: Generation::MEv2"));
}
