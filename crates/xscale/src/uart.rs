//! The UART: registers of a 16550, four bytes apart. Sent bytes are kept as text, and the transmitter is always
//! ready; received bytes come from the project at given times.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

/// Number of sent bytes that are kept: a megabyte.
const KEPT: usize = 1 << 20;

/// Data, or the low byte of the divisor.
const DATA: u32 = 0x00;
/// Interrupt enable, or the high byte of the divisor.
const ENABLE: u32 = 0x04;
/// Interrupt identification when read, FIFO control when written.
const IDENTIFICATION: u32 = 0x08;
/// Line control; bit 7 gives access to the divisor.
const LINE_CONTROL: u32 = 0x0c;
const MODEM_CONTROL: u32 = 0x10;
const LINE_STATUS: u32 = 0x14;
const MODEM_STATUS: u32 = 0x18;
const SCRATCH: u32 = 0x1c;

/// Line status: the transmitter is empty.
const EMPTY: u32 = 0x60;
/// Line status: a byte was received.
const READY: u32 = 1;

/// Bytes that the UART receives, each with the first cycle at which it can be read, in ascending order.
pub type UartInput = [(Cycle, u8)];

/// The UART.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uart {
    enable: u32,
    line_control: u32,
    modem_control: u32,
    scratch: u32,
    divisor: [u32; 2],
    /// Whether the transmitter has become empty and its interrupt has not been read.
    emptied: bool,
    /// Number of input bytes that were read.
    taken: u32,
    text: Vec<u8>,
    /// Number of bytes sent beyond those that are kept.
    lost: u64,
}

impl Uart {
    const fn shows_divisor(&self) -> bool {
        self.line_control & 0x80 != 0
    }

    /// The byte that can be read, if any.
    fn waiting(&self, now: Cycle, input: &UartInput) -> Option<u8> {
        let (at, byte) = input.get(self.taken as usize)?;
        (*at <= now).then_some(*byte)
    }

    /// Whether a byte can be read.
    #[must_use]
    pub fn has_received(&self, now: Cycle, input: &UartInput) -> bool {
        self.waiting(now, input).is_some()
    }

    /// Whether the UART raises its interrupt.
    #[must_use]
    pub fn raised(&self, now: Cycle, input: &UartInput) -> bool {
        self.identification(now, input) & 1 == 0
    }

    fn identification(&self, now: Cycle, input: &UartInput) -> u32 {
        if self.enable & 1 != 0 && self.has_received(now, input) {
            0xc4
        } else if self.enable & 2 != 0 && self.emptied {
            0xc2
        } else {
            0xc1
        }
    }

    /// The arrival cycle of the next byte that is not there yet.
    #[must_use]
    pub fn next(&self, now: Cycle, input: &UartInput) -> Option<Cycle> {
        let rest = input.get(self.taken as usize..)?;
        let behind = rest.partition_point(|(at, _)| *at <= now);
        rest.get(behind).map(|(at, _)| *at)
    }

    /// The bytes sent.
    #[must_use]
    pub fn sent(&self) -> &[u8] {
        &self.text
    }

    /// The bytes sent, as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Number of sent bytes that are not kept.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Reads a register; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycle, input: &UartInput) -> Option<u32> {
        Some(match offset {
            DATA if self.shows_divisor() => self.divisor[0],
            DATA => match self.waiting(now, input) {
                Some(byte) => {
                    self.taken += 1;
                    byte.into()
                }
                None => 0,
            },
            ENABLE if self.shows_divisor() => self.divisor[1],
            ENABLE => self.enable,
            IDENTIFICATION => {
                let identification = self.identification(now, input);
                if identification == 0xc2 {
                    self.emptied = false;
                }
                identification
            }
            LINE_CONTROL => self.line_control,
            MODEM_CONTROL => self.modem_control,
            LINE_STATUS if self.has_received(now, input) => EMPTY | READY,
            LINE_STATUS => EMPTY,
            // Carrier, data set ready and clear to send.
            MODEM_STATUS => 0xb0,
            SCRATCH => self.scratch,
            _ => return None,
        })
    }

    /// Writes a register. Returns false if there is none.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        let value = value & 0xff;
        match offset {
            DATA if self.shows_divisor() => self.divisor[0] = value,
            DATA => {
                self.emptied = true;
                if self.text.len() < KEPT {
                    self.text.push(value as u8);
                } else {
                    self.lost += 1;
                }
            }
            ENABLE if self.shows_divisor() => self.divisor[1] = value,
            ENABLE => {
                self.emptied |= value & 2 & !self.enable != 0;
                self.enable = value;
            }
            IDENTIFICATION | LINE_STATUS | MODEM_STATUS => {}
            LINE_CONTROL => self.line_control = value,
            MODEM_CONTROL => self.modem_control = value,
            SCRATCH => self.scratch = value,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uart_bytes_arrive_at_their_scheduled_time() {
        let input = [(100, b'a'), (100, b'b'), (300, b'c')];
        let mut uart = Uart::default();
        assert!(uart.write(ENABLE, 1));
        assert_eq!(uart.next(0, &input), Some(100));
        assert!(!uart.raised(99, &input) && uart.raised(100, &input));
        assert_eq!(uart.read(LINE_STATUS, 99, &input), Some(0x60));
        assert_eq!(uart.read(LINE_STATUS, 100, &input), Some(0x61));
        assert_eq!(uart.read(DATA, 100, &input), Some(u32::from(b'a')));
        assert_eq!(uart.next(100, &input), Some(300));
        assert_eq!(uart.read(DATA, 100, &input), Some(u32::from(b'b')));
        assert_eq!(uart.read(DATA, 100, &input), Some(0));
        assert!(!uart.raised(299, &input));
    }

    #[test]
    fn uart_divisor_latch_hides_the_data_register() {
        let mut uart = Uart::default();
        assert!(uart.write(LINE_CONTROL, 0x83) && uart.write(DATA, 27));
        assert!(uart.write(LINE_CONTROL, 0x03) && uart.write(DATA, u32::from(b'x')));
        assert_eq!(uart.text(), "x");
        assert!(!uart.write(0x20, 0));
        assert!(uart.write(ENABLE, 2) && uart.raised(0, &[]));
        assert_eq!(uart.read(IDENTIFICATION, 0, &[]), Some(0xc2));
        assert!(!uart.raised(0, &[]), "looked at");
    }
}
