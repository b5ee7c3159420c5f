//! Texts that replace files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::disk::resolved;
use super::{Disk, FileKind, Files};

/// Files, by default those on the disk, some of which are replaced or supplemented by texts:
/// unsaved contents of an editor, or a project without a file.
#[derive(Clone, Debug)]
pub struct Overlay {
    below: Arc<dyn Files + Send + Sync>,
    texts: BTreeMap<PathBuf, Arc<str>>,
}

impl Default for Overlay {
    fn default() -> Self {
        Self::over(Arc::new(Disk))
    }
}

impl Overlay {
    /// Creates an overlay without texts over these files.
    #[must_use]
    pub fn over(below: Arc<dyn Files + Send + Sync>) -> Self {
        Self {
            below,
            texts: BTreeMap::new(),
        }
    }

    /// Adds a text.
    pub fn insert(&mut self, path: &Path, text: impl Into<Arc<str>>) {
        self.texts.insert(canonical(path), text.into());
    }

    /// Removes a text, so that the file below becomes visible again.
    pub fn remove(&mut self, path: &Path) {
        self.texts.remove(&canonical(path));
    }

    /// Returns a text that was added.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.texts.get(&canonical(path))
    }
}

impl Files for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.text(path) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.below.read(path),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        match self.text(path) {
            Some(_) => Ok(FileKind::File),
            None => self.below.kind(path),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.text(path) {
            Some(_) => Ok(canonical(path)),
            None => self.below.canonical(path),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.below.list(folder)
    }
}

/// Returns a unique path for each file, however it was reached.
#[must_use]
pub fn canonical(path: &Path) -> PathBuf {
    if let Ok(path) = resolved(path) {
        return path;
    }
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    // The file does not exist yet, but its folder may.
    if let (Some(folder), Some(name)) = (full.parent(), full.file_name())
        && let Ok(folder) = resolved(folder)
    {
        return folder.join(name);
    }
    let mut plain = PathBuf::new();
    for part in full.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use std::path::Path;

    #[test]
    fn dots_are_removed_from_nonexistent_paths() {
        assert_eq!(
            canonical(Path::new("/nowhere/./a/../b.uc")),
            Path::new("/nowhere/b.uc")
        );
    }
}
