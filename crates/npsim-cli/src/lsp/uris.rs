//! Conversion between URIs and paths.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;
use npsim::analysis::paths::{canonical, file_uri};

/// The path of a `file:` URI.
#[must_use]
pub fn from_uri(uri: &Uri) -> Option<PathBuf> {
    uri.scheme().filter(|scheme| scheme.eq_lowercase("file"))?;
    let text = uri.path().as_estr().decode().into_string().ok()?;
    // `/C:/x`, a path with a Windows drive.
    let drive = text.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if drive { &text[1..] } else { &*text }))
}

/// The `file:` URI of a path.
#[must_use]
pub fn to_uri(path: &Path) -> Option<Uri> {
    Uri::from_str(&file_uri(path)?).ok()
}

/// The canonical path of a text. A text that is not a file is identified by its URI.
#[must_use]
pub fn path_of(uri: &Uri) -> PathBuf {
    from_uri(uri).map_or_else(|| PathBuf::from(uri.as_str()), |path| canonical(&path))
}

#[cfg(test)]
mod tests {
    use super::{from_uri, to_uri};
    use std::path::{Path, PathBuf};
    use std::str::FromStr;

    #[test]
    fn paths_round_trip_through_uris() {
        for path in ["/a/b.uc", "/with space/ü#%.uc", "/a+b/c,d.uc"] {
            let uri = to_uri(Path::new(path)).expect("a URI");
            assert!(!uri.as_str()[7..].contains([' ', '#']), "{}", uri.as_str());
            assert_eq!(from_uri(&uri), Some(PathBuf::from(path)));
        }
        let other = lsp_types::Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(from_uri(&other), None);
    }
}
