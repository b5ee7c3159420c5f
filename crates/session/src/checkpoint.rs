//! Checkpoints: a run in a file, from which another process goes on as if
//! nothing had happened.
//!
//! A file begins with eight bytes for its [`CheckpointKind`], the version of the format ([`FORMAT`], 32 bits,
//! little-endian) and the SHA-256 of the rest. The rest is the length of the
//! header (32 bits), the header, and the state of all nodes and links, compressed
//! with zlib. The header names the version of npsim, the commands that led here and a
//! digest of everything that they read ([`inputs`]): a state is only put into a
//! session that was made of the same. [`CheckpointFile`] is what chips and networks of hosts have in
//! common, [`Checkpoint`] that of chips.
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
use npsim_net::egress::Position;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use file::{CheckpointKind, FORMAT};
use inputs::CheckpointInput;

use crate::session::{Session, Snapshot};
use npsim_project::problem::Problem;

/// Room for what is in a part of a run besides memories, in its counts, and for
/// frames in flight, in bytes. Far more than any run needs.
const BESIDES_MEMORIES: u64 = 1 << 30;

/// Where a run comes from; all of its checkpoints have it alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrigin {
    /// Arguments of the first command and of each that went on with it, without
    /// the program's name.
    pub commands: Vec<Vec<String>>,
    /// The folder in which they ran; paths in them are relative to it.
    pub folder: String,
    /// What the run depends on.
    pub inputs: Vec<CheckpointInput>,
}

/// How far the outputs of a run have come that are written while it runs and gone on with later.
/// Their type says which kind of run it is.
pub trait Outputs: Serialize + DeserializeOwned {
    /// The kind of checkpoint.
    const KIND: CheckpointKind;
}

/// The capture of what leaves the last chip, where there is one.
impl Outputs for Option<Position> {
    const KIND: CheckpointKind = CheckpointKind::Run;
}

/// The version of npsim stands first, whatever else another one has in its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CheckpointHeader<O> {
    npsim: String,
    /// Bytes of the state before compression.
    state_bytes: u64,
    origin: RunOrigin,
    time: u64,
    host_nanoseconds: u64,
    outputs: O,
}

/// A run as it stood at one time: where it comes from, how far its outputs have come, and a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFile<O> {
    header: CheckpointHeader<O>,
    /// Compressed.
    state: Vec<u8>,
}

/// A run of a chip or of a chain of them as it stood at one cycle.
pub type Checkpoint = CheckpointFile<Option<Position>>;

impl<O: Outputs> CheckpointFile<O> {
    /// Compresses a state. `time` is in cycles or picoseconds, as the kind of run has it;
    /// `host_nanoseconds` is how long the run took until now.
    ///
    /// # Errors
    /// The encoder refuses it, which it does with no state.
    pub fn of(
        origin: &RunOrigin,
        time: u64,
        host_nanoseconds: u64,
        outputs: O,
        state: &impl Serialize,
    ) -> Result<Self, Problem> {
        let state = postcard::to_allocvec(state)
            .map_err(|error| Problem::new(format!("the state cannot be encoded: {error}")))?;
        let state_bytes = state.len() as u64;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let state = encoder
            .write_all(&state)
            .and_then(|()| encoder.finish())
            .map_err(|error| Problem::new(format!("the state cannot be compressed: {error}")))?;
        let header = CheckpointHeader {
            npsim: env!("CARGO_PKG_VERSION").to_owned(),
            state_bytes,
            origin: origin.clone(),
            time,
            host_nanoseconds,
            outputs,
        };
        Ok(Self { header, state })
    }

    /// Writes it, in place of what had the name before.
    ///
    /// # Errors
    /// The file cannot be written; an older one is then as it was.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        let header = postcard::to_allocvec(&self.header)
            .map_err(|error| Problem::new(format!("the checkpoint cannot be encoded: {error}")))?;
        file::write(O::KIND, path, &header, &self.state)
            .map_err(|error| Problem::io("write", path, &error))
    }

    /// Reads one.
    ///
    /// # Errors
    /// The file is no checkpoint of this kind, is damaged, or comes from another version.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let (header, state) = file::read(O::KIND, path)?;
        let anew = "go on with the npsim that wrote it, or start the run anew";
        let version = postcard::take_from_bytes::<String>(&header);
        let own = env!("CARGO_PKG_VERSION");
        if let Ok((other, _)) = version
            && other != own
        {
            return Err(Problem::new(format!(
                "the checkpoint `{}` was written by npsim {other}, and this is npsim {own}",
                path.display(),
            ))
            .help(anew));
        }
        let header = postcard::from_bytes(&header).map_err(|error| {
            Problem::new(format!(
                "the checkpoint `{}` has a header that cannot be read: {error}",
                path.display()
            ))
            .help(anew)
        })?;
        Ok(Self { header, state })
    }

    /// Where the run comes from.
    #[must_use]
    pub fn origin(&self) -> &RunOrigin {
        &self.header.origin
    }

    /// The time at which it stands, as in [`Self::of`].
    #[must_use]
    pub fn time(&self) -> u64 {
        self.header.time
    }

    /// How long the run had taken on its host until then.
    #[must_use]
    pub fn host_nanoseconds(&self) -> u64 {
        self.header.host_nanoseconds
    }

    /// How far the run's outputs had come.
    #[must_use]
    pub fn outputs(&self) -> &O {
        &self.header.outputs
    }

    /// The state of a run whose chips have memories of so many bytes together, and that consists of so
    /// many parts: its chips, and what else has a state of its own.
    ///
    /// # Errors
    /// It is none, or larger than that of such a run can be.
    pub fn state<S: DeserializeOwned>(&self, memories: u64, parts: u64) -> Result<S, Problem> {
        // What stands around each page of memory takes less than a 64th of it.
        let most =
            (memories + memories / 64).saturating_add(BESIDES_MEMORIES.saturating_mul(parts));
        let expected = self.header.state_bytes;
        if expected > most {
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
        postcard::from_bytes(&state)
            .map_err(|error| foreign(&format!("its state cannot be read: {error}")))
    }
}

impl Checkpoint {
    /// Saves a run that has come to a pause. What it captured so far is safe on
    /// the disk then. `host_nanoseconds` is how long it took until now.
    ///
    /// # Errors
    /// The capture could not be written, or frames not be read.
    pub fn take(
        origin: &RunOrigin,
        session: &mut Session,
        host_nanoseconds: u64,
    ) -> Result<Self, Problem> {
        let snapshot = session.snapshot()?;
        let capture = snapshot.capture().copied();
        Self::of(
            origin,
            session.position(),
            host_nanoseconds,
            capture,
            &snapshot,
        )
    }

    /// Puts the state into a session made of the same inputs, in which nothing has
    /// happened yet. Its sink must stand at the [capture](Self::outputs) already.
    ///
    /// # Errors
    /// The state is not one of such a session.
    pub fn restore(&self, session: &mut Session) -> Result<(), Problem> {
        let nodes = session.nodes();
        let memories = nodes.iter().map(|node| node.chip().memory_bytes()).sum();
        let snapshot: Snapshot = self.state(memories, nodes.len() as u64)?;
        session
            .restore(&snapshot)
            .map_err(|reason| foreign(&reason))?;
        if session.position() != self.time() {
            return Err(foreign("its state is of another cycle than it says"));
        }
        Ok(())
    }
}

/// A state that is not one of this run.
#[must_use]
pub fn foreign(reason: &str) -> Problem {
    Problem::new(format!("the checkpoint does not fit this run: {reason}"))
        .help("start the run anew")
}
