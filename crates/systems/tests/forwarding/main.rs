//! What the shipped routers do with frames, against independent statements of it:
//! the forwarder, the standard router, and traffic that is made while it comes.

#[path = "../bench/microcode.rs"]
mod microcode;
#[path = "../bench/names.rs"]
mod names;
#[path = "../bench/project.rs"]
mod project;

mod command;
mod forwarder;
mod oracle;
mod recorded_lines;
mod route_changes;
mod router;
mod streaming;
