//! Systems to be debugged.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::NoObserver;
use npsim_debug::Debugger;
use npsim_debug::breakpoints::BreakpointHit;
use npsim_debug::console::execute;
use npsim_debug::timeline::{NoDebug, Setup, Timeline};
use npsim_engine::ENGINE;
use npsim_net::load::Load;
use npsim_project::assemble::{Program, assemble_project};
use npsim_project::{Overrides, Project};
use npsim_session::links::{Frames, Links, LinksState};
use npsim_session::simulation::{Ending, RunSettings, Simulation};

/// The state of a system: that of the chip and of the lines.
pub type State = (Vec<u8>, LinksState);

/// A system with its traffic.
pub struct System {
    pub project: Project,
    pub programs: Vec<Program>,
    pub settings: RunSettings,
    load: Option<Load>,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A project or source of a test, in a folder of its own.
pub fn written(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("debugged");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

impl System {
    /// A project with frames at a fraction of its line rate for a time.
    pub fn of(target: &str, load: Option<(&str, &str)>) -> Self {
        Self::at(&root().join(target), load)
    }

    pub fn at(target: &Path, load: Option<(&str, &str)>) -> Self {
        Self::with(target, &[], load)
    }

    fn with(target: &Path, defines: &[(&str, &str)], load: Option<(&str, &str)>) -> Self {
        let owned = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
        let overrides = Overrides {
            include: vec![root().join("microcode/lib"), root().join("microcode")],
            defines: defines.iter().map(owned).collect(),
            ..Overrides::default()
        };
        let project = Project::load(target, &overrides, &npsim_protocols::registry()).unwrap();
        let (programs, messages) = assemble_project(&project);
        let programs = programs.unwrap_or_else(|| panic!("{:?}", messages.rendered));
        let load = load.map(|(rate, time)| {
            let load = Load {
                rate: Some(rate.parse().unwrap()),
                time: time.parse().unwrap(),
                ..Load::default()
            };
            npsim_project::load::resolved(load, &project)
        });
        let settings = RunSettings {
            drain: load.is_some().then_some(60_000),
            ..RunSettings::new(ENGINE)
        };
        Self {
            project,
            programs,
            settings,
            load,
        }
    }

    pub fn wire8() -> Self {
        Self::of("microcode/tutorial/wire8.uc", Some(("0.5", "300us")))
    }

    pub fn forward() -> Self {
        Self::of("microcode/forward", Some(("1", "300us")))
    }

    pub fn router() -> Self {
        Self::of("microcode/router", Some(("1", "300us")))
    }

    /// A context that sends 50 requests to the core's program, which answers them in interrupts.
    pub fn core_program() -> Self {
        let target = root().join("crates/systems/tests/firmware/core_program");
        let mut system = Self::with(&target, &[("ROUNDS", "50")], None);
        system.settings.until = Some(400_000);
        system
    }

    pub fn hertz(&self) -> u64 {
        self.project.capacity.hertz
    }

    pub fn simulation(&self) -> Simulation {
        Simulation::new(&self.project, &self.programs, self.settings.clone()).unwrap()
    }

    pub fn frames(&self) -> Frames {
        match &self.load {
            Some(load) => {
                let frames = npsim_project::load::generator(load, &self.project).unwrap();
                Box::new(frames.map(Ok))
            }
            None => Box::new(std::iter::empty()),
        }
    }

    pub fn timeline(&self, budget: usize) -> Timeline {
        Timeline::new(Setup {
            simulation: self.simulation(),
            frames: NoDebug(self.frames()),
            until: self.settings.until,
            hertz: self.hertz(),
            budget,
        })
        .unwrap()
    }

    pub fn debugger(&self) -> Debugger {
        let setup = Setup {
            simulation: self.simulation(),
            frames: NoDebug(self.frames()),
            until: self.settings.until,
            hertz: self.hertz(),
            budget: 512 << 20,
        };
        Debugger::new(setup, &self.project, &self.settings.allow).unwrap()
    }

    /// A run that is continued cycle by cycle.
    pub fn run(&self) -> Run {
        Run {
            simulation: self.simulation(),
            links: Links::streaming(self.frames(), 0, self.hertz(), None),
        }
    }

    /// The state of a run to a cycle.
    pub fn at_cycle(&self, cycle: Cycle) -> State {
        let mut run = self.run();
        run.to(cycle);
        run.state()
    }
}

pub struct Run {
    pub simulation: Simulation,
    links: Links,
}

impl Run {
    pub fn to(&mut self, cycle: Cycle) -> Ending {
        self.simulation.run_until(Some(cycle));
        let on = &mut |_, _: &_| ControlFlow::Continue(());
        let ending = self
            .simulation
            .run_to(Cycle::MAX, &mut self.links, &mut NoObserver, on);
        ending.unwrap()
    }

    pub fn state(&self) -> State {
        (self.simulation.save().unwrap(), self.links.state())
    }
}

/// The state at which a timeline is.
pub fn state(timeline: &Timeline) -> State {
    (timeline.chip().save().unwrap(), timeline.lines())
}

pub fn silent(_: &str) -> Option<String> {
    None
}

/// The output lines of commands, given one per line.
pub fn commands(debugger: &mut Debugger, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let answer =
            execute(debugger, &silent, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        lines.extend(answer.lines);
    }
    lines
}

pub fn error_text(debugger: &mut Debugger, line: &str) -> String {
    execute(debugger, &silent, line).unwrap_err().to_string()
}

/// A breakpoint that is hit.
pub fn met(number: u32) -> BreakpointHit {
    BreakpointHit {
        number,
        change: None,
        by: Vec::new(),
        failure: None,
    }
}

/// A watchpoint that has seen a change.
pub fn changed(number: u32, before: u64, now: u64) -> BreakpointHit {
    BreakpointHit {
        change: Some((before, now)),
        ..met(number)
    }
}
