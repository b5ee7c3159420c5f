//! Recordings of live runs, read to their end. An input that begins with `+` is appended to the
//! beginning of a genuine recording.

#![no_main]

use std::io::Cursor;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use npsim::net::capture::MAX_FRAME_BYTES;
use npsim::net::egress::CapturePort;
use npsim::net::recording::{Recorded, RecordingHead, RecordingReader, RecordingWriter};

const GIGABIT: u64 = 1_000_000_000;

fn genuine() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("live.pcapng");
        let head = RecordingHead {
            hertz: 600_000_000,
            start_seconds: 1_796_000_000,
            ports: (0..2).map(|number| CapturePort::port(number, GIGABIT)).collect(),
            target: "forward".to_owned(),
            seed: Some(7),
            route_blocks: 64,
        };
        let mut writer = RecordingWriter::create(&path, &head).expect("a file");
        writer.frame(0, 1000, &[7; 60]).expect("written");
        writer.control(900_000, "route remove 10.2.0.0/16").expect("written");
        writer.frame(1, 1_000_000, &[9; 61]).expect("written");
        writer.flush().expect("written");
        std::fs::read(path).expect("it is there")
    })
}

fuzz_target!(|input: &[u8]| {
    let bytes = match input.strip_prefix(b"+") {
        Some(rest) => [genuine(), rest].concat(),
        None => input.to_vec(),
    };
    let length = bytes.len();
    let reader = RecordingReader::new(Path::new("live.pcapng"), Box::new(Cursor::new(bytes)));
    match reader {
        Ok(mut reader) => {
            let ports = reader.head().ports.len();
            let mut packets = 0;
            while let Some(recorded) = reader.next() {
                packets += 1;
                assert!(packets <= length, "packets have bytes");
                match recorded {
                    Ok(Recorded::Frame { port, bytes, .. }) => {
                        assert!((port as usize) < ports);
                        assert!(bytes.len() <= MAX_FRAME_BYTES);
                    }
                    Ok(Recorded::Control { .. }) => {}
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        break;
                    }
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
