//! Searches for a point in time: the first after the present one, or the last before it, at which a
//! condition holds. Both directions share one implementation, so that they cannot disagree.
//!
//! The run is searched stretch by stretch, in copies. While a stretch runs, the condition names
//! *candidates*: points that may match. Candidates for which it has to examine the chip are then
//! visited in order in another copy.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::watch::Sampler;
use npsim_session::node::Node;
use npsim_xscale::{Probe, ProbeHit};

use crate::core;
use crate::timeline::{SNAPSHOT_INTERVAL, TimePoint, Timeline};

/// The mark of candidates that end a step.
pub(crate) const STEP: usize = usize::MAX;

/// Cycles of the first stretch of a search for the next instruction of the core.
const FIRST_STRETCH: Cycle = 64;

/// Into the future or into the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the future.
    Forward,
    /// Into the past.
    Back,
}

impl Direction {
    /// The opposite direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Forward => Self::Back,
            Self::Back => Self::Forward,
        }
    }
}

/// A context at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodePoint {
    /// Microengine.
    pub me: u8,
    /// Context.
    pub context: u8,
    /// Word address of the instruction.
    pub pc: u16,
}

/// A point in time that may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The point.
    pub moment: TimePoint,
    /// An identifier chosen by the condition.
    pub mark: usize,
    /// The instruction that causes the candidate, if a context does.
    pub place: Option<CodePoint>,
}

/// A search condition.
pub trait Condition {
    /// The kinds of events that lead to candidates.
    fn wants(&self) -> EventKinds {
        EventKinds::NONE
    }

    /// Handles an event at a cycle.
    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        let _ = (at, event, candidates);
    }

    /// What the core should look for within its jobs, from here on.
    fn probes(&self, chip: &Chip) -> Option<Probe> {
        let _ = chip;
        None
    }

    /// Handles something that the core [looked for](Self::probes) and found.
    fn probe_hit(&mut self, hit: &ProbeHit, candidates: &mut Vec<Candidate>) {
        let _ = (hit, candidates);
    }

    /// Whether it examines the chip after each cycle in which something happens.
    fn examines_chip(&self) -> bool {
        false
    }

    /// Examines the chip as it is before a cycle. Cycles increase from call to
    /// call; the first call of a stretch (`begins`) provides the state to
    /// compare with.
    fn look(&mut self, at: Cycle, begins: bool, chip: &Chip, candidates: &mut Vec<Candidate>) {
        let _ = (at, begins, chip, candidates);
    }

    /// Whether it has to examine the chip at a candidate to decide.
    fn must_judge(&self, candidate: &Candidate) -> bool {
        let _ = candidate;
        false
    }

    /// Whether a candidate matches; called in order of time, with the chip at that point if it
    /// [must be examined](Self::must_judge).
    fn judge(&mut self, candidate: &Candidate, chip: Option<&Chip>) -> bool {
        let _ = (candidate, chip);
        true
    }

    /// Notes that all candidates between two points, the first included, have been added in order;
    /// called before any of them is judged. Further ones may be added, also for later points.
    fn covered(&mut self, from: TimePoint, to: TimePoint, candidates: &mut Vec<Candidate>) {
        let _ = (from, to, candidates);
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchResult {
    /// Found: the timeline is at the match, with all candidates there.
    Hit(Vec<Candidate>),
    /// No match: the timeline is at the end or the beginning of the run.
    Nothing,
    /// Interrupted: the timeline is where the search had arrived.
    Interrupted,
}

struct Spotter<'c, C: ?Sized> {
    condition: &'c mut C,
    candidates: Vec<Candidate>,
}

impl<C: Condition + ?Sized> Observer for Spotter<'_, C> {
    fn wants(&self) -> EventKinds {
        self.condition.wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.condition.see(at, event, &mut self.candidates);
    }
}

/// A stretch of the run that is searched at once.
struct Stretch {
    /// Its end.
    to: Cycle,
    direction: Direction,
}

impl<C: ?Sized> Sampler for Spotter<'_, C> {}

impl Timeline {
    /// Goes to the next or last point at which the condition holds, other than the present one.
    /// `limit` is the last point to consider; `stop` is called between stretches and decides
    /// whether to interrupt.
    pub fn search(
        &mut self,
        direction: Direction,
        condition: &mut dyn Condition,
        limit: Option<TimePoint>,
        stop: &mut dyn FnMut(Cycle) -> bool,
    ) -> SearchResult {
        match direction {
            Direction::Forward => self.search_forward(condition, limit, stop),
            Direction::Back => self.search_back(condition, limit, stop),
        }
    }

    /// Searches from the present point on, one stretch between two snapshots at a time.
    ///
    /// A stretch runs in a copy of the chip; the timeline itself stays at its beginning. On a hit,
    /// the timeline goes to it; otherwise the copy becomes the timeline's own run (`take_up`), so
    /// no cycle is simulated twice. The present point is never a hit, or else a search could not be
    /// repeated.
    fn search_forward(
        &mut self,
        condition: &mut dyn Condition,
        limit: Option<TimePoint>,
        stop: &mut dyn FnMut(Cycle) -> bool,
    ) -> SearchResult {
        let from = self.moment();
        let last = limit.unwrap_or(TimePoint {
            cycle: Cycle::MAX,
            rank: u8::MAX,
            instruction: None,
        });
        loop {
            let start = self.moment().cycle;
            let beyond = last.cycle.saturating_add(1);
            let to = self.next_stop(start).min(beyond);
            let live = self.fork_here();
            let within = |moment: TimePoint| moment > from && moment <= last;
            let stretch = Stretch {
                to,
                direction: Direction::Forward,
            };
            let (hit, live) = self.look_through(live, &stretch, condition, &within);
            if let Some(hit) = hit {
                self.goto_point(hit[0].moment);
                return SearchResult::Hit(hit);
            }
            if live.ending().is_some() || to == beyond {
                self.goto(to.min(last.cycle));
                return SearchResult::Nothing;
            }
            self.take_up(live);
            if stop(self.moment().cycle) {
                return SearchResult::Interrupted;
            }
        }
    }

    fn search_back(
        &mut self,
        condition: &mut dyn Condition,
        limit: Option<TimePoint>,
        stop: &mut dyn FnMut(Cycle) -> bool,
    ) -> SearchResult {
        let from = self.moment();
        let last = limit.unwrap_or_default();
        // The events of the last cycle are only seen when it is over.
        let mut to = from.cycle + u64::from(from.rank > 0);
        let within = |moment: TimePoint| moment < from && moment >= last;
        loop {
            let Some(before) = to.checked_sub(1) else {
                self.goto(0);
                return SearchResult::Nothing;
            };
            let mut start = self.snapshot_before(before);
            if to - start > 2 * SNAPSHOT_INTERVAL {
                // New snapshots are taken on the way.
                self.goto(before);
                start = self.snapshot_before(before);
            }
            let live = self.fork_before(start);
            let stretch = Stretch {
                to,
                direction: Direction::Back,
            };
            let (hit, _) = self.look_through(live, &stretch, condition, &within);
            if let Some(hit) = hit {
                self.goto_point(hit[0].moment);
                return SearchResult::Hit(hit);
            }
            if start <= last.cycle {
                self.goto_point(last);
                return SearchResult::Nothing;
            }
            if stop(start) {
                self.goto(start);
                return SearchResult::Interrupted;
            }
            to = start;
        }
    }

    /// Goes to just before the instruction of the core's program with a number.
    pub(crate) fn search_instruction(
        &mut self,
        number: u64,
        stop: &mut dyn FnMut(Cycle) -> bool,
    ) -> SearchResult {
        let mut live = self.fork_here();
        while core::next_instruction(live.chip()).is_some_and(|next| next > number)
            && live.handled() > 0
        {
            let before = live.handled() - 1;
            let start = self.snapshot_before(before);
            if before - start > 2 * SNAPSHOT_INTERVAL {
                // New snapshots are taken on the way.
                self.goto(before);
            }
            live = self.fork_before(self.snapshot_before(before));
        }
        core::set_probe(
            live.chip_mut(),
            Probe {
                numbers: number..number + 1,
                every: true,
                ..Probe::default()
            },
        );
        let mut length = FIRST_STRETCH;
        loop {
            let goes_on = live.run_exactly(
                live.handled().saturating_add(length),
                &mut npsim_chip::kernel::observer::NoObserver,
            );
            if let Some(hit) = core::first_probe_hit(live.chip()) {
                let moment = TimePoint::of_core(hit.cycle, number);
                self.goto_point(moment);
                return SearchResult::Hit(vec![Candidate {
                    moment,
                    mark: STEP,
                    place: None,
                }]);
            }
            if !goes_on {
                self.goto(Cycle::MAX);
                return SearchResult::Nothing;
            }
            length = (length * 2).min(SNAPSHOT_INTERVAL);
            if length == SNAPSHOT_INTERVAL && stop(live.handled()) {
                self.goto(live.handled());
                return SearchResult::Interrupted;
            }
        }
    }

    /// Searches a stretch from the position of a copy. Returns the first or last point at which the
    /// condition holds, and the copy at the stretch's end.
    fn look_through(
        &self,
        mut live: Node,
        stretch: &Stretch,
        condition: &mut dyn Condition,
        within: &dyn Fn(TimePoint) -> bool,
    ) -> (Option<Vec<Candidate>>, Node) {
        let (start, to) = (live.handled(), stretch.to);
        let examines_chip = condition.examines_chip();
        let probe = condition.probes(live.chip());
        if let Some(probe) = probe {
            let probe = Probe {
                numbers: 0..u64::MAX,
                backward: stretch.direction == Direction::Back,
                last_examined: start,
                ..probe
            };
            core::set_probe(live.chip_mut(), probe);
        }
        let mut spotter = Spotter {
            condition,
            candidates: Vec::new(),
        };
        if examines_chip {
            let Spotter {
                condition,
                candidates,
            } = &mut spotter;
            condition.look(start, true, live.chip(), candidates);
        }
        let mut goes_on = true;
        while goes_on && live.handled() < to {
            let next = if examines_chip {
                // The state is constant up to the next event.
                let event = live.chip().next_event().max(live.handled());
                event.saturating_add(1).min(to)
            } else {
                to
            };
            goes_on = live.run_exactly(next, &mut spotter);
            if examines_chip {
                let Spotter {
                    condition,
                    candidates,
                } = &mut spotter;
                condition.look(live.handled(), false, live.chip(), candidates);
            }
        }
        let Spotter {
            condition,
            mut candidates,
        } = spotter;
        let end = TimePoint::before(live.handled());
        // Instructions that a microengine was to execute after the end are not part of the run.
        candidates.retain(|it| it.moment <= end);
        for hit in core::probe_hits(live.chip_mut(), end.cycle) {
            if within(TimePoint::of_core(hit.cycle, hit.number)) {
                condition.probe_hit(&hit, &mut candidates);
            }
        }
        candidates.sort();
        condition.covered(TimePoint::before(start), end, &mut candidates);
        candidates.sort();
        candidates.retain(|it| within(it.moment));
        (
            self.first_of(start, &candidates, condition, stretch.direction),
            live,
        )
    }

    /// Judges candidates in order, and returns all hits at the first or last point that has any.
    ///
    /// The candidates are sorted by time, so a single copy of the chip, made when the first of them
    /// needs it, can run from each to the next. Searching backwards judges all of them as well and
    /// keeps the last hit: a copy cannot run back, and conditions count their hits in order.
    fn first_of(
        &self,
        start: Cycle,
        candidates: &[Candidate],
        condition: &mut dyn Condition,
        direction: Direction,
    ) -> Option<Vec<Candidate>> {
        let judged = candidates.iter().any(|it| condition.must_judge(it));
        let mut live = None;
        let mut found = None;
        for group in candidates.chunk_by(|a, b| a.moment == b.moment) {
            let mut hits = Vec::new();
            for candidate in group {
                let chip = if judged && condition.must_judge(candidate) {
                    let live = live.get_or_insert_with(|| {
                        if self.moment().cycle == start {
                            self.fork_here()
                        } else {
                            self.fork_before(start)
                        }
                    });
                    live.run_exactly(
                        candidate.moment.cycle,
                        &mut npsim_chip::kernel::observer::NoObserver,
                    );
                    Some(live.chip())
                } else {
                    None
                };
                if condition.judge(candidate, chip) {
                    hits.push(*candidate);
                }
            }
            if !hits.is_empty() {
                found = Some(hits);
                if direction == Direction::Forward {
                    break;
                }
            }
        }
        found
    }
}
