//! Why an instruction cannot be encoded, and why a word is not a valid
//! instruction.

use std::fmt;

use crate::{Bank, Format, NewerInstruction, Operand, OperandRole, Role, WORD_BITS, WORD_MASK};

/// An instruction that no word can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The part at fault.
    pub operand: OperandRole,
    /// What is wrong with it.
    pub kind: EncodeErrorKind,
}

/// What is wrong with a part of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeErrorKind {
    /// The operand form of the instruction lacks this operand.
    NotInForm {
        /// The operand.
        operand: Operand,
        /// `restricted` or `unrestricted`.
        form: &'static str,
        /// Read or written.
        role: Role,
    },
    /// The register number, offset or constant is too large for the form.
    NumberTooLarge {
        /// The operand.
        operand: Operand,
        /// `restricted` or `unrestricted`.
        form: &'static str,
        /// Largest number that the form encodes.
        max: u16,
    },
    /// Both sources are general-purpose registers of one bank.
    BankConflict {
        /// The bank.
        bank: Bank,
        /// The first source.
        a: Operand,
        /// The second source.
        b: Operand,
    },
    /// Both sources use the same internal path.
    PathConflict {
        /// The first source.
        a: Operand,
        /// The second source.
        b: Operand,
    },
    /// Both sources are constants, counting the option bits of `crc` and
    /// `cam_lookup` as one.
    TwoConstants,
    /// An operand is required.
    Missing,
    /// The instruction takes no such operand.
    Unexpected {
        /// Why not, as part of the message.
        reason: &'static str,
    },
    /// A number outside its range.
    OutOfRange {
        /// The number.
        value: u32,
        /// Smallest value allowed.
        min: u32,
        /// Largest value allowed.
        max: u32,
    },
    /// The address is not a multiple of four.
    Unaligned {
        /// The address.
        value: u32,
    },
    /// The command raises a signal pair, so its signal must be even.
    OddSignal {
        /// The signal.
        signal: u8,
    },
    /// The command raises no signal, so none may be named or waited for.
    NoSignal,
    /// The command cannot name transfer registers of this side with this number
    /// of contexts.
    WrongTransferKind,
    /// The word means a different instruction, which must be written instead.
    UseInstead {
        /// The instruction to write.
        text: &'static str,
    },
    /// The target's generation does not have the instruction.
    NotInGeneration(NewerInstruction),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.operand;
        match self.kind {
            EncodeErrorKind::NotInForm {
                operand,
                form,
                role,
            } => {
                let (role, hint) = match (role, form) {
                    (Role::Dest, _) => ("written", ""),
                    (Role::Source, "restricted") => ("read", "; copy it to a register with alu[]"),
                    (Role::Source, _) => ("read", ""),
                };
                write!(
                    f,
                    "{part}: {operand} cannot be {role} in the {form} operand form of this instruction{hint}"
                )
            }
            EncodeErrorKind::NumberTooLarge { operand, form, max } => write!(
                f,
                "{part}: {operand} is too large for the {form} operand form, the largest number is {max}"
            ),
            EncodeErrorKind::BankConflict { bank, a, b } => write!(
                f,
                "{part}: {a} and {b} are both in bank {bank:?}; one instruction reads at most one register of each bank"
            ),
            EncodeErrorKind::PathConflict { a, b } => {
                write!(f, "{part}: {a} and {b} use the same read path")
            }
            EncodeErrorKind::TwoConstants => write!(
                f,
                "{part}: the instruction has room for one constant; load the other into a register with immed[]"
            ),
            EncodeErrorKind::Missing => write!(f, "{part}: missing, `--` is not allowed here"),
            EncodeErrorKind::Unexpected { reason } => write!(f, "{part}: {reason}"),
            EncodeErrorKind::OutOfRange { value, min, max } => {
                write!(f, "{part}: {value} is outside {min} to {max}")
            }
            EncodeErrorKind::Unaligned { value } => {
                write!(f, "{part}: {value:#x} is not a multiple of 4")
            }
            EncodeErrorKind::OddSignal { signal } => write!(
                f,
                "{part}: s{signal} is odd, but the command raises a pair of signals and names the even one"
            ),
            EncodeErrorKind::NoSignal => write!(f, "{part}: the command raises no signal"),
            EncodeErrorKind::WrongTransferKind => write!(
                f,
                "{part}: the command can name only its own kind of transfer register"
            ),
            EncodeErrorKind::UseInstead { text } => {
                write!(f, "{part}: the word means `{text}`; write that")
            }
            EncodeErrorKind::NotInGeneration(newer) => newer.fmt(f),
        }
    }
}

impl std::error::Error for EncodeError {}

/// A word that is not a valid instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The word.
    pub word: u64,
    /// The bits at fault.
    pub bits: u64,
    /// What is wrong with them.
    pub reason: DecodeReason,
}

/// What is wrong with the bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeReason {
    /// Bits above the instruction word are set.
    TooWide,
    /// No format has these leading bits.
    UnknownClass,
    /// The code has no meaning in its field.
    Undefined,
    /// Fields that must agree do not.
    InconsistentFields,
    /// Unused bits differ from what the encoder writes.
    NotCanonical {
        /// The canonical word with the same meaning.
        canonical: u64,
    },
    /// The target's generation does not have the instruction.
    NotInGeneration(NewerInstruction),
    /// The fields are legal individually, but not in combination.
    InvalidCombination(EncodeError),
}

impl DecodeError {
    /// Returns the runs of bits at fault as (high, low), from the top.
    #[must_use]
    pub fn ranges(&self) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        let mut high = None;
        for bit in (0..u64::BITS).rev() {
            let set = self.bits >> bit & 1 == 1;
            match (set, high) {
                (true, None) => high = Some(bit),
                (false, Some(top)) => {
                    out.push((top, bit + 1));
                    high = None;
                }
                _ => {}
            }
        }
        if let Some(top) = high {
            out.push((top, 0));
        }
        out
    }

    /// Returns the names of the fields that the bits belong to, as
    /// `format.field`.
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        let Some(format) = Format::of(self.word & WORD_MASK) else {
            return Vec::new();
        };
        let info = format.info();
        let mut names: Vec<String> = info
            .fields
            .iter()
            .filter(|field| field.field.mask() & self.bits != 0)
            .map(|field| format!("{}.{}", info.name, field.field.name))
            .collect();
        if info.reserved & self.bits != 0 {
            names.push(format!("{} reserved bits", info.name));
        }
        names
    }
}

impl DecodeError {
    /// Describes the bits at fault and their fields.
    fn place(&self) -> String {
        let ranges = self.ranges().into_iter();
        let bits: Vec<String> = ranges
            .map(|(high, low)| {
                if high == low {
                    high.to_string()
                } else {
                    format!("{high}..{low}")
                }
            })
            .collect();
        let fields = self.fields();
        let fields = if fields.is_empty() {
            String::new()
        } else {
            format!(" ({})", fields.join(", "))
        };
        format!("bits {}{fields}", bits.join(", "))
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {:010x}: ", self.word)?;
        let place = self.place();
        match self.reason {
            DecodeReason::TooWide => write!(f, "{place} lie above the {WORD_BITS}-bit word"),
            DecodeReason::UnknownClass => write!(f, "{place} belong to no instruction class"),
            DecodeReason::Undefined => write!(f, "{place} hold an undefined code"),
            DecodeReason::InconsistentFields => write!(f, "{place} contradict each other"),
            DecodeReason::NotCanonical { canonical } => write!(
                f,
                "{place} should be unused; the same instruction is {canonical:010x}"
            ),
            DecodeReason::NotInGeneration(newer) => newer.fmt(f),
            DecodeReason::InvalidCombination(error) => write!(f, "{place}: {error}"),
        }
    }
}

impl std::error::Error for DecodeError {}
