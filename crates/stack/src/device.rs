//! The network card: received frames, and those to be sent.

use std::collections::VecDeque;

use npsim_protocols::arp::message::{ArpMessage, Mac, Operation};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

use std::net::Ipv4Addr;

/// Longest frame without its check sequence, in bytes: an MTU of 1500.
const MAX_FRAME: usize = 1_514;

/// The card. Its line accepts every frame: waiting frames are queued in the network.
#[derive(Debug, Default)]
pub struct NetworkCard {
    came: VecDeque<Vec<u8>>,
    going: VecDeque<Vec<u8>>,
    /// Stations whose addresses are known without ARP.
    permanent: Vec<(Ipv4Addr, Mac)>,
}

impl NetworkCard {
    /// Creates the card of a host that knows these stations without ARP.
    pub fn new(permanent: Vec<(Ipv4Addr, Mac)>) -> Self {
        Self {
            permanent,
            ..Self::default()
        }
    }

    /// Adds a received frame.
    pub fn put(&mut self, frame: Vec<u8>) {
        self.came.push_back(frame);
    }

    /// Whether there are received frames that have not been processed.
    pub fn has_pending(&self) -> bool {
        !self.came.is_empty()
    }

    /// Returns the next frame to send. ARP requests for known stations are answered here.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        loop {
            let frame = self.going.pop_front()?;
            match self.answer(&frame) {
                Some(answer) => self.came.push_back(answer),
                None => return Some(frame),
            }
        }
    }

    fn answer(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let asked = ArpMessage::from_frame(frame)?;
        let known = self.permanent.iter();
        let mut known = known.filter(|(address, _)| *address == asked.target.1);
        let (_, mac) = known.next()?;
        (asked.operation == Operation::Request).then(|| asked.reply(*mac).to_frame())
    }
}

impl Device for NetworkCard {
    type RxToken<'a> = ReceivedFrame;
    type TxToken<'a> = SendSlot<'a>;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = MAX_FRAME;
        capabilities
    }

    fn receive(&mut self, _: Instant) -> Option<(ReceivedFrame, SendSlot<'_>)> {
        let frame = self.came.pop_front()?;
        Some((ReceivedFrame(frame), SendSlot(&mut self.going)))
    }

    fn transmit(&mut self, _: Instant) -> Option<SendSlot<'_>> {
        Some(SendSlot(&mut self.going))
    }
}

/// A received frame.
pub struct ReceivedFrame(Vec<u8>);

impl phy::RxToken for ReceivedFrame {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

/// Access to the queue for one frame to be sent.
pub struct SendSlot<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::TxToken for SendSlot<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut frame = vec![0; length];
        let result = write(&mut frame);
        self.0.push_back(frame);
        result
    }
}
