//! The endpoints of flows.

use npsim_net::Random;
use npsim_transport::rcp::{RcpReceiver, RcpSender, RcpSenderParameters};
use npsim_transport::time::Time;
use npsim_transport::wire::{FlowEnds, Packet};
use npsim_transport::{
    ConnectionPhase, Receiver, ReceiverCounters, ReceiverParameters, Sender, SenderCounters,
    SenderParameters, SenderView, Supply,
};
use serde::{Deserialize, Serialize};

use crate::topology::{Flow, Transport};

/// The random streams of flows, under the seed of a network.
const STREAM: u64 = 0x666c_6f77_0000_0000;
/// Destination port of flows, the same as iperf's.
const SERVER_PORT: u16 = 5001;
/// Source port of the first flow; each flow has its own.
const FIRST_PORT: u16 = 10_000;

/// An endpoint of a flow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Endpoint {
    /// Sends a stream.
    Sender(Box<Sender>),
    /// Receives a stream.
    Receiver(Box<Receiver>),
    /// Sends with RCP.
    RcpSender(Box<RcpSender>),
    /// Receives with RCP.
    RcpReceiver(Box<RcpReceiver>),
    /// Sends datagrams of a fixed size at constant intervals.
    Source {
        /// Bytes of IP.
        bytes: u32,
        /// Bytes of IP per second.
        rate: u64,
        /// When it started.
        start: Option<Time>,
        /// When it stops.
        until: Option<Time>,
        /// Number of datagrams sent.
        sent: u64,
    },
    /// Receives such datagrams.
    Sink,
}

/// Sender's state of a flow, as far as its transport has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowView {
    /// Congestion window, in bytes of payload.
    pub window: Option<u64>,
    /// Slow start threshold, in bytes.
    pub threshold: Option<u64>,
    /// Bytes assumed to be in flight.
    pub in_flight: Option<u64>,
    /// Rate in bytes of IP per second, if it paces.
    pub rate: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Time>,
    /// The sender's state, if the connection is open.
    pub state: Option<FlowState>,
}

/// The state of a flow's sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlowState {
    /// The sender is opening the connection.
    Opening,
    /// The window is below its threshold, or there is no threshold yet.
    SlowStart,
    /// The window is above its threshold.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// The sender's transport has no such states.
    Open,
}

impl FlowState {
    /// Returns the name of the state.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::SlowStart => "slow start",
            Self::Avoidance => "congestion avoidance",
            Self::Recovery => "fast recovery",
            Self::Open => "open",
        }
    }

    fn of(view: &SenderView) -> Option<Self> {
        match (view.phase, view.slow_start) {
            (ConnectionPhase::SynSent, _) => Some(Self::Opening),
            (ConnectionPhase::Open, _) if view.recovering => Some(Self::Recovery),
            (ConnectionPhase::Open, Some(true)) => Some(Self::SlowStart),
            (ConnectionPhase::Open, Some(false)) => Some(Self::Avoidance),
            (ConnectionPhase::Open, None) => Some(Self::Open),
            _ => None,
        }
    }
}

/// Output of an endpoint.
#[derive(Debug, Default)]
pub struct EndpointOutput {
    /// Packets.
    pub packets: Vec<Packet>,
    /// Datagrams: number and bytes of each.
    pub datagrams: Vec<(u64, u32)>,
}

impl Endpoint {
    /// Creates both endpoints of a flow with index `number`, between two addresses.
    pub fn of(flow: &Flow, number: usize, ends: [std::net::Ipv4Addr; 2], seed: u64) -> [Self; 2] {
        let ends = FlowEnds {
            source: ends[0],
            destination: ends[1],
            source_port: FIRST_PORT.wrapping_add(number as u16),
            destination_port: SERVER_PORT,
        };
        match &flow.transport {
            Transport::Tcp {
                scheme,
                host,
                supply,
                xcp_option,
            } => {
                let mut random = Random::new(seed, STREAM + number as u64);
                let sender = Sender::new(&SenderParameters {
                    host: *host,
                    scheme: *scheme,
                    ends,
                    supply: *supply,
                    seed: random.next(),
                });
                let receiver = Receiver::new(&ReceiverParameters {
                    host: *host,
                    ends: ends.reversed(),
                    reads_at_once: true,
                    xcp_option: *xcp_option,
                    seed: random.next(),
                });
                [
                    Self::Sender(Box::new(sender)),
                    Self::Receiver(Box::new(receiver)),
                ]
            }
            Transport::Rcp { host, bytes } => {
                let sender = RcpSender::new(&RcpSenderParameters {
                    host: *host,
                    ends,
                    supply: bytes.map_or(Supply::Endless, Supply::Bytes),
                });
                let receiver = RcpReceiver::new(ends.reversed());
                [
                    Self::RcpSender(Box::new(sender)),
                    Self::RcpReceiver(Box::new(receiver)),
                ]
            }
            Transport::Constant {
                rate,
                packet,
                until,
            } => {
                let source = Self::Source {
                    bytes: (*packet).max(1),
                    rate: *rate,
                    start: None,
                    until: *until,
                    sent: 0,
                };
                [source, Self::Sink]
            }
        }
    }

    /// Starts the flow.
    pub fn open(&mut self, now: Time, out: &mut EndpointOutput) {
        match self {
            Self::Sender(sender) => sender.open(now, &mut out.packets),
            Self::RcpSender(sender) => sender.open(now, &mut out.packets),
            Self::Source { start, .. } => {
                *start = Some(now);
                self.wake(now, out);
            }
            Self::Receiver(_) | Self::RcpReceiver(_) | Self::Sink => {}
        }
    }

    /// Receives a packet.
    pub fn receive(&mut self, now: Time, packet: &Packet, out: &mut EndpointOutput) {
        match self {
            Self::Sender(sender) => sender.receive(now, packet, &mut out.packets),
            Self::Receiver(receiver) => receiver.receive(now, packet, &mut out.packets),
            Self::RcpSender(sender) => sender.receive(now, packet, &mut out.packets),
            Self::RcpReceiver(receiver) => receiver.receive(packet, &mut out.packets),
            Self::Source { .. } | Self::Sink => {}
        }
    }

    /// Returns when it wants to be woken.
    pub fn wake_at(&self) -> Option<Time> {
        match self {
            Self::Sender(sender) => sender.wake_at(),
            Self::Receiver(receiver) => receiver.wake_at(),
            Self::RcpSender(sender) => sender.wake_at(),
            Self::Source {
                bytes,
                rate,
                start,
                until,
                sent,
            } => {
                let second = u128::from(npsim_transport::time::SECOND);
                let bytes = u128::from(*sent) * u128::from(*bytes) * second;
                let after = bytes.checked_div(u128::from(*rate))?;
                let due = (*start)?.checked_add(Time::try_from(after).ok()?)?;
                until.is_none_or(|until| due < until).then_some(due)
            }
            Self::RcpReceiver(_) | Self::Sink => None,
        }
    }

    /// Wakes the endpoint at a time that it requested.
    pub fn wake(&mut self, now: Time, out: &mut EndpointOutput) {
        match self {
            Self::Sender(sender) => sender.wake(now, &mut out.packets),
            Self::Receiver(receiver) => receiver.wake(now, &mut out.packets),
            Self::RcpSender(sender) => sender.wake(now, &mut out.packets),
            Self::Source { .. } => {
                while self.wake_at().is_some_and(|due| due <= now) {
                    if let Self::Source { bytes, sent, .. } = self {
                        out.datagrams.push((*sent, *bytes));
                        *sent += 1;
                    }
                }
            }
            Self::RcpReceiver(_) | Self::Sink => {}
        }
    }

    /// Returns its counters as a sender.
    pub fn sender(&self) -> Option<SenderCounters> {
        match self {
            Self::Sender(sender) => Some(sender.counters()),
            Self::RcpSender(sender) => {
                let counters = sender.counters();
                Some(SenderCounters {
                    packets: counters.segments + counters.requests,
                    segments: counters.segments,
                    retransmitted: counters.retransmitted,
                    acknowledged: counters.acknowledged,
                    opened_at: counters.opened_at,
                    completed_at: counters.completed_at,
                    ..SenderCounters::default()
                })
            }
            _ => None,
        }
    }

    /// Returns its counters as a receiver.
    pub fn receiver(&self) -> Option<ReceiverCounters> {
        match self {
            Self::Receiver(receiver) => Some(receiver.counters()),
            Self::RcpReceiver(receiver) => {
                let counters = receiver.counters();
                Some(ReceiverCounters {
                    segments: counters.packets,
                    duplicates: counters.duplicates,
                    received: counters.received,
                    ..ReceiverCounters::default()
                })
            }
            _ => None,
        }
    }

    /// Returns the sender's state.
    pub fn view(&self) -> FlowView {
        match self {
            Self::Sender(sender) => {
                let view = sender.view();
                FlowView {
                    window: Some(view.window),
                    threshold: view.threshold,
                    in_flight: Some(view.in_flight),
                    rate: view.rate,
                    srtt: view.srtt,
                    state: FlowState::of(&view),
                }
            }
            Self::RcpSender(sender) => FlowView {
                rate: Some(sender.rate()),
                srtt: sender.srtt(),
                state: {
                    let counters = sender.counters();
                    let open = counters.opened_at.is_some() && counters.completed_at.is_none();
                    open.then_some(FlowState::Open)
                },
                ..FlowView::default()
            },
            Self::Source { rate, start, .. } => FlowView {
                rate: Some(*rate),
                state: start.map(|_| FlowState::Open),
                ..FlowView::default()
            },
            _ => FlowView::default(),
        }
    }
}
