//! Captures: frames that are read satisfy the reader's guarantees.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim_net::capture::{Capture, MAX_FRAME_BYTES};

fuzz_target!(|input: &[u8]| {
    match Capture::from_bytes("input", input) {
        Ok(capture) => {
            let mut last = 0;
            for frame in &capture.frames {
                assert!(frame.time_ns >= last, "frames stand in the order of time");
                last = frame.time_ns;
                assert!((frame.port as usize) < capture.interfaces.len());
                assert!(frame.bytes.len() <= MAX_FRAME_BYTES);
            }
            assert!(capture.notes.truncated_frames <= capture.frames.len() as u64);
            assert!(capture.notes.reordered <= capture.frames.len() as u64);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
