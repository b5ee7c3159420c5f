//! The sending end of a TCP connection: opens it, sends a stream of pattern bytes reliably, closes it.
//!
//! The core here knows what was sent, what arrived and what is lost; the [controller](crate::control)
//! says how much may be sent and how fast. Losses are repaired by RFC 6675 if the hosts agreed on SACK
//! and by RFC 6582 otherwise; the timer is RFC 6298's.

mod acknowledgements;
mod handshake;
mod output;
mod scoreboard;
mod timers;

use npsim_net::Random;
use serde::{Deserialize, Serialize};

use crate::control::{AnyController, ControlInputs, Scheme, SendLimit};
use crate::host::HostParameters;
use crate::pacing::Pacer;
use crate::wire::{FlowEnds, Packet};
use npsim_protocols::round_trip::RoundTrip;
use npsim_protocols::time::Time;
use scoreboard::SackScoreboard;

/// The random stream of a sender under its seed.
const STREAM: u64 = 0x7463_7000;
/// More data than any run sends: the offset at which an endless stream would end.
const ENDLESS: u64 = 1 << 62;

/// What there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Supply {
    /// A number of bytes, then the connection closes.
    Bytes(u64),
    /// Data without an end.
    Endless,
    /// What [`Sender::offer`] gives, until [`Sender::close`].
    Offered,
}

/// A sender before it opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderParameters {
    /// The host.
    pub host: HostParameters,
    /// The law.
    pub scheme: Scheme,
    /// The addresses and ports.
    pub ends: FlowEnds,
    /// What there is to send.
    pub supply: Supply,
    /// Draws the first sequence number, and nonces.
    pub seed: u64,
}

/// Where a connection is, as its sender sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConnectionPhase {
    /// Not opened.
    New,
    /// The SYN is out.
    SynSent,
    /// Data flows; the FIN may be out.
    Open,
    /// Both FINs are acknowledged; answers retransmissions for a while.
    TimeWait,
    /// Over.
    Closed,
    /// Given up: the peer does not answer or has reset the connection.
    Failed,
}

/// What a sender has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SenderCounters {
    /// Packets of all kinds.
    pub packets: u64,
    /// Segments with data, also sent again.
    pub segments: u64,
    /// Of these, those sent again.
    pub retransmitted: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Bytes of data that the peer acknowledged.
    pub acknowledged: u64,
    /// When the connection was opened, if it was.
    pub opened_at: Option<Time>,
    /// When all data was acknowledged, if it is.
    pub completed_at: Option<Time>,
}

/// The state of a sender, for observers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderView {
    /// Where the connection is.
    pub phase: ConnectionPhase,
    /// Whether it is in fast recovery.
    pub recovering: bool,
    /// Whether it is in slow start, where its law has one.
    pub slow_start: Option<bool>,
    /// Congestion window in bytes of payload.
    pub window: u64,
    /// Slow start threshold, where there is one.
    pub threshold: Option<u64>,
    /// Rate in bytes of IP per second, where the sender paces.
    pub rate: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Time>,
    /// Retransmission timeout with its back-off.
    pub timeout: Time,
    /// What is thought to be in the network, bytes.
    pub in_flight: u64,
    /// The most that the peer allows, bytes from the acknowledged ones on.
    pub peer_window: u64,
}

/// How losses are being repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Recovery {
    /// No recovery.
    None,
    /// Fast recovery until `Sender::recover` is acknowledged; whether a partial ACK came.
    Fast { partial: bool },
}

/// The peer as the handshake showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct ReceiverPeer {
    /// The first sequence number.
    initial: u32,
    /// The next offset expected of it: 1, and 2 after its FIN.
    next: u64,
    /// Shift of the windows that it announces.
    shift: u8,
    sack: bool,
    /// The latest timestamp, if both send them.
    timestamp: Option<u32>,
}

/// The sending end of a connection.
///
/// A sender is opened with [`open`](Self::open), then gets packets ([`receive`](Self::receive)) and the
/// times that it asked for ([`wake_at`](Self::wake_at), [`wake`](Self::wake)). All packets that it wants
/// to send are appended to `out`; they leave at the time of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    host: HostParameters,
    ends: FlowEnds,
    control: AnyController,
    phase: ConnectionPhase,
    /// First sequence number.
    initial: u32,
    /// The offset after the last byte that there is to send.
    data_end: u64,
    closing: bool,
    /// Everything before is acknowledged.
    acknowledged: u64,
    /// What is sent next; behind `highest` after a timeout.
    next: u64,
    /// The offset after the last that was sent.
    highest: u64,
    /// The offset that the peer's window ends at.
    edge: u64,
    peer: Option<ReceiverPeer>,
    /// Payload of a full segment.
    mss: u64,
    rtt: RoundTrip,
    latest_rtt: Option<Time>,
    /// The segment that is timed: the offset after it, and when it was sent.
    timed: Option<(u64, Time)>,
    recovery: Recovery,
    /// The offset after the last that was sent when the last loss was found.
    recover: u64,
    /// The offset after the last that was sent when a loss was last reported to the law.
    told: u64,
    duplicates: u32,
    /// What duplicate ACKs add to the window, and partial ACKs take (without SACK).
    inflation: i64,
    /// Bytes that limited transmit sent.
    extra: u64,
    /// The first hole is to be sent, whatever the window.
    repair: bool,
    scoreboard: SackScoreboard,
    retries: u8,
    limit: SendLimit,
    last_sent: Time,
    pacer: Pacer,
    /// When the retransmission timer expires.
    expires_at: Option<Time>,
    /// When the closed window of the peer is probed.
    probe_at: Option<Time>,
    /// When the next packet is due, and when the host's clock lets it leave.
    pace_at: Option<(Time, Time)>,
    /// When a closed connection is forgotten.
    forget_at: Option<Time>,
    identification: u16,
    counters: SenderCounters,
}

impl Sender {
    /// A sender that has not opened yet.
    #[must_use]
    pub fn new(parameters: &SenderParameters) -> Self {
        let mut random = Random::new(parameters.seed, STREAM);
        let initial = random.next() as u32;
        let mut host = parameters.host;
        host.initial_window = host.initial_window.clamp(1, 10);
        let (data_end, closing) = match parameters.supply {
            Supply::Bytes(bytes) => (1 + bytes.min(ENDLESS), true),
            Supply::Endless => (ENDLESS, false),
            Supply::Offered => (1, false),
        };
        Self {
            host,
            ends: parameters.ends,
            control: parameters.scheme.controller(&host, random),
            phase: ConnectionPhase::New,
            initial,
            data_end,
            closing,
            acknowledged: 0,
            next: 0,
            highest: 0,
            edge: 1,
            peer: None,
            mss: u64::from(host.mss).max(1),
            rtt: RoundTrip::new(host.rto),
            latest_rtt: None,
            timed: None,
            recovery: Recovery::None,
            recover: 0,
            told: 0,
            duplicates: 0,
            inflation: 0,
            extra: 0,
            repair: false,
            scoreboard: SackScoreboard::default(),
            retries: 0,
            limit: SendLimit::Window,
            last_sent: 0,
            pacer: Pacer::default(),
            expires_at: None,
            probe_at: None,
            pace_at: None,
            forget_at: None,
            identification: 0,
            counters: SenderCounters::default(),
        }
    }

    /// More data to send, with [`Supply::Offered`]; nothing after [`close`](Self::close).
    pub fn offer(&mut self, now: Time, bytes: u64, out: &mut Vec<Packet>) {
        if !self.closing {
            self.data_end = self.data_end.saturating_add(bytes).min(ENDLESS);
            self.output(now, out);
        }
    }

    /// No more data: the FIN follows what was offered. Ends an endless stream where it is.
    pub fn close(&mut self, now: Time, out: &mut Vec<Packet>) {
        if !self.closing {
            self.closing = true;
            if self.data_end == ENDLESS {
                self.data_end = self.highest.max(1);
            }
            self.output(now, out);
        }
    }

    /// When [`wake`](Self::wake) is to be called next; none while only the peer can move things.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        let paced = self.pace_at.map(|(_, fires)| fires);
        let times = [self.expires_at, self.probe_at, paced, self.forget_at];
        times.into_iter().flatten().min()
    }

    /// What was counted.
    #[must_use]
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// What to plot.
    #[must_use]
    pub fn view(&self) -> SenderView {
        let law = self.control.law();
        SenderView {
            phase: self.phase,
            recovering: self.recovery != Recovery::None,
            slow_start: { law.has_slow_start() }
                .then(|| law.threshold().is_none_or(|it| law.window() < it)),
            window: law.window(),
            threshold: law.threshold(),
            rate: law.rate(),
            srtt: self.rtt.smoothed(),
            timeout: self.rtt.timeout(),
            in_flight: self.in_flight(),
            peer_window: self.edge.saturating_sub(self.acknowledged),
        }
    }

    /// The controller, for what is special to it.
    #[must_use]
    pub fn control(&self) -> &AnyController {
        &self.control
    }

    fn sack(&self) -> bool {
        self.peer.is_some_and(|peer| peer.sack)
    }

    /// The offset after all that there is to send, the FIN included.
    fn end(&self) -> u64 {
        self.data_end + u64::from(self.closing)
    }

    /// RFC 5681's `FlightSize`.
    fn flight(&self) -> u64 {
        (self.next - self.acknowledged).saturating_sub(self.extra)
    }

    /// What is thought to be in the network.
    fn in_flight(&self) -> u64 {
        let out = self.next - self.acknowledged;
        match self.recovery {
            _ if !self.sack() => out,
            Recovery::Fast { .. } => self.scoreboard.pipe(self.acknowledged, self.next, self.mss),
            // RFC 6675, step 3: what has arrived makes room before a loss is certain.
            Recovery::None if self.host.limited_transmit || self.next < self.highest => {
                out - self.scoreboard.arrived(self.acknowledged, self.next)
            }
            Recovery::None => out,
        }
    }

    /// What may be in the network.
    fn window(&self) -> u64 {
        let window = self.control.law().window();
        let window = window.saturating_add_signed(self.inflation);
        let limit = self.host.window_limit.unwrap_or(u64::MAX);
        window.max(self.mss).min(limit.max(self.mss))
    }

    fn moment(&self, now: Time) -> ControlInputs {
        let room = self.edge.saturating_sub(self.acknowledged);
        let headers = u64::from(40 + self.taken());
        ControlInputs {
            now,
            mss: self.mss,
            packet: self.mss + headers,
            acknowledged: self.acknowledged,
            highest: self.highest,
            flight: self.flight(),
            srtt: self.rtt.smoothed(),
            latest_rtt: self.latest_rtt,
            timeout: self.rtt.timeout(),
            limit: self.limit,
            recovering: self.recovery != Recovery::None,
            allowed: room.min(self.host.window_limit.unwrap_or(u64::MAX)),
        }
    }

    /// Bytes of a segment of data that options and congestion header take of the payload.
    fn taken(&self) -> u16 {
        let timestamps = self.peer.is_some_and(|peer| peer.timestamp.is_some());
        self.control.law().overhead() + if timestamps { 12 } else { 0 }
    }
}
