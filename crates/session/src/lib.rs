//! Simulation runs: the assembled programs of a project on chips between links, and their counts.
//!
//! A [`session`] is a network of nodes, with one node for an ordinary run. It can be run, stepped,
//! inspected, saved and restored:
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use npsim_project::assemble::assemble_project;
//! use npsim_project::{Overrides, Project};
//! use npsim_session::session::{Endpoints, Plan, Session};
//! use npsim_engine::ENGINE;
//! use npsim_session::simulation::RunSettings;
//! use npsim_session::summary::summary;
//!
//! let registry = npsim_protocols::registry();
//! let project = Project::load(Path::new("microcode/forward"), &Overrides::default(), &registry)?;
//! let (programs, messages) = assemble_project(&project);
//! let programs = programs.ok_or_else(|| messages.rendered.join("\n"))?;
//! let project = Arc::new(project);
//!
//! // Traffic as the project's [load] says it, here a third of the lines' rate.
//! let load = npsim_net::load::Load {
//!     rate: Some("0.33".parse()?),
//!     ..Default::default()
//! };
//! let load = npsim_project::load::resolved(load, &project);
//! let frames = npsim_project::load::generator(&load, &project)?.map(Ok);
//!
//! let settings = RunSettings { drain: Some(60_000), ..RunSettings::new(ENGINE) };
//! let plan = Plan { nodes: 3, threads: 2, ..Plan::one(Arc::clone(&project), programs, settings) };
//! let ends = Endpoints { frames: Some(Box::new(frames)), load: Some(load), ..Endpoints::default() };
//! let mut session = Session::new(&plan, ends)?;
//!
//! // To the first frame that leaves the first node, in steps of 100 cycles.
//! session.run_until(100, |session| session.node(0).traffic().sent_frames > 0);
//! let moment = session.snapshot()?;
//! println!("cycle {}: {:?}", session.now(), session.node(0).chip().units().scratch.read(0x100));
//!
//! // On to the end, and what it came to.
//! let ending = session.run(&mut |_| std::ops::ControlFlow::Continue(()));
//! session.finish()?;
//! println!("{ending:?}\n{}", summary(&session.stats(), None, 100));
//!
//! // Back to where it was: the same from there on.
//! let frames = npsim_project::load::generator(session.load().unwrap(), &project)?.map(Ok);
//! let ends = Endpoints { frames: Some(Box::new(frames)), ..Endpoints::default() };
//! let mut again = Session::new(&plan, ends)?;
//! again.restore(&moment)?;
//! again.step(1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`node`] is one chip with its lines, driven by a session, a network or the debugger. Where a
//! single chip is enough, a [`simulation`] runs it between [`links`].

pub mod advisories;
pub mod checkpoint;
pub mod histogram;
pub mod links;
pub mod measure;
pub mod memory_dump;
pub mod node;
pub mod registers;
pub mod report;
pub mod session;
pub mod simulation;
pub mod stats_file;
pub mod summary;
pub mod text_table;
pub mod workers;
