//! Movement through the run: to a point in time, to the next stop, step by step, and back.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::ContextPhase;
use npsim_session::simulation::Ending;

use super::{CompletedStep, Debugger, MAX_REVERSIBLE_STEPS, Selection, Stop, StopCause, image_of};
use crate::breakpoints::{Breakpoint, BreakpointKind, BreakpointSet, Edit};
use crate::core;
use crate::core_step::CoreLines;
use crate::error::DebugError;
use crate::search::{Candidate, CodePoint, Condition, Direction, STEP, SearchResult};
use crate::source::{self, SourceFrame, StepPosition};
use crate::step::{BackwardStep, ForwardStep, PipelineTurns, Step, StepOrStop};
use crate::thread::Thread;
use crate::timeline::TimePoint;

impl Debugger {
    /// Goes to a cycle.
    pub fn goto(&mut self, cycle: Cycle) -> Stop {
        self.goto_place(TimePoint::before(cycle), None)
    }

    /// Goes to a point in time at which a context is at an instruction.
    pub fn goto_place(&mut self, moment: TimePoint, place: Option<CodePoint>) -> Stop {
        if !self.approach(moment.cycle) {
            self.select_place(None);
            return self.stopped(StopCause::Interrupted);
        }
        self.timeline.goto_point(moment);
        let come = self.timeline.moment() == moment;
        self.select_place(place.filter(|_| come));
        let reason = match self.ended() {
            Some(reason) => reason,
            None => StopCause::Goto,
        };
        self.stopped(reason)
    }

    /// Runs close to a cycle that lies far ahead. Returns false if interrupted.
    fn approach(&mut self, cycle: Cycle) -> bool {
        while self.timeline.ending().is_none() && self.timeline.end().is_none() {
            // Cycles that were simulated before are reached from a snapshot.
            let next = (self.timeline).next_stop(self.timeline.recorded_to().max(self.cycle()));
            if next >= cycle {
                break;
            }
            self.timeline.goto(next);
            if let Some(asked) = &mut self.stop
                && (asked.0)(next)
            {
                return false;
            }
        }
        true
    }

    /// Continues, forward or back, to where a breakpoint or a check stops the run.
    pub fn run(&mut self, direction: Direction) -> Stop {
        let found = self.look_for_stops(direction, None);
        self.arrived(&found, direction)
    }

    fn look_for_stops(&mut self, direction: Direction, limit: Option<TimePoint>) -> SearchResult {
        self.count_hits();
        self.stops.begin(direction, None);
        let mut asked = self.stop.take();
        let stop = &mut |cycle| asked.as_mut().is_some_and(|asked| (asked.0)(cycle));
        let stops = &mut self.stops;
        let found = self.timeline.search(direction, stops, limit, stop);
        self.stop = asked;
        found
    }

    /// Like [`Self::run`], but no further than this cycle, where the run counts as interrupted.
    pub fn run_within(&mut self, direction: Direction, limit: Cycle) -> Stop {
        let found = self.look_for_stops(direction, Some(TimePoint::before(limit)));
        let is_over = match direction {
            Direction::Forward => self.timeline.ending().is_some(),
            Direction::Back => limit == 0,
        };
        match found {
            SearchResult::Nothing if !is_over => {
                self.arrived(&SearchResult::Interrupted, direction)
            }
            found => self.arrived(&found, direction),
        }
    }

    /// Goes to where a context next, or last, reaches one of these words,
    /// ignoring breakpoints on the way.
    ///
    /// # Errors
    /// Returns an error if the context does not reach any; the position is
    /// unchanged.
    pub fn run_to_words(
        &mut self,
        words: Vec<(u8, u16)>,
        thread: Thread,
        direction: Direction,
    ) -> Result<Stop, DebugError> {
        let start = self.current_selection();
        let mut point = Breakpoint::new("", BreakpointKind::Code(words));
        point.threads.push(thread);
        let names = self.names.clone();
        let kept = std::mem::replace(&mut self.stops, BreakpointSet::new(names));
        self.stops.add(point);
        let stop = self.run(direction);
        self.stops = kept;
        match stop.reason {
            StopCause::Breakpoint(_) => Ok(self.stopped(StopCause::Goto)),
            StopCause::Interrupted => Ok(stop),
            _ => {
                self.timeline.goto_point(start.moment);
                self.look = start;
                let when = match direction {
                    Direction::Forward => "again before the run ends",
                    Direction::Back => "before this moment",
                };
                Err(DebugError::new(format!(
                    "context {thread} is not there {when}"
                )))
            }
        }
    }

    /// Steps the selected context.
    pub fn step(&mut self, step: Step, direction: Direction) -> Stop {
        let from = self.current_selection();
        if let Some(made) = self.made.last().copied() {
            let takes_back = made.step == step && made.direction == direction.reverse();
            if takes_back && made.to == from {
                self.made.pop();
                self.timeline.goto_point(made.from.moment);
                self.look = made.from;
                return self.stopped(StopCause::Step);
            }
            if made.to != from {
                self.made.clear();
            }
        }
        let stop = match direction {
            _ if self.look.thread.is_core() => self.step_core(step, direction),
            Direction::Forward => self.step_on(step),
            Direction::Back => self.step_back(step),
        };
        if stop.reason == StopCause::Step {
            if self.made.len() == MAX_REVERSIBLE_STEPS {
                self.made.drain(..MAX_REVERSIBLE_STEPS / 2);
            }
            self.made.push(CompletedStep {
                step,
                direction,
                from,
                to: self.current_selection(),
            });
        }
        stop
    }

    /// Steps the core's program: by lines if it has line information, otherwise by an instruction.
    fn step_core(&mut self, step: Step, direction: Direction) -> Stop {
        let back = direction == Direction::Back;
        let lines = match (step, self.core()) {
            (Step::Line | Step::Into, Some(core)) => {
                Some(CoreLines::new(&core, step == Step::Into, back))
            }
            _ => None,
        };
        let Some(mut lines) = lines.filter(CoreLines::has_lines) else {
            return self.step_instruction(direction);
        };
        let found = self.seek(&mut lines, direction);
        self.arrived(&found, direction)
    }

    /// Steps the core's program by one instruction, or back by one. The target is identified by its
    /// number, so no breakpoint can lie in between.
    fn step_instruction(&mut self, direction: Direction) -> Stop {
        let next = core::next_instruction(self.chip()).unwrap_or(0);
        let number = match direction {
            Direction::Forward => Some(next + 1),
            Direction::Back => next.checked_sub(1),
        };
        let Some(number) = number else {
            self.timeline.goto(0);
            return self.arrived(&SearchResult::Nothing, direction);
        };
        let mut asked = self.stop.take();
        let stop = &mut |cycle| asked.as_mut().is_some_and(|asked| (asked.0)(cycle));
        let found = self.timeline.search_instruction(number, stop);
        self.stop = asked;
        self.arrived(&found, direction)
    }

    fn current_selection(&self) -> Selection {
        Selection {
            moment: self.timeline.moment(),
            ..self.look
        }
    }

    fn step_on(&mut self, step: Step) -> Stop {
        let thread = self.look.thread;
        let (pc, level) = (self.pc(thread), self.look.level);
        let Some(image) = self.image(thread.me) else {
            return self.stopped(StopCause::Step);
        };
        if step == Step::Into && source::depth(image, pc) > level {
            self.look.level += 1;
            return self.stopped(StopCause::Step);
        }
        let mut ahead = match step {
            Step::Instruction => ForwardStep::instruction(thread, image),
            Step::Line | Step::Into => ForwardStep::line(thread, image, pc, level),
            Step::Out => ForwardStep::out(thread, image, pc, level),
            Step::Run => {
                return self.step_to_pipeline_turn(
                    thread.me,
                    Some(thread.context),
                    Direction::Forward,
                );
            }
            Step::Any => return self.step_to_pipeline_turn(thread.me, None, Direction::Forward),
        };
        let before = StepPosition::of(image, pc, level);
        let found = self.seek(&mut ahead, Direction::Forward);
        let mut stop = self.arrived(&found, Direction::Forward);
        if stop.reason == StopCause::Step && step != Step::Instruction {
            self.close(&before, level);
            stop.thread = self.look.thread;
        }
        stop
    }

    /// Closes the macros that a step over lines has not entered.
    fn close(&mut self, before: &StepPosition, level: usize) {
        let thread = self.look.thread;
        let pc = self.pc(thread);
        if let Some(image) = self.image(thread.me) {
            let now = StepPosition::of(image, pc, level);
            self.look.level = level.min(before.common(&now));
        }
    }

    /// Steps backwards: to the last point at which a forward step of this kind could have begun.
    ///
    /// `look.level` is the number of open macro uses around the instruction: a line at that level,
    /// with everything expanded inside it, is one step ([`StepPosition`]). [`BackwardStep`] of `step.rs` finds
    /// the beginnings of earlier steps at a level.
    ///
    /// | step | beginnings that count | level afterwards |
    /// | --- | --- | --- |
    /// | `Instruction` | every instruction | innermost |
    /// | `Line` | lines at the level | as before, or further out where the step left a macro by its beginning |
    /// | `Into` | lines at any level | innermost |
    /// | `Out` | lines one level further out, this one included | one less |
    /// | `Run`, `Any` | turns of the context, of the microengine | innermost |
    ///
    /// `arrived` opens all macros around the place (`select_place`); `Line` and `Out` close them again.
    ///
    /// If a breakpoint or the beginning of the run comes first, the step ends there.
    fn step_back(&mut self, step: Step) -> Stop {
        let thread = self.look.thread;
        let (pc, level) = (self.pc(thread), self.look.level);
        let moment = self.timeline.moment();
        let Some(image) = self.image(thread.me) else {
            return self.stopped(StopCause::Step);
        };
        let (mut behind, level) = match step {
            Step::Instruction => (BackwardStep::instruction(thread, moment), level),
            Step::Line => (BackwardStep::line(thread, moment, image, level), level),
            // Into the previously used macro, from its end.
            Step::Into => {
                let innermost = usize::MAX;
                (
                    BackwardStep::line(thread, moment, image, innermost),
                    innermost,
                )
            }
            Step::Out => {
                let outer = level.saturating_sub(1);
                // The use of the macro begins at an earlier instruction, or at this one.
                let later = TimePoint {
                    rank: moment.rank.saturating_add(1),
                    ..moment
                };
                self.timeline.goto_point(later);
                (
                    BackwardStep::line(thread, later, image_of(&self.timeline, thread), outer),
                    outer,
                )
            }
            Step::Run => {
                return self.step_to_pipeline_turn(
                    thread.me,
                    Some(thread.context),
                    Direction::Back,
                );
            }
            Step::Any => return self.step_to_pipeline_turn(thread.me, None, Direction::Back),
        };
        let before = StepPosition::of(image_of(&self.timeline, thread), pc, level);
        let found = self.seek(&mut behind, Direction::Back);
        let stop = self.arrived(&found, Direction::Back);
        if stop.reason != StopCause::Step {
            return stop;
        }
        match step {
            Step::Line => {
                self.close(&before, level);
                self.begin_line(level);
            }
            Step::Out => self.look.level = level,
            _ => {}
        }
        self.stopped(StopCause::Step)
    }

    /// Goes back to where the line begins, if a macro was left backwards.
    fn begin_line(&mut self, level: usize) {
        let Selection {
            thread,
            level: now,
            place,
            ..
        } = self.current_selection();
        if now >= level {
            return;
        }
        let moment = self.timeline.moment();
        let later = TimePoint {
            rank: moment.rank.saturating_add(1),
            ..moment
        };
        self.timeline.goto_point(later);
        let image = image_of(&self.timeline, thread);
        let mut behind = BackwardStep::line(thread, later, image, now);
        if let SearchResult::Hit(hits) = self.seek(&mut behind, Direction::Back) {
            self.select_place(hits[0].place);
        } else {
            self.timeline.goto_point(moment);
            self.select_place(place);
        }
        self.look.level = now;
    }

    fn step_to_pipeline_turn(&mut self, me: u8, context: Option<u8>, direction: Direction) -> Stop {
        let found = self.seek(&mut PipelineTurns { me, context }, direction);
        self.arrived(&found, direction)
    }

    /// Searches for a step's end; breakpoints hit by this context on the way take precedence.
    fn seek(&mut self, step: &mut dyn Condition, direction: Direction) -> SearchResult {
        self.count_hits();
        self.stops.begin(direction, Some(self.look.thread));
        let mut asked = self.stop.take();
        let stop = &mut |cycle| asked.as_mut().is_some_and(|asked| (asked.0)(cycle));
        let mut both = StepOrStop {
            step,
            stops: &mut self.stops,
        };
        let found = self.timeline.search(direction, &mut both, None, stop);
        self.stop = asked;
        found
    }

    /// Goes to where a condition next, or last, holds, for answering questions.
    pub(crate) fn find(
        &mut self,
        condition: &mut dyn Condition,
        direction: Direction,
        limit: Option<TimePoint>,
    ) -> SearchResult {
        let mut asked = self.stop.take();
        let stop = &mut |cycle| asked.as_mut().is_some_and(|asked| (asked.0)(cycle));
        let found = self.timeline.search(direction, condition, limit, stop);
        self.stop = asked;
        found
    }

    /// Counts the hits up to now of breakpoints that depend on the number of hits.
    fn count_hits(&mut self) {
        let now = self.timeline.moment();
        let Some(from) = self.stops.uncounted(now) else {
            return;
        };
        self.timeline.goto_point(from);
        self.stops.begin_to_count();
        // While counting, the condition never holds.
        let stops = &mut self.stops;
        let forward = Direction::Forward;
        self.timeline
            .search(forward, stops, Some(now), &mut |_| false);
        self.stops.counted_through(now);
        self.timeline.goto_point(now);
    }

    /// Turns the result of a search into a stop.
    pub(crate) fn arrived(&mut self, found: &SearchResult, direction: Direction) -> Stop {
        let reason = match found {
            SearchResult::Hit(hits) => {
                let place = hits.iter().find_map(|it| it.place);
                self.select_place(place);
                self.close_to_line(hits);
                self.reason_of(hits)
            }
            SearchResult::Nothing => {
                self.select_place(None);
                match self.ended() {
                    Some(reason) if direction == Direction::Forward => reason,
                    _ => StopCause::Beginning,
                }
            }
            SearchResult::Interrupted => {
                self.select_place(None);
                StopCause::Interrupted
            }
        };
        self.stopped(reason)
    }

    /// Closes the macros inside the line of a breakpoint that was hit.
    fn close_to_line(&mut self, hits: &[Candidate]) {
        let points = hits.iter().filter(|it| it.mark != STEP);
        let mut lines = points.filter_map(|it| self.stops.point(it)?.line.clone());
        let Some((file, line)) = lines.next_back() else {
            return;
        };
        let thread = self.look.thread;
        let Some(image) = self.image(thread.me) else {
            return;
        };
        let frames = source::frames(image, self.pc(thread));
        let of_line = |frame: &SourceFrame| frame.file == file && frame.line == line;
        if let Some(outside) = frames.iter().rev().position(of_line) {
            self.look.level = outside;
        }
    }

    fn reason_of(&self, hits: &[Candidate]) -> StopCause {
        let points = hits.iter().filter(|it| it.mark != STEP);
        let mut points: Vec<_> = points.filter_map(|it| self.stops.hit(it)).collect();
        points.dedup();
        if points.is_empty() {
            StopCause::Step
        } else {
            StopCause::Breakpoint(points)
        }
    }

    /// Why the run ends here, if it does; selects the context at fault.
    fn ended(&mut self) -> Option<StopCause> {
        match self.timeline.ending()?.clone() {
            Ending::Fault(fault) => {
                if let (Some(me), Some(context)) = (fault.me, fault.context) {
                    // A fault found when the run is over may be reported for an instruction that
                    // executed long ago; if the context sleeps, its own position is used.
                    let core = self.chip().microengines().get(usize::from(me));
                    let sleeps =
                        core.is_some_and(|it| it.context(context).phase == ContextPhase::Sleeping);
                    let pc = fault.pc.filter(|_| !sleeps);
                    let place = pc.map(|pc| CodePoint { me, context, pc });
                    self.look.thread = Thread { me, context };
                    self.look.place = place;
                    self.open_all();
                } else if fault.check.is_some_and(core::finds) {
                    self.look.thread = Thread::CORE;
                    self.look.place = None;
                }
                Some(StopCause::Fault(fault))
            }
            ending => Some(StopCause::End(ending)),
        }
    }

    /// Selects the context at a place.
    fn select_place(&mut self, place: Option<CodePoint>) {
        self.look.moment = self.timeline.moment();
        self.look.place = place;
        if let Some(place) = place {
            self.look.thread = Thread {
                me: place.me,
                context: place.context,
            };
        } else if self.look.moment.core().is_some() {
            self.look.thread = Thread::CORE;
        }
        self.open_all();
    }

    pub(crate) fn stopped(&mut self, reason: StopCause) -> Stop {
        self.reason = reason.clone();
        self.look.moment = self.timeline.moment();
        Stop {
            reason,
            thread: self.look.thread,
            said: self.stops.take_log_output(),
        }
    }

    /// Changes the chip at the present point, from which the run will take a different course.
    pub(crate) fn change(&mut self, edits: Vec<Edit>, change: impl FnOnce(&mut Chip)) {
        let moment = self.timeline.moment();
        self.timeline.change(change);
        self.stops.forget_after(moment);
        self.stops.edited(edits, moment.cycle);
        self.made.clear();
    }
}
