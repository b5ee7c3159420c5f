//! The trace events of a chip, as an observer sees them.

mod kind;
mod program;

use std::fmt;

use npsim_isa::CommandOp;

use crate::Cycle;
use crate::kernel::command::{BusCommand, CommandId, TransferKind};
use crate::kernel::port_io::MediaDrop;
use crate::kernel::target::CommandTarget;

pub use kind::{EventKinds, TraceEventKind};
pub use program::ProgramState;

/// The state of a context from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextState {
    /// The context is not enabled.
    Inactive,
    /// The context could run, but another one is running.
    Ready,
    /// The context has the pipeline.
    Executing,
    /// The context sleeps until signals arrive.
    Waiting {
        /// Bit s: signal s wakes it.
        signals: u16,
        /// Whether one of these signals is enough.
        any: bool,
    },
    /// The context has exited.
    Killed,
}

/// The origin of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A command of a microengine has pulled its data or is done.
    Command {
        /// The command's operation.
        op: CommandOp,
        /// Index of the microengine that issued it.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the instruction.
        pc: u16,
    },
    /// The media interface gave an mpacket to a thread of a freelist.
    Mpacket,
    /// The media interface timed out waiting for an mpacket.
    FreelistTimeout,
    /// A context wrote a signal register.
    Thread {
        /// Index of the context's microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the instruction.
        pc: u16,
    },
    /// A context's timer.
    Timer,
}

impl Cause {
    /// The cause of a signal that a command raises.
    #[must_use]
    pub const fn of(command: &BusCommand) -> Self {
        Self::Command {
            op: command.op,
            me: command.me,
            context: command.context,
            pc: command.pc,
        }
    }

    /// Microengine, context and address of the instruction behind the cause, if there is one.
    #[must_use]
    pub const fn place(self) -> Option<(u8, u8, u16)> {
        match self {
            Self::Command {
                me, context, pc, ..
            }
            | Self::Thread { me, context, pc } => Some((me, context, pc)),
            Self::Mpacket | Self::FreelistTimeout | Self::Timer => None,
        }
    }
}

/// A bus of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bus {
    /// The command bus of a cluster.
    Command(u8),
    /// The S push bus of a cluster.
    SPush(u8),
    /// The S pull bus of a cluster.
    SPull(u8),
    /// The D push bus.
    DPush,
    /// The D pull bus.
    DPull,
    /// The data pins of a DRAM channel.
    DramPins(u8),
    /// The bus from the MACs to RBUF.
    Receive,
    /// The bus from TBUF to the MACs.
    Transmit,
}

/// A ring or queue of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RingName {
    /// A scratch ring; its fill is in longwords.
    Scratch(u8),
    /// The next-neighbour ring that a microengine reads; its fill is in longwords.
    Neighbour(u8),
    /// A Q-array entry; its fill is in longwords for a ring or journal, in packets or buffers for a
    /// queue.
    Sram {
        /// Index of the channel.
        channel: u8,
        /// Index of the Q-array entry.
        entry: u8,
    },
}

/// A memory that all parts of the chip share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryName {
    /// The scratchpad.
    Scratch,
    /// An SRAM channel.
    Sram(u8),
    /// DRAM, across all channels.
    Dram,
}

/// The writer of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writer {
    /// A command of a microengine.
    Command {
        /// The command's operation.
        op: CommandOp,
        /// Index of the microengine that issued it.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the instruction.
        pc: u16,
    },
    /// A task of the general-purpose core, by index.
    Task(u16),
}

impl Writer {
    /// A command as a writer.
    #[must_use]
    pub const fn of(command: &BusCommand) -> Self {
        Self::Command {
            op: command.op,
            me: command.me,
            context: command.context,
            pc: command.pc,
        }
    }
}

/// A quantity that a task of the general-purpose core keeps up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    /// The name shown for it.
    pub name: &'static str,
    /// Unit of the quantity.
    pub unit: &'static str,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.unit)
    }
}

/// The holder of a lock: microengine and context, or `None` for the general-purpose core.
pub type Holder = Option<(u8, u8)>;

/// A change of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStep {
    /// The lock is held from now on.
    Taken {
        /// Microengine and context, or `None` for the general-purpose core.
        by: Holder,
        /// Whether an attempt had failed before the lock was released.
        handed_over: bool,
    },
    /// The lock is free.
    Released {
        /// Number of operations that failed to take it while it was held.
        failed: u64,
    },
}

/// A step in the use of an RBUF element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RbufStep {
    /// An mpacket has been stored in the element.
    Filled {
        /// Port of the mpacket.
        port: u8,
        /// Length of the mpacket in bytes.
        bytes: u16,
        /// Whether the mpacket is the first of a frame.
        sop: bool,
        /// Whether the mpacket is the last of a frame.
        eop: bool,
    },
    /// A thread was given the element.
    HandedOver {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
    },
    /// DRAM took data from it.
    Read {
        /// Microengine of the command.
        me: u8,
        /// Context of the command.
        context: u8,
    },
    /// The element is free again.
    Freed {
        /// Microengine that freed it.
        me: u8,
        /// The context that freed it.
        context: u8,
    },
}

/// A step in the use of a TBUF element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TbufStep {
    /// DRAM moved data to the element.
    Written {
        /// Microengine of the command.
        me: u8,
        /// Context of the command.
        context: u8,
    },
    /// The element may be sent.
    Valid {
        /// Microengine that wrote its control word.
        me: u8,
        /// The context that validated it.
        context: u8,
        /// Port that the element is for.
        port: u8,
    },
    /// The element has reached its MAC, or was skipped.
    Sent,
}

/// An event that an observer sees. The cycle of the event is passed alongside it
/// ([`Observer::see`](crate::kernel::observer::Observer::see)); microengines and contexts are
/// indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEvent {
    /// Consecutive instructions are issued, one per cycle.
    Issued {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the first instruction.
        pc: u16,
        /// The number of instructions.
        count: u16,
    },
    /// Issue slots are discarded, the first in this cycle.
    Aborted {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the branch or swap that caused it.
        pc: u16,
        /// The number of slots.
        slots: Cycle,
    },
    /// The command FIFO is full and a command waits until a unit takes one out of it.
    /// [`Stalled`](Self::Stalled) follows when there is room.
    Held {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the command's instruction.
        pc: u16,
    },
    /// There is room again for a command that could not be issued because the command FIFO was
    /// full.
    Stalled {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the command's instruction.
        pc: u16,
        /// The cycle since which the command waited.
        from: Cycle,
    },
    /// A context changes its state.
    Context {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// The context's new state.
        doing: ContextState,
        /// Address of the next instruction if the context executes, or else of the one with which
        /// it yielded the pipeline.
        pc: u16,
    },
    /// A command is issued. Its slot identifies it until it is [`Done`](Self::Done).
    Command {
        /// The command's slot.
        slot: CommandId,
        /// The command.
        command: BusCommand,
    },
    /// A command reaches its unit and waits there.
    Queued {
        /// The unit or channel.
        target: CommandTarget,
        /// The command's slot.
        slot: CommandId,
        /// The command.
        command: BusCommand,
    },
    /// A unit has decided when it serves a command, which then waits no longer.
    Served {
        /// The unit or channel.
        target: CommandTarget,
        /// The part of the unit that is busy: the bank for DRAM; 0 for reads and 1 for writes of
        /// SRAM and the media interface; 0 otherwise. A part serves one command at a time.
        lane: u8,
        /// The command's slot.
        slot: CommandId,
        /// The command.
        command: BusCommand,
        /// First busy cycle.
        from: Cycle,
        /// First cycle in which the part is free again.
        until: Cycle,
    },
    /// A command is done: its data is in the registers or in the memory.
    Done {
        /// The command's slot, free for another command.
        slot: CommandId,
        /// The command.
        command: BusCommand,
    },
    /// Signals reach a context. The wake-ups that they cause follow.
    Signal {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Bit s: signal s.
        signals: u16,
        /// Origin of the signals.
        cause: Cause,
    },
    /// A bus is occupied.
    Bus {
        /// The bus.
        bus: Bus,
        /// First cycle.
        from: Cycle,
        /// First free cycle.
        until: Cycle,
    },
    /// A ring or queue was put to or taken from.
    Ring {
        /// The ring or queue.
        ring: RingName,
        /// Its fill from now on.
        fill: u32,
    },
    /// A frame begins to arrive.
    Arrives {
        /// Index of the port.
        port: u8,
        /// The caller's number for the frame.
        frame: u64,
        /// Length in bytes, without the frame check sequence.
        bytes: u32,
        /// The cycle of the last bit.
        until: Cycle,
    },
    /// A frame is lost at the media interface.
    Dropped {
        /// Index of the port.
        port: u8,
        /// Number of the frame, if known.
        frame: Option<u64>,
        /// Reason of the drop.
        reason: MediaDrop,
    },
    /// A frame has left; this cycle has its last bit.
    Departed {
        /// Index of the port.
        port: u8,
        /// Number of the arrival that the frame was made from, if known.
        frame: Option<u64>,
        /// Length in bytes, without the frame check sequence.
        bytes: u32,
        /// The cycle of the first bit.
        from: Cycle,
    },
    /// An instruction reads or writes a longword of local memory. If these events are wanted, the
    /// interpreter's fast loop executes no such instruction, so it costs more than others.
    LocalMemory {
        /// Index of the microengine.
        me: u8,
        /// Index of the context.
        context: u8,
        /// Address of the instruction.
        pc: u16,
        /// Index of the longword.
        word: u16,
        /// Whether the access is a write rather than a read.
        write: bool,
    },
    /// Data has arrived in IN transfer registers, from a command or unsolicited.
    Pushed {
        /// Index of the microengine.
        me: u8,
        /// The kind of transfer registers.
        kind: TransferKind,
        /// The first register, by its absolute number.
        register: u8,
        /// The number of registers; the file wraps around at its end.
        words: u8,
        /// Origin of the data.
        cause: Cause,
    },
    /// Longwords of a memory are written and have their new values from now on. For a command this
    /// is the cycle at which its unit executes it, which may be before the command is
    /// [`Done`](Self::Done). Longwords that rings and queues keep in memory are included.
    Written {
        /// The memory.
        memory: MemoryName,
        /// Byte address of the first longword.
        address: u32,
        /// The number of longwords.
        words: u16,
        /// The writer.
        by: Writer,
    },
    /// A step in the use of an RBUF element.
    Rbuf {
        /// Index of the element.
        element: u8,
        /// The frame of which the element holds, or held, a part.
        frame: u64,
        /// The step.
        step: RbufStep,
    },
    /// A step in the use of a TBUF element.
    Tbuf {
        /// Index of the element.
        element: u8,
        /// The frame whose beginning the element holds, if it holds one and it is known.
        frame: Option<u64>,
        /// The step.
        step: TbufStep,
    },
    /// A command reads or writes the DRAM block that holds a frame's beginning.
    Touched {
        /// The frame.
        frame: u64,
        /// Microengine of the command.
        me: u8,
        /// Context of the command.
        context: u8,
    },
    /// DRAM has taken a frame's beginning from RBUF.
    Stored {
        /// The frame.
        frame: u64,
        /// Byte address in DRAM.
        address: u32,
    },
    /// A command puts a packet buffer's handle on a ring or queue or takes it off, including the
    /// freelist. Recorded only if the boot plan has packet buffers.
    BufferMoved {
        /// Index of the buffer.
        buffer: u32,
        /// The ring or queue.
        ring: RingName,
        /// Whether the handle is taken off rather than put on.
        takes: bool,
        /// Microengine of the command.
        me: u8,
        /// Context of the command.
        context: u8,
        /// Address of the instruction.
        pc: u16,
    },
    /// The general-purpose core has taken a packet for the slow path.
    Exception {
        /// Longword address of the buffer's descriptor.
        handle: u32,
        /// The reason given by the microcode.
        reason: u8,
    },
    /// A longword that the boot plan watches as a lock is taken or released.
    Lock {
        /// Index of the lock in the plan.
        lock: u16,
        /// The change.
        step: LockStep,
    },
    /// A quantity of a general-purpose core's task has a new value.
    Level {
        /// Index of the task.
        task: u16,
        /// Index of the group of ports that the value belongs to.
        group: u16,
        /// The quantity.
        level: Level,
        /// Its value from now on.
        value: i64,
    },
    /// A task of the general-purpose core accesses the chip or computes.
    Gpp {
        /// Index of the task.
        task: u16,
        /// The step of the task.
        step: &'static str,
        /// The cycle at which it ends.
        until: Cycle,
    },
    /// A task that runs a program changes its activity or its function. Events of one task are in
    /// time order.
    Function {
        /// Index of the task.
        task: u16,
        /// The activity from now on.
        doing: ProgramState,
        /// Depth of the call stack at the function: deeper calls have ended.
        depth: u16,
        /// Address of the function's first instruction.
        function: u32,
    },
}

/// The rank of accesses to the local memory of microengine 0.
const LOCAL_MEMORY: u8 = 1 << 7;

impl TraceEvent {
    /// The event moved a number of cycles later.
    #[must_use]
    pub(crate) fn later(mut self, by: Cycle) -> Self {
        match &mut self {
            Self::Stalled { from, .. } | Self::Departed { from, .. } => *from += by,
            Self::Arrives { until, .. } | Self::Gpp { until, .. } => *until += by,
            Self::Served { from, until, .. } | Self::Bus { from, until, .. } => {
                *from += by;
                *until += by;
            }
            Self::Issued { .. }
            | Self::Aborted { .. }
            | Self::Held { .. }
            | Self::Context { .. }
            | Self::Command { .. }
            | Self::Queued { .. }
            | Self::Done { .. }
            | Self::Signal { .. }
            | Self::Ring { .. }
            | Self::Dropped { .. }
            | Self::Rbuf { .. }
            | Self::Tbuf { .. }
            | Self::Touched { .. }
            | Self::Stored { .. }
            | Self::BufferMoved { .. }
            | Self::Exception { .. }
            | Self::Lock { .. }
            | Self::Level { .. }
            | Self::Function { .. }
            | Self::LocalMemory { .. }
            | Self::Pushed { .. }
            | Self::Written { .. } => {}
        }
        self
    }

    /// The rank of the event within a cycle: 0 for events of the chip, 1 + n for events of
    /// microengine n, and after these the local memory accesses, which an engine reports ahead of
    /// signals of the same cycle.
    #[must_use]
    #[inline]
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Issued { me, .. }
            | Self::Aborted { me, .. }
            | Self::Held { me, .. }
            | Self::Stalled { me, .. }
            | Self::Context { me, .. }
            | Self::Signal { me, .. } => 1 + *me,
            Self::LocalMemory { me, .. } => LOCAL_MEMORY + *me,
            _ => 0,
        }
    }

    /// The kind of the event.
    #[must_use]
    #[inline]
    pub const fn kind(&self) -> TraceEventKind {
        match self {
            Self::Issued { .. } => TraceEventKind::Issued,
            Self::Aborted { .. } => TraceEventKind::Aborted,
            Self::Held { .. } => TraceEventKind::Held,
            Self::Stalled { .. } => TraceEventKind::Stalled,
            Self::Context { .. } => TraceEventKind::Context,
            Self::Command { .. } => TraceEventKind::Command,
            Self::Queued { .. } => TraceEventKind::Queued,
            Self::Served { .. } => TraceEventKind::Served,
            Self::Done { .. } => TraceEventKind::Done,
            Self::Signal { .. } => TraceEventKind::Signal,
            Self::Bus { .. } => TraceEventKind::Bus,
            Self::Ring { .. } => TraceEventKind::Ring,
            Self::Arrives { .. } => TraceEventKind::Arrives,
            Self::Dropped { .. } => TraceEventKind::Dropped,
            Self::Departed { .. } => TraceEventKind::Departed,
            Self::Rbuf { .. } => TraceEventKind::Rbuf,
            Self::Tbuf { .. } => TraceEventKind::Tbuf,
            Self::Touched { .. } => TraceEventKind::Touched,
            Self::Stored { .. } => TraceEventKind::Stored,
            Self::BufferMoved { .. } => TraceEventKind::BufferMoved,
            Self::Exception { .. } => TraceEventKind::Exception,
            Self::Lock { .. } => TraceEventKind::Lock,
            Self::Level { .. } => TraceEventKind::Level,
            Self::Gpp { .. } => TraceEventKind::Gpp,
            Self::Function { .. } => TraceEventKind::Function,
            Self::LocalMemory { .. } => TraceEventKind::LocalMemory,
            Self::Pushed { .. } => TraceEventKind::Pushed,
            Self::Written { .. } => TraceEventKind::Written,
        }
    }
}
