//! Files that are no programs, and keys that do not fit.

use crate::bench::{elf, project, project_of};

const SHORT: &str = "[gpp]\nprogram = \"program.elf\"\n";

/// What a project with such a file comes to.
fn problem(bytes: Vec<u8>) -> String {
    project_of(bytes, SHORT).unwrap_err().to_string()
}

fn with(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = elf(name);
    change(&mut bytes);
    bytes
}

#[test]
fn the_short_form_names_the_file_alone() {
    // One letter of the name of a ring is another.
    let wrong = with("echo", |bytes| {
        let name = b"import_IN_NUMBER";
        let at = bytes
            .windows(name.len())
            .rposition(|part| part == name)
            .unwrap();
        bytes[at + 8] = b'M';
    });
    let message = problem(wrong);
    assert!(
        message.contains("`IM_NUMBER`") && message.contains("did you mean `IN_NUMBER`?"),
        "{message}"
    );
    let project = project_of(elf("wake"), SHORT).unwrap();
    let text = project.tasks.join("\n");
    assert!(
        text.contains("program: runs program.elf (big-endian"),
        "{text}"
    );
}

#[test]
fn each_bad_file_is_told_for_what_it_is() {
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (
            b"#!/bin/sh\n".to_vec(),
            &["it is no ELF file", "arm-none-eabi-gcc"],
        ),
        (with("wake", |it| it.truncate(20)), &["not whole"]),
        (with("wake", |it| it.truncate(200)), &["damaged"]),
        (with("wake", |it| it[4] = 2), &["64-bit"]),
        (
            with("wake", |it| it[19] = 3),
            &["another processor than ARM", "3"],
        ),
        (
            with("wake", |it| it[17] = 1),
            &["an object file", "linker script"],
        ),
        (with("wake", |it| it[17] = 3), &["position-independent"]),
        (
            with("wake", |it| it[37] |= 0x80),
            &["BE8", "without `--be8`"],
        ),
        // More bytes of the first segment in the file than in memory.
        (
            with("wake", |it| {
                it[52 + 20..52 + 24].copy_from_slice(&[0, 0, 0, 4]);
            }),
            &["damaged", "more bytes in the file than in memory"],
        ),
        // The entry's highest byte.
        (with("wake", |it| it[24] = 0x40), &["its entry 0x40300020"]),
        // Address and load address of the first segment.
        (
            with("wake", |it| {
                (it[52 + 8], it[52 + 12]) = (0x7f, 0x7f);
            }),
            &["lies outside of DRAM", "program_base"],
        ),
    ];
    for (bytes, parts) in cases {
        let message = problem(bytes);
        assert!(
            message.contains("program.elf") || message.contains("segment"),
            "{message}"
        );
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}

#[test]
fn a_segment_over_what_the_project_lays_out_is_refused() {
    let sections = format!(
        "{SHORT}[[memory]]\nname = \"TABLE\"\nspace = \"dram\"\naddress = 0x300000\nsize = 64\n"
    );
    let message = project_of(elf("wake"), &sections).unwrap_err().to_string();
    assert!(
        message.contains("overlaps") && message.contains("TABLE"),
        "{message}"
    );
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let whole = elf("faults");
    let mut random = 7_u32;
    for round in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 5 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (random >> 8) as usize % if round % 2 == 0 { 0x100 } else { bytes.len() };
            bytes[at] = random as u8;
        }
        if round % 7 == 0 {
            bytes.truncate(random as usize % whole.len());
        }
        if let Ok(program) = npsim_xscale::Program::read(&bytes) {
            let _ = program.place(0x0030_0040);
        }
    }
}

#[test]
fn keys_that_do_not_fit_have_their_place() {
    let bad = |keys: &str| {
        let sections = format!("[gpp.program]\nelf = \"program.elf\"\n{keys}");
        project_of(elf("hello"), &sections).unwrap_err().to_string()
    };
    let cases = [
        ("rings = [\"INN\"]\n", "did you mean `IN`?"),
        ("import = { GIVN = 1 }\n", "imports no `GIVN`"),
        ("import = { GIVEN = 5000000000 }\n", "does not fit 32 bits"),
        ("cache = \"some\"\n", "cache"),
        ("casche = \"none\"\n", "casche"),
    ];
    for (keys, part) in cases {
        let message = bad(keys);
        assert!(message.contains(part), "{part}: {message}");
    }
    let missing = project_of(elf("hello"), "[gpp]\nprogram = \"other.elf\"\n");
    assert!(missing.unwrap_err().to_string().contains("other.elf"));
    let wrong = project_of(elf("hello"), "[gpp]\nprogram = 7\n");
    assert!(
        wrong
            .unwrap_err()
            .to_string()
            .contains("the path of an ELF file")
    );
    assert_eq!(project("hello", "").boot.tasks.len(), 1);
}
