//! Contexts by their number.

use std::fmt;
use std::str::FromStr;

use npsim_chip::chip::Chip;
use npsim_chip::core::ContextPhase;
use npsim_isa::CONTEXTS;
use serde::Serialize;

use crate::error::DebugError;

/// A context of a microengine, written `4.3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Thread {
    /// Microengine, by its index.
    pub me: u8,
    /// Context, 0 to 7.
    pub context: u8,
}

impl Thread {
    /// The general-purpose core, if it runs a program: the thread `core`, which is not a context.
    pub const CORE: Self = Self {
        me: u8::MAX,
        context: 0,
    };

    /// Whether it is the general-purpose core.
    #[must_use]
    pub const fn is_core(self) -> bool {
        self.me == Self::CORE.me
    }

    /// The contexts of a chip that run or have exited, microengine by microengine.
    #[must_use]
    pub fn running(chip: &Chip) -> Vec<Self> {
        let cores = chip.microengines().iter();
        let cores = cores.filter(|core| !core.program().image().words.is_empty());
        let threads = cores.flat_map(|core| {
            let contexts = (0..CONTEXTS)
                .filter(|context| core.context(*context).phase != ContextPhase::Inactive);
            let me = core.index();
            contexts.map(move |context| Self { me, context })
        });
        threads.collect()
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_core() {
            return out.write_str("core");
        }
        write!(out, "{}.{}", self.me, self.context)
    }
}

impl FromStr for Thread {
    type Err = DebugError;

    fn from_str(text: &str) -> Result<Self, DebugError> {
        if text == "core" {
            return Ok(Self::CORE);
        }
        let wrong = || {
            DebugError::new(format!("`{text}` names no context"))
                .help("write microengine and context, such as `4.3`")
        };
        let (me, context) = text.split_once('.').ok_or_else(wrong)?;
        let me = me.parse().ok().filter(|me| *me != Self::CORE.me);
        let me = me.ok_or_else(wrong)?;
        let context = context.parse().ok().filter(|it| *it < CONTEXTS);
        Ok(Self {
            me,
            context: context.ok_or_else(wrong)?,
        })
    }
}
