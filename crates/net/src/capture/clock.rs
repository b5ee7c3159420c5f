//! Times of a capture's clocks become one time that never goes back.
//!
//! Frames may stand a little out of order, as where a card has several queues: such a frame is
//! raised to the time of the one before. A clock that was set is another matter. What comes after
//! has all its times on the new clock, and would come as one burst if each were raised; so the
//! time goes on with the new clock from the frame before. Each interface may have a clock of its
//! own, and a capture that was joined of several has as many.

use super::CaptureNotes;

/// A clock that is further back has been set. Programs that keep a clock right set it where it is
/// wrong by 128 ms or more, and let it run a little slower where it is wrong by less (RFC 5905).
const LEAST_STEP_NS: i128 = 128_000_000;

/// The clocks of a capture.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// Time of the first frame that has one, nanoseconds since 1970.
    first_ns: Option<i128>,
    /// Time of the last frame, nanoseconds since the first.
    latest_ns: u64,
    /// By interface.
    interfaces: Vec<InterfaceClock>,
}

/// What one interface's times mean.
#[derive(Clone, Debug, Default)]
struct InterfaceClock {
    /// Its last time, nanoseconds since 1970.
    last_ns: Option<i128>,
    /// What is added to its times.
    offset_ns: i128,
    /// The last step, while it may turn out to have been a few frames out of order.
    step: Option<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    by_ns: i128,
    /// Frames since then that are not counted as out of order.
    frames: u64,
}

impl Clocks {
    /// Time of the first frame that has one, nanoseconds since 1970; 0 before it.
    pub(super) fn first_ns(&self) -> i128 {
        self.first_ns.unwrap_or(0)
    }

    /// Nanoseconds from the first frame to one that an interface saw at a time since 1970; that of
    /// the frame before where it has none.
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
            // The old clock is back: it was not set, only a few frames were late.
            if wanted_ns > latest_ns + LEAST_STEP_NS && before_ns >= latest_ns - LEAST_STEP_NS {
                notes.clock_steps -= 1;
                notes.stepped_back_ns -= saturated(step.by_ns);
                notes.reordered += step.frames - 1;
                clock.offset_ns -= step.by_ns;
                clock.step = None;
                wanted_ns = before_ns;
            }
        }
        let back_ns = latest_ns - wanted_ns;
        let was_set = clock
            .last_ns
            .is_none_or(|last_ns| last_ns - time_ns > LEAST_STEP_NS);
        clock.last_ns = Some(time_ns);
        if back_ns > LEAST_STEP_NS && was_set {
            notes.clock_steps += 1;
            notes.stepped_back_ns += saturated(back_ns);
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

/// Of a time that fits between two frames, but for those of damaged files.
fn saturated(nanoseconds: i128) -> u64 {
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{CaptureNotes, Clocks};

    const MILLISECOND: i128 = 1_000_000;

    /// The times in milliseconds that frames of interfaces get, and what is noted.
    fn relative(frames: &[(u32, i128)]) -> (Vec<u64>, CaptureNotes) {
        let (mut clocks, mut notes) = (Clocks::default(), CaptureNotes::default());
        let times = frames.iter().map(|&(interface, milliseconds)| {
            let time = Some(milliseconds * MILLISECOND);
            clocks.relative(interface, time, &mut notes).unwrap() / 1_000_000
        });
        (times.collect(), notes)
    }

    #[test]
    fn a_clock_that_is_set_back_is_followed() {
        let (times, notes) = relative(&[(0, 900), (0, 901), (0, 300), (0, 301), (0, 303)]);
        assert_eq!(times, [0, 1, 1, 2, 4]);
        assert_eq!((notes.clock_steps, notes.reordered), (1, 0));
        assert_eq!(notes.stepped_back_ns, 601_000_000);
        // Twice, and each time from there.
        let (times, notes) = relative(&[(0, 900), (0, 300), (0, 310), (0, 20), (0, 25)]);
        assert_eq!(times, [0, 0, 10, 10, 15]);
        assert_eq!(notes.clock_steps, 2);
        // Before 1970, too.
        let (times, _) = relative(&[(0, 10), (0, -500), (0, -499)]);
        assert_eq!(times, [0, 0, 1]);
    }

    #[test]
    fn a_few_late_frames_are_no_step_of_the_clock() {
        let (times, notes) = relative(&[(0, 100), (0, 99), (0, 102), (0, 101), (0, 103)]);
        assert_eq!(times, [0, 0, 2, 2, 3]);
        assert_eq!((notes.clock_steps, notes.reordered), (0, 2));
        // However late they are, if the clock then goes on as before.
        let (times, notes) = relative(&[(0, 1000), (0, 500), (0, 501), (0, 1003), (0, 1004)]);
        assert_eq!(times, [0, 0, 1, 3, 4]);
        assert_eq!((notes.clock_steps, notes.stepped_back_ns), (0, 0));
        assert_eq!(notes.reordered, 2);
        // One that is late among those counts once.
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
