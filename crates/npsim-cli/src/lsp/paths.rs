//! File URIs and paths.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The path of a `file:` URI.
#[must_use]
pub fn from_uri(uri: &Uri) -> Option<PathBuf> {
    uri.scheme().filter(|scheme| scheme.eq_lowercase("file"))?;
    let text = uri.path().as_estr().decode().into_string().ok()?;
    // `/C:/x` of a drive.
    let drive = text.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if drive { &text[1..] } else { &*text }))
}

/// The `file:` URI of a path.
#[must_use]
pub fn to_uri(path: &Path) -> Option<Uri> {
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
    Uri::from_str(&uri).ok()
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
    use super::{canonical, from_uri, to_uri};
    use std::path::{Path, PathBuf};
    use std::str::FromStr;

    #[test]
    fn paths_come_back() {
        for path in ["/a/b.uc", "/with space/ü#%.uc", "/a+b/c,d.uc"] {
            let uri = to_uri(Path::new(path)).expect("a URI");
            assert!(!uri.as_str()[7..].contains([' ', '#']), "{}", uri.as_str());
            assert_eq!(from_uri(&uri), Some(PathBuf::from(path)));
        }
        let other = lsp_types::Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(from_uri(&other), None);
    }

    #[test]
    fn dots_go_away_even_where_nothing_is() {
        assert_eq!(
            canonical(Path::new("/nowhere/./a/../b.uc")),
            Path::new("/nowhere/b.uc")
        );
    }
}
