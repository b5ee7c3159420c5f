//! In which order the packets of flows left: metrics of reordering, all of them integers.
//!
//! [`Sequences`] records every packet that leaves, with its flow and its sequence number, which is its
//! place in the order in which the packets of its flow entered. It is pure: where the numbers come from
//! ([`identify`]) is another matter.
//!
//! Order is judged apart from loss. Packets that never left are taken out of the order first: each number
//! is replaced by its rank among those of its flow that left, so a lost packet makes no other one early.
//! A number that leaves again is a duplicate, which is counted and else passed over.
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

/// The displacement threshold of the reorder density if nothing else is said: one packet for each context
/// of a chip with eight microengines.
pub const THRESHOLD: u64 = 64;

/// The packets that left, flow by flow in their order.
#[derive(Clone, Debug)]
pub struct Sequences<F> {
    flows: BTreeMap<F, DepartedPackets>,
    counted: bool,
}

/// The packets of one flow that left.
#[derive(Clone, Debug, Default)]
struct DepartedPackets {
    /// The packets' sequence numbers.
    numbers: Vec<u64>,
    /// How many of them, from the first, are not counted.
    history: usize,
    /// How many entered, if that is known.
    entered: Option<u64>,
}

impl<F: Ord> Sequences<F> {
    /// For sequence numbers that count the packets of a flow from 0, so that a number which is not there is
    /// a packet that is missing.
    #[must_use]
    pub const fn counted() -> Self {
        Self {
            flows: BTreeMap::new(),
            counted: true,
        }
    }

    /// For sequence numbers that only tell an order, such as those of TCP. Nothing is known of missing
    /// packets then.
    #[must_use]
    pub const fn ordered() -> Self {
        Self {
            flows: BTreeMap::new(),
            counted: false,
        }
    }

    /// A packet left.
    pub fn note(&mut self, flow: F, sequence: u64) {
        let trail = self.flows.entry(flow).or_default();
        trail.numbers.push(sequence);
    }

    /// Notes how many packets of a flow entered. Without it, packets after the last one that left
    /// are not known to be missing.
    pub fn entered(&mut self, flow: F, packets: u64) {
        self.flows.entry(flow).or_default().entered = Some(packets);
    }

    /// From here on packets count. Those before are still what later ones are compared with, so that a cut
    /// through a flow makes no packet early or late; missing packets are those of all the time.
    pub fn count_from_here(&mut self) {
        for trail in self.flows.values_mut() {
            trail.history = trail.numbers.len();
        }
    }

    /// Whether nothing was noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The order of each flow, by flow. `threshold` is the displacement from which on the reorder density
    /// takes a packet for lost.
    pub fn by_flow(&self, threshold: u64) -> impl Iterator<Item = (&F, OrderMeasures)> {
        let counted = self.counted;
        let flows = self.flows.iter();
        flows.map(move |(flow, trail)| (flow, trail.order(counted, threshold)))
    }

    /// The orders of all flows together.
    #[must_use]
    pub fn total(&self, threshold: u64) -> OrderMeasures {
        self.total_of(threshold, |_| true)
    }

    /// The orders of some flows together.
    #[must_use]
    pub fn total_of(&self, threshold: u64, mut chosen: impl FnMut(&F) -> bool) -> OrderMeasures {
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

    /// The numbers replaced by their ranks, without duplicates; how many duplicates count; and the first
    /// place among the ranks that counts.
    fn ranks(&self) -> (Vec<usize>, u64, usize) {
        let mut sorted: Vec<(u64, usize)> = self.numbers.iter().copied().zip(0..).collect();
        // Equal numbers stay in the order in which they left, so the first of them is no duplicate.
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
