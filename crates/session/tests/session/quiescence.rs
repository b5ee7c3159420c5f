//! Shipped systems under light traffic: with and without skipped time they come to the
//! same counts, frames and state, also from a snapshot that is taken in skipped time.

use std::ops::ControlFlow;
use std::path::Path;

use npsim_chip::Cycle;
use npsim_net::LineFrame;
use npsim_net::load::Load;
use npsim_project::assemble::{Program, assemble_project};
use npsim_project::{Overrides, Project};
use npsim_session::report::Report;
use npsim_session::session::{Ends, Plan, Session};
use npsim_session::simulation::Settings;

/// About 20 packets in 20 ms.
fn system(name: &str, settings: &[&str]) -> (Project, Vec<Program>, Vec<LineFrame>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../microcode")
        .join(name);
    let overrides = Overrides {
        set: settings.iter().map(|text| text.parse().unwrap()).collect(),
        ..Overrides::default()
    };
    let project = Project::load(&path, &overrides, &npsim_protocols::registry()).unwrap();
    let programs = assemble_project(&project).0.unwrap();
    let load = Load {
        rate: Some("1kpps".parse().unwrap()),
        time: "20ms".parse().unwrap(),
        ..Load::default()
    };
    let load = npsim_project::load::resolved(load, &project);
    let frames = npsim_project::load::generator(&load, &project).unwrap();
    let frames = frames.collect();
    (project, programs, frames)
}

/// What the chip skipped, the counts and the state after each of the pauses and at the
/// end. At each pause the session goes on from its snapshot.
fn run(
    (project, programs, frames): &(Project, Vec<Program>, Vec<LineFrame>),
    no_skip: bool,
    pauses: &[Cycle],
) -> (Cycle, Vec<Report>, Vec<u8>) {
    let settings = Settings {
        drain: Some(60_000),
        no_skip,
        ..Settings::default()
    };
    let plan = Plan::one(project, programs, settings);
    let begin = || {
        let ends = Ends {
            frames: Some(Box::new(frames.iter().cloned().map(Ok))),
            ..Ends::default()
        };
        Session::new(&plan, ends).unwrap()
    };
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
fn skipped_time_leaves_no_trace() {
    for (name, settings) in [
        ("forward", &[][..]),
        ("router", &[]),
        ("ordering/its.toml", &[]),
        ("quick-start/atomic.toml", &[]),
        ("router", &["disturb.sram=300"]),
    ] {
        let system = system(name, settings);
        let (skipped, ..) = run(&system, false, &[]);
        // Where all contexts sleep until a frame comes there is nothing to skip.
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
