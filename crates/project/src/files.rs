//! Sources of a project's files: the disk, or texts held in memory. Everything that a project names
//! is read through [`Files`], so that it can be loaded and assembled without a disk, and with the
//! unsaved contents of an editor.

mod disk;
mod memory;
mod overlay;
mod shown;
mod tracked;

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

pub use disk::Disk;
pub use memory::MemoryFiles;
pub use overlay::{Overlay, canonical};
pub use shown::readable_source;
pub use tracked::{Input, TrackedFiles};

/// The kind of file that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Anything else that can be read, such as a pipe.
    Other,
}

/// A source of files. Links are followed; relative paths start at a folder that the source defines,
/// which on the disk is the current one.
pub trait Files: fmt::Debug {
    /// Returns all bytes of a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is larger than any source.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Returns the kind of file that a path leads to.
    ///
    /// # Errors
    /// Returns an error if nothing exists there, or access is denied.
    fn kind(&self, path: &Path) -> io::Result<FileKind>;

    /// Returns the canonical path of a file, however it was reached.
    ///
    /// # Errors
    /// See [`Self::kind`].
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the paths of the entries of a folder, in no particular order.
    ///
    /// # Errors
    /// Returns an error if it is not a folder, or access is denied.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Whether a regular file exists at a path.
    fn is_file(&self, path: &Path) -> bool {
        self.kind(path).is_ok_and(|kind| kind == FileKind::File)
    }
}

/// Simplifies a path relative to a folder by removing `NAME/..`, where that leads to the same
/// place: behind a link it may not.
#[must_use]
pub fn simplify_path(files: &dyn Files, folder: &Path, path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        let last = short.components().next_back();
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(last, Some(Component::Normal(_))) => {
                short.pop();
            }
            other => short.push(other),
        }
    }
    if short == path {
        return short;
    }
    let place = |path: &Path| files.canonical(&join(folder, path)).ok();
    if place(&short).is_some_and(|there| Some(there) == place(path)) {
        short
    } else {
        path.to_path_buf()
    }
}

/// Returns `folder/path`, without a leading `./`.
pub(crate) fn join(folder: &Path, path: &Path) -> PathBuf {
    if folder == Path::new(".") {
        path.to_path_buf()
    } else {
        folder.join(path)
    }
}
