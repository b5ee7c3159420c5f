//! The files of the operating system.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use npsim_net::inputs;

use super::{FileKind, Files};

/// Longest source, project or image that is read, in bytes; far beyond any real one.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The files on the disk; relative paths start at the current folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    /// Reads a file. A file without an end (`/dev/zero`) gives an error instead of exhausting the
    /// memory.
    #[expect(clippy::disallowed_methods, reason = "this is where files are read")]
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        inputs::note_read(path);
        let mut bytes = Vec::new();
        File::open(path)?
            .take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it has more than 64 MiB, more than any source",
            ));
        }
        Ok(bytes)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        inputs::note_existence(path);
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
        resolved(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    }
}

/// Returns the canonical path of a file, in the form that other programs and URIs accept.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).map(strip_verbatim_prefix)
}

/// Removes the prefix that Windows puts before the drive of a canonical path (`\\?\C:\a`).
fn strip_verbatim_prefix(path: PathBuf) -> PathBuf {
    let rest = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    let of_drive = rest.filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
    match of_drive {
        Some(plain) => PathBuf::from(plain),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::{Disk, Files as _, strip_verbatim_prefix};
    use std::path::{Path, PathBuf};

    #[test]
    fn windows_verbatim_prefix_is_removed() {
        for (resolved, plain) in [
            (r"\\?\C:\npsim\a.uc", r"C:\npsim\a.uc"),
            (r"\\?\UNC\server\a.uc", r"\\?\UNC\server\a.uc"),
            ("/npsim/a.uc", "/npsim/a.uc"),
        ] {
            assert_eq!(
                strip_verbatim_prefix(PathBuf::from(resolved)),
                PathBuf::from(plain)
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn endless_file_is_refused() {
        let error = Disk.read(Path::new("/dev/zero")).expect_err("too large");
        assert!(error.to_string().contains("64 MiB"), "{error}");
    }
}
