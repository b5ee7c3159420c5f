//! SRP (Shang et al., TCP-SRP): TCP paced at a rate that follows from the loss event rate.
//!
//! [`PacingLaw`] is the behaviour of a sender; it is shared by hosts (`npsim-transport`) and the [`task`]
//! of a network processor that paces for hosts. The microcode gives packets their due times and counts
//! acknowledgements and losses (`microcode/pacing`); the task computes rates and writes the gaps.

mod fixed;
pub(crate) mod keys;
mod law;
mod loss_interval;
mod record;
pub mod task;
mod words;

pub use law::{LawInputs, PacingLaw};
pub use record::{RECORD_BYTES, gap};
