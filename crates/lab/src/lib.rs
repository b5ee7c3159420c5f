//! Experiments as data. A [`study`] defines which systems run under which loads, what is measured,
//! and the published values to compare with; a [`campaign`] runs its [`points`] and [`output`] writes
//! the comparison.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//! use npsim_lab::{campaign::Campaign, output, places::SearchPath, points::points, selection, studies, verdict};
//!
//! let study = studies::find("baseline")?;
//! let places = SearchPath::new(None, None);
//! let campaign = Campaign {
//!     study: &study,
//!     quick: true,
//!     places: &places,
//!     results: Path::new("results"),
//!     jobs: 2,
//!     observe: &[],
//! };
//! let results = campaign.run(points(&study, true)?, &AtomicBool::new(false), &())?;
//! let rows = verdict::rows(&study, &results, &selection::select(&study, &[])?);
//! output::write(Path::new("results"), &study, &results, &rows, true)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing in the results depends on the host, the time, or how many points run at a time.

pub(crate) mod assemblies;
mod axis_places;
pub mod campaign;
mod checking;
mod chip_points;
pub mod class;
pub mod counters;
pub mod counts;
pub mod curves;
pub mod document;
mod drawing;
pub mod estimate;
pub mod evaluate;
pub mod expression;
mod fingerprint;
mod fluid_points;
mod format;
mod formula;
pub mod grid;
pub mod metric;
pub mod microengines;
mod missing;
mod network_points;
pub(crate) mod observation;
pub mod observed;
mod ordering;
pub mod output;
pub mod part;
mod petri_points;
pub mod places;
pub mod points;
pub mod profiles;
mod queue;
mod ran;
pub mod replicates;
pub mod results;
mod rounding;
pub mod sample;
pub mod selection;
pub mod sensitivity;
pub mod setting_value;
pub mod static_counts;
pub mod store;
pub mod studies;
pub mod study;
mod subject;
pub mod tables;
pub mod task;
mod tolerance;
pub mod verdict;
mod warm_up;
mod windows;
