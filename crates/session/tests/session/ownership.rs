//! A session owns everything that it runs, so that an embedder may keep it and move it to a thread.

use npsim_session::links::Links;
use npsim_session::node::Node;
use npsim_session::report::Report;
use npsim_session::session::{Endpoints, Plan, Session, Snapshot};
use npsim_session::simulation::Simulation;

use super::systems::System;

fn moves_to_a_thread<T: Send + 'static>() {}

fn is_shared_by_threads<T: Sync>() {}

#[test]
fn sessions_and_what_they_are_made_of_move_to_a_thread() {
    moves_to_a_thread::<Session>();
    moves_to_a_thread::<Endpoints>();
    moves_to_a_thread::<Links>();
    moves_to_a_thread::<Simulation>();
    moves_to_a_thread::<Node>();
    is_shared_by_threads::<Plan>();
    is_shared_by_threads::<Simulation>();
    is_shared_by_threads::<Snapshot>();
    is_shared_by_threads::<Report>();
}

#[test]
fn a_session_outlives_the_project_that_it_was_made_of() {
    let mut session = System::new("forward", &[], "0.3", "50us").session();
    let ran = std::thread::spawn(move || {
        session.step(20_000);
        (session.project().name.clone(), session.stats())
    });
    let (name, report) = ran.join().unwrap();
    assert_eq!(name, "forward");
    assert!(report.packets.offered > 0);
}
