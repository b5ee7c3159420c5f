//! The assembler's output: the words for one microengine's control store, and everything that a
//! loader, a simulator or a reader needs to know about them.

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

/// The source position of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Index into [`Image::files`].
    pub file: u32,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in bytes, counted from 1.
    pub column: u32,
    /// Index into [`Image::expansions`] of the innermost macro, if any.
    pub expansion: Option<u32>,
}

/// A macro use that produced words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageExpansion {
    /// Name of the macro.
    pub name: String,
    /// The place of the use; its `expansion` is the enclosing use.
    pub call: Origin,
    /// The name and text of each argument of this use, in the order of the parameters in the
    /// definition.
    pub arguments: Vec<(String, String)>,
}

/// A scope of names: a `.begin` or `.local` block, or the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageScope {
    /// Index into [`Image::scopes`] of the enclosing scope; `None` for the file.
    pub parent: Option<u32>,
    /// The directive that opens it, or the start of the main source.
    pub begin: Origin,
    /// The directive that closes it, or the end of the main source.
    pub end: Origin,
}

/// A name for an operand, declared with `.operand_synonym`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synonym {
    /// The name.
    pub name: String,
    /// Index into [`Image::scopes`] of the scope in which the synonym holds.
    pub scope: u32,
    /// The operand: a register, a signal or any other operand.
    pub operand: String,
    /// The directive; the synonym holds from there on.
    pub origin: Origin,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelSymbol {
    /// Name without `#`; macro-local labels include the number of their expansion.
    pub name: String,
    /// Word address.
    pub address: u16,
}

/// A register allocated to a name. A name has one symbol for each of its unrelated live
/// ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterSymbol {
    /// The name, including its sigil.
    pub name: String,
    /// Index into [`Image::scopes`] of the scope that declares it.
    pub scope: u32,
    /// The physical register.
    pub operand: Operand,
    /// Direction of a transfer register.
    pub direction: TransferDirection,
    /// Where the register holds the value of the name, ascending; for a transfer register, on its
    /// IN side.
    pub live: Vec<LiveRange>,
    /// Where the OUT side of a transfer register is live.
    pub live_out: Vec<LiveRange>,
}

/// Which of the two registers with a transfer register number is meant.
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
    /// Index into [`Image::scopes`] of the scope that declares it.
    pub scope: u32,
    /// Signal number 1-15; a DRAM pair has its even number.
    pub number: u8,
    /// Where the number belongs to the name, in ascending order.
    pub live: Vec<LiveRange>,
}

/// A register value that the loader writes before the contexts start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialValue {
    /// The register.
    pub register: Operand,
    /// The context; `None` for all contexts.
    pub context: Option<u8>,
    /// The value.
    pub value: u32,
}

/// A memory that programs address directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySpace {
    /// Scratchpad.
    Scratch,
    /// SRAM; bits 31-30 of an address select the channel.
    Sram,
    /// DRAM.
    Dram,
}

impl MemorySpace {
    /// All memories, with their names.
    pub const ALL: [(Self, &str); 3] = [
        (Self::Scratch, "scratch"),
        (Self::Sram, "sram"),
        (Self::Dram, "dram"),
    ];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// A named block of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySymbol {
    /// The name.
    pub name: String,
    /// The memory that holds it.
    pub space: MemorySpace,
    /// Byte address, as used by programs.
    pub address: u32,
    /// Size in bytes.
    pub size: u64,
}

/// A longword of memory that the loader writes before the contexts start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialLongword {
    /// The memory that holds it.
    pub space: MemorySpace,
    /// Byte address, as used by programs.
    pub address: u32,
    /// The value.
    pub value: u32,
}

/// The part of an import variable's value that goes into a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImportPart {
    /// All 32 bits, provided that one `immed` can load them.
    Whole,
    /// Bits 15..0.
    Low,
    /// Bits 31..16.
    High,
    /// A byte: 0 (bits 7..0) to 3.
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

    /// Returns this part of a value.
    #[must_use]
    pub const fn of(self, value: u32) -> u32 {
        match self {
            Self::Whole => value,
            Self::Low => value & 0xffff,
            Self::High => value >> 16,
            Self::Byte(n) => value >> (8 * (n as u32 & 3)) & 0xff,
        }
    }

    /// Returns the part that an expression computes; `None` if it computes no such part.
    #[must_use]
    pub fn found(expression: impl Fn(u32) -> Option<i64>) -> Option<Self> {
        // Values for which all parts differ, with and without the high bits.
        const PROBES: [u32; 5] = [0x1234_5678, 0xfedc_ba98, 0, 0x00ff_0100, 0x8000_7fff];
        Self::ALL.into_iter().find(|part| {
            PROBES
                .iter()
                .all(|&probe| expression(probe) == Some(i64::from(part.of(probe))))
        })
    }
}

/// A word that needs the value of an import variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportFixup {
    /// Word address of the `immed`.
    pub address: u16,
    /// The import variable.
    pub name: String,
    /// The part of the value that goes into the word.
    pub part: ImportPart,
    /// Whether the source wrote a shift, which is then kept; otherwise the shift and inversion are
    /// chosen to suit the value.
    pub shifted: bool,
    /// The value that was filled in, if any.
    pub value: Option<u32>,
}

/// The assembled program of one microengine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Name of the main source, as given to the assembler.
    pub name: String,
    /// The generation of microengines that it is assembled for.
    pub generation: Generation,
    /// Context mode.
    pub contexts: ContextMode,
    /// Next-neighbour mode.
    pub nn_mode: NnMode,
    /// 40-bit words from address 0.
    pub words: Vec<u64>,
    /// Origin of each word; empty for images made from bare words.
    pub origins: Vec<Origin>,
    /// Files that [`Origin`]s refer to.
    pub files: Vec<String>,
    /// Macro uses that [`Origin`]s refer to.
    pub expansions: Vec<ImageExpansion>,
    /// Addresses of the words that begin a statement, ascending. The words up to the next address
    /// belong to the same statement.
    pub statements: Vec<u16>,
    /// Scopes of names, the file first and each scope after its parent; empty if scopes and live
    /// ranges are unknown.
    pub scopes: Vec<ImageScope>,
    /// The scope of each word, as an index into [`Self::scopes`]; empty if unknown.
    pub word_scopes: Vec<u32>,
    /// Synonyms, in source order.
    pub synonyms: Vec<Synonym>,
    /// Labels, by address.
    pub labels: Vec<LabelSymbol>,
    /// Registers.
    pub registers: Vec<RegisterSymbol>,
    /// Signals.
    pub signals: Vec<SignalSymbol>,
    /// Register values that the loader writes.
    pub initial_values: Vec<InitialValue>,
    /// Longwords that the loader writes; the last one for an address counts.
    pub initial_memory: Vec<InitialLongword>,
    /// Words that need the values of import variables.
    pub imports: Vec<ImportFixup>,
}

impl Image {
    /// Makes an image of bare words, as read from a hex or binary file.
    #[must_use]
    pub fn from_words(name: impl Into<String>, words: Vec<u64>) -> Self {
        Self {
            name: name.into(),
            words,
            ..Self::default()
        }
    }

    /// Returns the target that the words were made for.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            generation: self.generation,
            contexts: self.contexts,
        }
    }

    /// Checks that microengines of a generation have all instructions of the program.
    ///
    /// # Errors
    /// Returns the address of the first instruction that they lack, and the instruction.
    pub fn check_generation(&self, generation: Generation) -> Result<(), (u16, NewerInstruction)> {
        let target = Target {
            generation,
            contexts: self.contexts,
        };
        for (address, &word) in (0..).zip(&self.words) {
            if let Err(error) = decode_lenient_in(word, target)
                && let DecodeReason::NotInGeneration(newer) = error.reason
            {
                return Err((address, newer));
            }
        }
        Ok(())
    }

    /// Returns `file:line` of a word and the macros that it came from, innermost first:
    /// `ring.uc:12 (in ring_put, main.uc:40)`. Without a known origin, returns the image's name
    /// and the address: `main.uc+7`.
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
