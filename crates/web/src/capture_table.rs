//! Tables of the frames in captures.

use npsim::net::Frame;
use npsim::net::capture::CaptureReader;
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::headers::{Layer, layers, summary};

/// The maximum number of rows returned at once.
const MAX_ROWS: usize = 1000;

#[derive(Debug, Serialize)]
struct FrameRow {
    number: usize,
    /// The cycle, if the capture's times are those of a run.
    at: Option<u64>,
    seconds: f64,
    port: u32,
    bytes: u32,
    summary: String,
    layers: Vec<Layer>,
    hex: String,
}

/// Calls a function with each frame of a capture and its time, in nanoseconds since 1970.
///
/// # Errors
/// Returns an error if the bytes are no capture, or the function fails.
pub fn each(
    name: &str,
    bytes: Vec<u8>,
    mut take: impl FnMut(&Frame, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let unread = |error: npsim::net::capture::CaptureError| Failure::new(error.to_string());
    let mut reader = CaptureReader::from_bytes(name, bytes).map_err(unread)?;
    loop {
        let Some(frame) = reader.next() else {
            return Ok(());
        };
        let frame = frame.map_err(unread)?;
        let first = u64::try_from(reader.first_timestamp_ns()).unwrap_or(0);
        take(&frame, first + frame.time_ns)?;
    }
}

/// Relates the times of a capture to those of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    /// The clock of the microengines.
    pub hertz: u64,
    /// The time of cycle 0, in nanoseconds since 1970.
    pub origin_ns: u64,
}

/// Some of the frames of a capture, with times from the beginning of the run for a capture that
/// the run produced, else from its first frame.
///
/// # Errors
/// Returns an error if the bytes are no capture.
pub fn table(
    name: &str,
    bytes: Vec<u8>,
    (from, count): (usize, usize),
    clock: Option<RunClock>,
) -> Result<Value, Failure> {
    let (mut rows, mut total) = (Vec::new(), 0);
    let wanted = from..from.saturating_add(count.min(MAX_ROWS));
    let mut first = None;
    each(name, bytes, |frame, time_ns| {
        let first = *first.get_or_insert(time_ns);
        if wanted.contains(&total) {
            let since = time_ns.saturating_sub(clock.map_or(first, |it| it.origin_ns));
            let layers = layers(&frame.bytes);
            let cycle = |clock: RunClock| {
                (u128::from(since) * u128::from(clock.hertz) / 1_000_000_000) as u64
            };
            rows.push(FrameRow {
                number: total,
                at: clock.map(cycle),
                seconds: since as f64 / 1e9,
                port: frame.port,
                bytes: frame.original_len,
                summary: summary(&layers),
                layers,
                hex: hex(&frame.bytes),
            });
        }
        total += 1;
        Ok(())
    })?;
    Ok(json!({ "total": total, "frames": rows }))
}

fn hex(bytes: &[u8]) -> String {
    let bytes = bytes.iter().map(|byte| format!("{byte:02x}"));
    bytes.collect::<Vec<_>>().join(" ")
}
