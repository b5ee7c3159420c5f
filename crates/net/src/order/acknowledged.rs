//! What a TCP receiver and its sender would make of an order.
//!
//! The receiver acknowledges each packet at once, with the first number that it still waits for (RFC 5681,
//! section 4.2), and the sender takes the third repetition of an acknowledgement for a loss (section 3.2).
//! Nothing is really sent again, so a packet that was taken for lost still comes, late.

use super::OrderMeasures;

/// Repetitions of an acknowledgement that mean a loss (RFC 5681, section 3.2).
const DUPLICATES: u64 = 3;

/// Counts packets from the place `first` on; `ranks` holds each number below its length once.
pub(super) fn count(ranks: &[usize], first: usize, order: &mut OrderMeasures) {
    let mut came = vec![false; ranks.len()];
    let mut next = 0;
    let mut duplicates = 0;
    // Duplicates since something is missing, however often a part of it came.
    let mut of_episode = 0;
    // The largest numbers so far, the largest first.
    let mut largest: [Option<usize>; DUPLICATES as usize] = [None; DUPLICATES as usize];
    for (place, &rank) in ranks.iter().enumerate() {
        let counts = u64::from(place >= first);
        came[rank] = true;
        if rank == next {
            while came.get(next) == Some(&true) {
                next += 1;
            }
            duplicates = 0;
            if next > place {
                of_episode = 0;
            }
        } else {
            duplicates += 1;
            of_episode += 1;
            order.duplicate_acks += counts;
            order.fast_retransmits += counts * u64::from(duplicates == DUPLICATES);
            order.third_duplicates += counts * u64::from(duplicates >= DUPLICATES);
            order.episode_duplicates += counts * u64::from(of_episode >= DUPLICATES);
        }
        // Everything below `next` came, and so did what is held back.
        if counts > 0 {
            let held = (place + 1 - next) as u64;
            *order.held.entry(held).or_default() += 1;
        }
        let [.., last] = largest;
        order.late_by_three += counts * u64::from(last > Some(rank));
        let at = largest.partition_point(|&seen| seen > Some(rank));
        if at < largest.len() {
            largest[at..].rotate_right(1);
            largest[at] = Some(rank);
        }
    }
}
