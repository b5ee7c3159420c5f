//! Gzipped captures.

use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use super::begins_as_capture;

/// Decompressed data, and whether the compressed data came to its proper end.
pub(super) struct Inflated {
    pub(super) bytes: Vec<u8>,
    pub(super) complete: bool,
}

/// Whether it begins as gzip data do.
pub(super) fn is_gzip(file: &[u8]) -> bool {
    file.starts_with(&[0x1f, 0x8b])
}

/// Bytes that are enough to tell what something is.
const ENOUGH_TO_TELL: usize = 4096;

/// Decompresses all members of gzip data, but of what is no capture only the beginning, for a small
/// file may stand for any amount of it; `None` if it is not gzip, an error if it is damaged.
pub(super) fn inflate(file: &[u8]) -> Option<Result<Inflated, String>> {
    if !is_gzip(file) {
        return None;
    }
    let mut decoder = MultiGzDecoder::new(file);
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    // In chunks of our own, so that what came before an error is certainly kept.
    loop {
        if bytes.len() >= ENOUGH_TO_TELL && !begins_as_capture(&bytes) {
            return Some(Ok(Inflated {
                bytes,
                complete: true,
            }));
        }
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn of_what_is_no_capture_only_the_beginning_is_decompressed() {
        let mut data = vec![0; 4 << 20];
        let inflated = inflate(&deflated(&data)).unwrap().unwrap();
        assert!(inflated.bytes.len() < 1 << 20, "{}", inflated.bytes.len());
        data[..4].copy_from_slice(&[0xd4, 0xc3, 0xb2, 0xa1]);
        let inflated = inflate(&deflated(&data)).unwrap().unwrap();
        assert_eq!(
            (inflated.bytes.len(), inflated.complete),
            (data.len(), true)
        );
    }
}
