//! Shipped microcode, copied to where it may be changed, under drivers of the tests.

use std::path::Path;

use npsim::assemble::assemble_project;
use npsim::project::{Overrides, Project};
use npsim::simulation::{Settings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::lines::{Arrival, Departure, Lines, MediaDrop};
use npsim_chip::kernel::observer::NoObserver;

pub const CONTEXTS: u32 = 8;

/// A text in a file of `microcode` and what stands there instead, at every place.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

/// The lock is neither waited for nor taken.
pub const NO_LOCK: Edit = Edit {
    file: "lib/lock.uc",
    from: "    br_bset[bit, 0, again#]\n",
    to: "",
};

/// A project that is assembled and loaded.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub project: Project,
    /// At cycle 0.
    pub chip: Chip,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The project `file`: `PROTOCOL/VARIANT.toml` of the shipped microcode, or
/// `driver/NAME.toml` of these tests, with files changed.
pub fn load(file: &str, overrides: &Overrides, edits: &[Edit]) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    copy(&tests.join("../../../microcode"), folder.path());
    let driver = folder.path().join("driver");
    copy(&tests.join("congestion_safety"), &driver);
    let name = "context_number.uc";
    std::fs::copy(tests.join("firmware").join(name), driver.join(name)).unwrap();
    for edit in edits {
        let file = folder.path().join(edit.file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(edit.from), "{edit:?} has no place");
        std::fs::write(&file, text.replace(edit.from, edit.to)).unwrap();
    }
    let project = Project::load(&folder.path().join(file), overrides)
        .unwrap_or_else(|error| panic!("{error}"));
    let (programs, messages) = assemble_project(&project);
    let programs = programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n")));
    let simulation = Simulation::new(&project, &programs, Settings::default()).unwrap();
    let chip = simulation.chip().clone();
    Loaded { project, chip }
}

/// A driver on microengines 0 to `microengines` - 1, on an IXP2800 if they are
/// more than eight.
pub fn driver(name: &str, microengines: u32, defines: &[(&str, u32)], edits: &[Edit]) -> Loaded {
    let chip = if microengines > 8 {
        "ixp2800"
    } else {
        "ixp2400"
    };
    let overrides = Overrides {
        chip: Some(chip.into()),
        ids: Some(format!("0-{}", microengines - 1)),
        defines: defines
            .iter()
            .map(|(name, value)| ((*name).into(), value.to_string()))
            .collect(),
        ..Overrides::default()
    };
    load(&format!("driver/{name}.toml"), &overrides, edits)
}

impl Loaded {
    /// The value of a name that the project gives to sources.
    pub fn value(&self, name: &str) -> u32 {
        let defines = self.project.programs.iter().flat_map(|p| &p.defines);
        let (_, text) = { defines }.find(|(n, _)| n == name).unwrap();
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
            None => text.parse().unwrap(),
        }
    }
}

/// Nothing comes and nothing leaves.
struct Quiet;

impl Lines for Quiet {
    fn next_arrival(&mut self) -> Option<Arrival> {
        None
    }

    fn departed(&mut self, _departure: Departure<'_>) {}

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}

/// Runs to a cycle with nothing on the lines; true when all contexts have ended or
/// sleep for good before. A fault is an error.
pub fn go(chip: &mut Chip, until: Cycle) -> Result<bool, String> {
    match chip.run(until, &mut Quiet, &mut NoObserver) {
        Stop::Reached => Ok(false),
        Stop::Quiet => Ok(true),
        Stop::Fault(fault) => Err(format!("{fault:?}")),
    }
}

pub fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
