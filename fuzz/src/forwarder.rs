//! A system that runs: the forwarder, with some microseconds of traffic.

use std::path::Path;
use std::sync::OnceLock;

use npsim::links::Frames;
use npsim::session::{Endpoints, Session};
use npsim::simulation::RunSettings;
use npsim::system::{System, Traffic};
use npsim::traffic::TrafficSource;

/// Cycles after which a run ends.
const CYCLES: u64 = 12_000;

/// The system.
///
/// # Panics
/// If the repository is incomplete.
pub fn system() -> &'static System {
    static SYSTEM: OnceLock<System> = OnceLock::new();
    SYSTEM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../microcode/forward");
        System::load(source).expect("it assembles")
    })
}

/// The settings of its run.
#[must_use]
pub fn settings() -> RunSettings {
    RunSettings {
        until: Some(CYCLES),
        ..RunSettings::new(npsim::engine::ENGINE)
    }
}

/// The arriving traffic.
///
/// # Panics
/// If the traffic does not fit the system.
#[must_use]
pub fn frames() -> Frames {
    let load = Traffic::load("0.3").and_then(|load| load.lasting("5us"));
    let source = TrafficSource::open(load.expect("a load"), system().project());
    let ends = source.expect("it fits").ends().expect("it fits");
    ends.frames.expect("there is traffic")
}

/// A run of the system at its beginning.
///
/// # Panics
/// If the system cannot run.
#[must_use]
pub fn session() -> Session {
    let ends = Endpoints {
        frames: Some(frames()),
        ..Endpoints::default()
    };
    Session::new(&system().plan(settings(), 1, 1), ends).expect("it runs")
}
