//! A fault of a run, or a race, as the page displays it.

use npsim::chip::kernel::check::Fault;
use serde::Serialize;

/// What happened, with reasons, location and remedy.
#[derive(Debug, Serialize)]
pub struct FaultText {
    message: String,
    notes: Vec<String>,
    help: Option<String>,
}

impl FaultText {
    /// Describes a fault. `place` returns the source line of a microengine's word.
    pub fn of(fault: &Fault, place: impl Fn(u8, u16) -> String) -> Self {
        let own = { fault.me.zip(fault.context).zip(fault.pc) }.map(|((me, context), pc)| {
            let (cycle, place) = (fault.cycle, place(me, pc));
            format!("found in ME {me} context {context} at cycle {cycle}, {place}")
        });
        let also = { fault.also.iter() }.map(|it| format!("{}, {}", it.what, place(it.me, it.pc)));
        Self {
            message: fault.message.clone(),
            notes: (own.into_iter().chain(also))
                .chain(fault.notes.iter().cloned())
                .collect(),
            help: fault.help.clone(),
        }
    }
}
