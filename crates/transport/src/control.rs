//! What decides how much may be sent: the seam between the sender, which knows what was lost, and the
//! laws, which know what follows from it.

mod cubic;
mod quick_start;
mod reno;
mod scheme;
mod srp;
mod xcp;
mod xcp_option;

use serde::{Deserialize, Serialize};

use crate::wire::Packet;
use npsim_protocols::time::Time;

pub use cubic::{Cubic, CubicParameters};
pub use quick_start::{QuickStartControl, QuickStartParameters};
pub use reno::Reno;
pub use scheme::{AnyController, Scheme};
pub use srp::{SrpControl, SrpParameters};
pub(crate) use xcp::empty_header;
pub use xcp::{XcpControl, XcpLoss, XcpParameters};
pub use xcp_option::{XcpOptionControl, XcpOptionParameters};

/// What ends sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SendLimit {
    /// The window of the controller, or its rate.
    Window,
    /// The window of the peer, or the host's limit.
    Peer,
    /// There was no more data.
    Data,
}

/// What a controller may know of its sender. Sizes are in bytes of payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlInputs {
    /// Now.
    pub now: Time,
    /// Payload of a full segment.
    pub mss: u64,
    /// Bytes of IP that a full segment takes.
    pub packet: u64,
    /// Everything before this offset of the stream is acknowledged.
    pub acknowledged: u64,
    /// The offset after the last that was sent.
    pub highest: u64,
    /// What is out and not acknowledged, without what limited transmit added (RFC 5681's `FlightSize`).
    pub flight: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Time>,
    /// The last round-trip time that was measured.
    pub latest_rtt: Option<Time>,
    /// The timeout as it is.
    pub timeout: Time,
    /// What ended sending the last time.
    pub limit: SendLimit,
    /// Whether a fast recovery goes on.
    pub recovering: bool,
    /// The most that peer and host allow in flight.
    pub allowed: u64,
}

/// A law of congestion control. The sender calls it with what happens; it says what may be in flight
/// and, if it paces, how fast.
pub trait Controller {
    /// What may be in flight, bytes of payload.
    fn window(&self) -> u64;

    /// The slow start threshold, where there is one.
    fn threshold(&self) -> Option<u64>;

    /// Whether it has a slow start, below its threshold and until there is one.
    fn has_slow_start(&self) -> bool {
        false
    }

    /// The rate at which packets leave, bytes of IP per second; none: as fast as the window opens.
    fn rate(&self) -> Option<u64> {
        None
    }

    /// Bytes that the controller takes of each segment for itself.
    fn overhead(&self) -> u16 {
        0
    }

    /// The first timeout of the handshake, where it is not the host's.
    fn handshake_timeout(&self) -> Option<Time> {
        None
    }

    /// The handshake is done; `lost` says that the SYN had to be sent again.
    fn opened(&mut self, moment: &ControlInputs, lost: bool);

    /// `bytes` of new data were acknowledged.
    fn acknowledged(&mut self, moment: &ControlInputs, bytes: u64);

    /// Duplicate ACKs or SACK blocks told a loss: fast recovery begins.
    fn lost(&mut self, moment: &ControlInputs);

    /// SACK blocks showed a loss of what was sent after the last one was reported, while that is still being
    /// repaired.
    fn lost_more(&mut self, moment: &ControlInputs) {
        let _ = moment;
    }

    /// `bytes` of data were found to have arrived: by an acknowledgement, or before it by SACK blocks.
    fn arrived(&mut self, moment: &ControlInputs, bytes: u64) {
        let _ = (moment, bytes);
    }

    /// All data that was out when fast recovery began has arrived; called without SACK only, where the window
    /// was inflated meanwhile.
    fn recovered(&mut self, moment: &ControlInputs);

    /// The retransmission timer expired, `again` for the same data.
    fn timed_out(&mut self, moment: &ControlInputs, again: bool);

    /// There is something to send after more than a timeout in which nothing was.
    fn idle(&mut self, moment: &ControlInputs) {
        let _ = moment;
    }

    /// A packet is about to leave: marks it. `first` says that its data, or its SYN, is sent the first
    /// time.
    fn mark(&mut self, moment: &ControlInputs, packet: &mut Packet, first: bool) {
        let _ = (moment, packet, first);
    }

    /// A packet came from the peer, before anything is done with it. `new` says that it acknowledges
    /// new data.
    fn read(&mut self, moment: &ControlInputs, packet: &Packet, new: bool) {
        let _ = (moment, packet, new);
    }
}
