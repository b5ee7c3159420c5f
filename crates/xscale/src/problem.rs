//! Why the chip stops, before the instruction is known.

use npsim_chip::kernel::check::Check;

/// Something that a program is not allowed to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The check that can be allowed, if there is one.
    pub check: Option<Check>,
    /// The program's action: `reads 0x00001000, ...`.
    pub what: String,
    /// The suggested remedy.
    pub help: String,
}

impl Problem {
    /// A problem from which the chip cannot continue.
    pub fn fatal(what: String, help: &str) -> Self {
        Self {
            check: None,
            what,
            help: help.to_owned(),
        }
    }

    /// A problem found by a check.
    pub fn checked(check: Check, what: String, help: &str) -> Self {
        Self {
            check: Some(check),
            what,
            help: help.to_owned(),
        }
    }
}
