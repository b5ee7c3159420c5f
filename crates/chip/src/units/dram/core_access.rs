//! Accesses of the general-purpose core to DRAM.

use super::{Dram, TAG_BLOCK, trace_pins};
use crate::Cycle;
use crate::kernel::fabric::{Fabric, TransferKind};
use crate::kernel::port_io::PacketTag;
use crate::kernel::unit::HasTarget;

impl Dram {
    /// Accounts for the core reading bytes now. Returns how long it waits for bank and pins.
    pub(crate) fn core_read(&mut self, address: u32, bytes: u32, fabric: &mut Fabric) -> Cycle {
        self.core_access(address, bytes, false, fabric)
    }

    /// Writes bytes, which come from no frame, for the core now. Returns how long it waits for bank
    /// and pins; `None`, with nothing written, if there is no memory.
    pub(crate) fn core_write(
        &mut self,
        address: u32,
        bytes: &[u8],
        fabric: &mut Fabric,
    ) -> Option<Cycle> {
        if bytes.is_empty() {
            return Some(0);
        }
        if !self.write_bytes(address, bytes) {
            return None;
        }
        let last = address + bytes.len() as u32 - 1;
        for block in address / TAG_BLOCK..=last / TAG_BLOCK {
            let _ = self.tags.set(block as usize, PacketTag::default());
        }
        Some(self.core_access(address, bytes.len() as u32, true, fabric))
    }

    fn core_access(&mut self, address: u32, bytes: u32, write: bool, fabric: &mut Fabric) -> Cycle {
        let waited = fabric.buses.core_command(fabric.now, &mut fabric.trace);
        let (channel, local) = (self.channel_of(address), self.local_address(address));
        let words = (bytes / 4).min(32) as u8;
        fabric.buses.core_data(
            fabric.now,
            (TransferKind::D, !write),
            words,
            &mut fabric.trace,
        );
        let now = fabric.now + waited;
        let (at_bank, pins) = self.channels[channel].core_access(local, bytes, write, now);
        trace_pins(Self::target(channel as u8), pins, fabric);
        waited + at_bank
    }
}
