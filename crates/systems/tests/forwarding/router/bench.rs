//! The router on a chip, as shipped or with changes.

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::observer::NoObserver;
use npsim_net::load::{Generator, Load};
use npsim_net::pace::{Pace, PortAssignment};
use npsim_net::{Frame, LineFrame};

use super::classes::Classes;
use crate::oracle::Router;
pub use crate::recorded_lines::{RecordedLines, Sent};
use npsim_systems::names::value;
use npsim_systems::project::{assembled, load};
pub use npsim_testkit::microcode::Edit;
use npsim_testkit::microcode::changed;

/// Cycles for which chip and slow path must be at rest before a run has ended.
const DRAIN: Cycle = 60_000;

/// Cycles after the last frame in which everything must have come to rest.
const MAX_DRAIN: Cycle = 6_000_000;

/// The shipped projects: each chip.
pub const PROJECTS: [&str; 2] = ["npsim.toml", "ixp2800.toml"];

/// A router, assembled and loaded, with the oracles for its project file.
pub struct Bench {
    pub project: Project,
    pub router: Router,
    pub classes: Classes,
    chip: Chip,
}

impl Bench {
    /// A project of the router with settings as by `--set` and with changed files.
    pub fn new(project: &str, set: &[&str], edits: &[Edit]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        changed(folder.path(), edits);
        let file = folder.path().join("router").join(project);
        let overrides = Overrides {
            set: set.iter().map(|text| text.parse().unwrap()).collect(),
            ..Overrides::default()
        };
        let project = load(&file, &overrides);
        let programs = assembled(&project);
        let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
        Self {
            router: Router::of(file.to_str().unwrap()),
            classes: Classes::of(&file),
            chip: simulation.chip().clone(),
            project,
        }
    }

    /// A chip at cycle 0.
    pub fn chip(&self) -> Chip {
        self.chip.clone()
    }

    pub fn ports(&self) -> usize {
        self.project.boot.ports.len()
    }

    /// The value of a name that the project gives to sources.
    pub fn value(&self, name: &str) -> u32 {
        value(&self.project, name)
    }

    /// A 64-bit counter in SRAM, `offset` bytes past a name.
    pub fn counter64(&self, chip: &Chip, name: &str, offset: usize) -> u64 {
        let at = self.value(name) + offset as u32;
        let word = |at| u64::from(chip.units().sram.read_word(at).unwrap());
        word(at) << 32 | word(at + 4)
    }

    /// The 32-bit counter in SRAM, `offset` bytes past a name.
    pub fn counter32(&self, chip: &Chip, name: &str, offset: usize) -> u64 {
        u64::from(
            chip.units()
                .sram
                .read_word(self.value(name) + offset as u32)
                .unwrap(),
        )
    }

    /// Frames on the router's lines.
    pub fn lines(&self, frames: impl IntoIterator<Item = LineFrame>) -> RecordedLines {
        RecordedLines::with_frames(&self.project, frames)
    }

    /// Frames of a capture.
    pub fn played(&self, frames: &[Frame], ports: PortAssignment, pace: Pace) -> RecordedLines {
        RecordedLines::with_capture(&self.project, frames, ports, pace)
    }

    /// A load, to all routes if it names none.
    pub fn loaded(&self, load: Load) -> Vec<LineFrame> {
        let load = npsim::load::resolved(load, &self.project);
        Generator::new(&load, &npsim::load::ports(&self.project))
            .unwrap_or_else(|error| panic!("{error}"))
            .collect()
    }
}

/// Runs to a cycle; a fault is an error.
pub fn run_until(chip: &mut Chip, until: Cycle, lines: &mut RecordedLines) -> Result<(), String> {
    match chip.run(until, lines, &mut NoObserver) {
        Stop::Reached => Ok(()),
        stop => Err(format!("{stop:?}")),
    }
}

/// Runs until all frames have arrived and the media interface and the slow path are at rest.
pub fn drain(chip: &mut Chip, lines: &mut RecordedLines) -> Result<(), String> {
    loop {
        let active = chip
            .units()
            .msf
            .last_activity()
            .max(chip.gpp().last_activity());
        let end = active.max(lines.arrivals_end()) + DRAIN;
        if chip.now() >= end {
            return Ok(());
        }
        if end > lines.arrivals_end() + MAX_DRAIN {
            return Err("does not come to rest".into());
        }
        run_until(chip, end, lines)?;
    }
}
