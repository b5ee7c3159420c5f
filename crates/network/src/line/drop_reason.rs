//! Why frames are dropped.

use serde::{Deserialize, Serialize};

/// Why a queue dropped a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// Random early detection dropped it at random.
    Early,
    /// The average of random early detection was too long to accept any frame.
    Forced,
    /// The frame is for a router's slow path.
    SlowPath,
    /// A chip's microcode dropped it, or sent it to its slow path: later frames of its flow have
    /// left.
    Microcode,
    /// A chip's media interface dropped it.
    Media,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [Self; 6] = [
        Self::Full,
        Self::Early,
        Self::Forced,
        Self::SlowPath,
        Self::Microcode,
        Self::Media,
    ];

    /// Returns the name in lists of drops.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::SlowPath => "slow path",
            Self::Microcode => "microcode",
            Self::Media => "media interface",
        }
    }
}
