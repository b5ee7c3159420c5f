//! What observers see of whole runs.

mod order;
mod profiles;
mod runs;
mod timelines;
