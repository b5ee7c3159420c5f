//! Chips as data: every number about the hardware that the model uses, with its provenance.
//!
//! A chip's file is a TOML text with one table per unit. Each parameter is
//! `name = { value = 60, unit = "ME cycles", source = "..." }`; instead of a source it may have
//! `provenance = "likely" | "assumed" | "derived" | "calibrated"` and a `basis`. A policy is chosen
//! by name and has no unit: `rows = { value = "open", ... }`. Latencies are targets from the issue
//! of the instruction to the signal on an idle chip; the units subtract the fixed parts of the path.
//!
//! A chip that differs from a built-in one in only a few numbers has `extends = "ixp2400"` and
//! gives just those; it fits the boards of the chip that it extends.
//!
//! The surroundings of the chip are described by the board ([`Board`]): a [`Profile`] always covers
//! both. The parameters are listed in the folder `lists`, one file for each part of the chip.

mod board;
mod built_in;
mod error;
mod lists;
mod named;
mod parameter;
mod parse;
mod profile;
mod schema;

pub use board::{Board, BoardPort, MediaBus};
pub use error::ProfileError;
pub use lists::dram::{RefreshPolicy, RowPolicy};
pub use named::Named;
pub use parameter::{Domain, Erratum, Foundation, Parameter, ParameterValue, Schema};
pub use profile::Profile;

/// Largest number of microengines of a chip.
pub const MICROENGINES: usize = 16;
