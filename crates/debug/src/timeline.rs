//! The timeline: a run that can be moved to any cycle.
//!
//! *At cycle T* means that everything before T has happened and nothing of T. A state is obtained
//! by running from the latest snapshot at or before it, so it equals the state of a run to that
//! cycle in every field.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::watch::Watcher;
use npsim_net::LineFrame;
use npsim_session::links::{Frames, Links, LinksState, Traffic};
use npsim_session::node::{Node, NodeCopy};
use npsim_session::simulation::{Ending, Simulation};
use npsim_xscale::Probe;

use crate::core;
use crate::recording::Recording;
use crate::snapshots::{BudgetTooSmall, ReplicaState, Snapshots};

/// Cycles between two snapshots.
pub const SNAPSHOT_INTERVAL: Cycle = 20_000;
/// Stretches that are run at once while no frame comes or goes, so that the chip can find out how
/// much time it could skip.
const QUIET: Cycle = 16;
/// Stretches that are run at once while time is skipped.
const SKIPPED: Cycle = 64;

/// A point in the order of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimePoint {
    /// Everything before this cycle has happened.
    pub cycle: Cycle,
    /// What comes next within this cycle: 0 for all of it, 1 + n for the instruction of microengine
    /// n; last is the job of the core. The state is the same for all but the last.
    pub rank: u8,
    /// The number of the core program's instruction before which its job is examined.
    pub instruction: Option<u64>,
}

/// The rank of events within the job of the core.
const CORE: u8 = u8::MAX;

impl TimePoint {
    /// The point before everything in a cycle.
    #[must_use]
    pub const fn before(cycle: Cycle) -> Self {
        Self {
            cycle,
            rank: 0,
            instruction: None,
        }
    }

    /// The point before an instruction of the core's program, in its job at a cycle.
    #[must_use]
    pub const fn of_core(cycle: Cycle, instruction: u64) -> Self {
        Self {
            cycle,
            rank: CORE,
            instruction: Some(instruction),
        }
    }

    /// The number of the core program's instruction that comes next, within a job.
    #[must_use]
    pub const fn core(self) -> Option<u64> {
        self.instruction
    }

    /// The point before the instruction of a microengine in a cycle.
    #[must_use]
    pub const fn of(cycle: Cycle, me: u8) -> Self {
        Self {
            cycle,
            rank: 1 + me,
            instruction: None,
        }
    }
}

/// The end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The last reachable cycle.
    pub cycle: Cycle,
    /// Why it ends there.
    pub ending: Ending,
}

/// The progress of a run, which determines how far it is run at once.
#[derive(Clone, Copy, Debug)]
struct RunProgress {
    at: Cycle,
    /// Frames that arrived, left and were lost.
    frames: u64,
    skipped: Cycle,
}

fn done(node: &Node) -> RunProgress {
    let traffic = node.traffic();
    RunProgress {
        at: node.handled(),
        frames: traffic.offered_frames + traffic.sent_frames + traffic.drops.values().sum::<u64>(),
        skipped: node.chip().skipped(),
    }
}

/// The parameters of a timeline.
#[derive(Debug)]
pub struct Setup {
    /// The chip, at cycle 0.
    pub simulation: Simulation,
    /// The incoming frames.
    pub frames: NoDebug<Frames>,
    /// The last cycle of the run.
    pub until: Option<Cycle>,
    /// Frequency of the microengines in hertz.
    pub hertz: u64,
    /// Memory for snapshots in bytes.
    pub budget: usize,
}

/// A value that is left out of `Debug` output.
pub struct NoDebug<T>(pub T);

impl<T> std::fmt::Debug for NoDebug<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("..")
    }
}

/// A run that can be moved forward and back.
#[derive(Debug)]
pub struct Timeline {
    recording: Recording,
    hertz: u64,
    snapshots: Snapshots,
    live: Node,
    /// The chip, if the present point lies within a job of the core.
    within_job: Option<Box<Node>>,
    moment: TimePoint,
    end: Option<RunEnd>,
    recorded_to: Cycle,
    /// Stretches that are run at once.
    pace: Cycle,
}

impl Timeline {
    /// A timeline at the beginning of a run.
    ///
    /// # Errors
    /// Returns an error if the budget is too small for two states of the chip.
    pub fn new(setup: Setup) -> Result<Self, BudgetTooSmall> {
        let Setup {
            simulation,
            frames,
            until,
            hertz,
            budget,
        } = setup;
        let recording = Recording::new(frames.0);
        let links = Links::streaming(recording.from(0), 0, hertz, None);
        let mut live = Node::new(simulation, links, until, None);
        live.begin();
        live.chip_mut().share_memory();
        let snapshots = Snapshots::new(live.fork(), budget)?;
        Ok(Self {
            live,
            recording,
            hertz,
            snapshots,
            within_job: None,
            moment: TimePoint::default(),
            end: None,
            recorded_to: 0,
            pace: 1,
        })
    }

    /// The present point.
    #[must_use]
    pub fn moment(&self) -> TimePoint {
        self.moment
    }

    /// The chip at the present point.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        let node = self.within_job.as_deref().unwrap_or(&self.live);
        node.chip()
    }

    /// Counts of what came and went on the lines before the present cycle.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        self.live.traffic()
    }

    /// The state of the lines.
    #[must_use]
    pub fn lines(&self) -> LinksState {
        self.live.lines()
    }

    /// A frame that the chip has been given at some cycle so far.
    #[must_use]
    pub fn frame(&self, number: u64) -> Option<LineFrame> {
        self.recording.frame(number)
    }

    /// Frequency of the microengines in hertz.
    #[must_use]
    pub fn hertz(&self) -> u64 {
        self.hertz
    }

    /// The end of the run, once it has been reached.
    #[must_use]
    pub fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// Why the run ends here, if it does.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.live.ending()
    }

    /// The latest cycle that has been simulated.
    #[must_use]
    pub fn recorded_to(&self) -> Cycle {
        self.recorded_to
    }

    /// Bytes taken by snapshots and recorded frames, and the number of snapshots.
    #[must_use]
    pub fn memory(&self) -> (usize, usize) {
        let frames = self.recording.bytes();
        (self.snapshots.bytes() + frames, self.snapshots.len())
    }

    /// Goes to a cycle, or to the end of the run if that comes first.
    pub fn goto(&mut self, cycle: Cycle) {
        self.goto_point(TimePoint::before(cycle));
    }

    /// Goes to a point in time, or to the end of the run if that comes first.
    ///
    /// The end of the run is not known until it is reached. It is then recorded in `end`, and from
    /// then on no target lies beyond it.
    pub fn goto_point(&mut self, moment: TimePoint) {
        let mut target = moment.cycle;
        loop {
            if let Some(end) = &self.end {
                target = target.min(end.cycle);
            }
            self.approach(target);
            self.recorded_to = self.recorded_to.max(self.live.handled());
            match self.live.ending() {
                // Microengines run ahead of the chip, up to the target of the run: at a fault, or
                // if no event is left, they may have passed the end. So the run is repeated from
                // the previous snapshot with the end as its target: the state is then that of a run
                // to exactly this cycle.
                Some(ending) if self.end.is_none() => {
                    self.end = Some(RunEnd {
                        cycle: self.live.handled(),
                        ending: ending.clone(),
                    });
                    let again = matches!(ending, Ending::Fault(_) | Ending::NoEvents);
                    if again && self.live.handled() < target {
                        let start = self.live.handled().saturating_sub(1);
                        self.live = self.fork(self.snapshots.at_or_before(start));
                        continue;
                    }
                    break;
                }
                _ => break,
            }
        }
        self.moment = if self.live.handled() == moment.cycle {
            moment
        } else {
            TimePoint::before(self.live.handled())
        };
        let within = self.moment.core().map(|number| self.cut(number));
        self.within_job = within.map(Box::new);
    }

    /// A copy whose core has stopped before an instruction of its job in the present cycle.
    fn cut(&self, number: u64) -> Node {
        let mut copy = self.fork_here();
        core::set_probe(
            copy.chip_mut(),
            Probe {
                until: Some(number),
                ..Probe::default()
            },
        );
        let next = copy.handled().saturating_add(1);
        copy.run_exactly(next, &mut NoObserver);
        copy
    }

    /// Brings the live run to a cycle or to its end, and takes snapshots on the way.
    fn approach(&mut self, target: Cycle) {
        let start = self.snapshots.at_or_before(target);
        if self.live.handled() > target || start.cycle() > self.live.handled() {
            self.live = self.fork(start);
            self.pace = 1;
        }
        while self.live.handled() < target && self.live.ending().is_none() {
            let next = self.next_stop(self.live.handled()).min(target);
            let before = done(&self.live);
            self.live.run_exactly(next, &mut NoObserver);
            self.set_pace(before);
            self.rest(target);
        }
    }

    /// If no frame comes or goes, the run goes further at once, and much further if the chip has
    /// skipped most of the time: in a short stretch, skipping would not pay off.
    fn set_pace(&mut self, before: RunProgress) {
        let now = done(&self.live);
        let quiet = now.frames == before.frames;
        let most = if now.skipped - before.skipped > (now.at - before.at) / 2 {
            SKIPPED
        } else {
            QUIET
        };
        self.pace = if quiet && self.pace < most {
            self.pace * 2
        } else if quiet && most == SKIPPED {
            SKIPPED
        } else {
            1
        };
    }

    /// The next cycle after `from` at which a snapshot is taken or has to be loaded.
    pub(crate) fn next_stop(&self, from: Cycle) -> Cycle {
        let next = (from / SNAPSHOT_INTERVAL)
            .saturating_add(self.pace)
            .saturating_mul(SNAPSHOT_INTERVAL);
        let pinned = self.snapshots.next_pinned(from);
        pinned.map_or(next, |it| it.cycle().min(next))
    }

    /// Takes or loads a snapshot at the cycle that the live run has reached.
    fn rest(&mut self, focus: Cycle) {
        if self.live.ending().is_some() {
            return;
        }
        let at = self.live.handled();
        let known = self.snapshots.at_or_before(at);
        if known.cycle() == at {
            if known.pinned {
                self.live = self.fork(known);
            }
        } else if at.is_multiple_of(SNAPSHOT_INTERVAL) {
            self.add_snapshot(false, focus);
        }
    }

    fn add_snapshot(&mut self, pinned: bool, focus: Cycle) {
        self.live.chip_mut().share_memory();
        self.snapshots.add_snapshot(self.live.fork(), pinned, focus);
    }

    /// A run that continues from a snapshot.
    pub(crate) fn fork(&self, from: &ReplicaState) -> Node {
        self.resume(from.node.clone())
    }

    fn resume(&self, copy: NodeCopy) -> Node {
        let rest = self.recording.from(copy.next_frame());
        copy.resume(rest, self.hertz)
    }

    /// Adopts a copy that has run ahead and has not ended.
    pub(crate) fn take_up(&mut self, live: Node) {
        let at = live.handled();
        let before = done(&self.live);
        self.live = live;
        self.within_job = None;
        self.set_pace(before);
        self.rest(at);
        self.recorded_to = self.recorded_to.max(at);
        self.moment = TimePoint::before(at);
    }

    /// A separate run from the latest snapshot at or before a cycle. It changes nothing here.
    pub(crate) fn fork_before(&self, cycle: Cycle) -> Node {
        self.fork(self.snapshots.at_or_before(cycle))
    }

    /// A separate run that continues from here.
    pub(crate) fn fork_here(&self) -> Node {
        self.resume(self.live.fork())
    }

    /// Reruns a copy from the cycle `from` to here, observed by a watcher that is created from the
    /// chip as it was then. Starts at the last [change](Self::change) if that is later.
    pub fn replay<W: Watcher>(&self, from: Cycle, watcher: impl FnOnce(&Chip) -> W) -> W {
        let to = self.live.handled();
        let change = self.changes().into_iter().rfind(|it| *it <= to);
        let from = from.max(change.unwrap_or(0)).min(to);
        let mut live = self.fork_before(from);
        live.run_exactly(from, &mut NoObserver);
        let mut watcher = watcher(live.chip());
        live.run_exactly(to, &mut watcher);
        watcher
    }

    /// The cycle of the latest snapshot at or before a cycle.
    pub(crate) fn snapshot_before(&self, cycle: Cycle) -> Cycle {
        self.snapshots.at_or_before(cycle).cycle()
    }

    /// Changes the chip at the present point. Everything recorded about later times is forgotten,
    /// since the run will take a different course; what came before is unaffected.
    pub fn change(&mut self, change: impl FnOnce(&mut Chip)) {
        let at = self.live.handled();
        if self.within_job.take().is_some() {
            self.moment = TimePoint::before(at);
        }
        self.live.change(change);
        self.snapshots.forget_after(at);
        self.end = None;
        self.recorded_to = at;
        self.add_snapshot(true, at);
    }

    /// The cycles at which the chip was [changed](Self::change), in order.
    #[must_use]
    pub fn changes(&self) -> Vec<Cycle> {
        let mut changes = Vec::new();
        let mut at = 0;
        while let Some(snapshot) = self.snapshots.next_pinned(at) {
            at = snapshot.cycle();
            changes.push(at);
        }
        changes
    }

    /// Sets the checks that do not stop the run, from its beginning on, replacing any others.
    /// Returns the cycle that the run has reached then: its end may have moved.
    pub fn set_allowed(&mut self, allowed: &[Check]) -> Cycle {
        let moment = self.moment;
        // Faults that were ignored before may now end the run earlier.
        let changes = self.changes();
        let last = changes.last().copied().unwrap_or(0);
        self.snapshots.forget_after(last);
        self.snapshots.change_all(|node| node.set_allowed(allowed));
        self.end = None;
        self.live = self.fork(self.snapshots.at_or_before(moment.cycle));
        self.goto_point(moment);
        self.live.handled()
    }
}
