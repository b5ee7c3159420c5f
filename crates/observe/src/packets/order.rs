//! How late packets leave, counted in packets of their flow and computed as they leave.
//!
//! A packet is reordered if a later packet of its flow left before it. Its extent is the number of
//! packets of the flow that left from the first such packet until it left itself, as defined in the
//! statistics on order. Only departures that a packet still inside can be compared with are kept.

use std::collections::{BTreeMap, VecDeque};

/// The departures of a flow that a packet inside may be later than.
#[derive(Debug, Default)]
struct Trail {
    /// Number of packets that left.
    left: u64,
    /// Number of packets that are inside.
    inside: u64,
    /// The packets that left with a number above all earlier ones, and how many left before each.
    records: VecDeque<(u64, u64)>,
}

/// The flows that have packets inside.
#[derive(Debug, Default)]
pub(super) struct FlowOrder {
    flows: BTreeMap<String, Trail>,
}

impl FlowOrder {
    /// Counts the arrival of a packet.
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

    /// Counts the departure of a packet and returns its extent, 0 if it is in order. `oldest` is
    /// the number of the oldest packet inside, of any flow.
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

    /// Notes that a packet has reached its end.
    pub fn ended(&mut self, flow: &str) {
        if let Some(trail) = self.flows.get_mut(flow) {
            trail.inside = trail.inside.saturating_sub(1);
            if trail.inside == 0 {
                // Later arrivals have higher numbers than all that left.
                self.flows.remove(flow);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FlowOrder;

    #[test]
    fn reordering_extent_counts_from_the_first_overtaking_packet() {
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
    fn flows_without_packets_in_flight_are_removed() {
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
