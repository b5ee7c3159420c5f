//! A command for a device, held by its channel until the device is free.

use serde::{Deserialize, Serialize};

use super::channel::AddressRange;
use super::device::WindowRequest;

/// A command that goes to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeviceCommand {
    /// The device's place among the channel's.
    pub device: u8,
    pub request: WindowRequest,
    /// The longwords of the channel that it concerns: first and end.
    pub concerns: (u32, u32),
}

impl DeviceCommand {
    /// The range within which the command must not overtake others.
    pub const fn concern(&self) -> AddressRange {
        let (first, end) = self.concerns;
        AddressRange { first, end }
    }
}

/// Why a command cannot be carried out: the message and the help text.
pub(super) type AccessError = (String, String);
