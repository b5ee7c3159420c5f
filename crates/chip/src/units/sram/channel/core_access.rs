//! Accesses of the general-purpose core to a channel: they find no queue, but
//! take pins and time.

use super::{Channel, longword};
use crate::Cycle;
use crate::kernel::fabric::{Fabric, TransferKind};
use crate::units::sram::Leads;

impl Channel {
    /// Accounts for the core reading and writing longwords now. Returns how
    /// long it waits for the pins.
    pub(crate) fn core_access(
        &mut self,
        reads: u8,
        writes: u8,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Cycle {
        let now = fabric.now + fabric.buses.core_command(fabric.now, &mut fabric.trace);
        let start = if reads > 0 {
            self.read_free
        } else {
            self.write_free
        }
        .max(now);
        let ways = [(true, reads), (false, writes)];
        for (read, words) in ways.into_iter().filter(|way| way.1 > 0) {
            if read {
                self.use_read(start, u32::from(words), leads);
            } else {
                self.use_write(start, u32::from(words), leads);
            }
            fabric.buses.core_data(
                fabric.now,
                (TransferKind::S, read),
                words,
                &mut fabric.trace,
            );
        }
        start - fabric.now
    }

    /// Updates the locks before the core writes longwords that may include some.
    pub(crate) fn update_locks_for_core(
        &mut self,
        address: u32,
        words: &[u32],
        fabric: &mut Fabric,
    ) {
        if self.locks.is_empty() {
            return;
        }
        let first = longword(address);
        let memory = &self.memory;
        let old = |at: u32| memory.get((first + at) as usize).unwrap_or(0);
        let longwords = (first, words.len() as u32);
        let new = |at: u32| words[at as usize];
        self.locks.change(true, None, longwords, old, new, fabric);
    }

    /// Changes a longword of memory for the core and returns its old value.
    pub(crate) fn core_change(
        &mut self,
        address: u32,
        new: impl FnOnce(u32) -> u32,
        fabric: &mut Fabric,
    ) -> u32 {
        let first = longword(address);
        let old = self.memory.get(first as usize).unwrap_or(0);
        let new = new(old);
        if !self.locks.is_empty() {
            let longword = (first, 1);
            self.locks
                .change(true, None, longword, |_| old, |_| new, fabric);
        }
        let _ = self.memory.set(first as usize, new);
        old
    }
}
