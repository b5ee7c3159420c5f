//! Checks that silicon lacks, and the faults they raise.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::Cycle;

macro_rules! checks {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A named check; each can be allowed so that firmware that relies on the behaviour still
        /// runs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Check { $($(#[doc = $doc])+ $variant,)+ }

        impl Check {
            /// All checks, in order of definition.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name used by `--allow`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// A description of what the check reports.
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc,)+).trim_ascii_start(),)+ }
            }
        }
    };
}

checks! {
    /// A transfer register was read or written while a unit owns it.
    TransferInFlight = "transfer-in-flight",
    /// A register was read before anything was written to it.
    UninitialisedRead = "uninitialised-read",
    /// Every context sleeps and no event is pending that could wake one.
    Deadlock = "deadlock",
    /// A context waits when the run ends for a signal that nothing can raise any more.
    NeverWoken = "never-woken",
    /// A context ran for 1,048,576 cycles without yielding, issuing a command or polling shared state.
    NeverYields = "never-yields",
    /// A context got an RBUF element and had not freed it when the run ended.
    RbufLeak = "rbuf-leak",
    /// Packet buffers never came back to their freelist, and nothing held their handles when the run ended.
    BufferLeak = "buffer-leak",
    /// An RBUF element was freed while it was free.
    RbufDoubleFree = "rbuf-double-free",
    /// Local memory was used before a write of its address took effect.
    LocalMemoryEarly = "local-memory-early",
    /// A signal was raised again before it was consumed.
    SignalRaisedTwice = "signal-raised-twice",
    /// A put to a full ring overwrote what was on it.
    RingOverflow = "ring-overflow",
    /// Two contexts updated memory with nothing that keeps them apart; looked for with `--look-for races` only.
    LostUpdate = "lost-update",
    /// Control flow entered the defer slots of a branch from elsewhere.
    DeferSlotEntry = "defer-slot-entry",
    /// The core's program read memory that neither it nor the project ever wrote.
    CoreUnwrittenRead = "core-unwritten-read",
    /// The core's program stored into its own code.
    CoreCodeWrite = "core-code-write",
    /// The stack pointer of the core's program left its stack.
    CoreStack = "core-stack",
    /// The core's program waits for something that nothing can bring.
    CoreEndlessWait = "core-endless-wait",
    /// The core's program did what the architecture leaves open, such as an access across the alignment.
    CoreUnpredictable = "core-unpredictable",
    /// The core's program divided by zero.
    CoreDivision = "core-division",
}

/// Cycles for which a context may run without yielding, issuing a command or polling shared state
/// (a signal, an input state, a ring, the clock), before [`Check::NeverYields`] stops it: 256 times
/// the longest program of an IXP2400, or 1.7 ms there and 0.75 ms on an IXP2800. In that time a
/// context could write all its local memory a thousand times.
pub const WATCHDOG_CYCLES: Cycle = 1 << 20;

impl Check {
    /// Whether the check examines what is left behind when a run ends, in which case the frames
    /// still on the chip will never leave.
    #[must_use]
    pub const fn is_end_of_run_check(self) -> bool {
        matches!(
            self,
            Self::Deadlock | Self::NeverWoken | Self::RbufLeak | Self::BufferLeak
        )
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Check {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|c| c.name() == text)
            .ok_or_else(|| {
                let names: Vec<_> = Self::ALL.iter().map(|c| c.name()).collect();
                format!(
                    "no check is named `{text}`; choose one of {}",
                    names.join(", ")
                )
            })
    }
}

/// The reason why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The check that stopped the run; `None` if no chip could continue (an invalid instruction,
    /// missing memory).
    pub check: Option<Check>,
    /// The cycle of the fault.
    pub cycle: Cycle,
    /// Index of the microengine, if one caused it.
    pub me: Option<u8>,
    /// Index of the context.
    pub context: Option<u8>,
    /// The word address of the instruction.
    pub pc: Option<u16>,
    /// What happened, in one line.
    pub message: String,
    /// Reasons and relevant state, one line each.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Other places related to the fault.
    pub also: Vec<RelatedPlace>,
}

/// A place in a program that is related to a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedPlace {
    /// Index of the microengine.
    pub me: u8,
    /// Index of the context.
    pub context: u8,
    /// The word address of the instruction.
    pub pc: u16,
    /// What happens there.
    pub what: String,
}

/// The active checks and the first fault found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Checks {
    allowed: u32,
    fault: Option<Box<Fault>>,
    /// Whether there is a fault: the event loop tests this after each event.
    stands: bool,
    /// How often each allowed check would have stopped the run.
    passed_over: [u64; Check::ALL.len()],
}

impl Checks {
    /// Allows a check.
    pub fn allow(&mut self, check: Check) {
        self.allowed |= 1 << check as u32;
    }

    /// Allows these checks and no others.
    pub fn set_allowed(&mut self, checks: &[Check]) {
        self.allowed = 0;
        for &check in checks {
            self.allow(check);
        }
    }

    /// Whether a check is allowed.
    #[must_use]
    pub fn is_allowed(&self, check: Check) -> bool {
        self.allowed & 1 << check as u32 != 0
    }

    /// Records a fault, unless its check is allowed (then it is counted) or there is an earlier
    /// fault. The run stops before the next event.
    pub fn raise(&mut self, fault: Fault) {
        if let Some(check) = fault.check
            && self.is_allowed(check)
        {
            let count = &mut self.passed_over[check as usize];
            // A run that continues past its end reaches another end, and finds the same there.
            *count = if check.is_end_of_run_check() {
                1
            } else {
                *count + 1
            };
            return;
        }
        self.fault.get_or_insert_with(|| Box::new(fault));
        self.stands = true;
    }

    /// Whether a fault stops the run.
    #[inline]
    pub(crate) const fn stands(&self) -> bool {
        self.stands
    }

    /// Whether saved fields are consistent with each other.
    pub(crate) const fn is_whole(&self) -> bool {
        self.stands == self.fault.is_some()
    }

    /// The fault that stops the run.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    /// The fault that stops the run, so that notes can be added.
    pub fn fault_mut(&mut self) -> Option<&mut Fault> {
        self.fault.as_deref_mut()
    }

    /// How often each allowed check was passed over, for the checks where that happened.
    pub fn passed_over(&self) -> impl Iterator<Item = (Check, u64)> + '_ {
        Check::ALL
            .iter()
            .map(|&c| (c, self.passed_over[c as usize]))
            .filter(|(_, n)| *n > 0)
    }
}
