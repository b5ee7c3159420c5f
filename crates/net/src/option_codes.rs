//! Codes of options in blocks of pcapng (draft-ietf-opsawg-pcapng).

/// Text, in any block.
pub const COMMENT: u16 = 1;
/// What wrote the file, in a section header.
pub const USER_APPLICATION: u16 = 4;
/// Name of an interface.
pub const IF_NAME: u16 = 2;
/// Bits per second of an interface.
pub const IF_SPEED: u16 = 8;
/// Unit of an interface's times.
pub const IF_TSRESOL: u16 = 9;
/// Seconds that are added to an interface's times.
pub const IF_TSOFFSET: u16 = 14;
