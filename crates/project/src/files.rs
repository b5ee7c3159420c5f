//! Where the files of a project are read from: the disk, or texts that stand in
//! memory. All that a project names is read through [`Files`], so that it loads and
//! assembles where there is no disk, and with what an editor has not saved yet.

mod disk;
mod memory;
mod noted;
mod overlay;

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

pub use disk::Disk;
pub use memory::MemoryFiles;
pub use noted::{Input, NotedFiles};
pub use overlay::{Overlay, canonical};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Something else that may be read, such as a pipe.
    Other,
}

/// A source of files. Links are followed; a relative path begins where the source
/// says, on the disk in the current folder.
pub trait Files: fmt::Debug {
    /// All bytes of a file.
    ///
    /// # Errors
    /// The file cannot be read, or it is larger than any source is.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What a path leads to.
    ///
    /// # Errors
    /// Nothing is there, or it may not be looked at.
    fn kind(&self, path: &Path) -> io::Result<FileKind>;

    /// The one path of what is there, however it was reached.
    ///
    /// # Errors
    /// As for [`Self::kind`].
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The paths of what is in a folder, in no particular order.
    ///
    /// # Errors
    /// It is no folder, or it may not be looked at.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Whether a regular file is there.
    fn is_file(&self, path: &Path) -> bool {
        self.kind(path).is_ok_and(|kind| kind == FileKind::File)
    }
}

/// A path as seen from a folder, without ways down and up again where that leads to the same
/// place: behind a link it may not.
#[must_use]
pub fn tidy(files: &dyn Files, folder: &Path, path: &Path) -> PathBuf {
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

/// `folder/path`, without a leading `./`.
pub(crate) fn join(folder: &Path, path: &Path) -> PathBuf {
    if folder == Path::new(".") {
        path.to_path_buf()
    } else {
        folder.join(path)
    }
}
