//! Whatever the bytes, reading gives frames or an error that names the file.

use std::io::Write;

use crate::handmade::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use npsim_net::capture::{Capture, CaptureError};
use proptest::prelude::*;

fn classic() -> Vec<u8> {
    let mut file = classic_header(Order::Big, NANOSECONDS, 1);
    for n in 0..6 {
        file.extend(classic_record(
            Order::Big,
            1,
            n,
            70,
            &frame(n as u8, 60 + n as usize),
        ));
    }
    file
}

fn next_generation() -> Vec<u8> {
    let order = Order::Little;
    let named = |name: &[u8]| {
        interface(
            order,
            1,
            0,
            &[
                option(order, IF_NAME, name),
                option(order, IF_TSRESOL, &[9]),
                option(order, IF_TSOFFSET, &order.u64(3)),
            ],
        )
    };
    let mut file = [section(order), named(b"east"), named(b"west")].concat();
    for n in 0..5 {
        file.extend(enhanced(
            order,
            n % 2,
            u64::from(n) * 1000,
            70,
            &frame(n as u8, 60 + n as usize),
        ));
    }
    file.extend(
        [
            section(Order::Big),
            interface(Order::Big, 1, 0, &[]),
            simple(Order::Big, 60, &frame(9, 60)),
        ]
        .concat(),
    );
    file
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn truncated_file_gives_whole_frames_or_a_truncation_error() {
    for file in [classic(), next_generation()] {
        let whole = Capture::from_bytes("cut.pcap", &file).unwrap();
        let mut clean_ends = 0;
        for length in 4..file.len() {
            match Capture::from_bytes("cut.pcap", &file[..length]) {
                Ok(capture) => {
                    clean_ends += 1;
                    assert!(whole.frames.starts_with(&capture.frames));
                }
                Err(CaptureError::Truncated {
                    frames_before,
                    offset,
                    length: seen,
                    compressed,
                    path,
                }) => {
                    assert!(frames_before < whole.frames.len() as u64 + 1);
                    assert_eq!((seen, compressed), (length as u64, false));
                    assert_eq!(path.to_str(), Some("cut.pcap"));
                    // The part before the reported position is intact, with the reported number of frames.
                    if offset > 0 {
                        let before =
                            Capture::from_bytes("cut.pcap", &file[..offset as usize]).unwrap();
                        assert_eq!(before.frames.len() as u64, frames_before);
                        assert!(offset < length as u64);
                    }
                }
                Err(other) => panic!("cut at {length}: {other}"),
            }
        }
        let records = if file == classic() { 6 } else { 10 };
        assert_eq!(
            clean_ends, records,
            "an end between two records is no damage"
        );
    }
}

#[test]
fn truncated_gzip_is_reported() {
    let file = gzipped(&next_generation());
    for length in 2..file.len() {
        match Capture::from_bytes("cut.pcap.gz", &file[..length]) {
            Err(CaptureError::Truncated {
                compressed: true, ..
            }) => {}
            other => panic!("cut at {length} of {}: {other:?}", file.len()),
        }
    }
}

#[test]
fn truncation_error_gives_position_and_advice() {
    let file = classic();
    let message = Capture::from_bytes("cut.pcap", &file[..24 + 76 + 77 + 20])
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "cut.pcap is cut off: 2 whole frames, then the file ends at byte 197 inside the record that begins at byte 177; \
         capture or copy it again, or keep the whole frames with `editcap cut.pcap repaired.pcap`"
    );
}

fn names_the_file(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Err(error) = Capture::from_bytes("some/where.pcap", bytes) {
        prop_assert!(error.to_string().contains("some/where.pcap"), "{error}");
    }
    Ok(())
}

/// Whether bytes could begin with an ERF record: a type that the format defines, and a length past
/// the 16-byte header that ends within the file.
fn is_an_erf_record(bytes: &[u8]) -> bool {
    let Some(&[kind, _, high, low]) = bytes.get(8..12) else {
        return false;
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    kind & 0x7f <= 48 && (16..=bytes.len()).contains(&length)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_are_refused_with_the_path(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        // ERF has no magic number: a few random bytes can form a valid record.
        match Capture::from_bytes("some/where.pcap", &bytes) {
            Err(error) => prop_assert!(error.to_string().contains("some/where.pcap")),
            Ok(_) => prop_assert!(is_an_erf_record(&bytes), "read as frames: {bytes:?}"),
        }
    }

    #[test]
    fn random_bytes_after_a_valid_header_never_panic(
        start in 0usize..5,
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let order = Order::Little;
        let beginning = match start {
            0 => classic_header(order, MICROSECONDS, 1),
            1 => classic_header(Order::Big, NANOSECONDS, 1),
            2 => section(Order::Big),
            3 => [section(order), interface(order, 1, 0, &[])].concat(),
            _ => vec![0x1f, 0x8b, 8, 0],
        };
        names_the_file(&[beginning, bytes].concat())?;
    }

    #[test]
    fn changed_bytes_never_panic(
        which in 0usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut file = match which {
            0 => classic(),
            1 => next_generation(),
            2 => gzipped(&classic()),
            _ => gzipped(&next_generation()),
        };
        for (place, value) in changes {
            let place = place.index(file.len());
            file[place] = value;
        }
        names_the_file(&file)?;
        let length = cut.index(file.len());
        names_the_file(&file[..length])?;
    }
}
