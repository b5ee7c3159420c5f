//! Steps of a context, as search conditions.

use std::collections::HashMap;

use npsim_chip::Cycle;
use npsim_chip::kernel::trace_event::{ContextState, EventKinds, TraceEvent, TraceEventKind};
use npsim_image::Image;

use crate::search::{Candidate, CodePoint, Condition, STEP};
use crate::source::{StepPosition, uses};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the next instruction of the context.
    Instruction,
    /// To the next line of the context, over the macros used on the line.
    Line,
    /// Into the macro used on the line, or to the next line if there is none.
    Into,
    /// Out of the macro around the context's instruction.
    Out,
    /// To where the context gets the pipeline again.
    Run,
    /// To where any context of the microengine gets the pipeline.
    Any,
}

/// A forward step, which ends at the first wanted instruction of a context.
pub(crate) struct ForwardStep {
    thread: Thread,
    /// Whether an instruction is wanted, by address.
    wanted: Vec<bool>,
}

impl ForwardStep {
    /// A step to the next instruction.
    pub fn instruction(thread: Thread, image: &Image) -> Self {
        Self {
            thread,
            wanted: vec![true; image.words.len()],
        }
    }

    /// A step to another line than that of `pc`, with `depth` macros open.
    pub fn line(thread: Thread, image: &Image, pc: u16, depth: usize) -> Self {
        let from = StepPosition::of(image, pc, depth);
        let words = 0..image.words.len() as u16;
        Self {
            thread,
            wanted: words
                .map(|pc| StepPosition::of(image, pc, depth) != from)
                .collect(),
        }
    }

    /// A step out of the innermost of `depth` macros around `pc`.
    pub fn out(thread: Thread, image: &Image, pc: u16, depth: usize) -> Self {
        let mut around = uses(image, pc);
        around.truncate(depth);
        let words = 0..image.words.len() as u16;
        Self {
            thread,
            wanted: words
                .map(|pc| !uses(image, pc).starts_with(&around))
                .collect(),
        }
    }
}

/// The instructions of a context in an event, each with its point in time.
fn issued(
    event: &TraceEvent,
    at: Cycle,
    thread: Thread,
) -> impl Iterator<Item = (TimePoint, CodePoint)> {
    let (first, count) = match *event {
        TraceEvent::Issued {
            me,
            context,
            pc,
            count,
        } if (me, context) == (thread.me, thread.context) => (pc, count),
        _ => (0, 0),
    };
    (0..count).map(move |n| {
        let place = CodePoint {
            me: thread.me,
            context: thread.context,
            pc: first + n,
        };
        (TimePoint::of(at + Cycle::from(n), thread.me), place)
    })
}

fn candidate((moment, place): (TimePoint, CodePoint)) -> Candidate {
    Candidate {
        moment,
        mark: STEP,
        place: Some(place),
    }
}

impl Condition for ForwardStep {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Issued])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        for it in issued(event, at, self.thread) {
            if self.wanted.get(usize::from(it.1.pc)) == Some(&true) {
                candidates.push(candidate(it));
            }
        }
    }
}

/// A backward step: the beginnings of lines, or instructions, that a context executed before a
/// point.
pub(crate) struct BackwardStep {
    thread: Thread,
    before: TimePoint,
    /// A number for each address; addresses of the same step share a number.
    step_numbers: Vec<usize>,
    /// The instructions of a stretch, in order.
    seen: Vec<(TimePoint, CodePoint)>,
    /// The first instruction of the later stretch: whether it begins a line is only known once the
    /// previous instruction is.
    pending: Option<(TimePoint, CodePoint)>,
    every: bool,
}

impl BackwardStep {
    /// A step to any instruction before a point.
    pub fn instruction(thread: Thread, before: TimePoint) -> Self {
        Self {
            thread,
            before,
            step_numbers: Vec::new(),
            seen: Vec::new(),
            pending: None,
            every: true,
        }
    }

    /// A step to the beginning of a line, with `depth` macros open.
    pub fn line(thread: Thread, before: TimePoint, image: &Image, depth: usize) -> Self {
        let mut known = HashMap::new();
        let mut number = |pc| {
            let count = known.len();
            *known
                .entry(StepPosition::of(image, pc, depth))
                .or_insert(count)
        };
        Self {
            step_numbers: (0..image.words.len() as u16).map(&mut number).collect(),
            every: false,
            ..Self::instruction(thread, before)
        }
    }

    fn differ(&self, a: CodePoint, b: CodePoint) -> bool {
        let stand = |place: CodePoint| self.step_numbers.get(usize::from(place.pc));
        self.every || stand(a) != stand(b)
    }
}

impl Condition for BackwardStep {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Issued])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, _: &mut Vec<Candidate>) {
        let before = self.before;
        let those = issued(event, at, self.thread).filter(|it| it.0 < before);
        self.seen.extend(those);
    }

    fn covered(&mut self, from: TimePoint, _: TimePoint, candidates: &mut Vec<Candidate>) {
        let seen = std::mem::take(&mut self.seen);
        for pair in seen.windows(2) {
            if self.differ(pair[0].1, pair[1].1) {
                candidates.push(candidate(pair[1]));
            }
        }
        if let (Some(last), Some(first)) = (seen.last(), self.pending)
            && self.differ(last.1, first.1)
        {
            candidates.push(candidate(first));
        }
        if let Some(first) = seen.first() {
            self.pending = Some(*first);
        }
        if from == TimePoint::default()
            && let Some(first) = self.pending
        {
            candidates.push(candidate(first));
        }
    }
}

/// The cycles at which a context, or any context of a microengine, gets the pipeline.
pub(crate) struct PipelineTurns {
    pub me: u8,
    pub context: Option<u8>,
}

impl Condition for PipelineTurns {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Context])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        if let TraceEvent::Context {
            me,
            context,
            doing: ContextState::Executing,
            pc,
        } = *event
            && me == self.me
            && self.context.is_none_or(|it| it == context)
        {
            let place = CodePoint { me, context, pc };
            candidates.push(candidate((TimePoint::of(at, me), place)));
        }
    }
}

/// A step combined with breakpoints: whichever comes first.
pub(crate) struct StepOrStop<'a> {
    pub step: &'a mut dyn Condition,
    pub stops: &'a mut dyn Condition,
}

impl Condition for StepOrStop<'_> {
    fn wants(&self) -> EventKinds {
        self.step.wants().and(self.stops.wants())
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        self.step.see(at, event, candidates);
        self.stops.see(at, event, candidates);
    }

    fn probes(&self, chip: &npsim_chip::chip::Chip) -> Option<npsim_xscale::Probe> {
        match (self.step.probes(chip), self.stops.probes(chip)) {
            (Some(step), Some(stops)) => Some(npsim_xscale::Probe {
                every: step.every,
                ..stops
            }),
            (step, stops) => step.or(stops),
        }
    }

    fn probe_hit(&mut self, hit: &npsim_xscale::ProbeHit, candidates: &mut Vec<Candidate>) {
        self.step.probe_hit(hit, candidates);
        self.stops.probe_hit(hit, candidates);
    }

    fn examines_chip(&self) -> bool {
        self.stops.examines_chip()
    }

    fn look(
        &mut self,
        at: Cycle,
        begins: bool,
        chip: &npsim_chip::chip::Chip,
        candidates: &mut Vec<Candidate>,
    ) {
        self.stops.look(at, begins, chip, candidates);
    }

    fn must_judge(&self, candidate: &Candidate) -> bool {
        candidate.mark != STEP && self.stops.must_judge(candidate)
    }

    fn judge(&mut self, candidate: &Candidate, chip: Option<&npsim_chip::chip::Chip>) -> bool {
        candidate.mark == STEP || self.stops.judge(candidate, chip)
    }

    fn covered(&mut self, from: TimePoint, to: TimePoint, candidates: &mut Vec<Candidate>) {
        self.step.covered(from, to, candidates);
        self.stops.covered(from, to, candidates);
    }
}
