//! Checkpoint files: whole, on the disk, or not there.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use npsim_project::problem::Problem;

/// How a checkpoint begins.
pub const MAGIC: [u8; 8] = *b"npsim\x1ac\n";
/// The format that this version writes, and the only one it reads.
pub const FORMAT: u32 = 6;

/// The largest file that is read; the memories of the largest chip are smaller.
const LARGEST: u64 = 8 << 30;

/// Writes header and state in place of what had the name before.
pub fn write(path: &Path, header: &[u8], state: &[u8]) -> io::Result<()> {
    // A link keeps pointing where it does: what it points at is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|existing| !existing.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file, so nothing could go on from it",
        ));
    }
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // Always the same name, so that runs that are killed leave one file at most.
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".npsim-part");
    let part = target.with_file_name(hidden);
    let length = (header.len() as u32).to_le_bytes();
    let mut digest = Sha256::new();
    for piece in [&length[..], header, state] {
        digest.update(piece);
    }
    let mut file = File::create(&part)?;
    for piece in [
        &MAGIC[..],
        &FORMAT.to_le_bytes(),
        &digest.finalize(),
        &length,
        header,
        state,
    ] {
        file.write_all(piece)?;
    }
    // The new name must not reach the disk before the data.
    file.sync_all()?;
    drop(file);
    fs::rename(&part, &target)?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Not every system lets a folder be opened; then the name is safe a little later.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Reads header and state.
pub fn read(path: &Path) -> Result<(Vec<u8>, Vec<u8>), Problem> {
    let shown = path.display();
    let io = |error: io::Error| Problem::io("read", path, &error);
    let mut file = File::open(path).map_err(io)?;
    let mut start = Vec::new();
    (&mut file).take(12).read_to_end(&mut start).map_err(io)?;
    let (magic, format) = start.split_at(start.len().min(MAGIC.len()));
    if magic != MAGIC {
        return Err(Problem::new(format!("`{shown}` is no checkpoint of npsim"))
            .help("name a file that `npsim run --checkpoint FILE` has written"));
    }
    let damaged = || {
        Problem::new(format!(
            "the checkpoint `{shown}` is damaged: it was changed or cut after it was written"
        ))
        .help("take a copy that is whole, or start the run anew")
    };
    let format = u32::from_le_bytes(format.try_into().map_err(|_| damaged())?);
    if format != FORMAT {
        let age = if format > FORMAT { "newer" } else { "older" };
        return Err(Problem::new(format!(
            "the checkpoint `{shown}` has format {format}, written by a{} {age} npsim; this one reads format {FORMAT}",
            if format > FORMAT { "" } else { "n" }
        ))
        .help("go on with the npsim that wrote it, or start the run anew"));
    }
    let mut rest = Vec::new();
    file.take(LARGEST).read_to_end(&mut rest).map_err(io)?;
    let (digest, rest) = rest.split_at_checked(32).ok_or_else(damaged)?;
    if Sha256::digest(rest)[..] != *digest {
        return Err(damaged());
    }
    let (length, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (header, state) = rest.split_at_checked(length).ok_or_else(damaged)?;
    Ok((header.to_vec(), state.to_vec()))
}
