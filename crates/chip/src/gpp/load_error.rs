//! Why a boot plan does not fit a chip.

use super::space::Space;

/// Why a boot plan does not fit the chip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A scratch ring.
    #[error("scratch ring {number}: {reason}")]
    Ring {
        /// The number.
        number: u8,
        /// What is wrong.
        reason: String,
    },
    /// An SRAM queue.
    #[error("SRAM queue of channel {channel}, entry {entry}: {reason}")]
    Queue {
        /// Channel.
        channel: u8,
        /// Q-array entry.
        entry: u8,
        /// What is wrong.
        reason: String,
    },
    /// The packet buffers.
    #[error("packet buffers: {0}")]
    Buffers(String),
    /// A device beside an SRAM channel.
    #[error("{kind} {name}: {reason}")]
    Device {
        /// The kind.
        kind: &'static str,
        /// The name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A memory image.
    #[error("{space:?} has no longword at byte address 0x{address:x}")]
    Memory {
        /// Which memory.
        space: Space,
        /// Byte address.
        address: u32,
    },
    /// A counter.
    #[error("counter {name}: scratch has no longword at byte address 0x{address:x}")]
    Counter {
        /// The name.
        name: String,
        /// Byte address.
        address: u32,
    },
    /// A lock.
    #[error("lock {name}: {space:?} has no longword at byte address 0x{address:x} to watch")]
    Lock {
        /// The name.
        name: String,
        /// Which memory.
        space: Space,
        /// Byte address.
        address: u32,
    },
    /// Memory that a task works on.
    #[error("task {task}: {space:?} has no longword at byte address 0x{address:x}")]
    Task {
        /// The task.
        task: &'static str,
        /// Which memory.
        space: Space,
        /// Byte address.
        address: u32,
    },
    /// The settings of a task do not fit this chip.
    #[error("task {task}: {reason}")]
    Refused {
        /// The task.
        task: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A change of the routing table.
    #[error("route change {number}: {reason}")]
    RouteChange {
        /// The place in the list, from 0.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// The ports or the element size.
    #[error("media interface: {0}")]
    Media(String),
}
