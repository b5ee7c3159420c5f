//! Compressed captures give the original, and damage to them is detected.

use std::io::Write;

use crate::handmade::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use npsim_net::capture::{Capture, CaptureError};
use npsim_net::compression::Compressor;

fn read(bytes: &[u8]) -> Capture {
    Capture::from_bytes("hand.pcap", bytes).unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Compressor::new(Some(npsim_net::compression::Compression::Zstd), Vec::new());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_with_one_or_several_members_is_read() {
    let mut file = classic_header(Order::Little, MICROSECONDS, 1);
    file.extend(classic_record(Order::Little, 1, 0, 60, &frame(1, 60)));
    let more = classic_record(Order::Little, 2, 0, 60, &frame(2, 60));
    let members = [gzip(&file), gzip(&more)].concat();
    file.extend(more);
    assert_eq!(read(&gzip(&file)), read(&file));
    assert_eq!(read(&members), read(&file));
    let twice = Capture::from_bytes("hand.pcap", &gzip(&gzip(&file))).unwrap_err();
    assert!(twice.to_string().contains("gzipped twice"));
}

#[test]
fn bytes_after_compressed_data_are_ignored() {
    let mut file = classic_header(Order::Little, MICROSECONDS, 1);
    file.extend(classic_record(Order::Little, 1, 0, 60, &frame(1, 60)));
    for behind in [&[0; 20][..], &[0; 3], b"signature"] {
        for data in [gzip(&file), zstd(&file)] {
            let capture = read(&[&data, behind].concat());
            assert_eq!(capture.frames.len(), 1);
            assert_eq!(capture.notes.bytes_behind, behind.len() as u64);
        }
    }
}

#[test]
fn zstd_with_one_or_several_frames_is_read() {
    let mut file = classic_header(Order::Little, MICROSECONDS, 1);
    file.extend(classic_record(Order::Little, 1, 0, 60, &frame(1, 60)));
    let more = classic_record(Order::Little, 2, 0, 60, &frame(2, 60));
    // An empty frame is between them.
    let nothing = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], &[9; 3]].concat();
    let frames = [nothing.clone(), zstd(&file), nothing, zstd(&more)].concat();
    file.extend(more);
    assert_eq!(read(&zstd(&file)), read(&file));
    assert_eq!(read(&frames), read(&file));
    let whole = zstd(&file);
    for length in 4..whole.len() {
        let error = Capture::from_bytes("cut.pcap.zst", &whole[..length]).unwrap_err();
        assert!(
            matches!(
                error,
                CaptureError::Truncated {
                    compressed: true,
                    ..
                }
            ),
            "{length}: {error}"
        );
    }
    // Every changed byte is detected.
    for place in 4..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 0x10;
        match Capture::from_bytes("hand.pcap", &changed) {
            Ok(capture) => assert_eq!(capture.frames, read(&file).frames, "{place}"),
            Err(error) => assert!(error.to_string().contains("hand.pcap")),
        }
    }
}
