//! Operand codes: the unrestricted (10-bit) and restricted (8-bit) forms.

use crate::{Bank, Evidence, IndexStep, Operand};

/// A row of an operand form.
#[derive(Clone, Copy, Debug)]
pub struct OperandCode {
    /// 0, 1, or `.` for a bit of the index.
    pub pattern: &'static str,
    /// Bits that select the row.
    pub mask: u16,
    /// Value of those bits.
    pub value: u16,
    /// Bits that hold the index, most significant first.
    pub index_mask: u16,
    /// The kind of operand that the code stands for.
    pub kind: OperandKind,
    /// Spelling.
    pub text: &'static str,
    /// Whether the row is legal as a source.
    pub source: bool,
    /// Whether the row is legal as a destination.
    pub dest: bool,
    /// Description, in prose.
    pub doc: &'static str,
    /// Evidence for the row.
    pub evidence: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

/// An operand form.
#[derive(Clone, Copy, Debug)]
pub struct OperandForm {
    /// Name in the table.
    pub name: &'static str,
    /// Width of the field in bits.
    pub bits: u32,
    /// Description of the instructions that use it.
    pub doc: &'static str,
    /// The rows.
    pub rows: &'static [OperandCode],
}

/// Whether an operand is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Read.
    Source,
    /// Written.
    Dest,
}

include!(concat!(env!("OUT_DIR"), "/operands.rs"));

/// Spreads the low bits of `value` over the set bits of `mask`.
fn deposit(value: u16, mask: u16) -> u16 {
    let (mut out, mut taken) = (0, 0);
    for bit in 0..u16::BITS {
        if mask & (1 << bit) != 0 {
            out |= ((value >> taken) & 1) << bit;
            taken += 1;
        }
    }
    out
}

/// Gathers the bits of `value` under `mask`.
fn extract(value: u16, mask: u16) -> u16 {
    let (mut out, mut taken) = (0, 0);
    for bit in 0..u16::BITS {
        if mask & (1 << bit) != 0 {
            out |= ((value >> bit) & 1) << taken;
            taken += 1;
        }
    }
    out
}

impl OperandCode {
    fn serves(&self, role: Role) -> bool {
        match role {
            Role::Source => self.source,
            Role::Dest => self.dest,
        }
    }

    /// Returns the largest index that the row can hold.
    #[must_use]
    pub fn max_index(&self) -> u16 {
        ((1u32 << self.index_mask.count_ones()) - 1) as u16
    }

    /// Returns the code of the operand with this index; `None` if it does not fit.
    #[must_use]
    pub fn code(&self, index: u16) -> Option<u16> {
        (index <= self.max_index()).then(|| self.value | deposit(index, self.index_mask))
    }
}

impl OperandForm {
    /// Returns the row that a code belongs to.
    #[must_use]
    pub fn row(&self, code: u16, role: Role) -> Option<&'static OperandCode> {
        self.rows
            .iter()
            .find(|row| row.serves(role) && code & row.mask == row.value)
    }

    /// Returns the operand that a code stands for when read or written through a port of `bank`.
    #[must_use]
    pub fn decode(&self, code: u16, role: Role, bank: Bank) -> Option<Operand> {
        let row = self.row(code, role)?;
        Some(row.kind.operand(bank, extract(code, row.index_mask) as u8))
    }

    /// Returns the code of an operand. The bank of a GPR is not part of the code.
    ///
    /// # Errors
    /// Returns an [`Unencodable`] that tells whether the form lacks the operand or its number is
    /// too large.
    pub fn encode(&self, operand: Operand, role: Role) -> Result<u16, Unencodable> {
        let (kind, index) = OperandKind::of(operand).ok_or(Unencodable::Kind)?;
        let row = self
            .rows
            .iter()
            .find(|row| row.kind == kind && row.serves(role))
            .ok_or(Unencodable::Kind)?;
        row.code(u16::from(index)).ok_or(Unencodable::Index {
            max: row.max_index(),
        })
    }
}

/// Why an operand has no code in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unencodable {
    /// The form has no such operand in this role.
    Kind,
    /// The register number, offset or constant is too large.
    Index {
        /// Largest index that can be encoded.
        max: u16,
    },
}

impl OperandKind {
    /// Returns the kind and index of an operand; `None` for values that no syntax yields, such as
    /// local memory pointer 2.
    #[must_use]
    pub fn of(operand: Operand) -> Option<(Self, u8)> {
        Some(match operand {
            Operand::None => (Self::None, 0),
            Operand::Gpr(_, number) => (Self::Gpr, number),
            Operand::GprAbsolute(_, number) => (Self::GprAbsolute, number),
            Operand::STransfer(number) => (Self::STransfer, number),
            Operand::DTransfer(number) => (Self::DTransfer, number),
            Operand::SIndexed(IndexStep::Keep) => (Self::SIndex, 0),
            Operand::SIndexed(IndexStep::Increment) => (Self::SIndexIncrement, 0),
            Operand::SIndexed(IndexStep::Decrement) => (Self::SIndexDecrement, 0),
            Operand::DIndexed(IndexStep::Keep) => (Self::DIndex, 0),
            Operand::DIndexed(IndexStep::Increment) => (Self::DIndexIncrement, 0),
            Operand::DIndexed(IndexStep::Decrement) => (Self::DIndexDecrement, 0),
            Operand::LocalMemory { pointer: 0, offset } => (Self::LocalMemory0, offset),
            Operand::LocalMemory { pointer: 1, offset } => (Self::LocalMemory1, offset),
            Operand::LocalMemoryStep { pointer, step } => match (pointer, step) {
                (0, IndexStep::Increment) => (Self::LocalMemory0Increment, 0),
                (0, IndexStep::Decrement) => (Self::LocalMemory0Decrement, 0),
                (1, IndexStep::Increment) => (Self::LocalMemory1Increment, 0),
                (1, IndexStep::Decrement) => (Self::LocalMemory1Decrement, 0),
                _ => return None,
            },
            Operand::LocalMemory { .. } => return None,
            Operand::NnPeek => (Self::NnPeek, 0),
            Operand::NnRing => (Self::NnRing, 0),
            Operand::Nn(number) => (Self::Nn, number),
            Operand::Constant(value) => (Self::Constant, value),
        })
    }

    /// Returns the operand of this kind with an index, for a port of `bank`.
    #[must_use]
    pub const fn operand(self, bank: Bank, index: u8) -> Operand {
        const fn stepped(pointer: u8, step: IndexStep) -> Operand {
            Operand::LocalMemoryStep { pointer, step }
        }
        match self {
            Self::None => Operand::None,
            Self::Gpr => Operand::Gpr(bank, index),
            Self::GprAbsolute => Operand::GprAbsolute(bank, index),
            Self::STransfer => Operand::STransfer(index),
            Self::DTransfer => Operand::DTransfer(index),
            Self::SIndex => Operand::SIndexed(IndexStep::Keep),
            Self::SIndexIncrement => Operand::SIndexed(IndexStep::Increment),
            Self::SIndexDecrement => Operand::SIndexed(IndexStep::Decrement),
            Self::DIndex => Operand::DIndexed(IndexStep::Keep),
            Self::DIndexIncrement => Operand::DIndexed(IndexStep::Increment),
            Self::DIndexDecrement => Operand::DIndexed(IndexStep::Decrement),
            Self::LocalMemory0 => Operand::LocalMemory {
                pointer: 0,
                offset: index,
            },
            Self::LocalMemory1 => Operand::LocalMemory {
                pointer: 1,
                offset: index,
            },
            Self::LocalMemory0Increment => stepped(0, IndexStep::Increment),
            Self::LocalMemory0Decrement => stepped(0, IndexStep::Decrement),
            Self::LocalMemory1Increment => stepped(1, IndexStep::Increment),
            Self::LocalMemory1Decrement => stepped(1, IndexStep::Decrement),
            Self::NnPeek => Operand::NnPeek,
            Self::NnRing => Operand::NnRing,
            Self::Nn => Operand::Nn(index),
            Self::Constant => Operand::Constant(index),
        }
    }
}
