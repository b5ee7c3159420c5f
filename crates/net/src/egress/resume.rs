//! Captures and other files that a later process can continue.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::Crc;

use super::tally::{CountedFile, Position};
use super::{OutputFile, Temporary, hidden_name};
use crate::compression::Compression;
use crate::standard_output::is_standard_output;

/// A file that is written gradually under a temporary name. That name depends only on the final one,
/// and the file survives when it is dropped or the process is killed, so that a later process can
/// continue it.
#[derive(Debug)]
pub struct ResumableFile {
    file: CountedFile,
    target: OutputFile,
}

impl ResumableFile {
    /// Creates the file whose final name is `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, `path` is something other than a regular file,
    /// or another process writes the same file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, target) = begin(path)?;
        Ok(Self { file, target })
    }

    /// Continues a file from `position`; anything after that is dropped. If the file was completed in
    /// the meantime, a copy of its beginning is continued, and `path` keeps its content until
    /// [`commit`](Self::commit).
    ///
    /// # Errors
    /// Returns an error if neither file begins with the data written up to `position`, a file cannot be
    /// read or written, or another process writes the same file.
    pub fn resume(path: &Path, position: &Position) -> io::Result<Self> {
        let (file, target) = reopen(path, position)?;
        Ok(Self { file, target })
    }

    /// Returns the current position. Everything before it is then on the disk, as far as the system
    /// reports.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn position(&mut self) -> io::Result<Position> {
        self.file.position(0)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Returns an error if the rest cannot be written or the file cannot be renamed.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.target.finish()
    }
}

impl Write for ResumableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Creates an empty temporary file for the final name `path`.
pub(super) fn begin(path: &Path) -> io::Result<(CountedFile, OutputFile)> {
    let temporary = Temporary::resumable(path)?;
    let file = open(&temporary.path)?;
    file.set_len(0)?;
    Ok((
        CountedFile::new(file, Crc::new(), 0),
        OutputFile::named(temporary),
    ))
}

/// Reopens a temporary file at `position`; anything after that is dropped.
pub(super) fn reopen(path: &Path, position: &Position) -> io::Result<(CountedFile, OutputFile)> {
    let temporary = Temporary::resumable(path)?;
    let found = match open_partial(&temporary.path, position)? {
        Some(found) => Some(found),
        None => copy_completed(&temporary, position)?,
    };
    let Some((file, sum)) = found else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "neither `{}` nor `{}` begins with the {} bytes that were written before",
                temporary.path.display(),
                temporary.target.display(),
                position.bytes
            ),
        ));
    };
    let file = CountedFile::new(file, sum, position.bytes);
    Ok((file, OutputFile::named(temporary)))
}

impl Temporary {
    fn resumable(path: &Path) -> io::Result<Self> {
        if is_standard_output(path) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a later run could not go on with standard output",
            ));
        }
        if let Some(compression) = Compression::of_name(path) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "a later run could not go on with compressed data; let the name not end in .{}",
                    compression.ending()
                ),
            ));
        }
        // A symbolic link is kept.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if fs::metadata(&target).is_ok_and(|existing| !existing.is_file()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is not a regular file, so a later run could not go on with it",
            ));
        }
        Ok(Self {
            path: hidden_name(&target, ".npsim-part")?,
            target,
            keep: true,
        })
    }
}

/// Opens a temporary file for exclusive use.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    match file.try_lock() {
        // Some file systems have no locks; there, nothing keeps two runs apart.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another run is writing it",
        )),
    }
}

/// Opens the temporary file, truncated to where it is to be continued, if its content up to there is as
/// expected.
fn open_partial(path: &Path, position: &Position) -> io::Result<Option<(File, Crc)>> {
    if !path.exists() {
        return Ok(None);
    }
    let mut file = open(path)?;
    let Some(sum) = copy_beginning(&mut file, position, &mut io::sink())? else {
        return Ok(None);
    };
    file.set_len(position.bytes)?;
    file.seek(SeekFrom::Start(position.bytes))?;
    Ok(Some((file, sum)))
}

/// Creates a new temporary file with the beginning of the completed one.
fn copy_completed(temporary: &Temporary, position: &Position) -> io::Result<Option<(File, Crc)>> {
    let mut whole = match File::open(&temporary.target) {
        Ok(whole) => whole,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if copy_beginning(&mut whole, position, &mut io::sink())?.is_none() {
        return Ok(None);
    }
    whole.rewind()?;
    let mut part = open(&temporary.path)?;
    part.set_len(0)?;
    let sum = copy_beginning(&mut whole, position, &mut part)?;
    Ok(sum.map(|sum| (part, sum)))
}

/// Copies the data before `position` to `out`; returns their checksum if it is as expected.
fn copy_beginning(
    file: &mut File,
    position: &Position,
    out: &mut dyn Write,
) -> io::Result<Option<Crc>> {
    let mut sum = Crc::new();
    let mut left = position.bytes;
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let most = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        match file.read(&mut buffer[..most])? {
            0 => return Ok(None),
            bytes => {
                sum.update(&buffer[..bytes]);
                out.write_all(&buffer[..bytes])?;
                left -= bytes as u64;
            }
        }
    }
    Ok((sum.sum() == position.checksum).then_some(sum))
}

#[cfg(test)]
mod tests {
    use super::{Position, ResumableFile};
    use crate::egress::{CaptureFormat, CapturePort, TraceSink};
    use std::io::{self, Write};
    use std::path::Path;

    fn pcap(path: &Path) -> io::Result<TraceSink> {
        TraceSink::create_resumable(path, CaptureFormat::Pcap, &[])
    }

    fn resumed(path: &Path, position: &Position) -> io::Result<TraceSink> {
        TraceSink::resume(path, CaptureFormat::Pcap, &[], position)
    }

    fn fill(sink: &mut TraceSink, frames: std::ops::Range<u64>) {
        for frame in frames {
            sink.write(0, frame, &[frame as u8; 60]).unwrap();
        }
    }

    fn whole(folder: &Path) -> Vec<u8> {
        let path = folder.join("whole");
        let mut sink = TraceSink::create(&path, CaptureFormat::Pcap, &[]).unwrap();
        fill(&mut sink, 0..20);
        sink.finish().unwrap();
        std::fs::read(path).unwrap()
    }

    /// Writes a capture that is abandoned 8 frames after its position.
    fn abandoned(path: &Path) -> Position {
        let mut sink = pcap(path).unwrap();
        fill(&mut sink, 0..5);
        let position = sink.position().unwrap().unwrap();
        assert_eq!((position.frames, position.bytes), (5, 24 + 5 * 76));
        fill(&mut sink, 90..98);
        position
    }

    #[test]
    fn capture_resumes_at_its_position() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let position = abandoned(&path);
        assert!(!path.exists());
        // The second time, it has been completed.
        for _ in 0..2 {
            let mut sink = resumed(&path, &position).unwrap();
            fill(&mut sink, 5..20);
            assert_eq!(sink.frames(), 20);
            sink.finish().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole(folder.path()));
        }
        let left = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(left.count(), 2, "no part is left");
    }

    #[test]
    fn multi_port_captures_resume() {
        let folder = tempfile::tempdir().unwrap();
        let seen_at = [CapturePort::port(0, 1), CapturePort::port(1, 2)];
        let fill = |sink: &mut TraceSink, frames: std::ops::Range<u64>| {
            for frame in frames {
                let comment = (frame % 3 == 0).then_some("lost");
                let bytes = [frame as u8; 61];
                sink.write_commented((frame % 2) as u32, frame, &bytes, comment)
                    .unwrap();
            }
        };
        for form in [CaptureFormat::Pcap, CaptureFormat::PcapNg] {
            let (whole, path) = (folder.path().join("whole"), folder.path().join("out"));
            let mut sink = TraceSink::create(&whole, form, &seen_at).unwrap();
            fill(&mut sink, 0..20);
            sink.finish().unwrap();
            let mut sink = TraceSink::create_resumable(&path, form, &seen_at).unwrap();
            fill(&mut sink, 0..5);
            let position = sink.position().unwrap().unwrap();
            fill(&mut sink, 90..98);
            drop(sink);
            let mut sink = TraceSink::resume(&path, form, &seen_at, &position).unwrap();
            assert_eq!(sink.position().unwrap(), Some(position));
            fill(&mut sink, 5..20);
            sink.finish().unwrap();
            assert_eq!(
                std::fs::read(&path).unwrap(),
                std::fs::read(&whole).unwrap()
            );
        }
    }

    #[test]
    fn compressed_files_cannot_be_resumed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["out.pcap.gz", "out.pcap.ZST"] {
            let error = pcap(&folder.path().join(name)).unwrap_err();
            assert!(error.to_string().contains("compressed"), "{error}");
            assert!(ResumableFile::create(&folder.path().join(name)).is_err());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn files_other_than_captures_resume() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let mut file = ResumableFile::create(&path).unwrap();
        file.write_all(b"a,b\n1,2\n").unwrap();
        let position = file.position().unwrap();
        file.write_all(b"5,6\n").unwrap();
        drop(file);
        assert!(!path.exists());
        let mut file = ResumableFile::resume(&path, &position).unwrap();
        file.write_all(b"3,4\n").unwrap();
        file.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"a,b\n1,2\n3,4\n");
    }

    #[test]
    fn resuming_another_capture_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let position = abandoned(&path);
        for wrong in [
            Position {
                checksum: 1,
                ..position
            },
            Position {
                bytes: u64::MAX,
                ..position
            },
        ] {
            let error = resumed(&path, &wrong).unwrap_err();
            assert!(error.to_string().contains("begins with"), "{error}");
        }
        assert!(resumed(&path, &position).is_ok());
    }

    #[test]
    fn two_runs_cannot_write_one_capture() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let first = pcap(&path).unwrap();
        let error = pcap(&path).unwrap_err();
        assert!(error.to_string().contains("another run"), "{error}");
        drop(first);
        assert!(pcap(&path).is_ok());
        assert!(pcap(folder.path()).is_err(), "a directory");
    }
}
