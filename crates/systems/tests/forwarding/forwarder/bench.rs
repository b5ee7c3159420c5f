//! The shipped forwarder on a chip.

use std::sync::OnceLock;

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::observer::Observer;
use npsim_net::Frame;
use npsim_net::pace::{Pace, PortAssignment};

use crate::recorded_lines::RecordedLines;
use npsim_systems::project::{assembled, load};
use npsim_testkit::microcode::shipped;

/// Cycles for which the media interface must be at rest before a run has ended; the same as in the
/// command.
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
            let project = load(&shipped().join("forward"), &Overrides::default());
            let programs = assembled(&project);
            let simulation =
                Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
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
        RecordedLines::with_capture(&self.project, frames, ports, pace)
    }
}

/// Runs until all frames have arrived and the media interface is at rest.
pub fn drain(chip: &mut Chip, lines: &mut RecordedLines, probe: &mut dyn Observer) -> Cycle {
    loop {
        let end = chip.units().msf.last_activity().max(lines.arrivals_end()) + DRAIN;
        if chip.now() >= end {
            return end;
        }
        match chip.run(end, lines, probe) {
            Stop::Reached => {}
            stop => panic!("{stop:?}"),
        }
    }
}
