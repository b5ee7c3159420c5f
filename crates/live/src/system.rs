//! The interface of a simulated system in a live run: it has ports, accepts frames that begin to
//! arrive at a given time, and runs from one time to a later one.

use std::ops::ControlFlow;
use std::path::Path;

use npsim_project::problem::Problem;
use npsim_transport::time::Time;
use serde::Serialize;

/// A frame that has left, without its frame check sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepartingFrame {
    /// The time at which its last bit leaves; no host can have the frame earlier.
    pub due: Time,
    /// The number of the port.
    pub port: usize,
    /// The bytes, padded to the minimum size of an Ethernet frame.
    pub bytes: Vec<u8>,
}

/// The timing of a frame that enters the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnteredFrame {
    /// The time of its first bit.
    pub begins: Time,
    /// The time from which the port's line accepts the next frame.
    pub line_free: Time,
}

/// The reason why a system cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halted {
    /// The microcode violated a check.
    Fault,
    /// The caller interrupted the run.
    Interrupted,
}

/// Counts of arrivals and departures at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCounts {
    /// Frames that began to arrive.
    pub came: u64,
    /// Bytes of these frames.
    pub came_bytes: u64,
    /// Frames that left.
    pub left: u64,
    /// Bytes of these frames.
    pub left_bytes: u64,
    /// Frames lost at the media interface.
    pub dropped: u64,
}

/// A kind of observation that can be started and stopped by requests, and is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationKind {
    /// A timeline of trace events.
    Timeline,
    /// The fate of each packet.
    Packets,
}

impl ObservationKind {
    /// The keyword in requests, which is also the option of `npsim run`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Packets => "packets",
        }
    }
}

/// Returns whether to continue; called from any thread.
pub type Progress<'a> = dyn Fn() -> ControlFlow<()> + Sync + 'a;

/// A system of chips through which external hosts communicate. Times are simulated picoseconds since
/// its start.
pub trait LiveSystem {
    /// The names of the ports.
    fn ports(&self) -> Vec<String>;

    /// The time that the system has reached; no frame can begin to arrive before it.
    fn now(&self) -> Time;

    /// The time before which nothing leaves unless a frame arrives, as far as that is known.
    fn silent_until(&self) -> Time;

    /// Lets a frame begin to arrive at a port, at this time or the first possible time after it in the
    /// system's clock. The time must not be before [`Self::now`], nor before the port's line is free.
    fn enter(&mut self, port: usize, at: Time, bytes: &[u8]) -> EnteredFrame;

    /// Runs to a time, calling `progress` now and then to decide whether to continue.
    ///
    /// # Errors
    /// Returns the reason why it stopped early.
    fn run_to(&mut self, until: Time, progress: &Progress<'_>) -> Result<(), Halted>;

    /// The frames that have begun to leave since the last call.
    fn take_departing(&mut self) -> Vec<DepartingFrame>;

    /// The counts of arrivals and departures, by port.
    fn counts(&self) -> Vec<PortCounts>;

    /// Describes the internal state for people, in lines: queues, or contexts; for a network and a
    /// router's name, the state of that router's chip.
    ///
    /// # Errors
    /// Returns an error if there is no such router.
    fn inside(&self, name: &str) -> Result<Vec<String>, Problem>;

    /// Changes the system from outside, such as with `route remove 10.2.0.0/16`, at the time that it
    /// has reached. Returns the command in the form to record, and the time at which it takes effect.
    ///
    /// # Errors
    /// Returns an error if there is no such command, or it cannot be executed.
    fn change(&mut self, command: &str) -> Result<(String, Time), Problem>;

    /// Counters as JSON: an overview if the name is empty, else a counter or a part of the statistics.
    ///
    /// # Errors
    /// Returns an error if nothing has this name, or such a system has no counters of its own.
    fn counters(&mut self, name: &str) -> Result<String, Problem>;

    /// The command that recreates this moment as a checkpoint from a recording, if there is one.
    fn checkpoint_command(&self, _file: &Path) -> Option<String> {
        None
    }

    /// Begins to observe, into a file that appears when it is complete. Returns the answer to the
    /// request.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, if such an observation is already in progress,
    /// or if this system cannot be observed.
    fn observe(&mut self, kind: ObservationKind, _file: &Path) -> Result<String, Problem> {
        Err(of_one_chip(kind.name()))
    }

    /// Ends what [`Self::observe`] began, and gives the file its final name.
    ///
    /// # Errors
    /// Returns an error if no such observation is in progress, or if the file could not be written and
    /// does not exist.
    fn end_observation(&mut self, kind: ObservationKind) -> Result<String, Problem> {
        Err(of_one_chip(kind.name()))
    }
}

/// The error for a request that applies to a chip but not to a network.
fn of_one_chip(request: &str) -> Problem {
    Problem::new(format!(
        "`{request}` is a request to one chip, and this run is of a network"
    ))
    .help("`counters ROUTER` and `inside ROUTER` say what a router does; of a recording `npsim network FILE --recorded RECORDING --timeline FILE` shows any window")
}
