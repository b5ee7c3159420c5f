//! ERF, made by hand: records of all kinds, and records that violate the format.

use std::fs;

use crate::handmade::frame;
use npsim_net::capture::{Capture, CaptureError, CaptureReader};

/// 1,700,000,000.5 seconds since 1970.
const TIME: u64 = 1_700_000_000 << 32 | 1 << 31;
const SECOND: u64 = 1 << 32;

/// A record with the given lengths.
fn raw(ticks: u64, (kind, flags): (u8, u8), lost: u16, wire: u16, body: &[u8]) -> Vec<u8> {
    let mut record = ticks.to_le_bytes().to_vec();
    record.extend([kind, flags]);
    record.extend((16 + body.len() as u16).to_be_bytes());
    record.extend(lost.to_be_bytes());
    record.extend(wire.to_be_bytes());
    record.extend(body);
    record
}

/// An Ethernet record as cards write it: two bytes before the frame, an FCS after it, and padding to eight bytes.
fn ethernet(ticks: u64, flags: u8, lost: u16, bytes: &[u8]) -> Vec<u8> {
    let mut body = [&[0, 0], bytes, &[0xfc; 4]].concat();
    body.resize(body.len().next_multiple_of(8), 0);
    raw(ticks, (2, flags), lost, bytes.len() as u16 + 4, &body)
}

fn read(bytes: &[u8]) -> Capture {
    Capture::from_bytes("hand.erf", bytes).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    Capture::from_bytes("hand.erf", bytes)
        .unwrap_err()
        .to_string()
}

#[test]
fn erf_records_are_frames_without_their_fcs() {
    let file = [
        ethernet(TIME, 0, 0, &frame(1, 60)),
        ethernet(TIME + SECOND / 4, 2, 3, &frame(2, 61)),
        ethernet(TIME + SECOND, 0, 4, &frame(3, 1514)),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.first_timestamp_ns, 1_700_000_000_500_000_000);
    let times: Vec<_> = capture.frames.iter().map(|it| it.time_ns).collect();
    assert_eq!(times, [0, 250_000_000, 1_000_000_000]);
    let ports: Vec<_> = capture.frames.iter().map(|it| it.port).collect();
    assert_eq!(ports, [0, 2, 0]);
    assert_eq!(
        capture.interfaces,
        ["interface 0", "interface 1", "interface 2"]
    );
    for (read, (mark, length)) in capture.frames.iter().zip([(1, 60), (2, 61), (3, 1514)]) {
        assert_eq!(read.bytes, frame(mark, length));
        assert_eq!(read.original_len as usize, length);
    }
    let notes = capture.notes;
    assert_eq!(
        (
            notes.lost_before,
            notes.overlong_frames,
            notes.truncated_frames
        ),
        (7, 0, 0)
    );
}

#[test]
fn erf_is_recognised_by_its_records_or_its_name() {
    let file = [
        ethernet(TIME, 0, 0, &frame(1, 60)),
        ethernet(TIME, 0, 0, &frame(2, 60)),
    ]
    .concat();
    for (name, length) in [
        ("x", file.len()),
        ("x.dat", file.len() / 2),
        ("X.ERF", file.len()),
    ] {
        let reader = CaptureReader::from_bytes(name, file[..length].to_vec()).unwrap();
        assert_eq!(reader.format(), "ERF", "{name}");
    }
    // Ambiguous bytes are not taken for ERF without the file name.
    let odd = raw(0, (2, 0), 0, 64, &[0; 16]);
    let error = Capture::from_bytes("x", &odd).unwrap_err();
    assert!(matches!(error, CaptureError::NotACapture { .. }), "{error}");
    assert_eq!(read(&odd).frames.len(), 1);
    for text in [
        &[0; 4096][..],
        &[0xff; 4096],
        "a text that is long enough\n".repeat(99).as_bytes(),
    ] {
        let error = Capture::from_bytes("x", text).unwrap_err();
        assert!(matches!(error, CaptureError::NotACapture { .. }), "{error}");
    }
    // A file with that name that begins like another format is of that format.
    let other = fs::read("../../traces/mixed.pcap").unwrap();
    assert!(!read(&other).frames.is_empty());
}

#[test]
fn erf_variants_and_extension_headers_are_read() {
    let body = |extensions: &[u8]| [extensions, &[0, 0], &frame(7, 60), &[0; 4]].concat();
    let two = [0x83, 0, 0, 0, 0, 0, 0, 1, 0x05, 0, 0, 0, 0, 0, 0, 2];
    let file = [
        raw(TIME, (11, 0), 9, 64, &body(&[])),
        raw(TIME, (16, 0), 9, 64, &body(&[])),
        raw(TIME, (20, 0), 9, 64, &body(&[])),
        raw(TIME, (0x80 | 2, 0), 1, 64, &body(&two)),
        raw(TIME, (0x80 | 0x1b, 0), 9, 0, &two),
        raw(TIME, (48, 0), 9, 0, &[0; 40]),
    ]
    .concat();
    let capture = read(&file);
    assert_eq!(capture.frames.len(), 4);
    assert!(capture.frames.iter().all(|it| it.bytes == frame(7, 60)));
    // A colour is not a loss.
    assert_eq!(capture.notes.lost_before, 1);
}

#[test]
fn mismatched_erf_lengths_are_trimmed_or_noted_as_truncated() {
    let snapped = raw(
        TIME,
        (2, 0),
        0,
        1518,
        &[&[0, 0][..], &frame(1, 46)].concat(),
    );
    let overlong = raw(TIME, (2, 0), 0, 64, &[&[0, 0][..], &frame(2, 200)].concat());
    let capture = read(&[snapped, overlong].concat());
    let [first, second] = &capture.frames[..] else {
        panic!("{:?}", capture.frames)
    };
    assert_eq!((first.bytes.len(), first.original_len), (46, 1514));
    assert_eq!((second.bytes.len(), second.original_len), (60, 60));
    assert_eq!(capture.notes.truncated_frames, 1);
    assert_eq!(capture.notes.overlong_frames, 1);
}

#[test]
fn damaged_erf_is_refused_with_its_position() {
    let good = ethernet(TIME, 0, 0, &frame(1, 60));
    // Cut at each byte: whole records, or the record that is cut.
    for cut in 1..good.len() {
        let said = refused(&[&good[..], &good[..cut]].concat());
        assert!(said.contains("1 whole frames"), "{cut}: {said}");
        let said = refused(&good[..cut]);
        assert!(said.contains("hand.erf"), "{cut}: {said}");
    }
    let with = |at: usize, bytes: &[u8]| {
        let mut second = good.clone();
        second[at..at + bytes.len()].copy_from_slice(bytes);
        refused(&[&good[..], &second].concat())
    };
    let place = format!("the record at byte {}, before or of frame 2", good.len());
    for (said, expected) in [
        (with(8, &[99]), "99 is not a type of ERF records"),
        (
            with(10, &[0, 0]),
            "a record of 0 bytes, shorter than its header",
        ),
        (
            with(10, &[0, 15]),
            "a record of 15 bytes, shorter than its header",
        ),
        (
            with(10, &[0, 17]),
            "a record of 17 bytes, shorter than its headers",
        ),
        (with(8, &[0x82, 0, 0, 20]), "shorter than its headers"),
    ] {
        assert!(said.contains(&place) && said.contains(expected), "{said}");
    }
    for (kind, expected) in [(1, "SONET"), (3, "ATM"), (21, "InfiniBand"), (22, "--link")] {
        let said = refused(&raw(TIME, (kind, 1), 0, 64, &[0; 64]));
        assert!(
            said.contains("link type ERF") && said.contains(expected),
            "{said}"
        );
        assert!(said.contains("interface 1"), "{said}");
    }
    assert!(refused(b"no records").contains("cut off"));
}
