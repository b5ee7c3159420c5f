//! Capture files on lines: as from memory, but without holding them there.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use npsim_net::LineFrame;
use npsim_net::capture::{Capture, CaptureError, CaptureReader, LinkTypes};
use npsim_net::pace::{PortAssignment, PortLine, Replay, ReplayError, schedule};

use crate::traces;

/// Frames without an Ethernet header are refused, or get one and are played like any frame.
#[test]
fn packets_without_ethernet_headers_are_framed_on_request() {
    use crate::handmade::{MICROSECONDS, Order, classic_header, classic_record};
    let packet = {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet
    };
    let cooked = |kind: u16| [&[0; 14][..], &kind.to_be_bytes(), &packet].concat();
    let order = Order::Little;
    let mut file = classic_header(order, MICROSECONDS, 113);
    for (seconds, fraction, kind) in [(1, 0, 0x0800), (2, 0, 4), (2, 1_500_000, 0x0800)] {
        let bytes = cooked(kind);
        file.extend(classic_record(
            order,
            seconds,
            fraction,
            bytes.len() as u32,
            &bytes,
        ));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cooked.pcap");
    std::fs::write(&path, file).unwrap();
    let lines = [PortLine {
        bits_per_second: 1_000_000_000,
    }];
    let (assignment, pace) = (PortAssignment::default(), "trace".parse().unwrap());
    let refused = Replay::open(&path, &lines, assignment, pace).unwrap_err();
    assert!(refused.to_string().contains("`--link` frames"), "{refused}");
    let replay = Replay::open_with(&path, &lines, assignment, pace, LinkTypes::Framed).unwrap();
    let survey = replay.survey();
    assert_eq!(
        (survey.frames, survey.notes.framed, survey.notes.left_out),
        (2, 2, 1)
    );
    // Two seconds and a half after the first: more than a second is carried over.
    assert_eq!(survey.notes.overflowing_times, 1);
    let frames: Vec<LineFrame> = replay.frames().unwrap().map(Result::unwrap).collect();
    assert_eq!(frames[1].start_ps - frames[0].start_ps, 2_500_000_000_000);
    assert_eq!(
        frames[0].bytes[..14],
        [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]
    );
    assert_eq!(frames[0].bytes[14..], packet);
}

#[test]
fn streamed_replay_equals_the_schedule_of_the_capture() {
    let lines = [1_000_000_000, 100_000_000, 622_080_000]
        .map(|bits_per_second| PortLine { bits_per_second });
    for name in [
        "mixed.pcap",
        "minsize.pcap.gz",
        "two-ports.pcapng",
        "exceptions.pcap",
    ] {
        let path = traces().join(name);
        let capture = Capture::open(&path).unwrap();
        for pace in ["trace", "50x", "line", "900kpps"] {
            for assignment in ["interface", "round-robin", "flow", "1"] {
                let pace = pace.parse().unwrap();
                let assignment: PortAssignment = assignment.parse().unwrap();
                let mut plan = schedule(&capture.frames, &lines, assignment, pace).unwrap();
                let replay = Replay::open(&path, &lines, assignment, pace).unwrap();
                let expected: Vec<LineFrame> = plan
                    .arrivals
                    .iter()
                    .map(|arrival| LineFrame {
                        start_ps: arrival.start_ps,
                        end_ps: arrival.end_ps,
                        port: arrival.port,
                        bytes: capture.frames[arrival.frame].bytes.clone(),
                    })
                    .collect();
                let streamed: Vec<LineFrame> =
                    replay.frames().unwrap().collect::<Result<_, _>>().unwrap();
                assert!(streamed == expected, "{name} {pace} {assignment}");
                plan.arrivals.clear();
                let survey = replay.survey();
                assert_eq!(survey.plan, plan);
                assert_eq!(
                    (survey.frames, survey.first_timestamp_ns, survey.notes),
                    (
                        capture.frames.len() as u64,
                        capture.first_timestamp_ns,
                        capture.notes
                    )
                );
                assert_eq!(survey.interfaces, capture.interfaces);
            }
        }
    }
}

#[test]
fn file_errors_are_reported_before_any_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcap");
    let whole = std::fs::read(traces().join("mixed.pcap")).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 7]).unwrap();
    let line = [PortLine {
        bits_per_second: 1_000_000_000,
    }];
    let open = |path: &Path| {
        Replay::open(
            path,
            &line,
            PortAssignment::default(),
            "trace".parse().unwrap(),
        )
    };
    let error = open(&path).unwrap_err();
    assert!(
        matches!(
            error,
            ReplayError::Capture(CaptureError::Truncated {
                frames_before: 630,
                ..
            })
        ),
        "{error}"
    );
    for (path, what) in [
        (folder.path(), "cannot read"),
        (Path::new("/dev/null"), "it is empty"),
    ] {
        let error = open(path).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    let endless = Path::new("/dev/zero");
    if endless.exists() {
        let error = open(endless).unwrap_err().to_string();
        assert!(error.contains("begins with 00 00 00 00"), "{error}");
    }
}

#[test]
fn file_that_shrinks_after_the_survey_gives_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrinks.pcap");
    let whole = std::fs::read(traces().join("mixed.pcap")).unwrap();
    std::fs::write(&path, &whole).unwrap();
    let line = [PortLine {
        bits_per_second: 1_000_000_000,
    }];
    let replay = Replay::open(
        &path,
        &line,
        PortAssignment::default(),
        "trace".parse().unwrap(),
    )
    .unwrap();
    std::fs::write(&path, &whole[..200_000]).unwrap();
    let frames: Vec<_> = replay.frames().unwrap().collect();
    let (last, whole) = frames.split_last().unwrap();
    assert!(whole.len() > 50 && whole.iter().all(Result::is_ok));
    assert!(last.is_err(), "nothing comes after the error");
}

/// Counts what is read of a capture that never ends.
struct Endless {
    head: io::Cursor<Vec<u8>>,
    record: Vec<u8>,
    place: usize,
    read: Arc<AtomicU64>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut count = self.head.read(buffer)?;
        while count < buffer.len() {
            let part = &self.record[self.place..];
            let bytes = part.len().min(buffer.len() - count);
            buffer[count..count + bytes].copy_from_slice(&part[..bytes]);
            self.place = (self.place + bytes) % self.record.len();
            count += bytes;
        }
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[test]
fn reader_reads_ahead_only_within_its_buffer() {
    let file = std::fs::read(traces().join("mixed.pcap")).unwrap();
    let captured = u32::from_le_bytes(*file[32..].first_chunk().unwrap()) as usize;
    let read = Arc::new(AtomicU64::new(0));
    let endless = Endless {
        head: io::Cursor::new(file[..24].to_vec()),
        record: file[24..40 + captured].to_vec(),
        place: 0,
        read: Arc::clone(&read),
    };
    let mut reader =
        CaptureReader::new(Path::new("endless"), Box::new(endless), LinkTypes::Ethernet).unwrap();
    for frames in 1..200_000u64 {
        reader.next().unwrap().unwrap();
        let needed = 24 + frames * (16 + captured as u64);
        let ahead = read.load(Ordering::Relaxed) - needed;
        assert!(ahead <= 2 * 64 * 1024, "{ahead} bytes ahead");
    }
}
