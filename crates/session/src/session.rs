//! A session: chips of one project in a network, from cycle 0 to the end.
//!
//! An ordinary run is a network of one node. With more nodes, a frame that leaves a node by a port
//! arrives at the same port of the next one. Frames travel in one direction only, so a node depends
//! on nothing but the frames from the previous one, and each node goes through the states of an
//! ordinary run with those frames as input, however many nodes run at a time.
//!
//! A session can be [stepped](Session::step), [paused](Session::run_to), inspected
//! ([`Session::node`], [`Session::stats`]), [saved](Session::snapshot) and
//! [restored](Session::restore) at any cycle. None of this changes its results.

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

/// Maximum number of routers in a chain.
pub const MAX_ROUTERS: usize = 255;

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The project that each node is built from.
    pub project: Arc<Project>,
    /// The programs of each node's microengines.
    pub programs: Arc<[Program]>,
    /// How long each node runs and which checks do not stop it.
    pub settings: RunSettings,
    /// A cycle at which each node's counts are recorded.
    pub mark: Option<Cycle>,
    /// The number of nodes, from 1 to [`MAX_ROUTERS`].
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
    /// The frames into the first node; none if absent.
    pub frames: Option<Frames>,
    /// The load that generated the frames, for the report.
    pub load: Option<Load>,
    /// Added to the times of departures, ns since 1970.
    pub origin_ns: u64,
    /// A capture of the departures from the last node.
    pub sink: Option<TraceSink>,
    /// Observes arrivals and losses at the first node.
    pub entry: Option<Box<dyn Tap + Send>>,
    /// Observes departures from the last node. The numbers and arrival times of
    /// the frames are those at the first node.
    pub exit: Option<Box<dyn Tap + Send>>,
}

/// The status of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// All events before the pause have been handled.
    Paused,
    /// A node waits for one that has reached its time limit: see [`Session::release_waiting`].
    Stalled,
    /// The run has ended, with the [worst](Session::ending) ending of all nodes.
    Ended(Ending),
}

/// The state of a session, from which another one of the same plan and ends can continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    nodes: Vec<NodeState>,
}

impl Snapshot {
    /// The position in the capture of departures, if there was one. A session to be restored needs
    /// a sink at this position.
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

/// The seed of a node's pseudo-random numbers: the given one for the first node, derived from it
/// for the others.
#[must_use]
pub fn seed_of(seed: u64, node: usize) -> u64 {
    seed.wrapping_add((node as u64).wrapping_mul(0xd1b5_4a32_d192_ed03))
}

/// The project of a node, by its place in the network: a port may have a different address at each
/// node, late completions are delayed by different times, and contexts may be stalled at one node
/// alone.
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

/// A tap that observes arrivals and losses, but not departures.
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
    /// Returns an error if the plan describes no possible network, or in the
    /// same cases as [`Simulation::new`].
    pub fn new(plan: &Plan, ends: Endpoints) -> Result<Self, Problem> {
        let Plan {
            project, programs, ..
        } = plan;
        if !(1..=MAX_ROUTERS).contains(&plan.nodes) {
            return Err(
                Problem::new(format!("there is no chain of {} routers", plan.nodes))
                    .help(format!("a chain has 1 to {MAX_ROUTERS}")),
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

    /// Runs all nodes to their ends, unobserved. `progress` is called now and then with the cycle
    /// that some node has reached, and decides whether to go on.
    pub fn run(&mut self, progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send)) -> Ending {
        let mut unobserved = vec![NoObserver; self.nodes.len()];
        loop {
            if let Some(ending) = self.run_to(Cycle::MAX, &mut unobserved, progress) {
                return ending;
            }
        }
    }

    /// Runs until everything before the cycle `pause` has happened, or to the end. Returns the
    /// [worst](Self::ending) ending if all nodes have ended. Each node has its own one of the
    /// `observers`, of which there must be as many.
    ///
    /// A pause changes nothing at all: microengines may have run ahead of it, up to their next
    /// synchronisation point. A node with others after it may have gone further, as far as it takes
    /// to know which frame it sends next.
    pub fn run_to<P: Watcher + Send>(
        &mut self,
        pause: Cycle,
        observers: &mut [P],
        progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
    ) -> Option<Ending> {
        self.drive(RunTarget::Pause(pause), observers, progress)
    }

    /// Runs the next `cycles` cycles. Returns the [worst](Self::ending) ending if all nodes have
    /// ended by then.
    ///
    /// Unlike at a pause, the microengines stop at the last of these cycles too. The run then goes
    /// on as if it had not been stopped, in every field of its state. Steps can only leave a trace
    /// beyond an end that was not known before: when a fault ends a run, the registers of
    /// microengines other than the faulting one are closer to it in time, and so is the last cycle
    /// of a run that ends for lack of events. With several nodes, those with others after them may
    /// have gone further, as in [`Self::run_to`].
    pub fn step(&mut self, cycles: Cycle) -> Option<Ending> {
        let target = RunTarget::Exactly(self.now().saturating_add(cycles));
        let mut unobserved = vec![NoObserver; self.nodes.len()];
        let go_on = &mut |_| ControlFlow::Continue(());
        self.drive(target, &mut unobserved, go_on)
    }

    /// [Steps](Self::step) by `every` cycles, at least one, until the condition holds or the run
    /// has ended, and returns its ending in that case.
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

    /// Like [`Self::run_to`], but also stops where a node waits for one that has reached its time
    /// limit. The state there continues as it would have done with a later limit.
    pub fn run_to_resumable<P: Watcher + Send>(
        &mut self,
        pause: Cycle,
        observers: &mut [P],
        progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
    ) -> RunStatus {
        self.drive_resumable(RunTarget::Pause(pause), observers, progress)
    }

    /// Lets nodes that wait for one that has reached its time limit go on to their own ends,
    /// without the frames that it would send later. The state no longer continues as with a later
    /// limit.
    pub fn release_waiting(&mut self) {
        for at in 1..self.nodes.len() {
            if self.nodes[at - 1].is_out_of_time() {
                let rest = self.nodes[at - 1].take_remaining();
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
            match self.drive_resumable(target, observers, progress) {
                RunStatus::Ended(ending) => return Some(ending),
                RunStatus::Paused => return None,
                RunStatus::Stalled => self.release_waiting(),
            }
        }
    }

    fn drive_resumable<P: Watcher + Send>(
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

    /// Captures the departures from the last node from now on, as [`Endpoints::sink`] does from the
    /// start.
    pub fn capture_to(&mut self, sink: TraceSink) {
        if let Some(last) = self.nodes.last_mut() {
            last.capture_to(sink);
        }
    }

    /// The cycle before which all events of all nodes that are still running have been handled.
    #[must_use]
    pub fn now(&self) -> Cycle {
        let running = self.nodes.iter().filter(|node| node.ending().is_none());
        let ended = || self.nodes.iter().map(Node::now).max();
        running.map(Node::handled).min().or_else(ended).unwrap_or(0)
    }

    /// The cycle before which all events of all nodes, ended or not, have been handled.
    pub(crate) fn position(&self) -> Cycle {
        self.nodes.iter().map(Node::handled).min().unwrap_or(0)
    }

    /// The worst ending of the nodes that have ended, and the first node, from 0, that has it. From
    /// worst to best: fault, output failed, input failed, interrupted, time limit reached, drained,
    /// no events pending.
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
    /// Panics if there is no such node.
    #[must_use]
    pub fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    /// All nodes, in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The project that each node is built from.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The programs of the nodes' microengines.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The seed, if one was given.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The load into the first node, if the traffic is generated.
    #[must_use]
    pub fn load(&self) -> Option<&Load> {
        self.load.as_ref()
    }

    /// Delay of the links between nodes, in cycles.
    #[must_use]
    pub(crate) fn link_cycles(&self) -> Cycle {
        let project = &self.project;
        project.link_delay.cycles(project.capacity.hertz)
    }

    /// The counts so far, as in the [stats file](crate::stats_file).
    #[must_use]
    pub fn stats(&self) -> Report {
        Report::of(self)
    }

    /// The state of all nodes and of the links between them. Everything captured so far is then
    /// safely on disk; the sink must be one that can be resumed.
    ///
    /// # Errors
    /// Returns an error if the capture could not be written, or frames could not be read.
    pub fn snapshot(&mut self) -> Result<Snapshot, Problem> {
        let nodes = self.nodes.iter_mut().map(Node::save);
        Ok(Snapshot {
            nodes: nodes.collect::<Result<_, _>>()?,
        })
    }

    /// Continues from the state of a session of the same plan and ends, which may differ in when
    /// the run ends. The receiving one must not have run yet, and its sink must already be at
    /// [`Snapshot::capture`]. The counts recorded at a [mark](Plan::mark) are not part of the
    /// state.
    ///
    /// # Errors
    /// Returns a message if the state does not belong to such a session.
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

    /// Completes the capture of departures, and counts the frame that has begun
    /// to arrive. The session can be inspected afterwards, but not go on.
    ///
    /// # Errors
    /// Returns an error if the capture could not be written, now or earlier.
    pub fn finish(&mut self) -> io::Result<()> {
        self.nodes.iter_mut().try_for_each(Node::complete)
    }
}
