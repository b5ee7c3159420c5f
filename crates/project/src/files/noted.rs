//! A source of files that notes what it gave.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FileKind, Files};

/// A file that was read on the way to something, as it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it was read.
    pub path: PathBuf,
    /// What it held.
    pub bytes: Arc<[u8]>,
}

/// Another source of files with a list of what was read from it. What must know all that a result
/// depends on reads through it, so that no reader can be forgotten.
#[derive(Debug)]
pub struct NotedFiles<'a> {
    files: &'a dyn Files,
    inputs: RefCell<Vec<Input>>,
}

impl<'a> NotedFiles<'a> {
    /// Reads from `files`.
    #[must_use]
    pub fn new(files: &'a dyn Files) -> Self {
        Self {
            files,
            inputs: RefCell::default(),
        }
    }

    /// The files that were read, each once, in the order in which they were first read.
    #[must_use]
    pub fn into_inputs(self) -> Vec<Input> {
        self.inputs.into_inner()
    }
}

impl Files for NotedFiles<'_> {
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
