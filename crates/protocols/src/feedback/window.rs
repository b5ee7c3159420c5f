//! The coprocessor's window of addresses: its layout, and the meaning of
//! commands.

use std::ops::Range;

/// Bytes of the window; its address is a multiple of this.
pub const WINDOW_BYTES: u32 = 8192;
/// Groups of registers: one per port, or per other entity with its own
/// capacity.
pub const GROUPS: u8 = 16;
/// Byte offset of the Quick-Start registers.
pub const QUICK_START: u32 = 0;
/// Byte offset of the XCP registers.
pub const XCP: u32 = 0x400;
/// Byte offset at which reads are Quick-Start requests.
pub const REQUESTS: u32 = 0x800;
/// Byte offset of the XCP mailboxes.
pub const MAILBOXES: u32 = 0x1000;
/// Longwords of an XCP request: group, X, packet size, Delta.
pub const REQUEST_WORDS: u32 = 4;

/// Longwords from one group to the next.
const QUICK_START_STRIDE: u32 = 8;
const XCP_STRIDE: u32 = 16;
const CODES: u32 = 16;

/// Longwords per group that are Quick-Start registers.
pub(crate) const QUICK_START_WORDS: usize = 5;
/// Longwords per group that are XCP registers.
pub(crate) const XCP_WORDS: usize = 5;

/// The purpose of a command in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowAccess {
    /// Registers, starting at this longword of the window.
    Registers(u16),
    /// A Quick-Start request.
    QuickStart {
        /// The group.
        group: u8,
        /// The requested rate code.
        code: u8,
    },
    /// An XCP request, written to the mailbox of this number.
    XcpRequest(u8),
    /// The answer in the mailbox of this number.
    XcpAnswer(u8),
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    QuickStart {
        group: usize,
        word: usize,
    },
    Xcp {
        group: usize,
        word: usize,
    },
    /// A gap between registers, which reads as 0.
    Gap,
}

impl Register {
    /// The register at a longword of the window; `None` beyond the registers.
    pub fn at(word: u32) -> Option<Self> {
        let split = |first: u32, stride: u32| {
            let at = word - first / 4;
            ((at / stride) as usize, at % stride)
        };
        if word < XCP / 4 {
            let (group, word) = split(QUICK_START, QUICK_START_STRIDE);
            let there = group < usize::from(GROUPS) && word < QUICK_START_WORDS as u32;
            let word = word as usize;
            Some(if there {
                Self::QuickStart { group, word }
            } else {
                Self::Gap
            })
        } else if word < REQUESTS / 4 {
            let (group, word) = split(XCP, XCP_STRIDE);
            let there = word < XCP_WORDS as u32;
            let word = word as usize;
            Some(if there {
                Self::Xcp { group, word }
            } else {
                Self::Gap
            })
        } else {
            None
        }
    }
}

impl WindowAccess {
    /// Determines the purpose of a read of `count` longwords from longword
    /// `word` of the window.
    ///
    /// # Errors
    /// Returns why no such read is possible, worded to follow the command.
    pub fn read(word: u32, count: u32, mailboxes: u32) -> Result<Self, String> {
        let requests = REQUESTS / 4..REQUESTS / 4 + u32::from(GROUPS) * CODES;
        if word + count <= REQUESTS / 4 {
            return Ok(Self::Registers(word as u16));
        }
        if requests.contains(&word) {
            if count != 1 {
                return Err(
                    "a Quick-Start request reads exactly one longword, at group * 64 + rate code * 4"
                        .to_owned(),
                );
            }
            let at = word - requests.start;
            return Ok(Self::QuickStart {
                group: (at / CODES) as u8,
                code: (at % CODES) as u8,
            });
        }
        let (number, offset) = mailbox(word, mailboxes)?;
        if offset != 0 || count != 1 {
            return Err(
                "the answer in an XCP mailbox is one longword, read at its beginning".to_owned(),
            );
        }
        Ok(Self::XcpAnswer(number))
    }

    /// Determines the purpose of a write of `count` longwords from longword
    /// `word` of the window.
    ///
    /// # Errors
    /// Returns why no such write is possible, worded to follow the command.
    pub fn write(word: u32, count: u32, mailboxes: u32) -> Result<Self, String> {
        if word < REQUESTS / 4 {
            let mut words = word..word + count;
            let writable =
                |word| Register::at(word).is_some_and(|register| register != Register::Gap);
            if words.all(writable) {
                return Ok(Self::Registers(word as u16));
            }
            return Err(
                "not all of these longwords are registers (a group has 5 of Quick-Start, 5 of XCP)"
                    .to_owned(),
            );
        }
        if word < MAILBOXES / 4 {
            return Err("a Quick-Start request is a read".to_owned());
        }
        let (number, offset) = mailbox(word, mailboxes)?;
        if offset != 0 || count != REQUEST_WORDS {
            return Err(
                "an XCP request is four longwords (group, X, size, Delta), written at the beginning of a mailbox"
                    .to_owned(),
            );
        }
        Ok(Self::XcpRequest(number))
    }

    /// The longwords of the window across which the command must not be
    /// reordered with writes: a Quick-Start request depends on its group's
    /// registers.
    pub fn concerns(self, word: u32, count: u32) -> Range<u32> {
        match self {
            Self::QuickStart { group, .. } => {
                let first = QUICK_START / 4 + u32::from(group) * QUICK_START_STRIDE;
                first..first + QUICK_START_STRIDE
            }
            _ => word..word + count,
        }
    }
}

/// The mailbox at a longword of the window, and the offset from its beginning.
fn mailbox(word: u32, mailboxes: u32) -> Result<(u8, u32), String> {
    let nothing = || {
        format!(
            "nothing is there: registers are up to {REQUESTS:#x}, Quick-Start requests up to {:#x}, the {mailboxes} XCP mailboxes from {MAILBOXES:#x} to {:#x}",
            REQUESTS + u32::from(GROUPS) * CODES * 4,
            MAILBOXES + mailboxes * REQUEST_WORDS * 4,
        )
    };
    let at = word.checked_sub(MAILBOXES / 4).ok_or_else(nothing)?;
    let number = at / REQUEST_WORDS;
    if number >= mailboxes {
        return Err(nothing());
    }
    Ok((number as u8, at % REQUEST_WORDS))
}
