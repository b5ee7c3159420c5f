//! Files held in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{FileKind, Files};

/// Files by path. There is a single root, at which relative paths start, too; a folder exists if
/// there is a file below it.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    /// Adds a file, replacing any file with the same path.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(from_root(path.as_ref()), bytes.into());
    }

    /// Removes a file, or a folder with everything below it; returns the number of files removed.
    pub fn remove(&mut self, path: impl AsRef<Path>) -> usize {
        let path = from_root(path.as_ref());
        let before = self.files.len();
        self.files.retain(|file, _| !file.starts_with(&path));
        before - self.files.len()
    }

    /// Returns the files at and below a path, in order, with their bytes.
    pub fn below(&self, path: impl AsRef<Path>) -> impl Iterator<Item = (&Path, &[u8])> {
        let path = from_root(path.as_ref());
        let from = self.files.range(path.clone()..);
        let files = from.map(|(file, bytes)| (file.as_path(), bytes.as_slice()));
        files.filter(move |(file, _)| file.starts_with(&path))
    }
}

impl<P: AsRef<Path>, B: Into<Vec<u8>>> FromIterator<(P, B)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        let mut all = Self::default();
        for (path, bytes) in files {
            all.insert(path, bytes);
        }
        all
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.kind(path)? {
            FileKind::Folder => Err(io::ErrorKind::IsADirectory.into()),
            _ => Ok(self.files[&from_root(path)].clone()),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let path = from_root(path);
        // In sort order, anything below a folder directly follows its path.
        match self.files.range(path.clone()..).next() {
            Some((file, _)) if *file == path => Ok(FileKind::File),
            Some((file, _)) if file.starts_with(&path) => Ok(FileKind::Folder),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.kind(path)?;
        Ok(from_root(path))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        if self.kind(folder)? != FileKind::Folder {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let root = from_root(folder);
        let below = self.files.range(root.clone()..);
        let below = below.map_while(|(file, _)| file.strip_prefix(&root).ok());
        let mut names: Vec<_> = below.filter_map(|rest| rest.components().next()).collect();
        names.dedup();
        Ok(names.into_iter().map(|name| folder.join(name)).collect())
    }
}

/// Makes a path absolute and removes `.` and `..` from it.
fn from_root(path: &Path) -> PathBuf {
    let mut whole = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::Normal(name) => whole.push(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::{FileKind, Files as _, MemoryFiles};
    use std::io::ErrorKind;
    use std::path::{Path, PathBuf};

    #[test]
    fn memory_files_resolve_equivalent_paths() {
        let mut files: MemoryFiles = [("a/b.uc", "nop\n"), ("/a/c/d.uc", "")]
            .into_iter()
            .collect();
        files.insert("a-c", "x");
        for path in ["a/b.uc", "/a/b.uc", "./a/c/../b.uc"] {
            assert_eq!(
                files.read(Path::new(path)).ok().as_deref(),
                Some(&b"nop\n"[..])
            );
            assert_eq!(
                files.canonical(Path::new(path)).ok(),
                Some(PathBuf::from("/a/b.uc"))
            );
        }
        for folder in ["", ".", "/", "a", "a/c/"] {
            assert_eq!(
                files.kind(Path::new(folder)).ok(),
                Some(FileKind::Folder),
                "{folder}"
            );
        }
        let kind = |path: &str| files.read(Path::new(path)).map_err(|error| error.kind());
        assert_eq!(kind("a/b"), Err(ErrorKind::NotFound));
        assert_eq!(kind("a"), Err(ErrorKind::IsADirectory));
        let listed = files.list(Path::new("a")).ok();
        assert_eq!(listed, Some(vec!["a/b.uc".into(), "a/c".into()]));
        assert!(files.list(Path::new("a/b.uc")).is_err());
    }
}
