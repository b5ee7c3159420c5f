//! The network card: frames that have come, and those that are to go.

use std::collections::VecDeque;

use npsim_protocols::arp::message::{ArpMessage, Mac, Operation};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

use std::net::Ipv4Addr;

/// Bytes of a frame without its check sequence: an MTU of 1500.
const LONGEST: usize = 1_514;

/// The card. Its line takes everything: what waits for it, waits in the network.
#[derive(Debug, Default)]
pub struct Card {
    came: VecDeque<Vec<u8>>,
    going: VecDeque<Vec<u8>>,
    /// Stations whose addresses are known without asking.
    permanent: Vec<(Ipv4Addr, Mac)>,
}

impl Card {
    /// A card of a host that knows these stations without asking.
    pub fn new(permanent: Vec<(Ipv4Addr, Mac)>) -> Self {
        Self {
            permanent,
            ..Self::default()
        }
    }

    /// A frame comes.
    pub fn put(&mut self, frame: Vec<u8>) {
        self.came.push_back(frame);
    }

    /// Whether a frame has come that was not looked at.
    pub fn has_come(&self) -> bool {
        !self.came.is_empty()
    }

    /// The next frame that goes. Requests for stations that are known are answered here.
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
        let asked = ArpMessage::in_frame(frame)?;
        let known = self.permanent.iter();
        let mut known = known.filter(|(address, _)| *address == asked.target.1);
        let (_, mac) = known.next()?;
        (asked.operation == Operation::Request).then(|| asked.reply(*mac).to_frame())
    }
}

impl Device for Card {
    type RxToken<'a> = Came;
    type TxToken<'a> = Going<'a>;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = LONGEST;
        capabilities
    }

    fn receive(&mut self, _: Instant) -> Option<(Came, Going<'_>)> {
        let frame = self.came.pop_front()?;
        Some((Came(frame), Going(&mut self.going)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Going<'_>> {
        Some(Going(&mut self.going))
    }
}

/// A frame that has come.
pub struct Came(Vec<u8>);

impl phy::RxToken for Came {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

/// The place of a frame that is to go.
pub struct Going<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::TxToken for Going<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut frame = vec![0; length];
        let result = write(&mut frame);
        self.0.push_back(frame);
        result
    }
}
