//! A chain of routers: whole chips one behind the other, all of one project. What
//! leaves a router by a port comes in at the same port of the next one.
//!
//! Frames go one way only, so a router needs nothing but what has left the one
//! before it: each is an ordinary run whose frames come from a link. It waits when
//! the next of them is not known yet. However many routers run at a time, each sees
//! the same frames at the same cycles, so all of them come to the same results.

mod hop;
mod link;
mod permits;
pub mod report;
pub mod summary;

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use npsim_chip::Cycle;
use npsim_net::egress::PcapSink;

pub use hop::{Counts, Hop};

use crate::links::{Frames, Links, Tap};
use crate::simulation::{Settings, Simulation};
use hop::Leaving;
use link::{Incoming, Inlet, Origins, Outlet, link};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;
use permits::{Permit, Permits};

/// The most routers that a chain may have.
pub const MOST_HOPS: usize = 255;

/// What is run, and how.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// What each router is.
    pub project: &'a Project,
    /// What its microengines run.
    pub programs: &'a [Program],
    /// How long each router runs and what it passes over.
    pub settings: Settings,
    /// A cycle at which each router's counts are noted.
    pub mark: Option<Cycle>,
    /// How many routers there are, from 1 to [`MOST_HOPS`].
    pub hops: usize,
    /// How many of them run at a time. The results are the same with any number.
    pub threads: usize,
}

/// The two ends of a chain.
pub struct Ends<'a> {
    /// What comes in at the first router.
    pub frames: Frames<'a>,
    /// Added to the times of departures, ns since 1970.
    pub origin_ns: u64,
    /// A capture of what leaves the last router.
    pub sink: Option<PcapSink>,
    /// Sees what comes in at the first router, and what it loses.
    pub entry: Option<Box<dyn Tap + 'a>>,
    /// Sees what leaves the last router. The numbers of frames and the times of
    /// their arrival are those of the first router.
    pub exit: Option<Box<dyn Tap + Send + 'a>>,
}

/// A chain of which nothing has run yet.
#[derive(Debug)]
pub struct Chain {
    routers: Vec<Simulation>,
    mark: Option<Cycle>,
    until: Option<Cycle>,
    threads: usize,
    hertz: u64,
    delay: Cycle,
}

/// Why a chain could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The capture of departures could not be written.
    #[error("the frames that left the last router could not be written: {0}")]
    Capture(#[source] io::Error),
    /// There is no thread for a router.
    #[error("no thread could be started for router {0}: {1}")]
    Thread(usize, #[source] io::Error),
}

/// The seed of a router's pseudo-random numbers: that of the first one is the one
/// that was given, those of the others follow from it.
#[must_use]
pub fn seed_of(seed: u64, hop: usize) -> u64 {
    seed.wrapping_add((hop as u64).wrapping_mul(0xd1b5_4a32_d192_ed03))
}

/// The project of a router: completions that come late do so by other times at each.
fn project_of(project: &Project, hop: usize) -> Cow<'_, Project> {
    if hop == 0 || project.boot.disturbances.is_none() {
        return Cow::Borrowed(project);
    }
    let mut own = project.clone();
    let late = &mut own.boot.disturbances.late;
    late.seed = seed_of(late.seed, hop);
    Cow::Owned(own)
}

impl Chain {
    /// Loads the programs into all routers.
    ///
    /// # Errors
    /// There is no such chain, or as in [`Simulation::new`].
    pub fn new(plan: &Plan<'_>) -> Result<Self, Problem> {
        if !(1..=MOST_HOPS).contains(&plan.hops) {
            return Err(
                Problem::new(format!("there is no chain of {} routers", plan.hops))
                    .help(format!("a chain has 1 to {MOST_HOPS}")),
            );
        }
        let router = |hop| {
            let settings = Settings {
                seed: plan.settings.seed.map(|seed| seed_of(seed, hop)),
                ..plan.settings.clone()
            };
            Simulation::new(&project_of(plan.project, hop), plan.programs, settings)
        };
        let hertz = plan.project.capacity.hertz;
        Ok(Self {
            routers: (0..plan.hops).map(router).collect::<Result<_, _>>()?,
            mark: plan.mark,
            until: plan.settings.until,
            threads: plan.threads,
            hertz,
            delay: plan.project.link_delay.cycles(hertz),
        })
    }

    /// Runs all routers to their ends, in their order. `progress` is told now and
    /// then how far the first one has come; `stop` breaks all of them off.
    ///
    /// # Errors
    /// The capture of departures could not be written, or a thread not be started.
    pub fn run(
        self,
        ends: Ends<'_>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Cycle),
    ) -> Result<Vec<Hop>, ChainError> {
        let permits = Permits::new(self.threads);
        let legs = [self.mark, self.until];
        let (hertz, delay, origin_ns) = (self.hertz, self.delay, ends.origin_ns);
        let last = self.routers.len() - 1;
        let mut routers = self.routers.into_iter();
        let Some(first) = routers.next() else {
            return Ok(Vec::new());
        };
        // What the last router has besides what all have.
        let (mut sink, mut exit) = (ends.sink, ends.exit);
        thread::scope(|scope| {
            let (first_outlet, mut inlet) = if last > 0 {
                let (outlet, inlet) = link();
                (Some(outlet), Some(inlet))
            } else {
                (None, None)
            };
            let mut others = Vec::with_capacity(last);
            for (hop, simulation) in (1..).zip(routers) {
                let Some(from) = inlet.take() else { break };
                let outlet = (hop < last).then(|| {
                    let (outlet, next) = link();
                    inlet = Some(next);
                    outlet
                });
                let at_end = hop == last;
                let later = Later {
                    simulation,
                    from,
                    outlet,
                    sink: sink.take_if(|_| at_end),
                    exit: exit.take_if(|_| at_end),
                    hertz,
                    delay,
                    origin_ns,
                };
                let permits = &permits;
                let name = format!("router {}", hop + 1);
                let thread = thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, move || {
                        let permit = permits.wait(hop);
                        later.run(legs, &permit, &mut |_| go_on(stop))
                    });
                others.push(thread.map_err(|error| ChainError::Thread(hop + 1, error))?);
            }
            let mut hops = Vec::with_capacity(last + 1);
            {
                let permit = permits.wait(0);
                let links = Links::streaming(ends.frames, origin_ns, hertz, sink.take());
                let mut leaving = Leaving::new(None, first_outlet);
                leaving.entry(ends.entry);
                leaving.exit(exit.take().map(|exit| exit as Box<dyn Tap>));
                let mut each = |cycle| {
                    progress(cycle);
                    go_on(stop)
                };
                hops.push(hop::run(first, links, leaving, legs, &permit, &mut each));
            }
            for thread in others {
                hops.push(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            hops.into_iter()
                .collect::<io::Result<_>>()
                .map_err(ChainError::Capture)
        })
    }
}

fn go_on(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// A router behind the first one, on its way to its thread.
struct Later<'a> {
    simulation: Simulation,
    from: Inlet,
    outlet: Option<Outlet>,
    sink: Option<PcapSink>,
    exit: Option<Box<dyn Tap + Send + 'a>>,
    hertz: u64,
    delay: Cycle,
    origin_ns: u64,
}

impl Later<'_> {
    fn run(
        self,
        legs: [Option<Cycle>; 2],
        permit: &Permit<'_>,
        each: &mut dyn FnMut(Cycle) -> ControlFlow<()>,
    ) -> io::Result<Hop> {
        let origins = Rc::new(RefCell::new(Origins::default()));
        let incoming = Incoming::new(
            self.from,
            permit,
            self.delay,
            self.hertz,
            Rc::clone(&origins),
        );
        let links = Links::streaming(Box::new(incoming), self.origin_ns, self.hertz, self.sink);
        let mut leaving = Leaving::new(Some(origins), self.outlet);
        leaving.exit(self.exit.map(|exit| exit as Box<dyn Tap>));
        hop::run(self.simulation, links, leaving, legs, permit, each)
    }
}
