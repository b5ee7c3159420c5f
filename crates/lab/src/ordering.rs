//! The order in which the frames of a run left.

use npsim_chip::Cycle;
use npsim_net::load::{FrameKind, Stamp};
use npsim_net::order::{Counter, Sequences, THRESHOLD};

use crate::metric::ObservedFlows;

/// The order of the stamped frames of a run.
///
/// Frames that left before the window do not count, but frames in the window are compared with them: a
/// window cuts through flows, and its first frames may have overtaken, or been overtaken by, frames that
/// left before it. Frames still inside at its end are treated as lost, and loss is not reordering.
#[derive(Clone, Debug)]
pub struct Ordering {
    left: Sequences<(FrameKind, u32)>,
    flow_slots: Option<u32>,
}

impl Default for Ordering {
    fn default() -> Self {
        Self::new(Vec::new(), 0, 0, None)
    }
}

impl Ordering {
    /// Builds it from the stamps of frames and the cycles in which their last bits left, for the window
    /// after `from` up to `until`; `flow_slots` is the number of concurrent flows of generated traffic.
    #[must_use]
    pub fn new(
        mut stamps: Vec<(Cycle, Stamp)>,
        from: Cycle,
        until: Cycle,
        flow_slots: Option<u32>,
    ) -> Self {
        // Stamps come in the order in which frames begin to leave. Ports send concurrently, so frames may
        // end in another order.
        stamps.sort_by_key(|&(end, _)| end);
        let mut left = Sequences::counted();
        let window = stamps.partition_point(|&(end, _)| end <= from);
        let after = stamps.partition_point(|&(end, _)| end <= until).max(window);
        for (place, (_, stamp)) in stamps[..after].iter().enumerate() {
            if place == window {
                left.start_counting();
            }
            left.note((stamp.kind, stamp.flow), stamp.sequence);
        }
        if after == window {
            left.start_counting();
        }
        Self { left, flow_slots }
    }

    /// Returns the value of a counter, as a percentage of the packets.
    ///
    /// # Errors
    /// Returns an error if no selected frame left in the window, or if one flow is selected and the traffic
    /// has no flow slots.
    pub(crate) fn share(&self, counter: Counter, flows: ObservedFlows) -> Result<f64, String> {
        let order = match flows {
            ObservedFlows::All => self.left.total(THRESHOLD),
            ObservedFlows::One => {
                let slots = self
                    .flow_slots
                    .ok_or("one flow can be distinguished only in generated traffic")?;
                // A load has at least one flow.
                let first = |flow: u32| flow.checked_rem(slots) == Some(0);
                self.left.total_where(THRESHOLD, |&(_, flow)| first(flow))
            }
        };
        order.percent(counter.of(&order)).ok_or_else(|| {
            if self.left.is_empty() {
                "no frame that left carries the stamp of generated traffic".into()
            } else {
                "no such packet left in the window".into()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(frames: &[(Cycle, u32, u64)]) -> Vec<(Cycle, Stamp)> {
        let stamp = |&(end, flow, sequence)| {
            let stamp = Stamp {
                kind: FrameKind::Plain,
                port: 0,
                flow,
                sequence,
            };
            (end, stamp)
        };
        frames.iter().map(stamp).collect()
    }

    fn share(ordering: &Ordering, counter: &str) -> Result<f64, String> {
        let counter = counter.parse().expect("a counter");
        ordering.share(counter, ObservedFlows::All)
    }

    fn share_of_one(ordering: &Ordering) -> Result<f64, String> {
        let counter = "reordered".parse().expect("a counter");
        ordering.share(counter, ObservedFlows::One)
    }

    #[test]
    fn frames_before_the_window_are_compared_but_not_counted() {
        let frames = [
            (10, 0, 0),
            (20, 0, 2),
            (30, 0, 3),
            (40, 0, 4),
            (50, 0, 1),
            (60, 0, 6),
            (70, 1, 0),
            (80, 0, 5),
        ];
        let whole = Ordering::new(stamps(&frames), 0, 80, Some(2));
        assert_eq!(share(&whole, "duplicate-acks"), Ok(50.0));
        assert_eq!(share(&whole, "late-by-three"), Ok(12.5));
        let window = Ordering::new(stamps(&frames), 40, 70, Some(2));
        assert_eq!(share(&window, "late-by-three"), Ok(100.0 / 3.0));
        // 5 leaves after the window, so nothing was overtaken by 6.
        assert_eq!(share(&window, "duplicate-acks"), Ok(0.0));
        assert_eq!(share_of_one(&window), Ok(50.0));
    }

    #[test]
    fn frames_are_ordered_by_departure_of_their_last_bit() {
        let frames = [(30, 0, 1), (20, 0, 0), (40, 0, 2)];
        let ordering = Ordering::new(stamps(&frames), 0, 50, None);
        assert_eq!(share(&ordering, "reordered"), Ok(0.0));
    }

    #[test]
    fn single_flow_is_the_first_slot() {
        let frames = [(1, 0, 0), (2, 1, 1), (3, 3, 1), (4, 1, 0), (5, 3, 0)];
        let one = |slots| {
            let ordering = Ordering::new(stamps(&frames), 0, 9, slots);
            share_of_one(&ordering)
        };
        assert_eq!(one(Some(3)), Ok(100.0 / 3.0));
        assert_eq!(one(Some(4)), Ok(0.0));
        assert!(one(None).unwrap_err().contains("generated traffic"));
    }

    #[test]
    fn share_of_no_packets_is_an_error() {
        let why = |ordering: &Ordering| share(ordering, "reordered").unwrap_err();
        assert!(why(&Ordering::default()).contains("stamp"));
        let before = Ordering::new(stamps(&[(1, 0, 0)]), 5, 9, None);
        assert!(why(&before).contains("window"));
    }
}
