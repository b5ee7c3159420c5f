//! What the shipped routers do with frames, against independent statements of it:
//! the forwarder, the standard router, and traffic that is made while it comes.

mod command;
mod forwarder;
mod oracle;
mod recorded_lines;
mod replays;
mod route_changes;
mod router;
mod streaming;
