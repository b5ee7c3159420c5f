//! Output files that are either complete or absent: written beside the target under a temporary
//! name and renamed at the end.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

pub use npsim_net::standard_output::is_standard_output;

use npsim_net::compression::{Compression, Compressor};
use npsim_net::standard_output;

/// Whether two paths name the same regular file, or will once it is written.
#[must_use]
pub fn same_file(one: &Path, other: &Path) -> bool {
    if is_standard_output(one) || is_standard_output(other) {
        return false;
    }
    let whole = |path: &Path| {
        std::fs::canonicalize(path).or_else(|error| {
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            let name = path.file_name().ok_or(error)?;
            Ok::<_, io::Error>(std::fs::canonicalize(folder)?.join(name))
        })
    };
    match (whole(one), whole(other)) {
        (Ok(one), Ok(other)) => {
            // A target that is not a regular file (a pipe, `/dev/null`) can have any number of
            // writers.
            one == other && std::fs::metadata(&one).map_or(true, |file| file.is_file())
        }
        _ => false,
    }
}

/// A file that is written gradually and appears once it is complete, compressed if its name ends in
/// `.gz` or `.zst`. An existing target that is not a regular file (a pipe, `/dev/null`) is written
/// to directly, and so is standard output, named `-`.
#[derive(Debug)]
pub struct AtomicFile(Compressor<BufWriter<WritePlace>>);

#[derive(Debug)]
enum WritePlace {
    Beside(tempfile::NamedTempFile, PathBuf),
    Direct(File),
}

impl AtomicFile {
    /// Creates a file.
    ///
    /// # Errors
    /// Returns an error if the path is that of a folder, or nothing can be written there.
    pub fn create(path: &Path) -> io::Result<Self> {
        let place = BufWriter::new(WritePlace::create(path)?);
        Ok(Self(Compressor::new(Compression::of_name(path), place)))
    }

    /// Completes the file and gives it its final name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be completed or renamed; an existing file stays as it
    /// was.
    pub fn commit(self) -> io::Result<()> {
        let place = self.0.finish()?;
        place
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .commit()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl WritePlace {
    fn create(path: &Path) -> io::Result<Self> {
        if is_standard_output(path) {
            return Ok(Self::Direct(standard_output::open()?));
        }
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let before = std::fs::metadata(&target);
        match &before {
            Ok(existing) if existing.is_dir() => {
                return Err(io::Error::new(
                    io::ErrorKind::IsADirectory,
                    "it is a directory; name a file in it",
                ));
            }
            Ok(existing) if !existing.is_file() => {
                let file = std::fs::OpenOptions::new().write(true).open(&target)?;
                return Ok(Self::Direct(file));
            }
            _ => {}
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".npsim-").suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        // The new file gets the permissions of the one that it replaces.
        if let Ok(existing) = before {
            file.as_file().set_permissions(existing.permissions())?;
        }
        Ok(Self::Beside(file, target))
    }

    fn commit(self) -> io::Result<()> {
        match self {
            Self::Beside(file, target) => {
                file.persist(&target).map_err(|error| error.error)?;
                Ok(())
            }
            Self::Direct(_) => Ok(()),
        }
    }
}

impl Write for WritePlace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file, _) => file.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file, _) => file.flush(),
            Self::Direct(file) => file.flush(),
        }
    }
}

/// Checks in advance whether an [`AtomicFile`] can be created at `path`. Leaves nothing behind, and
/// does not change an existing file.
///
/// # Errors
/// See [`AtomicFile::create`].
pub fn check_creatable(path: &Path) -> io::Result<()> {
    let other = |it: std::fs::Metadata| !it.is_file() && !it.is_dir();
    // Opening a pipe and closing it again would signal its end to the reader.
    if std::fs::metadata(path).is_ok_and(other) {
        return Ok(());
    }
    WritePlace::create(path).map(drop)
}

/// Writes `bytes` to `path` through an [`AtomicFile`].
///
/// # Errors
/// Returns an error if the file cannot be created, written or renamed; an existing file stays as it
/// was.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at files as they are")]
mod tests {
    use super::{check_creatable, same_file, write_atomically};
    use npsim_net::compression::{Compression, Decompressor};
    use std::io::Read as _;
    use std::path::Path;

    #[test]
    fn write_replaces_the_file_and_leaves_no_temporary() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("out.json");
        write_atomically(&path, b"one")?;
        write_atomically(&path, b"two")?;
        assert_eq!(std::fs::read(&path)?, b"two");
        assert_eq!(std::fs::read_dir(dir.path())?.count(), 1);
        assert!(write_atomically(dir.path(), b"x").is_err());
        assert!(write_atomically(&dir.path().join("no/such"), b"x").is_err());
        if cfg!(unix) {
            write_atomically(Path::new("/dev/null"), b"x")?;
        }
        Ok(())
    }

    #[test]
    fn compression_follows_the_file_extension() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let data = "0x1234, ".repeat(300_000);
        for (name, compression) in [
            ("a.csv", None),
            ("a.csv.gz", Some(Compression::Gzip)),
            ("a.csv.ZST", Some(Compression::Zstd)),
        ] {
            let path = dir.path().join(name);
            write_atomically(&path, data.as_bytes())?;
            let bytes = std::fs::read(&path)?;
            assert_eq!(Compression::of_data(&bytes), compression);
            let mut read = String::new();
            match compression {
                None => read.push_str(std::str::from_utf8(&bytes).unwrap_or_default()),
                Some(it) => {
                    assert!(bytes.len() < data.len() / 10, "{name}: {}", bytes.len());
                    let bytes = Box::new(std::io::Cursor::new(bytes));
                    Decompressor::new(it, bytes).read_to_string(&mut read)?;
                }
            }
            assert!(read == data, "{name}");
        }
        Ok(())
    }

    #[test]
    fn check_creatable_leaves_the_folder_unchanged() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("out.json");
        check_creatable(&path)?;
        assert_eq!(std::fs::read_dir(dir.path())?.count(), 0);
        write_atomically(&path, b"good")?;
        check_creatable(&path)?;
        assert_eq!(std::fs::read(&path)?, b"good");
        assert_eq!(std::fs::read_dir(dir.path())?.count(), 1);
        assert!(check_creatable(dir.path()).is_err(), "a folder");
        assert!(
            check_creatable(&path.join("below")).is_err(),
            "below a file"
        );
        if cfg!(unix) {
            check_creatable(Path::new("/dev/null"))?;
        }
        Ok(())
    }

    #[test]
    fn same_file_recognises_equivalent_paths() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = |name: &str| dir.path().join(name);
        write_atomically(&path("a"), b"")?;
        assert!(same_file(&path("a"), &path("./a")));
        assert!(!same_file(&path("a"), &path("b")));
        assert!(same_file(&path("not yet"), &path("./not yet")));
        assert!(!same_file(Path::new("/dev/null"), Path::new("/dev/null")));
        Ok(())
    }
}
