//! How late packets leave, counted in packets of their flow, while they leave.
//!
//! A packet is reordered if one of its flow that came after it left before it. Its extent
//! is how many packets of the flow left from the first of those on until it left itself:
//! the definition of the statistics on order. Kept is only what a packet
//! that is still inside can be compared with.

use std::collections::{BTreeMap, VecDeque};

/// The departures of a flow that a packet inside may be behind.
#[derive(Debug, Default)]
struct Trail {
    /// Packets that left.
    left: u64,
    /// Packets that are inside.
    inside: u64,
    /// The packets that left with a number above all before them, and how many left before each.
    records: VecDeque<(u64, u64)>,
}

/// The flows that have packets inside.
#[derive(Debug, Default)]
pub(super) struct FlowOrder {
    flows: BTreeMap<String, Trail>,
}

impl FlowOrder {
    /// A packet of a flow has come.
    pub fn came(&mut self, flow: &str) {
        if let Some(trail) = self.flows.get_mut(flow) {
            trail.inside += 1;
        } else {
            let trail = Trail {
                inside: 1,
                ..Trail::default()
            };
            self.flows.insert(flow.to_owned(), trail);
        }
    }

    /// A packet leaves; gives its extent, 0 where it is in order. `oldest` is the number
    /// of the oldest packet that is inside, of any flow.
    pub fn leaves(&mut self, flow: &str, number: u64, oldest: u64) -> u64 {
        let Some(trail) = self.flows.get_mut(flow) else {
            return 0;
        };
        while trail.records.front().is_some_and(|it| it.0 < oldest) {
            trail.records.pop_front();
        }
        let above = trail.records.partition_point(|it| it.0 < number);
        let place = trail.left;
        trail.left += 1;
        if let Some(first) = trail.records.get(above) {
            return place - first.1;
        }
        trail.records.push_back((number, place));
        0
    }

    /// A packet has come to its end.
    pub fn ended(&mut self, flow: &str) {
        if let Some(trail) = self.flows.get_mut(flow) {
            trail.inside = trail.inside.saturating_sub(1);
            if trail.inside == 0 {
                // What comes later has a higher number than all that left.
                self.flows.remove(flow);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FlowOrder;

    #[test]
    fn the_extent_counts_from_the_first_that_overtook() {
        let mut order = FlowOrder::default();
        for _ in 0..7 {
            order.came("a");
        }
        let mut extents = Vec::new();
        for number in [0, 2, 3, 5, 1, 6, 4] {
            extents.push(order.leaves("a", number, 1.min(number)));
        }
        assert_eq!(extents, [0, 0, 0, 0, 3, 0, 3]);
    }

    #[test]
    fn flow_without_packets_inside_is_forgotten() {
        let mut order = FlowOrder::default();
        for number in 0..1000 {
            order.came("a");
            order.came("b");
            assert_eq!(order.leaves("a", 2 * number, 2 * number), 0);
            order.ended("a");
            assert_eq!(order.leaves("b", 2 * number + 1, 2 * number + 1), 0);
            order.ended("b");
        }
        assert!(order.flows.is_empty());
    }
}
