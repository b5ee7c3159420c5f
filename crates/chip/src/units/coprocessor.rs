//! The feedback coprocessor: programmable logic beside an SRAM channel that
//! answers Quick-Start and XCP requests, one a clock of its module.
//!
//! It is a look-aside device, as content-addressable memories and classifiers
//! are: it shares the channel's pins with the memory and answers commands to a
//! window of addresses behind it. Of its two modules each has a clock of its
//! own; the shared variables of a scheme are registers that no one but the
//! module and the general-purpose core changes, so that nothing has to be
//! locked. The figures are of an implementation on an Altera Stratix II:
//! Hauger et al., "Evaluation of Router Implementations for Explicit Congestion
//! Control Schemes", section V.
//!
//! A request is handed over when the channel starts its command. The module
//! holds one until its next edge, so the channel starts the next only after
//! that edge; meanwhile it waits in the channel's FIFO and commands to the memory
//! pass it.

mod clock;
mod law;
pub(crate) mod profile;
mod window;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::profile::Profile;
use clock::ModuleClock;
pub(crate) use window::Access;
use window::Register;
pub use window::{GROUPS, MAILBOXES, QUICK_START, REQUEST_WORDS, REQUESTS, WINDOW_BYTES, XCP};

/// Contexts of a microengine; each has a mailbox.
const CONTEXTS: usize = 8;
/// What bits 29-0 of an address reach in a channel.
const CHANNEL_SPACE: u32 = 1 << 30;

/// Where a coprocessor is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoprocessorSetup {
    /// Its name in the project file.
    pub name: String,
    /// SRAM channel.
    pub channel: u8,
    /// Byte address of its window in the channel.
    pub address: u32,
}

impl CoprocessorSetup {
    /// Byte address in the channel, and bytes, of the registers of this name: those
    /// of Quick-Start have the coprocessor's, those of XCP that with `_XCP`.
    #[must_use]
    pub fn registers(&self, name: &str) -> Option<(u32, u32)> {
        match name.strip_prefix(self.name.as_str())? {
            "" => Some((self.address + QUICK_START, XCP - QUICK_START)),
            "_XCP" => Some((self.address + XCP, REQUESTS - XCP)),
            _ => None,
        }
    }

    /// What sources call the parts of the window, with their addresses as
    /// microcode has them: the channel in bits 31-30.
    #[must_use]
    pub fn names(&self) -> [(String, u32); 4] {
        let window = u32::from(self.channel) << 30 | self.address;
        [
            ("", QUICK_START),
            ("_XCP", XCP),
            ("_REQUESTS", REQUESTS),
            ("_MAILBOXES", MAILBOXES),
        ]
        .map(|(part, offset)| (format!("{}{part}", self.name), window + offset))
    }

    /// The first address for a window in a channel with so many bytes of memory.
    #[must_use]
    pub const fn first_address(memory_bytes: u64) -> u64 {
        memory_bytes.next_multiple_of(WINDOW_BYTES as u64)
    }

    /// Whether a window may be at an address of a channel with so many bytes of
    /// memory.
    ///
    /// # Errors
    /// It may not; says why, to follow what it is about.
    pub fn check_address(address: u64, memory_bytes: u64) -> Result<(), String> {
        if !address.is_multiple_of(u64::from(WINDOW_BYTES)) {
            return Err(format!(
                "its address {address:#x} is not a multiple of {WINDOW_BYTES:#x}"
            ));
        }
        if address < memory_bytes {
            return Err(format!(
                "its address {address:#x} lies in the channel's memory, which ends at {memory_bytes:#x}"
            ));
        }
        if address > u64::from(CHANNEL_SPACE - WINDOW_BYTES) {
            return Err(format!(
                "its window of {WINDOW_BYTES:#x} bytes from {address:#x} on ends behind {CHANNEL_SPACE:#x}, what bits 29-0 of an address reach"
            ));
        }
        Ok(())
    }
}

/// The registers of a Quick-Start group: limit, phase, what is granted in the
/// windows of phase 0, nothing (a lock where the same stands in memory), what is
/// granted in the windows of phase 8.
type QuickStartGroup = [u32; 5];
/// The registers of an XCP group: both residues, both mantissas, both shifts.
type XcpGroup = [u32; 5];

/// What the Quick-Start module has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartCounts {
    /// Requests answered.
    pub requests: u64,
    /// Of these, with what they asked for.
    pub granted: u64,
    /// With less, but something.
    pub reduced: u64,
    /// With nothing.
    pub denied: u64,
    /// Sum of all grants in units of 40 kbit/s.
    pub granted_units: u64,
}

/// What the XCP module has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpCounts {
    /// Requests answered.
    pub requests: u64,
    /// Of these, with the Delta that they came with.
    pub passed: u64,
    /// With a smaller one.
    pub reduced: u64,
}

/// How a module was used, in ME cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleUse {
    /// Clocks that took a request.
    pub busy: Cycle,
    /// Sum over requests of the time from when the channel had all of them to
    /// the clock edge that took them.
    pub waiting: Cycle,
}

/// A module's clock and the time that its requests waited.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Module {
    clock: ModuleClock,
    /// In ticks of the clock.
    waited: u128,
}

impl Module {
    fn new(picoseconds: u64, profile: &Profile) -> Self {
        Self {
            clock: ModuleClock::new(picoseconds, profile.me_mhz()),
            waited: 0,
        }
    }

    /// Takes a request that has been there `since`; gives when the answer is.
    fn take(&mut self, now: Cycle, since: Cycle) -> Cycle {
        let taken = self.clock.take(now);
        self.waited += taken.waited + clock::ticks(now.saturating_sub(since));
        taken.answered
    }

    fn used(&self, requests: u64) -> ModuleUse {
        ModuleUse {
            busy: self.clock.busy(requests),
            waiting: ModuleClock::cycles(self.waited),
        }
    }
}

/// The place of a thread's XCP request and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Mailbox {
    /// Whether a request was ever written to it.
    asked: bool,
    /// The answer to the last one.
    delta: u32,
    /// When that is there.
    answered: Cycle,
}

/// The device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Coprocessor {
    setup: CoprocessorSetup,
    quick_start: Module,
    xcp: Module,
    quick_start_groups: [QuickStartGroup; GROUPS as usize],
    xcp_groups: [XcpGroup; GROUPS as usize],
    mailboxes: Vec<Mailbox>,
    /// What the Quick-Start module has done.
    pub quick_start_counts: QuickStartCounts,
    /// What the XCP module has done.
    pub xcp_counts: XcpCounts,
}

impl Coprocessor {
    /// A device with all registers zero: it grants nothing.
    #[must_use]
    pub fn new(setup: CoprocessorSetup, profile: &Profile) -> Self {
        let mailboxes = usize::from(profile.microengines()) * CONTEXTS;
        Self {
            setup,
            quick_start: Module::new(profile.feedback_quick_start(), profile),
            xcp: Module::new(profile.feedback_xcp(), profile),
            quick_start_groups: Default::default(),
            xcp_groups: Default::default(),
            mailboxes: vec![Mailbox::default(); mailboxes],
            quick_start_counts: QuickStartCounts::default(),
            xcp_counts: XcpCounts::default(),
        }
    }

    /// Where it is attached.
    #[must_use]
    pub const fn setup(&self) -> &CoprocessorSetup {
        &self.setup
    }

    /// How its Quick-Start module was used.
    #[must_use]
    pub fn quick_start_use(&self) -> ModuleUse {
        self.quick_start.used(self.quick_start_counts.requests)
    }

    /// How its XCP module was used.
    #[must_use]
    pub fn xcp_use(&self) -> ModuleUse {
        self.xcp.used(self.xcp_counts.requests)
    }

    /// Hands the Quick-Start module a request of group 0 whenever it can take one,
    /// as a bench does that has it alone: no channel, no bus. Gives how many are
    /// answered in so many cycles.
    pub fn drive_quick_start(&mut self, cycles: Cycle, code: u8) -> u64 {
        let mut answers = 0;
        loop {
            let now = self.quick_start.clock.free_at();
            let (_, answered) = self.request_rate(now, now, 0, code);
            if answered > cycles {
                return answers;
            }
            answers += 1;
        }
    }

    /// The same with the XCP module.
    pub fn drive_xcp(&mut self, cycles: Cycle, x: u32, size: u32, delta: i32) -> u64 {
        let mut answers = 0;
        loop {
            let now = self.xcp.clock.free_at();
            let request = [0, x, size, delta as u32];
            match self.request_feedback(now, now, 0, request) {
                Ok(answered) if answered <= cycles => answers += 1,
                _ => return answers,
            }
        }
    }

    /// Whether one that was read from a file is like this one in all that does
    /// not change.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.setup == other.setup
            && self.mailboxes.len() == other.mailboxes.len()
            && self.quick_start.clock.is_like(&other.quick_start.clock)
            && self.xcp.clock.is_like(&other.xcp.clock)
    }

    /// The place of a channel's longword in the window; `None` outside of it.
    pub(crate) const fn place(&self, longword: u32) -> Option<u32> {
        match longword.checked_sub(self.setup.address / 4) {
            Some(place) if place < WINDOW_BYTES / 4 => Some(place),
            _ => None,
        }
    }

    /// What a command from a place in the window on is for.
    ///
    /// # Errors
    /// No such command is possible there; says why, to follow the command.
    pub(crate) fn access(&self, writes: bool, place: u32, count: u32) -> Result<Access, String> {
        let mailboxes = self.mailboxes.len() as u32;
        if writes {
            Access::write(place, count, mailboxes)
        } else {
            Access::read(place, count, mailboxes)
        }
    }

    /// The first cycle at which it can be handed a command. The answer to an XCP
    /// request is not there before it is known.
    pub(crate) fn free_at(&self, access: Access) -> Cycle {
        match access {
            Access::Registers(_) => 0,
            Access::QuickStart { .. } => self.quick_start.clock.free_at(),
            Access::XcpRequest(_) => self.xcp.clock.free_at(),
            Access::XcpAnswer(mailbox) => self
                .mailboxes
                .get(usize::from(mailbox))
                .map_or(0, |mailbox| mailbox.answered),
        }
    }

    /// A register at a place in the window; `None` where there are none.
    #[must_use]
    pub fn register(&self, place: u32) -> Option<u32> {
        Some(match Register::at(place)? {
            Register::QuickStart { group, word } => self.quick_start_groups[group][word],
            Register::Xcp { group, word } => self.xcp_groups[group][word],
            Register::Gap => 0,
        })
    }

    /// Sets a register; false where there is none.
    pub fn set_register(&mut self, place: u32, value: u32) -> bool {
        match Register::at(place) {
            Some(Register::QuickStart { group, word }) => {
                self.quick_start_groups[group][word] = value;
            }
            Some(Register::Xcp { group, word }) => self.xcp_groups[group][word] = value,
            Some(Register::Gap) | None => return false,
        }
        true
    }

    /// Answers a Quick-Start request that is handed over now and has been there
    /// `since`: the granted rate code, and the cycle at which it is there.
    pub fn request_rate(&mut self, now: Cycle, since: Cycle, group: u8, code: u8) -> (u32, Cycle) {
        let answered = self.quick_start.take(now, since);
        let Some(registers) = self.quick_start_groups.get_mut(usize::from(group)) else {
            return (0, answered);
        };
        let grant = law::grant(registers, code);
        let counts = &mut self.quick_start_counts;
        counts.requests += 1;
        counts.granted_units += u64::from(grant.units);
        match grant.code {
            0 => counts.denied += 1,
            given if given == code => counts.granted += 1,
            _ => counts.reduced += 1,
        }
        (u32::from(grant.code), answered)
    }

    /// Takes an XCP request (group, X, size, Delta) that is handed over now and has
    /// been there `since`; gives the cycle at which its answer is there. Of the
    /// size, an IP total length, 16 bits count.
    ///
    /// # Errors
    /// There is no such group; says so, to follow the command.
    pub fn request_feedback(
        &mut self,
        now: Cycle,
        since: Cycle,
        mailbox: u8,
        [group, x, size, delta]: [u32; REQUEST_WORDS as usize],
    ) -> Result<Cycle, String> {
        let Some(registers) = self.xcp_groups.get_mut(group as usize) else {
            return Err(format!(
                "the request is for group {group}; there are groups 0 to {}",
                GROUPS - 1
            ));
        };
        let answered = self.xcp.take(now, since);
        let out = law::depart(registers, x, size as u16, delta as i32);
        let counts = &mut self.xcp_counts;
        counts.requests += 1;
        if out == delta as i32 {
            counts.passed += 1;
        } else {
            counts.reduced += 1;
        }
        if let Some(mailbox) = self.mailboxes.get_mut(usize::from(mailbox)) {
            *mailbox = Mailbox {
                asked: true,
                delta: out as u32,
                answered,
            };
        }
        Ok(answered)
    }

    /// The answer in a mailbox.
    ///
    /// # Errors
    /// Nothing was ever asked there; says so, to follow the command.
    pub fn feedback(&self, mailbox: u8) -> Result<u32, String> {
        self.mailboxes
            .get(usize::from(mailbox))
            .filter(|mailbox| mailbox.asked)
            .map(|mailbox| mailbox.delta)
            .ok_or_else(|| format!("no request was ever written to mailbox {mailbox}"))
    }
}
