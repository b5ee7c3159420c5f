//! Skipping time in which a chip only repeats what it has just done.
//!
//! If a chip contains nothing but polling contexts, its state recurs: after a period it is the
//! same, except that all times are one period later and all counts are higher by the amount that a
//! period adds. The future of a state depends on nothing else, so the next period must be the same
//! again, and so on until an event from outside the period: a frame, a task's timer, a stall, the
//! end of the run. The chip advances to that point in one step.
//!
//! # What makes it exact
//!
//! - A period is not guessed. Three states that are a period apart are compared number by number
//!   ([`StateVector`]): values have to be equal, times equal or a period apart, and counts have to
//!   grow by equal amounts (`period.rs`). The vector contains all the state of a saved chip; large
//!   memories are not written in a period.
//! - A time that lies ahead and does not move with the periods is a deadline. The last skipped
//!   period ends early enough that no microengine has run ahead to it. A time that lies in the past
//!   has been there for two periods, which is longer than any operation on the chip takes
//!   (`shortest`, below), so it can have no effect that is still to come.
//! - Microcode that reads a clock could behave differently at each reading. If it reads one in the
//!   period, nothing is skipped, unless its program uses the readings only to compute times for its
//!   timers (`timers.rs` of the engine).
//! - The numbers of an observer's state ([`RecurringState`]) are compared and advanced like those
//!   of the chip. If it provides none, or they do not recur, it receives the events of the last
//!   simulated period once for each skipped period, shifted in time accordingly.
//! - Timers are set equally far ahead in each period.
//! - Nothing in the period acts on the outside (frames, slow-path tasks, look-aside devices).
//!
//! # When it is attempted
//!
//! Comparing states costs the host some million instructions, so no attempt is made until the
//! chip's media interface and tasks have been idle for a while, nor while there is little to gain.
//! A cheap [digest](crate::core::Core::state_digest) of the microengines shows which period lengths
//! are worth a comparison. A chip with neighbours at short latency is run for a few thousand cycles
//! at a time, during which nothing can arrive from them; once it has been idle for long, a search
//! continues from one such run to the next (`piecewise.rs`), which establishes until when nothing
//! leaves, and the runs become long. None of this affects the results, which are the same for all
//! choices.

mod period;
mod piecewise;
mod policy;
mod search_state;

use crate::Cycle;
use crate::chip::{Chip, Stop};
use crate::gpp::Gpp;
use crate::kernel::fabric::Fabric;
use crate::kernel::fault_injection::LAST_CYCLE;
use crate::kernel::observer::Observer;
use crate::kernel::port_io::PortIo;
use crate::kernel::recurring_state::RecurringState;
use crate::kernel::snapshot::{SnapshotError, StateReader, StateVector};
use crate::kernel::trace_event::{EventKinds, TraceEvent};
use crate::units::Units;
use crate::units::msf::clock::gcd;
use npsim_profile::{Parameter, Profile};
use period::{Period, Recurrence, changes_repeat};
use policy::SkipOutcome;
pub(crate) use policy::{Bounds, SkipPolicy};

/// Cycles of the shortest period that is compared, whatever the profile; several shorter ones are
/// combined.
const MIN_PERIOD: Cycle = 1024;
/// Cycles of the longest period that is compared.
const MAX_PERIOD: Cycle = 1 << 16;
/// Most cycles skipped at once if nothing is to come, so that the caller of an endless run regains
/// control from time to time.
const MAX_SKIPPED: Cycle = 1 << 40;
/// Timestamp steps after which a future count wraps and denotes another time.
const FUTURE_COUNTS: u64 = 1 << 16;
/// Most events replayed to an observer at once.
const MAX_REPLAYED: u64 = 1 << 21;
/// Most events replayed at once to an observer whose numbers do not recur yet but may later.
const MAX_REPLAYED_UNTIL_RECURRING: u64 = 1 << 16;
/// The highest multiple of a candidate that is compared.
const MULTIPLES: u64 = 6;

/// Runs a chip to a cycle and stores the observer's numbers there as one of the three states.
type RunTo<'a> = dyn FnMut(&mut Chip, Cycle, Option<usize>) -> Result<(), SkipFailure> + 'a;

/// Why an attempt failed.
enum SkipFailure {
    /// The run ended.
    Stop(Stop),
    /// No period was found.
    None,
    /// No period was found before the next event from outside.
    Short,
}

/// An observer that forwards events and records them for a replay.
struct EventReplay<'a> {
    observer: &'a mut dyn Observer,
    /// Events recorded since the start of the last stretch.
    log: Vec<(Cycle, TraceEvent)>,
    /// The observer's numbers in the three states, if it provides any.
    states: &'a mut [StateVector; 3],
    has_numbers: bool,
}

impl EventReplay<'_> {
    /// Stores the observer's numbers in one of the three states.
    fn note(&mut self, which: usize, at: Cycle) {
        let state = &mut self.states[which];
        self.has_numbers = self
            .observer
            .visit_state(at, &mut RecurringState::write(state));
    }

    /// The last two of the observer's three states, if its numbers recur with the period.
    fn recurrence(&self, period: Period) -> Option<Recurrence<'_>> {
        let [first, before, last] = &*self.states;
        let recurs = self.has_numbers
            && period.joins(first, before)
            && changes_repeat([first, before, last]);
        recurs.then_some(Recurrence {
            period,
            before,
            last,
        })
    }

    /// Replays the events of a period, one period later each time.
    fn replay(&mut self, period: Cycle, times: u64) {
        for by in (1..=times).map(|time| time * period) {
            for (at, event) in &self.log {
                self.observer.see(at + by, &event.later(by));
            }
        }
    }
}

impl Observer for EventReplay<'_> {
    fn wants(&self) -> EventKinds {
        self.observer.wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.log.push((at, *event));
        self.observer.see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.observer.needs_order()
    }
}

impl Chip {
    /// Enables or disables skipping of time in which the chip's state recurs, which is enabled by
    /// default. Results are the same either way.
    pub fn set_skipping(&mut self, on: bool) {
        self.skip_policy = SkipPolicy::new(on);
    }

    /// Whether skipping is enabled.
    pub(crate) fn is_skipping(&self) -> bool {
        self.skip_policy.is_on()
    }

    /// Number of cycles skipped so far.
    #[must_use]
    pub fn skipped(&self) -> Cycle {
        self.skip_policy.skipped
    }

    /// The cycle before which the chip only repeats its period, unless a frame arrives, so that no
    /// frame leaves before it. It is known if time was skipped since the last call; otherwise 0.
    pub fn take_quiet_until(&mut self) -> Cycle {
        std::mem::take(&mut self.skip_policy.quiet_until)
    }

    /// Tries to skip time before the next event, if that may pay off. Returns the stop if the run
    /// ended instead.
    #[cold]
    pub(crate) fn try_to_skip<const OBSERVED: bool>(
        &mut self,
        bounds: Bounds,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        let now = self.fabric.events.next_time();
        let active = self.units.msf.last_activity().max(self.gpp.last_activity());
        if !self.skip_policy.is_due(now, active) {
            return None;
        }
        let known = { self.fabric.horizon.min(bounds.pause) }.min(self.units.msf.next_arrival());
        let end = match known {
            Cycle::MAX => now.saturating_add(MAX_SKIPPED),
            known => known,
        };
        let end = end.min(LAST_CYCLE);
        if OBSERVED {
            // An observer's numbers are compared only within one run.
            self.skip_policy.search = None;
        } else if self.skip_policy.search.is_some() {
            self.search_on(end, observer);
            return None;
        }
        let Some(attempt) = self.skip_policy.begin(now, end) else {
            if !OBSERVED && self.open && self.skip_policy.may_search_on() {
                self.begin_search();
            }
            return None;
        };
        let skipped = self.skip::<OBSERVED>(end, bounds, lines, observer);
        let (outcome, stop) = match skipped {
            Ok(deadline) => (SkipOutcome::Skipped { deadline }, None),
            Err(SkipFailure::None) => (SkipOutcome::NoPeriod, None),
            Err(SkipFailure::Short) => (SkipOutcome::TooShort, None),
            Err(SkipFailure::Stop(stop)) => (SkipOutcome::Stopped, Some(stop)),
        };
        let now = self.fabric.events.next_time();
        self.skip_policy.finish(&attempt, &outcome, now, end);
        stop
    }

    /// Runs the chip until its state has recurred twice, then advances to the last whole period
    /// before `end` or before an earlier deadline in the chip, which it returns.
    ///
    /// Looking for a period is itself part of the run: everything that `run` simulates stays done,
    /// whether or not a period is found. The search fails as soon as the stretch has any effect
    /// visible from outside (a frame, a task, a command to a device: `outside` and `handovers`),
    /// since such effects cannot be multiplied. The three states are moved out of the chip for the
    /// duration, so that it can be borrowed, and put back so that their memory is reused.
    fn skip<const OBSERVED: bool>(
        &mut self,
        end: Cycle,
        bounds: Bounds,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> Result<Cycle, SkipFailure> {
        let mut states = std::mem::take(&mut self.skip_policy.states);
        let mut observed = std::mem::take(&mut self.skip_policy.observed);
        let mut replay = EventReplay {
            observer,
            log: Vec::new(),
            states: &mut observed,
            has_numbers: false,
        };
        let mut run = |chip: &mut Self, to: Cycle, note: Option<usize>| {
            let (outside, devices) = (chip.skip_policy.outside, chip.units.sram.handovers());
            if to >= end {
                return Err(SkipFailure::Short);
            }
            replay.log.clear();
            if let Some(stop) = chip.advance::<OBSERVED>(
                Bounds {
                    pause: to,
                    progress_at: Cycle::MAX,
                    ..bounds
                },
                lines,
                &mut replay,
            ) {
                return Err(SkipFailure::Stop(stop));
            }
            if OBSERVED {
                chip.fabric.trace.flush(to, &mut replay);
                if let Some(which) = note {
                    replay.note(which, to);
                }
            }
            let same =
                (chip.skip_policy.outside, chip.units.sram.handovers()) == (outside, devices);
            if same { Ok(()) } else { Err(SkipFailure::None) }
        };
        let found = self.recurrence(&mut states, &mut run);
        let done =
            found.map(|(period, at)| self.extrapolate(period, at, end, &states, &mut replay));
        (self.skip_policy.states, self.skip_policy.observed) = (states, observed);
        done
    }

    /// Finds a period. Returns it with the cycle of the last of the three states, which the chip
    /// has then reached.
    fn recurrence(
        &mut self,
        states: &mut [StateVector; 3],
        run: &mut RunTo<'_>,
    ) -> Result<(Period, Cycle), SkipFailure> {
        if let Some(last) = self.skip_policy.last_period {
            let at = self.fabric.events.next_time();
            if let Some(found) = self.verify(at, last, 1, states, run)? {
                return Ok(found);
            }
        }
        let (at, candidate) = self.candidate(run)?;
        let found = self.verify(at, candidate, MULTIPLES, states, run)?;
        found.ok_or(SkipFailure::None)
    }

    /// Runs until the state of the microengines recurs. Returns the cycle, and the number of cycles
    /// since the earlier occurrence.
    fn candidate(&mut self, run: &mut RunTo<'_>) -> Result<(Cycle, Cycle), SkipFailure> {
        let begin = self.fabric.events.next_time();
        let mut reference = (begin, self.state_digest(begin).ok_or(SkipFailure::None)?);
        let (mut samples, mut renew) = (0_u32, 8);
        loop {
            let at = self.fabric.events.next_time().saturating_add(1);
            if at - begin > MAX_PERIOD {
                return Err(SkipFailure::None);
            }
            run(self, at, None)?;
            let digest = self.state_digest(at).ok_or(SkipFailure::None)?;
            if digest == reference.1 {
                return Ok((at, at - reference.0));
            }
            // A reference from the approach to the recurring states never comes again, so it is
            // renewed at growing intervals.
            samples += 1;
            if samples == renew {
                reference = (at, digest);
                renew *= 2;
            }
        }
    }

    /// Compares three states, the first at cycle `at`, at distances that are multiples of a
    /// candidate.
    fn verify(
        &mut self,
        at: Cycle,
        candidate: Cycle,
        multiples: u64,
        states: &mut [StateVector; 3],
        run: &mut RunTo<'_>,
    ) -> Result<Option<(Period, Cycle)>, SkipFailure> {
        let (unit, step) = self.unit(candidate);
        let [first, second, third] = states;
        run(self, at, Some(0))?;
        let quiet = self.unnumbered_state();
        self.fabric.take_timers_set();
        self.write(first)?;
        for multiple in 1..=multiples {
            let cycles = unit * multiple;
            if cycles / step >= FUTURE_COUNTS {
                return Ok(None);
            }
            run(self, at + cycles, Some(1))?;
            if self.unnumbered_state() != quiet {
                return Ok(None);
            }
            self.write(second)?;
            let period = Period {
                cycles,
                steps: cycles / step,
            };
            if !period.joins(first, second) {
                continue;
            }
            let last = at + 2 * cycles;
            let timers = self.fabric.take_timers_set();
            run(self, last, Some(2))?;
            self.write(third)?;
            // The count that a timer is set to is a sum of readings and constants. If it is equally
            // far ahead in both periods, it is so in all; a count computed from no reading, or from
            // several, is not.
            let same = self.unnumbered_state() == quiet && self.fabric.take_timers_set() == timers;
            if same && changes_repeat([first, second, third]) {
                self.skip_policy.last_period = Some(cycles);
                return Ok(Some((period, last)));
            }
            return Ok(None);
        }
        Ok(None)
    }

    /// The shortest multiple of a candidate that is worth comparing (long enough, and a whole
    /// number of timestamp steps), and the length of a timestamp step, both in cycles.
    fn unit(&self, candidate: Cycle) -> (Cycle, Cycle) {
        let step = self.fabric.profile.timestamp_divider().max(1);
        let whole = candidate * (step / gcd(candidate, step));
        (whole * shortest(&self.fabric.profile).div_ceil(whole), step)
    }

    /// Advances by as many periods as fit, from the last of three states, at `at`. Returns the
    /// cycle from which no more of them fit.
    fn extrapolate(
        &mut self,
        period: Period,
        at: Cycle,
        end: Cycle,
        states: &[StateVector; 3],
        replay: &mut EventReplay<'_>,
    ) -> Cycle {
        let [_, before, last] = states;
        let recurrence = Recurrence {
            period,
            before,
            last,
        };
        // No microengine has compared its time with anything later than the furthest local time, so
        // a deadline that none of them has reached might as well not exist.
        let ahead = self.microengines.iter().map(|me| me.local_time());
        let ahead = ahead.max().unwrap_or(0).max(at) - at;
        let own = recurrence.deadline(at);
        let observed = replay.recurrence(period);
        let seen = observed.map_or(Cycle::MAX, |it| it.deadline(at));
        let deadline = end.min(own).min(seen);
        let room = deadline.saturating_sub(at + ahead + 1);
        // If an observer's numbers do not recur, it receives the events of each period, which takes
        // time: the caller has to regain control now and then.
        let most = match (observed.is_some(), replay.has_numbers) {
            (true, _) => None,
            (false, true) => MAX_REPLAYED_UNTIL_RECURRING.checked_div(replay.log.len() as u64),
            (false, false) => MAX_REPLAYED.checked_div(replay.log.len() as u64),
        };
        let told = most.map_or(u64::MAX, |periods| periods.max(1));
        let periods = (room / period.cycles).min(told);
        let whole = own.saturating_sub(at + ahead + 1) / period.cycles;
        self.skip_policy.quiet_until = at + whole * period.cycles;
        if periods == 0 {
            return deadline;
        }
        let mut next = std::mem::take(&mut self.skip_policy.next);
        recurrence.after(periods, &mut next);
        let read = self.read(&mut StateReader::new(&next));
        self.skip_policy.next = next;
        assert_eq!(read, Ok(()), "the state that was written can be read");
        let passed = periods * period.cycles;
        self.skip_policy.skipped += passed;
        self.skip_policy.since.1 += passed;
        match observed {
            Some(observed) => {
                let mut next = std::mem::take(&mut self.skip_policy.next);
                observed.after(periods, &mut next);
                replay
                    .observer
                    .visit_state(at, &mut RecurringState::set(&next));
                self.skip_policy.next = next;
            }
            None if replay.log.is_empty() => {}
            None => replay.replay(period.cycles, periods),
        }
        self.fabric.trace.pass(passed, at + passed);
        if periods == told {
            at + passed
        } else {
            deadline
        }
    }

    /// A digest of the state of all microengines.
    fn state_digest(&self, now: Cycle) -> Option<u64> {
        let mut digest = self.fabric.events.len() as u64;
        for me in &self.microengines {
            digest = digest.rotate_left(5) ^ me.state_digest(now)?;
            digest = digest.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        Some(digest)
    }

    /// State that must not change in a period and is not among the numbers: writes to large
    /// memories, and clock readings used for more than setting timers.
    fn unnumbered_state(&self) -> (u64, u64) {
        (self.units.changes(), self.fabric.clock_readings)
    }

    fn write(&self, out: &mut StateVector) -> Result<(), SkipFailure> {
        out.clear();
        let mut write = || -> Result<(), SnapshotError> {
            out.add(&(&self.fabric, &self.units, &self.gpp))?;
            { self.microengines.iter() }.try_for_each(|me| me.write_vector(out))
        };
        write().map_err(|_| SkipFailure::None)
    }

    fn read(&mut self, numbers: &mut StateReader<'_>) -> Result<(), SnapshotError> {
        let (mut fabric, mut units, mut gpp): (Fabric, Units, Gpp) = numbers.take()?;
        { self.microengines.iter_mut() }.try_for_each(|me| me.read_vector(numbers))?;
        if !numbers.is_empty() {
            return Err(SnapshotError("too many numbers".to_owned()));
        }
        fabric.adopt_unsaved(&mut self.fabric);
        units.adopt_unsaved(&mut self.units);
        gpp.adopt_unsaved(&mut self.gpp);
        (self.fabric, self.units, self.gpp) = (fabric, units, gpp);
        Ok(())
    }
}

/// The shortest period that is compared on a chip: longer than a few of the longest latencies of
/// its profile in sequence. Slow-path latencies are excluded, since no slow-path activity happens
/// in a period; so is the refresh interval, since the state has the cycle of each refresh.
fn shortest(profile: &Profile) -> Cycle {
    let of_hardware = |it: &&Parameter| it.group != "gpp" && it.name != "refresh_interval";
    let cycles = profile.parameters().filter(of_hardware).map(|it| {
        match (it.unit, it.value.number().unwrap_or(0)) {
            ("ME cycles", cycles) => cycles,
            (unit, clocks) if unit.ends_with("cycles") || unit.ends_with("clocks") => {
                clocks * profile.bus_cycle().max(1)
            }
            _ => 0,
        }
    });
    MIN_PERIOD.max(4 * cycles.max().unwrap_or(0))
}
