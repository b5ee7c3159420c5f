//! Shipped microcode, copied so that it can be changed, under test drivers.

use std::path::Path;

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::NoTraffic;

use npsim_systems::project::assembled;
use npsim_systems::sizes::on_microengines;
use npsim_systems::{names, project};
use npsim_testkit::microcode::{Edit, changed, copy};

pub const CONTEXTS: u32 = 8;

/// A mistake: the lock is neither waited for nor taken.
pub const NO_LOCK: Edit = Edit {
    file: "lib/lock.uc",
    from: "    br_bset[bit, 0, again#]\n",
    to: "",
};

/// An assembled and loaded project.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub project: Project,
    /// At cycle 0.
    pub chip: Chip,
}

/// The project `file`: `PROTOCOL/VARIANT.toml` of the shipped microcode, or
/// `driver/NAME.toml` of these tests, with files changed.
pub fn load(file: &str, overrides: &Overrides, edits: &[Edit]) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    changed(folder.path(), edits);
    let driver = folder.path().join("driver");
    copy(&tests.join("congestion/safety"), &driver);
    let name = "context_number.uc";
    std::fs::copy(tests.join("firmware").join(name), driver.join(name)).unwrap();
    let project = project::load(&folder.path().join(file), overrides);
    let programs = assembled(&project);
    let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
    let chip = simulation.chip().clone();
    Loaded { project, chip }
}

/// A driver on microengines 0 to `microengines` - 1, on an IXP2800 if they are
/// more than eight.
pub fn driver(name: &str, microengines: u32, defines: &[(&str, u32)], edits: &[Edit]) -> Loaded {
    let overrides = on_microengines(microengines, defines);
    load(&format!("driver/{name}.toml"), &overrides, edits)
}

impl Loaded {
    /// The value of a name that the project gives to sources.
    pub fn value(&self, name: &str) -> u32 {
        names::value(&self.project, name)
    }
}

/// Runs to a cycle with nothing on the lines; returns true if all contexts have ended or sleep
/// forever before. A fault is an error.
pub fn run_until(chip: &mut Chip, until: Cycle) -> Result<bool, String> {
    match chip.run(until, &mut NoTraffic, &mut NoObserver) {
        Stop::Reached => Ok(false),
        Stop::Quiet => Ok(true),
        Stop::Fault(fault) => Err(format!("{fault:?}")),
    }
}

/// A gap that `timer_wait` accepts: none, or at least two steps.
pub const fn valid_gap(gap: u16) -> u16 {
    if gap == 1 { 2 } else { gap }
}

pub fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
