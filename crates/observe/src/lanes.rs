//! The activity of every context around those moments of a run that may turn out to deserve a close
//! look, as stretches of time.
//!
//! Which moments those are is only known when the run is over, and then it is too late to record
//! them. So a [`ContextRecorder`] remembers the last few thousand cycles and captures
//! ([`ContextLanes`]) each candidate: the first loss, each time that some place was fuller than
//! ever before, the end, and moments spread evenly over the run, thinned out as it goes on.

use npsim_isa::{CONTEXTS, context_index};
use std::collections::VecDeque;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{ContextState, EventKinds, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;

use crate::series::{OccupancyProbe, ProbeKind, Sample};

/// Length of a capture in cycles.
pub const CAPTURE_CYCLES: Cycle = 3000;
/// Past cycles that are remembered: the middle of a capture may lie up to
/// `CAPTURE_CYCLES` cycles back, and the capture begins half its length earlier.
const REMEMBERED: Cycle = 2 * CAPTURE_CYCLES;
/// Maximum number of captures spread over the run; even, since every other one is dropped.
const KEPT: usize = 32;
/// Fill above which a place is of interest, in thousandths of its capacity.
const NOTEWORTHY: u64 = 100;

/// What a context does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// The context had the pipeline.
    Executing,
    /// The context had the pipeline, and issue slots were aborted.
    Aborted,
    /// The context had the pipeline and stalled on a full command FIFO.
    Stalled,
    /// The context was awake, but another one ran.
    Ready,
    /// The context was asleep.
    Waiting,
    /// The context was not enabled, or had exited.
    Inactive,
}

impl Activity {
    /// All activities, in the order of legends.
    pub const ALL: [Self; 6] = [
        Self::Executing,
        Self::Aborted,
        Self::Stalled,
        Self::Ready,
        Self::Waiting,
        Self::Inactive,
    ];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Executing => "executing",
            Self::Aborted => "aborted",
            Self::Stalled => "stalled",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Inactive => "inactive",
        }
    }
}

/// A stretch of a context's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First cycle.
    pub from: Cycle,
    /// First cycle after it.
    pub until: Cycle,
    /// The context's activity.
    pub activity: Activity,
}

/// An event of a frame, marked above the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameMark {
    /// A frame begins to arrive.
    Arrives,
    /// A frame has left.
    Departed,
    /// A frame is lost at the media interface.
    Dropped,
}

/// The activity of every context of a chip between two cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextLanes {
    from: Cycle,
    until: Cycle,
    lanes: Vec<Vec<Stretch>>,
    marks: Vec<(Cycle, FrameMark)>,
}

impl ContextLanes {
    /// The window's first cycle.
    #[must_use]
    pub fn from(&self) -> Cycle {
        self.from
    }

    /// The first cycle after the window.
    #[must_use]
    pub fn until(&self) -> Cycle {
        self.until
    }

    /// A context's stretches in order of time; aborted and stalled stretches
    /// overlap the executing ones that they are part of.
    #[must_use]
    pub fn lane(&self, me: u8, context: u8) -> &[Stretch] {
        let lane = usize::from(me) * usize::from(CONTEXTS) + usize::from(context);
        self.lanes.get(lane).map_or(&[], Vec::as_slice)
    }

    /// The frame events, in order of time.
    #[must_use]
    pub fn marks(&self) -> &[(Cycle, FrameMark)] {
        &self.marks
    }
}

/// Why a capture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaptureReason {
    Loss,
    /// A place, by its index in the series, is fuller than any was before.
    Full(usize),
    /// A point spread over the run, with the number of frames that had arrived.
    Frames(u64),
}

/// The moments of a run that may be of interest.
#[derive(Clone, Debug, Default)]
pub struct CapturePoints {
    /// The first lost frame.
    pub loss: Option<ContextLanes>,
    /// The highest fill of any place in the run, with the place's index in the series.
    pub fullest: Option<(usize, ContextLanes)>,
    /// Moments spread over the run, with the number of frames that had arrived.
    pub spread: Vec<(u64, ContextLanes)>,
    /// The end.
    pub end: Option<ContextLanes>,
}

/// Records the moments of interest of a run.
#[derive(Clone, Debug)]
pub struct ContextRecorder {
    /// Past cycles that are remembered.
    remembered: Cycle,
    /// The state of each context and the cycle at which it began.
    states: Vec<(Activity, Cycle)>,
    /// For each microengine, the lane of the context that is stalled in the pipeline and the first
    /// cycle of the stall.
    held: Vec<Option<(usize, Cycle)>>,
    /// Finished stretches, in the order of their ends.
    recent: Vec<VecDeque<Stretch>>,
    marks: VecDeque<(Cycle, FrameMark)>,
    /// Captures to take once their last cycle is over.
    wanted: Vec<(Cycle, CaptureReason)>,
    /// The first cycle at which there is something to do besides recording.
    due: Cycle,
    sampled: Cycle,
    /// Samples between two captures of the spread, and samples left until the next.
    stride: usize,
    left: usize,
    /// The highest fill so far in thousandths of the place's capacity.
    most: u64,
    lost: bool,
    moments: CapturePoints,
}

impl ContextRecorder {
    /// A recorder for a chip in its present state, with nothing recorded yet.
    #[must_use]
    pub fn new(chip: &Chip) -> Self {
        Self::with_history(chip, REMEMBERED)
    }

    /// A recorder for a chip in its present state, with nothing recorded yet; events more than
    /// `cycles` cycles back may be forgotten.
    #[must_use]
    pub fn with_history(chip: &Chip, cycles: Cycle) -> Self {
        let now = chip.now();
        let remembered = cycles.max(REMEMBERED);
        let states: Vec<_> = chip
            .microengines()
            .iter()
            .flat_map(|me| (0..CONTEXTS).map(|context| (activity(me.doing(context).0), now)))
            .collect();
        Self {
            remembered,
            held: vec![None; chip.microengines().len()],
            recent: vec![VecDeque::new(); states.len()],
            states,
            marks: VecDeque::new(),
            wanted: Vec::new(),
            due: now + remembered,
            sampled: now,
            stride: 1,
            left: 0,
            most: NOTEWORTHY - 1,
            lost: false,
            moments: CapturePoints::default(),
        }
    }

    /// Decides from a new sample of a [`Series`](crate::series::Series) which moments are of
    /// interest.
    pub(crate) fn consider(&mut self, sample: &Sample, places: &[OccupancyProbe]) {
        let now = sample.cycle;
        let (media, microcode) = sample.dropped();
        if media + microcode > 0 && !self.lost {
            // The loss lies somewhere between the samples.
            let back = ((now - self.sampled) / 2).min(REMEMBERED - CAPTURE_CYCLES);
            self.want(now - back, CaptureReason::Loss);
            self.lost = true;
        }
        for (index, (place, fill)) in places.iter().zip(&sample.fills).enumerate() {
            // The bytes may still be on the line.
            if matches!(place.kind, ProbeKind::ReceiveFifo { .. }) {
                continue;
            }
            let capacity = place.capacity.unwrap_or(0);
            let share = (fill.most * 1000).checked_div(capacity).unwrap_or(0);
            if share > self.most {
                self.most = share;
                self.want(now, CaptureReason::Full(index));
            }
        }
        if self.left == 0 {
            self.want(now, CaptureReason::Frames(sample.frames().0));
            self.left = self.stride;
        }
        self.left -= 1;
        self.sampled = now;
    }

    /// The moments of interest, once the run has ended.
    #[must_use]
    pub fn finish(mut self, end: Cycle) -> CapturePoints {
        for (middle, reason) in std::mem::take(&mut self.wanted) {
            self.take(middle, end, reason);
        }
        self.moments.end = Some(self.snapshot(end.saturating_sub(CAPTURE_CYCLES), end.max(1)));
        self.moments
    }

    fn want(&mut self, middle: Cycle, reason: CaptureReason) {
        self.wanted.push((middle, reason));
        self.due = self.due.min(window(middle, Cycle::MAX).1);
    }

    /// Takes the captures that are due and forgets old stretches.
    #[cold]
    fn settle(&mut self, now: Cycle) {
        let come = |&(middle, _): &(Cycle, CaptureReason)| window(middle, Cycle::MAX).1 <= now;
        let ready: Vec<_> = self.wanted.iter().copied().filter(come).collect();
        self.wanted.retain(|wanted| !come(wanted));
        for (middle, reason) in ready {
            self.take(middle, Cycle::MAX, reason);
        }
        let first = now.saturating_sub(self.remembered);
        for lane in &mut self.recent {
            let over = lane.partition_point(|stretch| stretch.until <= first);
            lane.drain(..over);
        }
        let over = self.marks.partition_point(|(cycle, _)| *cycle < first);
        self.marks.drain(..over);
        let next = self
            .wanted
            .iter()
            .map(|wanted| window(wanted.0, Cycle::MAX).1);
        self.due = next.min().unwrap_or(Cycle::MAX).min(now + CAPTURE_CYCLES);
    }

    fn take(&mut self, middle: Cycle, end: Cycle, reason: CaptureReason) {
        let (from, until) = window(middle, end);
        let snapshot = self.snapshot(from, until);
        let moments = &mut self.moments;
        match reason {
            CaptureReason::Loss => moments.loss = Some(snapshot),
            CaptureReason::Full(place) => moments.fullest = Some((place, snapshot)),
            CaptureReason::Frames(frames) => {
                moments.spread.push((frames, snapshot));
                if moments.spread.len() == KEPT {
                    let mut place = 0;
                    moments.spread.retain(|_| {
                        place += 1;
                        place % 2 == 1
                    });
                    self.left += self.stride;
                    self.stride *= 2;
                }
            }
        }
    }

    /// The remembered activity in a window of time.
    #[must_use]
    pub fn snapshot(&self, from: Cycle, until: Cycle) -> ContextLanes {
        let cut = |stretch: &Stretch| {
            let (from, until) = (stretch.from.max(from), stretch.until.min(until));
            (from < until).then_some(Stretch {
                from,
                until,
                activity: stretch.activity,
            })
        };
        let mut lanes: Vec<Vec<Stretch>> = self
            .recent
            .iter()
            .zip(&self.states)
            .map(|(lane, &(activity, since))| {
                let present = Stretch {
                    from: since,
                    until: Cycle::MAX,
                    activity,
                };
                lane.iter().chain([&present]).filter_map(cut).collect()
            })
            .collect();
        for &(lane, since) in self.held.iter().flatten() {
            lanes[lane].extend(cut(&Stretch {
                from: since,
                until: Cycle::MAX,
                activity: Activity::Stalled,
            }));
        }
        for lane in &mut lanes {
            lane.sort_by_key(|stretch| (stretch.from, stretch.activity));
        }
        let marks = self.marks.iter().copied();
        ContextLanes {
            from,
            until,
            lanes,
            marks: marks.filter(|(at, _)| (from..until).contains(at)).collect(),
        }
    }

    fn put(&mut self, lane: usize, from: Cycle, until: Cycle, activity: Activity) {
        if let Some(recent) = self.recent.get_mut(lane)
            && from < until
        {
            recent.push_back(Stretch {
                from,
                until,
                activity,
            });
        }
    }
}

/// The window of a capture, ending no later than the run.
fn window(middle: Cycle, end: Cycle) -> (Cycle, Cycle) {
    let until = (middle.saturating_sub(CAPTURE_CYCLES / 2) + CAPTURE_CYCLES).min(end.max(1));
    (until.saturating_sub(CAPTURE_CYCLES), until)
}

fn activity(state: ContextState) -> Activity {
    match state {
        ContextState::Executing => Activity::Executing,
        ContextState::Ready => Activity::Ready,
        ContextState::Waiting { .. } => Activity::Waiting,
        ContextState::Inactive | ContextState::Killed => Activity::Inactive,
    }
}

impl Sampler for ContextRecorder {}

impl Observer for ContextRecorder {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[
            TraceEventKind::Context,
            TraceEventKind::Aborted,
            TraceEventKind::Held,
            TraceEventKind::Stalled,
            TraceEventKind::Arrives,
            TraceEventKind::Departed,
            TraceEventKind::Dropped,
        ])
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        // What is forgotten then depends on the cycle alone.
        self.settle(at);
        state.time(&mut self.due);
        state.value(self.wanted.len() as u64);
        for (activity, since) in &mut self.states {
            state.value(*activity as u64);
            state.time(since);
        }
        for held in &mut self.held {
            state.value(held.map_or(0, |(lane, _)| lane as u64 + 1));
            for (_, since) in held.iter_mut() {
                state.time(since);
            }
        }
        for lane in &mut self.recent {
            state.value(lane.len() as u64);
            for stretch in lane {
                state.time(&mut stretch.from);
                state.time(&mut stretch.until);
                state.value(stretch.activity as u64);
            }
        }
        state.value(self.marks.len() as u64);
        self.marks.iter_mut().for_each(|(at, _)| state.time(at));
        true
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        if at >= self.due {
            self.settle(at);
        }
        let lane =
            |me: u8, context: u8| usize::from(me) * usize::from(CONTEXTS) + context_index(context);
        match *event {
            TraceEvent::Context {
                me, context, doing, ..
            } => {
                let lane = lane(me, context);
                if let Some(state) = self.states.get_mut(lane) {
                    let (before, since) = std::mem::replace(state, (activity(doing), at));
                    self.put(lane, since, at, before);
                }
            }
            TraceEvent::Aborted {
                me, context, slots, ..
            } => self.put(lane(me, context), at, at + slots, Activity::Aborted),
            TraceEvent::Held { me, context, .. } => {
                if let Some(held) = self.held.get_mut(usize::from(me)) {
                    *held = Some((lane(me, context), at));
                }
            }
            TraceEvent::Stalled {
                me, context, from, ..
            } => {
                if let Some(held) = self.held.get_mut(usize::from(me)) {
                    *held = None;
                }
                self.put(lane(me, context), from, at, Activity::Stalled);
            }
            TraceEvent::Arrives { .. } => self.marks.push_back((at, FrameMark::Arrives)),
            TraceEvent::Departed { .. } => self.marks.push_back((at, FrameMark::Departed)),
            TraceEvent::Dropped { .. } => {
                self.marks.push_back((at, FrameMark::Dropped));
                if !self.lost {
                    self.lost = true;
                    self.want(at, CaptureReason::Loss);
                }
            }
            _ => {}
        }
    }
}
