//! The seam of look-aside devices: logic beside the memory of an SRAM channel, as
//! content-addressable memories, classifiers and coprocessors are.
//!
//! A device shares the channel's pins with the memory and answers commands to a
//! window of addresses behind it. A command is handed over when the channel starts
//! it, which is not before [`Device::free_at`]; meanwhile it waits in the channel's
//! FIFO and commands to the memory pass it. Order is kept among commands that
//! [concern](Device::check) the same longwords of the window.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::StateError;
use npsim_profile::Profile;

/// What bits 29-0 of an address reach in a channel.
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
    /// Bytes of the window; its address is a multiple of them.
    pub bytes: u32,
}

impl Attachment {
    /// The first address for a window of so many bytes in a channel with so many
    /// bytes of memory.
    #[must_use]
    pub const fn first_address(bytes: u32, memory_bytes: u64) -> u64 {
        memory_bytes.next_multiple_of(bytes as u64)
    }

    /// Whether a window of so many bytes may be at an address of a channel with so
    /// many bytes of memory.
    ///
    /// # Errors
    /// It may not; says why, to follow what it is about.
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
                "its window of {bytes:#x} bytes from {address:#x} on ends behind {CHANNEL_SPACE:#x}, what bits 29-0 of an address reach"
            ));
        }
        Ok(())
    }

    /// The place of a channel's longword in the window, in longwords; `None` outside
    /// of it.
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
    /// What follows the device's name in the part's.
    pub suffix: &'static str,
    /// Byte offset in the window.
    pub offset: u32,
    /// Bytes, if the general-purpose core reads and writes them as memory.
    pub registers: Option<u32>,
}

/// A command in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowRequest {
    /// Whether it is an `sram[write]`; else it is an `sram[read]`.
    pub writes: bool,
    /// The first longword in the window.
    pub place: u32,
    /// Longwords; at least 1.
    pub count: u32,
}

impl WindowRequest {
    /// The longwords of the window that it names.
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
    /// When the channel had all of the command.
    pub since: Cycle,
    /// The bits of a longword that a write of one longword changes; of other
    /// commands all.
    pub mask: u32,
}

impl Handover {
    /// A longword after a write.
    #[must_use]
    pub const fn written(&self, old: u32, new: u32) -> u32 {
        old & !self.mask | new & self.mask
    }
}

/// A device beside the memory of an SRAM channel.
///
/// Like a task it is part of a chip, which can be copied and saved: its type has
/// `Clone` and serde's two traits.
pub trait Device: StoredDevice + Any + Debug + Send + Sync {
    /// The name of its kind, as projects and statistics have it: `coprocessor`.
    fn kind(&self) -> &'static str;

    /// Where it is attached.
    fn attachment(&self) -> &Attachment;

    /// Makes it fit a chip, before the first cycle.
    fn prepare(&mut self, _profile: &Profile) {}

    /// The parts of its window that have a name for microcode.
    fn parts(&self) -> Vec<WindowPart>;

    /// Checks a command in the window; gives the longwords of the window that it
    /// concerns, which a write among them must not pass.
    ///
    /// # Errors
    /// No such command is possible; says why, to follow the command.
    fn check(&self, request: WindowRequest) -> Result<Range<u32>, String>;

    /// The first cycle at which it can be handed a command that
    /// [is possible](Self::check).
    fn free_at(&self, _request: WindowRequest) -> Cycle {
        0
    }

    /// Takes a command: a write with its data, a read with the place for the answer.
    /// Gives the first cycle at which the answer is there.
    ///
    /// # Errors
    /// The command cannot be carried out; says why, to follow it.
    fn serve(
        &mut self,
        request: WindowRequest,
        handover: Handover,
        data: &mut [u32],
    ) -> Result<Cycle, String>;

    /// A register at a place in the window, as the core reads it; `None` where there
    /// are none.
    fn register(&self, _place: u32) -> Option<u32> {
        None
    }

    /// The core sets a register; false where there is none.
    fn set_register(&mut self, _place: u32, _value: u32) -> bool {
        false
    }

    /// What is at a place in the window, for messages: `the registers`.
    fn part_at(&self, _place: u32) -> &'static str {
        "the registers"
    }

    /// What to do about a command that is not possible.
    fn help(&self) -> &'static str;

    /// What it has counted in so many cycles.
    fn counts(&self, _cycles: Cycle) -> Row {
        Row::default()
    }

    /// What each of its modules has counted, by name.
    fn modules(&self, _cycles: Cycle) -> Vec<(&'static str, Row)> {
        Vec::new()
    }

    /// What the summary of a run says of it, a line each.
    fn summary(&self, _cycles: Cycle) -> Vec<String> {
        Vec::new()
    }

    /// Whether a state of the device that was read from a file is like this one in
    /// all that does not change.
    fn is_like(&self, saved: &Self) -> bool
    where
        Self: Sized,
    {
        self.attachment() == saved.attachment()
    }
}

/// Copies, saves and restores a device of which only the trait is known.
pub trait StoredDevice {
    /// A copy.
    fn clone_box(&self) -> Box<dyn Device>;

    /// The state as bytes.
    ///
    /// # Errors
    /// The encoder refuses.
    fn save(&self) -> Result<Vec<u8>, StateError>;

    /// Takes over a state that was [saved](Self::save).
    ///
    /// # Errors
    /// The bytes are no state of such a device, which is then as it was.
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
        if !self.is_like(&saved) {
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

    /// Byte address in the channel, and bytes, of the registers of this name.
    #[must_use]
    pub fn registers(&self, name: &str) -> Option<(u32, u32)> {
        let suffix = name.strip_prefix(self.attachment().name.as_str())?;
        let part = self.parts().into_iter().find(|it| it.suffix == suffix)?;
        Some((self.attachment().address + part.offset, part.registers?))
    }

    /// What sources call the parts of the window, with their addresses as
    /// microcode has them: the channel in bits 31-30.
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
