//! Checks that a program can be loaded and started as its file specifies.

use std::ops::Range;

use object::elf;
use object::read::elf::Sym;

use crate::architecture::check_architecture;
use crate::elf::{DEFAULT, ElfError, File, IMPORT, Program, TABLE};

impl Program {
    /// Reads a program from a file.
    ///
    /// # Errors
    /// Returns an error if it is not a program for the core.
    pub fn read(bytes: &[u8]) -> Result<Self, ElfError> {
        let (program, file) = Self::parse(bytes)?;
        check_architecture(&file, bytes)?;
        check(&program, &file)?;
        Ok(program)
    }
}

/// Detects mistakes that a linker lets pass.
fn check(program: &Program, file: &File<'_>) -> Result<(), ElfError> {
    check_segments(program)?;
    check_entry(program, file)?;
    // The first section and the first symbol are null entries. A file without sections was assembled by hand.
    if file.elf_section_table().len() > 1 && file.elf_symbol_table().len() <= 1 {
        return Err(ElfError::Stripped);
    }
    check_loaded(program, file)
}

fn check_segments(program: &Program) -> Result<(), ElfError> {
    let loaded = program.segments.iter().map(|segment| {
        let start = u64::from(segment.address);
        (start, start + 4 * segment.words.len() as u64)
    });
    let mut loaded: Vec<_> = loaded.collect();
    loaded.sort_unstable();
    match { loaded.windows(2) }.find(|two| two[1].0 < two[0].1) {
        Some(two) => Err(ElfError::Overlap(two[1].0 as u32)),
        None => Ok(()),
    }
}

fn check_entry(program: &Program, file: &File<'_>) -> Result<(), ElfError> {
    let (entry, is_thumb) = (program.entry & !1, program.entry & 1 == 1);
    if !program.is_code(entry) {
        return Err(ElfError::Entry(entry));
    }
    let loaded = program.loaded_at(entry);
    if loaded != entry {
        return Err(ElfError::EntryMoved { entry, loaded });
    }
    let wrong = |what| {
        let entry = program.entry;
        Err(ElfError::EntryState { entry, what })
    };
    match (is_thumb, state_at(file, entry)) {
        (true, Some('a')) => {
            return wrong("is odd, which says Thumb, and the code there is for ARM state");
        }
        (false, Some('t')) => {
            return wrong("is even, which says ARM state, and the code there is Thumb");
        }
        _ => {}
    }
    if !is_thumb && !entry.is_multiple_of(4) {
        return wrong("is not a multiple of 4, as the address of an ARM instruction has to be");
    }
    Ok(())
}

/// The state of the code at an address, `a` or `t`, according to the mapping symbols of the ABI.
fn state_at(file: &File<'_>, address: u32) -> Option<char> {
    let (endian, table) = (file.endian(), file.elf_symbol_table());
    let marks = table.iter().filter_map(|symbol| {
        let name = symbol.name(endian, table.strings()).ok()?;
        let state = match name {
            [b'$', state] | [b'$', state, b'.', ..] => char::from(*state),
            _ => return None,
        };
        Some((symbol.st_value(endian), state))
    });
    let before = marks.filter(|(at, state)| *at <= address && "atd".contains(*state));
    before.max_by_key(|(at, _)| *at).map(|(_, state)| state)
}

/// Checks the longwords and tables whose contents come from the project.
fn check_loaded(program: &Program, file: &File<'_>) -> Result<(), ElfError> {
    let functions = functions(file);
    let imports = program.imports.iter().map(|it| {
        let prefix = if it.optional { DEFAULT } else { IMPORT };
        (format!("{prefix}{}", it.name), it.address, 4)
    });
    let tables = { program.tables.iter() }
        .map(|it| (format!("{TABLE}{}", it.name), it.address, it.bytes.max(4)));
    for (name, address, bytes) in imports.chain(tables) {
        let what = if !address.is_multiple_of(4) {
            "is not a longword: its address is not a multiple of 4".to_owned()
        } else if let Some((function, _)) =
            { functions.iter() }.find(|(_, range)| range.contains(&address))
        {
            format!(
                "lies in the code of `{}`",
                String::from_utf8_lossy(function)
            )
        } else if !{ program.memory.iter() }
            .any(|range| range.contains(&address) && bytes <= range.end - address)
        {
            "lies in none of its segments".to_owned()
        } else {
            continue;
        };
        return Err(ElfError::Misplaced {
            name,
            address,
            what,
        });
    }
    Ok(())
}

/// The functions whose sizes are known. Many may share one long name, so none is copied.
fn functions<'file>(file: &'file File<'_>) -> Vec<(&'file [u8], Range<u32>)> {
    let (endian, table) = (file.endian(), file.elf_symbol_table());
    let sized = table.iter().filter_map(|symbol| {
        if symbol.st_type() != elf::STT_FUNC || symbol.st_size(endian) == 0 {
            return None;
        }
        let name = symbol.name(endian, table.strings()).ok()?;
        let at = symbol.st_value(endian) & !1;
        let end = at.saturating_add(symbol.st_size(endian));
        Some((name, at..end))
    });
    sized.collect()
}
