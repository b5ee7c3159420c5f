//! What every checkpoint has: a header that says what it is, and a state, compressed.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use npsim_project::problem::Problem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::file::{self, Kind};

/// Room for what is in a part of a run besides memories, in its counts, and for
/// frames in flight, in bytes. Far more than any run needs.
const BESIDES_MEMORIES: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Outer<H> {
    npsim: String,
    /// Bytes of the state before compression.
    state_bytes: u64,
    header: H,
}

/// A header and a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed<H> {
    outer: Outer<H>,
    /// Compressed.
    state: Vec<u8>,
}

impl<H: Serialize + DeserializeOwned> Packed<H> {
    /// Compresses a state.
    ///
    /// # Errors
    /// The encoder refuses it, which it does with no state.
    pub fn of(header: H, state: &impl Serialize) -> Result<Self, Problem> {
        let state = postcard::to_allocvec(state)
            .map_err(|error| Problem::new(format!("the state cannot be encoded: {error}")))?;
        let state_bytes = state.len() as u64;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let state = encoder
            .write_all(&state)
            .and_then(|()| encoder.finish())
            .map_err(|error| Problem::new(format!("the state cannot be compressed: {error}")))?;
        let npsim = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self {
            outer: Outer {
                npsim,
                state_bytes,
                header,
            },
            state,
        })
    }

    /// Writes it, in place of what had the name before.
    ///
    /// # Errors
    /// The file cannot be written; an older one is then as it was.
    pub fn write(&self, kind: Kind, path: &Path) -> Result<(), Problem> {
        let header = postcard::to_allocvec(&self.outer)
            .map_err(|error| Problem::new(format!("the checkpoint cannot be encoded: {error}")))?;
        file::write(kind, path, &header, &self.state)
            .map_err(|error| Problem::io("write", path, &error))
    }

    /// Reads one.
    ///
    /// # Errors
    /// The file is no checkpoint of this kind, is damaged, or comes from another version.
    pub fn read(kind: Kind, path: &Path) -> Result<Self, Problem> {
        let (header, state) = file::read(kind, path)?;
        let anew = "go on with the npsim that wrote it, or start the run anew";
        // The version stands first, whatever else another one has in its header.
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
        let outer = postcard::from_bytes(&header).map_err(|error| {
            Problem::new(format!(
                "the checkpoint `{}` has a header that cannot be read: {error}",
                path.display()
            ))
            .help(anew)
        })?;
        Ok(Self { outer, state })
    }

    /// What it says of itself.
    pub fn header(&self) -> &H {
        &self.outer.header
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
        let expected = self.outer.state_bytes;
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

/// A state that is not one of this run.
#[must_use]
pub fn foreign(reason: &str) -> Problem {
    Problem::new(format!("the checkpoint does not fit this run: {reason}"))
        .help("start the run anew")
}
