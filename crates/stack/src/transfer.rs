//! An end of a transfer: requests and responses on one connection, as in HTTP.

use std::net::Ipv4Addr;

use npsim_protocols::time::Time;
use serde::{Deserialize, Serialize};
use smoltcp::iface::{Context, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::wire::IpAddress;

use crate::stream::{StreamCounters, StreamEnd};

/// Ports of server and client of transfer 0; each transfer has its own.
const PORTS: [u16; 2] = [20_000, 40_000];
/// Number of transfers for which there are ports.
pub const MAX_TRANSFERS: usize = 20_000;

/// The parameters of a transfer that both ends know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// When the client connects.
    pub start: Time,
    /// Bytes of a request.
    pub request: u64,
    /// Bytes of the response to it.
    pub response: u64,
    /// Number of requests, each sent after the response to the previous one.
    pub requests: u64,
    /// How long the client waits after each response.
    pub gap: Time,
    /// Bytes of each socket buffer.
    pub buffer: u32,
}

/// The role of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Connects and sends requests.
    Client,
    /// Sends responses.
    Server,
}

/// Counters of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EndCounters {
    /// When it was connected.
    pub opened_at: Option<Time>,
    /// When it had received everything that it expects.
    pub completed_at: Option<Time>,
    /// Number of complete messages received from the other end.
    pub messages: u64,
    /// Bytes that it passed to its socket.
    pub sent: StreamCounters,
    /// Bytes that its socket delivered.
    pub received: StreamCounters,
    /// Whether the connection ended prematurely.
    pub broken: bool,
}

/// An end of a transfer.
#[derive(Debug)]
pub struct TransferEnd {
    /// Number of the transfer.
    pub number: usize,
    role: Role,
    exchange: Exchange,
    peer: Ipv4Addr,
    socket: SocketHandle,
    /// When the client next acts on its own.
    due: Option<Time>,
    /// Number of messages that it may send so far.
    begun: u64,
    sent: StreamEnd,
    received: StreamEnd,
    counters: EndCounters,
}

impl TransferEnd {
    /// Creates an end of a transfer with a peer; all of its bytes are derived from a seed.
    pub fn new(
        number: usize,
        role: Role,
        exchange: Exchange,
        peer: Ipv4Addr,
        seed: u64,
        sockets: &mut SocketSet<'_>,
    ) -> Self {
        let buffer = || SocketBuffer::new(vec![0; exchange.buffer as usize]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(CongestionControl::Reno);
        // The end of a message must not wait for an acknowledgement.
        socket.set_nagle_enabled(false);
        if role == Role::Server {
            // This fails only for a socket that is already open.
            let _ = socket.listen(PORTS[0] + number as u16);
        }
        let streams = [0, 1].map(|side| StreamEnd::new(seed, 2 * number as u64 + side));
        let [requests, responses] = streams;
        let (sent, received) = match role {
            Role::Client => (requests, responses),
            Role::Server => (responses, requests),
        };
        Self {
            number,
            role,
            exchange,
            peer,
            socket: sockets.add(socket),
            due: (role == Role::Client).then_some(exchange.start),
            begun: 0,
            sent,
            received,
            counters: EndCounters::default(),
        }
    }

    /// Returns its role.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Returns its counters.
    pub fn counters(&self) -> EndCounters {
        EndCounters {
            sent: self.sent.counters(),
            received: self.received.counters(),
            ..self.counters
        }
    }

    /// Returns when it next acts on its own.
    pub const fn due(&self) -> Option<Time> {
        self.due
    }

    /// Does everything that is due and that its socket permits; returns true if there was anything.
    pub fn act(&mut self, now: Time, sockets: &mut SocketSet<'_>, stack: &mut Context) -> bool {
        let socket = sockets.get_mut::<Socket<'_>>(self.socket);
        let begins = self.due.is_some_and(|due| due <= now);
        if begins {
            self.due = None;
            self.begun += 1;
            if self.begun == 1 {
                let (to, from) = PORTS.map(|port| port + self.number as u16).into();
                let peer = IpAddress::from(self.peer);
                // This fails for a socket that is already open, or an address that no host can
                // have.
                self.counters.broken = socket.connect(stack, (peer, to), from).is_err();
            }
        }
        if self.counters.opened_at.is_none() && socket.may_send() {
            self.counters.opened_at = Some(now);
        }
        let moved = self.receive(now, socket) | self.send(socket);
        let ended = self.end(socket);
        begins || moved || ended
    }

    /// Sends as much of the started messages as there is room for.
    fn send(&mut self, socket: &mut Socket<'_>) -> bool {
        let message = match self.role {
            Role::Client => self.exchange.request,
            Role::Server => self.exchange.response,
        };
        let before = self.sent.counters().bytes;
        let all = self.begun * message;
        while self.sent.counters().bytes < all && socket.can_send() {
            let left = all - self.sent.counters().bytes;
            let sent = socket.send(|room| {
                let count = usize::try_from(left).map_or(room.len(), |left| left.min(room.len()));
                self.sent.write(&mut room[..count]);
                (count, count)
            });
            if !sent.is_ok_and(|count| count > 0) {
                break;
            }
        }
        self.sent.counters().bytes != before
    }

    /// Reads the received data, and starts the messages that follow from them.
    fn receive(&mut self, now: Time, socket: &mut Socket<'_>) -> bool {
        let mut moved = false;
        while socket.can_recv() {
            let count = socket.recv(|bytes| {
                self.received.read(bytes);
                (bytes.len(), bytes.len())
            });
            if !count.is_ok_and(|count| count > 0) {
                break;
            }
            moved = true;
        }
        let message = match self.role {
            Role::Client => self.exchange.response,
            Role::Server => self.exchange.request,
        };
        let whole = (self.received.counters().bytes / message).min(self.exchange.requests);
        if whole == self.counters.messages {
            return moved;
        }
        self.counters.messages = whole;
        let all = whole == self.exchange.requests;
        if all {
            self.counters.completed_at = Some(now);
        }
        match self.role {
            Role::Server => self.begun = whole,
            Role::Client if !all => self.due = Some(now.saturating_add(self.exchange.gap)),
            Role::Client => {}
        }
        moved
    }

    /// Closes the connection when everything is done, and detects its end.
    fn end(&mut self, socket: &mut Socket<'_>) -> bool {
        let state = socket.state();
        let done = self.counters.completed_at.is_some();
        match (self.role, state) {
            (Role::Client, State::Established) if done => socket.close(),
            (_, State::CloseWait) => socket.close(),
            (_, State::Closed) if self.counters.opened_at.is_some() || self.begun > 0 => {
                let before = std::mem::replace(&mut self.counters.broken, !done);
                self.due = None;
                return before != self.counters.broken;
            }
            _ => return false,
        }
        true
    }
}
