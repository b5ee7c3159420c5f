//! The work that reading a program's debug information takes.
//!
//! Every compilation unit of a program that a linker made has its own line program, abbreviations and ranges, and
//! the work is about the size of the sections. A damaged or malicious file can let thousands of units share the
//! same large ones, which would take the product of both.

use std::collections::BTreeSet;

use addr2line::gimli::{
    self, AbbreviationsCacheStrategy, AttributeValue, DebugLineOffset, Dwarf, EndianSlice, Reader,
    RunTimeEndian, Section, UnitHeader, UnitType,
};

/// Bytes and entries that may be read for each byte of the sections.
const READ: u64 = 4;
/// Bytes that the names of source files may take for each byte of the sections.
const NAMES: u64 = 64;
/// Bytes and entries that may be read however small the sections are.
const MIN_BUDGET: u64 = 1 << 20;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// What may still be read.
struct Work {
    read: u64,
    names: u64,
}

/// There is more to read than the size of the sections justifies.
struct Excessive;

fn charge(left: &mut u64, work: usize) -> Result<(), Excessive> {
    *left = left.checked_sub(work as u64).ok_or(Excessive)?;
    Ok(())
}

/// Whether reading all units takes work in proportion to the total size of the sections.
pub(crate) fn is_bounded(mut dwarf: Dwarf<Slice<'_>>, bytes: usize) -> bool {
    let bytes = bytes as u64;
    let mut left = Work {
        read: MIN_BUDGET + READ * bytes,
        names: MIN_BUDGET + NAMES * bytes,
    };
    abbreviations(&dwarf, &mut left)
        .and_then(|()| {
            dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
            units(&dwarf).try_for_each(|header| unit(&dwarf, header, &mut left))
        })
        .is_ok()
}

/// The units that are read, up to the first damaged one.
fn units<'a>(dwarf: &Dwarf<Slice<'a>>) -> impl Iterator<Item = UnitHeader<Slice<'a>>> {
    let mut units = dwarf.units();
    let all = std::iter::from_fn(move || units.next().ok().flatten());
    all.filter(|header| {
        !matches!(
            header.type_(),
            UnitType::Type { .. } | UnitType::SplitType { .. }
        )
    })
}

/// Charges every table of abbreviations once.
fn abbreviations(dwarf: &Dwarf<Slice<'_>>, left: &mut Work) -> Result<(), Excessive> {
    let tables: BTreeSet<_> = units(dwarf).map(|it| it.debug_abbrev_offset().0).collect();
    for at in tables {
        let mut rest = *dwarf.debug_abbrev.reader();
        if rest.skip(at).is_err() {
            continue;
        }
        loop {
            let before = rest.len();
            let more = abbreviation(&mut rest);
            charge(&mut left.read, before - rest.len())?;
            if !matches!(more, Ok(true)) {
                break;
            }
        }
    }
    Ok(())
}

/// Skips an abbreviation; false at the end of its table.
fn abbreviation(rest: &mut Slice<'_>) -> gimli::Result<bool> {
    if rest.read_uleb128()? == 0 {
        return Ok(false);
    }
    rest.skip_leb128()?;
    rest.skip(1)?;
    loop {
        let name = rest.read_uleb128()?;
        let form = rest.read_uleb128()?;
        if name == 0 && form == 0 {
            return Ok(true);
        }
        if form == u64::from(gimli::DW_FORM_implicit_const.0) {
            rest.skip_leb128()?;
        }
    }
}

/// Charges the line program of a unit, its ranges and the names of its files.
fn unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    header: UnitHeader<Slice<'a>>,
    left: &mut Work,
) -> Result<(), Excessive> {
    let Ok(abbreviations) = dwarf.abbreviations(&header) else {
        return Ok(());
    };
    let Ok(mut entries) = header.entries_raw(&abbreviations, None) else {
        return Ok(());
    };
    let Ok(Some(root)) = entries.read_abbreviation() else {
        return Ok(());
    };
    charge(&mut left.read, root.attributes().len())?;
    // A partial unit has no instructions, so that only the header of its line program is read.
    let is_partial = matches!(header.type_(), UnitType::Partial);
    let mut ranges = None;
    for attribute in root.attributes() {
        let Ok(attribute) = entries.read_attribute(*attribute) else {
            return Ok(());
        };
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_stmt_list, AttributeValue::DebugLineRef(at)) => {
                let bytes = line_program(*dwarf.debug_line.reader(), at, is_partial);
                charge(&mut left.read, bytes.unwrap_or(0))?;
            }
            (gimli::DW_AT_ranges, value) => ranges = Some(value),
            _ => {}
        }
    }
    // This reads the header of the line program, which has been charged.
    let Ok(unit) = dwarf.unit(header) else {
        return Ok(());
    };
    if is_partial {
        return Ok(());
    }
    let ranges = ranges.and_then(|value| dwarf.attr_ranges_offset(&unit, value).ok()?);
    if let Some(mut ranges) = ranges.and_then(|at| dwarf.raw_ranges(&unit, at).ok()) {
        while let Ok(Some(_)) = ranges.next() {
            charge(&mut left.read, 1)?;
        }
    }
    let Some(program) = &unit.line_program else {
        return Ok(());
    };
    let length = |name| dwarf.attr_string(&unit, name).map_or(0, |name| name.len());
    let below = unit.comp_dir.map_or(0, |name| name.len());
    for file in program.header().file_names() {
        let directory = file.directory(program.header()).map_or(0, length);
        let name = length(file.path_name());
        charge(&mut left.names, below + directory + name)?;
    }
    Ok(())
}

/// The size of a line program or of its header alone.
fn line_program(
    mut rest: Slice<'_>,
    at: DebugLineOffset,
    header_alone: bool,
) -> gimli::Result<usize> {
    rest.skip(at.0)?;
    let (bytes, format) = rest.read_initial_length()?;
    let bytes = bytes.min(rest.len());
    if !header_alone {
        return Ok(bytes);
    }
    if rest.read_u16()? >= 5 {
        rest.skip(2)?;
    }
    Ok(rest.read_length(format)?.min(bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use addr2line::gimli::{Dwarf, EndianSlice, RunTimeEndian};

    use super::is_bounded;

    /// A unit with the offsets of its abbreviations, line program and ranges.
    fn unit([abbreviations, program, ranges]: [u32; 3]) -> Vec<u8> {
        let mut bytes = vec![17, 0, 0, 0, 4, 0];
        bytes.extend(abbreviations.to_le_bytes());
        bytes.extend([4, 1]);
        bytes.extend(program.to_le_bytes());
        bytes.extend(ranges.to_le_bytes());
        bytes.push(0);
        bytes
    }

    /// A line program with a file in a directory, and a number of rows.
    fn program(directory: usize, files: usize, rows: usize) -> Vec<u8> {
        let mut header = vec![1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
        header.extend(vec![b'd'; directory]);
        header.extend([0, 0]);
        header.extend(b"a.c\0\x01\0\0".repeat(files));
        header.push(0);
        let mut body = vec![2, 0];
        body.extend((header.len() as u32).to_le_bytes());
        body.extend(header);
        body.extend(vec![0x21; rows]);
        let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
        bytes.extend(body);
        bytes
    }

    /// Abbreviations with a unit of `DW_AT_stmt_list` and `DW_AT_ranges`, and a number of others.
    fn abbreviations(others: usize) -> Vec<u8> {
        let mut bytes = vec![1, 0x11, 0, 0x10, 0x17, 0x55, 0x17, 0, 0];
        bytes.extend([2, 0x2e, 0, 0, 0].repeat(others));
        bytes.push(0);
        bytes
    }

    fn bounded(units: &[[u32; 3]], sections: &[(&str, Vec<u8>)]) -> bool {
        let units: Vec<u8> = units.iter().flat_map(|it| unit(*it)).collect();
        let mut sections: BTreeMap<_, _> = sections.iter().cloned().collect();
        sections.insert(".debug_info", units);
        let bytes = sections.values().map(Vec::len).sum();
        let dwarf = Dwarf::load(|id| {
            let bytes = sections.get(id.name()).map_or(&[][..], Vec::as_slice);
            Ok::<_, ()>(EndianSlice::new(bytes, RunTimeEndian::Little))
        });
        is_bounded(dwarf.unwrap(), bytes)
    }

    #[test]
    fn units_with_separate_line_programs_are_accepted() {
        let one = program(10, 20, 10_000);
        let units: Vec<_> = (0..1000).map(|at| [0, at * one.len() as u32, 0]).collect();
        let sections = [
            (".debug_abbrev", abbreviations(0)),
            (".debug_line", one.repeat(1000)),
            (".debug_ranges", vec![0; 8]),
        ];
        assert!(bounded(&units, &sections));
        // A few may share them.
        let few = units.iter().chain(&units).copied().collect::<Vec<_>>();
        assert!(bounded(&few, &sections));
    }

    #[test]
    fn units_that_share_a_large_line_program_are_refused() {
        let sections = [
            (".debug_abbrev", abbreviations(0)),
            (".debug_line", program(10, 1, 100_000)),
            (".debug_ranges", vec![0; 8]),
        ];
        assert!(bounded(&[[0; 3]; 10], &sections));
        assert!(!bounded(&[[0; 3]; 1000], &sections));
    }

    #[test]
    fn units_that_share_many_ranges_or_abbreviations_are_refused() {
        let mut ranges = [1, 0, 0, 0, 2, 0, 0, 0].repeat(10_000);
        ranges.extend([0; 8]);
        let sections = [
            (".debug_abbrev", abbreviations(0)),
            (".debug_line", program(10, 1, 1)),
            (".debug_ranges", ranges),
        ];
        assert!(bounded(&[[0; 3]; 10], &sections));
        assert!(!bounded(&[[0; 3]; 1000], &sections));
        // Each table of abbreviations is read once, but those of other units may overlap it.
        let sections = [
            (".debug_abbrev", abbreviations(20_000)),
            (".debug_line", program(10, 1, 1)),
            (".debug_ranges", vec![0; 8]),
        ];
        assert!(bounded(&[[0; 3]; 1000], &sections));
        let apart: Vec<_> = (0..1000).map(|at| [9 + at * 5, 0, 0]).collect();
        assert!(!bounded(&apart, &sections));
    }

    #[test]
    fn many_files_in_a_directory_with_a_long_name_are_refused() {
        let sections = |directory| {
            [
                (".debug_abbrev", abbreviations(0)),
                (".debug_line", program(directory, 10_000, 1)),
                (".debug_ranges", vec![0; 8]),
            ]
        };
        assert!(bounded(&[[0; 3]], &sections(200)));
        assert!(!bounded(&[[0; 3]], &sections(100_000)));
    }
}
