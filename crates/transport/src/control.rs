//! Congestion control: the interface between the sender, which detects losses, and the control laws, which
//! decide how much may be sent.

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

/// The reason why sending stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SendLimit {
    /// The controller's window or rate.
    Window,
    /// The peer's window, or the host's limit.
    Peer,
    /// There was no more data.
    Data,
}

/// Information about the sender for its controller. Sizes are in bytes of payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlInputs {
    /// Current time.
    pub now: Time,
    /// Payload of a full segment.
    pub mss: u64,
    /// Bytes of IP of a full segment.
    pub packet: u64,
    /// Everything before this offset of the stream is acknowledged.
    pub acknowledged: u64,
    /// The offset after the last byte sent.
    pub highest: u64,
    /// Bytes sent and not acknowledged, without those added by limited transmit (RFC 5681's `FlightSize`).
    pub flight: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Time>,
    /// The last round-trip time measured.
    pub latest_rtt: Option<Time>,
    /// Current retransmission timeout.
    pub timeout: Time,
    /// Why sending stopped the last time.
    pub limit: SendLimit,
    /// Whether fast recovery is in progress.
    pub recovering: bool,
    /// Most bytes that peer and host allow in flight.
    pub allowed: u64,
}

/// A congestion control law. The sender informs it of events; it determines how much may be in flight and, if
/// it paces, how fast to send.
pub trait Controller {
    /// Returns how much may be in flight, in bytes of payload.
    fn window(&self) -> u64;

    /// Returns the slow start threshold, if there is one.
    fn threshold(&self) -> Option<u64>;

    /// Whether it has a slow start: while the window is below the threshold, or there is no threshold yet.
    fn has_slow_start(&self) -> bool {
        false
    }

    /// Returns the rate at which packets leave, in bytes of IP per second; `None` if they leave as fast as
    /// the window opens.
    fn rate(&self) -> Option<u64> {
        None
    }

    /// Returns how many bytes of each segment the controller itself needs.
    fn overhead(&self) -> u16 {
        0
    }

    /// Returns the first timeout of the handshake, if it differs from the host's.
    fn handshake_timeout(&self) -> Option<Time> {
        None
    }

    /// Called at the end of the handshake; `lost` tells whether the SYN had to be retransmitted.
    fn opened(&mut self, moment: &ControlInputs, lost: bool);

    /// Called when `bytes` of new data are acknowledged.
    fn acknowledged(&mut self, moment: &ControlInputs, bytes: u64);

    /// Called when duplicate ACKs or SACK blocks indicate a loss: fast recovery begins.
    fn lost(&mut self, moment: &ControlInputs);

    /// Called when SACK blocks show a loss of data sent after the last reported loss, while that one is still
    /// being repaired.
    fn lost_during_recovery(&mut self, moment: &ControlInputs) {
        let _ = moment;
    }

    /// Called when `bytes` of data turn out to have arrived: by an acknowledgement, or earlier by SACK
    /// blocks.
    fn arrived(&mut self, moment: &ControlInputs, bytes: u64) {
        let _ = (moment, bytes);
    }

    /// Called when all data in flight at the start of fast recovery have arrived; only without SACK, where
    /// the window was inflated in the meantime.
    fn recovered(&mut self, moment: &ControlInputs);

    /// Called when the retransmission timer expires; `again` if it is for the same data as before.
    fn timed_out(&mut self, moment: &ControlInputs, again: bool);

    /// Called when there is something to send after more than a timeout without sending.
    fn idle(&mut self, moment: &ControlInputs) {
        let _ = moment;
    }

    /// Marks a packet that is about to leave. `first` tells whether its data or its SYN are sent for the
    /// first time.
    fn mark(&mut self, moment: &ControlInputs, packet: &mut Packet, first: bool) {
        let _ = (moment, packet, first);
    }

    /// Reads a packet from the peer, before it is processed. `new` tells whether it acknowledges new data.
    fn read(&mut self, moment: &ControlInputs, packet: &Packet, new: bool) {
        let _ = (moment, packet, new);
    }
}
