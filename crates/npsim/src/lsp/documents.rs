//! The texts that are open in the editor, laid over the files on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use npsim_asm::Includes;

use super::{paths, position};
use crate::includes::{FileIncludes, decode};

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
            None => std::fs::read(path).ok().map(decode),
        }
    }
}

/// Includes that see the open texts.
pub struct Overlay<'a> {
    /// The open texts.
    pub documents: &'a Documents,
    /// Where files are looked for.
    pub files: FileIncludes,
}

impl Includes for Overlay<'_> {
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String> {
        for path in self.files.candidates(name, including) {
            if let Some(document) = self.documents.get(&paths::canonical(&path)) {
                return Ok((path.display().to_string(), document.text.clone()));
            }
            if path.is_file() {
                break;
            }
        }
        self.files.load(name, including)
    }
}
