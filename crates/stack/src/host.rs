//! A host: an interface with its sockets, and the ends of transfers that use them.

use std::fmt;
use std::net::Ipv4Addr;

use npsim_net::Random;
use npsim_protocols::arp::message::Mac;
use npsim_protocols::time::{MICROSECOND, Time};
use smoltcp::iface::{Config, Interface, PollResult, SocketSet};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr};

use crate::device::NetworkCard;
use crate::transfer::{EndCounters, Exchange, Role, TransferEnd};

/// The address of a host, and how it reaches others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    /// Ethernet address of its card.
    pub mac: Mac,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Length of the prefix of the hosts on its link.
    pub prefix: u8,
    /// The router for all other hosts. If it is outside of the prefix, the host also has the address after
    /// the router's, in a network of four addresses.
    pub gateway: Option<Ipv4Addr>,
    /// Stations whose Ethernet addresses are known and never requested.
    pub permanent: Vec<(Ipv4Addr, Mac)>,
}

/// An end of a transfer at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The transfer, below [`MAX_TRANSFERS`](crate::MAX_TRANSFERS).
    pub number: usize,
    /// Which end it is.
    pub role: Role,
    /// The exchange.
    pub exchange: Exchange,
    /// The host at the other end.
    pub peer: Ipv4Addr,
}

/// A host.
pub struct Host {
    interface: Interface,
    card: NetworkCard,
    sockets: SocketSet<'static>,
    ends: Vec<TransferEnd>,
}

impl fmt::Debug for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Host")
            .field("card", &self.card)
            .field("ends", &self.ends)
            .finish_non_exhaustive()
    }
}

impl Host {
    /// Creates a host at time 0. Its sequence numbers and ports are derived from the seed.
    #[must_use]
    pub fn new(address: &HostAddress, tasks: &[Task], seed: u64) -> Self {
        let mut card = NetworkCard::new(address.permanent.clone());
        let mut config = Config::new(EthernetAddress(address.mac).into());
        // Higher than the numbers of streams.
        let stream = 1 << 32 | u64::from(u32::from(address.address));
        config.random_seed = Random::new(seed, stream).next();
        let mut interface = Interface::new(config, &mut card, Instant::ZERO);
        let own = IpCidr::new(address.address.into(), address.prefix);
        // The stack ignores stations outside of its own networks.
        let beside = { address.gateway }
            .filter(|gateway| !own.contains_addr(&(*gateway).into()))
            .map(|gateway| Ipv4Addr::from(u32::from(gateway).wrapping_add(1)))
            .map(|beside| IpCidr::new(beside.into(), 30));
        interface.update_ip_addrs(|all| {
            // There is room for two addresses.
            all.extend([own].into_iter().chain(beside));
        });
        if let Some(gateway) = address.gateway {
            // There is room for one route.
            let _ = interface.routes_mut().add_default_ipv4_route(gateway);
        }
        let mut sockets = SocketSet::new(Vec::new());
        let ends = tasks.iter().map(|task| {
            let (number, role) = (task.number, task.role);
            TransferEnd::new(number, role, task.exchange, task.peer, seed, &mut sockets)
        });
        Self {
            ends: ends.collect(),
            interface,
            card,
            sockets,
        }
    }

    /// Receives a complete frame, without its check sequence.
    pub fn receive(&mut self, frame: Vec<u8>) {
        self.card.put(frame);
    }

    /// Does everything due at a time, and appends the frames to send to `out`. Returns the next time,
    /// later than `now`, at which there will be something to do.
    ///
    /// The stack counts in microseconds. Its time is the last whole one, so that anything it waits for is
    /// due exactly at the time that it returned, and never before.
    pub fn poll(&mut self, now: Time, out: &mut Vec<Vec<u8>>) -> Option<Time> {
        let instant = Instant::from_micros((now / MICROSECOND) as i64);
        loop {
            let mut busy = false;
            for end in &mut self.ends {
                busy |= end.act(now, &mut self.sockets, self.interface.context());
            }
            let polled = self
                .interface
                .poll(instant, &mut self.card, &mut self.sockets);
            out.extend(std::iter::from_fn(|| self.card.take()));
            if !busy && polled == PollResult::None && !self.card.has_pending() {
                break;
            }
        }
        let due = self.interface.poll_at(instant, &self.sockets);
        let due = due.map(|due| due.total_micros().cast_unsigned() * MICROSECOND);
        // Everything due now has been done; anything left is retried a microsecond later.
        let due = due.map(|due| due.max((now / MICROSECOND + 1) * MICROSECOND));
        self.due().into_iter().chain(due).min()
    }

    /// Returns when a transfer next acts on its own.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.ends.iter().filter_map(TransferEnd::due).min()
    }

    /// Returns number, role and counters of the ends of transfers at this host.
    pub fn ends(&self) -> impl Iterator<Item = (usize, Role, EndCounters)> {
        let ends = self.ends.iter();
        ends.map(|end| (end.number, end.role(), end.counters()))
    }
}
