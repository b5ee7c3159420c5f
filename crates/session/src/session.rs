//! A session: chips of one project in a network, from cycle 0 to the end.
//!
//! An ordinary run is a network of one node. With more of them, what leaves a node by
//! a port comes in at the same port of the next one. Frames go one way only, so a node
//! needs nothing but what has left the one before it, and each goes through the states
//! of an ordinary run into which those frames come, however many run at a time.
//!
//! A session can be [stepped](Session::step), [paused](Session::run_to), looked into
//! ([`Session::node`], [`Session::stats`]), [saved](Session::snapshot) and
//! [restored](Session::restore) at any cycle. None of it changes what comes of it.

mod schedule;

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::watch::Watcher;
use npsim_net::egress::{Position, TraceSink};
use npsim_net::load::Load;
use serde::{Deserialize, Serialize};

use crate::links::{Frames, Links, Tap};
use crate::node::{NodeState, RunTarget};
use crate::report::Report;
use crate::simulation::{Ending, RunSettings, Simulation};
use crate::workers::Workers;
use npsim_chip::kernel::port_io::{Arrival, MediaDrop};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;
use schedule::Halt;

pub use crate::node::{Node, NodeCounts};

/// The most nodes that a network may have.
pub const MOST_NODES: usize = 255;

/// What is run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What each node is.
    pub project: Arc<Project>,
    /// What its microengines run.
    pub programs: Arc<[Program]>,
    /// How long each node runs and what it passes over.
    pub settings: RunSettings,
    /// A cycle at which each node's counts are noted.
    pub mark: Option<Cycle>,
    /// How many nodes there are, from 1 to [`MOST_NODES`].
    pub nodes: usize,
    /// How many of them run at a time. The results are the same with any number.
    pub threads: usize,
}

impl Plan {
    /// An ordinary run: one node.
    #[must_use]
    pub fn one(
        project: impl Into<Arc<Project>>,
        programs: impl Into<Arc<[Program]>>,
        settings: RunSettings,
    ) -> Self {
        Self {
            project: project.into(),
            programs: programs.into(),
            settings,
            mark: None,
            nodes: 1,
            threads: 1,
        }
    }
}

/// The two ends of a network.
#[derive(Default)]
pub struct Endpoints {
    /// What comes in at the first node; nothing if absent.
    pub frames: Option<Frames>,
    /// The load that the frames are of, for the report.
    pub load: Option<Load>,
    /// Added to the times of departures, ns since 1970.
    pub origin_ns: u64,
    /// A capture of what leaves the last node.
    pub sink: Option<TraceSink>,
    /// Sees what comes in at the first node, and what it loses.
    pub entry: Option<Box<dyn Tap + Send>>,
    /// Sees what leaves the last node. The numbers of frames and the times of their
    /// arrival are those of the first node.
    pub exit: Option<Box<dyn Tap + Send>>,
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// No event is left before the pause.
    Paused,
    /// A node waits for one whose time is up: [`Session::release_waiting`].
    Stalled,
    /// At its end, the [worst](Session::ending) of all nodes.
    Ended(Ending),
}

/// The state of a session, from which another one of the same plan and ends goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    nodes: Vec<NodeState>,
}

impl Snapshot {
    /// How far the capture of departures had come, where there was one. A session that
    /// is to be restored needs a sink that stands there.
    #[must_use]
    pub fn capture(&self) -> Option<&Position> {
        self.nodes.last().and_then(|node| node.links.capture())
    }
}

/// Chips between their lines.
#[derive(Debug)]
pub struct Session {
    project: Arc<Project>,
    programs: Arc<[Program]>,
    seed: Option<u64>,
    load: Option<Load>,
    workers: Workers,
    nodes: Vec<Node>,
}

/// The seed of a node's pseudo-random numbers: that of the first one is the one that
/// was given, those of the others follow from it.
#[must_use]
pub fn seed_of(seed: u64, node: usize) -> u64 {
    seed.wrapping_add((node as u64).wrapping_mul(0xd1b5_4a32_d192_ed03))
}

/// The project of a node, by its place in the network: a port may have another address
/// at each, completions that come late do so by other times, and contexts may be stalled
/// at one of them alone.
pub(crate) fn project_of(project: &Project, node: usize) -> Cow<'_, Project> {
    let number = node + 1;
    let own = { project.node_stalls.iter() }.filter(|stalls| stalls.node == number);
    let mut own = own.map(|stalls| stalls.stall).peekable();
    if node == 0 && own.peek().is_none() {
        return Cow::Borrowed(project);
    }
    let mut changed = project.clone();
    changed.boot.node = node;
    let disturbances = &mut changed.boot.disturbances;
    if own.peek().is_some() || !disturbances.is_none() {
        disturbances.late.seed = seed_of(disturbances.late.seed, node);
        disturbances.stalls.extend(own);
    }
    Cow::Owned(changed)
}

/// A tap that sees what comes and not what leaves.
struct ArrivalTap(Box<dyn Tap + Send>);

impl Tap for ArrivalTap {
    fn arriving(&mut self, arrival: &Arrival) {
        self.0.arriving(arrival);
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        self.0.dropped(cycle, port, frame, reason);
    }
}

impl Session {
    /// Loads the programs into all nodes and connects them.
    ///
    /// # Errors
    /// There is no such network, or as in [`Simulation::new`].
    pub fn new(plan: &Plan, ends: Endpoints) -> Result<Self, Problem> {
        let Plan {
            project, programs, ..
        } = plan;
        if !(1..=MOST_NODES).contains(&plan.nodes) {
            return Err(
                Problem::new(format!("there is no chain of {} routers", plan.nodes))
                    .help(format!("a chain has 1 to {MOST_NODES}")),
            );
        }
        let beyond = { project.node_stalls.iter() }.find(|stalls| stalls.node > plan.nodes);
        if let Some(stalls) = beyond {
            return Err(Problem::new(format!(
                "there is no router {} that could be stalled",
                stalls.node
            ))
            .help(match plan.nodes {
                1 => "ask for more routers with `--hops`".to_owned(),
                nodes => format!("`--hops {nodes}` has routers 1 to {nodes}"),
            }));
        }
        let hertz = project.capacity.hertz;
        let delay = project.link_delay.cycles(hertz);
        let last = plan.nodes - 1;
        let (mut frames, mut sink) = (ends.frames, ends.sink);
        let (mut entry, mut exit) = (ends.entry, ends.exit);
        let mut nodes = Vec::with_capacity(plan.nodes);
        for at in 0..plan.nodes {
            let settings = RunSettings {
                seed: plan.settings.seed.map(|seed| seed_of(seed, at)),
                ..plan.settings.clone()
            };
            let simulation = Simulation::new(&project_of(project, at), programs, settings)?;
            let sink = sink.take_if(|_| at == last);
            let mut links = if at == 0 {
                let none = || -> Frames { Box::new(std::iter::empty()) };
                let frames = frames.take().unwrap_or_else(none);
                let links = Links::streaming(frames, ends.origin_ns, hertz, sink);
                match entry.take() {
                    Some(entry) => links.with_tap(ArrivalTap(entry)),
                    None => links,
                }
            } else {
                Links::chained(delay, ends.origin_ns, hertz, sink)
            };
            if at == last {
                links.set_exit(exit.take());
            } else {
                links.lead_on();
            }
            let until = plan.settings.until;
            nodes.push(Node::new(simulation, links, until, plan.mark));
        }
        Ok(Self {
            project: Arc::clone(project),
            programs: Arc::clone(programs),
            seed: plan.settings.seed,
            load: ends.load,
            workers: Workers::new(plan.threads, plan.nodes),
            nodes,
        })
    }

    /// Runs all nodes to their ends, unobserved. `progress` is asked now and then, with
    /// the cycle that some node has come to, whether to go on.
    pub fn run(&mut self, progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send)) -> Ending {
        let mut unobserved = vec![NoObserver; self.nodes.len()];
        loop {
            if let Some(ending) = self.run_to(Cycle::MAX, &mut unobserved, progress) {
                return ending;
            }
        }
    }

    /// Runs until nothing is left to happen before the cycle `pause`, or to the end; the
    /// [worst](Self::ending) ending if all nodes have come to theirs. Each node is seen
    /// by its own one of the `observers`, of which there have to be as many.
    ///
    /// A pause changes nothing at all: microengines may have run ahead of it, up to their
    /// next synchronisation point. A node that others come behind
    /// may have gone further, as far as it takes to know which frame it sends next.
    pub fn run_to<P: Watcher + Send>(
        &mut self,
        pause: Cycle,
        observers: &mut [P],
        progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
    ) -> Option<Ending> {
        self.drive(RunTarget::Pause(pause), observers, progress)
    }

    /// Runs the next `cycles` cycles; the [worst](Self::ending) ending if all nodes have
    /// come to theirs by then.
    ///
    /// Unlike at a pause, microengines stand at the last of these cycles too. Then the
    /// run goes on as if it had not been stopped, in every field of its state. What
    /// steps can leave a trace in is what lies beyond an end that was not known before: when
    /// a fault ends a run, the registers of microengines other than the one at fault
    /// stand nearer to it, and so does the last cycle of a run that is quiet. With several
    /// nodes those that others come behind may have gone further, as in
    /// [`Self::run_to`].
    pub fn step(&mut self, cycles: Cycle) -> Option<Ending> {
        let target = RunTarget::Exactly(self.now().saturating_add(cycles));
        let mut unobserved = vec![NoObserver; self.nodes.len()];
        let go_on = &mut |_| ControlFlow::Continue(());
        self.drive(target, &mut unobserved, go_on)
    }

    /// [Steps](Self::step) of `every` cycles, at least one, until the condition holds or
    /// the run has ended; then its ending.
    pub fn run_until(
        &mut self,
        every: Cycle,
        mut condition: impl FnMut(&Self) -> bool,
    ) -> Option<Ending> {
        while !condition(self) {
            if let Some(ending) = self.step(every.max(1)) {
                return Some(ending);
            }
        }
        None
    }

    /// As [`Self::run_to`], but it also stops where a node waits for one whose time is up. The
    /// state there goes on as it would have done with a later end.
    pub fn run_as_known_to<P: Watcher + Send>(
        &mut self,
        pause: Cycle,
        observers: &mut [P],
        progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
    ) -> RunStatus {
        self.drive_as_known(RunTarget::Pause(pause), observers, progress)
    }

    /// Lets nodes that wait for one whose time is up go on to their own ends, without what it would
    /// send later. The state is no longer one that goes on as with a later end.
    pub fn release_waiting(&mut self) {
        for at in 1..self.nodes.len() {
            if self.nodes[at - 1].is_out_of_time() {
                let rest = self.nodes[at - 1].give_the_rest();
                self.nodes[at].feed(rest, true);
            }
        }
    }

    fn drive<P: Watcher + Send>(
        &mut self,
        target: RunTarget,
        observers: &mut [P],
        progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
    ) -> Option<Ending> {
        loop {
            match self.drive_as_known(target, observers, progress) {
                RunStatus::Ended(ending) => return Some(ending),
                RunStatus::Paused => return None,
                RunStatus::Stalled => self.release_waiting(),
            }
        }
    }

    fn drive_as_known<P: Watcher + Send>(
        &mut self,
        target: RunTarget,
        observers: &mut [P],
        progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
    ) -> RunStatus {
        debug_assert_eq!(observers.len(), self.nodes.len(), "an observer a node");
        self.nodes.iter_mut().for_each(Node::take_up);
        let halt = schedule::drive(&mut self.nodes, observers, target, &self.workers, progress);
        match halt {
            Halt::Stalled => return RunStatus::Stalled,
            Halt::Interrupted => self.nodes.iter_mut().for_each(Node::interrupt),
            Halt::Complete => {}
        }
        let all = self.nodes.iter().all(|node| node.ending().is_some());
        match self.ending().filter(|_| all) {
            Some((_, ending)) => RunStatus::Ended(ending.clone()),
            None => RunStatus::Paused,
        }
    }

    /// Captures what leaves the last node from now on, as [`Endpoints::sink`] does from the
    /// beginning.
    pub fn capture_to(&mut self, sink: TraceSink) {
        if let Some(last) = self.nodes.last_mut() {
            last.capture_to(sink);
        }
    }

    /// The cycle before which nothing is left to happen at any node.
    #[must_use]
    pub fn now(&self) -> Cycle {
        let running = self.nodes.iter().filter(|node| node.ending().is_none());
        let ended = || self.nodes.iter().map(Node::now).max();
        running.map(Node::handled).min().or_else(ended).unwrap_or(0)
    }

    /// The cycle before which nothing is left to happen at any node, ended or not.
    pub(crate) fn position(&self) -> Cycle {
        self.nodes.iter().map(Node::handled).min().unwrap_or(0)
    }

    /// The worst ending of the nodes that have come to theirs, and which of them, from
    /// 0, came to it first: a fault, then output or input that failed, then a run that
    /// was interrupted, whose time was up, that is drained, that is quiet.
    #[must_use]
    pub fn ending(&self) -> Option<(usize, &Ending)> {
        let endings = self.nodes.iter().enumerate();
        let endings = endings.filter_map(|(at, node)| Some((at, node.ending()?)));
        endings.reduce(|worst, next| {
            if next.1.rank() > worst.1.rank() {
                next
            } else {
                worst
            }
        })
    }

    /// A node, by its place in the network, from 0.
    ///
    /// # Panics
    /// There is no such node.
    #[must_use]
    pub fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    /// All nodes in their order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What each node is.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// What the nodes' microengines run.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The seed that was given.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The load that comes in.
    #[must_use]
    pub fn load(&self) -> Option<&Load> {
        self.load.as_ref()
    }

    /// Cycles from a bit's way out of one node to its way into the next.
    #[must_use]
    pub(crate) fn link_cycles(&self) -> Cycle {
        let project = &self.project;
        project.link_delay.cycles(project.capacity.hertz)
    }

    /// What was counted so far, as the [stats file](crate::stats_file) has it.
    #[must_use]
    pub fn stats(&self) -> Report {
        Report::of(self)
    }

    /// The state of all nodes and of what is between them. What was captured so far is
    /// safe on the disk then; the sink has to be one that can be gone on with.
    ///
    /// # Errors
    /// The capture could not be written, or frames not be read.
    pub fn snapshot(&mut self) -> Result<Snapshot, Problem> {
        let nodes = self.nodes.iter_mut().map(Node::save);
        Ok(Snapshot {
            nodes: nodes.collect::<Result<_, _>>()?,
        })
    }

    /// Goes on from the state of a session of the same plan and ends, which may differ
    /// in when the run ends. It must not have run yet, and its sink stands at
    /// [`Snapshot::capture`] already. What a [mark](Plan::mark) noted is not in the
    /// state.
    ///
    /// # Errors
    /// It is no state of such a session, in words.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        if snapshot.nodes.len() != self.nodes.len() {
            return Err(format!(
                "it has {} routers, and there are {}",
                snapshot.nodes.len(),
                self.nodes.len()
            ));
        }
        let mut states = self.nodes.iter_mut().zip(&snapshot.nodes);
        states.try_for_each(|(node, state)| node.restore(state))
    }

    /// Completes the capture of departures, and counts what has begun to come. The
    /// session can be inspected after it, and not go on.
    ///
    /// # Errors
    /// The capture could not be written, now or earlier.
    pub fn finish(&mut self) -> io::Result<()> {
        self.nodes.iter_mut().try_for_each(Node::complete)
    }
}
