//! File paths, and their URIs.

use std::fmt::Write as _;
use std::path::Path;

pub use npsim_project::files::canonical;

/// The `file:` URI of a path; `None` if the path is not valid text.
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
