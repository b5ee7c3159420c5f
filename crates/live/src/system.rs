//! What a live run simulates, behind one door: something with ports, to which frames are given
//! that begin to come at a time, and which is run from one time to a later one.

use std::ops::ControlFlow;
use std::path::Path;

use npsim_project::problem::Problem;
use npsim_transport::time::Time;
use serde::Serialize;

/// A frame that has left, without its check sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeavingFrame {
    /// When its last bit leaves: before it no host can have the frame.
    pub due: Time,
    /// The port.
    pub port: usize,
    /// The bytes, padded to the least Ethernet frame.
    pub bytes: Vec<u8>,
}

/// A frame on its way into the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnteredFrame {
    /// Its first bit.
    pub begins: Time,
    /// From when on the port's line takes the next frame.
    pub line_free: Time,
}

/// Why a system runs no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halted {
    /// The microcode did what a check forbids.
    Fault,
    /// The caller broke the run off.
    Interrupted,
}

/// What has come and gone at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCounts {
    /// Frames that began to come.
    pub came: u64,
    /// Their bytes.
    pub came_bytes: u64,
    /// Frames that left.
    pub left: u64,
    /// Their bytes.
    pub left_bytes: u64,
    /// Frames lost at the media interface.
    pub dropped: u64,
}

/// What can be observed from one request to another, and is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationKind {
    /// What happens when, as trace events.
    Timeline,
    /// The fate of each packet.
    Packets,
}

impl ObservationKind {
    /// The word of requests, which is the option of `npsim run` as well.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Packets => "packets",
        }
    }
}

/// Whether to go on; asked from any thread.
pub type Progress<'a> = dyn Fn() -> ControlFlow<()> + Sync + 'a;

/// A system of chips that hosts outside of it talk through. Times are simulated picoseconds since
/// its beginning.
pub trait LiveSystem {
    /// What the ports are called.
    fn ports(&self) -> Vec<String>;

    /// The time that it has come to; no frame can begin to come before it.
    fn now(&self) -> Time;

    /// Before which time nothing leaves unless a frame comes, as far as that is known.
    fn silent_until(&self) -> Time;

    /// A frame begins to come at a port, at this time or as soon after it as the system's clock
    /// has it. The time must not lie before [`Self::now`], nor before the port's line is free.
    fn enter(&mut self, port: usize, at: Time, bytes: &[u8]) -> EnteredFrame;

    /// Runs to a time. `progress` is asked now and then whether to go on.
    ///
    /// # Errors
    /// What stopped it.
    fn run_to(&mut self, until: Time, progress: &Progress<'_>) -> Result<(), Halted>;

    /// The frames that have begun to leave since this was asked last.
    fn take_leaving(&mut self) -> Vec<LeavingFrame>;

    /// What has come and gone, port by port.
    fn counts(&self) -> Vec<PortCounts>;

    /// What is going on inside, in lines for people: queues, or contexts; of a network with a router's
    /// name those of its chip.
    ///
    /// # Errors
    /// There is no such router.
    fn inside(&self, name: &str) -> Result<Vec<String>, Problem>;

    /// Changes the system from outside, such as `route remove 10.2.0.0/16`, at the time that it
    /// has come to. Gives the command as it is to be recorded and the time at which it takes
    /// effect.
    ///
    /// # Errors
    /// There is no such command, or it cannot be followed.
    fn change(&mut self, command: &str) -> Result<(String, Time), Problem>;

    /// What was counted: an overview without a name, else a counter or a part of the statistics, as
    /// JSON.
    ///
    /// # Errors
    /// Nothing has this name, or such a system has no counts of its own.
    fn counters(&mut self, name: &str) -> Result<String, Problem>;

    /// The command that makes a checkpoint of this moment from a recording, if there is one.
    fn checkpoint_command(&self, _file: &Path) -> Option<String> {
        None
    }

    /// Begins to observe, into a file that is there once it is whole. Gives the answer in words.
    ///
    /// # Errors
    /// The file cannot be made, such an observation goes on already, or such a system cannot be
    /// observed.
    fn observe(&mut self, kind: ObservationKind, _file: &Path) -> Result<String, Problem> {
        Err(of_one_chip(kind.name()))
    }

    /// Ends what [`Self::observe`] began: the file takes its name.
    ///
    /// # Errors
    /// Nothing of the kind goes on, or the file could not be written; there is none then.
    fn end_observation(&mut self, kind: ObservationKind) -> Result<String, Problem> {
        Err(of_one_chip(kind.name()))
    }
}

/// Why a network does not do what a chip does.
fn of_one_chip(request: &str) -> Problem {
    Problem::new(format!(
        "`{request}` is of one chip, and this run is of a network"
    ))
    .help("`counters ROUTER` and `inside ROUTER` say what a router does; of a recording `npsim network FILE --recorded RECORDING --timeline FILE` shows any window")
}
