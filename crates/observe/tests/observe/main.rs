//! Views of whole runs.

mod profiles;
mod runs;
mod timelines;
