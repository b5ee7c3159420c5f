//! What a microengine is doing, for people.

use super::{ContextPhase, Microengine};
use crate::kernel::disturb::numbered;

/// What a sleeping context waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitInfo {
    /// Bit s: signal s.
    pub signals: u16,
    /// One of them is enough.
    pub any: bool,
    /// Bit s: signal s has arrived.
    pub arrived: u16,
    /// Where it goes on.
    pub pc: u16,
    /// The instruction that waits.
    pub at: u16,
    /// The same in the source.
    pub place: String,
    /// The signals that are missing, by their names.
    pub missing: Vec<String>,
}

impl WaitInfo {
    /// Whether it gave up for good.
    #[must_use]
    pub const fn is_killed(&self) -> bool {
        self.any && self.signals == 0
    }
}

impl Microengine {
    /// Condition codes N, Z, V, C.
    #[must_use]
    pub fn condition_codes(&self) -> [bool; 4] {
        let codes = self.datapath.codes;
        [
            codes.negative(),
            codes.zero(),
            codes.overflow(),
            codes.carry(),
        ]
    }

    /// Tag and state of a CAM entry, 0-15.
    #[must_use]
    pub fn cam_entry(&self, entry: u8) -> (u32, u8) {
        let cam = &self.datapath.cam;
        (
            cam.tag(u32::from(entry)),
            (cam.state(u32::from(entry)) >> 8) as u8,
        )
    }

    /// CAM entries from the least to the most recently used.
    #[must_use]
    pub fn cam_order(&self) -> [u8; 16] {
        self.datapath.cam.order()
    }

    /// `CRC_REMAINDER`
    #[must_use]
    pub fn crc_remainder(&self) -> u32 {
        self.datapath.crc_remainder
    }

    /// State of a context.
    #[must_use]
    pub fn context_state(&self, context: u8) -> ContextPhase {
        self.contexts[context as usize & 7].state
    }

    /// Address at which a context is or goes on.
    #[must_use]
    pub fn program_counter(&self, context: u8) -> u16 {
        self.context_pc(context & 7)
    }

    /// What a sleeping context waits for; `None` when it does not sleep.
    #[must_use]
    pub fn waiting(&self, context: u8) -> Option<WaitInfo> {
        let it = &self.contexts[context as usize & 7];
        if it.state != ContextPhase::Sleeping {
            return None;
        }
        let missing = (1..16)
            .filter(|s| it.wakeup & !it.signals & 1 << s != 0)
            .map(|s| self.signal_name(s))
            .collect();
        Some(WaitInfo {
            signals: it.wakeup,
            any: it.any,
            arrived: it.signals,
            pc: it.pc,
            at: it.yielded_at,
            place: self.program.image.place(it.yielded_at),
            missing,
        })
    }

    /// What the contexts do that are not inactive, one line for those that do
    /// the same at the same place.
    #[must_use]
    pub fn state_report(&self) -> Vec<String> {
        let mut groups: Vec<(u16, String, Vec<u8>)> = Vec::new();
        for context in 0..8 {
            let it = &self.contexts[context as usize];
            let what = match it.state {
                ContextPhase::Inactive => continue,
                ContextPhase::Ready => match self.stalls.end(context, self.cycle.max(it.since())) {
                    Some(end) => format!("ready, but hangs until cycle {end}"),
                    None => "ready".to_owned(),
                },
                ContextPhase::Executing => "executing".to_owned(),
                ContextPhase::Sleeping => match self.waiting(context) {
                    Some(wait) if wait.is_killed() => "killed".to_owned(),
                    Some(wait) => {
                        let joint = if wait.any { " or " } else { " and " };
                        format!("waits for {}", wait.missing.join(joint))
                    }
                    None => "sleeping".to_owned(),
                },
            };
            let pc = self.place_of(context);
            match groups.iter_mut().find(|it| it.0 == pc && it.1 == what) {
                Some((.., contexts)) => contexts.push(context),
                None => groups.push((pc, what, vec![context])),
            }
        }
        let line = |(pc, mut what, contexts): (u16, String, Vec<u8>)| {
            if contexts.len() > 1 {
                what = what.replacen("waits", "wait", 1);
            }
            format!(
                "microengine {} {}: {what}, at {} (address {pc})",
                self.index,
                numbered(&contexts),
                self.program.image.place(pc)
            )
        };
        groups.into_iter().map(line).collect()
    }
}
