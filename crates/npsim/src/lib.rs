//! npsim, an open simulator of the Intel IXP2400 and IXP2800 network processors, as a library:
//! everything the `npsim` command does, for programs that embed it.
//!
//! Start with [`system`]: ten lines load a project, give it traffic, run it and read the results.
//! The other modules are the layers below it: [`project`] reads a project file,
//! [`assemble`](mod@assemble) its microcode, and [`session`] runs it on one chip or on several
//! connected by [`links`]. [`network`] connects chips to hosts that react, [`debug`] steps through a
//! run in both directions, [`lab`] sweeps settings, [`explain`](mod@explain) shows what a line of
//! microcode costs, and [`analysis`] answers an editor's queries about sources.
//!
//! An embedder can add its own devices beside SRAM ([`project::look_aside`]), tasks of the
//! general-purpose core ([`project::timer_job`]), cores ([`core_layer`]) and observers
//! ([`system::SystemRun::observe`]); `examples/` has one of each.

pub mod core_layer;
pub mod exercise;
pub mod flow_tap;
pub mod observed_run;
pub mod recorded;
pub mod run_limits;
pub mod system;
pub mod traffic;

pub use npsim_analysis as analysis;
pub use npsim_analysis::{explain, vocabulary};
pub use npsim_asm as asm;
pub use npsim_chip as chip;
pub use npsim_debug as debug;
pub use npsim_engine as engine;
pub use npsim_image as image;
pub use npsim_inspect as inspect;
pub use npsim_isa as isa;
pub use npsim_lab as lab;
pub use npsim_net as net;
pub use npsim_network as network;
pub use npsim_network_file as network_file;
pub use npsim_observe as observe;
pub use npsim_profile as profile;
pub use npsim_project as project;
pub use npsim_project::{
    assemble, atomic_file, diagnostics, files, firmware_file, includes, load, messages, problem,
    quantity,
};
pub use npsim_protocols as protocols;
pub use npsim_protocols::registry;
pub use npsim_reference as reference;
pub use npsim_report::{bottleneck, chart, flame, page, profile_text};
pub use npsim_session::{
    advisories, checkpoint, histogram, links, measure, memory_dump, node, registers, report,
    session, simulation, stats_file, summary,
};
pub use npsim_xscale as xscale;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
