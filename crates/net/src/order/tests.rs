use std::collections::BTreeMap;

use super::*;

fn order_of(numbers: &[u64]) -> OrderMeasures {
    order_within(numbers, THRESHOLD)
}

fn order_within(numbers: &[u64], threshold: u64) -> OrderMeasures {
    let mut left = Sequences::counted();
    for &number in numbers {
        left.note(0, number);
    }
    left.total(threshold)
}

/// Returns duplicate acknowledgements, fast retransmits, third duplicates, episode duplicates, late
/// by three.
fn tcp(order: &OrderMeasures) -> [u64; 5] {
    [
        order.duplicate_acks,
        order.fast_retransmits,
        order.third_duplicates,
        order.episode_duplicates,
        order.late_by_three,
    ]
}

#[test]
fn packets_in_order_have_zero_counts() {
    for numbers in [vec![], vec![7], (0..1000).collect(), vec![3, 5, 6, 20]] {
        let order = order_of(&numbers);
        assert_eq!(order.packets, numbers.len() as u64);
        assert_eq!(tcp(&order), [0; 5]);
        assert!(order.is_in_order());
        assert!(order.degrees.is_empty());
        assert!(
            order
                .displacements
                .keys()
                .all(|&displacement| displacement == 0)
        );
        assert!(order.held.keys().all(|&held| held == 0));
    }
}

#[test]
fn retransmission_counters_differ() {
    // One packet behind four others: a fast retransmit, then one more repetition.
    assert_eq!(tcp(&order_of(&[1, 2, 3, 4, 0])), [4, 1, 2, 2, 1]);
    // Reversed: only the last one is expected, four are late, two of them by at least three.
    assert_eq!(tcp(&order_of(&[4, 3, 2, 1, 0])), [4, 1, 2, 2, 2]);
    // Two holes, each filled after three packets.
    assert_eq!(tcp(&order_of(&[1, 2, 3, 0, 5, 6, 7, 4])), [6, 2, 2, 2, 2]);
    // Two packets behind three: filling the first hole restarts the count.
    assert_eq!(tcp(&order_of(&[2, 3, 4, 0, 1])), [3, 1, 1, 1, 2]);
    assert_eq!(tcp(&order_of(&[2, 3, 4, 1, 0])), [4, 1, 2, 2, 2]);
    // A hole of two: when its first half arrives, the receiver acknowledges it, and the sender's
    // count restarts although something is still missing.
    assert_eq!(tcp(&order_of(&[2, 3, 0, 4, 5, 1])), [4, 0, 0, 2, 1]);
    // Swapped pairs never repeat an acknowledgement twice.
    assert_eq!(tcp(&order_of(&[1, 0, 3, 2, 5, 4])), [3, 0, 0, 0, 0]);
}

#[test]
fn loss_is_not_reordering() {
    let order = order_of(&[0, 1, 5, 6, 9]);
    assert_eq!((order.missing, order.duplicate_acks), (Some(5), 0));
    let lossy = order_of(&[10, 30, 40, 20, 50]);
    let whole = order_of(&[0, 2, 3, 1, 4]);
    assert_eq!(lossy.missing, Some(46));
    assert_eq!(
        OrderMeasures {
            missing: Some(0),
            ..lossy
        },
        whole
    );
    let mut left = Sequences::counted();
    left.note('a', 3);
    left.entered('a', 10);
    left.entered('b', 4);
    let order = left.total(THRESHOLD);
    assert_eq!(
        (order.missing, order.flows, order.packets),
        (Some(13), 1, 1)
    );
    let mut left = Sequences::ordered();
    left.note(0, 10);
    assert_eq!(left.total(THRESHOLD).missing, None);
}

#[test]
fn duplicates_are_skipped() {
    let order = order_of(&[0, 1, 1, 0, 2, 4, 3, 4, 4]);
    assert_eq!((order.packets, order.duplicates), (5, 4));
    assert_eq!(tcp(&order), [1, 0, 0, 0, 0]);
    assert_eq!(order.reordered, 1);
}

#[test]
fn extents_and_degrees_follow_rfc_4737() {
    // A packet late by three, all three directly before it being later ones.
    let order = order_of(&[0, 1, 2, 4, 5, 6, 3, 7]);
    assert_eq!((order.reordered, order.extents.largest), (1, 3));
    assert_eq!(order.degrees, BTreeMap::from([(3, 1)]));
    // Two late packets: the second one directly follows an earlier one.
    let order = order_of(&[0, 3, 4, 1, 2, 5]);
    assert_eq!(order.reordered, 2);
    assert_eq!(order.extents, Extents { largest: 3, sum: 5 });
    assert_eq!(order.degrees, BTreeMap::from([(0, 1), (2, 1)]));
}

#[test]
fn the_reorder_density_of_a_late_packet() {
    let order = order_of(&[0, 1, 3, 4, 2, 5]);
    let expected = BTreeMap::from([(-1, 2), (0, 3), (2, 1)]);
    assert_eq!(order.displacements, expected);
    assert_eq!(order.held, BTreeMap::from([(0, 4), (1, 1), (2, 1)]));
    // Beyond the threshold it counts as lost, and the others are in order.
    let order = order_within(&[0, 1, 3, 4, 2, 5], 1);
    assert_eq!(order.displacements, BTreeMap::from([(0, 5)]));
    assert_eq!(order.displaced_beyond, 1);
}

#[test]
fn packet_beyond_the_threshold_counts_as_lost() {
    let mut numbers: Vec<u64> = (0..20).filter(|&n| n != 15).collect();
    numbers.insert(2, 15);
    let order = order_within(&numbers, 3);
    assert_eq!(order.displaced_beyond, 1);
    assert_eq!(order.displacements, BTreeMap::from([(0, 19)]));
}

#[test]
fn uncounted_packets_still_affect_later_ones() {
    let mut left = Sequences::counted();
    for number in [0, 2, 3, 4] {
        left.note(0, number);
    }
    left.note(1, 0);
    left.start_counting();
    for number in [1, 6, 5, 6] {
        left.note(0, number);
    }
    left.note(2, 0);
    let order = left.total(THRESHOLD);
    // 1 is late by three packets that do not count themselves; flow 1 has no packet that counts.
    assert_eq!((order.flows, order.packets, order.duplicates), (2, 4, 1));
    assert_eq!((order.reordered, order.reordered_flows), (2, 1));
    assert_eq!(tcp(&order), [1, 0, 0, 0, 1]);
    assert_eq!(order.displacements.values().sum::<u64>(), 4);
    assert_eq!(order.held.values().sum::<u64>(), 4);
}

#[test]
fn flow_counts_add_up_to_the_total() {
    let mut left = Sequences::counted();
    for (flow, number) in [(0, 1), (1, 0), (0, 0), (1, 1), (2, 2), (2, 0)] {
        left.note(flow, number);
    }
    let orders: Vec<OrderMeasures> = left.by_flow(THRESHOLD).map(|(_, order)| order).collect();
    assert_eq!(orders.len(), 3);
    let mut sum = OrderMeasures {
        missing: Some(0),
        ..OrderMeasures::default()
    };
    for order in &orders {
        sum.add(order);
    }
    assert_eq!(left.total(THRESHOLD), sum);
    assert_eq!(
        (sum.flows, sum.reordered_flows, sum.missing),
        (3, 2, Some(1))
    );
    let first = left.total_where(THRESHOLD, |&flow| flow == 0);
    assert_eq!(first, orders[0]);
    assert_eq!(first.percent(first.duplicate_acks), Some(50.0));
    assert_eq!(OrderMeasures::default().percent(0), None);
}

#[test]
fn counter_names_round_trip() {
    for counter in Counter::ALL {
        assert_eq!(counter.name().parse(), Ok(counter));
        let json = serde_json::to_value(counter).unwrap();
        assert_eq!(json, counter.name());
    }
    let error = "late".parse::<Counter>().unwrap_err();
    assert!(error.contains("late-by-three"), "{error}");
}

#[test]
fn order_measures_round_trip_through_json() {
    let order = order_of(&[0, 3, 4, 1, 2, 5]);
    let text = serde_json::to_string(&order).unwrap();
    assert_eq!(serde_json::from_str::<OrderMeasures>(&text).unwrap(), order);
}
