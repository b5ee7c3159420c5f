//! Padding of frames of which a capture holds only the beginning.

use std::fmt;
use std::str::FromStr;

use etherparse::LaxSlicedPacket;

use super::MAX_FRAME_BYTES;
use crate::Frame;
use crate::transport_checksum::transport_checksum;

/// Treatment of frames of which the capture holds only the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// The frames stay truncated.
    #[default]
    None,
    /// The frames are padded to their length with zeros; checksums stay as captured.
    Zeros,
    /// The frames are padded to their length with zeros, and the checksums of TCP, UDP and ICMP are
    /// corrected.
    Checksums,
}

impl FromStr for Padding {
    type Err = String;

    /// Reads `zeros` and `checksums`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "zeros" => Ok(Self::Zeros),
            "checksums" => Ok(Self::Checksums),
            _ => Err(format!(
                "`{text}` is not a way to fill frames up: write `zeros`, which leaves checksums as they are, or `checksums`, which makes them right"
            )),
        }
    }
}

impl fmt::Display for Padding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::None => "none",
            Self::Zeros => "zeros",
            Self::Checksums => "checksums",
        })
    }
}

/// Pads a frame to its length on the wire. Returns false if that length is impossible.
pub(super) fn padded(frame: &mut Frame, padding: Padding) -> bool {
    let captured = frame.bytes.len();
    let length = frame.original_len as usize;
    if length > MAX_FRAME_BYTES {
        return false;
    }
    frame.bytes.resize(length, 0);
    if padding == Padding::Checksums {
        let packet = LaxSlicedPacket::from_ethernet(&frame.bytes).ok();
        let sum = packet.and_then(|packet| transport_checksum(&frame.bytes, &packet));
        // A checksum field that lies within the padding is not the packet's own.
        if let Some(sum) = sum.filter(|sum| sum.at + 2 <= captured) {
            frame.bytes[sum.at..sum.at + 2].copy_from_slice(&sum.right.to_be_bytes());
        }
    }
    true
}
