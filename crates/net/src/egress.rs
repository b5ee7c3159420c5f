//! Writes frames to capture files: those that a chip sent, those that links carried, and generated
//! traffic ([`TraceSink`]).

mod nameless;
mod resume;
mod tally;
mod trace_sink;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use byteorder_slice::LittleEndian;
use pcap_file::pcap::{
    PcapHeader, PcapPacket, PcapTsResolution, PcapValidationError, PcapWriteError,
};
use pcap_file::{DataLink, Endianness};

pub use resume::ResumableFile;
pub use tally::{Position, SharedBytes};
pub use trace_sink::{CaptureFormat, CapturePort, TraceSink};

use crate::capture::MAX_FRAME_BYTES;
use crate::standard_output::{self, is_standard_output};
use tally::CountedFile;

/// Resolution of the times in the file.
const RESOLUTION: PcapTsResolution = PcapTsResolution::NanoSecond;

/// Makes the temporary names of one process unique.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// A file that is removed unless it gets its final name or is to be kept.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    target: PathBuf,
    keep: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep {
            // A failure to remove the file cannot be handled here; after a rename the file no longer
            // exists.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Target of a file that is written: a temporary file beside its final place, or the target itself if
/// that is not a regular file.
#[derive(Debug)]
struct OutputFile {
    temporary: Option<Temporary>,
    /// The file, if it has no name at all, not even a temporary one.
    nameless: Option<File>,
}

impl OutputFile {
    fn create(path: &Path) -> io::Result<(File, OutputFile)> {
        if is_standard_output(path) {
            return Ok((standard_output::open()?, OutputFile::direct()));
        }
        // A symbolic link is kept: the file that it points to is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        match fs::metadata(&target) {
            Ok(existing) if existing.is_dir() => Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                format!("{} is a directory; name a file in it", path.display()),
            )),
            Ok(existing) if !existing.is_file() => {
                let file = OpenOptions::new().write(true).open(&target)?;
                Ok((file, OutputFile::direct()))
            }
            _ => {
                let temporary = Temporary {
                    path: temporary_name(&target)?,
                    target,
                    keep: false,
                };
                if let Some(file) = nameless::create(&temporary.path) {
                    let nameless = Some(file.try_clone()?);
                    let temporary = Some(temporary);
                    let target = OutputFile {
                        temporary,
                        nameless,
                    };
                    return Ok((file, target));
                }
                let file = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .open(&temporary.path)?;
                Ok((file, OutputFile::named(temporary)))
            }
        }
    }

    fn direct() -> Self {
        Self {
            temporary: None,
            nameless: None,
        }
    }

    fn named(temporary: Temporary) -> Self {
        Self {
            temporary: Some(temporary),
            nameless: None,
        }
    }

    /// Gives the file its name.
    fn finish(self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else {
            return Ok(());
        };
        if let Some(file) = &self.nameless {
            match nameless::name(file, &temporary.path) {
                // Left behind by an earlier process with the same process ID, and no longer needed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    fs::remove_file(&temporary.path)?;
                    nameless::name(file, &temporary.path)?;
                }
                named => named?,
            }
        }
        fs::rename(&temporary.path, &temporary.target)
    }
}

/// Writes a frame as a record of a classic pcap file.
fn write_record(out: &mut impl Write, time_ns: u64, bytes: &[u8]) -> io::Result<()> {
    let length = bytes.len() as u32;
    let packet = PcapPacket::new(Duration::from_nanos(time_ns), length, Cow::Borrowed(bytes))
        .map_err(invalid)?;
    if bytes.len() > MAX_FRAME_BYTES {
        return Err(invalid(PcapValidationError::PacketLenTooBig(
            packet.len(),
            MAX_FRAME_BYTES as u32,
        )));
    }
    let raw = packet.as_raw_packet(RESOLUTION);
    raw.write_to::<_, LittleEndian>(out).map_err(into_io)?;
    Ok(())
}

/// Returns the header of a classic pcap file with nanosecond times.
fn classic_header() -> PcapHeader {
    PcapHeader {
        snaplen: MAX_FRAME_BYTES as u32,
        datalink: DataLink::ETHERNET,
        // The crate's default is microseconds, to which it would silently truncate times.
        ts_resolution: RESOLUTION,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    }
}

fn temporary_name(target: &Path) -> io::Result<PathBuf> {
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    hidden_name(target, &format!(".{}-{serial}.part", process::id()))
}

/// Returns a hidden name beside the target.
fn hidden_name(target: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{}` names no file", target.display()),
        )
    })?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(ending);
    Ok(target.with_file_name(hidden))
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

fn into_io(error: PcapWriteError) -> io::Error {
    match error {
        PcapWriteError::Io(error) | PcapWriteError::FieldWriteFailed(_, error) => error,
        PcapWriteError::Validation(error) => invalid(error),
    }
}
