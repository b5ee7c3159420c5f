//! A host: an interface with its sockets, and the ends of transfers that use them.

use std::fmt;
use std::net::Ipv4Addr;

use npsim_net::Random;
use npsim_protocols::arp::message::Mac;
use npsim_protocols::time::{MICROSECOND, Time};
use smoltcp::iface::{Config, Interface, PollResult, SocketSet};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr};

use crate::device::Card;
use crate::transfer::{EndCounters, Exchange, Role, TransferEnd};

/// The address of a host, and how it reaches others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    /// Of its card.
    pub mac: Mac,
    /// Of IPv4.
    pub address: Ipv4Addr,
    /// Length of the prefix of those that are on its link.
    pub prefix: u8,
    /// The router that all others are behind; outside of the prefix it is of the network of four addresses
    /// that it is the first of.
    pub gateway: Option<Ipv4Addr>,
    /// Stations whose Ethernet addresses are known and never asked for.
    pub permanent: Vec<(Ipv4Addr, Mac)>,
}

/// An end of a transfer at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The transfer, below [`MOST_TRANSFERS`](crate::MOST_TRANSFERS).
    pub number: usize,
    /// Which end.
    pub role: Role,
    /// What is exchanged.
    pub exchange: Exchange,
    /// The host at the other end.
    pub peer: Ipv4Addr,
}

/// A host.
pub struct Host {
    interface: Interface,
    card: Card,
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
    /// A host at time 0. Its sequence numbers and its ports follow from the seed.
    #[must_use]
    pub fn new(address: &HostAddress, tasks: &[Task], seed: u64) -> Self {
        let mut card = Card::new(address.permanent.clone());
        let mut config = Config::new(EthernetAddress(address.mac).into());
        // Above the numbers of streams.
        let stream = 1 << 32 | u64::from(u32::from(address.address));
        config.random_seed = Random::new(seed, stream).next();
        let mut interface = Interface::new(config, &mut card, Instant::ZERO);
        let own = IpCidr::new(address.address.into(), address.prefix);
        // The stack hears of no station outside of its own networks.
        let beside = { address.gateway }
            .filter(|gateway| !own.contains_addr(&(*gateway).into()))
            .map(|gateway| Ipv4Addr::from(u32::from(gateway).wrapping_add(1)))
            .map(|beside| IpCidr::new(beside.into(), 30));
        interface.update_ip_addrs(|all| {
            // There is room for two.
            all.extend([own].into_iter().chain(beside));
        });
        if let Some(gateway) = address.gateway {
            // There is room for one.
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

    /// A whole frame has come, without its check sequence.
    pub fn receive(&mut self, frame: Vec<u8>) {
        self.card.put(frame);
    }

    /// Does all that there is to do at a time, and puts out what is to be sent. Gives when there will
    /// be something to do, which is later.
    ///
    /// The stack counts microseconds. It takes the time for the last whole one, so that what it waits
    /// for is due at the time that it gave, and never before.
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
            if !busy && polled == PollResult::None && !self.card.has_come() {
                break;
            }
        }
        let due = self.interface.poll_at(instant, &self.sockets);
        let due = due.map(|due| due.total_micros().cast_unsigned() * MICROSECOND);
        // What is due now has been done; if not, it is tried again a microsecond later.
        let due = due.map(|due| due.max((now / MICROSECOND + 1) * MICROSECOND));
        self.due().into_iter().chain(due).min()
    }

    /// When a transfer does something of its own accord.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.ends.iter().filter_map(TransferEnd::due).min()
    }

    /// What the ends of transfers here have come to: number, role, and counters.
    pub fn ends(&self) -> impl Iterator<Item = (usize, Role, EndCounters)> {
        let ends = self.ends.iter();
        ends.map(|end| (end.number, end.role(), end.counters()))
    }
}
