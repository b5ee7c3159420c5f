//! Copies of the shipped microcode that tests can change.

use std::path::{Path, PathBuf};

/// A replacement of a text in a file of `microcode`, applied wherever the text occurs.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// The file, relative to `microcode`.
    pub file: &'static str,
    /// The text to replace.
    pub from: &'static str,
    /// The replacement.
    pub to: &'static str,
}

/// The folder `microcode` of the repository.
#[must_use]
pub fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode")
}

/// Copies a folder recursively.
///
/// # Panics
/// Panics if a file cannot be read or written.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Copies the shipped microcode and edits it.
///
/// # Panics
/// Panics if a text does not occur in its file: the microcode has changed and the edit would
/// prove nothing.
pub fn changed(to: &Path, edits: &[Edit]) {
    copy(&shipped(), to);
    for edit in edits {
        let file = to.join(edit.file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(edit.from), "{edit:?} has no place");
        std::fs::write(&file, text.replace(edit.from, edit.to)).unwrap();
    }
}
