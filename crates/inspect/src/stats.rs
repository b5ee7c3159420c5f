//! The counts of a run, for humans and programs: integers in a fixed order.
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
    /// Microengines, in order of their indices.
    pub microengines: Vec<MicroengineStats>,
    /// Memories, hash unit, media interface and CSR proxy, one entry per channel.
    pub units: Vec<UnitStats>,
    /// Buses, summed over clusters.
    pub buses: Vec<BusStats>,
    /// Ports, in order of their numbers.
    pub ports: Vec<PortStats>,
    /// Media interface.
    pub media: MediaStats,
    /// Named counters of the microcode, in the order of the project file.
    pub counters: Vec<CounterStats>,
    /// Scratch rings in use, in their present state.
    pub rings: Vec<RingStats>,
    /// Queues and rings in the Q-arrays of SRAM, in their present state.
    pub queues: Vec<QueueStats>,
    /// The packet buffers, if the boot plan has some.
    pub buffers: Option<BufferStats>,
    /// Longwords watched as locks, in the order of the project file.
    pub locks: Vec<LockStats>,
    /// The general-purpose core.
    pub gpp: GppStats,
    /// Chip-wide CSRs.
    pub cap: CapUses,
    /// Devices attached to SRAM channels, by kind.
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
    /// Commands issued by unit, one entry per channel; empty if none were issued.
    pub references: Vec<ReferenceStats>,
    /// Thousandths of the run in which instructions were executed.
    pub executing_permille: u64,
    /// The contexts.
    pub contexts: Vec<ContextStats>,
}

/// Commands of a microengine to one unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReferenceStats {
    /// The unit's name, as in [`Stats::units`].
    pub name: String,
    /// Number of commands sent.
    pub count: u64,
}

/// Cycles of one context by its state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextStats {
    /// Number, 0-7.
    pub context: u64,
    /// The context had the pipeline.
    pub executing: u64,
    /// The context was awake but not running, because another one was.
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
    /// Cycles in which the unit was serving, in both directions together.
    pub busy: u64,
    /// Cycles in which it was reading; 0 if it has no directions.
    pub busy_reading: u64,
    /// Cycles in which it was writing; 0 if it has no directions.
    pub busy_writing: u64,
    /// Counts specific to some units: each entry has the names of all, with 0 for those of other
    /// units.
    #[serde(flatten)]
    pub own: Row,
    /// Thousandths of the run in which it was serving.
    pub busy_permille: u64,
    /// Maximum number of commands in its queue at one time.
    pub queue_peak: u64,
    /// Sum over cycles of the number of commands in its queue.
    pub queue_cycles: u64,
    /// Sum over commands of the cycles from arrival to start of service.
    pub waiting: u64,
    /// Sum over commands of the cycles that they waited in the FIFOs of
    /// microengines because the unit was full.
    pub held: u64,
    /// Cycles that microengines stalled because the unit was full.
    pub stalled_microengines: u64,
}

/// How often an operation was served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OperationStats {
    /// Assembler name.
    pub operation: String,
    /// Number of times.
    pub count: u64,
}

/// A kind of bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusStats {
    /// `command`, `s_push`, `s_pull`, `d_push`, `d_pull`.
    pub name: String,
    /// Busy cycles, summed over clusters.
    pub busy: u64,
    /// Busy thousandths of the run, over all of its instances.
    pub busy_permille: u64,
    /// Commands or bursts carried, summed over clusters.
    pub transfers: u64,
    /// Sum over commands or bursts of the cycles that they waited for the bus.
    pub waiting: u64,
    /// Cycles that microengines stalled because of the bus alone; 0 for buses
    /// that carry data.
    pub stalled_microengines: u64,
    /// The instances: one per cluster, or one for the chip.
    pub instances: Vec<BusInstanceStats>,
}

/// One bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusInstanceStats {
    /// Cycles in which it was carrying something.
    pub busy: u64,
    /// Busy thousandths of the run.
    pub busy_permille: u64,
    /// Commands or bursts carried.
    pub transfers: u64,
    /// Sum over commands or bursts of the cycles that they waited for it.
    pub waiting: u64,
    /// Maximum queue at one time: waiting commands for a command bus, cycles
    /// booked ahead for the others.
    pub queue_peak: u64,
}

/// A port. Byte counts exclude preamble, gap and frame check sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortStats {
    /// Number.
    pub port: u64,
    /// Line rate in bits per second.
    pub bits_per_second: u64,
    /// Frames that started to arrive.
    pub received_frames: u64,
    /// Bytes of received frames.
    pub received_bytes: u64,
    /// Frames whose last byte is in RBUF.
    pub delivered_frames: u64,
    /// Frames that found no room in the receive FIFO.
    pub overflow_frames: u64,
    /// Frames that are on the line or in the receive FIFO.
    pub waiting_frames: u64,
    /// Maximum number of bytes in the receive FIFO.
    pub receive_fifo_peak: u64,
    /// Frames that have left.
    pub sent_frames: u64,
    /// Bytes of sent frames.
    pub sent_bytes: u64,
    /// Frames given to the MAC whose last bit has not left.
    pub sending_frames: u64,
    /// Maximum number of bytes in the transmit FIFO.
    pub transmit_fifo_peak: u64,
}

/// The media interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MediaStats {
    /// Size of an RBUF element in bytes.
    pub element_bytes: u64,
    /// RBUF elements filled and closed.
    pub rbuf_closed: u64,
    /// RBUF elements given to threads.
    pub rbuf_handed: u64,
    /// RBUF elements freed by microcode.
    pub rbuf_freed: u64,
    /// RBUF elements that are free.
    pub rbuf_free: u64,
    /// Minimum number of free RBUF elements at one time.
    pub rbuf_free_lowest: u64,
    /// Maximum number of closed elements waiting for a thread.
    pub full_list_peak: u64,
    /// Maximum number of threads waiting for an element.
    pub freelist_peak: u64,
    /// Null status words pushed because a freelist timed out.
    pub null_pushes: u64,
    /// TBUF elements sent.
    pub tbuf_sent: u64,
    /// TBUF elements skipped.
    pub tbuf_skipped: u64,
    /// TBUF elements that are valid and waiting.
    pub tbuf_valid: u64,
    /// Cycles in which the receive bus moved data.
    pub receive_bus_busy: u64,
    /// Cycles in which the transmit bus moved data.
    pub transmit_bus_busy: u64,
    /// Commands by operation.
    pub commands: Vec<OperationStats>,
    /// Frames lost at the media interface, by reason; reasons that never
    /// occurred are left out.
    pub drops: Vec<DropStats>,
}

/// Frames lost for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DropStats {
    /// The reason in words.
    pub reason: String,
    /// Number of frames.
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
    /// Description of what it counts.
    pub text: String,
}

/// A scratch ring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RingStats {
    /// The project's name for it; absent if it has none.
    pub name: Option<String>,
    /// The number.
    pub ring: u64,
    /// Byte address of its first longword.
    pub address: u64,
    /// Its capacity in longwords.
    pub size: u64,
    /// Longwords on it.
    pub level: u64,
    /// Maximum number of longwords on it at one time.
    pub peak: u64,
}

/// A Q-array entry that was loaded or used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueStats {
    /// The project's name for it; absent if it has none.
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
    /// Total number of buffers.
    pub count: u64,
    /// Number of buffers on their free list.
    pub free: u64,
}

/// A longword whose bit 0 is a lock. Each cycle is held, lost to a hand-over,
/// or neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockStats {
    /// Name in the project file.
    pub name: String,
    /// Operations that would set the bit.
    pub tries: u64,
    /// Tries that took the lock.
    pub acquired: u64,
    /// Tries that found it taken.
    pub failed: u64,
    /// Operations that cleared the bit.
    pub released: u64,
    /// Cycles from acquisition to release, at the unit; includes the current
    /// hold so far.
    pub held_cycles: u64,
    /// The longest completed hold.
    pub held_longest: u64,
    /// Thousandths of the run in which it was held.
    pub held_permille: u64,
    /// Acquisitions of a lock that another context had failed to take before
    /// its release.
    pub handovers: u64,
    /// Cycles from the release to these acquisitions; includes the current
    /// hand-over so far.
    pub handover_cycles: u64,
    /// The shortest of these times.
    pub handover_shortest: u64,
    /// The longest of these times.
    pub handover_longest: u64,
    /// The current holder; absent if the lock is free.
    pub held_at_end: Option<HoldStats>,
}

/// A hold of a lock that is still in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HoldStats {
    /// The microengine that took the lock; absent for the general-purpose core, and for a lock that
    /// was held before the start.
    pub microengine: Option<u8>,
    /// The context.
    pub context: Option<u8>,
    /// The cycle in which it was taken.
    pub since: u64,
    /// Failed tries since then.
    pub failed_since: u64,
}

/// The general-purpose core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GppStats {
    /// Cycles spent on bus accesses and work.
    pub busy: u64,
    /// Longwords of routing tables written before the start.
    pub route_words: u64,
    /// Polls of the exception ring.
    pub polls: u64,
    /// Interrupts raised by microengines, A and B.
    pub interrupts: u64,
    /// Packets taken off the exception ring.
    pub exceptions: u64,
    /// Packets made and sent by tasks.
    #[serde(skip_serializing_if = "is_none")]
    pub made: u64,
    /// Packets by reason, in the order of the reason codes.
    pub reasons: Vec<DropStats>,
    /// The tasks that run alongside the chip, in the order of the project file.
    pub tasks: Vec<TaskStats>,
    /// The data that tasks expose, by kind.
    #[serde(flatten)]
    pub rows: TaskRows,
}

/// Whether a count is left out of files, so that runs without it have the same files as before it
/// was introduced.
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
    /// Its counts.
    #[serde(flatten)]
    pub counts: TaskCounts,
    /// Its lines in the summary of a run.
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
