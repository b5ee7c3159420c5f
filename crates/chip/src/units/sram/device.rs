//! The interface of look-aside devices: logic attached alongside the memory of an SRAM channel, such
//! as content-addressable memories, classifiers and coprocessors.
//!
//! A device shares the channel's pins with the memory and serves commands to a window of addresses
//! above it. A command is handed over when the channel starts it, which is never before
//! [`Device::free_at`]; until then it waits in the channel's FIFO, and commands to the memory pass
//! it. Order is kept among commands that [concern](Device::check) the same longwords of the window.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::StateError;
use npsim_profile::Profile;

/// Bytes that bits 29-0 of an address can reach in a channel.
const CHANNEL_SPACE: u64 = 1 << 30;

/// Where a device is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The name in the project file.
    pub name: String,
    /// SRAM channel.
    pub channel: u8,
    /// Byte address of its window in the channel.
    pub address: u32,
    /// Bytes of the window; its address is a multiple of this.
    pub bytes: u32,
}

impl Attachment {
    /// The lowest address for a window of `bytes` bytes in a channel with `memory_bytes` bytes of
    /// memory.
    #[must_use]
    pub const fn first_address(bytes: u32, memory_bytes: u64) -> u64 {
        memory_bytes.next_multiple_of(bytes as u64)
    }

    /// Checks that a window of `bytes` bytes may be at an address of a channel with `memory_bytes`
    /// bytes of memory.
    ///
    /// # Errors
    /// Returns the reason if it may not, worded to follow the name of the window's owner.
    pub fn check_address(address: u64, bytes: u32, memory_bytes: u64) -> Result<(), String> {
        if !address.is_multiple_of(u64::from(bytes)) {
            return Err(format!(
                "its address {address:#x} is not a multiple of {bytes:#x}"
            ));
        }
        if address < memory_bytes {
            return Err(format!(
                "its address {address:#x} lies in the channel's memory, which ends at {memory_bytes:#x}"
            ));
        }
        if address > CHANNEL_SPACE - u64::from(bytes) {
            return Err(format!(
                "its window of {bytes:#x} bytes from {address:#x} on ends beyond {CHANNEL_SPACE:#x}, as far as bits 29-0 of an address reach"
            ));
        }
        Ok(())
    }

    /// The place of a channel's longword in the window, in longwords; `None` if it is outside.
    #[must_use]
    pub const fn place(&self, longword: u32) -> Option<u32> {
        match longword.checked_sub(self.address / 4) {
            Some(place) if place < self.bytes / 4 => Some(place),
            _ => None,
        }
    }

    /// Whether the two windows have an address in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let end = |it: &Self| u64::from(it.address) + u64::from(it.bytes);
        self.channel == other.channel
            && u64::from(self.address) < end(other)
            && u64::from(other.address) < end(self)
    }
}

/// A part of a device's window that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPart {
    /// The suffix that the part's name adds to the device's.
    pub suffix: &'static str,
    /// Byte offset in the window.
    pub offset: u32,
    /// Bytes, if the general-purpose core reads and writes the part as memory.
    pub registers: Option<u32>,
}

/// A command in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowRequest {
    /// Whether it is an `sram[write]`; otherwise it is an `sram[read]`.
    pub writes: bool,
    /// The first longword, counted from the start of the window.
    pub place: u32,
    /// Number of longwords; at least 1.
    pub count: u32,
}

impl WindowRequest {
    /// The longwords of the window that it accesses.
    #[must_use]
    pub const fn places(&self) -> Range<u32> {
        self.place..self.place + self.count
    }
}

/// When and how a command is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The present cycle.
    pub now: Cycle,
    /// The cycle at which the channel had the whole command.
    pub since: Cycle,
    /// The bits that a write of one longword changes; all bits for any other command.
    pub mask: u32,
}

impl Handover {
    /// A longword after a write.
    #[must_use]
    pub const fn written(&self, old: u32, new: u32) -> u32 {
        old & !self.mask | new & self.mask
    }
}

/// A device attached alongside the memory of an SRAM channel.
///
/// Like a task, it is part of a chip, which can be copied and saved, so its type implements `Clone`
/// and both serde traits.
pub trait Device: StoredDevice + Any + Debug + Send + Sync {
    /// The name of its kind, as used in projects and statistics: `coprocessor`.
    fn kind(&self) -> &'static str;

    /// Where it is attached.
    fn attachment(&self) -> &Attachment;

    /// Adapts it to a chip, before the first cycle.
    fn prepare(&mut self, _profile: &Profile) {}

    /// The parts of its window that microcode can name.
    fn parts(&self) -> Vec<WindowPart>;

    /// Checks a command in the window. Returns the longwords of the window that it concerns; no
    /// command may pass another that concerns some of the same, if either writes.
    ///
    /// # Errors
    /// Returns the reason if no such command is possible, worded to follow the command.
    fn check(&self, request: WindowRequest) -> Result<Range<u32>, String>;

    /// The first cycle at which it can take a command that [is possible](Self::check).
    fn free_at(&self, _request: WindowRequest) -> Cycle {
        0
    }

    /// Takes a command: a write with its data, a read with the buffer for the answer. Returns the
    /// first cycle at which the answer is ready.
    ///
    /// # Errors
    /// Returns the reason if the command cannot be carried out, worded to follow it.
    fn serve(
        &mut self,
        request: WindowRequest,
        handover: Handover,
        data: &mut [u32],
    ) -> Result<Cycle, String>;

    /// The register at a place in the window, as read by the core; `None` if there is none.
    fn register(&self, _place: u32) -> Option<u32> {
        None
    }

    /// Sets a register for the core. Returns false if there is none.
    fn set_register(&mut self, _place: u32, _value: u32) -> bool {
        false
    }

    /// The name of the part at a place in the window, for messages: `the registers`.
    fn part_at(&self, _place: u32) -> &'static str {
        "the registers"
    }

    /// The help text for a command that is not possible.
    fn help(&self) -> &'static str;

    /// Its counters after `cycles` cycles.
    fn counts(&self, _cycles: Cycle) -> Row {
        Row::default()
    }

    /// The counters of each of its modules, by name.
    fn modules(&self, _cycles: Cycle) -> Vec<(&'static str, Row)> {
        Vec::new()
    }

    /// Its lines in the summary of a run.
    fn summary(&self, _cycles: Cycle) -> Vec<String> {
        Vec::new()
    }

    /// Whether a state of the device that was read from a file agrees with this one in everything
    /// that does not change.
    fn is_compatible_with(&self, saved: &Self) -> bool
    where
        Self: Sized,
    {
        self.attachment() == saved.attachment()
    }
}

/// Copies, saves and restores a device known only through its trait.
pub trait StoredDevice {
    /// A copy.
    fn clone_box(&self) -> Box<dyn Device>;

    /// The state as bytes.
    ///
    /// # Errors
    /// Returns an error if encoding fails.
    fn save(&self) -> Result<Vec<u8>, StateError>;

    /// Takes over a state that was [saved](Self::save).
    ///
    /// # Errors
    /// Returns an error if the bytes are not a state of such a device, which is then left
    /// unchanged.
    fn restore(&mut self, state: &[u8]) -> Result<(), StateError>;
}

impl<T: Device + Clone + Serialize + DeserializeOwned> StoredDevice for T {
    fn clone_box(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        Ok(postcard::to_allocvec(self)?)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        let saved: T = postcard::from_bytes(state)?;
        if !self.is_compatible_with(&saved) {
            return Err(StateError::OtherChip("devices beside SRAM"));
        }
        *self = saved;
        Ok(())
    }
}

impl Clone for Box<dyn Device> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

impl dyn Device {
    /// The device itself, if it is of this type.
    #[must_use]
    pub fn downcast_ref<T: Device>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The byte address in the channel and the size in bytes of the registers with this name.
    #[must_use]
    pub fn registers(&self, name: &str) -> Option<(u32, u32)> {
        let suffix = name.strip_prefix(self.attachment().name.as_str())?;
        let part = self.parts().into_iter().find(|it| it.suffix == suffix)?;
        Some((self.attachment().address + part.offset, part.registers?))
    }

    /// The names that sources use for the parts of the window, with the addresses that microcode
    /// uses: the channel in bits 31-30.
    #[must_use]
    pub fn names(&self) -> Vec<(String, u32)> {
        let own = self.attachment();
        let window = u32::from(own.channel) << 30 | own.address;
        let parts = self.parts().into_iter();
        parts
            .map(|part| (format!("{}{}", own.name, part.suffix), window + part.offset))
            .collect()
    }
}
