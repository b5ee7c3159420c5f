//! Merges the times of a capture's clocks into one time that never goes back.
//!
//! Frames may be slightly out of order, for example if a card has several queues: such a frame is
//! moved up to the time of the one before it. A clock that was set back is a different case. All
//! later times are on the new clock, and moving each of them up would turn them into one burst, so
//! time continues on the new clock from the previous frame. Each interface may have a clock of its
//! own; a capture merged from several files has as many clocks.

use super::CaptureNotes;

/// A clock that is further back than this has been set. Time daemons step a clock that is off by
/// 128 ms or more and slew one that is off by less (RFC 5905).
const MIN_STEP_NS: i128 = 128_000_000;

/// The clocks of a capture.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// Time of the first frame that has one, nanoseconds since 1970.
    first_ns: Option<i128>,
    /// Time of the last frame, nanoseconds since the first.
    latest_ns: u64,
    /// Clocks by interface.
    interfaces: Vec<InterfaceClock>,
}

/// Interpretation of one interface's times.
#[derive(Clone, Debug, Default)]
struct InterfaceClock {
    /// Last time of this interface, in nanoseconds since 1970.
    last_ns: Option<i128>,
    /// Offset added to its times.
    offset_ns: i128,
    /// The last step, as long as it may turn out to be only a few frames out of order.
    step: Option<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    by_ns: i128,
    /// Frames since the step that are not counted as out of order.
    frames: u64,
}

impl Clocks {
    /// Returns the time of the first frame that has one, in nanoseconds since 1970; 0 before it.
    pub(super) fn first_ns(&self) -> i128 {
        self.first_ns.unwrap_or(0)
    }

    /// Returns the time of a frame in nanoseconds since the first frame, given the interface that
    /// saw it and its time since 1970. A frame without a time gets that of the frame before.
    pub(super) fn relative(
        &mut self,
        interface: u32,
        time_ns: Option<i128>,
        notes: &mut CaptureNotes,
    ) -> Result<u64, String> {
        let Some(time_ns) = time_ns else {
            return Ok(self.latest_ns);
        };
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        let place = interface as usize;
        if self.interfaces.len() <= place {
            self.interfaces.resize(place + 1, InterfaceClock::default());
        }
        let clock = &mut self.interfaces[place];
        let latest_ns = i128::from(self.latest_ns);
        let mut wanted_ns = time_ns - first_ns + clock.offset_ns;
        if let Some(step) = &mut clock.step {
            step.frames += 1;
            let before_ns = wanted_ns - step.by_ns;
            // The old clock is back: it was never set, a few frames were just late.
            if wanted_ns > latest_ns + MIN_STEP_NS && before_ns >= latest_ns - MIN_STEP_NS {
                notes.clock_steps -= 1;
                let sum_ns = &mut notes.stepped_back_ns;
                *sum_ns = sum_ns.saturating_sub(saturated(step.by_ns));
                notes.reordered += step.frames - 1;
                clock.offset_ns -= step.by_ns;
                clock.step = None;
                wanted_ns = before_ns;
            }
        }
        let back_ns = latest_ns - wanted_ns;
        let was_set = clock
            .last_ns
            .is_none_or(|last_ns| last_ns - time_ns > MIN_STEP_NS);
        clock.last_ns = Some(time_ns);
        if back_ns > MIN_STEP_NS && was_set {
            notes.clock_steps += 1;
            let sum_ns = &mut notes.stepped_back_ns;
            *sum_ns = sum_ns.saturating_add(saturated(back_ns));
            clock.offset_ns += back_ns;
            clock.step = Some(Step {
                by_ns: back_ns,
                frames: 1,
            });
        } else if back_ns > 0 {
            notes.reordered += 1;
            if let Some(step) = &mut clock.step {
                step.frames -= 1;
            }
        } else {
            self.latest_ns = u64::try_from(wanted_ns).map_err(|_| {
                "its time lies more than 584 years after that of the first frame".to_owned()
            })?;
        }
        Ok(self.latest_ns)
    }
}

/// Converts a time difference between two frames, which overflows only in damaged files.
fn saturated(nanoseconds: i128) -> u64 {
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{CaptureNotes, Clocks};

    const MILLISECOND: i128 = 1_000_000;

    /// Returns the times that the frames get, in milliseconds, and the notes.
    fn relative(frames: &[(u32, i128)]) -> (Vec<u64>, CaptureNotes) {
        let (mut clocks, mut notes) = (Clocks::default(), CaptureNotes::default());
        let times = frames.iter().map(|&(interface, milliseconds)| {
            let time = Some(milliseconds * MILLISECOND);
            clocks.relative(interface, time, &mut notes).unwrap() / 1_000_000
        });
        (times.collect(), notes)
    }

    #[test]
    fn clock_set_back_is_followed() {
        let (times, notes) = relative(&[(0, 900), (0, 901), (0, 300), (0, 301), (0, 303)]);
        assert_eq!(times, [0, 1, 1, 2, 4]);
        assert_eq!((notes.clock_steps, notes.reordered), (1, 0));
        assert_eq!(notes.stepped_back_ns, 601_000_000);
        // Set twice, each time relative to the clock in force.
        let (times, notes) = relative(&[(0, 900), (0, 300), (0, 310), (0, 20), (0, 25)]);
        assert_eq!(times, [0, 0, 10, 10, 15]);
        assert_eq!(notes.clock_steps, 2);
        // Damaged times may add up to more than fits the note.
        let century = 100 * 365 * 86_400_000;
        let back: Vec<(u32, i128)> = (0..8).map(|n| (0, -n * century)).collect();
        let (times, notes) = relative(&back);
        assert_eq!((times, notes.clock_steps), (vec![0; 8], 7));
        assert_eq!(notes.stepped_back_ns, u64::MAX);
        // Times before 1970 work, too.
        let (times, _) = relative(&[(0, 10), (0, -500), (0, -499)]);
        assert_eq!(times, [0, 0, 1]);
    }

    #[test]
    fn few_late_frames_are_not_a_clock_step() {
        let (times, notes) = relative(&[(0, 100), (0, 99), (0, 102), (0, 101), (0, 103)]);
        assert_eq!(times, [0, 0, 2, 2, 3]);
        assert_eq!((notes.clock_steps, notes.reordered), (0, 2));
        // Any lateness is accepted if the clock then continues as before.
        let (times, notes) = relative(&[(0, 1000), (0, 500), (0, 501), (0, 1003), (0, 1004)]);
        assert_eq!(times, [0, 0, 1, 3, 4]);
        assert_eq!((notes.clock_steps, notes.stepped_back_ns), (0, 0));
        assert_eq!(notes.reordered, 2);
        // A frame that is late even among the late ones counts once.
        let (times, notes) = relative(&[(0, 1000), (0, 500), (0, 499), (0, 1003)]);
        assert_eq!(times, [0, 0, 0, 3]);
        assert_eq!((notes.clock_steps, notes.reordered), (0, 2));
    }

    #[test]
    fn each_interface_has_its_own_clock() {
        let (times, notes) = relative(&[(0, 900), (1, 50), (0, 901), (1, 52), (0, 905), (1, 60)]);
        assert_eq!(times, [0, 0, 1, 2, 5, 10]);
        assert_eq!((notes.clock_steps, notes.reordered), (1, 0));
    }
}
