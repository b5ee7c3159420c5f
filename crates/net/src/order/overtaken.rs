//! Reordered packets as in RFC 4737: which ones, how far, and how many packets directly before them
//! overtook them.

use super::OrderMeasures;

/// Counts packets from index `first` on.
pub(super) fn count(ranks: &[usize], first: usize, order: &mut OrderMeasures) {
    // Packets that were later than all before them, with their indices: both ascend.
    let mut records: Vec<(usize, usize)> = Vec::new();
    // Packets with no earlier one behind them, with their indices: both ascend, too. The last of them that
    // is earlier than a given packet ends the run of later packets directly before it.
    let mut earlier: Vec<(usize, usize)> = Vec::new();
    for (place, &rank) in ranks.iter().enumerate() {
        while earlier.last().is_some_and(|&(other, _)| other > rank) {
            earlier.pop();
        }
        let run = earlier.last().map_or(place, |&(_, at)| place - 1 - at);
        earlier.push((rank, place));
        let later = records.partition_point(|&(other, _)| other < rank);
        match records.get(later) {
            None => records.push((rank, place)),
            Some(&(_, at)) if place >= first => {
                let extent = (place - at) as u64;
                order.reordered += 1;
                order.extents.largest = order.extents.largest.max(extent);
                order.extents.sum += extent;
                *order.degrees.entry(run as u64).or_default() += 1;
            }
            Some(_) => {}
        }
    }
}
