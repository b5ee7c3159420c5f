//! The data window: the location of RBUF and TBUF in the address space of the
//! media interface.

/// Start of the data window: reads access RBUF, writes TBUF.
pub(crate) const DATA_WINDOW: u32 = 0x2000;
/// Why a range of RBUF or TBUF cannot be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MsfError {
    /// The offset is not aligned to a longword.
    #[error("byte offset 0x{0:x} in the media buffer is not a multiple of 4")]
    Unaligned(u32),
    /// The range is not inside the buffer.
    #[error("{bytes} bytes at offset 0x{offset:x} are not inside the media buffer")]
    OutOfBuffer {
        /// Byte offset from the start of the buffer.
        offset: u32,
        /// Length in bytes.
        bytes: u32,
    },
    /// The address is not in the data window.
    #[error(
        "media address 0x{0:x} is not in the data window 0x2000-0x3fff; set bit 18 of the override word"
    )]
    OutsideWindow(u32),
}

/// The offset in the buffer, in bytes, of an address in the data window.
pub(super) fn window(address: u32) -> Result<u32, MsfError> {
    let offset = address.checked_sub(DATA_WINDOW).filter(|&o| o < 0x2000);
    offset.ok_or(MsfError::OutsideWindow(address))
}
