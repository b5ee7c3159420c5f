//! The router on a chip, as shipped or with changes.

use std::path::Path;

use npsim::assemble::assemble_project;
use npsim::project::{Overrides, Project};
use npsim::simulation::{Settings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::lines::Arrival;
use npsim_chip::kernel::observer::NoObserver;
use npsim_net::load::{Generator, Load};
use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};
use npsim_net::{Frame, LineFrame};

use crate::classes::Classes;
use crate::oracle::Router;
pub use crate::recorded_lines::{RecordedLines, Sent};

const PICO: u128 = 1_000_000_000_000;

/// Cycles that chip and slow path must be at rest before a run has ended.
const DRAIN: Cycle = 60_000;

/// Cycles after the last frame in which everything must have come to rest.
const LONGEST_DRAIN: Cycle = 6_000_000;

/// The shipped projects: each chip.
pub const PROJECTS: [&str; 2] = ["npsim.toml", "ixp2800.toml"];

/// A text in a file of `microcode/router` and what stands there instead, at
/// every place.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

/// A router, assembled and loaded, with the oracles for its project file.
pub struct Bench {
    pub project: Project,
    pub router: Router,
    pub classes: Classes,
    chip: Chip,
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

impl Bench {
    /// A project of the router with settings as of `--set`, and its files
    /// changed.
    pub fn new(project: &str, set: &[&str], edits: &[Edit]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
        for part in ["lib", "router"] {
            copy(&shipped.join(part), &folder.path().join(part));
        }
        for edit in edits {
            let file = folder.path().join("router").join(edit.file);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(edit.from), "{edit:?} has no place");
            std::fs::write(&file, text.replace(edit.from, edit.to)).unwrap();
        }
        let file = folder.path().join("router").join(project);
        let overrides = Overrides {
            set: set.iter().map(|text| text.parse().unwrap()).collect(),
            ..Overrides::default()
        };
        let project = Project::load(&file, &overrides).unwrap_or_else(|error| panic!("{error}"));
        let (programs, messages) = assemble_project(&project);
        let programs = programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n")));
        let simulation = Simulation::new(&project, &programs, Settings::default()).unwrap();
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
        let defines = &self.project.programs[0].defines;
        let (_, text) = defines.iter().find(|(n, _)| n == name).unwrap();
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
            None => text.parse().unwrap(),
        }
    }

    /// A 64-bit counter in SRAM, `offset` bytes behind a name.
    pub fn wide(&self, chip: &Chip, name: &str, offset: usize) -> u64 {
        let at = self.value(name) + offset as u32;
        let word = |at| u64::from(chip.sram.read_word(at).unwrap());
        word(at) << 32 | word(at + 4)
    }

    /// The 32-bit counter in SRAM, `offset` bytes behind a name.
    pub fn narrow(&self, chip: &Chip, name: &str, offset: usize) -> u64 {
        u64::from(
            chip.sram
                .read_word(self.value(name) + offset as u32)
                .unwrap(),
        )
    }

    fn cycles(&self, ps: u64) -> Cycle {
        (u128::from(ps) * u128::from(self.project.capacity.hertz)).div_ceil(PICO) as Cycle
    }

    /// Frames on the router's lines.
    pub fn lines(&self, frames: impl IntoIterator<Item = LineFrame>) -> RecordedLines {
        let arrival = |(number, frame): (u64, LineFrame)| {
            let mut bytes = frame.bytes;
            bytes.resize(bytes.len().max(60), 0);
            Arrival {
                start: self.cycles(frame.start_ps),
                end: self.cycles(frame.end_ps),
                port: frame.port as u8,
                bytes,
                frame: number,
            }
        };
        RecordedLines::new((0..).zip(frames).map(arrival).collect())
    }

    /// Frames of a capture.
    pub fn played(&self, frames: &[Frame], ports: PortAssignment, pace: Pace) -> RecordedLines {
        let ends = self.project.boot.ports.iter();
        let lines: Vec<_> = ends
            .map(|port| PortLine {
                bits_per_second: port.bits_per_second,
            })
            .collect();
        let plan = schedule(frames, &lines, ports, pace).unwrap();
        self.lines(plan.arrivals.iter().map(|planned| LineFrame {
            start_ps: planned.start_ps,
            end_ps: planned.end_ps,
            port: planned.port,
            bytes: frames[planned.frame].bytes.clone(),
        }))
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
pub fn go(chip: &mut Chip, until: Cycle, lines: &mut RecordedLines) -> Result<(), String> {
    match chip.run(until, lines, &mut NoObserver) {
        Stop::Reached => Ok(()),
        stop => Err(format!("{stop:?}")),
    }
}

/// Runs until all frames have come and media interface and slow path rest.
pub fn drain(chip: &mut Chip, lines: &mut RecordedLines) -> Result<(), String> {
    loop {
        let active = chip.msf.last_activity().max(chip.gpp.last_activity());
        let end = active.max(lines.arrivals_end()) + DRAIN;
        if chip.fabric.now >= end {
            return Ok(());
        }
        if end > lines.arrivals_end() + LONGEST_DRAIN {
            return Err("does not come to rest".into());
        }
        go(chip, end, lines)?;
    }
}
