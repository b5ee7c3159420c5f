//! All breakpoints as one condition of a search.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::trace_event::{Kinds, TraceEvent, TraceEventKind};

use npsim_image::ProgramPoint;

use super::{Access, Breakpoint, What};
use crate::access::touches;
use crate::error::DebugError;
use crate::expression::{EvaluationScope, Lvalue};
use crate::names::ProjectNames;
use crate::search::{Candidate, CodePoint, Condition, Direction};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// What a breakpoint looks like in a search.
#[derive(Debug, Default)]
pub struct BreakpointSet {
    points: Vec<Breakpoint>,
    names: ProjectNames,
    last_id: u32,
    /// Microengine, address and place of a breakpoint, sorted.
    code: Vec<(u8, u16, usize)>,
    /// The values of watchpoints as they were looked at last.
    values: Vec<Option<u64>>,
    /// What changed in the stretch that is looked through: values before and after.
    changes: BTreeMap<(TimePoint, usize), (u64, u64)>,
    direction: Option<Direction>,
    /// Only what this context does at an instruction stops the run.
    only: Option<Thread>,
    /// Hits are counted without stopping the run.
    counts: bool,
    said: Vec<LogOutput>,
}

/// What a log point said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOutput {
    /// When.
    pub moment: TimePoint,
    /// The context.
    pub place: Option<CodePoint>,
    /// The text.
    pub text: String,
}

impl BreakpointSet {
    /// A set without breakpoints.
    #[must_use]
    pub fn new(names: ProjectNames) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// All breakpoints.
    #[must_use]
    pub fn points(&self) -> &[Breakpoint] {
        &self.points
    }

    /// Adds one and gives its number.
    pub fn add(&mut self, mut point: Breakpoint) -> u32 {
        self.last_id += 1;
        point.id = self.last_id;
        self.points.push(point);
        self.sort();
        self.last_id
    }

    /// Takes one away.
    ///
    /// # Errors
    /// There is none with this number.
    pub fn remove(&mut self, id: u32) -> Result<(), DebugError> {
        let at = self.position(id)?;
        self.points.remove(at);
        self.sort();
        Ok(())
    }

    /// Puts one into force or out of it.
    ///
    /// # Errors
    /// There is none with this number.
    pub fn enable(&mut self, id: u32, enabled: bool) -> Result<(), DebugError> {
        let at = self.position(id)?;
        self.points[at].enabled = enabled;
        self.sort();
        Ok(())
    }

    fn position(&self, id: u32) -> Result<usize, DebugError> {
        let found = self.points.iter().position(|it| it.id == id);
        found.ok_or_else(|| {
            DebugError::new(format!("there is no breakpoint {id}")).help("`breakpoints` lists them")
        })
    }

    fn sort(&mut self) {
        let enabled = self.points.iter().enumerate().filter(|it| it.1.enabled);
        let code = enabled.flat_map(|(at, point)| match &point.what {
            What::Code(places) => places.iter().map(|it| (it.0, it.1, at)).collect(),
            What::Watch { .. } => Vec::new(),
        });
        self.code = code.collect();
        self.code.sort_unstable();
        self.values = vec![None; self.points.len()];
    }

    /// Gets ready for a search.
    pub(crate) fn begin(&mut self, direction: Direction, only: Option<Thread>) {
        self.direction = Some(direction);
        self.only = only;
        self.counts = false;
        self.changes.clear();
    }

    /// Gets ready to count hits alone.
    pub(crate) fn begin_to_count(&mut self) {
        self.begin(Direction::Back, None);
        self.counts = true;
    }

    /// From when on hits have to be counted, for all to be known up to a moment.
    pub(crate) fn uncounted(&self, now: TimePoint) -> Option<TimePoint> {
        let counting = self
            .points
            .iter()
            .filter(|it| it.enabled && it.hits.is_some());
        let through = counting.map(|it| it.counted.through());
        through.min().filter(|through| *through < now)
    }

    /// All hits up to a moment have been counted.
    pub(crate) fn counted_through(&mut self, moment: TimePoint) {
        let counting = { self.points.iter_mut() }.filter(|it| it.enabled && it.hits.is_some());
        for point in counting {
            point.counted.known_through(moment);
        }
    }

    /// The run will be another one after a moment.
    pub(crate) fn forget_after(&mut self, moment: TimePoint) {
        for point in &mut self.points {
            point.counted.forget_after(moment);
            point.said.retain(|it| *it <= moment);
        }
    }

    /// What log points said since this was asked last.
    pub(crate) fn take_said(&mut self) -> Vec<LogOutput> {
        std::mem::take(&mut self.said)
    }

    /// A breakpoint of a candidate, and the values before and after if it is a watchpoint.
    pub(crate) fn hit(&self, candidate: &Candidate) -> Option<(&Breakpoint, Option<(u64, u64)>)> {
        let point = self.points.get(candidate.mark)?;
        let change = self.changes.get(&(candidate.moment, candidate.mark));
        Some((point, change.copied()))
    }

    fn scope<'s>(
        &'s self,
        chip: &'s Chip,
        cycle: Cycle,
        thread: Thread,
        point: ProgramPoint,
    ) -> EvaluationScope<'s> {
        EvaluationScope {
            chip,
            names: &self.names,
            cycle,
            me: thread.me,
            context: thread.context,
            point,
        }
    }

    fn watches(&self) -> impl Iterator<Item = (usize, &Breakpoint)> {
        let points = self.points.iter().enumerate();
        points.filter(|(_, point)| {
            point.enabled
                && matches!(
                    point.what,
                    What::Watch {
                        access: Access::Change,
                        ..
                    }
                )
        })
    }

    fn accesses(&self) -> impl Iterator<Item = (usize, &Lvalue, Access)> {
        let points = self.points.iter().enumerate();
        points.filter_map(|(at, point)| match &point.what {
            What::Watch {
                location: Some(location),
                access: access @ (Access::Read | Access::Write | Access::Any),
                ..
            } if point.enabled => Some((at, location, *access)),
            _ => None,
        })
    }

    fn issued(
        &self,
        at: Cycle,
        thread: Thread,
        (first, count): (u16, u16),
        out: &mut Vec<Candidate>,
    ) {
        let from = self
            .code
            .partition_point(|it| (it.0, it.1) < (thread.me, first));
        let those = self.code[from..].iter();
        let last = first.saturating_add(count);
        for &(_, pc, mark) in those.take_while(|it| it.0 == thread.me && it.1 < last) {
            if self.points[mark].is_for(thread) {
                out.push(Candidate {
                    moment: TimePoint::of(at + Cycle::from(pc - first), thread.me),
                    mark,
                    place: Some(CodePoint {
                        me: thread.me,
                        context: thread.context,
                        pc,
                    }),
                });
            }
        }
    }

    fn done(&self, at: Cycle, command: &BusCommand, out: &mut Vec<Candidate>) {
        for (mark, location, access) in self.accesses() {
            let Lvalue::Word(memory, address) = location else {
                continue;
            };
            let Some(it) = touches(command, *memory, *address) else {
                continue;
            };
            let wanted = match access {
                Access::Read => it.reads,
                Access::Write => it.writes,
                _ => true,
            };
            let thread = Thread {
                me: command.me,
                context: command.context,
            };
            if wanted && self.points[mark].is_for(thread) {
                out.push(Candidate {
                    // The hit has happened by then.
                    moment: TimePoint::before(at + 1),
                    mark,
                    place: Some(CodePoint {
                        me: command.me,
                        context: command.context,
                        pc: command.pc,
                    }),
                });
            }
        }
    }
}

impl Condition for BreakpointSet {
    fn wants(&self) -> Kinds {
        let mut kinds = Vec::new();
        if !self.code.is_empty() {
            kinds.push(TraceEventKind::Issued);
        }
        if self.only.is_none() && self.accesses().next().is_some() {
            kinds.push(TraceEventKind::Done);
        }
        Kinds::of(&kinds)
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        match *event {
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => self.issued(at, Thread { me, context }, (pc, count), candidates),
            TraceEvent::Done { ref command, .. } if self.only.is_none() => {
                self.done(at, command, candidates);
            }
            _ => {}
        }
    }

    fn looks(&self) -> bool {
        let counting = |it: &(usize, &Breakpoint)| !self.counts || it.1.hits.is_some();
        self.only.is_none() && self.watches().any(|it| counting(&it))
    }

    /// Evaluates every watched expression at a cycle and names a candidate for each that has
    /// changed since the call before.
    ///
    /// Calls come in the order of time within a stretch of the run (`look_through` of
    /// `search.rs`); `begins` is the first of one, which only has the values to compare with.
    /// `values` is by breakpoint and keeps the last value that could be computed: where a name is
    /// not live the expression has none, which is no change. `changes` keeps before and after
    /// for the message, should the candidate become the stop. Both are taken out of `self`
    /// while the breakpoints are borrowed.
    fn look(&mut self, at: Cycle, begins: bool, chip: &Chip, candidates: &mut Vec<Candidate>) {
        if begins {
            self.changes.clear();
        }
        let mut values = std::mem::take(&mut self.values);
        let mut changes = std::mem::take(&mut self.changes);
        for (mark, point) in self.watches() {
            let What::Watch {
                value,
                thread,
                point: looked_up,
                ..
            } = &point.what
            else {
                continue;
            };
            let scope = self.scope(chip, at, *thread, *looked_up);
            values[mark] = match (value.value(&scope), values[mark]) {
                (Ok(now), Some(before)) if !begins && now != before => {
                    let moment = TimePoint::before(at);
                    changes.insert((moment, mark), (before, now));
                    candidates.push(Candidate {
                        moment,
                        mark,
                        place: None,
                    });
                    Some(now)
                }
                (Ok(now), _) => Some(now),
                (Err(_), before) => before,
            };
        }
        (self.values, self.changes) = (values, changes);
    }

    fn must_judge(&self, candidate: &Candidate) -> bool {
        let point = self.points.get(candidate.mark);
        point.is_some_and(|it| it.condition.is_some() || it.log.is_some())
    }

    fn judge(&mut self, candidate: &Candidate, chip: Option<&Chip>) -> bool {
        let mark = candidate.mark;
        let Some(point) = self.points.get(mark) else {
            return false;
        };
        let (thread, looked_up) = match (&point.what, candidate.place) {
            (What::Watch { thread, point, .. }, _) => (*thread, *point),
            (What::Code(_), Some(CodePoint { me, context, pc })) => {
                (Thread { me, context }, ProgramPoint::before(pc))
            }
            (What::Code(_), None) => return false,
        };
        let cycle = candidate.moment.cycle;
        let scope = chip.map(|chip| self.scope(chip, cycle, thread, looked_up));
        if let (Some(condition), Some(scope)) = (&point.condition, &scope) {
            // What names nothing here does not hold.
            if condition.value(scope).unwrap_or(0) == 0 {
                return false;
            }
        }
        let text = match (&point.log, &scope) {
            (Some(log), Some(scope)) => Some(log.filled(scope)),
            _ => None,
        };
        let point = &mut self.points[mark];
        if let Some(hits) = point.hits
            && !hits.counts(point.counted.note(candidate.moment))
        {
            return false;
        }
        if let Some(text) = text {
            let forward = self.direction == Some(Direction::Forward);
            if forward && point.said.insert(candidate.moment) {
                self.said.push(LogOutput {
                    moment: candidate.moment,
                    place: candidate.place,
                    text,
                });
            }
            return false;
        }
        let its = candidate.place.is_none_or(|place| {
            let thread = Thread {
                me: place.me,
                context: place.context,
            };
            self.only.is_none_or(|only| only == thread)
        });
        its && !self.counts
    }

    fn covered(&mut self, from: TimePoint, _: TimePoint, _: &mut Vec<Candidate>) {
        // A search forward goes on to the next stretch when all of the one before was judged.
        // A step looks at part of the breakpoints only.
        if self.direction == Some(Direction::Forward) && self.only.is_none() {
            self.counted_through(from);
        }
    }
}
