//! A command for a device, as its channel keeps it until the device is free.

use serde::{Deserialize, Serialize};

use super::channel::AddressRange;
use super::device::WindowRequest;

/// A command that goes to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeviceCommand {
    /// The device's place among the channel's.
    pub device: u8,
    pub request: WindowRequest,
    /// The longwords of the channel that it concerns.
    pub concerns: (u32, u32),
}

impl DeviceCommand {
    /// What the command must not overtake.
    pub const fn concern(&self) -> AddressRange {
        let (first, end) = self.concerns;
        AddressRange { first, end }
    }
}

/// Why a command cannot be carried out: the message, and what to do.
pub(super) type AccessError = (String, String);
