//! Opens a run: a project with its programs and traffic, under a debugger.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use npsim::advisories;
use npsim::debug::Debugger;
use npsim::debug::timeline::{NoDebug, Setup};
use npsim::links::Frames;
use npsim::load;
use npsim::net::load::Load;
use npsim::project::Project;
use npsim::simulation::Simulation;
use npsim::traffic::TrafficSource;
use serde::Serialize;

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::measurement::Measurement;
use crate::message::Message;
use crate::request::OpenRequest;
use crate::scenario::Scenario;

/// Bytes per megabyte.
const MEGABYTE: usize = 1_000_000;
/// The default memory budget for past states, in megabytes.
const MEMORY: usize = 64;

/// The number of cycles that a request may run through.
#[derive(Debug, Default)]
pub struct CycleBudget {
    from: AtomicU64,
    cycles: AtomicU64,
}

impl CycleBudget {
    /// Starts a new budget at a cycle.
    pub fn begin(&self, from: u64, cycles: u64) {
        self.from.store(from, Ordering::Relaxed);
        self.cycles.store(cycles, Ordering::Relaxed);
    }

    fn is_used_up(&self, at: u64) -> bool {
        let from = self.from.load(Ordering::Relaxed);
        at.abs_diff(from) >= self.cycles.load(Ordering::Relaxed)
    }
}

/// An open run.
#[derive(Debug)]
pub struct OpenRun {
    pub scenario: Scenario,
    pub debugger: Debugger,
    pub budget: Arc<CycleBudget>,
    /// The last cycle, if there is one.
    pub until: Option<u64>,
    pub measurement: Option<Measurement>,
}

/// The description of a newly opened run, for the page.
#[derive(Debug, Serialize)]
pub struct Opened {
    name: String,
    target: String,
    hertz: u64,
    chip: String,
    ports: Vec<u64>,
    until: Option<u64>,
    arrivals_end: u64,
    /// The load in use; if there is none, the one described by the project.
    load: Load,
    programs: Vec<ProgramInfo>,
    sources: Vec<String>,
    rings: Vec<String>,
    memories: Vec<MemoryInfo>,
    goals: usize,
    messages: Vec<Message>,
    notes: Vec<String>,
    explain: String,
}

#[derive(Debug, Serialize)]
struct ProgramInfo {
    me: u8,
    stage: String,
    source: String,
    words: usize,
    room: usize,
    contexts: Vec<u8>,
}

#[derive(Debug, Serialize)]
struct MemoryInfo {
    name: String,
    memory: String,
    address: u32,
    bytes: u32,
}

/// Opens a run.
///
/// # Errors
/// Returns an error if there are mistakes in the project, in its sources, or in the request.
pub fn open(files: &FileStore, asked: &OpenRequest) -> Result<(OpenRun, Opened), Failure> {
    let (scenario, messages) = Scenario::read(files, asked)?;
    let source = scenario.source()?;
    let (run, notes) = debugged(&scenario, &source, asked.memory.unwrap_or(MEMORY))?;
    let arrivals_end = source.arrivals_end();
    let load = source.load().cloned();
    drop(source);
    let load = load.unwrap_or_else(|| project_load(&run.scenario.project));
    let opened = Opened::of(files, asked, &run, (messages, notes), (arrivals_end, load));
    Ok((run, opened))
}

/// The project's description of generated traffic, which need not include a rate.
fn project_load(project: &Project) -> Load {
    load::resolved(project.load.clone().unwrap_or_default(), project)
}

fn debugged(
    scenario: &Scenario,
    source: &TrafficSource<'_>,
    memory: usize,
) -> Result<(OpenRun, Vec<String>), Failure> {
    let project = &scenario.project;
    let settings = scenario.settings(source);
    let (until, allowed) = (settings.until, settings.allow.clone());
    let none = || -> Frames { Box::new(std::iter::empty()) };
    let setup = Setup {
        simulation: Simulation::new(project, &scenario.programs, settings)?,
        frames: NoDebug(source.ends()?.frames.unwrap_or_else(none)),
        until,
        hertz: project.capacity.hertz,
        budget: memory.saturating_mul(MEGABYTE),
    };
    let debugger = Debugger::new(setup, project, &allowed);
    let mut debugger = debugger.map_err(|error| {
        let least = error.needed.div_ceil(MEGABYTE);
        Failure::new(error.to_string()).help(format!("give at least {least} MB, `memory`"))
    })?;
    let budget = Arc::new(CycleBudget::default());
    let asked = Arc::clone(&budget);
    debugger.set_interrupt_check(move |cycle| asked.is_used_up(cycle));
    debugger.hide_quit();
    let notes = source.survey().map(advisories::of_capture);
    let run = OpenRun {
        scenario: scenario.clone(),
        debugger,
        budget,
        until,
        measurement: None,
    };
    Ok((run, notes.unwrap_or_default()))
}

impl Opened {
    fn of(
        files: &FileStore,
        asked: &OpenRequest,
        run: &OpenRun,
        (messages, notes): (Vec<Message>, Vec<String>),
        (arrivals_end, load): (u64, Load),
    ) -> Self {
        let (project, debugger) = (&run.scenario.project, &run.debugger);
        let threads = debugger.threads();
        let programs = run.scenario.programs.iter().map(|program| {
            let own = threads.iter().filter(|it| it.thread.me == program.me);
            ProgramInfo {
                me: program.me,
                stage: debugger.stage(program.me),
                source: files.path(&program.source),
                words: program.image.words.len(),
                room: usize::from(project.profile.control_store_words()),
                contexts: own.map(|it| it.thread.context).collect(),
            }
        });
        let names = debugger.names();
        let memories = names
            .memories()
            .iter()
            .map(|(name, memory, address, bytes)| MemoryInfo {
                name: name.clone(),
                memory: memory.name(),
                address: *address,
                bytes: *bytes,
            });
        let sources = debugger.files().into_iter();
        let mut sources: Vec<_> = sources.map(|it| files.path(it)).collect();
        sources.sort();
        sources.dedup();
        let target = if project.is_default {
            asked.target.as_ref()
        } else {
            Path::new(&project.text.path)
        };
        Self {
            name: project.name.clone(),
            target: files.path(target),
            hertz: project.capacity.hertz,
            chip: project.profile.name().to_owned(),
            ports: { project.boot.ports.iter() }
                .map(|it| it.bits_per_second)
                .collect(),
            until: run.until,
            arrivals_end,
            load,
            programs: programs.collect(),
            sources,
            rings: names.rings().iter().map(|it| it.0.clone()).collect(),
            memories: memories.collect(),
            goals: project.goals.len(),
            messages,
            notes,
            explain: project.explain(),
        }
    }
}
