//! A scheme on a chip, as shipped or with changes, with traffic.

use std::sync::{Arc, Mutex};

use npsim::assemble::Program;
use npsim::engine::ENGINE;
use npsim::links::Links;
use npsim::project::{Overrides, ProgramPlan, Project};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_net::load::Load;

use crate::fate::Routes;
use crate::verdict::Verdict;
use crate::watcher::{Watcher, WatcherTap};
use npsim_systems::project::{assembled, load};
use npsim_testkit::microcode::{Edit, changed, shipped};

/// Cycles at rest after which a run has ended, longer than any stall of a case.
const DRAIN: Cycle = 400_000;

/// Cycles after the time of the load in which everything must have come to rest.
const MAX_DRAIN: Cycle = 30_000_000;

/// A project with settings as by `--set` and `--stall`.
#[derive(Clone, Debug)]
pub struct Setup {
    pub project: String,
    pub set: Vec<String>,
    pub stalls: Vec<String>,
    pub edits: Vec<Edit>,
}

/// A scheme, assembled.
pub struct Bench {
    pub project: Project,
    programs: Vec<Program>,
    routes: Arc<Routes>,
}

impl Bench {
    pub fn new(setup: &Setup) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut microcode = shipped();
        if !setup.edits.is_empty() {
            changed(folder.path(), &setup.edits);
            folder.path().clone_into(&mut microcode);
        }
        let ordering = microcode.join("ordering");
        let overrides = Overrides {
            set: setup.set.iter().map(|text| text.parse().unwrap()).collect(),
            stalls: setup
                .stalls
                .iter()
                .map(|text| text.parse().unwrap())
                .collect(),
            ..Overrides::default()
        };
        let project = load(&ordering.join(&setup.project), &overrides);
        let programs = assembled(&project);
        Self {
            project,
            programs,
            routes: Arc::new(Routes::shipped(&ordering)),
        }
    }

    /// A watcher that has seen nothing yet.
    pub fn watcher(&self) -> Watcher {
        Watcher::new(Arc::clone(&self.routes))
    }

    /// A chip at cycle 0, which runs until `until` at the latest.
    pub fn simulation(&self, until: Cycle) -> Simulation {
        let settings = RunSettings {
            until: Some(until),
            drain: Some(DRAIN),
            ..RunSettings::new(ENGINE)
        };
        Simulation::new(&self.project, &self.programs, settings).unwrap()
    }

    /// Lines on which a load arrives, to all routes if it names none.
    pub fn links(&self, load: &Load, watcher: &Arc<Mutex<Watcher>>) -> Links {
        let load = npsim::load::resolved(load.clone(), &self.project);
        let generator = npsim::load::generator(&load, &self.project);
        let generator = generator.unwrap_or_else(|problem| panic!("{load}: {problem:?}"));
        Links::loaded(generator, self.project.capacity.hertz, None)
            .with_tap(WatcherTap(Arc::clone(watcher)))
    }

    /// Runs a load to its end and judges.
    pub fn run(&self, load: &Load) -> Verdict {
        self.run_timed(load).0
    }

    /// Runs a load; returns the verdict and the time of the last bit of each departure.
    pub fn run_timed(&self, load: &Load) -> (Verdict, Vec<Cycle>) {
        let watcher = Arc::new(Mutex::new(self.watcher()));
        let microseconds = load.time.picoseconds() / 1_000_000;
        let time = self.project.capacity.hertz / 1_000_000 * microseconds;
        let mut simulation = self.simulation(time + MAX_DRAIN);
        let mut links = self.links(load, &watcher);
        let ending = simulation.run(&mut links, &mut |_, _| ());
        drop(links);
        let watcher = Arc::into_inner(watcher).expect("the lines are gone");
        let mut watcher = watcher.into_inner().unwrap();
        let departures = std::mem::take(&mut watcher.departures);
        let verdict = Verdict::of(self, &simulation, &ending, watcher);
        (verdict, departures)
    }

    /// The programs of this source.
    fn programs_of(&self, source: &str) -> impl Iterator<Item = &ProgramPlan> {
        let programs = self.project.programs.iter();
        programs.filter(move |plan| plan.source.ends_with(source))
    }

    /// Contexts that take a buffer for the next packet before it arrives.
    pub fn receiving_contexts(&self) -> usize {
        let sources = ["aisr_buffer.uc", "packet_sort_process.uc"];
        let receiving = sources.iter().flat_map(|source| self.programs_of(source));
        let contexts = receiving.map(|plan| {
            let asked = plan.defines.iter().find(|(name, _)| name == "CONTEXTS");
            asked.map_or(8, |(_, contexts)| contexts.parse().unwrap())
        });
        contexts.sum()
    }

    /// The outcome of a frame.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }
}
