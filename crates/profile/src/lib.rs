//! Chips as data: every number about the hardware that the model uses, with
//! where it comes from.
//!
//! A chip's file is a TOML text with one table per unit. Each parameter is
//! `name = { value = 60, unit = "ME cycles", source = "..." }` or has, instead
//! of a source, `provenance = "likely" | "assumed" | "derived" | "calibrated"` and a
//! `basis`. A policy is chosen by name and has no unit: `rows = { value = "open", ... }`.
//! Latencies are targets from the issue of the instruction to the
//! signal on an idle chip; the units take the fixed parts of the way off.
//!
//! A chip that differs from a built-in one in a few numbers says `extends = "ixp2400"` and
//! gives those only; it stands on the boards of the chip that it extends.
//!
//! What stands around the chip is the board's ([`Board`]): a [`Profile`] is
//! always both. What parameters there are is listed in the folder `lists`, a file for each
//! part of the chip.

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

/// Most microengines of a chip.
pub const MICROENGINES: usize = 16;
