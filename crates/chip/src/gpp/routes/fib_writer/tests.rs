//! Readers during the writes of changes, compared with a linear search in a list of routes.

use super::*;
use crate::gpp::routes::changes::RouteChange;
use crate::gpp::routes::rib::needs;
use crate::gpp::routes::{NextHop, Route, RouteTable};

/// Pseudo-random numbers: 64-bit xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) as u32) % bound
    }
}

/// Every version of a route has its own next hop, so that a stale one is detected.
fn hop(number: u32) -> NextHop {
    let [a, b, c, d] = number.to_be_bytes();
    NextHop {
        port: d % 8,
        mtu: 1500,
        local: false,
        discard: false,
        destination: [2, 0, a, b, c, d],
        source: [2, 1, a, b, c, d],
    }
}

fn router(routes: &[Route]) -> RouterRoutes {
    RouterRoutes::new(routes.to_vec(), Vec::new()).unwrap()
}

/// Routes as a list.
#[derive(Clone, Default)]
struct List(Vec<Route>);

impl List {
    fn best(&self, address: u32) -> Option<NextHop> {
        let matching = self.0.iter().filter(|route| {
            route.length == 0 || (address ^ route.prefix) >> (32 - u32::from(route.length)) == 0
        });
        let best = matching.max_by_key(|route| route.length);
        best.map(|route| route.next_hop)
    }

    fn make(&mut self, change: &Change) {
        let network = change.network();
        self.0.retain(|route| route.network() != network);
        if let Change::Add(route) | Change::Redirect(route) = change {
            self.0.push(*route);
        }
    }

    /// A change that can be made. Routes are dense, so that they nest, and few, so that blocks come
    /// and go.
    fn change(&self, random: &mut Random, version: u32) -> Change {
        let next_hop = hop(version);
        if random.below(10) < self.0.len() as u32 {
            let old = self.0[random.below(self.0.len() as u32) as usize];
            return match random.below(3) {
                0 => Change::Redirect(Route { next_hop, ..old }),
                _ => Change::Remove(old.network()),
            };
        }
        let lengths = [9, 12, 15, 16, 17, 20, 23, 24, 25, 28, 31, 32, 32, 24];
        let length = match random.below(1000) {
            0 => 0,
            other => lengths[other as usize % lengths.len()],
        };
        let address = 0x0a00_0000 | random.below(4) << 16 | random.below(3) << 8;
        let address = address | random.below(8) << 5 | random.below(3);
        let prefix = address & mask(length);
        let network = RoutePrefix { prefix, length };
        let route = Route {
            prefix,
            length,
            next_hop,
        };
        if self.0.iter().any(|it| it.network() == network) {
            Change::Redirect(route)
        } else {
            Change::Add(route)
        }
    }
}

/// The contents of SRAM.
struct Memory {
    trie: Vec<u32>,
    hops: Vec<u32>,
}

impl Memory {
    fn make(&mut self, write: &TableWrite) {
        let table = match write.table {
            Table::Trie => &mut self.trie,
            Table::NextHops => &mut self.hops,
        };
        table[write.first..write.first + write.words().len()].copy_from_slice(write.words());
    }
}

/// A lookup in progress.
struct Reader {
    address: u32,
    /// The next entry to read, and the address bits after it.
    at: usize,
    left: u32,
    /// The routes before and after every change since it began.
    ways: Vec<Option<NextHop>>,
}

impl Reader {
    fn new(address: u32, ways: Vec<Option<NextHop>>) -> Self {
        let (at, left) = ((address >> 16) as usize, 16);
        Self {
            address,
            at,
            left,
            ways,
        }
    }

    /// Reads an entry. If that was the last, returns the next hop's longwords or nothing.
    fn step<'a>(&mut self, memory: &'a Memory) -> Option<&'a [u32]> {
        let entry = memory.trie[self.at];
        if entry & MORE == 0 || self.left == 0 {
            let first = entry as u16 as usize * NEXT_HOP_LONGWORDS;
            let words = memory.hops.get(first..first + NEXT_HOP_LONGWORDS);
            return Some(if entry == 0 {
                &[]
            } else {
                words.unwrap_or(&[0])
            });
        }
        self.left -= 8;
        let byte = (self.address >> self.left & 0xff) as usize;
        self.at = ((entry & !MORE) / 4) as usize + byte;
        None
    }

    /// Whether the result is a route before or after one of the changes.
    fn is_right(&self, found: &[u32]) -> bool {
        let mut ways = self.ways.iter();
        ways.any(|way| match way {
            None => found.is_empty(),
            Some(hop) => found == hop.words(),
        })
    }
}

/// Deliberate mistakes.
#[derive(Clone, Copy, PartialEq)]
enum InjectedBug {
    Nothing,
    /// Makes the writes of a change from last to first.
    Reversed,
    /// Reuses blocks while readers are in them.
    NoGrace,
}

/// A reader that advances; the first few are slow.
fn pick(random: &mut Random, readers: u32) -> u32 {
    let slow = readers.min(4);
    if slow == readers || random.below(64) == 0 {
        random.below(readers)
    } else {
        slow + random.below(readers - slow)
    }
}

/// Makes changes while readers walk. Returns how many lookups ended, and how many of them with a
/// route that never existed.
fn look_up_during_changes(plant: InjectedBug, changes: u32, seed: u64) -> (u64, u64) {
    let (mut random, mut list) = (Random(seed), List::default());
    // Few blocks, so that they are reused at once.
    let room = 8;
    let mut fib = FibWriter::new(&router(&[]), room).unwrap();
    let mut memory = Memory {
        trie: fib.trie().to_vec(),
        hops: vec![0; (changes as usize + 2) * NEXT_HOP_LONGWORDS],
    };
    let (mut readers, mut writes) = (Vec::<Reader>::new(), Vec::new());
    let (mut ended, mut wrong) = (0, 0);
    for version in 1..=changes {
        let change = list.change(&mut random, version);
        let takes = fib.takes(&change);
        if takes > fib.free_blocks() {
            continue;
        }
        if takes > 0 && plant != InjectedBug::NoGrace {
            // The grace time passes.
            for mut reader in readers.drain(..) {
                let found = loop {
                    if let Some(found) = reader.step(&memory) {
                        break found;
                    }
                };
                ended += 1;
                wrong += u64::from(!reader.is_right(found));
            }
        }
        writes.clear();
        fib.apply(&change, &mut writes).unwrap();
        let before = list.clone();
        list.make(&change);
        for reader in &mut readers {
            reader.ways.push(list.best(reader.address));
        }
        if plant == InjectedBug::Reversed {
            writes.reverse();
        }
        for write in &writes {
            for _ in 0..random.below(4) {
                if readers.len() < 12 {
                    // Half of the lookups go where the change is.
                    let network = change.network();
                    let any = 0x0a00_0000 | random.below(1 << 18);
                    let inside = network.prefix | any & !mask(network.length);
                    let address = if random.below(2) == 0 { any } else { inside };
                    let ways = vec![before.best(address), list.best(address)];
                    readers.push(Reader::new(address, ways));
                }
                let one = pick(&mut random, readers.len() as u32) as usize;
                if let Some(found) = readers[one].step(&memory) {
                    ended += 1;
                    wrong += u64::from(!readers[one].is_right(found));
                    readers.swap_remove(one);
                }
            }
            memory.make(write);
        }
        assert!(version % 64 > 0 || memory.trie == fib.trie(), "{change:?}");
    }
    let table = RouteTable::build(&list.0).unwrap();
    let in_table = (table.trie().len() - ROOT_ENTRIES) / BLOCK_ENTRIES;
    assert_eq!((fib.blocks(), fib.routes()), (in_table, list.0.len()));
    assert_eq!(fib.blocks() + fib.free_blocks(), room);
    (ended, wrong)
}

#[test]
fn lookups_during_route_changes_find_old_or_new_route() {
    let (ended, wrong) = look_up_during_changes(InjectedBug::Nothing, 20_000, 0x5eed);
    assert!(ended > 100_000, "{ended} lookups are too few");
    assert_eq!(wrong, 0, "of {ended}");
}

#[test]
fn reversed_write_order_exposes_half_written_entries() {
    let (ended, wrong) = look_up_during_changes(InjectedBug::Reversed, 2_000, 0x5eed);
    assert!(wrong > 10, "{wrong} of {ended}");
}

#[test]
fn missing_grace_time_exposes_reused_entries() {
    let (ended, wrong) = look_up_during_changes(InjectedBug::NoGrace, 20_000, 0x5eed);
    assert!(wrong > 10, "{wrong} of {ended}");
}

#[test]
fn invalid_route_changes_are_refused_with_their_index() {
    let route = |prefix, length, number| Route {
        prefix,
        length,
        next_hop: hop(number),
    };
    let at = |at, change| RouteChange { at, change };
    let first = [route(0x0a00_0000, 8, 1)];
    let deep = route(0x0a01_0203, 32, 2);
    let gone = Change::Remove(deep.network());
    let good = [at(5, Change::Add(deep)), at(5, gone)];
    let found = needs(&router(&first), &good, 2).unwrap();
    assert_eq!(
        (
            found.initial_blocks,
            found.peak_blocks,
            found.blocks_without_reuse,
            found.next_hops
        ),
        (0, 2, 2, 2)
    );
    let text = |changes: &[RouteChange], room| {
        let (place, error) = needs(&router(&first), changes, room).unwrap_err();
        format!("{place}: {error}")
    };
    assert_eq!(
        text(&good, 1),
        "0: the routing table is full: 2 blocks would be in use, and there are 1"
    );
    assert_eq!(
        text(&[good[0], good[1], good[1]], 2),
        "2: there is no route 10.1.2.3/32 at that time"
    );
    assert_eq!(
        text(&[good[0], good[0]], 2),
        "1: the route 10.1.2.3/32 already exists"
    );
    assert_eq!(
        text(&[good[0], at(4, gone)], 2),
        "1: the change comes before the one in front of it"
    );
    let bits = Change::Add(route(0x0a01_0203, 24, 2));
    assert!(text(&[at(5, bits)], 2).contains("write 10.1.2.0/24"));
}
