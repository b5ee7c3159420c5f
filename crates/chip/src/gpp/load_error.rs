//! Why a boot plan does not fit a chip.

use super::space::Space;

/// Why a boot plan does not fit the chip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A scratch ring is not possible.
    #[error("scratch ring {number}: {reason}")]
    Ring {
        /// The ring number.
        number: u8,
        /// What is wrong with it.
        reason: String,
    },
    /// An SRAM queue is not possible.
    #[error("SRAM queue of channel {channel}, entry {entry}: {reason}")]
    Queue {
        /// The SRAM channel.
        channel: u8,
        /// Q-array entry.
        entry: u8,
        /// What is wrong with it.
        reason: String,
    },
    /// The packet buffers are not possible.
    #[error("packet buffers: {0}")]
    Buffers(String),
    /// A device cannot be attached to an SRAM channel.
    #[error("{kind} {name}: {reason}")]
    Device {
        /// The kind.
        kind: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A memory image lies outside of memory.
    #[error("{space:?} has no longword at byte address 0x{address:x}")]
    Memory {
        /// The memory.
        space: Space,
        /// Byte address.
        address: u32,
    },
    /// A counter lies outside of memory.
    #[error("counter {name}: scratch has no longword at byte address 0x{address:x}")]
    Counter {
        /// The name.
        name: String,
        /// Byte address.
        address: u32,
    },
    /// A lock lies outside of memory.
    #[error("lock {name}: {space:?} has no longword at byte address 0x{address:x} to watch")]
    Lock {
        /// The name.
        name: String,
        /// The memory.
        space: Space,
        /// Byte address.
        address: u32,
    },
    /// Memory that a task needs is missing.
    #[error("task {task}: {space:?} has no longword at byte address 0x{address:x}")]
    Task {
        /// The task.
        task: &'static str,
        /// The memory.
        space: Space,
        /// Byte address.
        address: u32,
    },
    /// The settings of a task do not fit this chip.
    #[error("task {task}: {reason}")]
    Refused {
        /// The task.
        task: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A change of the routing table cannot be made.
    #[error("route change {number}: {reason}")]
    RouteChange {
        /// The position in the list, from 0.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The ports or the element size are not possible.
    #[error("media interface: {0}")]
    Media(String),
}
