//! Checkpoints: a run in a file, from which another process goes on as if
//! nothing had happened.
//!
//! A file begins with eight bytes that tell its [`Kind`], the version of the format ([`FORMAT`], 32 bits,
//! little-endian) and the SHA-256 of the rest. The rest is the length of the
//! header (32 bits), the header, and the state of all nodes and links, compressed
//! with zlib. The header names the version of npsim, the commands that led here and a
//! digest of everything that they read ([`inputs`]): a state is only put into a
//! session that was made of the same.
//!
//! A file takes the place of its predecessor at once, when it is on the disk as a
//! whole. What a damaged or foreign file can do is bounded: it is refused before
//! anything is made of it, and no length in it is believed.

mod file;
pub mod inputs;
mod packed;

use std::path::Path;

use npsim_chip::Cycle;
use npsim_net::egress::Position;
use serde::{Deserialize, Serialize};

pub use file::{FORMAT, Kind};
use inputs::Input;
pub use packed::{Packed, foreign};

use crate::session::{Session, Snapshot};
use npsim_project::problem::Problem;

/// Where a run comes from: the same for all of its checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Arguments of the first command and of each that went on with it, without
    /// the program's name.
    pub commands: Vec<Vec<String>>,
    /// The folder in which they ran; paths in them are relative to it.
    pub folder: String,
    /// What the run depends on.
    pub inputs: Vec<Input>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    origin: Origin,
    cycle: Cycle,
    host_nanoseconds: u64,
    capture: Option<Position>,
}

/// A run as it stood at one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint(Packed<Header>);

impl Checkpoint {
    /// Saves a run that has come to a pause. What it captured so far is safe on
    /// the disk then. `host_nanoseconds` is how long it took until now.
    ///
    /// # Errors
    /// The capture could not be written, or frames not be read.
    pub fn take(
        origin: &Origin,
        session: &mut Session,
        host_nanoseconds: u64,
    ) -> Result<Self, Problem> {
        let snapshot = session.snapshot()?;
        let header = Header {
            origin: origin.clone(),
            cycle: session.position(),
            host_nanoseconds,
            capture: snapshot.capture().copied(),
        };
        Packed::of(header, &snapshot).map(Self)
    }

    /// Writes it, in place of what had the name before.
    ///
    /// # Errors
    /// The file cannot be written; an older one is then as it was.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        self.0.write(Kind::Run, path)
    }

    /// Reads one.
    ///
    /// # Errors
    /// The file is no checkpoint, is damaged, or comes from another version.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        Packed::read(Kind::Run, path).map(Self)
    }

    /// Where the run comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.0.header().origin
    }

    /// The cycle at which it stands.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        self.0.header().cycle
    }

    /// How long the run had taken on its host until then.
    #[must_use]
    pub fn host_nanoseconds(&self) -> u64 {
        self.0.header().host_nanoseconds
    }

    /// How far the capture of departures had come, where there was one.
    #[must_use]
    pub fn capture(&self) -> Option<&Position> {
        self.0.header().capture.as_ref()
    }

    /// Puts the state into a session made of the same inputs, in which nothing has
    /// happened yet. Its sink must stand at [`Self::capture`] already.
    ///
    /// # Errors
    /// The state is not one of such a session.
    pub fn restore(&self, session: &mut Session) -> Result<(), Problem> {
        let nodes = session.nodes();
        let memories = nodes.iter().map(|node| node.chip().memory_bytes()).sum();
        let snapshot: Snapshot = self.0.state(memories, nodes.len() as u64)?;
        session
            .restore(&snapshot)
            .map_err(|reason| foreign(&reason))?;
        if session.position() != self.cycle() {
            return Err(foreign("its state is of another cycle than it says"));
        }
        Ok(())
    }
}
