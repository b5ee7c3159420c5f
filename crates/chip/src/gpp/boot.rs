//! The initial state set up by a loader before the first cycle: rings, queues, buffers, memory,
//! ports and the slow path's tasks, all at concrete addresses.
//!
//! The loader's work costs no simulated time; the slow path's later work does.

pub use super::memory_image::MemoryImage;
use super::routes::{NextHop, Route, RouteChange, RouteError, RouteTable};
pub use super::space::Space;
use super::task::Task;
use crate::Cycle;
use crate::kernel::buffers::BufferSetup;
use crate::kernel::fault_injection::Perturbations;
pub use crate::units::msf::PortSetup;
use crate::units::sram::device::Device;
use serde::{Deserialize, Serialize};

/// Everything that is in place before cycle 0.
#[derive(Clone, Debug, Default)]
pub struct BootPlan {
    /// Scratch rings.
    pub rings: Vec<RingSetup>,
    /// SRAM queues that start empty (the free list of `buffers` is then filled).
    pub queues: Vec<QueueSetup>,
    /// Packet buffers, all enqueued.
    pub buffers: Option<BufferSetup>,
    /// Memory contents.
    pub memory: Vec<MemoryImage>,
    /// The chip's ports, in numerical order.
    pub ports: Vec<PortSetup>,
    /// RBUF element size in bytes: 64, 128 or 256; 0 stands for 64.
    pub element_size: u16,
    /// TBUF element size in bytes; 0 for the size of RBUF elements.
    pub transmit_element_size: u16,
    /// The position of the chip in a chain of routers, from 0.
    pub node: usize,
    /// The tasks of the general-purpose core.
    pub tasks: Vec<Box<dyn Task>>,
    /// The kinds of tasks that statistics list, even if none runs, in this order.
    pub task_kinds: Vec<String>,
    /// Longwords in scratch that statistics show by name.
    pub counters: Vec<CounterSetup>,
    /// Longwords whose bit 0 statistics watch as a lock.
    pub locks: Vec<LockSetup>,
    /// The devices attached to SRAM channels beside their memory.
    pub devices: Vec<Box<dyn Device>>,
    /// Deliberate disturbances of the run.
    pub disturbances: Perturbations,
}

impl BootPlan {
    /// The first task of this type.
    #[must_use]
    pub fn task<T: Task>(&self) -> Option<&T> {
        self.tasks.iter().find_map(|task| task.downcast_ref())
    }

    /// The first device of this type.
    #[must_use]
    pub fn device<T: Device>(&self) -> Option<&T> {
        self.devices.iter().find_map(|device| device.downcast_ref())
    }
}

/// When a scratch ring's status flag is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RingStatus {
    /// From the profile's fill threshold on; three quarters in the built-in profiles.
    #[default]
    NearlyFull,
    /// While the ring is empty.
    Empty,
}

/// A scratch ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSetup {
    /// Ring number, 0-15.
    pub number: u8,
    /// Byte address in scratch, a multiple of the ring's size in bytes.
    pub base: u32,
    /// Size in longwords: 128, 256, 512 or 1024.
    pub size: u16,
    /// The condition that the status flag reports.
    pub status: RingStatus,
}

impl RingSetup {
    /// The value of the ring's `SCRATCH_RING_BASE` register: size code in bits 31-30, status type
    /// in bit 26, base address in bits 13-9. `None` if the size is not one of the four.
    #[must_use]
    pub(crate) fn base_register(self) -> Option<u32> {
        let code = match self.size {
            128 => 0,
            256 => 1,
            512 => 2,
            1024 => 3,
            _ => return None,
        };
        let status = u32::from(self.status == RingStatus::Empty);
        Some(code << 30 | status << 26 | self.base & 0x3e00)
    }
}

/// An SRAM queue resident in the Q-array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSetup {
    /// SRAM channel.
    pub channel: u8,
    /// Q-array entry, 0-63.
    pub entry: u8,
    /// Byte address of the queue descriptor in the channel.
    pub descriptor: u32,
}

/// A longword in scratch that counts something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSetup {
    /// The name in the project file.
    pub name: String,
    /// Byte address in scratch.
    pub address: u32,
    /// Whether it counts frames that the microcode dropped.
    pub drop: bool,
    /// Description of what it counts, for people.
    pub text: String,
}

/// A longword whose bit 0 is a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockSetup {
    /// The name in the project file.
    pub name: String,
    /// Scratch or an SRAM channel.
    pub space: Space,
    /// Byte address in it, a multiple of 4.
    pub address: u32,
}

/// The routing table: its location, its routes and their changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutesSetup {
    /// SRAM channel.
    pub channel: u8,
    /// Byte address of the root block in the channel; a multiple of 32, so that the core reaches
    /// eight entries in one access.
    pub root: u32,
    /// Byte address of the next-hop table in the channel.
    pub next_hops: u32,
    /// The initial routes: one set for all routers, or one for each router of a chain. The same
    /// next hops have the same indices in all of them.
    pub routers: Vec<RouterRoutes>,
    /// Changes of the table while packets flow, if any.
    pub changes: Option<RouteChangesSetup>,
}

impl RoutesSetup {
    /// The routes of the router at a position in a chain, from 0; `None` if the setup has fewer.
    #[must_use]
    pub fn router(&self, node: usize) -> Option<&RouterRoutes> {
        of_router(&self.routers, node)
    }
}

/// The element for the router at a position in a chain, from 0, where `all` has one for all routers
/// or one for each; `None` if there are fewer.
#[must_use]
pub fn of_router<T>(all: &[T], node: usize) -> Option<&T> {
    match all {
        [one] => Some(one),
        each => each.get(node),
    }
}

/// The initial routes of a router, and their table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterRoutes {
    routes: Vec<Route>,
    reserved: Vec<NextHop>,
    table: RouteTable,
}

impl RouterRoutes {
    /// The table of routes; `reserved` are next hops that have a place in the table in addition to
    /// those of the routes.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`RouteTable::build`].
    pub fn new(routes: Vec<Route>, reserved: Vec<NextHop>) -> Result<Self, RouteError> {
        let table = RouteTable::with_next_hops(&routes, &reserved)?;
        Ok(Self {
            routes,
            reserved,
            table,
        })
    }

    /// The routes.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Next hops that have a place in the table in addition to those of the routes.
    #[must_use]
    pub fn reserved(&self) -> &[NextHop] {
        &self.reserved
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> &RouteTable {
        &self.table
    }
}

/// How the routing table changes while packets flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteChangesSetup {
    /// The changes, in the order in which they are made.
    pub changes: Vec<RouteChange>,
    /// Number of blocks of 256 entries for which there is room after the root, including those of
    /// the initial routes.
    pub blocks: u32,
    /// ME cycles after which no reader is left in an unreachable block.
    pub grace: Cycle,
    /// Number of next hops for which there is room, including the initial ones, if changes arrive
    /// while the chip runs; `None` if all changes are known before the start.
    pub open: Option<usize>,
}

/// The slow path that takes exception packets, which end there.
///
/// A ring entry is one longword: the reason code in bits 31-24, the buffer
/// descriptor's longword address in bits 23-0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionsSetup {
    /// Scratch ring number.
    pub ring: u8,
    /// ME cycles from one poll to the next; at least 1.
    pub period: Cycle,
    /// Names of the reasons, by reason code.
    pub reasons: Vec<String>,
    /// Buffer geometry, and the free list to which the buffers return.
    pub buffers: BufferSetup,
}

impl ExceptionsSetup {
    /// The name of a reason, or its code if it has none.
    #[must_use]
    pub fn reason(&self, code: u8) -> String {
        let name = self.reasons.get(usize::from(code));
        match name.filter(|name| !name.is_empty()) {
            Some(name) => name.clone(),
            None => format!("reason {code}"),
        }
    }
}
