//! Reads a program: an ELF file for a 32-bit ARM of either byte order, as produced by linkers.

use std::ops::Range;

use npsim_arm::ByteOrder;
use object::Endianness;
use object::elf::{self, FileHeader32};
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader, SectionHeader, Sym};

use crate::lines::{LineRow, Lines, Place};

/// A file of either byte order.
pub(crate) type File<'a> = ElfFile32<'a, Endianness>;

/// Header flag for code in the opposite byte order to data, as on newer big-endian processors.
const BE8: u32 = 0x0080_0000;
/// The prefix of longwords that the project sets.
pub(crate) const IMPORT: &str = "import_";
/// The prefix of longwords that keep their value unless the project sets them.
pub(crate) const DEFAULT: &str = "default_";
/// The prefix of tables that the loader fills.
pub(crate) const TABLE: &str = "table_";

/// Bytes of a symbol's name that are kept, since thousands of symbols can share the same long name.
const MAX_NAME_BYTES: usize = 4096;
/// Total bytes of names after which those that follow remain mangled: a short mangled name can stand for a long one.
const MAX_DEMANGLED_BYTES: usize = 64 << 20;

/// Why a file is not a program for the core.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// It is not an ELF file.
    #[error("it is not an ELF file")]
    NoElf,
    /// It is for 64-bit processors.
    #[error("it is for a 64-bit processor")]
    Not32Bit,
    /// It is for another processor.
    #[error("it is for a processor other than ARM (its machine number is {0})")]
    OtherMachine(u16),
    /// Its header names one byte order but uses the other.
    #[error("its header says one byte order, but its contents have the other")]
    MixedByteOrder,
    /// It is for a newer ARM.
    #[error("it was compiled for {0}, and the XScale is an ARMv5TE")]
    Architecture(&'static str),
    /// It is not a linked program.
    #[error("it is {0}, not a linked program")]
    NotLinked(&'static str),
    /// Its code has the opposite byte order to its data.
    #[error("its code is little-endian and its data big-endian (BE8)")]
    Be8,
    /// It is truncated, or its headers contradict one another.
    #[error("it is damaged or ends too early: {0}")]
    Damaged(String),
    /// It has nothing to load.
    #[error("it has no segment to load")]
    Empty,
    /// Its entry lies outside its code.
    #[error("its entry 0x{0:08x} lies in none of its code")]
    Entry(u32),
    /// Its entry is not the address of an ARM instruction, or the code there is for the other state.
    #[error("its entry 0x{entry:08x} {what}")]
    EntryState {
        /// The entry.
        entry: u32,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Code is loaded to a different address from the one it is linked to, and nothing copies the entry.
    #[error("its entry 0x{entry:08x} is loaded to 0x{loaded:08x}, where it cannot run")]
    EntryMoved {
        /// The entry.
        entry: u32,
        /// Where the file loads it.
        loaded: u32,
    },
    /// It has no symbols.
    #[error("it has no symbols (it was stripped)")]
    Stripped,
    /// Two segments are loaded to the same address.
    #[error("two of its segments are loaded to 0x{0:08x}")]
    Overlap(u32),
    /// A longword or table of the project is in an impossible place.
    #[error("its symbol `{name}` at 0x{address:08x} {what}")]
    Misplaced {
        /// The symbol.
        name: String,
        /// Its address.
        address: u32,
        /// What is wrong with the address.
        what: String,
    },
}

impl ElfError {
    /// The suggested remedy.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoElf | Self::Not32Bit | Self::OtherMachine(_) | Self::Architecture(_) => {
                "compile for the XScale: `arm-none-eabi-gcc -mcpu=xscale -mbig-endian`, or with `-mlittle-endian`"
            }
            Self::NotLinked(_) => {
                "link it with a linker script that gives it fixed addresses, as microcode/core/lib/core.ld"
            }
            Self::Be8 => "the XScale has BE32: link without `--be8`",
            Self::Damaged(_) | Self::MixedByteOrder | Self::Empty => "build the file again",
            Self::Entry(_) => {
                "name an entry that the code has: `ENTRY(_start)` in the linker script"
            }
            Self::EntryState { .. } => {
                "let `ENTRY` name a function, not an address: the linker then sets bit 0 for Thumb and no other"
            }
            Self::EntryMoved { .. } => {
                "let code run where it is loaded: remove `AT(...)` from its section of the linker script; only what the program copies itself may have one"
            }
            Self::Stripped => {
                "link without `-s`, and do not strip it: imports, tables, vectors and the stack are found by their symbols"
            }
            Self::Overlap(_) => {
                "let each section of the linker script begin after the one before; for `AT(...)` the load addresses count"
            }
            Self::Misplaced { .. } => {
                "declare it by IMPORT, IMPORT_OR or TABLE of microcode/core/lib/ixp.h, and let the linker script keep it in a section of data"
            }
        }
    }
}

/// A longword that the project sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The name in the project.
    pub name: String,
    /// Its address.
    pub address: u32,
    /// Whether it keeps its value if the project has none.
    pub optional: bool,
}

/// A table filled by the loader: the number of records, followed by the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSymbol {
    /// The name of the table.
    pub name: String,
    /// Its address.
    pub address: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

/// Initial contents of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The address of the first longword, a multiple of 4.
    pub address: u32,
    /// The longwords, in address order.
    pub words: Vec<u32>,
}

/// A program as read from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The address of the first instruction; bit 0 indicates Thumb.
    pub entry: u32,
    /// The byte order of longwords.
    pub order: ByteOrder,
    /// The contents to be loaded.
    pub segments: Vec<Segment>,
    /// Memory that belongs to it: its segments, including the parts that are not in the file.
    pub memory: Vec<Range<u32>>,
    /// Memory that contains instructions.
    pub code: Vec<Range<u32>>,
    /// The address of its exception vectors, if there is a symbol `__vectors`.
    pub vectors: Option<u32>,
    /// Its stack, if symbols define it.
    pub stack: Option<Range<u32>>,
    /// The stack of interrupt handlers, if symbols define it.
    pub irq_stack: Option<Range<u32>>,
    /// The stack of fast interrupt handlers, if symbols define it.
    pub fiq_stack: Option<Range<u32>>,
    /// Ranges that are loaded to a different address from where they are when the program runs: the addresses, and
    /// the first load address.
    pub(crate) moved: Vec<(Range<u32>, u32)>,
    /// Longwords that the project sets.
    pub imports: Vec<Import>,
    /// Tables filled by the loader.
    pub tables: Vec<TableSymbol>,
    lines: Lines,
}

impl Program {
    /// Parses a file without checking its plausibility, which [`Program::read`] does.
    pub(crate) fn parse(bytes: &[u8]) -> Result<(Self, File<'_>), ElfError> {
        check_header(bytes)?;
        let damaged = |error: object::Error| ElfError::Damaged(error.to_string());
        let file = ElfFile32::<Endianness>::parse(bytes).map_err(damaged)?;
        let (header, endian) = (file.elf_header(), file.endian());
        match header.e_type(endian) {
            elf::ET_EXEC => {}
            elf::ET_REL => return Err(ElfError::NotLinked("an object file")),
            elf::ET_DYN => {
                return Err(ElfError::NotLinked("a shared or position-independent file"));
            }
            _ => return Err(ElfError::NotLinked("of no kind that can run")),
        }
        if header.e_flags(endian).0 & BE8 != 0 {
            return Err(ElfError::Be8);
        }
        let order = match endian {
            Endianness::Big => ByteOrder::Big,
            Endianness::Little => ByteOrder::Little,
        };
        let mut program = Self {
            entry: header.e_entry(endian),
            order,
            segments: Vec::new(),
            memory: Vec::new(),
            code: Vec::new(),
            vectors: None,
            stack: None,
            irq_stack: None,
            fiq_stack: None,
            moved: Vec::new(),
            imports: Vec::new(),
            tables: Vec::new(),
            lines: Lines::default(),
        };
        program.take_segments(&file, bytes)?;
        program.take_code(&file);
        program.take_symbols(&file)?;
        program.lines.take_debug_sections(&file);
        Ok((program, file))
    }

    fn take_segments(&mut self, file: &File<'_>, bytes: &[u8]) -> Result<(), ElfError> {
        let endian = file.endian();
        for header in file.elf_program_headers() {
            if header.p_type(endian) != elf::PT_LOAD || header.p_memsz(endian) == 0 {
                continue;
            }
            let data = header.data(endian, bytes).map_err(|()| {
                ElfError::Damaged("a segment lies beyond the end of the file".to_owned())
            })?;
            if data.len() > header.p_memsz(endian) as usize {
                return Err(ElfError::Damaged(
                    "a segment has more bytes in the file than in memory".to_owned(),
                ));
            }
            let wrong = || ElfError::Damaged("a segment ends beyond 4 GB".to_owned());
            let at = header.p_vaddr(endian);
            let end = at.checked_add(header.p_memsz(endian)).ok_or_else(wrong)?;
            self.memory.push(at..end);
            let load = header.p_paddr(endian);
            let load_end = load.checked_add(data.len() as u32).ok_or_else(wrong)?;
            if load != at && !data.is_empty() {
                self.memory.push(load..load_end);
                self.moved.push((at..at + data.len() as u32, load));
            }
            if header.p_flags(endian).0 & elf::PF_X.0 != 0 {
                self.code.push(at..at + data.len() as u32);
            }
            if !data.is_empty() {
                self.segments.push(longwords(load, data, self.order));
            }
        }
        if self.segments.is_empty() {
            return Err(ElfError::Empty);
        }
        self.memory.sort_by_key(|range| range.start);
        Ok(())
    }

    /// Takes the code ranges from sections, where there are any, as they are more precise than segments.
    fn take_code(&mut self, file: &File<'_>) {
        let endian = file.endian();
        let wanted = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let sections = file.elf_section_table().iter();
        let code: Vec<_> = sections
            .filter(|section| section.sh_flags(endian) & wanted == wanted)
            .map(|section| {
                let at = section.sh_addr(endian);
                at..at.saturating_add(section.sh_size(endian))
            })
            .filter(|range| !range.is_empty())
            .collect();
        if !code.is_empty() {
            self.code = code;
        }
    }

    fn take_symbols(&mut self, file: &File<'_>) -> Result<(), ElfError> {
        let endian = file.endian();
        let table = file.elf_symbol_table();
        let strings = table.strings();
        let mut ends = [[None; 2]; 3];
        let mut demangled = 0;
        for symbol in table.iter() {
            if symbol.is_undefined(endian) {
                continue;
            }
            let name = symbol.name(endian, strings);
            let name = name.map_err(|error| ElfError::Damaged(error.to_string()))?;
            let Some(name) = bounded_name(name) else {
                continue;
            };
            let (address, bytes) = (symbol.st_value(endian), symbol.st_size(endian));
            match name {
                "__vectors" => self.vectors = Some(address),
                "__stack_limit" | "__stack_start" => ends[0][0] = Some(address),
                "__stack_top" | "__stack_end" => ends[0][1] = Some(address),
                "__irq_stack_start" => ends[1][0] = Some(address),
                "__irq_stack_end" => ends[1][1] = Some(address),
                "__fiq_stack_start" => ends[2][0] = Some(address),
                "__fiq_stack_end" => ends[2][1] = Some(address),
                _ => {}
            }
            if let Some(import) = import_of(name, address) {
                self.imports.push(import);
            } else if let Some(table) = name.strip_prefix(TABLE) {
                self.tables.push(TableSymbol {
                    name: table.to_owned(),
                    address,
                    bytes,
                });
            }
            let is_label = symbol.st_type() == elf::STT_NOTYPE
                && symbol.st_bind() == elf::STB_GLOBAL
                && self.is_code(address);
            if symbol.st_type() == elf::STT_FUNC || is_label {
                // Rust programs have mangled names.
                let plain = if demangled < MAX_DEMANGLED_BYTES {
                    addr2line::demangle_auto(name.into(), None)
                } else {
                    name.into()
                };
                demangled += plain.len();
                self.lines.add_function(&plain, address & !1, bytes);
            }
        }
        self.imports.sort_by(|one, other| one.name.cmp(&other.name));
        self.imports.dedup();
        self.tables.sort_by_key(|table| table.address);
        [self.stack, self.irq_stack, self.fiq_stack] =
            ends.map(|[low, high]| low.zip(high).map(|(low, high)| low..high));
        self.lines.sort();
        Ok(())
    }

    /// The stacks that symbols define.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = &Range<u32>> {
        let all = [&self.stack, &self.irq_stack, &self.fiq_stack];
        all.into_iter().flatten()
    }

    /// The load address of an address of the running program; where they differ, the program copies itself from
    /// there.
    pub(crate) fn loaded_at(&self, address: u32) -> u32 {
        let moved = self.moved.iter().find(|(at, _)| at.contains(&address));
        moved.map_or(address, |(at, load)| address - at.start + load)
    }

    /// Whether there are instructions at an address.
    #[must_use]
    pub fn is_code(&self, address: u32) -> bool {
        self.code.iter().any(|code| code.contains(&address))
    }

    /// The place in the sources of an address.
    #[must_use]
    pub fn place(&self, address: u32) -> Place {
        self.lines.place(address)
    }

    /// The source lines that have instructions, in address order.
    #[must_use]
    pub fn rows(&self) -> Vec<LineRow> {
        self.lines.rows()
    }

    /// The function that contains an address.
    #[must_use]
    pub fn function(&self, address: u32) -> Option<&str> {
        self.lines.function(address).map(|(name, _)| name)
    }

    /// The range of the function at an address, or of the gap between two functions there.
    #[must_use]
    pub fn span(&self, address: u32) -> Range<u32> {
        self.lines.span(address)
    }

    /// The beginning of the function to which an address is attributed: the one that contains it, or the target of
    /// this linker veneer.
    pub(crate) fn beginning(&self, address: u32) -> Option<u32> {
        self.lines.beginning(address)
    }

    /// All functions by the addresses of their first instructions, in ascending order.
    #[must_use]
    pub fn functions(&self) -> Vec<(u32, String)> {
        self.lines.functions()
    }

    /// Whether a function begins at an address.
    #[must_use]
    pub fn begins_function(&self, address: u32) -> bool {
        let function = self.lines.function(address);
        function.is_some_and(|(_, offset)| offset == 0)
    }

    /// The address at which a function begins.
    #[must_use]
    pub fn address_of(&self, function: &str) -> Option<u32> {
        self.lines.address_of(function)
    }
}

/// Checks the header before the whole file is parsed, to give specific errors.
fn check_header(bytes: &[u8]) -> Result<(), ElfError> {
    if bytes.get(..4) != Some(&b"\x7fELF"[..]) {
        return Err(ElfError::NoElf);
    }
    if bytes.len() < size_of::<FileHeader32<Endianness>>() {
        return Err(ElfError::Damaged("its header is not whole".to_owned()));
    }
    let is_big_endian = bytes[5] == elf::ELFDATA2MSB.0;
    let half = |at: usize| {
        let bytes = [bytes[at], bytes[at + 1]];
        if is_big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    };
    if bytes[4] == elf::ELFCLASS64.0 {
        return Err(ElfError::Not32Bit);
    }
    let machine = half(18);
    if machine.swap_bytes() == elf::EM_ARM.0 {
        return Err(ElfError::MixedByteOrder);
    }
    if machine != elf::EM_ARM.0 {
        return Err(ElfError::OtherMachine(machine));
    }
    Ok(())
}

/// The name of a symbol, cut where it is too long; `None` if it is not UTF-8.
fn bounded_name(name: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(name).ok()?;
    Some(&name[..name.floor_char_boundary(MAX_NAME_BYTES)])
}

fn import_of(name: &str, address: u32) -> Option<Import> {
    let (name, optional) = match name.strip_prefix(IMPORT) {
        Some(name) => (name, false),
        None => (name.strip_prefix(DEFAULT)?, true),
    };
    Some(Import {
        name: name.to_owned(),
        address,
        optional,
    })
}

/// Converts bytes to longwords of the chip's memory, padded with 0 on both sides.
fn longwords(address: u32, bytes: &[u8], order: ByteOrder) -> Segment {
    let before = (address % 4) as usize;
    let mut padded = vec![0; before];
    padded.extend_from_slice(bytes);
    padded.resize(padded.len().next_multiple_of(4), 0);
    let words = padded.chunks_exact(4).map(|four| {
        let four = [four[0], four[1], four[2], four[3]];
        match order {
            ByteOrder::Big => u32::from_be_bytes(four),
            ByteOrder::Little => u32::from_le_bytes(four),
        }
    });
    Segment {
        address: address & !3,
        words: words.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAME_BYTES, bounded_name};

    #[test]
    fn long_names_are_truncated_at_character_boundaries() {
        let longest = "a".repeat(MAX_NAME_BYTES);
        assert_eq!(bounded_name(longest.as_bytes()), Some(&*longest));
        let longer = format!("{longest}b");
        assert_eq!(bounded_name(longer.as_bytes()), Some(&*longest));
        let shorter = &longest[1..];
        let inside = format!("{shorter}\u{e9}");
        assert_eq!(bounded_name(inside.as_bytes()), Some(shorter));
        assert_eq!(bounded_name(b"a\xffb"), None);
    }
}
