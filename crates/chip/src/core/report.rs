//! Human-readable descriptions of what a core is doing.

use npsim_image::Image;
use npsim_isa::CONTEXTS;

use super::{ContextPhase, ContextView, Core};
use crate::kernel::fault_injection::{list_contexts, stalled_until};

/// What a sleeping context waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitInfo {
    /// Bit s: the context waits for signal s.
    pub signals: u16,
    /// Whether one of these signals is enough.
    pub any: bool,
    /// Bit s: signal s has arrived.
    pub arrived: u16,
    /// Address where the context resumes.
    pub pc: u16,
    /// Address of the waiting instruction.
    pub at: u16,
    /// Place of the waiting instruction in the source.
    pub place: String,
    /// Names of the missing signals.
    pub missing: Vec<String>,
}

impl WaitInfo {
    /// Whether the context exited.
    #[must_use]
    pub const fn is_killed(&self) -> bool {
        self.any && self.signals == 0
    }
}

/// Describes what a context waits for, with the names that its program uses; `None` if it does not
/// sleep.
pub(super) fn waiting(context: &ContextView, image: &Image) -> Option<WaitInfo> {
    if context.phase != ContextPhase::Sleeping {
        return None;
    }
    let missing = (1..16)
        .filter(|s| context.wakeup & !context.signals & 1 << s != 0)
        .map(|s| signal_name_at(image, s, context.yielded_at))
        .collect();
    Some(WaitInfo {
        signals: context.wakeup,
        any: context.any,
        arrived: context.signals,
        pc: context.pc,
        at: context.yielded_at,
        place: image.place(context.yielded_at),
        missing,
    })
}

/// Describes a signal by its number and the name that its program gives it at an address.
#[must_use]
pub fn signal_name_at(image: &Image, number: u8, address: u16) -> String {
    match image.signal_name(number, address) {
        Some(name) => format!("signal {number} (`{name}`)"),
        None => format!("signal {number}"),
    }
}

pub(super) fn state_report<C: Core + ?Sized>(core: &C) -> Vec<String> {
    let image = core.program().image();
    let mut groups: Vec<(u16, String, Vec<u8>)> = Vec::new();
    for context in 0..CONTEXTS {
        let it = core.context(context);
        let what = match it.phase {
            ContextPhase::Inactive => continue,
            ContextPhase::Ready => {
                let at = core.local_time().max(it.since);
                match stalled_until(core.stalls(), context, at) {
                    Some(end) => format!("ready, but stalled until cycle {end}"),
                    None => "ready".to_owned(),
                }
            }
            ContextPhase::Executing => "executing".to_owned(),
            ContextPhase::Sleeping => match waiting(&it, image) {
                Some(wait) if wait.is_killed() => "killed".to_owned(),
                Some(wait) => {
                    let joint = if wait.any { " or " } else { " and " };
                    format!("waits for {}", wait.missing.join(joint))
                }
                None => "sleeping".to_owned(),
            },
        };
        let pc = it.place();
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
            core.index(),
            list_contexts(&contexts),
            image.place(pc)
        )
    };
    groups.into_iter().map(line).collect()
}
