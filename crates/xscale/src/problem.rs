//! What the chip stops for, before it is said at which instruction.

use npsim_chip::kernel::check::Check;

/// Something that a program must not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The check that can be allowed, if one can.
    pub check: Option<Check>,
    /// What the program does: `reads 0x00001000, ...`.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl Problem {
    /// What the chip cannot go on from.
    pub fn fatal(what: String, help: &str) -> Self {
        Self {
            check: None,
            what,
            help: help.to_owned(),
        }
    }

    /// What a check finds.
    pub fn checked(check: Check, what: String, help: &str) -> Self {
        Self {
            check: Some(check),
            what,
            help: help.to_owned(),
        }
    }
}
