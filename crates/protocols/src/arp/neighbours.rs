//! The state of next hops: their addresses, the packets waiting for them, and the times of
//! requests.

use std::net::Ipv4Addr;

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use super::message::Mac;

/// A next hop given by its IPv4 address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbour<P> {
    /// The port that it is reached by.
    pub port: u8,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Its hardware address, once known.
    pub mac: Option<Mac>,
    /// While it is being resolved: the number of requests sent, and the waiting packet.
    asking: Option<(u32, P)>,
    /// Earliest cycle of the next request.
    quiet_until: Cycle,
}

/// Work that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DueWork<P> {
    /// Send a request for the next hop with this index.
    Request(usize),
    /// Give up a packet whose next hop has not answered.
    GiveUp(P),
}

/// All next hops; `P` is the type of a waiting packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours<P> {
    all: Vec<Neighbour<P>>,
    /// Cycles from one request to the next.
    retry: Cycle,
    /// Requests after which a next hop counts as silent.
    tries: u32,
}

impl<P> Neighbours<P> {
    /// Creates next hops, given by port and address, with unknown hardware addresses.
    #[must_use]
    pub fn new(all: impl IntoIterator<Item = (u8, Ipv4Addr)>, retry: Cycle, tries: u32) -> Self {
        let neighbour = |(port, address)| Neighbour {
            port,
            address,
            mac: None,
            asking: None,
            quiet_until: 0,
        };
        Self {
            all: all.into_iter().map(neighbour).collect(),
            retry: retry.max(1),
            tries: tries.max(1),
        }
    }

    /// The next hops.
    #[must_use]
    pub fn all(&self) -> &[Neighbour<P>] {
        &self.all
    }

    /// The waiting packets.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        let asking = self.all.iter().filter_map(|it| it.asking.as_ref());
        asking.map(|(_, packet)| packet)
    }

    /// The index of the next hop with this port and address.
    #[must_use]
    pub fn find(&self, port: u8, address: Ipv4Addr) -> Option<usize> {
        let is = |it: &Neighbour<P>| it.port == port && it.address == address;
        self.all.iter().position(is)
    }

    /// Lets a packet wait for a next hop. Returns the packet that was waiting before, which
    /// is displaced: the latest is kept (RFC 1122, 2.3.2.2).
    pub fn wait(&mut self, number: usize, packet: P) -> Option<P> {
        let asking = &mut self.all[number].asking;
        let tries = asking.as_ref().map_or(0, |asking| asking.0);
        asking.replace((tries, packet)).map(|before| before.1)
    }

    /// Records the addresses of a station that was heard. If it is a next hop and its address
    /// is new or a packet was waiting, returns its index and that packet.
    pub fn learn(&mut self, port: u8, address: Ipv4Addr, mac: Mac) -> Option<(usize, Option<P>)> {
        let number = self.find(port, address)?;
        let neighbour = &mut self.all[number];
        let news = neighbour.mac != Some(mac);
        neighbour.mac = Some(mac);
        let waited = neighbour.asking.take().map(|asking| asking.1);
        (news || waited.is_some()).then_some((number, waited))
    }

    /// The cycle at which the next work is due; `None` if no packet waits.
    #[must_use]
    pub fn next_due(&self) -> Option<Cycle> {
        let waiting = self.all.iter().filter(|it| it.asking.is_some());
        waiting.map(|it| it.quiet_until).min()
    }

    /// Takes the first item of work that is due. A request counts as sent, and delays the
    /// next one by the retry time.
    pub fn take_due(&mut self, now: Cycle) -> Option<DueWork<P>> {
        let is_due = |it: &Neighbour<P>| it.asking.is_some() && it.quiet_until <= now;
        let number = self.all.iter().position(is_due)?;
        let neighbour = &mut self.all[number];
        let (tries, packet) = neighbour.asking.take()?;
        if tries >= self.tries {
            return Some(DueWork::GiveUp(packet));
        }
        neighbour.asking = Some((tries + 1, packet));
        neighbour.quiet_until = now + self.retry;
        Some(DueWork::Request(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
    const MAC: Mac = [2, 0, 0, 0, 0, 7];

    fn single_neighbour() -> Neighbours<u32> {
        Neighbours::new([(1, HOP)], 1000, 3)
    }

    #[test]
    fn requests_repeat_each_second_then_give_up() {
        let mut hops = single_neighbour();
        assert_eq!(hops.next_due(), None);
        assert_eq!(hops.wait(0, 7), None);
        let mut seen = Vec::new();
        for now in 0..10_000 {
            while let Some(due) = hops.take_due(now) {
                seen.push((now, due));
            }
        }
        let expected = [
            (0, DueWork::Request(0)),
            (1000, DueWork::Request(0)),
            (2000, DueWork::Request(0)),
            (3000, DueWork::GiveUp(7)),
        ];
        assert_eq!(seen, expected);
        assert_eq!(hops.next_due(), None);
    }

    /// Whatever happens, requests are a second apart and at most one packet waits.
    #[test]
    fn request_rate_does_not_depend_on_waiting_packets() {
        let mut hops = single_neighbour();
        let (mut requests, mut displaced, mut given_up) = (Vec::new(), 0, 0);
        for now in 0..10_000 {
            displaced += u32::from(hops.wait(0, now as u32).is_some());
            match hops.take_due(now) {
                Some(DueWork::Request(_)) => requests.push(now),
                Some(DueWork::GiveUp(_)) => given_up += 1,
                None => {}
            }
        }
        assert!(
            requests.windows(2).all(|pair| pair[1] - pair[0] >= 1000),
            "{requests:?}"
        );
        assert!(requests.len() >= 7, "{requests:?}");
        assert_eq!(displaced + given_up, 10_000 - 1);
    }

    #[test]
    fn latest_waiting_packet_is_released_on_resolution() {
        let mut hops = single_neighbour();
        hops.wait(0, 1);
        assert_eq!(hops.wait(0, 2), Some(1));
        assert_eq!(hops.learn(0, HOP, MAC), None, "another port");
        assert_eq!(hops.learn(1, Ipv4Addr::new(10, 1, 0, 3), MAC), None);
        assert_eq!(hops.learn(1, HOP, MAC), Some((0, Some(2))));
        assert_eq!(hops.all()[0].mac, Some(MAC));
        assert_eq!(hops.learn(1, HOP, MAC), None, "no news");
        let other = [2, 0, 0, 0, 0, 8];
        assert_eq!(hops.learn(1, HOP, other), Some((0, None)));
        assert_eq!(hops.take_due(9_999), None);
    }
}
