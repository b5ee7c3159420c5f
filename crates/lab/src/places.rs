//! Search path for the systems and captures of a study.

use std::path::{Path, PathBuf};

use npsim_project::problem::Problem;

/// Folders that are searched in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    folders: Vec<PathBuf>,
    named: bool,
}

impl SearchPath {
    /// The study file's own folder, if it has one, followed by `root`; without
    /// a root, by the current folder and its ancestors.
    #[must_use]
    pub fn new(study: Option<&Path>, root: Option<&Path>) -> Self {
        let mut folders = Vec::new();
        if let Some(folder) = study.and_then(Path::parent) {
            let here = folder.as_os_str().is_empty();
            folders.push(if here {
                PathBuf::from(".")
            } else {
                folder.to_path_buf()
            });
        }
        if let Some(root) = root {
            folders.push(root.to_path_buf());
        } else {
            folders.push(PathBuf::from("."));
            let above = std::env::current_dir().unwrap_or_default();
            folders.extend(above.ancestors().skip(1).map(Path::to_path_buf));
        }
        Self {
            folders,
            named: root.is_some(),
        }
    }

    /// Returns the file or folder of this name in the first folder that has
    /// one.
    ///
    /// # Errors
    /// Returns an error if no folder has one.
    pub fn find(&self, name: &str) -> Result<PathBuf, Problem> {
        let found = self
            .folders
            .iter()
            .map(|folder| match folder.as_os_str().as_encoded_bytes() {
                b"." => PathBuf::from(name),
                _ => folder.join(name),
            });
        for path in found {
            if path.exists() {
                return Ok(path);
            }
        }
        let looked: Vec<_> = self
            .folders
            .iter()
            .take(2)
            .map(|folder| format!("`{}`", folder.display()))
            .collect();
        let help = if self.named {
            "does --root name the folder with `microcode/`?"
        } else {
            "go to the folder with `microcode/`, or name it with --root"
        };
        Err(Problem::new(format!(
            "there is no `{name}` in {} or above",
            looked.join(", ")
        ))
        .help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::SearchPath;
    use std::path::Path;

    #[test]
    fn the_study_folder_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let (study, root) = (dir.path().join("s"), dir.path().join("r"));
        for folder in [&study, &root] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(root.join("a.uc"), "").unwrap();
        let places = SearchPath::new(Some(&study.join("study.toml")), Some(&root));
        assert_eq!(places.find("a.uc").unwrap(), root.join("a.uc"));
        std::fs::write(study.join("a.uc"), "").unwrap();
        assert_eq!(places.find("a.uc").unwrap(), study.join("a.uc"));
        let message = places.find("b.uc").unwrap_err().to_string();
        assert!(
            message.contains("no `b.uc`") && message.contains("--root"),
            "{message}"
        );
        assert!(SearchPath::new(None, None).find("no/such").is_err());
        assert_eq!(
            SearchPath::new(Some(Path::new("x.toml")), None)
                .find("Cargo.toml")
                .unwrap(),
            Path::new("Cargo.toml")
        );
    }
}
