//! The shipped forwarder on a chip.

#[path = "../recorded_lines/mod.rs"]
pub mod recorded_lines;

use std::path::Path;
use std::sync::OnceLock;

use npsim::assemble::assemble_project;
use npsim::project::{Overrides, Project};
use npsim::simulation::{Settings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::lines::Arrival;
use npsim_chip::kernel::observer::Observer;
use npsim_net::Frame;
use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};

use recorded_lines::RecordedLines;

const PICO: u128 = 1_000_000_000_000;

/// Cycles that the media interface must be at rest before a run has ended; as
/// long as the command waits.
const DRAIN: Cycle = 60_000;

/// The forwarder, assembled and loaded once.
pub struct Forwarder {
    pub project: Project,
    chip: Chip,
}

impl Forwarder {
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Forwarder> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
            let project = Project::load(&folder, &Overrides::default()).unwrap();
            let (programs, messages) = assemble_project(&project);
            let programs = programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n")));
            let simulation = Simulation::new(&project, &programs, Settings::default()).unwrap();
            let chip = simulation.chip().clone();
            Self { project, chip }
        })
    }

    /// A chip at cycle 0.
    pub fn chip(&self) -> Chip {
        self.chip.clone()
    }

    /// The frames on the forwarder's lines.
    pub fn lines(&self, frames: &[Frame], ports: PortAssignment, pace: Pace) -> RecordedLines {
        let lines: Vec<_> = self
            .project
            .boot
            .ports
            .iter()
            .map(|port| PortLine {
                bits_per_second: port.bits_per_second,
            })
            .collect();
        let plan = schedule(frames, &lines, ports, pace).unwrap();
        let hertz = self.project.capacity.hertz;
        let cycles = |ps: u64| (u128::from(ps) * u128::from(hertz)).div_ceil(PICO) as Cycle;
        let arrival = |(number, planned): (u64, &npsim_net::pace::Arrival)| {
            let mut bytes = frames[planned.frame].bytes.clone();
            bytes.resize(bytes.len().max(60), 0);
            Arrival {
                start: cycles(planned.start_ps),
                end: cycles(planned.end_ps),
                port: planned.port as u8,
                bytes,
                frame: number,
            }
        };
        RecordedLines::new((0..).zip(&plan.arrivals).map(arrival).collect())
    }
}

/// Runs until all frames have come and the media interface is at rest.
pub fn drain<P: Observer>(chip: &mut Chip, lines: &mut RecordedLines, observer: &mut P) -> Cycle {
    loop {
        let end = chip.msf.last_activity().max(lines.arrivals_end()) + DRAIN;
        if chip.fabric.now >= end {
            return end;
        }
        match chip.run(end, lines, observer) {
            Stop::Reached => {}
            stop => panic!("{stop:?}"),
        }
    }
}
