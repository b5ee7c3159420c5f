//! npsim, an open simulator of the Intel IXP2400 network processor:
//! everything the `npsim` command does, for programs that embed it.
//!
//! ```no_run
//! use std::path::Path;
//! use npsim::project::{Overrides, Project};
//! use npsim::simulation::{Settings, Simulation};
//! use npsim::wires::Wires;
//! use npsim_net::pace::Schedule;
//!
//! let project = Project::load(Path::new("microcode/forward"), &Overrides::default())?;
//! let (programs, messages) = npsim::assemble::assemble_project(&project);
//! let programs = programs.ok_or_else(|| messages.rendered.join("\n"))?;
//! let settings = Settings { until: Some(100_000), ..Settings::default() };
//! let mut simulation = Simulation::new(&project, &programs, settings)?;
//! let quiet_lines = Schedule::default();
//! let mut wires = Wires::new(&[], &quiet_lines, 0, project.capacity.hertz, None);
//! let ending = simulation.run(&mut wires, &mut |_, _| {});
//! println!("{ending:?} at cycle {}", simulation.stats().cycles);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod assemble;
pub mod diagnostics;
pub mod firmware_file;
pub mod generated;
pub mod includes;
pub mod lsp;
pub mod memory_dump;
pub mod messages;
pub mod problem;
pub mod project;
pub mod quantity;
pub mod remarks;
pub mod report;
pub mod simulation;
pub mod stats_file;
pub mod summary;
pub mod vocabulary;
pub mod whole_file;
pub mod wires;

pub use npsim_asm as asm;
pub use npsim_chip as chip;
pub use npsim_isa as isa;
pub use npsim_net as net;
