//! The files of the operating system.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{FileKind, Files};

/// The longest source, project or image that is read; far beyond any real one.
const LONGEST: u64 = 64 << 20;

/// What lies on the disk, relative paths from the current folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    /// A file without an end (`/dev/zero`) is an error, not the end of the machine's
    /// memory.
    #[expect(clippy::disallowed_methods, reason = "this is where files are read")]
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?
            .take(LONGEST + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LONGEST {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it has more than 64 MiB, more than any source",
            ));
        }
        Ok(bytes)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let found = fs::metadata(path)?;
        Ok(if found.is_file() {
            FileKind::File
        } else if found.is_dir() {
            FileKind::Folder
        } else {
            FileKind::Other
        })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Disk, Files as _};
    use std::path::Path;

    #[test]
    fn a_text_without_an_end_is_an_error() {
        let error = Disk.read(Path::new("/dev/zero")).expect_err("too large");
        assert!(error.to_string().contains("64 MiB"), "{error}");
    }
}
