//! The counts of a lock equal those computed by replaying the operations on its longword one by
//! one.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use npsim::engine::ENGINE;
use npsim::links::{Links, Traffic};
use npsim::project::{Overrides, Project};
use npsim::report::{NodeReport, Report};
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim::summary::summary;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_chip::watch::Sampler;
use npsim_inspect::stats::LockStats;
use npsim_isa::CommandOp;

use npsim_systems::project::{assembled, load};

const CONTEXTS: u64 = 8;
const ROUNDS: u64 = 16;

fn project(microengines: u8) -> Project {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/lock.toml");
    let overrides = Overrides {
        ids: Some(format!("0-{}", microengines - 1)),
        ..Overrides::default()
    };
    load(&path, &overrides)
}

fn simulation(project: &Project) -> Simulation {
    Simulation::new(project, &assembled(project), RunSettings::new(ENGINE)).unwrap()
}

/// Test-and-set and test-and-clear of one longword, and when each was done.
struct Operations {
    address: u32,
    seen: Vec<(u64, CommandOp)>,
}

impl Sampler for Operations {}

impl Observer for Operations {
    fn see(&mut self, _: u64, what: &TraceEvent) {
        if let TraceEvent::Served { command, from, .. } = *what
            && command.address == self.address
        {
            self.seen.push((from, command.op));
        }
    }
}

/// The counts of a lock, from the operations alone.
fn expected(seen: &[(u64, CommandOp)]) -> LockStats {
    let mut stats = LockStats {
        name: "COUNT_LOCK".into(),
        handover_shortest: u64::MAX,
        ..LockStats::default()
    };
    let mut taken_at = None;
    let mut released: Option<(u64, bool)> = None;
    let mut failed = false;
    for &(at, op) in seen {
        match (op, taken_at) {
            (CommandOp::SramTestAndSet, Some(_)) => {
                stats.tries += 1;
                stats.failed += 1;
                failed = true;
            }
            (CommandOp::SramTestAndSet, None) => {
                stats.tries += 1;
                stats.acquired += 1;
                if let Some((since, true)) = released {
                    stats.handovers += 1;
                    stats.handover_cycles += at - since;
                    stats.handover_shortest = stats.handover_shortest.min(at - since);
                    stats.handover_longest = stats.handover_longest.max(at - since);
                }
                (taken_at, failed) = (Some(at), false);
            }
            (CommandOp::SramTestAndClr, Some(since)) => {
                stats.released += 1;
                stats.held_cycles += at - since;
                stats.held_longest = stats.held_longest.max(at - since);
                (taken_at, released) = (None, Some((at, failed)));
            }
            _ => panic!("{op:?} at {at}"),
        }
    }
    if stats.handovers == 0 {
        stats.handover_shortest = 0;
    }
    stats
}

#[test]
fn lock_counts_match_replayed_operations() {
    for microengines in [1, 3, 8] {
        let project = project(microengines);
        let mut simulation = simulation(&project);
        let mut links = Links::idle(project.capacity.hertz);
        let lock = &project.boot.locks[0];
        let mut operations = Operations {
            address: 1 << 30 | lock.address,
            seen: Vec::new(),
        };
        let ending = simulation.run_watched(&mut links, &mut operations, &mut |_, _| {
            ControlFlow::Continue(())
        });
        assert_eq!(ending, Ending::NoEvents);
        let stats = simulation.stats();
        let [booked] = &stats.locks[..] else {
            panic!("{:?}", stats.locks);
        };
        let mut expected = expected(&operations.seen);
        expected.held_permille = expected.held_cycles * 1000 / stats.cycles;
        assert_eq!(*booked, expected, "{microengines} microengines");
        let rounds = u64::from(microengines) * CONTEXTS * ROUNDS;
        assert_eq!((booked.acquired, booked.released), (rounds, rounds));
        // Under contention, nearly every release finds a context waiting, and no two contexts hold
        // the lock: the time held or handed over is less than the run.
        assert!(booked.failed > rounds && booked.handovers > rounds * 9 / 10);
        assert!(booked.held_cycles + booked.handover_cycles <= stats.cycles);
    }
}

#[test]
fn restored_run_counts_locks_identically() {
    let project = project(2);
    let links = || Links::idle(project.capacity.hertz);
    let mut whole = simulation(&project);
    whole.run(&mut links(), &mut |_, _| {});
    let mut first = simulation(&project);
    let pause = whole.now() / 3;
    let paused = first.run_to(
        pause,
        &mut links(),
        &mut npsim_chip::kernel::observer::NoObserver,
        &mut |_, _: &Traffic| ControlFlow::Continue(()),
    );
    assert_eq!(paused, None);
    let half = first.stats().locks[0].clone();
    assert!(half.acquired > 0 && half.acquired < whole.stats().locks[0].acquired);
    let mut second = simulation(&project);
    second.restore(&first.save().unwrap()).unwrap();
    assert_eq!(second.stats().locks[0], half);
    second.run(&mut links(), &mut |_, _| {});
    assert_eq!(second.stats().locks, whole.stats().locks);
}

#[test]
fn summary_shows_lock_counts() {
    let project = project(2);
    let mut links = Links::idle(project.capacity.hertz);
    let mut simulation = simulation(&project);
    let ending = simulation.run(&mut links, &mut |_, _| {});
    let traffic = Traffic::default();
    let report = NodeReport::new(Some(&ending), None, &traffic, simulation.stats());
    let report = Report::over("lock".to_owned(), vec![report]);
    let text = summary(&report, Some(1.0), 100);
    let line = text.lines().find(|line| line.starts_with("lock   "));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.contains("COUNT_LOCK  taken 256 times   held "),
        "{line}"
    );
    assert!(line.contains("hand-over "), "{line}");
}
