//! All breakpoints as a single search condition.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::trace_event::{EventKinds, MemoryName, TraceEvent, TraceEventKind, Writer};

use npsim_image::ProgramPoint;
use npsim_xscale::{Probe, ProbeEvent, ProbeHit};

use super::{Access, Breakpoint, BreakpointKind, Edit};
use crate::access::{Author, reads, writes};
use crate::core::CoreView;
use crate::error::DebugError;
use crate::expression::{EvaluationScope, Lvalue};
use crate::names::{Memory, ProjectNames};
use crate::search::{Candidate, CodePoint, Condition, Direction};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// All breakpoints, with their state during a search.
#[derive(Debug, Default)]
pub struct BreakpointSet {
    points: Vec<Breakpoint>,
    names: ProjectNames,
    last_id: u32,
    /// Microengine, address and index of code breakpoints, sorted.
    code: Vec<(u8, u16, usize)>,
    /// The values of watchpoints when they were last evaluated.
    values: Vec<Option<u64>>,
    /// Changes in the stretch that is being searched: values before and after.
    changes: BTreeMap<(TimePoint, usize), (u64, u64)>,
    /// The writers of watched longwords in the stretch that is being searched.
    authors: BTreeMap<(TimePoint, usize), Vec<Author>>,
    /// Why an expression could not be evaluated, for stops caused by that.
    failures: BTreeMap<(TimePoint, usize), String>,
    /// Manual changes, in order.
    edits: Vec<Edit>,
    direction: Option<Direction>,
    /// If set, only code breakpoints hit by this context stop the run.
    only: Option<Thread>,
    /// Whether hits are counted without stopping the run.
    counts: bool,
    said: Vec<LogOutput>,
}

/// A hit breakpoint that stops the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointHit {
    /// The breakpoint's number.
    pub number: u32,
    /// The value before and after, if a watched value has changed.
    pub change: Option<(u64, u64)>,
    /// The writers of the longword, if one is watched.
    pub by: Vec<Author>,
    /// Why its expression could not be evaluated, which also stops the run.
    pub failure: Option<String>,
}

/// The output of a log point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOutput {
    /// The point in time.
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

    /// Adds a breakpoint and returns its number.
    pub fn add(&mut self, mut point: Breakpoint) -> u32 {
        self.last_id += 1;
        point.id = self.last_id;
        self.points.push(point);
        self.sort();
        self.last_id
    }

    /// Removes a breakpoint.
    ///
    /// # Errors
    /// Returns an error if there is no breakpoint with this number.
    pub fn remove(&mut self, id: u32) -> Result<(), DebugError> {
        let at = self.position(id)?;
        self.points.remove(at);
        self.sort();
        Ok(())
    }

    /// Enables or disables a breakpoint.
    ///
    /// # Errors
    /// Returns an error if there is no breakpoint with this number.
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
            BreakpointKind::Code(places) => places.iter().map(|it| (it.0, it.1, at)).collect(),
            BreakpointKind::Watch { .. }
            | BreakpointKind::Core(_)
            | BreakpointKind::CoreWord(_) => Vec::new(),
        });
        self.code = code.collect();
        self.code.sort_unstable();
        self.values = vec![None; self.points.len()];
    }

    /// Prepares for a search.
    pub(crate) fn begin(&mut self, direction: Direction, only: Option<Thread>) {
        self.direction = Some(direction);
        self.only = only;
        self.counts = false;
        self.changes.clear();
        self.authors.clear();
        self.failures.clear();
    }

    /// Manual changes, in order.
    pub(crate) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Records manual changes. Earlier records from after `now` belong to a discarded run and are
    /// dropped.
    pub(crate) fn edited(&mut self, edits: Vec<Edit>, now: Cycle) {
        self.edits.retain(|it| it.cycle <= now);
        self.edits.extend(edits);
    }

    /// Prepares for counting hits only.
    pub(crate) fn begin_to_count(&mut self) {
        self.begin(Direction::Back, None);
        self.counts = true;
    }

    /// The point from which hits have to be counted so that all are known up to `now`; `None` if
    /// they are known.
    pub(crate) fn uncounted(&self, now: TimePoint) -> Option<TimePoint> {
        let counting = self
            .points
            .iter()
            .filter(|it| it.enabled && it.hits.is_some());
        let through = counting.map(|it| it.counted.through());
        through.min().filter(|through| *through < now)
    }

    /// Notes that all hits up to a point have been counted.
    pub(crate) fn counted_through(&mut self, moment: TimePoint) {
        let counting = { self.points.iter_mut() }.filter(|it| it.enabled && it.hits.is_some());
        for point in counting {
            point.counted.known_through(moment);
        }
    }

    /// Forgets the hits after a point, from which the run will take a different course.
    pub(crate) fn forget_after(&mut self, moment: TimePoint) {
        for point in &mut self.points {
            point.counted.forget_after(moment);
            point.said.retain(|it| *it <= moment);
        }
    }

    /// Takes the output of log points since the last call.
    pub(crate) fn take_log_output(&mut self) -> Vec<LogOutput> {
        std::mem::take(&mut self.said)
    }

    /// The breakpoint of a candidate.
    pub(crate) fn point(&self, candidate: &Candidate) -> Option<&Breakpoint> {
        self.points.get(candidate.mark)
    }

    /// The stop for a candidate, with the details of its breakpoint.
    pub(crate) fn hit(&self, candidate: &Candidate) -> Option<BreakpointHit> {
        let at = (candidate.moment, candidate.mark);
        Some(BreakpointHit {
            number: self.point(candidate)?.id,
            change: self.changes.get(&at).copied(),
            by: self.authors.get(&at).cloned().unwrap_or_default(),
            failure: self.failures.get(&at).cloned(),
        })
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
                    BreakpointKind::Watch {
                        access: Access::Change,
                        ..
                    }
                )
        })
    }

    /// The watched locations: longwords, and registers that may be changed manually.
    fn locations(&self) -> impl Iterator<Item = (usize, Lvalue, Access, Thread)> + '_ {
        let points = self.points.iter().enumerate();
        points.filter_map(|(at, point)| match &point.what {
            BreakpointKind::Watch {
                location: Some(location),
                access,
                thread,
                ..
            } if point.enabled => Some((at, *location, *access, *thread)),
            _ => None,
        })
    }

    /// The watched longwords of memories.
    fn words(&self) -> impl Iterator<Item = (usize, (Memory, u32), Access)> + '_ {
        self.locations()
            .filter_map(|(mark, location, access, _)| match location {
                Lvalue::Word(memory, address) => Some((mark, (memory, address), access)),
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

    /// Handles the completion of a command that reads.
    fn done(&self, at: Cycle, command: &BusCommand, out: &mut Vec<Candidate>) {
        for (mark, (memory, address), access) in self.words() {
            let place = CodePoint {
                me: command.me,
                context: command.context,
                pc: command.pc,
            };
            let wanted = matches!(access, Access::Read | Access::Any);
            if wanted && self.is_for(mark, Some(place)) && reads(command, memory, address) {
                out.push(Candidate {
                    // The hit has happened by then.
                    moment: TimePoint::before(at + 1),
                    mark,
                    place: Some(place),
                });
            }
        }
    }

    /// Handles a write of longwords of a memory.
    fn written(
        &mut self,
        at: Cycle,
        longwords: (MemoryName, u32, u16),
        by: Writer,
        out: &mut Vec<Candidate>,
    ) {
        let author = Author::Chip(by);
        let moment = TimePoint::before(at + 1);
        let mut found = Vec::new();
        for (mark, (memory, address), access) in self.words() {
            if access != Access::Read
                && writes(longwords, memory, address)
                && (access == Access::Change || self.is_for(mark, author.place()))
            {
                found.push((mark, access));
            }
        }
        for (mark, access) in found {
            self.authors.entry((moment, mark)).or_default().push(author);
            // Changes are detected in the memory itself.
            if access != Access::Change {
                out.push(Candidate {
                    moment,
                    mark,
                    place: author.place(),
                });
            }
        }
    }

    /// Whether a breakpoint applies to an action at a place, or to one without a context.
    fn is_for(&self, mark: usize, place: Option<CodePoint>) -> bool {
        let point = &self.points[mark];
        place.map_or(point.threads.is_empty(), |place| {
            point.is_for(Thread {
                me: place.me,
                context: place.context,
            })
        })
    }

    /// Adds candidates for manual changes between two points.
    fn see_edits(&mut self, from: TimePoint, to: TimePoint, out: &mut Vec<Candidate>) {
        let mut found = Vec::new();
        for (mark, location, access, thread) in self.locations() {
            for edit in self.edits.iter().filter(|it| it.is_of(location, thread)) {
                let moment = TimePoint::before(edit.cycle);
                let changes = edit.before != edit.value;
                let wanted = match access {
                    Access::Change => changes,
                    Access::Write | Access::Any => true,
                    Access::Read => false,
                };
                if wanted && (from..=to).contains(&moment) {
                    let values = changes.then_some((edit.before.into(), edit.value.into()));
                    found.push((moment, mark, access, values));
                }
            }
        }
        for (moment, mark, access, values) in found {
            let at = (moment, mark);
            let authors = self.authors.entry(at).or_default();
            if !authors.contains(&Author::UserRequest) {
                authors.push(Author::UserRequest);
            }
            if let (Access::Change, Some(values)) = (access, values) {
                self.changes.insert(at, values);
            }
            out.push(Candidate {
                moment,
                mark,
                place: None,
            });
        }
    }
}

impl Condition for BreakpointSet {
    fn wants(&self) -> EventKinds {
        let mut kinds = Vec::new();
        if !self.code.is_empty() {
            kinds.push(TraceEventKind::Issued);
        }
        if self.only.is_none() {
            for (_, _, access) in self.words() {
                if access != Access::Read {
                    kinds.push(TraceEventKind::Written);
                }
                if matches!(access, Access::Read | Access::Any) {
                    kinds.push(TraceEventKind::Done);
                }
            }
        }
        EventKinds::of(&kinds)
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
            TraceEvent::Written {
                memory,
                address,
                words,
                by,
            } if self.only.is_none() => {
                self.written(at, (memory, address, words), by, candidates);
            }
            _ => {}
        }
    }

    fn probes(&self, chip: &Chip) -> Option<Probe> {
        if self.only.is_some_and(|it| !it.is_core()) {
            return None;
        }
        let view = CoreView::of(chip)?;
        let mut probe = Probe::default();
        for point in self.points.iter().filter(|it| it.enabled) {
            match &point.what {
                BreakpointKind::Core(addresses) => probe.addresses.extend(addresses),
                BreakpointKind::CoreWord(address) => {
                    probe.words.push((*address, view.word(*address)));
                }
                BreakpointKind::Code(_) | BreakpointKind::Watch { .. } => {}
            }
        }
        probe.addresses.sort_unstable();
        probe.addresses.dedup();
        let is_needed = !probe.addresses.is_empty() || !probe.words.is_empty();
        is_needed.then_some(probe)
    }

    fn probe_hit(&mut self, hit: &ProbeHit, candidates: &mut Vec<Candidate>) {
        let moment = TimePoint::of_core(hit.cycle, hit.number);
        for (mark, point) in self.points.iter().enumerate().filter(|it| it.1.enabled) {
            let met = match (&point.what, hit.what) {
                (BreakpointKind::Core(addresses), ProbeEvent::Instruction(address)) => {
                    addresses.contains(&address)
                }
                (
                    BreakpointKind::CoreWord(word),
                    ProbeEvent::Change {
                        address,
                        before,
                        now,
                    },
                ) if *word == address => {
                    let values = (before.into(), now.into());
                    self.changes.insert((moment, mark), values);
                    true
                }
                _ => false,
            };
            if met {
                candidates.push(Candidate {
                    moment,
                    mark,
                    place: None,
                });
            }
        }
    }

    fn examines_chip(&self) -> bool {
        let counting = |it: &(usize, &Breakpoint)| !self.counts || it.1.hits.is_some();
        self.only.is_none() && self.watches().any(|it| counting(&it))
    }

    /// Evaluates every watched expression at a cycle and adds a candidate for each that has changed
    /// since the previous call.
    ///
    /// Calls come in order of time within a stretch of the run (`look_through` of `search.rs`); the
    /// first one of a stretch, with `begins`, only records the values to compare with. `values` is
    /// indexed by breakpoint, with `None` if the expression cannot be evaluated, which is a
    /// candidate if it could be before. `changes` keeps the values before and after for the
    /// message, should the candidate become the stop, and `failures` why there is no value. They
    /// are taken out of `self` while the breakpoints are borrowed.
    fn look(&mut self, at: Cycle, begins: bool, chip: &Chip, candidates: &mut Vec<Candidate>) {
        if begins {
            self.changes.clear();
        }
        let mut values = std::mem::take(&mut self.values);
        let mut changes = std::mem::take(&mut self.changes);
        let mut failures = std::mem::take(&mut self.failures);
        for (mark, point) in self.watches() {
            let BreakpointKind::Watch {
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
                (Err(complaint), Some(_)) if !begins => {
                    let moment = TimePoint::before(at);
                    failures.insert((moment, mark), complaint.message);
                    candidates.push(Candidate {
                        moment,
                        mark,
                        place: None,
                    });
                    None
                }
                (now, _) => now.ok(),
            };
        }
        (self.values, self.changes, self.failures) = (values, changes, failures);
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
            (BreakpointKind::Watch { thread, point, .. }, _) => (*thread, *point),
            (BreakpointKind::Code(_), Some(CodePoint { me, context, pc })) => {
                (Thread { me, context }, ProgramPoint::before(pc))
            }
            (BreakpointKind::Code(_), None) => return false,
            (BreakpointKind::Core(_) | BreakpointKind::CoreWord(_), _) => {
                (Thread::CORE, ProgramPoint::before(0))
            }
        };
        let cycle = candidate.moment.cycle;
        let scope = chip.map(|chip| self.scope(chip, cycle, thread, looked_up));
        let its = candidate.place.is_none_or(|place| {
            let thread = Thread {
                me: place.me,
                context: place.context,
            };
            self.only.is_none_or(|only| only == thread)
        });
        if let (Some(condition), Some(scope)) = (&point.condition, &scope) {
            match condition.value(scope) {
                Ok(0) => return false,
                Ok(_) => {}
                // Neither true nor false: leave it to the user.
                Err(complaint) => {
                    let failure = format!("`{condition}`: {}", complaint.message);
                    self.failures.insert((candidate.moment, mark), failure);
                    return its && !self.counts;
                }
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
        its && !self.counts
    }

    fn covered(&mut self, from: TimePoint, to: TimePoint, candidates: &mut Vec<Candidate>) {
        // Other stretches are no longer needed.
        self.authors.retain(|at, _| (from..=to).contains(&at.0));
        let cycles = from.cycle..=to.cycle;
        self.changes.retain(|at, _| cycles.contains(&at.0.cycle));
        if self.only.is_none() {
            self.see_edits(from, to, candidates);
        }
        // A forward search moves to the next stretch once all of the previous one has been judged.
        // A step only considers some of the breakpoints.
        if self.direction == Some(Direction::Forward) && self.only.is_none() {
            self.counted_through(from);
        }
    }
}
