//! What a capture has that its frames do not show.

/// What of a capture is not as it should be, and was read all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureNotes {
    /// Frames whose time was a little earlier than that of a frame before them, and was raised to it.
    pub reordered: u64,
    /// How often a clock was set back, after which its times go on from the frame before.
    pub clock_steps: u64,
    /// By how much, in nanoseconds, all in all.
    pub stepped_back_ns: u64,
    /// Frames of which the capture holds only the beginning (snap length).
    pub truncated_frames: u64,
    /// Those of them that were filled up with zeros.
    pub padded_frames: u64,
    /// Frames of which the capture has more bytes than were on the wire; these were cut off.
    pub overlong_frames: u64,
    /// Frames that got a made-up Ethernet header, since the capture has another link type.
    pub framed: u64,
    /// Packets that were left out, since nothing says what they carry.
    pub left_out: u64,
    /// Frames whose time has a second or more beside its seconds, which was carried over.
    pub overflowing_times: u64,
    /// Options of pcapng that are not as the format says, and were left alone.
    pub odd_options: u64,
    /// Frames that were lost where the capture was made, as ERF and pcapng count them.
    pub lost_before: u64,
    /// Commands of a recording of npsim, which hold at the pace `recorded` alone.
    pub commands: u64,
    /// Bytes behind compressed data, which were not read.
    pub bytes_behind: u64,
}
