//! The playground as a page uses it: requests in, answers out.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod bad_input;
mod exercise;
mod language;
mod page;
mod time_travel;
mod whole_run;
