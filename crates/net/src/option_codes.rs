//! Option codes of pcapng blocks (draft-ietf-opsawg-pcapng).

/// A comment, in any block.
pub const COMMENT: u16 = 1;
/// The application that wrote the file, in a section header.
pub const USER_APPLICATION: u16 = 4;
/// Name of an interface.
pub const IF_NAME: u16 = 2;
/// Speed of an interface, in bits per second.
pub const IF_SPEED: u16 = 8;
/// Time resolution of an interface.
pub const IF_TSRESOL: u16 = 9;
/// Offset added to an interface's times, in seconds.
pub const IF_TSOFFSET: u16 = 14;
