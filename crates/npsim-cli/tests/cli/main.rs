//! The command as its user sees it: exit codes, messages and output files; and pages, word lists
//! and editors that must agree with it.

mod harness;

mod bad_input;
mod beginner_mistakes;
mod boards;
mod book;
mod bundles;
mod captures;
mod checking;
mod checkpoints;
mod command_rules;
mod core_console;
mod core_profile;
mod cores;
mod course;
mod determinism;
mod documents;
#[cfg(target_os = "linux")]
mod endings;
mod explain;
mod explain_costs;
mod first_values;
mod formats;
#[cfg(target_os = "linux")]
mod gdb;
mod held_locks;
mod hops;
mod idle_periods;
mod images;
mod json;
mod killed;
mod layout;
mod linking;
#[cfg(target_os = "linux")]
mod live_requests;
mod liveness;
mod lsp;
mod networks;
mod order;
mod packets;
mod project_schema;
mod projects;
mod races;
mod readme;
mod recordings;
mod reference_examples;
mod report;
mod runs;
mod shards;
mod slow_path_costs;
mod stop_context;
mod sweeps;
mod traffic;
mod tutorial;
mod usage;
mod vocabulary;
mod watching;
