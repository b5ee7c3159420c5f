//! A run: what a project file says, assembled, put on a chip between links, and
//! what it counted.
//!
//! ```no_run
//! use std::path::Path;
//! use npsim_project::{Overrides, Project};
//! use npsim_session::simulation::{Settings, Simulation};
//! use npsim_session::links::Links;
//! use npsim_net::pace::Schedule;
//!
//! let project = Project::load(Path::new("microcode/forward"), &Overrides::default(), &npsim_protocols::registry())?;
//! let (programs, messages) = npsim_project::assemble::assemble_project(&project);
//! let programs = programs.ok_or_else(|| messages.rendered.join("\n"))?;
//! let settings = Settings { until: Some(100_000), ..Settings::default() };
//! let mut simulation = Simulation::new(&project, &programs, settings)?;
//! let quiet_lines = Schedule::default();
//! let mut links = Links::new(&[], &quiet_lines, 0, project.capacity.hertz, None);
//! let ending = simulation.run(&mut links, &mut |_, _| {});
//! println!("{ending:?} at cycle {}", simulation.stats().cycles);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod chain;
pub mod checkpoint;
pub mod histogram;
pub mod links;
pub mod measure;
pub mod memory_dump;
pub mod remarks;
pub mod report;
pub mod simulation;
pub mod stats_file;
pub mod summary;
