//! Checkpoint files: completely on disk, or not there at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use npsim_net::inputs;
use npsim_project::problem::Problem;

/// What a checkpoint contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointKind {
    /// A run of a chip or a chain of chips.
    Run,
    /// A network of hosts.
    Network,
}

impl CheckpointKind {
    const ALL: [Self; 2] = [Self::Run, Self::Network];

    /// The first bytes of a checkpoint of this kind.
    #[must_use]
    pub const fn magic(self) -> [u8; 8] {
        match self {
            Self::Run => *b"npsim\x1ac\n",
            Self::Network => *b"npsim\x1an\n",
        }
    }

    /// The command that writes such checkpoints and resumes from them.
    const fn command(self) -> &'static str {
        match self {
            Self::Run => "npsim run",
            Self::Network => "npsim network",
        }
    }
}

/// The only format that this version reads and writes, for either kind.
pub const FORMAT: u32 = 16;

/// The largest file that is read, in bytes; the memories of the largest chip are smaller.
const MAX_FILE_BYTES: u64 = 8 << 30;

/// Writes header and state, replacing any file of that name.
pub fn write(kind: CheckpointKind, path: &Path, header: &[u8], state: &[u8]) -> io::Result<()> {
    // A symbolic link keeps its target: the file that it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|existing| !existing.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file, so no run could go on from it",
        ));
    }
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // The name is fixed, so that killed runs leave at most one file.
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".npsim-part");
    let part = target.with_file_name(hidden);
    let written = write_part(kind, &part, header, state);
    if let Err(error) = written {
        // Half a file is useless, especially on a full disk.
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    fs::rename(&part, &target)?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Some systems cannot open a directory; there, the rename reaches the disk a little later.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Writes header and state to a file and syncs it to disk.
fn write_part(kind: CheckpointKind, part: &Path, header: &[u8], state: &[u8]) -> io::Result<()> {
    let length = (header.len() as u32).to_le_bytes();
    let mut digest = Sha256::new();
    for piece in [&length[..], header, state] {
        digest.update(piece);
    }
    let mut file = File::create(part)?;
    for piece in [
        &kind.magic()[..],
        &FORMAT.to_le_bytes(),
        &digest.finalize(),
        &length,
        header,
        state,
    ] {
        file.write_all(piece)?;
    }
    // The rename must not reach the disk before the data.
    file.sync_all()
}

/// Reads header and state.
pub fn read(kind: CheckpointKind, path: &Path) -> Result<(Vec<u8>, Vec<u8>), Problem> {
    let shown = path.display();
    let io = |error: io::Error| Problem::io("read", path, &error);
    inputs::note_read(path);
    let mut file = File::open(path).map_err(io)?;
    let mut start = Vec::new();
    (&mut file).take(12).read_to_end(&mut start).map_err(io)?;
    let (magic, format) = start.split_at(start.len().min(8));
    if magic != kind.magic() {
        let other = { CheckpointKind::ALL.into_iter() }.find(|other| magic == other.magic());
        return Err(match other {
            Some(other) => Problem::new(format!(
                "`{shown}` is a checkpoint of `{}`, and not of `{}`",
                other.command(),
                kind.command()
            ))
            .help(format!(
                "go on with it by `{} --resume {shown}`",
                other.command()
            )),
            None => Problem::new(format!("`{shown}` is not a checkpoint of npsim")).help(format!(
                "name a file that `{} --checkpoint FILE` has written",
                kind.command()
            )),
        });
    }
    let damaged = || {
        Problem::new(format!(
            "the checkpoint `{shown}` is damaged: it was changed or cut after it was written"
        ))
        .help("use an intact copy, or restart the run")
    };
    let format = u32::from_le_bytes(format.try_into().map_err(|_| damaged())?);
    if format != FORMAT {
        let age = if format > FORMAT { "newer" } else { "older" };
        return Err(Problem::new(format!(
            "the checkpoint `{shown}` has format {format}, written by a{} {age} npsim; this one reads format {FORMAT}",
            if format > FORMAT { "" } else { "n" }
        ))
        .help("go on with the npsim that wrote it, or restart the run"));
    }
    let mut rest = Vec::new();
    file.take(MAX_FILE_BYTES)
        .read_to_end(&mut rest)
        .map_err(io)?;
    let (digest, rest) = rest.split_at_checked(32).ok_or_else(damaged)?;
    if Sha256::digest(rest)[..] != *digest {
        return Err(damaged());
    }
    let (length, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (header, state) = rest.split_at_checked(length).ok_or_else(damaged)?;
    Ok((header.to_vec(), state.to_vec()))
}
