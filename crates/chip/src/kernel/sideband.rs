//! What units ask of one another and of the cores: ways that silicon has beside
//! the command bus. Each is as narrow as the wires are, so that a unit knows what
//! it needs and not its holder.

use crate::kernel::command::CommandId;
use crate::kernel::fabric::Fabric;
use crate::kernel::port_io::PacketTag;

/// The buffers of the media interface, as the DRAM controllers reach them over
/// the D buses.
pub trait MediaBuffers {
    /// Reads RBUF from a byte address on the media interface; gives the packet
    /// tag.
    ///
    /// # Errors
    /// The range is not in the buffer, of which nothing is read; says why.
    fn rbuf_read(&self, address: u32, words: &mut [u32]) -> Result<PacketTag, String>;

    /// Tells observers that a command has read there.
    fn tell_rbuf_read(&self, address: u32, slot: CommandId, fabric: &mut Fabric);

    /// Writes TBUF from a byte address on the media interface on.
    ///
    /// # Errors
    /// The range is not in the buffer; says why.
    fn tbuf_write(&mut self, address: u32, words: &[u32], tag: PacketTag) -> Result<(), String>;

    /// Tells observers that a command has written there.
    fn tell_tbuf_written(&self, address: u32, slot: CommandId, fabric: &mut Fabric);
}

/// The S transfer registers of the microengines, into which the media interface
/// pushes without a command.
pub trait TransferRegisters {
    /// The media interface will fill `words` IN registers of a microengine from one on, which
    /// has not claimed them itself when the thread was put on a freelist
    /// ([`claimed_by_issuer`](super::freelist_entry::FreelistEntry::claimed_by_issuer)): what is read there
    /// before the signal is a fault. A microengine that the chip lacks has none.
    fn give_away(&mut self, me: u8, register: u8, words: u8);
}

/// Registers of a unit that the CSR proxy reads and writes.
pub trait CsrBank {
    /// The register at an address; `None` where this unit has none.
    fn read_csr(&self, address: u16) -> Option<u32>;

    /// Writes the register at an address; false where this unit has none.
    fn write_csr(&mut self, address: u16, value: u32, fabric: &mut Fabric) -> bool;
}

/// Which of the two interrupts of the general-purpose core a thread raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptLine {
    /// `XSCALE_INT_A`
    A,
    /// `XSCALE_INT_B`
    B,
}

/// The interrupts of the general-purpose core.
pub trait Interrupts {
    /// A thread, numbered as in the status registers, raises one.
    fn interrupt(&mut self, line: InterruptLine, thread: u8, fabric: &mut Fabric);
}
