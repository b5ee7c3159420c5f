//! The sending end of a TCP connection: opens it, sends a stream of pattern bytes reliably, and closes
//! it.
//!
//! This core keeps track of what was sent, what arrived and what was lost; the
//! [controller](crate::control) determines how much may be sent and how fast. Losses are repaired by RFC
//! 6675 if the hosts agreed on SACK and by RFC 6582 otherwise; the timer follows RFC 6298.

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

/// The random stream of a sender, under its seed.
const STREAM: u64 = 0x7463_7000;
/// Offset at which an endless stream would end: more data than any run sends.
const ENDLESS: u64 = 1 << 62;

/// The data to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Supply {
    /// A number of bytes, then the connection closes.
    Bytes(u64),
    /// An endless amount of data.
    Endless,
    /// The data given to [`Sender::offer`], until [`Sender::close`].
    Offered,
}

/// Parameters of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderParameters {
    /// The host.
    pub host: HostParameters,
    /// The control law.
    pub scheme: Scheme,
    /// The addresses and ports.
    pub ends: FlowEnds,
    /// The data to send.
    pub supply: Supply,
    /// Seed of the initial sequence number, and of nonces.
    pub seed: u64,
}

/// The phase of a connection at the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConnectionPhase {
    /// Not opened yet.
    New,
    /// The SYN has been sent.
    SynSent,
    /// Data are being sent; the FIN may have been sent.
    Open,
    /// Both FINs are acknowledged; answers retransmissions for a while.
    TimeWait,
    /// The connection has ended.
    Closed,
    /// Given up: the peer does not answer or has reset the connection.
    Failed,
}

/// Counters of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SenderCounters {
    /// Packets of all kinds.
    pub packets: u64,
    /// Segments with data, including retransmissions.
    pub segments: u64,
    /// Retransmitted segments with data.
    pub retransmitted: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Bytes of data that the peer acknowledged.
    pub acknowledged: u64,
    /// When the connection was opened, if it was.
    pub opened_at: Option<Time>,
    /// When all data had been acknowledged, if they have.
    pub completed_at: Option<Time>,
}

/// The state of a sender, for observers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderView {
    /// Phase of the connection.
    pub phase: ConnectionPhase,
    /// Whether fast recovery is in progress.
    pub recovering: bool,
    /// Whether it is in slow start, if its law has one.
    pub slow_start: Option<bool>,
    /// Congestion window in bytes of payload.
    pub window: u64,
    /// Slow start threshold, if there is one.
    pub threshold: Option<u64>,
    /// Rate in bytes of IP per second, if the sender paces.
    pub rate: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Time>,
    /// Retransmission timeout, including back-off.
    pub timeout: Time,
    /// Bytes assumed to be in flight.
    pub in_flight: u64,
    /// Bytes beyond the acknowledged ones that the peer allows.
    pub peer_window: u64,
}

/// The state of loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Recovery {
    /// No recovery.
    None,
    /// Fast recovery until `Sender::recover` is acknowledged; `partial` tells whether a partial ACK has
    /// arrived.
    Fast { partial: bool },
}

/// Properties of the peer from the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct ReceiverPeer {
    /// Its initial sequence number.
    initial: u32,
    /// The next offset expected from it: 1, and 2 after its FIN.
    next: u64,
    /// Shift of its announced windows.
    shift: u8,
    sack: bool,
    /// Its latest timestamp, if both ends send them.
    timestamp: Option<u32>,
}

/// The sending end of a connection.
///
/// A sender is opened with [`open`](Self::open), then gets packets ([`receive`](Self::receive)) and is
/// woken at the times that it requests ([`wake_at`](Self::wake_at), [`wake`](Self::wake)). All packets
/// to send are appended to `out`; they leave at the time of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    host: HostParameters,
    ends: FlowEnds,
    control: AnyController,
    phase: ConnectionPhase,
    /// Initial sequence number.
    initial: u32,
    /// The offset after the last byte to be sent.
    data_end: u64,
    closing: bool,
    /// Everything before this offset is acknowledged.
    acknowledged: u64,
    /// Offset to send next; lower than `highest` after a timeout.
    next: u64,
    /// The offset after the last byte sent.
    highest: u64,
    /// The offset at which the peer's window ends.
    edge: u64,
    peer: Option<ReceiverPeer>,
    /// Payload of a full segment.
    mss: u64,
    rtt: RoundTrip,
    latest_rtt: Option<Time>,
    /// The segment whose round trip is timed: the offset after it, and when it was sent.
    timed: Option<(u64, Time)>,
    recovery: Recovery,
    /// The offset after the last byte sent when the last loss was detected.
    recover: u64,
    /// The offset after the last byte sent when a loss was last reported to the law.
    told: u64,
    duplicates: u32,
    /// Bytes that duplicate ACKs add to the window, and partial ACKs subtract (without SACK).
    inflation: i64,
    /// Bytes sent by limited transmit.
    extra: u64,
    /// Whether the first hole is to be retransmitted regardless of the window.
    repair: bool,
    scoreboard: SackScoreboard,
    retries: u8,
    limit: SendLimit,
    last_sent: Time,
    pacer: Pacer,
    /// When the retransmission timer expires.
    expires_at: Option<Time>,
    /// When the peer's closed window is to be probed.
    probe_at: Option<Time>,
    /// When the next packet is due, and when the host's clock lets it leave.
    pace_at: Option<(Time, Time)>,
    /// When a closed connection is forgotten.
    forget_at: Option<Time>,
    identification: u16,
    counters: SenderCounters,
}

impl Sender {
    /// Creates a sender that has not opened yet.
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

    /// Adds data to send, with [`Supply::Offered`]; does nothing after [`close`](Self::close).
    pub fn offer(&mut self, now: Time, bytes: u64, out: &mut Vec<Packet>) {
        if !self.closing {
            self.data_end = self.data_end.saturating_add(bytes).min(ENDLESS);
            self.output(now, out);
        }
    }

    /// Ends the data: the FIN follows what was offered. An endless stream ends where it is.
    pub fn close(&mut self, now: Time, out: &mut Vec<Packet>) {
        if !self.closing {
            self.closing = true;
            if self.data_end == ENDLESS {
                self.data_end = self.highest.max(1);
            }
            self.output(now, out);
        }
    }

    /// Returns when [`wake`](Self::wake) must be called next; `None` if only the peer can cause
    /// progress.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        let paced = self.pace_at.map(|(_, fires)| fires);
        let times = [self.expires_at, self.probe_at, paced, self.forget_at];
        times.into_iter().flatten().min()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// Returns the state for observers.
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

    /// Returns the controller, for its specific state.
    #[must_use]
    pub fn control(&self) -> &AnyController {
        &self.control
    }

    fn sack(&self) -> bool {
        self.peer.is_some_and(|peer| peer.sack)
    }

    /// Returns the offset after everything to be sent, including the FIN.
    fn end(&self) -> u64 {
        self.data_end + u64::from(self.closing)
    }

    /// Returns RFC 5681's `FlightSize`.
    fn flight(&self) -> u64 {
        (self.next - self.acknowledged).saturating_sub(self.extra)
    }

    /// Returns the bytes assumed to be in flight.
    fn in_flight(&self) -> u64 {
        let out = self.next - self.acknowledged;
        match self.recovery {
            _ if !self.sack() => out,
            Recovery::Fast { .. } => self.scoreboard.pipe(self.acknowledged, self.next, self.mss),
            // RFC 6675, step 3: data that have arrived leave room even before a loss is certain.
            Recovery::None if self.host.limited_transmit || self.next < self.highest => {
                out - self.scoreboard.arrived(self.acknowledged, self.next)
            }
            Recovery::None => out,
        }
    }

    /// Returns how much may be in flight.
    fn window(&self) -> u64 {
        let window = self.control.law().window();
        let window = window.saturating_add_signed(self.inflation);
        let limit = self.host.window_limit.unwrap_or(u64::MAX);
        window.max(self.mss).min(limit.max(self.mss))
    }

    fn moment(&self, now: Time) -> ControlInputs {
        let room = self.edge.saturating_sub(self.acknowledged);
        let headers = u64::from(40 + self.payload_overhead());
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

    /// Returns the bytes that options and congestion header take from a segment's payload.
    fn payload_overhead(&self) -> u16 {
        let timestamps = self.peer.is_some_and(|peer| peer.timestamp.is_some());
        self.control.law().overhead() + if timestamps { 12 } else { 0 }
    }
}
