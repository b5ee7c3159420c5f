//! Reasons for refusing a capture.

use std::io;
use std::path::PathBuf;

use crate::compression::Compression;

/// Reason for refusing a capture: what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The operating system cannot read the file.
    #[error("cannot read the capture {path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file is neither pcap nor pcapng nor ERF.
    #[error("{path} is not a pcap or pcapng capture, nor ERF: {hint}", path = path.display())]
    NotACapture {
        /// The file.
        path: PathBuf,
        /// What the file seems to be, and what to do about it.
        hint: String,
    },
    /// The compressed data is damaged.
    #[error("{path}: the {program} data is damaged ({reason}); try `{program} -t` on it, and copy or download it again", path = path.display(), program = compression.program())]
    Compression {
        /// The file.
        path: PathBuf,
        /// The compression.
        compression: Compression,
        /// The decompressor's message.
        reason: String,
    },
    /// The frames are not Ethernet.
    #[error("{path}: {interface} has frames of link type {found}, and only Ethernet (1) can be replayed; {hint}", path = path.display())]
    LinkType {
        /// The file.
        path: PathBuf,
        /// The interface in the capture.
        interface: String,
        /// Name and number of the link type.
        found: String,
        /// How to get Ethernet frames.
        hint: String,
    },
    /// The data end inside a record.
    #[error(
        "{path} is cut off: {frames_before} whole frames, then the {data} ends at byte {length} inside the record that begins at byte {offset}; capture or copy it again, or keep the whole frames with `editcap {path} repaired.pcap`",
        path = path.display(),
        data = if *compressed { "decompressed data" } else { "file" }
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Number of complete frames.
        frames_before: u64,
        /// Where the incomplete record begins, in bytes of the (decompressed) data.
        offset: u64,
        /// Bytes of (decompressed) data.
        length: u64,
        /// Whether the file is compressed, so that offsets count decompressed bytes.
        compressed: bool,
    },
    /// The file is not a recording of a live run.
    #[error("{path} is not a recording of `npsim live`: {reason}; play it at the times of the capture with `--pace trace`", path = path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
        /// Why it is not one.
        reason: String,
    },
    /// A record contradicts the format.
    #[error("{path}: the record at byte {offset}, before or of frame {frame}, is damaged: {reason}", path = path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Number of the next frame, counted from 1.
        frame: u64,
        /// Where the record begins, in bytes of the (decompressed) data.
        offset: u64,
        /// What is wrong with it.
        reason: String,
    },
}

/// Suggests what data that are not a capture might be.
pub(super) fn foreign_format(bytes: &[u8]) -> String {
    let known: [(&[u8], &str); 10] = [
        (
            b"\xfd7zXZ\0",
            "it is compressed with xz; decompress it first (`xz -d`)",
        ),
        (
            b"BZh",
            "it is compressed with bzip2; decompress it first (`bzip2 -d`)",
        ),
        (
            b"\x04\x22\x4d\x18",
            "it is compressed with lz4; decompress it first (`lz4 -d`)",
        ),
        (b"PK\x03\x04", "it is a zip archive; unpack it first"),
        (
            b"snoop\0\0\0",
            "it is a snoop file; convert it with `editcap -F nsecpcap IN OUT`",
        ),
        (
            b"GMBU",
            "it is a Network Monitor file; convert it with `editcap -F nsecpcap IN OUT`",
        ),
        (
            b"\xa1\xb2\xcd\x34",
            "it is a modified pcap of old Linux systems; convert it with `editcap -F pcap IN OUT`",
        ),
        (
            b"\x34\xcd\xb2\xa1",
            "it is a modified pcap of old Linux systems; convert it with `editcap -F pcap IN OUT`",
        ),
        (
            b"\x1f\x8b",
            "it is gzipped twice; decompress it once (`gzip -d`)",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "it is compressed twice; decompress it once",
        ),
    ];
    if bytes.is_empty() {
        return "it is empty; a capture has at least a header (was the capture stopped before its first flush?)".to_string();
    }
    if bytes.len() < 4 {
        let some = if bytes.len() == 1 { "byte" } else { "bytes" };
        return format!(
            "it has only {} {some}; a capture has at least a header",
            bytes.len()
        );
    }
    for (magic, hint) in known {
        if bytes.starts_with(magic) {
            return hint.to_string();
        }
    }
    let beginning: Vec<String> = bytes
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let text = bytes
        .iter()
        .take(64)
        .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    if text {
        "it is text; `text2pcap` makes a capture of a hex dump".to_string()
    } else {
        format!(
            "it begins with {}; make one with `tcpdump -w FILE` or convert it with `editcap`",
            beginning.join(" ")
        )
    }
}
