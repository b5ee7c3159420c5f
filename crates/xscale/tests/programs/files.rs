//! Files that are not programs, and invalid keys.

use npsim_testkit::slow_path;
use npsim_xscale::Program;

use crate::bench::{elf, project, project_of};

const SHORT: &str = "[gpp]\nprogram = \"program.elf\"\n";

/// The result of a project with such a file.
fn problem(bytes: Vec<u8>) -> String {
    project_of(bytes, SHORT).unwrap_err().to_string()
}

fn with(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = elf(name);
    change(&mut bytes);
    bytes
}

#[test]
fn misspelt_import_is_suggested_and_short_form_loads() {
    // One letter of the name of a ring is changed.
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
fn invalid_elf_files_are_refused_with_their_reason() {
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (
            b"#!/bin/sh\n".to_vec(),
            &["it is not an ELF file", "arm-none-eabi-gcc"],
        ),
        (with("wake", |it| it.truncate(20)), &["not whole"]),
        (with("wake", |it| it.truncate(200)), &["damaged"]),
        (with("wake", |it| it[4] = 2), &["64-bit"]),
        (
            with("wake", |it| it[19] = 3),
            &["a processor other than ARM", "3"],
        ),
        // The header of a little-endian file before big-endian bytes.
        (
            with("wake", |it| it[5] = 1),
            &["its header says one byte order", "build the file again"],
        ),
        (
            with("wake", |it| {
                let arch = it.windows(6).position(|part| part == b"5TE\0\x06\x04");
                it[arch.unwrap() + 5] = 10;
            }),
            &[
                "compiled for ARMv7, and the XScale is an ARMv5TE",
                "-mcpu=xscale",
            ],
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
fn segment_overlapping_project_memory_is_refused() {
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
fn corrupted_elf_files_never_panic_the_reader() {
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
fn invalid_program_keys_are_refused_by_name() {
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

/// A longword of a big-endian file.
fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Where the header of the table of symbols is.
fn symbols(bytes: &[u8]) -> usize {
    let count = usize::from(u16::from_be_bytes([bytes[48], bytes[49]]));
    let headers = (0..count).map(|index| word(bytes, 32) + 40 * index);
    { headers }.find(|at| word(bytes, at + 4) == 2).unwrap()
}

/// Where the entry of a symbol is.
fn symbol(bytes: &[u8], name: &str) -> usize {
    let table = symbols(bytes);
    let strings = word(bytes, 32) + 40 * word(bytes, table + 24);
    let strings = word(bytes, strings + 16);
    let entries = (0..word(bytes, table + 20) / 16).map(|it| word(bytes, table + 16) + 16 * it);
    let is_it = |at: &usize| {
        let name_at = strings + word(bytes, *at);
        bytes[name_at..].starts_with(format!("{name}\0").as_bytes())
    };
    { entries }.find(is_it).unwrap()
}

/// The header of a segment, and its addresses in the running program and in loading.
const SEGMENT: [usize; 2] = [52, 84];
const AT: usize = 8;
const LOADED: usize = 12;

#[test]
fn linkable_but_unusable_elf_files_are_refused() {
    let moved = |name: &str, to: u32| {
        with("handlers", |bytes| {
            let at = symbol(bytes, name) + 4;
            put(bytes, at, to);
        })
    };
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (
            with("handlers", |bytes| {
                let size = symbols(bytes) + 20;
                put(bytes, size, 0);
            }),
            &["it has no symbols (it was stripped)", "link without `-s`"],
        ),
        (
            with("handlers", |bytes| {
                put(bytes, SEGMENT[0] + LOADED, 0x0038_0000);
            }),
            &["its entry 0x00300020 is loaded to 0x00380020", "AT(...)"],
        ),
        (
            with("handlers", |bytes| {
                put(bytes, SEGMENT[1] + LOADED, 0x0030_0100);
            }),
            &["two of its segments are loaded to 0x00300100"],
        ),
        (
            with("handlers", |bytes| bytes[27] |= 1),
            &["its entry 0x00300021 is odd", "for ARM state", "bit 0"],
        ),
        (
            with("handlers", |bytes| bytes[27] |= 2),
            &["its entry 0x00300022 is not a multiple of 4"],
        ),
        (
            moved("default_CASE", 0x0030_0040),
            &[
                "`default_CASE` at 0x00300040 lies in the code of `_start`",
                "IMPORT",
            ],
        ),
        (
            moved("default_CASE", 0x0050_0000),
            &["`default_CASE` at 0x00500000 lies in none of its segments"],
        ),
        (moved("default_CASE", 0x0030_0142), &["is not a longword"]),
    ];
    for (bytes, parts) in cases {
        let message = problem(bytes);
        for part in parts.iter().chain(&["program.elf"]) {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}

#[test]
fn thumb_entry_point_starts_in_thumb_state() {
    // The mapping symbol of the code indicates Thumb, as an assembler's would.
    let marked = |odd: u8| {
        with("handlers", |bytes| {
            bytes[27] |= odd;
            let name = symbol(bytes, "$a");
            let strings = word(bytes, symbols(bytes) + 24);
            let strings = word(bytes, word(bytes, 32) + 40 * strings + 16);
            let at = strings + word(bytes, name) + 1;
            bytes[at] = b't';
        })
    };
    let program = Program::read(&marked(1)).unwrap();
    assert_eq!(program.entry, 0x0030_0021);
    let error = Program::read(&marked(0)).unwrap_err().to_string();
    assert!(error.contains("the code there is Thumb"), "{error}");
}

#[test]
fn imports_are_written_at_the_load_address() {
    let bytes = with("handlers", |bytes| {
        put(bytes, SEGMENT[1] + LOADED, 0x0038_0000);
    });
    assert_eq!(word(&bytes, SEGMENT[1] + AT), 0x0030_0140);
    let sections = "[gpp.program]\nelf = \"program.elf\"\nimport = { CASE = 77 }\n";
    let project = project_of(bytes, sections).unwrap_or_else(|problems| panic!("{problems}"));
    let bench = slow_path::load(&project.boot).unwrap();
    let word = |address| bench.units.dram.read_word(address);
    assert_eq!(word(0x0038_0000), Some(77), "where it is loaded");
    assert_eq!(word(0x0030_0140), Some(0), "where the program has it");
}
