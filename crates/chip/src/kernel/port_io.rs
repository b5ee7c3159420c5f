//! What is attached to the chip's ports: where frames come from and go to.

use crate::Cycle;
use serde::{Deserialize, Serialize};

/// A frame that arrives.
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
    /// The caller's number for it, given back in [`Departure::frame`].
    pub frame: u64,
}

/// A frame that leaves.
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
    /// The arrival whose first mpacket its first mpacket was made from, as far
    /// known from the data's way through RBUF, DRAM and TBUF.
    pub frame: Option<u64>,
    /// Last bit of that arrival's frame check sequence.
    pub arrived: Option<Cycle>,
}

/// What follows a frame's first mpacket through RBUF, DRAM and TBUF: which
/// arrival it came from. The default is that of data from no arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketTag {
    /// The frame's number plus one, 0 for none.
    number: u64,
    end: Cycle,
}

impl PacketTag {
    /// The tag as two numbers, for a saved state.
    pub(crate) const fn numbers(self) -> [u64; 2] {
        [self.number, self.end]
    }

    /// The tag of two such numbers.
    pub(crate) const fn from_numbers([number, end]: [u64; 2]) -> Self {
        Self { number, end }
    }

    /// The tag of an arrival by its number and its last bit.
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

    /// The caller's number of the frame.
    #[must_use]
    pub const fn frame(self) -> Option<u64> {
        self.number.checked_sub(1)
    }

    /// When its last bit arrived.
    #[must_use]
    pub const fn arrived(self) -> Option<Cycle> {
        if self.is_none() { None } else { Some(self.end) }
    }
}

/// Why a frame or a part of it went no further, outside microcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MediaDrop {
    /// The port's receive FIFO was full, and since it began to fill no RBUF element was free.
    ReceiveFifoFull,
    /// The microcode sent a frame to a port that does not exist.
    NoSuchPort,
    /// A frame's first TBUF element had no SOP in its control word.
    TransmitNoSop,
    /// An element with SOP came before the one with EOP of the frame before.
    TransmitSopTwice,
    /// A control word asked for the frame to be aborted.
    TransmitAborted,
    /// The frame was longer than the MAC's FIFO.
    TransmitTooLong,
    /// The frame was longer than the port's receive FIFO, which takes such a one only when it
    /// is empty.
    ReceiveTooLong,
    /// The port's receive FIFO was full although RBUF elements were free: frames came faster
    /// than the media bus takes them.
    ReceiveBusBehind,
}

impl MediaDrop {
    /// The reason in words, as statistics have it.
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
    /// The next arrival in order of `start`; `None` when no more will come.
    fn next_arrival(&mut self) -> Option<Arrival>;

    /// A frame begins to leave, and will for sure: [`Self::departed`] gets it again
    /// when its last bit has left.
    fn departing(&mut self, departure: Departure<'_>) {
        let _ = departure;
    }

    /// A frame has left.
    fn departed(&mut self, departure: Departure<'_>);

    /// Before which cycle the run has to come back as at its end, asked when a frame has begun
    /// to leave: what the outside answers to that frame may come then. It only grows less
    /// while the chip runs.
    fn latest(&self) -> Cycle {
        Cycle::MAX
    }

    /// A frame was lost at the media interface.
    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop);
}

/// No frame comes, and what leaves or is lost is forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTraffic;

impl PortIo for NoTraffic {
    fn next_arrival(&mut self) -> Option<Arrival> {
        None
    }

    fn departed(&mut self, _: Departure<'_>) {}

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}
