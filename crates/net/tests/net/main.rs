//! Frames from outside: captures read and written, replays, loads, and metrics of order.

mod capture_damage;
mod capture_formats;
mod egress_files;
mod handmade;
mod order;
mod replay;
mod repository_traces;
mod trace_files;
