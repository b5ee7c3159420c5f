//! Recordings: the input of a live run, from which a later run reproduces the same departures.
//!
//! A recording is a pcapng file of one section. Its header describes the run ([`RecordingHead`]).
//! It has an interface for each port, whose packets are the frames that arrived there, and one
//! more, [`CONTROL`], whose packets are the commands that changed the run, as text. Times are
//! picoseconds of simulated time: for a frame, when the first bit of its preamble arrived; for a
//! command, when it takes effect. Cycles are rounded down to picoseconds, so that rounding up
//! restores the cycle for every clock below a terahertz. `if_tsoffset` sets simulated time 0 to a
//! second of wall time, so that other programs show dates.
//!
//! The file has its final name from the start and grows by whole blocks ([`RecordingWriter`]): a
//! run that is killed leaves everything that was [flushed](RecordingWriter::flush).

mod block;
mod head;
mod reader;
mod survey;
mod writer;

pub use head::RecordingHead;
pub use reader::{Recorded, RecordingReader};
pub use survey::{RecordedCommand, RecordingSurvey, survey};
pub use writer::RecordingWriter;

/// Name of the interface whose packets are commands.
pub const CONTROL: &str = "npsim control";
/// The command that marks the end of the run.
pub const END: &str = "end";

/// Clock of recordings of networks, whose chips each have their own clock: one cycle is a
/// picosecond.
pub const NETWORK_HERTZ: u64 = 1_000_000_000_000;

/// Link type of the command interface: the first one reserved for private use.
const CONTROL_LINK: u16 = 147;
/// Value of `if_tsresol` for picoseconds.
const PICOSECONDS: u8 = 12;
pub(crate) const SECOND_PS: u128 = 1_000_000_000_000;

/// Whether the packets of an interface are commands.
pub(crate) fn is_control(link: u32, name: &str) -> bool {
    link == u32::from(CONTROL_LINK) && name == CONTROL
}

/// Returns the picoseconds from cycle 0 to a cycle of a clock, rounded down.
#[must_use]
pub fn picoseconds(cycle: u64, hertz: u64) -> u128 {
    u128::from(cycle) * SECOND_PS / u128::from(hertz.max(1))
}

/// Returns the first cycle of a clock at or after this many picoseconds since cycle 0: the inverse
/// of [`picoseconds`].
#[must_use]
pub fn cycle(picoseconds: u64, hertz: u64) -> u64 {
    let cycle = (u128::from(picoseconds) * u128::from(hertz)).div_ceil(SECOND_PS);
    u64::try_from(cycle).unwrap_or(u64::MAX)
}
