//! The protocols on a chip and in projects.

mod keys;
mod pacing_keys;
mod projects;
mod rates;
mod tasks;
