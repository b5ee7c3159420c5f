//! The routing table: a multi-bit trie with strides 16, 8 and 8, and a table of
//! next hops.

mod changes;
mod fib_writer;
mod rib;
mod task;

use std::collections::BTreeMap;
use std::fmt;

pub use changes::{Change, ChangeError, RouteChange, RoutePrefix};
pub use fib_writer::{FibWriter, Table, TableWrite};
pub use rib::{TableNeeds, needs};
pub use task::Routes;

/// Entries of the root block.
pub const ROOT_ENTRIES: usize = 1 << 16;
/// Entries of a lower block.
pub const BLOCK_ENTRIES: usize = 1 << 8;
/// Longwords of a next hop.
pub const NEXT_HOP_LONGWORDS: usize = 4;
/// Marks an entry that leads to a lower block.
pub(super) const MORE: u32 = 1 << 31;
/// Next-hop flag: the address is the router's own.
pub const LOCAL: u32 = 1;
/// Next-hop flag: packets are discarded.
const DISCARD: u32 = 2;

/// One route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Network address; bits below the prefix length must be zero.
    pub prefix: u32,
    /// Prefix length, 0-32.
    pub length: u8,
    /// Its next hop.
    pub next_hop: NextHop,
}

impl Route {
    /// The prefix that it matches.
    #[must_use]
    pub const fn network(&self) -> RoutePrefix {
        RoutePrefix {
            prefix: self.prefix,
            length: self.length,
        }
    }
}

/// A destination of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NextHop {
    /// Output port.
    pub port: u8,
    /// Largest IP packet, in bytes.
    pub mtu: u16,
    /// Whether the packet is for the router itself.
    pub local: bool,
    /// Whether packets that match the route are discarded.
    pub discard: bool,
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// Source MAC address.
    pub source: [u8; 6],
}

impl NextHop {
    /// The four longwords: MTU, flags and port; then both addresses in network order.
    #[must_use]
    pub fn words(&self) -> [u32; NEXT_HOP_LONGWORDS] {
        let [d0, d1, d2, d3, d4, d5] = self.destination;
        let [s0, s1, s2, s3, s4, s5] = self.source;
        let flags = if self.local { LOCAL } else { 0 } | if self.discard { DISCARD } else { 0 };
        [
            u32::from(self.mtu) << 16 | flags << 8 | u32::from(self.port),
            u32::from_be_bytes([d0, d1, d2, d3]),
            u32::from_be_bytes([d4, d5, s0, s1]),
            u32::from_be_bytes([s2, s3, s4, s5]),
        ]
    }
}

/// Why a routing table cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// The prefix is longer than an address.
    Length(RoutePrefix),
    /// Bits below the prefix length are set.
    HostBits(RoutePrefix),
    /// Two routes have the same prefix and length but different next hops.
    Conflicting(RoutePrefix),
    /// More than 65,535 different next hops.
    TooManyNextHops,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(it) => write!(f, "route {it}: a prefix has at most 32 bits"),
            Self::HostBits(it) => {
                let masked = std::net::Ipv4Addr::from_bits(it.prefix & mask(it.length));
                write!(
                    f,
                    "route {it}: bits after the prefix are set; write {masked}/{}",
                    it.length
                )
            }
            Self::Conflicting(it) => {
                write!(f, "route {it} is given twice with different next hops")
            }
            Self::TooManyNextHops => f.write_str("more than 65,535 different next hops"),
        }
    }
}

impl std::error::Error for RouteError {}

/// The table as stored in SRAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    trie: Vec<u32>,
    next_hops: Vec<u32>,
}

impl RouteTable {
    /// Builds the table; the order of the routes does not matter.
    ///
    /// # Errors
    /// Returns an error if a route is not a valid prefix or contradicts another one.
    pub fn build(routes: &[Route]) -> Result<Self, RouteError> {
        Self::with_next_hops(routes, &[])
    }

    /// Builds the table with next hops that have a place in addition to those of the routes.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Self::build`].
    pub fn with_next_hops(routes: &[Route], reserved: &[NextHop]) -> Result<Self, RouteError> {
        let mut sorted = routes.to_vec();
        for route in &sorted {
            route.network().check()?;
        }
        // Shorter prefixes first: a longer one then overwrites its part.
        sorted.sort_by_key(|r| (r.length, r.prefix));
        for pair in sorted.windows(2) {
            if (pair[0].prefix, pair[0].length) == (pair[1].prefix, pair[1].length)
                && pair[0].next_hop != pair[1].next_hop
            {
                return Err(RouteError::Conflicting(pair[1].network()));
            }
        }
        let hops = Self::numbered(&sorted, reserved)?;
        let mut table = Self {
            trie: vec![0; ROOT_ENTRIES],
            next_hops: vec![0; NEXT_HOP_LONGWORDS],
        };
        table.next_hops.extend(hops.keys().flat_map(NextHop::words));
        for route in &sorted {
            // The map holds every route's next hop.
            if let Some(&index) = hops.get(&route.next_hop) {
                table.insert(route, index.into());
            }
        }
        Ok(table)
    }

    /// The index of each next hop, starting at 1: 0 means "no route".
    fn numbered(
        routes: &[Route],
        reserved: &[NextHop],
    ) -> Result<BTreeMap<NextHop, u16>, RouteError> {
        let mut hops: Vec<NextHop> = routes.iter().map(|r| r.next_hop).collect();
        hops.extend_from_slice(reserved);
        hops.sort_unstable();
        hops.dedup();
        if hops.len() > usize::from(u16::MAX) {
            return Err(RouteError::TooManyNextHops);
        }
        Ok(hops.into_iter().zip(1..).collect())
    }

    fn insert(&mut self, route: &Route, value: u32) {
        let (mut block, mut index, mut consumed) = (0, (route.prefix >> 16) as usize, 16_u8);
        while route.length > consumed {
            block = self.descend(block + index);
            consumed += 8;
            index = (route.prefix >> (32 - consumed) & 0xff) as usize;
        }
        // Routes are sorted by length, so nothing more specific is stored there yet.
        let covered = 1_usize << (consumed - route.length);
        self.trie[block + index..block + index + covered].fill(value);
    }

    /// The block under an entry; created with the entry's value if there is none.
    fn descend(&mut self, entry: usize) -> usize {
        let value = self.trie[entry];
        if value & MORE != 0 {
            return ((value & !MORE) / 4) as usize;
        }
        let block = self.trie.len();
        self.trie.resize(block + BLOCK_ENTRIES, value);
        self.trie[entry] = MORE | (block * 4) as u32;
        block
    }

    /// The trie's longwords: the root block, then the lower ones. Offsets in it are bytes from its
    /// start.
    #[must_use]
    pub fn trie(&self) -> &[u32] {
        &self.trie
    }

    /// The next-hop table's longwords, four for each index; index 0 is unused.
    #[must_use]
    pub fn next_hops(&self) -> &[u32] {
        &self.next_hops
    }

    /// The next-hop index for an address, as the microcode's walk finds it.
    #[must_use]
    pub fn lookup(&self, address: u32) -> Option<u16> {
        let mut entry = self.trie[(address >> 16) as usize];
        let mut shift = 8_u32;
        while entry & MORE != 0 {
            let block = ((entry & !MORE) / 4) as usize;
            entry = self.trie[block + (address >> shift & 0xff) as usize];
            shift = shift.wrapping_sub(8);
        }
        (entry != 0).then_some(entry as u16)
    }
}

const fn mask(length: u8) -> u32 {
    if length == 0 {
        0
    } else {
        u32::MAX << (32 - if length > 32 { 32 } else { length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hop(port: u8) -> NextHop {
        NextHop {
            port,
            mtu: 1500,
            local: false,
            discard: false,
            destination: [2, 0, 0, 0, 0, port],
            source: [2, 0, 0, 0, 1, port],
        }
    }

    fn route(prefix: u32, length: u8, port: u8) -> Route {
        Route {
            prefix: prefix & mask(length),
            length,
            next_hop: hop(port),
        }
    }

    fn port(table: &RouteTable, address: u32) -> Option<u8> {
        let index = table.lookup(address)? as usize;
        Some(table.next_hops()[index * NEXT_HOP_LONGWORDS] as u8)
    }

    #[test]
    fn longest_prefix_wins_at_every_trie_level() {
        let routes = [
            route(0, 0, 1),
            route(0x0a00_0000, 8, 2),
            route(0x0a01_0000, 16, 3),
            route(0x0a01_0200, 24, 4),
            route(0x0a01_0203, 32, 5),
            route(0x0a01_0280, 25, 6),
        ];
        let table = RouteTable::build(&routes).unwrap();
        for (address, want) in [
            (0xffff_ffff, 1),
            (0x0a02_0000, 2),
            (0x0a01_0300, 3),
            (0x0a01_0202, 4),
            (0x0a01_0203, 5),
            (0x0a01_02ff, 6),
        ] {
            assert_eq!(port(&table, address), Some(want), "{address:08x}");
        }
    }

    #[test]
    fn lookup_without_default_route_can_miss() {
        let table = RouteTable::build(&[route(0x0a00_0000, 8, 0)]).unwrap();
        assert_eq!(table.lookup(0x0b00_0000), None);
        assert_eq!(table.lookup(0x0aff_ffff), Some(1));
    }

    #[test]
    fn a_next_hop_is_four_longwords_in_network_order() {
        let hop = NextHop {
            port: 3,
            mtu: 1400,
            local: true,
            discard: false,
            destination: [1, 2, 3, 4, 5, 6],
            source: [7, 8, 9, 10, 11, 12],
        };
        assert_eq!(
            hop.words(),
            [
                1400 << 16 | 1 << 8 | 3,
                0x0102_0304,
                0x0506_0708,
                0x090a_0b0c
            ]
        );
    }

    #[test]
    fn contradictory_routes_are_refused() {
        let bad = Route {
            prefix: 0x0a00_0001,
            length: 8,
            next_hop: hop(0),
        };
        assert_eq!(
            RouteTable::build(&[bad]),
            Err(RouteError::HostBits(bad.network()))
        );
        assert!(
            RouteError::HostBits(bad.network())
                .to_string()
                .contains("write 10.0.0.0/8")
        );
        let long = Route {
            prefix: 0,
            length: 33,
            next_hop: hop(0),
        };
        assert_eq!(
            RouteTable::build(&[long]),
            Err(RouteError::Length(long.network()))
        );
        let twice = [route(0x0a00_0000, 8, 0), route(0x0a00_0000, 8, 1)];
        assert_eq!(
            RouteTable::build(&twice),
            Err(RouteError::Conflicting(twice[1].network()))
        );
        assert!(RouteTable::build(&[twice[0], twice[0]]).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn trie_lookup_agrees_with_a_linear_scan(
            seeds in prop::collection::vec((any::<u32>(), 0_u8..=32, 0_u8..8), 1..60),
            probes in prop::collection::vec(any::<u32>(), 32),
            narrow in any::<bool>(),
        ) {
            let mut routes: Vec<Route> = Vec::new();
            for (prefix, length, port) in seeds {
                // Narrow tables crowd into one /14, so that routes overlap deeply.
                let prefix = if narrow { prefix & 0x0003_ffff } else { prefix };
                let new = route(prefix, length, port);
                if !routes.iter().any(|r| (r.prefix, r.length) == (new.prefix, new.length)) {
                    routes.push(new);
                }
            }
            let table = RouteTable::build(&routes).unwrap();
            let edges = routes.iter().flat_map(|r| [r.prefix, r.prefix | !mask(r.length), r.prefix.wrapping_sub(1)]);
            let probes = probes.iter().map(|p| if narrow { p & 0x0003_ffff } else { *p });
            for address in edges.chain(probes) {
                let best = routes
                    .iter()
                    .filter(|r| address & mask(r.length) == r.prefix)
                    .max_by_key(|r| r.length)
                    .map(|r| r.next_hop.port);
                prop_assert_eq!(port(&table, address), best, "{:08x}", address);
            }
        }
    }
}
