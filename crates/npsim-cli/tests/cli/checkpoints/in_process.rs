//! Runs saved and restored at random cycles: the state is the same, and so is the rest of the run.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use npsim::assemble::{Program, assemble_project};
use npsim::checkpoint::{Checkpoint, RunOrigin};
use npsim::engine::ENGINE;
use npsim::links::{Traffic, captured};
use npsim::project::{Overrides, Project};
use npsim::session::{Endpoints, Plan, Session, Snapshot};
use npsim::simulation::{Ending, RunSettings};
use npsim_chip::Cycle;
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::fault_injection::{Lateness, Stall};
use npsim_chip::kernel::observer::NoObserver;
use npsim_inspect::stats::Stats;
use npsim_net::capture::Capture;
use npsim_net::egress::{CaptureFormat, TraceSink};
use npsim_net::pace::{ArrivalSchedule, Pace, PortAssignment, PortLine, schedule};
use proptest::prelude::*;

use super::root;

/// The system to run.
struct System {
    project: Project,
    programs: Vec<Program>,
    capture: Capture,
    plan: ArrivalSchedule,
    settings: RunSettings,
}

impl System {
    /// The forwarder with a capture back to back on all ports.
    fn forwarder(trace: &str, frames: usize) -> Self {
        Self::routing("microcode/forward", trace, frames)
    }

    /// A router project, with such a capture.
    fn routing(target: &str, trace: &str, frames: usize) -> Self {
        let mut system = Self::load_system(&root().join(target), None);
        system.capture = Capture::open(&root().join("traces").join(trace)).unwrap();
        system.capture.frames.truncate(frames);
        let ports = system.project.boot.ports.iter();
        let lines: Vec<_> = ports
            .map(|port| PortLine {
                bits_per_second: port.bits_per_second,
            })
            .collect();
        let assignment = PortAssignment::RoundRobin;
        system.plan = schedule(&system.capture.frames, &lines, assignment, Pace::Line).unwrap();
        system.settings.drain = Some(60_000);
        system.settings.seed = Some(7);
        system
    }

    /// Firmware of the concurrency tests on all microengines.
    fn firmware(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/tests/firmware");
        let mut system = Self::load_system(&folder.join(name).with_extension("toml"), Some("0-7"));
        system.settings.until = Some(400_000);
        system.settings.allow = vec![Check::Deadlock, Check::UninitialisedRead];
        system
    }

    /// Firmware that keeps a bus or a unit busy.
    fn stress(name: &str) -> Self {
        let folder = root().join("microcode/stress");
        let mut system = Self::load_system(&folder.join(name).with_extension("toml"), None);
        system.settings.until = Some(30_000);
        system
    }

    fn load_system(target: &Path, ids: Option<&str>) -> Self {
        let overrides = Overrides {
            ids: ids.map(str::to_owned),
            ..Overrides::default()
        };
        let project = Project::load(target, &overrides, &npsim::registry()).unwrap();
        let (programs, messages) = assemble_project(&project);
        Self {
            programs: programs.unwrap_or_else(|| panic!("{:?}", messages.rendered)),
            project,
            capture: Capture::default(),
            plan: ArrivalSchedule::default(),
            settings: RunSettings::new(ENGINE),
        }
    }

    /// The run with all memory answers late and some contexts stalled for a while.
    fn disturbed(mut self) -> Self {
        let disturbances = &mut self.project.boot.disturbances;
        disturbances.late = Lateness {
            seed: 5,
            dram: 500,
            sram: 300,
            scratch: 200,
        };
        disturbances.stalls = (0..8)
            .flat_map(|me| (0..3).map(move |context| (me, context)))
            .filter(|(me, _)| self.programs.iter().any(|program| program.me == *me))
            .map(|(me, context)| Stall {
                me,
                context,
                from: 5000 + 4000 * Cycle::from(context),
                until: 30_000 + 1000 * Cycle::from(me),
            })
            .collect();
        self
    }

    fn session(&self, sink: TraceSink) -> Session {
        let plan = Plan::one(
            self.project.clone(),
            self.programs.as_slice(),
            self.settings.clone(),
        );
        let ends = Endpoints {
            frames: Some(captured(self.capture.frames.as_slice(), self.plan.clone())),
            sink: Some(sink),
            ..Endpoints::default()
        };
        Session::new(&plan, ends).unwrap()
    }
}

/// A run with its lines.
struct Run(Session);

impl Run {
    fn begin(system: &System, out: &Path) -> Self {
        Self(system.session(TraceSink::create_resumable(out, CaptureFormat::Pcap, &[]).unwrap()))
    }

    fn resume(system: &System, out: &Path, checkpoint: &Checkpoint) -> Self {
        let sink = TraceSink::resume(
            out,
            CaptureFormat::Pcap,
            &[],
            checkpoint.outputs().as_ref().unwrap(),
        )
        .unwrap();
        let mut run = Self(system.session(sink));
        checkpoint.restore(&mut run.0).unwrap();
        run
    }

    fn run_to(&mut self, pause: Cycle) -> Option<Ending> {
        let go_on = &mut |_: Cycle| ControlFlow::Continue(());
        self.0.run_to(pause, &mut [NoObserver], go_on)
    }

    fn save(&mut self) -> Checkpoint {
        Checkpoint::take(&RunOrigin::default(), &mut self.0, 0).unwrap()
    }

    /// Continues to the end; returns everything observable about the run, and the state.
    fn end(mut self) -> (Observed, Vec<u8>) {
        let ending = self.run_to(Cycle::MAX).unwrap();
        let snapshot = self.0.snapshot().unwrap();
        self.0.finish().unwrap();
        let node = self.0.node(0);
        let seen = Observed {
            ending,
            stats: node.stats(),
            contexts: node.state_report(),
            snapshot,
            traffic: node.traffic().clone(),
        };
        (seen, node.chip().save().unwrap())
    }
}

/// Everything observable about a run that has ended.
#[derive(Debug, PartialEq)]
struct Observed {
    ending: Ending,
    stats: Stats,
    contexts: Vec<String>,
    snapshot: Snapshot,
    traffic: Traffic,
}

/// The unfinished capture beside `out`.
fn unfinished_capture(out: &Path) -> PathBuf {
    let name = out.file_name().unwrap().to_string_lossy();
    out.with_file_name(format!(".{name}.npsim-part"))
}

/// Saves a run at each of the cycles and restores it into a chip that has not run, which must then
/// reach the next cycle, or the end, in the same state.
fn check(system: &System, mut permille: Vec<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (expected, state) = Run::begin(system, &file("whole")).end();
    let end = expected.stats.cycles;

    permille.sort_unstable();
    permille.dedup();
    // A name for each copy: a process that another test starts keeps the locks of
    // this one until it runs its own program.
    let (out, mut copied_out) = (file("out"), file("copied"));
    let mut original = Run::begin(system, &out);
    let mut copy: Option<Run> = None;
    for permille in permille {
        let pause = end * permille / 1000;
        assert_eq!(original.run_to(pause), None);
        let checkpoint = original.save();
        if let Some(mut copy) = copy.take() {
            assert_eq!(copy.run_to(pause), None);
            assert!(copy.save() == checkpoint, "states differ at cycle {pause}");
        }
        checkpoint.write(&file("checkpoint")).unwrap();
        let read = Checkpoint::read(&file("checkpoint")).unwrap();
        assert!(read == checkpoint);
        copied_out = file(&format!("copied{permille}"));
        std::fs::copy(unfinished_capture(&out), unfinished_capture(&copied_out)).unwrap();
        let mut resumed = Run::resume(system, &copied_out, &read);
        assert!(
            resumed.save() == checkpoint,
            "a state changes by being restored"
        );
        copy = Some(resumed);
    }
    for run in [original, copy.unwrap()] {
        let (seen, end) = run.end();
        assert_eq!(seen, expected);
        assert!(end == state, "states differ at the end");
    }
    let [whole, copied] = [file("whole"), copied_out].map(|path| std::fs::read(path).unwrap());
    assert!(whole == copied, "captures differ");
}

fn cycles() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..1000u64, 20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn forwarding(cycles in cycles()) {
        check(&System::forwarder("mixed.pcap", 200), cycles);
    }

    /// The general-purpose core takes the exceptions, ring by ring.
    #[test]
    fn exceptions(cycles in cycles()) {
        let system = System::forwarder("exceptions.pcap", 400);
        check(&system, cycles);
    }

    #[test]
    fn atomics(cycles in cycles()) {
        for name in ["counters", "swap", "lock"] {
            check(&System::firmware(name), cycles.clone());
        }
    }

    #[test]
    fn queues_and_rings(cycles in cycles()) {
        for name in ["queue", "fifo", "scratch_ring", "sram_ring"] {
            check(&System::firmware(name), cycles.clone());
        }
    }

    #[test]
    fn signals_and_neighbours(cycles in cycles()) {
        for name in ["signals", "neighbours", "turns"] {
            check(&System::firmware(name), cycles.clone());
        }
    }

    /// Commands wait for buses and units, and microengines for both.
    #[test]
    fn contention(cycles in cycles()) {
        for name in ["command_bus", "scratch", "hash", "sram_both", "dram", "s_push", "d_pull"] {
            check(&System::stress(name), cycles.clone());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, failure_persistence: None, ..ProptestConfig::default() })]

    /// Flow tables, queues and schedulers, on both chips.
    #[test]
    fn routers(cycles in cycles()) {
        for target in ["microcode/router", "microcode/router/ixp2800.toml"] {
            check(&System::routing(target, "mixed.pcap", 150), cycles.clone());
        }
    }
}

#[test]
fn runs_with_injected_stalls_can_be_saved() {
    let system = System::forwarder("mixed.pcap", 100).disturbed();
    check(&system, (0..1000).step_by(40).collect());
    for name in ["counters", "queue"] {
        let system = System::firmware(name).disturbed();
        check(&system, (0..1000).step_by(40).collect());
    }
}

#[test]
fn exceptions_capture_exercises_the_general_purpose_core() {
    let system = System::forwarder("exceptions.pcap", 400);
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::begin(&system, &folder.path().join("out"));
    assert_eq!(run.run_to(Cycle::MAX), Some(Ending::Drained));
    assert!(run.0.node(0).stats().gpp.exceptions > 20);
}
