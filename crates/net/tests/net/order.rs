//! Metrics of order against their definitions, written down as plainly as possible.

use std::collections::{BTreeMap, BTreeSet};

use npsim_net::order::identify::{EnteredFramesBuilder, TcpSegments, Tuple, stamped_flow};
use npsim_net::order::{Extents, OrderMeasures, Sequences};
use proptest::prelude::*;

fn measured(numbers: &[u64], threshold: u64) -> OrderMeasures {
    let mut left = Sequences::counted();
    for &number in numbers {
        left.note((), number);
    }
    left.total(threshold)
}

/// The first packet with each number, in order.
fn without_duplicates(numbers: &[u64]) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let firsts = numbers.iter().copied();
    firsts.filter(|&number| seen.insert(number)).collect()
}

fn ranked(numbers: &[u64]) -> Vec<u64> {
    let rank = |number| numbers.iter().filter(|&&other| other < number).count() as u64;
    numbers.iter().map(|&number| rank(number)).collect()
}

/// A receiver with its set of held-back packets, and its sender.
#[derive(Default)]
struct Receiver {
    next: u64,
    held: BTreeSet<u64>,
    duplicates: u64,
}

impl Receiver {
    /// How often the acknowledgement that this packet causes was sent before in a row; 0 for a new one.
    fn receive(&mut self, number: u64) -> u64 {
        self.held.insert(number);
        self.duplicates += 1;
        while self.held.remove(&self.next) {
            self.next += 1;
            self.duplicates = 0;
        }
        self.duplicates
    }
}

/// Receive indices as assigned by RFC 5236, by searching lists: the packet expected at the window's head gets the next
/// index whose packet is in the window or in the buffer.
fn density(ranks: &[u64], threshold: u64) -> (BTreeMap<i64, u64>, u64) {
    let mut counts = BTreeMap::new();
    let mut beyond = 0;
    let mut waiting: Vec<u64> = ranks.iter().rev().copied().collect();
    let mut buffer: Vec<u64> = Vec::new();
    let mut index = 0;
    while let Some(&head) = waiting.last() {
        let mut window = waiting.iter().rev().take(threshold as usize + 1);
        let is_there = window.any(|&number| number == index) || buffer.contains(&index);
        if !is_there && index < ranks.len() as u64 {
            index += 1;
            continue;
        }
        waiting.pop();
        if index.abs_diff(head) > threshold {
            beyond += 1;
            continue;
        }
        *counts.entry(index as i64 - head as i64).or_default() += 1;
        buffer.retain(|&number| number != index);
        if head > index {
            buffer.push(head);
        }
        index += 1;
    }
    (counts, beyond)
}

fn model(numbers: &[u64], threshold: u64) -> OrderMeasures {
    let distinct = without_duplicates(numbers);
    let ranks = ranked(&distinct);
    let (displacements, displaced_beyond) = density(&ranks, threshold);
    let largest = numbers.iter().max().map_or(0, |&number| number + 1);
    let mut order = OrderMeasures {
        flows: u64::from(!ranks.is_empty()),
        packets: distinct.len() as u64,
        duplicates: (numbers.len() - distinct.len()) as u64,
        missing: Some(largest - distinct.len() as u64),
        displacements,
        displaced_beyond,
        ..OrderMeasures::default()
    };
    let mut receiver = Receiver::default();
    let mut episode = 0;
    for (place, &rank) in ranks.iter().enumerate() {
        let repeated = receiver.receive(rank);
        order.duplicate_acks += u64::from(repeated > 0);
        order.fast_retransmits += u64::from(repeated == 3);
        order.third_duplicates += u64::from(repeated > 2);
        episode = match (repeated, receiver.held.is_empty()) {
            (0, true) => 0,
            (0, false) => episode,
            _ => episode + 1,
        };
        order.episode_duplicates += u64::from(repeated > 0 && episode > 2);
        *order.held.entry(receiver.held.len() as u64).or_default() += 1;
        let before = &ranks[..place];
        let later = before.iter().filter(|&&other| other > rank).count();
        order.late_by_three += u64::from(later >= 3);
        let Some(first) = before.iter().position(|&other| other > rank) else {
            continue;
        };
        order.reordered += 1;
        let extent = (place - first) as u64;
        order.extents = Extents {
            largest: order.extents.largest.max(extent),
            sum: order.extents.sum + extent,
        };
        let run = before.iter().rev().take_while(|&&other| other > rank);
        *order.degrees.entry(run.count() as u64).or_default() += 1;
    }
    order.reordered_flows = u64::from(order.reordered > 0);
    order
}

/// The reordering of a chip with several contexts: each packet gets a delay, and packets leave in the order in which
/// they are done.
fn delayed() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0u64..12, 0..120).prop_map(|delays| {
        let mut done: Vec<(u64, u64)> = (0..)
            .zip(&delays)
            .map(|(number, delay)| (number + delay, number))
            .collect();
        done.sort_unstable();
        done.into_iter().map(|(_, number)| number).collect()
    })
}

/// All orders of up to 40 packets.
fn shuffled() -> impl Strategy<Value = Vec<u64>> {
    (0u64..40).prop_flat_map(|packets| Just((0..packets).collect::<Vec<_>>()).prop_shuffle())
}

/// Any numbers: with losses and duplicates.
fn any_numbers() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0u64..50, 0..60)
}

fn any_order() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![delayed(), shuffled(), any_numbers()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn metrics_match_their_definitions(numbers in any_order(), threshold in 0u64..20) {
        prop_assert_eq!(measured(&numbers, threshold), model(&numbers, threshold));
    }

    #[test]
    fn losses_do_not_change_the_order_of_the_others(
        numbers in delayed(),
        lost in prop::collection::vec(any::<bool>(), 120),
    ) {
        let left: Vec<u64> =
            numbers.iter().copied().filter(|&number| !lost[number as usize]).collect();
        let whole = ranked(&left);
        let unknown = |order: OrderMeasures| OrderMeasures { missing: None, ..order };
        prop_assert_eq!(unknown(measured(&left, 5)), unknown(measured(&whole, 5)));
    }

    #[test]
    fn duplicates_do_not_change_the_order(
        numbers in any_order(),
        again in prop::collection::vec((any::<prop::sample::Index>(), 0usize..30), 0..10),
    ) {
        let distinct = without_duplicates(&numbers);
        let mut more = distinct.clone();
        let mut added = 0;
        if !distinct.is_empty() {
            for (which, after) in again {
                let which = which.index(distinct.len());
                let first = more.iter().position(|&n| n == distinct[which]).unwrap();
                more.insert((first + 1 + after).min(more.len()), distinct[which]);
                added += 1;
            }
        }
        let expected = OrderMeasures { duplicates: added, ..measured(&distinct, 7) };
        prop_assert_eq!(measured(&more, 7), expected);
    }

    #[test]
    fn counts_agree_with_each_other(numbers in any_order(), threshold in 0u64..20) {
        let order = measured(&numbers, threshold);
        prop_assert_eq!(order.degrees.values().sum::<u64>(), order.reordered);
        prop_assert_eq!(order.held.values().sum::<u64>(), order.packets);
        let placed = order.displacements.values().sum::<u64>();
        prop_assert_eq!(placed + order.displaced_beyond, order.packets);
        prop_assert!(order.fast_retransmits <= order.third_duplicates);
        prop_assert!(order.third_duplicates <= order.duplicate_acks);
        // Three early packets and a late one for each.
        prop_assert!(order.fast_retransmits * 4 <= order.packets);
        let three_reordered: u64 = order.degrees.range(3..).map(|(_, packets)| packets).sum();
        prop_assert!(three_reordered <= order.late_by_three);
        prop_assert!(order.late_by_three <= order.reordered);
        prop_assert_eq!(order.is_in_order(), order.duplicate_acks == 0);
    }

    #[test]
    fn any_bytes_are_identified_consistently(
        ends in prop::collection::vec(any::<u8>(), 0..90),
        kind in prop_oneof![Just([8, 0, 0x45]), Just([0x86, 0xdd, 0x60]), Just([8, 6, 0])],
        protocol in prop_oneof![Just(6), Just(17), Just(253), any::<u8>()],
    ) {
        let mut frame = ends;
        for (at, byte) in (12..).zip(kind) {
            if let Some(there) = frame.get_mut(at) {
                *there = byte;
            }
        }
        for at in [20, 23] {
            if let Some(there) = frame.get_mut(at) {
                *there = protocol;
            }
        }
        let mut entering = EnteredFramesBuilder::default();
        entering.add(&frame);
        let mut entered = entering.finish();
        let (flow, sequence) = entered.next(&frame).expect("it entered");
        prop_assert_eq!((flow.number, sequence), (0, 0));
        prop_assert_eq!(flow.to_string(), Tuple::of(&frame).to_string());
        if let Some((numbered, _)) = TcpSegments::default().next(&frame) {
            prop_assert_eq!(numbered, flow);
        }
        prop_assert_eq!(stamped_flow(&frame), None);
    }

    #[test]
    fn counts_before_and_after_a_cut_add_up(numbers in any_order(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(numbers.len() + 1);
        let threshold = 200;
        let (before, after) = numbers.split_at(cut);
        // The counts after the cut do not depend on packets that do not count; together with the counts before the cut,
        // taken at the end of the run, they make the whole.
        let mut left = Sequences::counted();
        for &number in before {
            left.note((), number);
        }
        left.start_counting();
        for &number in after {
            left.note((), number);
        }
        let counted = left.total(threshold);
        let whole = measured(&numbers, threshold);
        let distinct = without_duplicates(before).len() as u64;
        prop_assert_eq!(counted.packets + distinct, whole.packets);
        prop_assert_eq!(counted.missing, whole.missing);
        let early = measured(before, threshold);
        prop_assert_eq!(counted.reordered + early.reordered, whole.reordered);
        prop_assert_eq!(counted.late_by_three + early.late_by_three, whole.late_by_three);
        prop_assert_eq!(counted.extents.sum + early.extents.sum, whole.extents.sum);
        let mut degrees = counted.degrees.clone();
        for (degree, packets) in early.degrees {
            *degrees.entry(degree).or_default() += packets;
        }
        prop_assert_eq!(degrees, whole.degrees);
    }
}
