//! A source of files that records what was read.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FileKind, Files};

/// A file that was read to produce a result, with its contents at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The path that was read.
    pub path: PathBuf,
    /// The contents.
    pub bytes: Arc<[u8]>,
}

/// Wraps another source of files and records what is read from it. Code that must know all inputs
/// of a result reads through it, so that none can be missed.
#[derive(Debug)]
pub struct TrackedFiles<'a> {
    files: &'a dyn Files,
    inputs: RefCell<Vec<Input>>,
}

impl<'a> TrackedFiles<'a> {
    /// Creates a recorder over `files`.
    #[must_use]
    pub fn new(files: &'a dyn Files) -> Self {
        Self {
            files,
            inputs: RefCell::default(),
        }
    }

    /// Returns the files that were read, each once, in the order of their first reads.
    #[must_use]
    pub fn into_inputs(self) -> Vec<Input> {
        self.inputs.into_inner()
    }
}

impl Files for TrackedFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.files.read(path)?;
        let mut inputs = self.inputs.borrow_mut();
        if !inputs.iter().any(|input| input.path == path) {
            inputs.push(Input {
                path: path.to_path_buf(),
                bytes: bytes.as_slice().into(),
            });
        }
        Ok(bytes)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        self.files.kind(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.files.list(folder)
    }
}
