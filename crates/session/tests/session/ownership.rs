//! A session owns everything that it runs, so that an embedder may keep it and move it to a thread.

use npsim_session::links::Links;
use npsim_session::node::Node;
use npsim_session::report::Report;
use npsim_session::session::{Endpoints, Plan, Session, Snapshot};
use npsim_session::simulation::Simulation;

use super::systems::System;

fn assert_send<T: Send + 'static>() {}

fn assert_sync<T: Sync>() {}

#[test]
fn session_types_are_send_and_sync() {
    assert_send::<Session>();
    assert_send::<Endpoints>();
    assert_send::<Links>();
    assert_send::<Simulation>();
    assert_send::<Node>();
    assert_sync::<Plan>();
    assert_sync::<Simulation>();
    assert_sync::<Snapshot>();
    assert_sync::<Report>();
}

#[test]
fn session_owns_its_project() {
    let mut session = System::new("forward", &[], "0.3", "50us").session();
    let ran = std::thread::spawn(move || {
        session.step(20_000);
        (session.project().name.clone(), session.stats())
    });
    let (name, report) = ran.join().unwrap();
    assert_eq!(name, "forward");
    assert!(report.packets.offered > 0);
}
