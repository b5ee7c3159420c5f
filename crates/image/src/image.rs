//! What the assembler makes: words for one microengine's control store and all
//! that a loader, a simulator or a reader wants to know of them.

use crate::live::LiveRange;
use npsim_isa::{
    ContextMode, DecodeReason, Generation, NewerInstruction, Operand, Target, decode_lenient_in,
};
use serde::{Deserialize, Serialize};

/// The writer of the next-neighbour registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum NnMode {
    /// The previous microengine.
    #[default]
    Neighbor,
    /// The microengine itself.
    Own,
}

/// Where a word comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Index into [`Image::files`].
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// Index into [`Image::expansions`] of the innermost macro, if any.
    pub expansion: Option<u32>,
}

/// A macro use that words come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageExpansion {
    /// The macro.
    pub name: String,
    /// Where it was used; `expansion` there is the enclosing use.
    pub call: Origin,
    /// What each parameter stands for in this use, in the order of the
    /// definition: the name and the text.
    pub arguments: Vec<(String, String)>,
}

/// A `.begin` or `.local` block, or the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageScope {
    /// Index into [`Image::scopes`] of the enclosing one; none for the file.
    pub parent: Option<u32>,
    /// The directive that opens it, or the start of the main source.
    pub begin: Origin,
    /// The directive that closes it, or the end of the main source.
    pub end: Origin,
}

/// A name that stands for an operand: `.operand_synonym`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synonym {
    /// The name.
    pub name: String,
    /// Index into [`Image::scopes`] of the scope in which it means that.
    pub scope: u32,
    /// The operand: a register, a signal, or what else an operand may be.
    pub operand: String,
    /// The directive; the name means that from there on.
    pub origin: Origin,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelSymbol {
    /// Name without `#`; macro-local labels carry their expansion's number.
    pub name: String,
    /// Word address.
    pub address: u16,
}

/// A register that a name stands for. A name has one for each of its live ranges
/// that have nothing to do with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterSymbol {
    /// The name with its sigil.
    pub name: String,
    /// Index into [`Image::scopes`] of the scope it was declared in.
    pub scope: u32,
    /// The physical register.
    pub operand: Operand,
    /// Direction for transfer registers.
    pub direction: TransferDirection,
    /// Where the register holds a value of the name, ascending; for a transfer
    /// register the IN side.
    pub live: Vec<LiveRange>,
    /// Where the OUT side of a transfer register is live.
    pub live_out: Vec<LiveRange>,
}

/// Which of the two registers behind a transfer number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferDirection {
    /// The IN register.
    Read,
    /// The OUT register.
    Write,
    /// Both, or not a transfer register.
    Both,
}

/// A signal symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalSymbol {
    /// Name.
    pub name: String,
    /// Index into [`Image::scopes`] of the scope it was declared in.
    pub scope: u32,
    /// Signal number 1-15; a DRAM pair is named by its even number.
    pub number: u8,
    /// Where the number belongs to the name, ascending.
    pub live: Vec<LiveRange>,
}

/// A register value that the loader writes before the contexts start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialValue {
    /// The register.
    pub register: Operand,
    /// The context, or all of them.
    pub context: Option<u8>,
    /// The value.
    pub value: u32,
}

/// A memory that programs name by bare addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySpace {
    /// Scratchpad.
    Scratch,
    /// SRAM; the channel is in bits 31-30 of an address.
    Sram,
    /// DRAM.
    Dram,
}

impl MemorySpace {
    /// All, by name.
    pub const ALL: [(Self, &str); 3] = [
        (Self::Scratch, "scratch"),
        (Self::Sram, "sram"),
        (Self::Dram, "dram"),
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Memory that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySymbol {
    /// The name.
    pub name: String,
    /// Which memory.
    pub space: MemorySpace,
    /// Byte address, as programs give it.
    pub address: u32,
    /// Bytes.
    pub size: u64,
}

/// A longword of memory that the loader writes before the contexts start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialLongword {
    /// Which memory.
    pub space: MemorySpace,
    /// Byte address, as programs give it.
    pub address: u32,
    /// The value.
    pub value: u32,
}

/// What of the value goes into the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImportPart {
    /// All 32 bits, as far as one `immed` can hold them.
    Whole,
    /// Bits 15..0.
    Low,
    /// Bits 31..16.
    High,
    /// Byte 0 (bits 7..0) to 3.
    Byte(u8),
}

impl ImportPart {
    /// All parts.
    pub const ALL: [Self; 7] = [
        Self::Whole,
        Self::Low,
        Self::High,
        Self::Byte(0),
        Self::Byte(1),
        Self::Byte(2),
        Self::Byte(3),
    ];

    /// The part of a value.
    #[must_use]
    pub const fn of(self, value: u32) -> u32 {
        match self {
            Self::Whole => value,
            Self::Low => value & 0xffff,
            Self::High => value >> 16,
            Self::Byte(n) => value >> (8 * (n as u32 & 3)) & 0xff,
        }
    }

    /// The part that an expression computes, if it is one.
    #[must_use]
    pub fn found(expression: impl Fn(u32) -> Option<i64>) -> Option<Self> {
        // Values in which all parts differ, with and without the high bits.
        const PROBES: [u32; 5] = [0x1234_5678, 0xfedc_ba98, 0, 0x00ff_0100, 0x8000_7fff];
        Self::ALL.into_iter().find(|part| {
            PROBES
                .iter()
                .all(|&probe| expression(probe) == Some(i64::from(part.of(probe))))
        })
    }
}

/// A place that needs the value of an import variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportFixup {
    /// Word address of the `immed`.
    pub address: u16,
    /// The import variable.
    pub name: String,
    /// What of its value goes there.
    pub part: ImportPart,
    /// The source wrote a shift, which stays; otherwise the shift and inversion
    /// that the value needs are chosen.
    pub shifted: bool,
    /// The value that was filled in.
    pub value: Option<u32>,
}

/// The assembled program of one microengine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The main source as it was named.
    pub name: String,
    /// The generation of microengines that it was assembled for.
    pub generation: Generation,
    /// Context mode.
    pub contexts: ContextMode,
    /// Next-neighbour mode.
    pub nn_mode: NnMode,
    /// 40-bit words from address 0.
    pub words: Vec<u64>,
    /// One per word; empty for images made from bare words.
    pub origins: Vec<Origin>,
    /// Files that [`Origin`]s name.
    pub files: Vec<String>,
    /// Macro uses that [`Origin`]s name.
    pub expansions: Vec<ImageExpansion>,
    /// Addresses of the words that begin a statement, ascending. The words up to
    /// the next one belong to the same statement.
    pub statements: Vec<u16>,
    /// Scopes of names, the file first and each after the one around it; empty
    /// where nothing is known of them, nor of the live ranges of names.
    pub scopes: Vec<ImageScope>,
    /// The scope that each word stands in, an index into [`Self::scopes`]; empty where
    /// nothing is known of it.
    pub word_scopes: Vec<u32>,
    /// Synonyms in the order of the source.
    pub synonyms: Vec<Synonym>,
    /// Labels by address.
    pub labels: Vec<LabelSymbol>,
    /// Registers.
    pub registers: Vec<RegisterSymbol>,
    /// Signals.
    pub signals: Vec<SignalSymbol>,
    /// Values for the loader.
    pub initial_values: Vec<InitialValue>,
    /// Longwords for the loader; of two for one address the last counts.
    pub initial_memory: Vec<InitialLongword>,
    /// Places that need the values of import variables.
    pub imports: Vec<ImportFixup>,
}

impl Image {
    /// An image of bare words, as read from a hex or binary file.
    #[must_use]
    pub fn from_words(name: impl Into<String>, words: Vec<u64>) -> Self {
        Self {
            name: name.into(),
            words,
            ..Self::default()
        }
    }

    /// What its words were made for.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            generation: self.generation,
            contexts: self.contexts,
        }
    }

    /// The first word that is an instruction which microengines of a generation do not have.
    ///
    /// # Errors
    /// Its address and the instruction.
    pub fn check_generation(&self, generation: Generation) -> Result<(), (u16, NewerInstruction)> {
        let target = Target {
            generation,
            contexts: self.contexts,
        };
        for (address, &word) in (0..).zip(&self.words) {
            if let Err(error) = decode_lenient_in(word, target)
                && let DecodeReason::Newer(newer) = error.reason
            {
                return Err((address, newer));
            }
        }
        Ok(())
    }

    /// `file:line` of a word and the macros it came through, innermost first:
    /// `ring.uc:12 (in ring_put, main.uc:40)`. The address where nothing is known.
    #[must_use]
    pub fn place(&self, address: u16) -> String {
        let Some(origin) = self.origins.get(address as usize) else {
            return format!("{}+{address}", self.name);
        };
        let mut text = self.line(origin);
        let mut expansion = origin.expansion;
        while let Some(used) = expansion.and_then(|i| self.expansions.get(i as usize)) {
            text = format!("{text} (in {}, {})", used.name, self.line(&used.call));
            expansion = used.call.expansion;
        }
        text
    }

    fn line(&self, origin: &Origin) -> String {
        let file = self
            .files
            .get(origin.file as usize)
            .map_or("?", String::as_str);
        format!("{file}:{}", origin.line)
    }
}
