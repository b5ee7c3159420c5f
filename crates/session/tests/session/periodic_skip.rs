//! Shipped systems under light traffic: with and without skipped time, they reach the same counts,
//! frames and state, also from a snapshot taken in skipped time.

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_engine::ENGINE;
use npsim_session::report::Report;
use npsim_session::simulation::RunSettings;

use crate::systems::System;

/// The cycles that the chip skipped, and the counts and the state after each of the pauses and at
/// the end. At each pause, the session continues from its snapshot.
fn run(system: &System, no_skip: bool, pauses: &[Cycle]) -> (Cycle, Vec<Report>, Vec<u8>) {
    let settings = RunSettings {
        drain: Some(60_000),
        no_skip,
        ..RunSettings::new(ENGINE)
    };
    let begin = || system.session_with(settings.clone());
    let mut session = begin();
    let mut skipped = 0;
    let mut seen = Vec::new();
    for pause in pauses {
        let now = session.now();
        assert_eq!(session.step(pause - now), None);
        skipped += session.node(0).chip().skipped();
        seen.push(session.stats());
        let snapshot = session.snapshot().unwrap();
        session = begin();
        session.restore(&snapshot).unwrap();
    }
    session.run(&mut |_| ControlFlow::Continue(()));
    skipped += session.node(0).chip().skipped();
    seen.push(session.stats());
    (skipped, seen, session.node(0).chip().save().unwrap())
}

#[test]
fn skipping_does_not_change_results() {
    for (name, settings) in [
        ("forward", &[][..]),
        ("router", &[]),
        ("ordering/its.toml", &[]),
        ("quick-start/atomic.toml", &[]),
        ("router", &["disturb.sram=300"]),
    ] {
        // About 20 packets in 20 ms.
        let system = System::new(name, settings, "1kpps", "20ms");
        let (skipped, ..) = run(&system, false, &[]);
        // If all contexts sleep until a frame arrives, there is nothing to skip.
        let polls = ["forward", "router"].contains(&name) && settings.is_empty();
        assert!(
            !polls || skipped > 6_000_000,
            "{name}: {skipped} of 12 million cycles"
        );
        for pauses in [&[][..], &[1_000_000, 2_345_678, 9_000_001]] {
            let (_, skipping, state) = run(&system, false, pauses);
            let (none, simulated, every) = run(&system, true, pauses);
            assert_eq!(none, 0);
            assert!(skipping == simulated, "{name}, {pauses:?}: counts");
            assert!(state == every, "{name}, {pauses:?}: state");
        }
    }
}
