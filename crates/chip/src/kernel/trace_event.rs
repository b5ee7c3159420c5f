//! What can happen on a chip, as a watcher sees it.

mod kind;
mod program;

use std::fmt;

use npsim_isa::CommandOp;

use crate::Cycle;
use crate::kernel::command::{BusCommand, CommandId, TransferKind};
use crate::kernel::port_io::MediaDrop;
use crate::kernel::target::CommandTarget;

pub use kind::{Kinds, TraceEventKind};
pub use program::ProgramState;

/// What a context does from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextState {
    /// The context is not enabled.
    Inactive,
    /// The context could run, but another one does.
    Ready,
    /// The context has the pipeline.
    Executing,
    /// The context sleeps until signals come.
    Waiting {
        /// Bit s: signal s wakes it.
        signals: u16,
        /// One of them is enough.
        any: bool,
    },
    /// The context has exited.
    Killed,
}

/// Where a signal came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A command of a microengine has pulled its data, or is done.
    Command {
        /// The command's operation.
        op: CommandOp,
        /// The microengine that issued it.
        me: u8,
        /// The context.
        context: u8,
        /// The instruction.
        pc: u16,
    },
    /// The media interface gave an mpacket to a thread of a freelist.
    Mpacket,
    /// The media interface timed out waiting for an mpacket.
    FreelistTimeout,
    /// A context wrote a signal register.
    Thread {
        /// The context's microengine.
        me: u8,
        /// The context's number.
        context: u8,
        /// The instruction.
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

    /// Microengine, context and address of the instruction behind it, if there is one.
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
    /// From the MACs to RBUF.
    Receive,
    /// From TBUF to the MACs.
    Transmit,
}

/// A ring or queue of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RingName {
    /// A scratch ring; fill in longwords.
    Scratch(u8),
    /// The next-neighbour ring that a microengine reads; fill in longwords.
    Neighbour(u8),
    /// A Q-array entry: longwords of a ring or journal, packets or buffers of a
    /// queue.
    Sram {
        /// Channel.
        channel: u8,
        /// Q-array entry.
        entry: u8,
    },
}

/// A memory of the chip that all its parts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryName {
    /// The scratchpad.
    Scratch,
    /// An SRAM channel.
    Sram(u8),
    /// DRAM, whatever its channels.
    Dram,
}

/// What writes a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writer {
    /// A command of a microengine.
    Command {
        /// Its operation.
        op: CommandOp,
        /// The microengine that issued it.
        me: u8,
        /// The context.
        context: u8,
        /// The instruction.
        pc: u16,
    },
    /// A task of the general-purpose core: its index.
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

/// Something that a task of the general-purpose core keeps up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    /// What it is called where it is shown.
    pub name: &'static str,
    /// The unit.
    pub unit: &'static str,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.unit)
    }
}

/// The holder of a lock: microengine and context, or the general-purpose core.
pub type Holder = Option<(u8, u8)>;

/// What happens to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStep {
    /// The lock is held from now on.
    Taken {
        /// Microengine and context, or the general-purpose core.
        by: Holder,
        /// A try had failed before it was released.
        handed_over: bool,
    },
    /// The lock is free.
    Released {
        /// Operations that failed to take it while it was held.
        failed: u64,
    },
}

/// What happens to an RBUF element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RbufStep {
    /// An mpacket is in it.
    Filled {
        /// The mpacket's port.
        port: u8,
        /// The mpacket's length.
        bytes: u16,
        /// The mpacket is a frame's first.
        sop: bool,
        /// The mpacket is a frame's last.
        eop: bool,
    },
    /// A thread got it.
    Handed {
        /// Microengine.
        me: u8,
        /// Context.
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

/// What happens to a TBUF element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TbufStep {
    /// DRAM moved data to it.
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
        /// Port that it is for.
        port: u8,
    },
    /// The element is with its MAC, or was skipped.
    Sent,
}

/// Something that a watcher sees. The cycle at which it happens stands beside
/// it ([`Observer::see`](crate::kernel::observer::Observer::see)); microengines and contexts are
/// indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEvent {
    /// Instructions that follow one another in line are issued, one a cycle.
    Issued {
        /// Microengine.
        me: u8,
        /// Context.
        context: u8,
        /// The first one.
        pc: u16,
        /// How many.
        count: u16,
    },
    /// Issue slots are thrown away, the first in this cycle.
    Aborted {
        /// Microengine.
        me: u8,
        /// Context.
        context: u8,
        /// The branch or swap that did it.
        pc: u16,
        /// How many.
        slots: Cycle,
    },
    /// The command FIFO is full and a command waits for a unit to take one out
    /// of it. [`Stalled`](Self::Stalled) follows when there is room.
    Held {
        /// Microengine.
        me: u8,
        /// Context.
        context: u8,
        /// The command's instruction.
        pc: u16,
    },
    /// There is room again for a command that could not be issued because the
    /// command FIFO was full.
    Stalled {
        /// Microengine.
        me: u8,
        /// Context.
        context: u8,
        /// The command's instruction.
        pc: u16,
        /// Since when it waited.
        from: Cycle,
    },
    /// A context changes its state.
    Context {
        /// Microengine.
        me: u8,
        /// Context.
        context: u8,
        /// The context's new state.
        doing: ContextState,
        /// The next instruction when it executes, else the one with which it
        /// yielded the pipeline.
        pc: u16,
    },
    /// A command is issued. Its slot names it until it is [`Done`](Self::Done).
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
    /// A unit has decided when it serves a command, which waits no more.
    Served {
        /// The unit or channel.
        target: CommandTarget,
        /// The part of the unit that is busy: DRAM bank; 0 for reads and 1 for
        /// writes of SRAM and the media interface; else 0. A part serves one
        /// command at a time.
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
    /// Signals reach a context. What they wake comes next.
    Signal {
        /// Microengine.
        me: u8,
        /// Context.
        context: u8,
        /// Bit s: signal s.
        signals: u16,
        /// Where they come from.
        cause: Cause,
    },
    /// A bus is taken.
    Bus {
        /// Which one.
        bus: Bus,
        /// First cycle.
        from: Cycle,
        /// First free cycle.
        until: Cycle,
    },
    /// A ring or queue is put to or taken from.
    Ring {
        /// Which one.
        ring: RingName,
        /// What is on it now.
        fill: u32,
    },
    /// A frame begins to arrive.
    Arrives {
        /// Port.
        port: u8,
        /// The caller's number of it.
        frame: u64,
        /// Length without its check sequence.
        bytes: u32,
        /// The cycle of the last bit.
        until: Cycle,
    },
    /// A frame is lost at the media interface.
    Dropped {
        /// Port.
        port: u8,
        /// The frame's number, if it is known.
        frame: Option<u64>,
        /// Why.
        reason: MediaDrop,
    },
    /// A frame has left; this cycle has its last bit.
    Departed {
        /// Port.
        port: u8,
        /// The number of the arrival that it was made from, if that is known.
        frame: Option<u64>,
        /// Length without its check sequence.
        bytes: u32,
        /// The cycle of the first bit.
        from: Cycle,
    },
    /// An instruction reads or writes a longword of local memory. The interpreter's loop
    /// does no such instruction where these events are wanted, so it costs more than others.
    LocalMemory {
        /// Microengine.
        me: u8,
        /// Context.
        context: u8,
        /// The instruction.
        pc: u16,
        /// The longword's index.
        word: u16,
        /// Whether the access writes; else it reads.
        write: bool,
    },
    /// Data is in IN transfer registers: that of a command, or data that no command asked
    /// for.
    Pushed {
        /// Microengine.
        me: u8,
        /// Which of its files.
        kind: TransferKind,
        /// The first register, by its absolute number.
        register: u8,
        /// How many; the file goes on at its beginning.
        words: u8,
        /// Where it comes from.
        cause: Cause,
    },
    /// Longwords of a memory are written, and have their new values from now on: by a
    /// command at the cycle at which its unit does it, which may be before the command is
    /// [`Done`](Self::Done). Longwords that rings and queues keep in memory are among them.
    Written {
        /// The memory.
        memory: MemoryName,
        /// Byte address of the first longword.
        address: u32,
        /// How many.
        words: u16,
        /// By what.
        by: Writer,
    },
    /// Something happens to an RBUF element.
    Rbuf {
        /// Element.
        element: u8,
        /// The frame of which it holds, or held, a part.
        frame: u64,
        /// What.
        step: RbufStep,
    },
    /// Something happens to a TBUF element.
    Tbuf {
        /// Element.
        element: u8,
        /// The frame whose beginning it holds, if it does and that is known.
        frame: Option<u64>,
        /// What.
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
    /// A command puts a packet buffer's handle on a ring or queue or takes it off, the
    /// list of free buffers among them. Where the boot plan has packet buffers.
    Carried {
        /// The buffer's number.
        buffer: u32,
        /// The ring or queue.
        ring: RingName,
        /// Whether a longword is taken off; else it is put on.
        takes: bool,
        /// Microengine of the command.
        me: u8,
        /// Context of the command.
        context: u8,
        /// The instruction.
        pc: u16,
    },
    /// The general-purpose core has taken a packet for the slow path.
    Exception {
        /// Longword address of the buffer's descriptor.
        handle: u32,
        /// The reason that the microcode gave.
        reason: u8,
    },
    /// A longword that the boot plan watches as a lock is taken or released.
    Lock {
        /// The lock's place in the plan.
        lock: u16,
        /// What happens.
        step: LockStep,
    },
    /// A task of the general-purpose core has a new value for something.
    Level {
        /// Index of the task.
        task: u16,
        /// The group of ports that it is of.
        group: u16,
        /// What.
        level: Level,
        /// The counter's value from now on.
        value: i64,
    },
    /// A task of the general-purpose core makes an access or works.
    Gpp {
        /// Index of the task.
        task: u16,
        /// What it does.
        step: &'static str,
        /// Until when.
        until: Cycle,
    },
    /// A task that runs a program does something else from now on, or in another function. Events of one
    /// task come in the order of time.
    Function {
        /// Index of the task.
        task: u16,
        /// What it does.
        doing: ProgramState,
        /// The calls that lead to the function: those which were more are over.
        depth: u16,
        /// The function, by the address of its first instruction.
        function: u32,
    },
}

/// The rank of accesses to the local memory of microengine 0.
const LOCAL_MEMORY: u8 = 1 << 7;

impl TraceEvent {
    /// The event, some cycles later.
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
            | Self::Carried { .. }
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

    /// Where it stands among the events of one cycle: 0 for what concerns the
    /// chip, 1 + n for what concerns microengine n, and after all of that what its
    /// local memory is used for, which an engine reports ahead of signals of the same cycle.
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

    /// The kind.
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
            Self::Carried { .. } => TraceEventKind::Carried,
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
