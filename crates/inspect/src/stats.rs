//! What a run counted, for people and machines: integers in a fixed order.
//!
//! Times are microengine cycles unless a name says otherwise.

mod collect;
mod rows;
mod slow_path;

use npsim_chip::gpp::TaskCounts;
use npsim_chip::kernel::row::Row;
use npsim_chip::units::cap::CapUses;
use serde::Serialize;

pub use rows::{DeviceStats, Devices, TaskRows};

/// The statistics of a whole chip.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Name of the chip profile.
    pub chip: String,
    /// Name of the board.
    pub board: String,
    /// Fingerprint of all numbers of chip and board.
    pub profile_hash: String,
    /// Microengine clock in MHz.
    pub mhz: u64,
    /// Cycles simulated.
    pub cycles: u64,
    /// The simulated time in nanoseconds, rounded down.
    pub nanoseconds: u64,
    /// Microengines in the order of their index.
    pub microengines: Vec<MicroengineStats>,
    /// Memories, hash unit, media interface and CSR proxy, one entry a channel.
    pub units: Vec<UnitStats>,
    /// Buses, summed over clusters.
    pub buses: Vec<BusStats>,
    /// Ports in the order of their number.
    pub ports: Vec<PortStats>,
    /// Media interface.
    pub media: MediaStats,
    /// Named counters of the microcode, in the order of the project file.
    pub counters: Vec<CounterStats>,
    /// Scratch rings that are in use, as they stand.
    pub rings: Vec<RingStats>,
    /// Queues and rings in the Q-arrays of SRAM, as they stand.
    pub queues: Vec<QueueStats>,
    /// The packet buffers, if the boot plan has some.
    pub buffers: Option<BufferStats>,
    /// Longwords watched as locks, in the order of the project file.
    pub locks: Vec<LockStats>,
    /// The general-purpose core.
    pub gpp: GppStats,
    /// Chip-wide CSRs.
    pub cap: CapUses,
    /// What is attached to SRAM channels, by kind.
    #[serde(flatten)]
    pub devices: Devices,
    /// Checks that were allowed and would have stopped the run.
    pub checks_passed_over: Vec<CheckStats>,
}

/// One microengine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MicroengineStats {
    /// Index on the chip.
    pub index: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Cycles in which an instruction was executed.
    pub executing: u64,
    /// Cycles lost to taken branches and context swaps.
    pub aborted: u64,
    /// Cycles stalled on a full command FIFO.
    pub stalled: u64,
    /// Cycles with no context ready.
    pub idle: u64,
    /// Times a context yielded the pipeline.
    pub swaps: u64,
    /// Commands issued.
    pub commands: u64,
    /// Commands issued by unit, one entry a channel; none if nothing was issued.
    pub references: Vec<ReferenceStats>,
    /// Thousandths of the run in which instructions were executed.
    pub executing_permille: u64,
    /// Contexts.
    pub contexts: Vec<ContextStats>,
}

/// Commands of a microengine to one unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReferenceStats {
    /// The unit, by the name that it has in [`Stats::units`].
    pub name: String,
    /// How many it was sent.
    pub count: u64,
}

/// Cycles of one context by its state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextStats {
    /// Number, 0-7.
    pub context: u64,
    /// The context had the pipeline.
    pub executing: u64,
    /// The context was awake but not running, because another one ran.
    pub ready: u64,
    /// The context was asleep, waiting for signals.
    pub waiting: u64,
    /// The context was not enabled.
    pub inactive: u64,
}

/// One unit or memory channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnitStats {
    /// `scratch`, `sram0`, `dram0`, `hash`...
    pub name: String,
    /// Commands served, by operation, in the order of the instruction set.
    pub commands: Vec<OperationStats>,
    /// Longwords moved.
    pub words: u64,
    /// Cycles in which the unit was serving, both directions together.
    pub busy: u64,
    /// Cycles in which it was reading; 0 where there are no directions.
    pub busy_reading: u64,
    /// Cycles in which it was writing; 0 where there are no directions.
    pub busy_writing: u64,
    /// What some unit counts of its own: each entry has the names of all, and 0 where it is
    /// another unit's.
    #[serde(flatten)]
    pub own: Row,
    /// Thousandths of the run in which it was serving.
    pub busy_permille: u64,
    /// Most commands that were in its queue at one time.
    pub queue_peak: u64,
    /// Sum over cycles of the commands that were in its queue.
    pub queue_cycles: u64,
    /// Sum over commands of the cycles from arrival to start of service.
    pub waiting: u64,
    /// Sum over commands of the cycles that they waited in microengines' FIFOs
    /// because the unit was full.
    pub held: u64,
    /// Cycles that microengines stalled because the unit was full.
    pub stalled_microengines: u64,
}

/// How often an operation was served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OperationStats {
    /// Name as in the assembler.
    pub operation: String,
    /// How often.
    pub count: u64,
}

/// One kind of bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusStats {
    /// `command`, `s_push`, `s_pull`, `d_push`, `d_pull`.
    pub name: String,
    /// Busy cycles, summed over clusters.
    pub busy: u64,
    /// Thousandths of the run, of all its instances together.
    pub busy_permille: u64,
    /// Commands or bursts carried, summed over clusters.
    pub transfers: u64,
    /// Sum over commands or bursts of the cycles that they waited for the bus.
    pub waiting: u64,
    /// Cycles that microengines stalled because of the bus alone; 0 for those
    /// that carry data.
    pub stalled_microengines: u64,
    /// Each instance: one a cluster, or one for the chip.
    pub instances: Vec<BusInstanceStats>,
}

/// One bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusInstanceStats {
    /// Cycles in which it carried something.
    pub busy: u64,
    /// Thousandths of the run.
    pub busy_permille: u64,
    /// Commands or bursts carried.
    pub transfers: u64,
    /// Sum over commands or bursts of the cycles that they waited for it.
    pub waiting: u64,
    /// Most that waited at one time: commands for a command bus, cycles booked
    /// ahead for the others.
    pub queue_peak: u64,
}

/// One port. Bytes are frames without preamble, gap and frame check sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortStats {
    /// Number.
    pub port: u64,
    /// Line rate.
    pub bits_per_second: u64,
    /// Frames that started to arrive.
    pub received_frames: u64,
    /// The bytes of received frames.
    pub received_bytes: u64,
    /// Frames whose last byte is in RBUF.
    pub delivered_frames: u64,
    /// Frames that found no room in the receive FIFO.
    pub overflow_frames: u64,
    /// Frames that are on the line or in the receive FIFO.
    pub waiting_frames: u64,
    /// Most bytes in the receive FIFO.
    pub receive_fifo_peak: u64,
    /// Frames that have left.
    pub sent_frames: u64,
    /// The bytes of sent frames.
    pub sent_bytes: u64,
    /// Frames given to the MAC whose last bit has not left.
    pub sending_frames: u64,
    /// Most bytes in the transmit FIFO.
    pub transmit_fifo_peak: u64,
}

/// The media interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MediaStats {
    /// Bytes of an RBUF element.
    pub element_bytes: u64,
    /// RBUF elements filled and closed.
    pub rbuf_closed: u64,
    /// RBUF elements given to threads.
    pub rbuf_handed: u64,
    /// RBUF elements freed by microcode.
    pub rbuf_freed: u64,
    /// RBUF elements that are free.
    pub rbuf_free: u64,
    /// Fewest RBUF elements that were free at one time.
    pub rbuf_free_lowest: u64,
    /// Most closed elements that waited for a thread.
    pub full_list_peak: u64,
    /// Most threads that waited for an element.
    pub freelist_peak: u64,
    /// Null status words pushed because a freelist timed out.
    pub null_pushes: u64,
    /// TBUF elements sent.
    pub tbuf_sent: u64,
    /// TBUF elements skipped.
    pub tbuf_skipped: u64,
    /// TBUF elements that are valid and wait.
    pub tbuf_valid: u64,
    /// Cycles in which the receive bus moved data.
    pub receive_bus_busy: u64,
    /// Cycles in which the transmit bus moved data.
    pub transmit_bus_busy: u64,
    /// Commands by operation.
    pub commands: Vec<OperationStats>,
    /// Frames lost at the media interface, by reason; reasons that never
    /// happened are left out.
    pub drops: Vec<DropStats>,
}

/// Frames lost for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DropStats {
    /// The reason, for people.
    pub reason: String,
    /// How many frames.
    pub frames: u64,
}

/// A named counter of the microcode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CounterStats {
    /// Name in the project file.
    pub name: String,
    /// The value.
    pub value: u64,
    /// Whether it counts frames that the microcode dropped.
    pub drop: bool,
    /// What it counts, for people.
    pub text: String,
}

/// A scratch ring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RingStats {
    /// What the project calls it; absent where it has no name.
    pub name: Option<String>,
    /// The number.
    pub ring: u64,
    /// Byte address of its first longword.
    pub address: u64,
    /// Longwords that it can hold.
    pub size: u64,
    /// Longwords on it.
    pub level: u64,
    /// Most longwords that were on it at one time.
    pub peak: u64,
}

/// A Q-array entry that was loaded or used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueStats {
    /// What the project calls it; absent where it has no name.
    pub name: Option<String>,
    /// SRAM channel.
    pub channel: u64,
    /// Q-array entry.
    pub entry: u64,
    /// Packets or buffers on a queue, longwords on a ring or journal.
    pub level: u64,
}

/// The packet buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BufferStats {
    /// How many there are.
    pub count: u64,
    /// How many are on their freelist.
    pub free: u64,
}

/// A longword whose bit 0 is a lock. A cycle is held, lost to a hand-over, or
/// neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockStats {
    /// Name in the project file.
    pub name: String,
    /// Operations that would set the bit.
    pub tries: u64,
    /// Of these, the ones that took the lock.
    pub acquired: u64,
    /// Of these, the ones that found it taken.
    pub failed: u64,
    /// Operations that cleared the bit.
    pub released: u64,
    /// Cycles from acquisition to release, at the unit; the present one as far as
    /// it has come.
    pub held_cycles: u64,
    /// The longest of these times that is over.
    pub held_longest: u64,
    /// Thousandths of the run in which it was held.
    pub held_permille: u64,
    /// Acquisitions of a lock that another had failed to take before it was
    /// released.
    pub handovers: u64,
    /// Cycles from the release to these acquisitions; the present one as far as it
    /// has come.
    pub handover_cycles: u64,
    /// The shortest of these times.
    pub handover_shortest: u64,
    /// The longest of these times.
    pub handover_longest: u64,
    /// The holder when the numbers are taken; absent if it is free.
    pub held_at_end: Option<HoldStats>,
}

/// A hold of a lock that is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HoldStats {
    /// The microengine that took the lock; absent for the general-purpose core, and for a lock that was
    /// held before the start.
    pub microengine: Option<u8>,
    /// The context.
    pub context: Option<u8>,
    /// The cycle in which it was taken.
    pub since: u64,
    /// Tries that have failed since.
    pub failed_since: u64,
}

/// The general-purpose core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GppStats {
    /// Cycles spent on bus accesses and work.
    pub busy: u64,
    /// Longwords of routing table written before the start.
    pub route_words: u64,
    /// Polls of the exception ring.
    pub polls: u64,
    /// Interrupts that microengines raised, A and B.
    pub interrupts: u64,
    /// Packets taken off the exception ring.
    pub exceptions: u64,
    /// Packets that tasks made and sent.
    #[serde(skip_serializing_if = "is_none")]
    pub made: u64,
    /// Packets by reason, in the order of the reason codes.
    pub reasons: Vec<DropStats>,
    /// The tasks that go on while the chip runs, in the order of the project file.
    pub tasks: Vec<TaskStats>,
    /// What tasks show of what they keep, by kind.
    #[serde(flatten)]
    pub rows: TaskRows,
}

/// Whether a count is left out of files, which are as they were before there was one.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A task of the general-purpose core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskStats {
    /// The name of its kind, such as `exceptions`.
    pub name: String,
    /// What it has done.
    #[serde(flatten)]
    pub counts: TaskCounts,
    /// What the summary of a run says of it, a line each.
    #[serde(skip)]
    pub summary: Vec<String>,
}

/// An allowed check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckStats {
    /// Name of the check.
    pub check: String,
    /// How often it would have stopped the run.
    pub count: u64,
}
