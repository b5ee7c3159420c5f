//! The texts that are open in the editor, laid over the files on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use std::io;

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use super::{paths, position};
use crate::files::{Disk, Files, Kind};
use crate::includes::decode;

/// An open text.
#[derive(Clone, Debug)]
pub struct Document {
    /// As the editor names it.
    pub uri: Uri,
    /// Its version, as the editor counts.
    pub version: i32,
    /// The text.
    pub text: String,
}

/// All open texts by canonical path.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    open: BTreeMap<PathBuf, Document>,
}

impl Documents {
    /// Enters a text.
    pub fn open(&mut self, path: PathBuf, document: Document) {
        self.open.insert(path, document);
    }

    /// Forgets a text.
    pub fn close(&mut self, path: &Path) {
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
        for change in changes {
            match change.range {
                None => document.text = change.text,
                Some(range) => {
                    let start = position::offset(&document.text, range.start);
                    let end = position::offset(&document.text, range.end).max(start);
                    document.text.replace_range(start..end, &change.text);
                }
            }
        }
    }

    /// The text of a file: the open one, or else the one on disk.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<String> {
        match self.open.get(path) {
            Some(document) => Some(document.text.clone()),
            None => Disk.read(path).ok().map(decode),
        }
    }
}

/// The disk as it will be when all open texts are saved.
impl Files for Documents {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.get(&paths::canonical(path)) {
            Some(document) => Ok(document.text.clone().into_bytes()),
            None => Disk.read(path),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        match self.get(&paths::canonical(path)) {
            Some(_) => Ok(Kind::File),
            None => Disk.kind(path),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let place = paths::canonical(path);
        match self.get(&place) {
            Some(_) => Ok(place),
            None => Disk.canonical(path),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        Disk.list(folder)
    }
}
