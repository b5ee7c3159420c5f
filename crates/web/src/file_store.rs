//! The files of a page: one set, shared by projects, captures and the language analysis.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use npsim::files::{FileKind, Files, MemoryFiles};
use npsim::problem::Problem;

/// The maximum size of a file, in bytes.
const MAX_FILE_BYTES: usize = 64 << 20;
/// The maximum size of all files together, in bytes.
const MAX_TOTAL_BYTES: usize = 160 << 20;

/// A shared set of files in memory.
#[derive(Clone, Debug, Default)]
pub struct FileStore(Arc<RwLock<MemoryFiles>>);

impl FileStore {
    fn files(&self) -> RwLockReadGuard<'_, MemoryFiles> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a file, replacing one with the same path.
    ///
    /// # Errors
    /// Returns an error if the file, or all of them together, would take too much memory.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) -> Result<(), Problem> {
        let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
        if bytes.len() > MAX_FILE_BYTES {
            let message = format!(
                "`{}` has {} MB, and a file here has {} MB at most",
                path.display(),
                megabytes(bytes.len()),
                megabytes(MAX_FILE_BYTES)
            );
            let help = "cut a capture with `editcap -r` or `-c`, or compress it with gzip";
            return Err(Problem::new(message).help(help));
        }
        let mut files = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before: usize = files.below("/").map(|(_, bytes)| bytes.len()).sum();
        if before + bytes.len() > MAX_TOTAL_BYTES {
            let message = format!(
                "all files together would have {} MB, and {} MB are the most",
                megabytes(before + bytes.len()),
                megabytes(MAX_TOTAL_BYTES)
            );
            return Err(Problem::new(message).help("remove files that are not needed"));
        }
        files.insert(path, bytes);
        Ok(())
    }

    /// Removes a file, or a folder with everything below it; returns the number of files removed.
    pub fn remove(&self, path: &Path) -> usize {
        let mut files = self.0.write().unwrap_or_else(PoisonError::into_inner);
        files.remove(path)
    }

    /// The files below a folder, with their sizes.
    pub fn sizes(&self, folder: &Path) -> Vec<(PathBuf, usize)> {
        let files = self.files();
        let below = files.below(folder);
        below
            .map(|(path, bytes)| (path.to_path_buf(), bytes.len()))
            .collect()
    }

    /// The text of a file.
    pub fn text(&self, path: &Path) -> Option<String> {
        let bytes = self.read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The canonical path of a file, as a page uses it.
    pub fn path(&self, path: impl AsRef<Path>) -> String {
        let path = path.as_ref();
        let whole = self.canonical(path);
        whole
            .unwrap_or_else(|_| path.to_path_buf())
            .display()
            .to_string()
    }
}

impl Files for FileStore {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files().read(path)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.files().kind(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files().canonical(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.files().list(folder)
    }
}
