//! Events that the media interface schedules for itself.

/// The meaning of an [`Event::Media`](crate::kernel::event::Event::Media): the code in the upper
/// bits, an argument below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaEventCode {
    Arrival,
    ReceiveBus,
    ReceiveDone,
    Timeout,
    TransmitBus,
    TransmitDone,
    LineEnd,
}

impl MediaEventCode {
    const ALL: [Self; 7] = [
        Self::Arrival,
        Self::ReceiveBus,
        Self::ReceiveDone,
        Self::Timeout,
        Self::TransmitBus,
        Self::TransmitDone,
        Self::LineEnd,
    ];
    const SHIFT: u32 = 24;

    pub const fn with(self, argument: u32) -> u32 {
        (self as u32) << Self::SHIFT | argument
    }

    pub fn of(code: u32) -> (Option<Self>, u32) {
        let found = Self::ALL.get((code >> Self::SHIFT) as usize).copied();
        (found, code & ((1 << Self::SHIFT) - 1))
    }
}
