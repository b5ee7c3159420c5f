//! The reaction of a TCP receiver and sender to a packet order.
//!
//! The receiver acknowledges each packet at once with the first number that it still expects (RFC 5681,
//! section 4.2), and the sender takes the third repetition of an acknowledgement for a loss (section 3.2).
//! Nothing is actually retransmitted, so a packet that was considered lost still arrives, late.

use super::OrderMeasures;

/// Number of repeated acknowledgements that indicate a loss (RFC 5681, section 3.2).
const DUPLICATES: u64 = 3;

/// Counts packets from index `first` on; `ranks` holds each number below its length once.
pub(super) fn count(ranks: &[usize], first: usize, order: &mut OrderMeasures) {
    let mut came = vec![false; ranks.len()];
    let mut next = 0;
    let mut duplicates = 0;
    // Duplicates since the beginning of the gap, even if a part of it has been filled since.
    let mut of_episode = 0;
    // The largest numbers so far, in descending order.
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
        // Everything below `next` has arrived, and so have the packets that are held back.
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
