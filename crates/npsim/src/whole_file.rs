//! Output files that are whole or not there: written beside the target under a
//! temporary name and renamed at the end.

use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to `path`. What exists there and is no regular file (a pipe,
/// `/dev/null`) is written to directly.
///
/// # Errors
/// The file cannot be made, written or renamed; an older one stays as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match std::fs::metadata(&target) {
        Ok(existing) if existing.is_dir() => {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                "it is a directory; name a file in it",
            ));
        }
        Ok(existing) if !existing.is_file() => {
            return std::fs::OpenOptions::new()
                .write(true)
                .open(&target)?
                .write_all(bytes);
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
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::write_whole;

    #[test]
    fn replaces_and_leaves_nothing_beside() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("out.json");
        write_whole(&path, b"one")?;
        write_whole(&path, b"two")?;
        assert_eq!(std::fs::read(&path)?, b"two");
        assert_eq!(std::fs::read_dir(dir.path())?.count(), 1);
        assert!(write_whole(dir.path(), b"x").is_err());
        assert!(write_whole(&dir.path().join("no/such"), b"x").is_err());
        write_whole(std::path::Path::new("/dev/null"), b"x")
    }
}
