//! What a program must not do.

use npsim_chip::core::signal_name;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::fabric::Fabric;

use crate::state::{Delayed, FileName};
use crate::{Reference, Stop};

impl Reference {
    /// Raises a fault at the present instruction, which goes on if the user allows
    /// the check.
    pub(crate) fn complain(
        &self,
        check: Check,
        message: String,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let allowed = fabric.checks.is_allowed(check);
        fabric.checks.raise(self.fault(Some(check), message));
        if allowed { Ok(()) } else { Err(Stop::Fault) }
    }

    /// No chip could go on from here.
    pub(crate) fn impossible(&self, message: String, fabric: &mut Fabric) -> Stop {
        fabric.checks.raise(self.fault(None, message));
        Stop::Fault
    }

    fn fault(&self, check: Option<Check>, message: String) -> Fault {
        Fault {
            check,
            cycle: self.state.cycle,
            me: Some(self.index),
            context: Some(self.state.running),
            pc: Some(self.state.pc),
            message,
            notes: Vec::new(),
            help: None,
        }
    }

    /// No unit may own a transfer register that the program touches.
    pub(crate) fn check_unowned(
        &self,
        file: FileName,
        register: usize,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        if self.state.claims.iter().any(|it| it.covers(file, register)) {
            let message = format!(
                "{}{register} (absolute) is touched while a unit owns it",
                file.prefix()
            );
            self.complain(Check::TransferInFlight, message, fabric)?;
        }
        Ok(())
    }

    /// What is read must have been written once.
    pub(crate) fn check_written(
        &self,
        file: FileName,
        register: usize,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        if !self.state.file(file).is_written(register) {
            let message = format!(
                "{}{register} (absolute) is read, but nothing was ever written to it",
                file.prefix()
            );
            self.complain(Check::UninitialisedRead, message, fabric)?;
        }
        Ok(())
    }

    /// No write of a local memory pointer may be on its way when it is used. A
    /// pointer whose present value was still on its way when the next was written
    /// is used as part of a pipeline, which is sound.
    pub(crate) fn check_pointer(&self, pointer: usize, fabric: &mut Fabric) -> Result<(), Stop> {
        let state = &self.state;
        let mut writes = state.late_writes.iter();
        let next = writes.find(|it| it.register == Delayed::Pointer(pointer as u8));
        if next.is_some_and(|it| state.pointer_since[pointer] <= it.issued) {
            let message = format!(
                "*l$index{pointer} is used before the write of LM_ADDR_{pointer} took effect"
            );
            self.complain(Check::LocalMemoryEarly, message, fabric)?;
        }
        Ok(())
    }

    /// Nothing in a defer slot may lead elsewhere.
    pub(crate) fn check_not_in_slot(&self, fabric: &mut Fabric) -> Result<(), Stop> {
        if self.state.deferral.is_none() {
            return Ok(());
        }
        let message = "a control instruction takes effect in a defer slot of another";
        Err(self.impossible(message.to_owned(), fabric))
    }

    /// Control must not go to a defer slot.
    pub(crate) fn check_target(&self, target: u16, fabric: &mut Fabric) -> Result<(), Stop> {
        let before = (1..=3).filter_map(|back| Some((back, target.checked_sub(back)?)));
        let mut owners = before.filter(|&(back, at)| {
            let word = self.words.get(usize::from(at));
            matches!(word, Some(Ok(it)) if u16::from(it.defer()) >= back)
        });
        if let Some((_, owner)) = owners.next() {
            let message = format!(
                "control goes to address {target}, a defer slot of the instruction at {owner}"
            );
            self.complain(Check::DeferSlotEntry, message, fabric)?;
        }
        Ok(())
    }

    /// A signal must be consumed before it is raised again.
    pub(crate) fn check_signals(&self, context: u8, mask: u16, fabric: &mut Fabric) {
        let again = self.state.contexts[usize::from(context)].signals & mask & !1;
        if again == 0 {
            return;
        }
        let names: Vec<_> = (1..16)
            .filter(|signal| again >> signal & 1 == 1)
            .map(|signal| signal_name(self.program.image(), signal))
            .collect();
        fabric.checks.raise(Fault {
            check: Some(Check::SignalRaisedTwice),
            cycle: fabric.now,
            me: Some(self.index),
            context: Some(context),
            pc: Some(self.view(context).place()),
            message: format!(
                "{} of context {context} is raised again before it was consumed",
                names.join(" and ")
            ),
            notes: Vec::new(),
            help: None,
        });
    }
}
