//! Opens a debugger on a system described by the command line.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim::files::readable_source;
use npsim::problem::Problem;
use npsim::simulation::Simulation;
use npsim::traffic::TrafficSource;
use npsim_debug::timeline::{NoDebug, Setup};
use npsim_debug::{BudgetTooSmall, Debugger};

use crate::cmd::run::source;
use crate::cmd::run::system::SystemArguments;

/// Creates a debugger at the beginning of the run and passes it to `use_it`; `None` if the
/// microcode has errors, which have been reported by then.
pub fn with_debugger<T>(
    system: &SystemArguments,
    target: &Path,
    budget: usize,
    use_it: impl FnOnce(Debugger) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let project = system.project(target)?;
    let load = source::load(system, &project)?;
    let Some(programs) = system.programs(&project)? else {
        return Ok(None);
    };
    let source = TrafficSource::open(source::traffic(system, load), &project)?;
    let hertz = project.capacity.hertz;
    let settings = system.settings(hertz, &source);
    let until = settings.until;
    let allowed = settings.allow.clone();
    let setup = Setup {
        simulation: Simulation::new(&project, &programs, settings)?,
        frames: NoDebug(
            source
                .ends()?
                .frames
                .unwrap_or_else(|| Box::new(std::iter::empty())),
        ),
        until,
        hertz,
        budget,
    };
    let debugger = Debugger::new(setup, &project, &allowed).map_err(too_small)?;
    use_it(debugger).map(Some)
}

/// The error for an insufficient memory budget.
fn too_small(error: BudgetTooSmall) -> Problem {
    let megabytes = error.needed.div_ceil(1_000_000);
    Problem::new(error.to_string()).help(format!("give at least `--memory {megabytes}`"))
}

/// Sources on disk of the programs of a target, each read at most once.
#[derive(Debug)]
pub struct Disk {
    target: PathBuf,
    known: RefCell<BTreeMap<String, Option<String>>>,
}

impl Disk {
    /// The sources of an image or a project.
    pub fn of(target: &Path) -> Self {
        Self {
            target: target.to_path_buf(),
            known: RefCell::default(),
        }
    }

    /// The text of a file, if it is a source that can be read.
    pub fn source(&self, file: &str) -> Option<String> {
        let read = || readable_source(Path::new(file), &self.target);
        let mut known = self.known.borrow_mut();
        known.entry(file.to_owned()).or_insert_with(read).clone()
    }
}
