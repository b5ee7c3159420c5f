//! Paths of files, and what they are called in links.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// The `file:` URI of a path; none of a path that is not text.
#[must_use]
pub fn file_uri(path: &Path) -> Option<String> {
    let text = path.to_str()?.replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') {
        "file://"
    } else {
        "file:///"
    });
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    Some(uri)
}

/// One path for each file, however it was reached.
#[must_use]
pub fn canonical(path: &Path) -> PathBuf {
    if let Ok(path) = std::fs::canonicalize(path) {
        return path;
    }
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    // A file that is not there yet: its folder may be.
    if let (Some(folder), Some(name)) = (full.parent(), full.file_name())
        && let Ok(folder) = std::fs::canonicalize(folder)
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
    fn dots_go_away_even_where_nothing_is() {
        assert_eq!(
            canonical(Path::new("/nowhere/./a/../b.uc")),
            Path::new("/nowhere/b.uc")
        );
    }
}
