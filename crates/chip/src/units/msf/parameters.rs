//! The media interface's parameters, taken from the chip profile.

use super::link::Link;
use crate::Cycle;
use crate::kernel::snapshot::bits;
use npsim_profile::{MediaBus, Profile};
use serde::{Deserialize, Serialize};

/// Timing and sizes of the media interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaParameters {
    /// The kind of media bus.
    pub bus: MediaBus,
    /// Microengine clock.
    #[serde(with = "bits")]
    pub microengine_hz: u64,
    /// Clock of the media bus.
    #[serde(with = "bits")]
    pub media_hz: u64,
    /// Bytes that the media bus moves per clock.
    pub bus_bytes: u64,
    /// Media clocks in addition to the data for one received mpacket.
    pub receive_overhead: u64,
    /// Media clocks in addition to the data for one transmitted mpacket.
    pub transmit_overhead: u64,
    /// Bytes of the receive buffer.
    pub rbuf_bytes: u32,
    /// Bytes of the transmit buffer.
    pub tbuf_bytes: u32,
    /// Bytes of a port's receive FIFO.
    pub receive_fifo_bytes: u32,
    /// Bytes of a port's transmit FIFO.
    pub transmit_fifo_bytes: u32,
    /// Fill of a transmit FIFO below which a port starves.
    pub transmit_low_water: u64,
    /// Fill of a transmit FIFO above which a port is satisfied.
    pub transmit_high_water: u64,
    /// From a valid element and a waiting thread to the request for the push bus.
    pub autopush_lead: Cycle,
    /// From a valid element to its first word on the pins.
    pub transmit_start: Cycle,
    /// From the arrival of a read at the unit to its push.
    pub read_lead: Cycle,
    /// From the arrival of a write at the unit to its pull.
    pub write_lead: Cycle,
    /// From the arrival of a fast write at the unit to its effect.
    pub fast_write_lead: Cycle,
    /// Cycles that a longword occupies the interface's own data path.
    pub word: Cycle,
    /// Cycles per count of a receive freelist's timeout.
    pub timeout_unit: Cycle,
    /// Number of threads that fit on a receive freelist.
    pub freelist_depth: usize,
}

impl MediaParameters {
    /// The bus on which mpackets arrive.
    #[must_use]
    pub(crate) const fn receive_link(&self) -> Link {
        self.link(self.receive_overhead)
    }

    /// The bus on which mpackets leave.
    #[must_use]
    pub(crate) const fn transmit_link(&self) -> Link {
        self.link(self.transmit_overhead)
    }

    const fn link(&self, overhead: u64) -> Link {
        Link::new(
            self.bus,
            self.microengine_hz,
            self.media_hz,
            self.bus_bytes,
            overhead,
        )
    }

    /// The parameters of a profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let mhz = 1_000_000;
        Self {
            bus: profile.media(),
            microengine_hz: profile.me_mhz() * mhz,
            media_hz: profile.media_mhz() * mhz,
            bus_bytes: profile.media_bus_bytes(),
            receive_overhead: profile.receive_overhead(),
            transmit_overhead: profile.transmit_overhead(),
            rbuf_bytes: profile.rbuf_bytes(),
            tbuf_bytes: profile.tbuf_bytes(),
            receive_fifo_bytes: profile.receive_fifo_bytes(),
            transmit_fifo_bytes: profile.transmit_fifo_bytes(),
            transmit_low_water: u64::from(profile.transmit_low_water()),
            transmit_high_water: u64::from(profile.transmit_high_water()),
            autopush_lead: profile
                .autopush_latency()
                .saturating_sub(2 * profile.bus_cycle() + profile.transfer_latency()),
            transmit_start: profile.transmit_start(),
            read_lead: profile.push_lead(profile.msf_read(), 1),
            write_lead: profile.pull_lead(profile.msf_write(), 1),
            fast_write_lead: profile
                .msf_fast_write()
                .saturating_sub(profile.issue_to_inlet()),
            word: profile.bus_cycle(),
            timeout_unit: profile.freelist_timeout_unit(),
            freelist_depth: profile.receive_freelist_depth() as usize,
        }
    }
}
