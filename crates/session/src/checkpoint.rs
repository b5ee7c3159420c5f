//! Checkpoints: a run in a file, from which another process goes on as if
//! nothing had happened.
//!
//! A file begins with [`MAGIC`], the version of the format ([`FORMAT`], 32 bits,
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

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use npsim_chip::Cycle;
use npsim_net::egress::Position;
use serde::{Deserialize, Serialize};

pub use file::{FORMAT, MAGIC};
use inputs::Input;

use crate::session::{Session, Snapshot};
use npsim_project::problem::Problem;

/// Room for what is in a chip besides its memories, in a run's counts, and for
/// frames in flight, in bytes. Far more than any run needs.
const BESIDES_MEMORIES: u64 = 1 << 30;

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
    npsim: String,
    origin: Origin,
    cycle: Cycle,
    host_nanoseconds: u64,
    capture: Option<Position>,
    /// Bytes of the session's state before compression.
    state_bytes: u64,
}

/// A run as it stood at one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    header: Header,
    /// The session's state, compressed.
    state: Vec<u8>,
}

impl Checkpoint {
    /// Saves a run that has come to a pause. What it captured so far is safe on
    /// the disk then. `host_nanoseconds` is how long it took until now.
    ///
    /// # Errors
    /// The capture could not be written, or frames not be read.
    pub fn take(
        origin: &Origin,
        session: &mut Session<'_>,
        host_nanoseconds: u64,
    ) -> Result<Self, Problem> {
        let snapshot = session.snapshot()?;
        let state = postcard::to_allocvec(&snapshot)
            .map_err(|error| Problem::new(format!("the state cannot be encoded: {error}")))?;
        let state_bytes = state.len() as u64;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let compressed = encoder
            .write_all(&state)
            .and_then(|()| encoder.finish())
            .map_err(|error| Problem::new(format!("the state cannot be compressed: {error}")))?;
        Ok(Self {
            header: Header {
                npsim: env!("CARGO_PKG_VERSION").to_owned(),
                origin: origin.clone(),
                cycle: session.position(),
                host_nanoseconds,
                capture: snapshot.capture().copied(),
                state_bytes,
            },
            state: compressed,
        })
    }

    /// Writes it, in place of what had the name before.
    ///
    /// # Errors
    /// The file cannot be written; an older one is then as it was.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        let header = postcard::to_allocvec(&self.header)
            .map_err(|error| Problem::new(format!("the checkpoint cannot be encoded: {error}")))?;
        file::write(path, &header, &self.state).map_err(|error| Problem::io("write", path, &error))
    }

    /// Reads one.
    ///
    /// # Errors
    /// The file is no checkpoint, is damaged, or comes from another version.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let (header, state) = file::read(path)?;
        let header: Header = postcard::from_bytes(&header).map_err(|error| {
            Problem::new(format!(
                "the checkpoint `{}` has a header that cannot be read: {error}",
                path.display()
            ))
            .help("go on with the npsim that wrote it, or start the run anew")
        })?;
        let own = env!("CARGO_PKG_VERSION");
        if header.npsim != own {
            return Err(Problem::new(format!(
                "the checkpoint `{}` was written by npsim {}, and this is npsim {own}",
                path.display(),
                header.npsim
            ))
            .help("go on with the npsim that wrote it, or start the run anew"));
        }
        Ok(Self { header, state })
    }

    /// Where the run comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.header.origin
    }

    /// The cycle at which it stands.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        self.header.cycle
    }

    /// How long the run had taken on its host until then.
    #[must_use]
    pub fn host_nanoseconds(&self) -> u64 {
        self.header.host_nanoseconds
    }

    /// How far the capture of departures had come, where there was one.
    #[must_use]
    pub fn capture(&self) -> Option<&Position> {
        self.header.capture.as_ref()
    }

    /// Puts the state into a session made of the same inputs, in which nothing has
    /// happened yet. Its sink must stand at [`Self::capture`] already.
    ///
    /// # Errors
    /// The state is not one of such a session.
    pub fn restore(&self, session: &mut Session<'_>) -> Result<(), Problem> {
        let foreign = |reason: &str| {
            Problem::new(format!("the checkpoint does not fit this run: {reason}"))
                .help("start the run anew")
        };
        let nodes = session.nodes();
        let memories: u64 = nodes.iter().map(|node| node.chip().memory_bytes()).sum();
        let beside = BESIDES_MEMORIES.saturating_mul(nodes.len() as u64);
        let expected = self.header.state_bytes;
        if expected > memories + memories / 64 + beside {
            return Err(foreign("it claims more state than the chips can have"));
        }
        let mut state = Vec::new();
        ZlibDecoder::new(&*self.state)
            .take(expected + 1)
            .read_to_end(&mut state)
            .map_err(|error| foreign(&format!("its state cannot be unpacked: {error}")))?;
        if state.len() as u64 != expected {
            return Err(foreign("its state has another length than it says"));
        }
        let snapshot: Snapshot = postcard::from_bytes(&state)
            .map_err(|error| foreign(&format!("its state cannot be read: {error}")))?;
        session
            .restore(&snapshot)
            .map_err(|reason| foreign(&reason))?;
        if session.position() != self.header.cycle {
            return Err(foreign("its state is of another cycle than it says"));
        }
        Ok(())
    }
}
