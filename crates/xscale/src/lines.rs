//! The functions of a program and its source lines, by address.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use addr2line::Context;
use addr2line::gimli::{AbbreviationsCacheStrategy, Dwarf, EndianSlice, RunTimeEndian, SectionId};
use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSection};

use crate::debug_work;

/// A place in the sources, as known from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The address.
    pub address: u32,
    /// The function, and the offset of the address from its beginning.
    pub function: Option<(String, u32)>,
    /// File and line.
    pub line: Option<(String, u32)>,
}

/// The instructions of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// Address of the first instruction.
    pub address: u32,
    /// Total size in bytes.
    pub bytes: u32,
    /// The file.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08x}", self.address)?;
        if let Some((name, offset)) = &self.function {
            write!(f, " in {name}")?;
            if *offset > 0 && self.line.is_none() {
                write!(f, "+0x{offset:x}")?;
            }
        }
        if let Some((file, line)) = &self.line {
            write!(f, " ({file}:{line})")?;
        }
        Ok(())
    }
}

/// Largest number of bytes covered by a label without a size.
const LABEL: u32 = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    address: u32,
    bytes: u32,
    name: String,
    /// For a veneer, through which the linker reaches a function far away or of the other state: where that
    /// function begins.
    leads_to: Option<u32>,
}

/// The name of a veneer's target, following the naming of GNU linkers.
fn veneer_target(name: &str) -> Option<&str> {
    let name = name.strip_prefix("__")?;
    { ["_from_thumb", "_from_arm", "_veneer"].iter() }.find_map(|end| name.strip_suffix(end))
}

/// What a program's file contains about its sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    functions: Vec<Function>,
    /// The DWARF sections, by name.
    sections: BTreeMap<&'static str, Vec<u8>>,
    is_big_endian: bool,
}

impl Lines {
    pub(crate) fn add_function(&mut self, name: &str, address: u32, bytes: u32) {
        self.functions.push(Function {
            address,
            bytes,
            name: name.to_owned(),
            leads_to: None,
        });
    }

    /// Finishes the list after all functions have been added.
    pub(crate) fn sort(&mut self) {
        self.functions
            .sort_by(|one, other| (one.address, &one.name).cmp(&(other.address, &other.name)));
        // A label of assembler code without a size extends to the next.
        for at in 1..self.functions.len() {
            let next = self.functions[at].address;
            let label = &mut self.functions[at - 1];
            if label.bytes == 0 {
                label.bytes = (next - label.address).min(LABEL);
            }
        }
        let mut addresses = BTreeMap::new();
        for function in &self.functions {
            addresses.entry(&*function.name).or_insert(function.address);
        }
        let target = |it: &Function| addresses.get(veneer_target(&it.name)?).copied();
        let targets: Vec<_> = self.functions.iter().map(target).collect();
        for (function, target) in self.functions.iter_mut().zip(targets) {
            function.leads_to = target;
        }
    }

    pub(crate) fn take_debug_sections(&mut self, file: &ElfFile32<'_, Endianness>) {
        self.is_big_endian = file.endian() == Endianness::Big;
        let wanted = [
            SectionId::DebugAbbrev,
            SectionId::DebugAddr,
            SectionId::DebugAranges,
            SectionId::DebugInfo,
            SectionId::DebugLine,
            SectionId::DebugLineStr,
            SectionId::DebugRanges,
            SectionId::DebugRngLists,
            SectionId::DebugStr,
            SectionId::DebugStrOffsets,
        ];
        for name in wanted.map(SectionId::name) {
            let section = file.section_by_name(name);
            if let Some(Ok(bytes)) = section.map(|section| section.data()) {
                self.sections.insert(name, bytes.to_vec());
            }
        }
        let bytes = self.sections.values().map(Vec::len).sum();
        // Excessive debug information counts as none, like damaged one.
        if !{ self.dwarf() }.is_some_and(|dwarf| debug_work::is_bounded(dwarf, bytes)) {
            self.sections.clear();
        }
    }

    /// The function at an address, and the offset of the address from its beginning.
    pub(crate) fn function(&self, address: u32) -> Option<(&str, u32)> {
        let behind = self.functions.partition_point(|it| it.address <= address);
        let found = self.functions[..behind].last()?;
        let offset = address - found.address;
        let bytes = if found.bytes == 0 { LABEL } else { found.bytes };
        (offset < bytes).then_some((&found.name, offset))
    }

    /// The range of the function at an address, or of the gap between two functions there.
    pub(crate) fn span(&self, address: u32) -> Range<u32> {
        let behind = self.functions.partition_point(|it| it.address <= address);
        let next = self.functions.get(behind).map_or(u32::MAX, |it| it.address);
        let Some(before) = behind.checked_sub(1).map(|at| &self.functions[at]) else {
            return 0..next;
        };
        let bytes = if before.bytes == 0 {
            LABEL
        } else {
            before.bytes
        };
        let end = before.address.saturating_add(bytes);
        if address < end {
            before.address..end.min(next)
        } else {
            end..next
        }
    }

    /// The beginning of the function to which an address is attributed: the one that contains it, or the target of
    /// this veneer.
    pub(crate) fn beginning(&self, address: u32) -> Option<u32> {
        let behind = self.functions.partition_point(|it| it.address <= address);
        let found = self.functions[..behind].last()?;
        self.function(address)?;
        Some(found.leads_to.unwrap_or(found.address))
    }

    /// All functions by address, in ascending order; for several at one address, the first by name.
    pub(crate) fn functions(&self) -> Vec<(u32, String)> {
        let all = self.functions.iter();
        let mut all: Vec<_> = all.map(|it| (it.address, it.name.clone())).collect();
        all.dedup_by_key(|it| it.0);
        all
    }

    pub(crate) fn address_of(&self, name: &str) -> Option<u32> {
        let found = self.functions.iter().find(|it| it.name == name)?;
        Some(found.address)
    }

    pub(crate) fn place(&self, address: u32) -> Place {
        let function = self.function(address);
        Place {
            address,
            function: function.map(|(name, offset)| (name.to_owned(), offset)),
            line: self.line(address),
        }
    }

    fn line(&self, address: u32) -> Option<(String, u32)> {
        let context = self.context()?;
        let found = context.find_location(address.into()).ok()??;
        Some((shortened(found.file?).to_owned(), found.line?))
    }

    /// The lines that have instructions, in address order.
    pub(crate) fn rows(&self) -> Vec<LineRow> {
        let Some(context) = self.context() else {
            return Vec::new();
        };
        let Ok(all) = context.find_location_range(0, u64::from(u32::MAX)) else {
            return Vec::new();
        };
        let row = |(address, bytes, location): (u64, u64, addr2line::Location<'_>)| {
            Some(LineRow {
                address: u32::try_from(address).ok()?,
                bytes: u32::try_from(bytes).ok()?,
                file: shortened(location.file?).to_owned(),
                line: location.line?,
            })
        };
        // Ranges of a unit that overlap would repeat its rows, which have at least a byte each.
        let program = self.sections.get(SectionId::DebugLine.name());
        let most = program.map_or(0, Vec::len) * 4;
        let mut rows: Vec<_> = all.take(most).filter_map(row).collect();
        rows.sort_by_key(|row| row.address);
        rows
    }

    /// The DWARF information, read anew.
    fn context(&self) -> Option<Context<EndianSlice<'_, RunTimeEndian>>> {
        let mut dwarf = self.dwarf()?;
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        Context::from_dwarf(dwarf).ok()
    }

    fn dwarf(&self) -> Option<Dwarf<EndianSlice<'_, RunTimeEndian>>> {
        let endian = if self.is_big_endian {
            RunTimeEndian::Big
        } else {
            RunTimeEndian::Little
        };
        let section = |id: SectionId| {
            let bytes = self.sections.get(id.name()).map_or(&[][..], Vec::as_slice);
            Ok::<_, addr2line::gimli::Error>(EndianSlice::new(bytes, endian))
        };
        Dwarf::load(section).ok()
    }
}

fn shortened(file: &str) -> &str {
    file.strip_prefix("./").unwrap_or(file)
}
