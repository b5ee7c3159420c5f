//! The FIFO status channel of SPI-4, through which microcode reads the fill of the ports' transmit
//! FIFOs.
//!
//! The device on the other side sends the status of one port after another, in the order of a
//! calendar that both sides know. In this model a status is always up to date; a port that is not
//! in the calendar never gets one.

use super::parameters::MediaParameters;
use super::port::Port;
use crate::Cycle;
use serde::{Deserialize, Serialize};

/// Entries of the calendar, and channels that an SPI-4 address can name.
pub const ENTRIES: usize = 256;
/// Ports whose status is in one `TX_MULTIPLE_PORT_STATUS` register.
const PORTS_IN_A_REGISTER: usize = 16;

/// Fill of a port's transmit FIFO, as encoded by SPI-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FifoStatus {
    /// Below the low-water mark.
    Starving = 0,
    /// Between the marks.
    Hungry = 1,
    /// Above the high-water mark.
    Satisfied = 2,
}

/// The transmit calendar.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calendar {
    ports: Vec<u32>,
    /// Number of entries in use, as in the register; 0 stands for all.
    length: u32,
    low_water: u64,
    high_water: u64,
}

impl Calendar {
    /// A calendar that names each of `ports` ports once.
    #[must_use]
    pub fn new(parameters: &MediaParameters, ports: usize) -> Self {
        Self {
            ports: (0..ENTRIES as u32)
                .map(|entry| if (entry as usize) < ports { entry } else { 0 })
                .collect(),
            length: (ports.max(1) % ENTRIES) as u32,
            low_water: parameters.transmit_low_water,
            high_water: parameters.transmit_high_water,
        }
    }

    /// `TX_CALENDAR_LENGTH`.
    #[must_use]
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// Writes `TX_CALENDAR_LENGTH`.
    pub(crate) const fn set_length(&mut self, value: u32) {
        self.length = value & 0xff;
    }

    /// `TX_CALENDAR_n`: the port of an entry; 0 beyond the last.
    #[must_use]
    pub fn entry(&self, index: usize) -> u32 {
        self.ports.get(index).copied().unwrap_or(0)
    }

    /// Writes `TX_CALENDAR_n`; no effect beyond the last.
    pub(crate) fn set_entry(&mut self, index: usize, value: u32) {
        if let Some(entry) = self.ports.get_mut(index) {
            *entry = value & 0xff;
        }
    }

    /// `TX_PORT_STATUS_n`. A channel without a device always has room; a port that is not in the
    /// calendar stays at satisfied.
    #[must_use]
    pub fn status(&self, port: usize, ports: &[Port], now: Cycle) -> FifoStatus {
        let used = match self.length {
            0 => ENTRIES,
            length => length as usize,
        };
        if !self.ports[..used].iter().any(|&p| p as usize == port) {
            return FifoStatus::Satisfied;
        }
        match ports.get(port).map_or(0, |port| port.transmit_fill(now)) {
            fill if fill < self.low_water => FifoStatus::Starving,
            fill if fill <= self.high_water => FifoStatus::Hungry,
            _ => FifoStatus::Satisfied,
        }
    }

    /// `TX_MULTIPLE_PORT_STATUS_n`: two bits per port, lowest port in the lowest bits.
    #[must_use]
    pub(crate) fn statuses(&self, register: usize, ports: &[Port], now: Cycle) -> u32 {
        (0..PORTS_IN_A_REGISTER).fold(0, |word, i| {
            let status = self.status(register * PORTS_IN_A_REGISTER + i, ports, now);
            word | (status as u32) << (2 * i)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_profile::Profile;

    fn filled(bytes: u64) -> Port {
        let mut port = Port::new(1_400_000_000, 1_000_000_000, 4096);
        port.reserve(bytes, 0);
        port
    }

    #[test]
    fn port_fifo_status_follows_the_boards_watermarks() {
        let parameters = MediaParameters::new(&Profile::load_board("ixp2800-6g").unwrap());
        let ports = [0, 1023, 1024, 3072, 3073, 4096].map(filled);
        let calendar = Calendar::new(&parameters, ports.len());
        let all: Vec<_> = (0..6)
            .map(|port| calendar.status(port, &ports, 0) as u32)
            .collect();
        assert_eq!(all, [0, 0, 1, 1, 2, 2]);
        // Six ports in the low bits; ports without an entry are satisfied.
        assert_eq!(
            calendar.statuses(0, &ports, 0),
            0xaaaa_a000 | 0b1010_0101_0000
        );
        assert_eq!(calendar.statuses(1, &ports, 0), 0xaaaa_aaaa);
    }

    #[test]
    fn only_ports_in_the_calendar_have_a_status() {
        let parameters = MediaParameters::new(&Profile::load("ixp2800").unwrap());
        let ports = [filled(0), filled(0)];
        let mut calendar = Calendar::new(&parameters, 2);
        assert_eq!((calendar.length(), calendar.entry(1)), (2, 1));
        calendar.set_length(1);
        assert_eq!(calendar.status(1, &ports, 0), FifoStatus::Satisfied);
        calendar.set_entry(0, 1);
        assert_eq!(calendar.status(1, &ports, 0), FifoStatus::Starving);
        assert_eq!(calendar.status(0, &ports, 0), FifoStatus::Satisfied);
        // All 256 entries: the rest of them name channel 0.
        calendar.set_length(0x100);
        assert_eq!(calendar.status(0, &ports, 0), FifoStatus::Starving);
        assert_eq!(calendar.entry(ENTRIES), 0);
    }
}
