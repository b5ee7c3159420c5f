//! The shipped microcode, copied to where it may be changed.

use std::path::{Path, PathBuf};

/// A text in a file of `microcode` and what stands there instead, at every place.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// The file, below `microcode`.
    pub file: &'static str,
    /// The text.
    pub from: &'static str,
    /// What stands there instead.
    pub to: &'static str,
}

/// The folder `microcode` of the repository.
#[must_use]
pub fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode")
}

/// Copies a folder with all that is in it.
///
/// # Panics
/// If a file cannot be read or written.
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

/// Copies the shipped microcode and changes it.
///
/// # Panics
/// If a text is nowhere in its file: the microcode has moved on and the edit would prove nothing.
pub fn changed(to: &Path, edits: &[Edit]) {
    copy(&shipped(), to);
    for edit in edits {
        let file = to.join(edit.file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(edit.from), "{edit:?} has no place");
        std::fs::write(&file, text.replace(edit.from, edit.to)).unwrap();
    }
}
