//! The programs of the core in `microcode/core`: they are what their sources become, compute what the
//! reference models do, and change routes as the task does.

mod built;
mod laws;
mod routes;
