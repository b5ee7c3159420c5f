//! The media switch fabric interface with one partition of RBUF and TBUF: a 32-bit SPI-3 (POS-PHY
//! level 3) bus each way on the IXP2400, as on the ENP-2611; a 16-bit SPI-4.2 bus each way on the
//! IXP2800. The profile determines which one a chip has; microcode sees the difference in a few
//! fields.
//!
//! In: [`PortIo`] → MAC receive FIFO → receive bus → RBUF element → thread on
//! `RX_THREAD_FREELIST_0`. Out: TBUF elements in strict order → transmit bus → MAC transmit FIFO
//! (store and forward) → line. Inside the chip, frames are without their check sequence.

pub mod calendar;
pub mod clock;
mod code;
mod command;
pub mod link;
mod parameters;
pub mod port;
pub mod rbuf;
pub mod receive;
pub mod tbuf;
mod trace;
pub mod transmit;
mod window;

#[cfg(test)]
mod tests;

use crate::Cycle;
use crate::kernel::check::{Check, Fault};
use crate::kernel::fabric::Fabric;
use crate::kernel::port_io::{PacketTag, PortIo};
use crate::kernel::unit_counters::UnitCounters;
use calendar::Calendar;
use code::MediaEventCode;
pub use command::may_join_freelist;
use npsim_profile::{MediaBus, Profile};
pub(crate) use parameters::MediaParameters;
use port::Port;
pub use rbuf::Leak;
use receive::Receive;
use serde::{Deserialize, Serialize};
use transmit::Transmit;
pub(crate) use window::DATA_WINDOW;
pub use window::MsfError;
use window::window;

/// Erratum of the IXP2400: these RBUF elements may corrupt data.
const BAD_ELEMENTS: u32 = 69;
/// Number of leaked elements that a fault lists.
const LEAKS_SHOWN: usize = 8;

/// A port's settings, as made by a loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSetup {
    /// Line rate.
    pub bits_per_second: u64,
}

/// The media interface's settings, as made by a loader.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediaSetup<'a> {
    /// Ports in numerical order.
    pub ports: &'a [PortSetup],
    /// Bytes per RBUF element.
    pub element_size: u16,
    /// Bytes per TBUF element; 0 for the size of an RBUF element.
    pub transmit_element_size: u16,
}

/// The media interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Msf {
    /// The receive half.
    pub receive: Receive,
    /// The transmit half.
    pub transmit: Transmit,
    ports: Vec<Port>,
    parameters: MediaParameters,
    /// Registers that hold their value but have no effect in this mode, by word offset.
    registers: Vec<u32>,
    /// The FIFO status channel; SPI-4 only.
    calendar: Option<Calendar>,
    read_free: Cycle,
    write_free: Cycle,
    last_activity: Cycle,
    /// Commands served.
    counters: UnitCounters,
}

/// An element size in bytes with its code in a control register; any invalid size becomes 64.
const fn element_size(bytes: u16) -> (u16, u32) {
    match bytes {
        128 => (128, 1),
        256 => (256, 2),
        _ => (64, 0),
    }
}

impl Msf {
    /// A media interface with a loader's settings. All RBUF elements are in the pool except number
    /// 0 and those of the chip's erratum, as the reference driver leaves them. An element size
    /// other than 64, 128 or 256 becomes 64.
    #[must_use]
    pub fn new(profile: &Profile, setup: &MediaSetup<'_>) -> Self {
        let parameters = MediaParameters::new(profile);
        let (element_bytes, size_code) = element_size(setup.element_size);
        let (transmit_element_bytes, transmit_size_code) = match setup.transmit_element_size {
            0 => (element_bytes, size_code),
            size => element_size(size),
        };
        let mut withheld = vec![0];
        if let Some(erratum) = profile.erratum(BAD_ELEMENTS) {
            withheld.extend_from_slice(&erratum.elements[size_code as usize]);
        }
        let port = |port: &PortSetup| {
            Port::new(
                parameters.microengine_hz,
                port.bits_per_second,
                parameters.transmit_fifo_bytes,
            )
        };
        let mut registers = vec![0; 0x100 / 4];
        let control = match parameters.bus {
            // 1x32, MPHY-32, polled status, level 3.
            MediaBus::Spi3 => 1 << 28 | 1 << 19 | 1 << 18 | 1 << 17,
            // One partition; the position of the element size is taken from the IXP2400.
            MediaBus::Spi4 => 0,
        };
        registers[0] = control | size_code << 2;
        registers[1] = control | transmit_size_code << 2;
        Self {
            receive: Receive::new(&parameters, element_bytes, &withheld),
            transmit: Transmit::new(&parameters, transmit_element_bytes),
            ports: setup.ports.iter().map(port).collect(),
            calendar: (parameters.bus == MediaBus::Spi4)
                .then(|| Calendar::new(&parameters, setup.ports.len())),
            parameters,
            registers,
            read_free: 0,
            write_free: 0,
            last_activity: 0,
            counters: UnitCounters::default(),
        }
    }

    /// Rebuilds the state that is not saved.
    fn complete_saved(&mut self) {
        let element_bytes = self.element_bytes();
        { self.ports.iter_mut() }.for_each(|port| port.complete_saved(element_bytes));
    }

    /// The ports in numerical order.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The cycle before which no frame's first bit has left or can leave, except for frames that
    /// [were reported](PortIo::departed), provided that nothing remains to happen before `now`.
    #[must_use]
    pub fn departures_known_until(&self, now: Cycle) -> Cycle {
        let leaving = self.ports.iter().filter_map(Port::leaving_since);
        leaving.fold(now, Cycle::min)
    }

    /// Bytes per RBUF element.
    #[must_use]
    pub const fn element_bytes(&self) -> u16 {
        self.receive.rbuf.element_bytes()
    }

    /// The last cycle at which a frame was received or sent or an RBUF or TBUF
    /// element changed hands.
    #[must_use]
    pub const fn last_activity(&self) -> Cycle {
        self.last_activity
    }

    /// Whether all frames of the lines have arrived and the only remaining activity waits for
    /// microcode.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.receive.exhausted()
            && self.transmit.is_idle()
            && self
                .ports
                .iter()
                .all(|p| p.incoming().is_empty() && p.sending() == 0)
    }

    /// Whether all frames of the lines have arrived.
    #[must_use]
    pub const fn all_arrived(&self) -> bool {
        self.receive.exhausted()
    }

    /// RBUF elements that threads received and have not freed. After a run has drained, each is a
    /// leak.
    #[must_use]
    pub fn leaks(&self) -> Vec<Leak> {
        self.receive.rbuf.leaks().collect()
    }

    /// Raises [`Check::RbufLeak`] if threads still hold RBUF elements; for the end of a run that
    /// has drained.
    pub fn raise_leaks(&self, fabric: &mut Fabric) {
        let leaks = self.leaks();
        let Some(first) = leaks.first() else { return };
        let shown = leaks.iter().take(LEAKS_SHOWN).map(|leak| {
            format!(
                "element {} with a part of frame {} from port {}: microengine {} context {} got it at cycle {}",
                leak.element, leak.frame, leak.port, leak.me, leak.context, leak.since
            )
        });
        let more = leaks.len().saturating_sub(LEAKS_SHOWN);
        let rest = (more > 0).then(|| format!("and {more} more"));
        fabric.checks.raise(Fault {
            check: Some(Check::RbufLeak),
            cycle: fabric.now,
            me: Some(first.me),
            context: Some(first.context),
            pc: None,
            message: match leaks.len() {
                1 => "an RBUF element was never freed".to_owned(),
                n => format!("{n} RBUF elements were never freed"),
            },
            notes: shown.chain(rest).collect(),
            help: Some(
                "free each element with a fast_wr of its number to RBUF_ELEMENT_DONE, also where a packet is dropped; if it was still at work on them, let the run go on longer (`--drain`)"
                    .to_owned(),
            ),
            also: Vec::new(),
        });
    }

    /// The first bit of the next known frame; `Cycle::MAX` if there is none.
    #[must_use]
    pub fn next_arrival(&self) -> Cycle {
        self.receive.next_arrival()
    }

    /// Whether a context is waiting for an mpacket on a freelist.
    #[must_use]
    pub(crate) fn is_waiting(&self, me: u8, context: u8) -> bool {
        self.receive.is_waiting(me, context)
    }

    /// Fetches the next frame from the lines if none is known.
    pub(crate) fn refill(&mut self, fabric: &mut Fabric, lines: &mut dyn PortIo) {
        self.receive.refill(fabric, lines);
    }

    /// Reads RBUF at an address in the data window. Returns the packet tag.
    ///
    /// # Errors
    /// Returns an error if the range is not in the window.
    pub(super) fn read_window(
        &self,
        address: u32,
        words: &mut [u32],
    ) -> Result<PacketTag, MsfError> {
        self.receive.rbuf.read(window(address)?, words)
    }

    /// Writes TBUF at an address in the data window.
    ///
    /// # Errors
    /// Returns an error if the range is not in the window.
    pub(super) fn write_window(
        &mut self,
        address: u32,
        words: &[u32],
        tag: PacketTag,
    ) -> Result<(), MsfError> {
        self.transmit.tbuf.write(window(address)?, words, tag)
    }

    /// Handles a media event. Returns whether it concerned frames, rather than just threads waiting
    /// for one.
    pub fn event(&mut self, code: u32, fabric: &mut Fabric, lines: &mut dyn PortIo) -> bool {
        let (code, argument) = MediaEventCode::of(code);
        let Some(code) = code else { return false };
        match code {
            MediaEventCode::Arrival => self.receive.arrival(&mut self.ports, fabric, lines),
            MediaEventCode::ReceiveBus => self.receive.arbitrate(&self.ports, fabric),
            MediaEventCode::ReceiveDone => self.receive.transferred(&mut self.ports, fabric),
            MediaEventCode::Timeout => self.receive.timed_out(argument, fabric),
            MediaEventCode::TransmitBus => self.transmit.arbitrate(&mut self.ports, fabric, lines),
            MediaEventCode::TransmitDone => {
                self.transmit.transferred(&mut self.ports, fabric, lines);
            }
            MediaEventCode::LineEnd => {
                self.transmit
                    .line_end(argument as usize, &mut self.ports, fabric, lines);
            }
        }
        let moved = code != MediaEventCode::Timeout;
        if moved {
            self.last_activity = fabric.now;
        }
        moved
    }
}
