//! The open texts, laid over the files on disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use npsim_project::files::{Disk, FileKind, Files};
use npsim_project::includes::decode;

use super::paths;
use super::position::LineIndex;
use super::text::Text;

/// All open texts by canonical path.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    open: BTreeMap<PathBuf, Rc<Text>>,
    files: Overlay,
    /// Files as they were last read.
    read: RefCell<BTreeMap<PathBuf, Rc<Text>>>,
}

impl Documents {
    /// Enters a text, or another version of one.
    pub fn open(&mut self, path: PathBuf, text: String) {
        let text = Text::new(text);
        let shared = Arc::clone(text.index());
        self.files.0.insert(path.clone(), shared);
        self.open.insert(path, Rc::new(text));
    }

    /// Forgets a text.
    pub fn close(&mut self, path: &Path) {
        self.files.0.remove(path);
        self.open.remove(path);
    }

    /// Paths of the open texts.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.open.keys()
    }

    /// The text of a file: the open one, or else the one on disk.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<Rc<Text>> {
        match self.open.get(path) {
            Some(text) => Some(Rc::clone(text)),
            None => Some(self.known(path, &decode(Disk.read(path).ok()?))),
        }
    }

    /// The text of a file that has been read: what is known of it already, if it is the
    /// same.
    #[must_use]
    pub fn known(&self, path: &Path, text: &str) -> Rc<Text> {
        let mut read = self.read.borrow_mut();
        let known = [self.open.get(path), read.get(path)];
        let same = |it: &&Rc<Text>| it.as_bytes() == text.as_bytes();
        if let Some(known) = known.into_iter().flatten().find(same) {
            return Rc::clone(known);
        }
        let new = Rc::new(Text::new(text));
        read.insert(path.to_path_buf(), Rc::clone(&new));
        new
    }

    /// The disk as it will be when all open texts are saved.
    #[must_use]
    pub const fn files(&self) -> &Overlay {
        &self.files
    }
}

/// The disk as it will be when all open texts are saved.
#[derive(Clone, Debug, Default)]
pub struct Overlay(BTreeMap<PathBuf, Arc<LineIndex>>);

impl Files for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.0.get(&paths::canonical(path)) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => Disk.read(path),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        match self.0.get(&paths::canonical(path)) {
            Some(_) => Ok(FileKind::File),
            None => Disk.kind(path),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let place = paths::canonical(path);
        match self.0.get(&place) {
            Some(_) => Ok(place),
            None => Disk.canonical(path),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        Disk.list(folder)
    }
}
