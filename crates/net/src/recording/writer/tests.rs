use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::{Medium, RecordingHead, RecordingWriter};
use crate::egress::CapturePort;

fn head() -> RecordingHead {
    RecordingHead {
        hertz: 600_000_000,
        start_seconds: 1_796_000_000,
        ports: vec![
            CapturePort::port(0, 1_000_000_000),
            CapturePort::port(1, 1_000_000_000),
        ],
        target: "forward/arp.toml".to_owned(),
        seed: Some(7),
        route_blocks: 64,
    }
}

/// A disk with limited room that accepts writes in pieces of odd lengths.
#[derive(Clone, Debug, Default)]
struct Disk {
    data: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut data = self.data.lock().unwrap();
        let some = bytes.len().min(self.room - data.len()).min(1001);
        if some == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        data.extend(&bytes[..some]);
        Ok(some)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Medium for Disk {
    fn truncate_to(&mut self, bytes: u64) -> io::Result<()> {
        self.data.lock().unwrap().truncate(bytes as usize);
        Ok(())
    }
}

#[test]
fn full_disk_ends_the_recording_after_the_last_whole_block() {
    let header = RecordingWriter::begin(
        Box::new(Disk {
            room: 1 << 20,
            ..Disk::default()
        }),
        &head(),
    );
    let header = header.unwrap().written as usize;
    for room in (header..header + 400).step_by(7) {
        let disk = Disk {
            room,
            ..Disk::default()
        };
        let mut writer = RecordingWriter::begin(Box::new(disk.clone()), &head()).unwrap();
        for frame in 0..5 {
            writer.frame(1, frame * 1000, &[frame as u8; 61]).unwrap();
        }
        let flushed = writer.flush();
        let whole = (room - header) / 96;
        assert_eq!(flushed.is_ok(), whole >= 5, "{room}");
        // Each later call returns the error.
        if let Err(error) = flushed {
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            let again = writer.frame(0, 9000, &[1; 60]).unwrap_err();
            assert_eq!(again.kind(), ErrorKind::StorageFull);
            assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::StorageFull);
        }
        drop(writer);
        let data = disk.data.lock().unwrap();
        assert_eq!(data.len(), header + whole.min(5) * 96, "{room}");
    }
}

#[test]
fn recording_header_is_written_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.pcapng");
    std::fs::write(
        &path,
        b"an older file that is longer than the header of a recording".repeat(99),
    )
    .unwrap();
    let mut writer = RecordingWriter::create(&path, &head()).unwrap();
    let begun = std::fs::read(&path).unwrap();
    assert!(begun.windows(15).any(|text| text == b"npsim recording"));
    let error = RecordingWriter::create(&path, &head()).unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
    writer.frame(0, 1, &[3; 60]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), begun, "blocks are gathered");
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap().len(), begun.len() + 92);
}

#[test]
fn unsuitable_files_and_frames_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, reason) in [
        ("-", "standard output"),
        ("live.pcapng.gz", "not compressed"),
        ("live.pcap", ".pcapng"),
        (".", "regular file"),
    ] {
        let path = match name {
            "-" => Path::new(name).to_path_buf(),
            _ => folder.path().join(name),
        };
        let error = RecordingWriter::create(&path, &head()).unwrap_err();
        assert!(error.to_string().contains(reason), "{name}: {error}");
    }
    let path = folder.path().join("live.pcapng");
    let mut writer = RecordingWriter::create(&path, &head()).unwrap();
    assert!(writer.frame(2, 0, &[0; 60]).is_err(), "no such port");
    assert!(writer.frame(0, 0, &vec![0; 300_000]).is_err());
    writer.frame(0, 0, &[0; 60]).unwrap();
}
