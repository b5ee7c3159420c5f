//! Facts about a capture that do not show in its frames.

/// Irregularities in a capture that was read nevertheless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureNotes {
    /// Frames whose time was slightly before that of an earlier frame, and was moved up to it.
    pub reordered: u64,
    /// Times that a clock was set back; its times then continue from the frame before.
    pub clock_steps: u64,
    /// Total time that clocks were set back, in nanoseconds.
    pub stepped_back_ns: u64,
    /// Frames of which the capture holds only the beginning (snap length).
    pub truncated_frames: u64,
    /// Truncated frames that were padded with zeros.
    pub padded_frames: u64,
    /// Frames with more captured bytes than were on the wire; the excess was cut off.
    pub overlong_frames: u64,
    /// Frames that got a made-up Ethernet header because the capture has another link type.
    pub framed: u64,
    /// Packets that were left out because their payload type is unknown.
    pub left_out: u64,
    /// Frames whose fraction of a second was a second or more, which was carried over.
    pub overflowing_times: u64,
    /// Options of pcapng that violate the format and were ignored.
    pub odd_options: u64,
    /// Frames lost during the capture, as counted by ERF and pcapng.
    pub lost_before: u64,
    /// Commands in a recording of npsim, which take effect only with the pace `recorded`.
    pub commands: u64,
    /// Bytes after the end of the compressed data, which were not read.
    pub bytes_behind: u64,
}
