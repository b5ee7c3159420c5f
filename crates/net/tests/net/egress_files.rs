//! Files that the sink writes, byte by byte and as captures.

use std::fs;
use std::io;
use std::path::Path;

use npsim_net::capture::Capture;
use npsim_net::egress::{CaptureFormat, TraceSink};
use proptest::prelude::*;

fn create(path: &Path) -> io::Result<TraceSink> {
    TraceSink::create(path, CaptureFormat::Pcap, &[])
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn sink_writes_a_little_endian_nanosecond_pcap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.pcap");
    let mut sink = create(&path).unwrap();
    sink.write(0, 1_700_000_000_123_456_789, &[0xaa; 3])
        .unwrap();
    assert_eq!(sink.frames(), 1);
    sink.finish().unwrap();
    let expected = [
        &[
            0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
        ][..],
        &1_700_000_000u32.to_le_bytes(),
        &123_456_789u32.to_le_bytes(),
        &[3, 0, 0, 0, 3, 0, 0, 0, 0xaa, 0xaa, 0xaa],
    ]
    .concat();
    assert_eq!(fs::read(&path).unwrap(), expected);
    assert_eq!(names(folder.path()), ["out.pcap"]);
}

#[test]
fn unfinished_sink_leaves_no_file_and_keeps_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.pcap");
    fs::write(&path, b"older").unwrap();
    let mut sink = create(&path).unwrap();
    sink.write(0, 0, &[1; 60]).unwrap();
    // There is also a file with a hidden name, or with none.
    let beside = names(folder.path());
    let others = beside.iter().filter(|name| *name != "out.pcap");
    assert!(others.clone().count() <= 1, "{beside:?}");
    assert!(
        others.clone().all(|name| name.starts_with('.')),
        "{beside:?}"
    );
    drop(sink);
    assert_eq!(names(folder.path()), ["out.pcap"]);
    assert_eq!(fs::read(&path).unwrap(), b"older");

    create(&path).unwrap().finish().unwrap();
    assert_eq!(fs::read(&path).unwrap().len(), 24, "finishing replaces it");
}

#[test]
fn two_sinks_for_one_name_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.pcap");
    let mut first = create(&path).unwrap();
    let mut second = create(&path).unwrap();
    first.write(0, 0, &[1; 60]).unwrap();
    second.write(0, 0, &[2; 61]).unwrap();
    first.finish().unwrap();
    second.finish().unwrap();
    assert_eq!(Capture::open(&path).unwrap().frames[0].bytes, [2; 61]);
    assert_eq!(names(folder.path()), ["out.pcap"]);
}

#[test]
fn frames_unfit_for_the_format_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = create(&folder.path().join("out.pcap")).unwrap();
    assert!(
        sink.write(0, u64::MAX, &[0; 60]).is_err(),
        "seconds beyond 32 bits"
    );
    assert!(sink.write(0, 0, &vec![0; 262_145]).is_err());
    sink.write(0, 0, &vec![0; 262_144]).unwrap();
    assert_eq!(sink.frames(), 1);
    assert!(create(folder.path()).is_err());
    assert!(create(&folder.path().join("no/such/folder.pcap")).is_err());
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_not_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target.pcap");
    let link = folder.path().join("link.pcap");
    fs::write(&target, b"older").unwrap();
    symlink(&target, &link).unwrap();
    create(&link).unwrap().finish().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap().len(), 24);

    let mut sink = create(Path::new("/dev/null")).unwrap();
    sink.write(0, 0, &[0; 60]).unwrap();
    sink.finish().unwrap();
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
}

proptest! {
    #[test]
    fn captures_round_trip(
        start in 0u64..4_000_000_000_000_000_000,
        frames in prop::collection::vec((0u64..10_000_000_000, prop::collection::vec(any::<u8>(), 0..200)), 1..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.pcap");
        let mut sink = create(&path).unwrap();
        let mut time = start;
        for (step, bytes) in &frames {
            sink.write(0, time, bytes).unwrap();
            time += step;
        }
        sink.finish().unwrap();

        let capture = Capture::open(&path).unwrap();
        prop_assert_eq!(capture.first_timestamp_ns, i128::from(start));
        prop_assert_eq!(capture.frames.len(), frames.len());
        let mut time = 0;
        for (frame, (step, bytes)) in capture.frames.iter().zip(&frames) {
            prop_assert_eq!((frame.time_ns, &frame.bytes), (time, bytes));
            time += step;
        }
    }
}
