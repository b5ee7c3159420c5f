//! A node that is fed frame by frame.

use std::ops::ControlFlow;
use std::path::Path;

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::NoObserver;
use npsim_engine::ENGINE;
use npsim_project::assemble::assemble_project;
use npsim_project::{Overrides, Project};
use npsim_session::links::LinkFrame;
use npsim_session::node::Node;
use npsim_session::simulation::RunSettings;

#[test]
fn simultaneous_frames_arrive_at_all_ports() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
    let registry = npsim_protocols::registry();
    let project = Project::load(&folder, &Overrides::default(), &registry);
    let project = project.unwrap_or_else(|problems| panic!("{problems}"));
    let programs = assemble_project(&project).0.expect("it assembles");
    let ports = project.boot.ports.len();
    assert_eq!(ports, 3);
    let answer = vec![Cycle::MAX; ports];
    let mut node =
        Node::networked(&project, &programs, RunSettings::new(ENGINE), answer).expect("it loads");
    for (start, port) in [(0, 0), (0, 1), (0, 2), (2000, 2), (2000, 0), (2000, 1)] {
        node.put(LinkFrame {
            start,
            end: start + 400,
            port,
            bytes: vec![0; 60],
            origin: None,
        });
    }
    // A node without progress would call back forever.
    let mut asked = 0;
    let go_on = &mut |_| {
        asked += 1;
        if asked < 1000 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    node.run_open(60_000, &mut NoObserver, go_on);
    assert_eq!((node.handled(), node.ending()), (60_000, None));
    assert_eq!(node.traffic().offered_frames, 6);
}
