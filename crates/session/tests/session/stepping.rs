//! A run in steps leaves the same state as an uninterrupted run, in every field.

use npsim_chip::Cycle;

use crate::systems::System;

/// The state at a cycle after steps of a length that begin at another.
fn stepped(system: &System, begin: Cycle, end: Cycle, step: Cycle) -> Vec<u8> {
    let mut session = system.session();
    assert_eq!(session.step(begin), None);
    while session.now() < end {
        let step = step.min(end - session.now());
        assert_eq!(session.step(step), None);
    }
    assert_eq!(session.node(0).chip().now(), end);
    session.node(0).chip().save().unwrap()
}

#[test]
fn stepped_run_equals_uninterrupted_run() {
    for (name, settings, rate) in [
        ("forward", &[][..], "1.0"),
        ("router", &[], "0.9"),
        ("ordering/its.toml", &[], "0.9"),
        ("router", &["disturb.sram=300", "disturb.dram=300"], "0.5"),
    ] {
        let system = System::new(name, settings, rate, "100us");
        let (begin, end) = (9_001, 21_007);
        let whole = stepped(&system, begin, end, end);
        for step in [1, 7, 1000] {
            let cut = stepped(&system, begin, end, step);
            let differs = whole.iter().zip(&cut).position(|(a, b)| a != b);
            assert!(
                whole == cut,
                "{name} {settings:?} in steps of {step}: {} and {} bytes, the first that differs is {differs:?}",
                whole.len(),
                cut.len()
            );
        }
    }
}
