//! The open texts, which take precedence over the files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use npsim_project::files::{Files, Overlay};
use npsim_project::includes::decode;

use super::text::Text;

/// All open texts by canonical path.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    open: BTreeMap<PathBuf, Rc<Text>>,
    files: Overlay,
    /// Files as last read.
    read: RefCell<BTreeMap<PathBuf, Rc<Text>>>,
}

impl Documents {
    /// No open texts, with these files.
    #[must_use]
    pub fn over(files: Overlay) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }

    /// Opens a text, or replaces it by a new version.
    pub fn open(&mut self, path: PathBuf, text: String) {
        let text = Text::new(text);
        self.files.insert(&path, text.index().text());
        self.open.insert(path, Rc::new(text));
    }

    /// Closes a text.
    pub fn close(&mut self, path: &Path) {
        self.files.remove(path);
        self.open.remove(path);
    }

    /// Paths of the open texts.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.open.keys()
    }

    /// The text of a file: the open one, or otherwise that of the files.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<Rc<Text>> {
        match self.open.get(path) {
            Some(text) => Some(Rc::clone(text)),
            None => Some(self.known(path, &decode(self.files.read(path).ok()?))),
        }
    }

    /// The `Text` for a file's content, reusing the known one if it is the same.
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

    /// The files as they will be once all open texts are saved.
    #[must_use]
    pub const fn files(&self) -> &Overlay {
        &self.files
    }
}
