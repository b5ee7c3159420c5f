//! Recordings of live runs, read back to the cycle, complete or truncated.

use std::path::{Path, PathBuf};

use npsim_net::LineFrame;
use npsim_net::capture::Capture;
use npsim_net::egress::CapturePort;
use npsim_net::pace::{Pace, PortAssignment, PortLine, Replay, line_end_ps, line_free_ps};
use npsim_net::recording::{RecordingHead, RecordingWriter, picoseconds};
use proptest::prelude::*;
use tempfile::TempDir;

const GIGABIT: u64 = 1_000_000_000;
const LINES: [PortLine; 2] = [PortLine {
    bits_per_second: GIGABIT,
}; 2];

fn head(hertz: u64) -> RecordingHead {
    RecordingHead {
        hertz,
        start_seconds: 1_796_000_000,
        ports: (0..2)
            .map(|number| CapturePort::port(number, GIGABIT))
            .collect(),
        target: "forward/arp.toml".to_owned(),
        seed: Some(7),
        route_blocks: 64,
    }
}

/// A recording with frames of the given port, cycle and length, and a command before the third.
fn recorded(hertz: u64, frames: &[(u8, u64, usize)], ends: bool) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.pcapng");
    let at = |cycle| u64::try_from(picoseconds(cycle, hertz)).unwrap();
    let mut writer = RecordingWriter::create(&path, &head(hertz)).unwrap();
    for (number, &(port, start, length)) in frames.iter().enumerate() {
        if number == 2 {
            writer
                .control(at(start), "route remove 10.2.0.0/16")
                .unwrap();
        }
        writer
            .frame(u32::from(port), at(start), &vec![number as u8; length])
            .unwrap();
    }
    match frames.last() {
        Some(&(_, start, _)) if ends => writer.end(at(start + 1000)).unwrap(),
        _ => writer.flush().unwrap(),
    }
    (folder, path)
}

fn opened(path: &Path, lines: &[PortLine], ports: PortAssignment) -> Result<Replay, String> {
    Replay::open(path, lines, ports, Pace::Recorded).map_err(|error| error.to_string())
}

fn replayed(path: &Path) -> (Replay, Vec<LineFrame>) {
    let replay = opened(path, &LINES, PortAssignment::ByInterface).unwrap();
    let frames = replay.frames().unwrap().map(Result::unwrap).collect();
    (replay, frames)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each frame begins in its original cycle and ends where it ended, for every clock.
    #[test]
    fn recordings_replay_at_the_original_cycles(
        hertz in 100_000_000_u64..2_000_000_000,
        wanted in prop::collection::vec((0_u8..2, 0_u64..5_000, 60_usize..1514), 3..40),
    ) {
        let mut free = [0_u64; 2];
        let mut frames = Vec::new();
        for (port, gap, length) in wanted {
            let start = free[usize::from(port)] + gap;
            let free_ps = line_free_ps(picoseconds(start, hertz), length, GIGABIT);
            free[usize::from(port)] = (free_ps * u128::from(hertz)).div_ceil(1_000_000_000_000) as u64;
            frames.push((port, start, length));
        }
        let (_folder, path) = recorded(hertz, &frames, true);
        let (replay, again) = replayed(&path);
        let mut sorted: Vec<_> = frames.iter().enumerate().map(|(number, it)| (it.1, it.0, it.2, number)).collect();
        sorted.sort_by_key(|it| (it.0, it.1));
        prop_assert_eq!(again.len(), sorted.len());
        for (frame, (start, port, length, number)) in again.iter().zip(sorted) {
            let start_ps = picoseconds(start, hertz);
            prop_assert_eq!(frame.start_ps, start_ps);
            prop_assert_eq!((start_ps * u128::from(hertz)).div_ceil(1_000_000_000_000), u128::from(start));
            prop_assert_eq!(frame.end_ps, line_end_ps(start_ps, length, GIGABIT));
            prop_assert_eq!(frame.port, u32::from(port));
            prop_assert_eq!(&frame.bytes, &vec![number as u8; length]);
        }
        let survey = replay.survey();
        let recording = survey.recording.as_ref().unwrap();
        prop_assert_eq!(&recording.head, &head(hertz));
        prop_assert_eq!(recording.commands.len(), 1);
        prop_assert_eq!(recording.commands[0].cycle(hertz), frames[2].1);
        prop_assert_eq!(recording.end(), frames.last().map(|it| it.1 + 1000));
        prop_assert_eq!(survey.first_timestamp_ns, 1_796_000_000_000_000_000);
    }
}

#[test]
fn truncated_recordings_end_after_the_last_whole_block() {
    let frames = [(0, 100, 61), (1, 200, 60), (0, 9_000, 100)];
    let (folder, path) = recorded(600_000_000, &frames, true);
    let whole = std::fs::read(&path).unwrap();
    // Blocks of frames, and of the command and the end.
    let sizes = [96, 92, 56, 132, 36];
    let header = whole.len() - sizes.iter().sum::<usize>();
    let cut = folder.path().join("cut.pcapng");
    for length in 0..whole.len() {
        std::fs::write(&cut, &whole[..length]).unwrap();
        let opened = opened(&cut, &LINES, PortAssignment::ByInterface);
        let Ok(replay) = opened else {
            assert!(length < header, "{length}: {opened:?}");
            continue;
        };
        assert!(length >= header, "{length}");
        let mut ends = sizes.iter().scan(header, |end, size| {
            *end += size;
            Some(*end)
        });
        let blocks = ends.clone().take_while(|end| *end <= length).count();
        let last = ends.nth(blocks.wrapping_sub(1)).unwrap_or(header);
        let survey = replay.survey();
        let recording = survey.recording.as_ref().unwrap();
        assert_eq!(
            recording.incomplete_bytes,
            (length - last) as u64,
            "{length}"
        );
        assert_eq!(survey.frames, [0, 1, 2, 2, 3][blocks], "{length}");
        assert_eq!(
            recording.commands.len(),
            usize::from(blocks > 2),
            "{length}"
        );
        assert_eq!(recording.end_ps, None);
        assert_eq!(replay.frames().unwrap().count() as u64, survey.frames);
    }
}

#[test]
fn mismatched_recordings_are_refused() {
    let frames = [(0, 100, 61), (1, 200, 60), (0, 9_000, 100)];
    let (folder, path) = recorded(600_000_000, &frames, true);
    let by_interface = PortAssignment::ByInterface;
    let refused = |lines: &[PortLine], ports| opened(&path, lines, ports).unwrap_err();
    assert!(refused(&LINES[..1], by_interface).contains("has 2 ports, and there are 1"));
    let slow = [
        LINES[0],
        PortLine {
            bits_per_second: 100_000_000,
        },
    ];
    assert!(
        refused(&slow, by_interface).contains("port 1 was recorded on a line of 1000000000 bit/s")
    );
    assert!(refused(&LINES, PortAssignment::RoundRobin).contains("says at which port"));

    let (_other, overlapping) = recorded(
        600_000_000,
        &[(0, 100, 61), (0, 480, 60), (0, 9_000, 60)],
        false,
    );
    let error = opened(&overlapping, &LINES, by_interface).unwrap_err();
    assert!(
        error.contains("frame 1 of the recording begins at port 0 before"),
        "{error}"
    );

    let foreign = folder.path().join("foreign.pcapng");
    let mut bytes = std::fs::read(&path).unwrap();
    let title = bytes
        .windows(15)
        .position(|it| it == b"npsim recording")
        .unwrap();
    bytes[title] = b'N';
    for (bytes, reason) in [
        (&bytes[..], "does not say so"),
        (b"text", "not in pcapng"),
        (b"", "not in pcapng"),
    ] {
        std::fs::write(&foreign, bytes).unwrap();
        let error = opened(&foreign, &LINES, by_interface).unwrap_err();
        assert!(error.contains(reason), "{error}");
        assert!(
            error.contains("foreign.pcapng") && error.contains("`--pace trace`"),
            "{error}"
        );
    }
}

#[test]
fn recordings_can_be_read_as_captures() {
    let frames = [(0, 600, 61), (1, 1200, 60), (0, 9_000, 100)];
    let (_folder, path) = recorded(600_000_000, &frames, true);
    let capture = Capture::open(&path).unwrap();
    let times: Vec<u64> = capture.frames.iter().map(|frame| frame.time_ns).collect();
    assert_eq!(times, [0, 1_000, 14_000]);
    assert_eq!(capture.first_timestamp_ns, 1_796_000_000_000_001_000);
    assert_eq!(capture.interfaces, ["port0", "port1"]);
    assert_eq!(capture.notes.commands, 2);
}

#[test]
fn corrupted_recordings_never_panic() {
    let frames = [(0, 100, 61), (1, 200, 60), (0, 9_000, 100)];
    let (folder, path) = recorded(600_000_000, &frames, true);
    let whole = std::fs::read(&path).unwrap();
    let changed = folder.path().join("changed.pcapng");
    for at in 0..whole.len() {
        for value in [0, 0xff, whole[at] ^ 1] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            std::fs::write(&changed, &bytes).unwrap();
            if let Ok(replay) = opened(&changed, &LINES, PortAssignment::ByInterface) {
                let _ = replay.frames().unwrap().count();
            }
        }
    }
}
