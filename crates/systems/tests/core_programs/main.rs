//! The programs of the core in `microcode/core`: they equal a build of their sources, compute the same as the reference
//! models, and change routes as the task does.

mod built;
mod laws;
mod routes;
