//! The parts of an instruction, as named in facts and messages.

use std::fmt;

/// A part of an instruction: an operand by its role, or the whole instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandRole {
    /// The destination.
    Dest,
    /// The first source.
    A,
    /// The second source.
    B,
    /// The only source.
    Src,
    /// A CAM entry operand.
    Entry,
    /// A reference count.
    Count,
    /// A signal number or list.
    Signal,
    /// A branch target or base address.
    Target,
    /// A shift.
    Shift,
    /// A transfer register of a command.
    Transfer,
    /// A defer count.
    Defer,
    /// An immediate: constant, mask, state, bit or byte number.
    Value,
    /// A CSR address.
    Csr,
    /// The combination of several parts.
    Whole,
}

impl fmt::Display for OperandRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dest => "destination",
            Self::A => "first source",
            Self::B => "second source",
            Self::Src => "source",
            Self::Entry => "CAM entry",
            Self::Count => "reference count",
            Self::Signal => "signal",
            Self::Target => "target",
            Self::Shift => "shift",
            Self::Transfer => "transfer register",
            Self::Defer => "defer count",
            Self::Value => "value",
            Self::Csr => "CSR address",
            Self::Whole => "instruction",
        })
    }
}
