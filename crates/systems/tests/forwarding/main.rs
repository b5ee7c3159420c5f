//! The shipped routers' treatment of frames against independent specifications: the forwarder, the
//! standard router, and traffic that is generated as it arrives.

mod command;
mod forwarder;
mod oracle;
mod recorded_lines;
mod replays;
mod route_changes;
mod router;
mod streaming;
