//! The outside of the chip's ports, where frames come from and go to.

use crate::Cycle;
use serde::{Deserialize, Serialize};

/// An arriving frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// First preamble bit.
    pub start: Cycle,
    /// Last bit of the frame check sequence.
    pub end: Cycle,
    /// Port, from 0.
    pub port: u8,
    /// The frame without its frame check sequence, at least 60 bytes.
    pub bytes: Vec<u8>,
    /// The caller's number for the frame, returned in [`Departure::frame`].
    pub frame: u64,
}

/// A departing frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure<'a> {
    /// First preamble bit.
    pub start: Cycle,
    /// Last bit of the frame check sequence.
    pub end: Cycle,
    /// Port, from 0.
    pub port: u8,
    /// The frame without its frame check sequence.
    pub bytes: &'a [u8],
    /// The arrival that provided the data of the frame's first mpacket, as far as known from the
    /// data's path through RBUF, DRAM and TBUF.
    pub frame: Option<u64>,
    /// Last bit of that arrival's frame check sequence.
    pub arrived: Option<Cycle>,
}

/// A tag that follows a frame's first mpacket through RBUF, DRAM and TBUF and identifies its
/// arrival. The default stands for data from no arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketTag {
    /// The frame's number plus one; 0 for none.
    number: u64,
    end: Cycle,
}

impl PacketTag {
    /// The tag as two numbers, for a saved state.
    pub(crate) const fn numbers(self) -> [u64; 2] {
        [self.number, self.end]
    }

    /// Creates a tag from two such numbers.
    pub(crate) const fn from_numbers([number, end]: [u64; 2]) -> Self {
        Self { number, end }
    }

    /// Creates the tag of an arrival from its number and the cycle of its last bit.
    #[must_use]
    pub const fn new(frame: u64, end: Cycle) -> Self {
        Self {
            number: frame.wrapping_add(1),
            end,
        }
    }

    /// Whether the data came from no arrival.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.number == 0
    }

    /// The caller's number for the frame.
    #[must_use]
    pub const fn frame(self) -> Option<u64> {
        self.number.checked_sub(1)
    }

    /// The cycle at which the frame's last bit arrived.
    #[must_use]
    pub const fn arrived(self) -> Option<Cycle> {
        if self.is_none() { None } else { Some(self.end) }
    }
}

/// Why a frame, or part of one, was dropped outside of microcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MediaDrop {
    /// The port's receive FIFO was full, and no RBUF element had been free since it began to fill.
    ReceiveFifoFull,
    /// The microcode sent a frame to a port that does not exist.
    NoSuchPort,
    /// A frame's first TBUF element had no SOP in its control word.
    TransmitNoSop,
    /// An element with SOP came before the EOP of the previous frame.
    TransmitSopTwice,
    /// A control word requested that the frame be aborted.
    TransmitAborted,
    /// The frame was longer than the MAC's FIFO.
    TransmitTooLong,
    /// The frame was longer than the port's receive FIFO, which accepts such a frame only when
    /// empty.
    ReceiveTooLong,
    /// The port's receive FIFO was full although RBUF elements were free: frames came faster than
    /// the media bus could take them.
    ReceiveBusBehind,
}

impl MediaDrop {
    /// The reason in words, as shown in statistics.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::ReceiveFifoFull => "receive FIFO full: no RBUF element was free",
            Self::NoSuchPort => "sent to a port that does not exist",
            Self::TransmitNoSop => "its first TBUF element had no SOP in the control word",
            Self::TransmitSopTwice => {
                "another frame began in TBUF before its EOP, so it was never whole"
            }
            Self::TransmitAborted => "its TBUF control word asked for an abort",
            Self::TransmitTooLong => "longer than the MAC's transmit FIFO; was its EOP left out?",
            Self::ReceiveTooLong => {
                "longer than the port's receive FIFO, which was not empty (`receive_fifo_bytes` of the board)"
            }
            Self::ReceiveBusBehind => {
                "receive FIFO full: frames came faster than the media bus takes them, and RBUF elements were free"
            }
        }
    }
}

/// The outside of the chip.
pub trait PortIo {
    /// Returns the next arrival in order of `start`; `None` if no more will come.
    fn next_arrival(&mut self) -> Option<Arrival>;

    /// Receives a frame that begins to leave and is certain to complete: [`Self::departed`]
    /// receives it again when its last bit has left.
    fn departing(&mut self, departure: Departure<'_>) {
        let _ = departure;
    }

    /// Receives a frame that has left.
    fn departed(&mut self, departure: Departure<'_>);

    /// The cycle before which the run has to return as at its end. It is read when a frame has
    /// begun to leave, since the outside may respond to that frame by then, and can only decrease
    /// while the chip runs.
    fn answer_deadline(&self) -> Cycle {
        Cycle::MAX
    }

    /// Receives the drop of a frame at the media interface.
    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop);
}

/// Port I/O without arrivals, which ignores departures and drops.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTraffic;

impl PortIo for NoTraffic {
    fn next_arrival(&mut self) -> Option<Arrival> {
        None
    }

    fn departed(&mut self, _: Departure<'_>) {}

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}
