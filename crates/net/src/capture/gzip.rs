//! Gzipped captures.

use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;

/// Decompressed data, and whether the compressed data came to its proper end.
pub(super) struct Inflated {
    pub(super) bytes: Vec<u8>,
    pub(super) complete: bool,
}

/// Whether it begins as gzip data do.
pub(super) fn is_gzip(file: &[u8]) -> bool {
    file.starts_with(&[0x1f, 0x8b])
}

/// Decompresses all members of gzip data; `None` if it is not gzip, an error if it is damaged.
pub(super) fn inflate(file: &[u8]) -> Option<Result<Inflated, String>> {
    if !is_gzip(file) {
        return None;
    }
    let mut decoder = MultiGzDecoder::new(file);
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    // In chunks of our own, so that what came before an error is certainly kept.
    loop {
        match decoder.read(&mut chunk) {
            Ok(0) => {
                return Some(Ok(Inflated {
                    bytes,
                    complete: true,
                }));
            }
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Some(Ok(Inflated {
                    bytes,
                    complete: false,
                }));
            }
            Err(error) => return Some(Err(error.to_string())),
        }
    }
}
