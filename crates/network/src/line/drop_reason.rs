//! Why frames are dropped.

use serde::{Deserialize, Serialize};

/// Why a queue took no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum DropReason {
    /// There was no room.
    Full,
    /// Random early detection drew it.
    Early,
    /// The average of random early detection was too long for any.
    Forced,
    /// The frame is for a router's slow path.
    SlowPath,
    /// A chip's microcode dropped it, or sent it to its slow path: others of its flow that came
    /// later have left.
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

    /// What it is called where drops are listed.
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
