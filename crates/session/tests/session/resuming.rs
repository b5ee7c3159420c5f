//! Chains that continue from a saved position: from a snapshot, after their time was up, and after
//! an interruption.

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::NoObserver;
use npsim_net::LineFrame;
use npsim_session::session::{Endpoints, Plan, RunStatus, Session, Snapshot};
use npsim_session::simulation::Ending;

use super::hops::{Notes, Routers, ends, in_memory, run};

fn never_interrupt(_: Cycle) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A chain at the position of another one.
fn again(plan: &Plan, frames: &[LineFrame], snapshot: &Snapshot) -> Session {
    let ends = Endpoints {
        frames: Some(in_memory(frames)),
        ..Endpoints::default()
    };
    let mut again = Session::new(plan, ends).unwrap();
    again.restore(snapshot).unwrap();
    again
}

#[test]
fn restored_snapshot_runs_identically() {
    let routers = Routers::new(&["chain.delay=700ns"]);
    let frames = routers.frames("0.6", "60us");
    for nodes in [1, 3] {
        let plan = routers.plan(nodes);
        let (through, _) = run(&plan, &frames);
        for cycle in [0, 1, 9_000, 20_000, 33_333] {
            let begin = || Session::new(&plan, ends(&frames, None, &Notes::default())).unwrap();
            let mut session = begin();
            assert_eq!(session.step(cycle), None);
            let snapshot = session.snapshot().unwrap();
            let mut again = again(&plan, &frames, &snapshot);
            assert!(again.snapshot().unwrap() == snapshot, "cycle {cycle}");
            again.run(&mut never_interrupt);
            again.finish().unwrap();
            assert_eq!(
                again.stats(),
                through.stats(),
                "{nodes} nodes, cycle {cycle}"
            );
        }
        let mut other = Session::new(&routers.plan(2), Endpoints::default()).unwrap();
        let mut session = Session::new(&plan, Endpoints::default()).unwrap();
        let snapshot = session.snapshot().unwrap();
        assert!(other.restore(&snapshot).is_err());
    }
}

/// Frames are as long as possible, so that nearly always one is on a line between routers: its
/// first bit has arrived at the next router, and the previous router has not sent its last bit.
#[test]
fn chain_at_its_end_time_resumes_with_a_later_end() {
    let routers = Routers::new(&[]);
    let frames = routers.frames_of("1518", "0.5", "60us");
    for nodes in [2, 4] {
        let plan = routers.plan(nodes);
        let (through, _) = run(&plan, &frames);
        for until in [21_000, 29_000, 33_000, 40_000, 47_000] {
            let mut cut = routers.plan(nodes);
            cut.settings.until = Some(until);
            let mut session = Session::new(&cut, ends(&frames, None, &Notes::default())).unwrap();
            let mut unobserved = vec![NoObserver; nodes];
            let stand = session.run_to_resumable(Cycle::MAX, &mut unobserved, &mut never_interrupt);
            assert_eq!(stand, RunStatus::Stalled, "{until}");
            let snapshot = session.snapshot().unwrap();
            // At the end, no node waits any more, and all are at the same cycle.
            assert_eq!(session.run(&mut never_interrupt), Ending::Reached);
            assert!(session.nodes().iter().all(|node| node.now() == until));
            let mut again = again(&plan, &frames, &snapshot);
            again.run(&mut never_interrupt);
            again.finish().unwrap();
            assert_eq!(again.stats(), through.stats(), "{nodes} nodes, {until}");
        }
    }
}

/// Some frames are long and some short, so that one may leave before another that began to leave
/// earlier: the input of the next router has to wait for that.
#[test]
fn interrupted_chain_resumes_identically() {
    let routers = Routers::new(&[]);
    let frames = routers.frames("0.8", "300us");
    let plan = routers.plan(3);
    let (through, _) = run(&plan, &frames);
    for asked in 1..12 {
        let mut session = Session::new(&plan, ends(&frames, None, &Notes::default())).unwrap();
        let mut left = asked;
        let ending = session.run(&mut |_| {
            left -= 1;
            if left == 0 {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        assert_eq!(ending, Ending::Interrupted, "{asked}");
        let snapshot = session.snapshot().unwrap();
        let mut again = again(&plan, &frames, &snapshot);
        again.run(&mut never_interrupt);
        again.finish().unwrap();
        assert_eq!(again.stats(), through.stats(), "{asked}");
    }
}
