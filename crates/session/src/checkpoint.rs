//! Checkpoints: a run saved to a file, from which another process resumes as if nothing had
//! happened.
//!
//! A file begins with eight bytes for its [`CheckpointKind`], the version of the format
//! ([`FORMAT`], 32 bits, little-endian) and the SHA-256 of the rest. The rest is the length of the
//! header (32 bits), the header, and the state of all nodes and links, compressed with zlib. The
//! header names the version of npsim, the commands that led here and a digest of everything that
//! they read ([`inputs`]): a state is only restored into a session built from the same inputs.
//! [`CheckpointFile`] is the format shared by runs of chips and networks of hosts, [`Checkpoint`]
//! its instance for chips.
//!
//! A file replaces its predecessor atomically, once all of it is on disk. Damaged or foreign files
//! do bounded harm: they are rejected before anything is built from them, and no length in them is
//! trusted.

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

/// Allowance in bytes for the parts of a state other than memories: its counts
/// and frames in flight. Far more than any run needs.
const BESIDES_MEMORIES: u64 = 1 << 30;

/// Where a run comes from; identical in all of its checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrigin {
    /// Arguments of the first command and of each one that resumed the run,
    /// without the program name.
    pub commands: Vec<Vec<String>>,
    /// The folder in which they ran; relative paths start there.
    pub folder: String,
    /// The inputs that the run depends on.
    pub inputs: Vec<CheckpointInput>,
}

/// The progress of a run's outputs, which are written as it runs and resumed later. Their type
/// determines the kind of run.
pub trait Outputs: Serialize + DeserializeOwned {
    /// The kind of checkpoint.
    const KIND: CheckpointKind;
}

/// The capture of what leaves the last chip, if there is one.
impl Outputs for Option<Position> {
    const KIND: CheckpointKind = CheckpointKind::Run;
}

/// The header. The npsim version comes first in the header of every version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CheckpointHeader<O> {
    npsim: String,
    /// Size of the uncompressed state in bytes.
    state_bytes: u64,
    origin: RunOrigin,
    time: u64,
    host_nanoseconds: u64,
    outputs: O,
}

/// A run at one point in time: its origin, the progress of its outputs, and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFile<O> {
    header: CheckpointHeader<O>,
    /// The compressed state.
    state: Vec<u8>,
}

/// A run of a chip or a chain of chips at one cycle.
pub type Checkpoint = CheckpointFile<Option<Position>>;

impl<O: Outputs> CheckpointFile<O> {
    /// Compresses a state. `time` is in cycles or picoseconds, depending on the kind of run;
    /// `host_nanoseconds` is how long the run has taken so far.
    ///
    /// # Errors
    /// Returns an error if encoding fails, which no state causes.
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

    /// Writes the checkpoint, replacing any file of that name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written; an existing one is then
    /// left unchanged.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        let header = postcard::to_allocvec(&self.header)
            .map_err(|error| Problem::new(format!("the checkpoint cannot be encoded: {error}")))?;
        file::write(O::KIND, path, &header, &self.state)
            .map_err(|error| Problem::io("write", path, &error))
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// Returns an error if the file is not a checkpoint of this kind, is damaged, or comes from
    /// another version.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let (header, state) = file::read(O::KIND, path)?;
        let anew = "go on with the npsim that wrote it, or restart the run";
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

    /// The time of the checkpoint, as in [`Self::of`].
    #[must_use]
    pub fn time(&self) -> u64 {
        self.header.time
    }

    /// How long the run had taken on its host up to the checkpoint.
    #[must_use]
    pub fn host_nanoseconds(&self) -> u64 {
        self.header.host_nanoseconds
    }

    /// The progress of the run's outputs.
    #[must_use]
    pub fn outputs(&self) -> &O {
        &self.header.outputs
    }

    /// Decodes the state of a run whose chips have `memories` bytes of memory in total and which
    /// has `parts` parts with a state of their own, chips included.
    ///
    /// # Errors
    /// Returns an error if the state cannot be decoded, or is larger than such a run's can be.
    pub fn state<S: DeserializeOwned>(&self, memories: u64, parts: u64) -> Result<S, Problem> {
        // The overhead around each page of memory is less than a 64th of it.
        let most =
            (memories + memories / 64).saturating_add(BESIDES_MEMORIES.saturating_mul(parts));
        let expected = self.header.state_bytes;
        if expected > most {
            return Err(mismatch_problem(
                "it claims more state than the chips can have",
            ));
        }
        let mut state = Vec::new();
        ZlibDecoder::new(&*self.state)
            .take(expected + 1)
            .read_to_end(&mut state)
            .map_err(|error| mismatch_problem(&format!("its state cannot be unpacked: {error}")))?;
        if state.len() as u64 != expected {
            return Err(mismatch_problem(
                "its state does not have the length that it states",
            ));
        }
        postcard::from_bytes(&state)
            .map_err(|error| mismatch_problem(&format!("its state cannot be read: {error}")))
    }
}

impl Checkpoint {
    /// Saves a paused run. Everything captured so far is then safely on disk.
    /// `host_nanoseconds` is how long the run has taken so far.
    ///
    /// # Errors
    /// Returns an error if the capture could not be written, or frames could
    /// not be read.
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

    /// Restores the state into a session that was built from the same inputs
    /// and has not run yet. Its sink must already be positioned at the
    /// [capture](Self::outputs).
    ///
    /// # Errors
    /// Returns an error if the state does not belong to such a session.
    pub fn restore(&self, session: &mut Session) -> Result<(), Problem> {
        let nodes = session.nodes();
        let memories = nodes.iter().map(|node| node.chip().memory_bytes()).sum();
        let snapshot: Snapshot = self.state(memories, nodes.len() as u64)?;
        session
            .restore(&snapshot)
            .map_err(|reason| mismatch_problem(&reason))?;
        if session.position() != self.time() {
            return Err(mismatch_problem(
                "its state is not of the cycle that it states",
            ));
        }
        Ok(())
    }
}

/// The error for a state that does not belong to this run.
#[must_use]
pub fn mismatch_problem(reason: &str) -> Problem {
    Problem::new(format!("the checkpoint does not fit this run: {reason}")).help("restart the run")
}
