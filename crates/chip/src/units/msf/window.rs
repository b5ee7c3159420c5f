//! The data window: where RBUF and TBUF stand in the address space of the media
//! interface.

/// Start of the data window: reads take RBUF, writes go to TBUF.
pub(crate) const DATA_WINDOW: u32 = 0x2000;
/// What a range of RBUF or TBUF cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MsfError {
    /// Not on a longword.
    #[error("byte offset 0x{0:x} in the media buffer is not a multiple of 4")]
    Unaligned(u32),
    /// Not inside the buffer.
    #[error("{bytes} bytes at offset 0x{offset:x} are not inside the media buffer")]
    OutOfBuffer {
        /// Byte offset from the start of the buffer.
        offset: u32,
        /// Length.
        bytes: u32,
    },
    /// Not in the data window.
    #[error(
        "media address 0x{0:x} is not in the data window 0x2000-0x3fff; set bit 18 of the override word"
    )]
    OutsideWindow(u32),
}

/// The byte offset in the buffer of an address in the data window.
pub(super) fn window(address: u32) -> Result<u32, MsfError> {
    let offset = address.checked_sub(DATA_WINDOW).filter(|&o| o < 0x2000);
    offset.ok_or(MsfError::OutsideWindow(address))
}
