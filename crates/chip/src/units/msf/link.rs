//! One direction of the media bus: when it is free and how long a burst takes.
//!
//! SPI-3 moves one word per clock, and each mpacket costs further clocks for address selection and
//! status. SPI-4.2 moves sixteen bits on each clock edge; a sixteen-bit control word separates any
//! two bursts.

use super::clock::ClockRatio;
use crate::Cycle;
use npsim_profile::MediaBus;
use serde::{Deserialize, Serialize};

/// Transfers that the control word before a burst takes on SPI-4.2.
const CONTROL_WORD: u64 = 1;

/// One direction of the media bus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The clock of transfers.
    clock: ClockRatio,
    transfer_bytes: u64,
    /// Transfers in addition to the data of one burst.
    overhead: u64,
    /// The first transfer that is not booked.
    free: u64,
    /// When the last burst began.
    pub begun: Cycle,
    /// Cycles in which the bus moved data or was occupied by its overhead.
    pub busy: Cycle,
}

impl Link {
    /// A free bus with its clock, the bytes it moves per clock, and the clocks that a burst takes
    /// in addition to its data and the protocol's own needs.
    #[must_use]
    pub const fn new(
        bus: MediaBus,
        microengine_hz: u64,
        media_hz: u64,
        bus_bytes: u64,
        overhead: u64,
    ) -> Self {
        let per_clock = bus.transfers_per_clock();
        let control = match bus {
            MediaBus::Spi3 => 0,
            MediaBus::Spi4 => CONTROL_WORD,
        };
        let transfer_bytes = bus_bytes / per_clock;
        Self {
            clock: ClockRatio::new(microengine_hz, media_hz * per_clock),
            transfer_bytes: if transfer_bytes == 0 {
                1
            } else {
                transfer_bytes
            },
            overhead: overhead * per_clock + control,
            free: 0,
            begun: 0,
            busy: 0,
        }
    }

    /// Books the bus for a burst of `bytes` as soon as it is free. Returns the cycle at which the
    /// burst ends.
    pub fn reserve_bus(&mut self, bytes: u64, now: Cycle) -> Cycle {
        let transfers = bytes.div_ceil(self.transfer_bytes) + self.overhead;
        let start = self.clock.edge(now).max(self.free);
        self.free = start + transfers;
        let end = self.clock.cycle(self.free);
        self.begun = self.clock.cycle(start);
        self.busy += end - self.begun;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MHZ: u64 = 1_000_000;

    #[test]
    fn spi3_transfer_time_includes_the_overhead() {
        let mut link = Link::new(MediaBus::Spi3, 600 * MHZ, 104 * MHZ, 4, 2);
        // Eighteen clocks of 104 MHz are 103.8 cycles of 600 MHz.
        assert_eq!(link.reserve_bus(64, 0), 104);
        assert_eq!(link.reserve_bus(64, 0), 208);
        assert_eq!(link.busy, 208);
    }

    #[test]
    fn spi4_transfer_time_counts_control_word_and_both_clock_edges() {
        let mut link = Link::new(MediaBus::Spi4, 1400 * MHZ, 500 * MHZ, 4, 0);
        // 33 transfers of a nanosecond: 46.2 cycles of 1.4 GHz.
        assert_eq!(link.reserve_bus(64, 0), 47);
        // Ten of them are not rounded up individually.
        let last = (0..9).map(|_| link.reserve_bus(64, 0)).last();
        assert_eq!(last, Some(462));
        // An odd byte takes a whole transfer.
        assert_eq!(link.reserve_bus(61, 1400), 1400 + 45);
    }
}
