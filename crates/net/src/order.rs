//! Packet order: metrics of the reordering of flows, all of them integers.
//!
//! [`Sequences`] records every packet that leaves, with its flow and its sequence number, which is its
//! position in the order in which the packets of its flow entered. The source of these numbers is separate
//! ([`identify`]).
//!
//! Reordering is judged apart from loss. Packets that never left are removed from the order first: each
//! number is replaced by its rank among the numbers of its flow that left, so a lost packet makes no other
//! one early. A number that leaves again is a duplicate, which is counted and otherwise ignored.
//!
//! ```
//! use npsim_net::order::{Sequences, THRESHOLD};
//!
//! let mut left = Sequences::counted();
//! for sequence in [0, 2, 3, 5, 1, 6] {
//!     left.note("a flow", sequence);
//! }
//! let order = left.total(THRESHOLD);
//! // 4 never left; 2, 3 and 5 come before 1, which is then three packets late.
//! assert_eq!((order.packets, order.missing), (6, Some(1)));
//! assert_eq!((order.duplicate_acks, order.fast_retransmits), (3, 1));
//! assert_eq!((order.reordered, order.extents.largest), (1, 3));
//! ```

mod acknowledged;
mod density;
pub mod identify;
mod measures;
mod overtaken;

use std::collections::BTreeMap;

pub use measures::{Counter, Extents, OrderMeasures};

/// Default displacement threshold of the reorder density: one packet for each context of a chip with eight
/// microengines.
pub const THRESHOLD: u64 = 64;

/// The packets that left, by flow, in the order of departure.
#[derive(Clone, Debug)]
pub struct Sequences<F> {
    flows: BTreeMap<F, DepartedPackets>,
    counted: bool,
}

/// The packets of one flow that left.
#[derive(Clone, Debug, Default)]
struct DepartedPackets {
    /// Sequence numbers of the packets.
    numbers: Vec<u64>,
    /// Number of packets, from the first, that are not counted.
    history: usize,
    /// Number of packets that entered, if known.
    entered: Option<u64>,
}

impl<F: Ord> Sequences<F> {
    /// Creates sequences whose numbers count the packets of a flow from 0, so that an absent number means a
    /// missing packet.
    #[must_use]
    pub const fn counted() -> Self {
        Self {
            flows: BTreeMap::new(),
            counted: true,
        }
    }

    /// Creates sequences whose numbers only define an order, such as those of TCP. Missing packets are then
    /// unknown.
    #[must_use]
    pub const fn ordered() -> Self {
        Self {
            flows: BTreeMap::new(),
            counted: false,
        }
    }

    /// Records that a packet left.
    pub fn note(&mut self, flow: F, sequence: u64) {
        let trail = self.flows.entry(flow).or_default();
        trail.numbers.push(sequence);
    }

    /// Records how many packets of a flow entered. Without it, packets after the last one that left do not
    /// count as missing.
    pub fn entered(&mut self, flow: F, packets: u64) {
        self.flows.entry(flow).or_default().entered = Some(packets);
    }

    /// Counts packets only from here on. Later packets are still compared with those before, so that a cut
    /// through a flow makes no packet early or late; missing packets are counted over the whole time.
    pub fn start_counting(&mut self) {
        for trail in self.flows.values_mut() {
            trail.history = trail.numbers.len();
        }
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Returns the order of each flow. `threshold` is the displacement beyond which the reorder density
    /// considers a packet lost.
    pub fn by_flow(&self, threshold: u64) -> impl Iterator<Item = (&F, OrderMeasures)> {
        let counted = self.counted;
        let flows = self.flows.iter();
        flows.map(move |(flow, trail)| (flow, trail.order(counted, threshold)))
    }

    /// Returns the order of all flows together.
    #[must_use]
    pub fn total(&self, threshold: u64) -> OrderMeasures {
        self.total_where(threshold, |_| true)
    }

    /// Returns the order of the chosen flows together.
    #[must_use]
    pub fn total_where(&self, threshold: u64, mut chosen: impl FnMut(&F) -> bool) -> OrderMeasures {
        let mut total = OrderMeasures {
            missing: self.counted.then_some(0),
            ..OrderMeasures::default()
        };
        for (flow, trail) in &self.flows {
            if chosen(flow) {
                total.add(&trail.order(self.counted, threshold));
            }
        }
        total
    }
}

impl DepartedPackets {
    fn order(&self, counted: bool, threshold: u64) -> OrderMeasures {
        let (ranks, duplicates, first) = self.ranks();
        let packets = (ranks.len() - first) as u64;
        let mut order = OrderMeasures {
            flows: u64::from(packets > 0),
            packets,
            duplicates,
            missing: counted.then(|| self.missing(ranks.len() as u64)),
            ..OrderMeasures::default()
        };
        acknowledged::count(&ranks, first, &mut order);
        overtaken::count(&ranks, first, &mut order);
        density::count(&ranks, first, threshold, &mut order);
        order.reordered_flows = u64::from(order.reordered > 0);
        order
    }

    fn missing(&self, left: u64) -> u64 {
        let above = self
            .numbers
            .iter()
            .max()
            .map_or(0, |&n| n.saturating_add(1));
        self.entered.unwrap_or(above).saturating_sub(left)
    }

    /// Returns the numbers replaced by their ranks, without duplicates; how many duplicates count; and the
    /// first index among the ranks that counts.
    fn ranks(&self) -> (Vec<usize>, u64, usize) {
        let mut sorted: Vec<(u64, usize)> = self.numbers.iter().copied().zip(0..).collect();
        // Equal numbers stay in order of departure, so the first of them is not a duplicate.
        sorted.sort_unstable();
        let mut by_place = vec![None; self.numbers.len()];
        let mut rank = 0;
        let mut last = None;
        for (number, place) in sorted {
            if last != Some(number) {
                by_place[place] = Some(rank);
                rank += 1;
                last = Some(number);
            }
        }
        let (before, counting) = by_place.split_at(self.history);
        let duplicates = counting.iter().filter(|rank| rank.is_none()).count();
        let first = before.iter().flatten().count();
        let ranks = by_place.into_iter().flatten().collect();
        (ranks, duplicates as u64, first)
    }
}

#[cfg(test)]
mod tests;
