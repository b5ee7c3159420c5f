//! Interfaces between units, and from units to the cores, that silicon has besides the command bus.
//! Each is as narrow as the wires are, so that a unit depends on what it needs and not on its
//! owner.

use crate::kernel::command::CommandId;
use crate::kernel::fabric::Fabric;
use crate::kernel::port_io::PacketTag;

/// The buffers of the media interface, as seen by the DRAM controllers over the D buses.
pub trait MediaBuffers {
    /// Reads RBUF at a byte address of the media interface. Returns the packet tag.
    ///
    /// # Errors
    /// Returns an error with the reason if the range is not in the buffer; nothing is then read.
    fn rbuf_read(&self, address: u32, words: &mut [u32]) -> Result<PacketTag, String>;

    /// Records for observers that a command has read there.
    fn trace_rbuf_read(&self, address: u32, slot: CommandId, fabric: &mut Fabric);

    /// Writes TBUF at a byte address of the media interface.
    ///
    /// # Errors
    /// Returns an error with the reason if the range is not in the buffer.
    fn tbuf_write(&mut self, address: u32, words: &[u32], tag: PacketTag) -> Result<(), String>;

    /// Records for observers that a command has written there.
    fn trace_tbuf_written(&self, address: u32, slot: CommandId, fabric: &mut Fabric);
}

/// The S transfer registers of the microengines, to which the media interface pushes without a
/// command.
pub trait TransferRegisters {
    /// Claims `words` IN registers of a microengine for the media interface, which will fill them,
    /// unless the microengine claimed them when it put the thread on the freelist
    /// ([`claimed_by_issuer`](super::freelist_entry::FreelistEntry::claimed_by_issuer)). Reading
    /// them before the signal is a fault. A microengine that the chip lacks has none.
    fn release_registers(&mut self, me: u8, register: u8, words: u8);
}

/// Registers of a unit that the CSR proxy can access.
pub trait CsrBank {
    /// The value of the register at an address; `None` if this unit has none there.
    fn read_csr(&self, address: u16) -> Option<u32>;

    /// Writes the register at an address. Returns false if this unit has none there.
    fn write_csr(&mut self, address: u16, value: u32, fabric: &mut Fabric) -> bool;
}

/// The interrupt of the general-purpose core that a thread raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptLine {
    /// `XSCALE_INT_A`
    A,
    /// `XSCALE_INT_B`
    B,
}

/// The interrupts of the general-purpose core.
pub trait Interrupts {
    /// Raises an interrupt for a thread, numbered as in the status registers.
    fn interrupt(&mut self, line: InterruptLine, thread: u8, fabric: &mut Fabric);
}
