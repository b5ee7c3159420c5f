//! The texts that are open in the editor, laid over the files on disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use super::text::Text;
use super::{paths, position};
use npsim::files::{Disk, FileKind, Files};
use npsim::includes::decode;

/// An open text.
#[derive(Clone, Debug)]
pub struct Document {
    /// As the editor names it.
    pub uri: Uri,
    /// Its version, as the editor counts.
    pub version: i32,
    /// The text.
    pub text: Rc<Text>,
}

/// All open texts by canonical path.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    open: BTreeMap<PathBuf, Document>,
    files: Overlay,
    /// Files as they were last read.
    read: RefCell<BTreeMap<PathBuf, Rc<Text>>>,
}

impl Documents {
    /// Enters a text.
    pub fn open(&mut self, path: PathBuf, document: Document) {
        self.files.0.insert(path.clone(), document.text.shared());
        self.open.insert(path, document);
    }

    /// Forgets a text.
    pub fn close(&mut self, path: &Path) {
        self.files.0.remove(path);
        self.open.remove(path);
    }

    /// The open text of a file.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    /// Paths of the open texts.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.open.keys()
    }

    /// Changes an open text.
    pub fn change(
        &mut self,
        path: &Path,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) {
        let Some(document) = self.open.get_mut(path) else {
            return;
        };
        document.version = version;
        let mut text = document.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let start = position::offset(&text, range.start);
                    let end = position::offset(&text, range.end).max(start);
                    text.replace_range(start..end, &change.text);
                }
            }
        }
        document.text = Rc::new(Text::new(text));
        let shared = document.text.shared();
        self.files.0.insert(path.to_path_buf(), shared);
    }

    /// The text of a file: the open one, or else the one on disk.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<Rc<Text>> {
        match self.open.get(path) {
            Some(document) => Some(Rc::clone(&document.text)),
            None => Some(self.known(path, &decode(Disk.read(path).ok()?))),
        }
    }

    /// The text of a file that has been read: what is known of it already, if it is the
    /// same.
    #[must_use]
    pub fn known(&self, path: &Path, text: &str) -> Rc<Text> {
        if let Some(document) = self.open.get(path)
            && **document.text == *text
        {
            return Rc::clone(&document.text);
        }
        let mut read = self.read.borrow_mut();
        match read.get(path) {
            Some(known) if ***known == *text => Rc::clone(known),
            _ => {
                let new = Rc::new(Text::new(text));
                read.insert(path.to_path_buf(), Rc::clone(&new));
                new
            }
        }
    }

    /// The disk as it will be when all open texts are saved.
    #[must_use]
    pub const fn files(&self) -> &Overlay {
        &self.files
    }
}

/// The disk as it will be when all open texts are saved.
#[derive(Clone, Debug, Default)]
pub struct Overlay(BTreeMap<PathBuf, Arc<str>>);

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
