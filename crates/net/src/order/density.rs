//! The reorder density of RFC 5236: how far packets are from their places in order.
//!
//! Packets are assigned receive indices as they arrive. An index is skipped if the packet with its number
//! does not arrive soon, that is, if it is neither there already nor among the next threshold + 1
//! packets. A packet whose displacement (index minus number) is beyond the threshold gets no index and is
//! considered lost, so that one very late packet does not make all others early.

use super::OrderMeasures;

/// Counts packets from index `first` on; `ranks` holds each number below its length once.
pub(super) fn count(ranks: &[usize], first: usize, threshold: u64, order: &mut OrderMeasures) {
    let threshold = usize::try_from(threshold).unwrap_or(usize::MAX);
    // Index of each number; a packet that is considered lost has none.
    let mut places = vec![usize::MAX; ranks.len()];
    for (place, &rank) in ranks.iter().enumerate() {
        places[rank] = place;
    }
    let mut index = 0;
    for (place, &rank) in ranks.iter().enumerate() {
        let soon = place.saturating_add(threshold).min(ranks.len());
        while places.get(index).is_some_and(|&place| place > soon) {
            index += 1;
        }
        let within = index.abs_diff(rank) <= threshold;
        if within {
            if place >= first {
                let displacement = index as i64 - rank as i64;
                *order.displacements.entry(displacement).or_default() += 1;
            }
            index += 1;
        } else {
            places[rank] = usize::MAX;
            order.displaced_beyond += u64::from(place >= first);
        }
    }
}
