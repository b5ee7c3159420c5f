//! Identifies the packet that microcode drops when it counts a drop.
//!
//! Microcode drops a packet by going on without it. What can be observed is that a context
//! increments a drop counter of the project and then returns a packet buffer to the free list: that
//! is the packet. If it returns none, because it keeps the buffer for the next packet or had none,
//! the packet is the one that the context last handled. Both are taken in the order in which the
//! context issues its commands; a drop counts when the counter is incremented.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::gpp::boot::CounterSetup;
use npsim_chip::kernel::buffers::BufferSetup;
use npsim_chip::kernel::fabric::{BusCommand, CommandId};
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, RbufStep, RingName, TraceEvent, TraceEventKind};
use npsim_isa::CommandOp;

/// A packet that microcode dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MicrocodeDrop {
    /// The cycle at which the counter was incremented.
    pub at: Cycle,
    /// The packet, if known.
    pub frame: Option<u64>,
    /// The counter's index in the boot plan.
    pub counter: usize,
    /// The microengine that counted it.
    pub me: u8,
    /// The context.
    pub context: u8,
    /// The instruction.
    pub pc: u16,
}

/// A drop that is not yet complete.
#[derive(Clone, Copy, Debug)]
struct OpenDrop {
    drop: MicrocodeDrop,
    /// Whether its packet is determined.
    resolved: bool,
    /// Whether the counter has been incremented.
    served: bool,
}

/// What is known about a context.
#[derive(Clone, Copy, Debug, Default)]
struct ContextPacket {
    /// The packet that it last handled.
    frame: Option<u64>,
    /// The drop whose packet is not determined yet.
    open: Option<u64>,
}

/// Identifies the packets that microcode drops.
#[derive(Debug)]
pub(crate) struct DropFinder {
    /// Indices of drop counters, by byte address in scratch.
    counters: BTreeMap<u32, usize>,
    buffers: Option<BufferSetup>,
    /// The packet in each buffer, and the buffer of each packet.
    frames: Vec<Option<u64>>,
    stored: BTreeMap<u64, usize>,
    contexts: BTreeMap<(u8, u8), ContextPacket>,
    open: BTreeMap<u64, OpenDrop>,
    issued: BTreeMap<CommandId, u64>,
    next: u64,
}

impl DropFinder {
    /// The kinds of events that it needs.
    pub const KINDS: EventKinds = EventKinds::of(&[
        TraceEventKind::Command,
        TraceEventKind::Served,
        TraceEventKind::Rbuf,
        TraceEventKind::Touched,
        TraceEventKind::Stored,
        TraceEventKind::BufferMoved,
    ]);

    /// A finder that has not seen any event.
    pub fn new(chip: &Chip) -> Self {
        let counters = chip.gpp().counters().iter().enumerate();
        let drops = counters.filter(|(_, counter)| counter.drop);
        let buffers = chip.fabric().buffers.as_ref().map(|it| *it.setup());
        Self {
            counters: drops
                .map(|(at, it): (_, &CounterSetup)| (it.address, at))
                .collect(),
            frames: vec![None; buffers.map_or(0, |it| it.count as usize)],
            stored: BTreeMap::new(),
            buffers,
            contexts: BTreeMap::new(),
            open: BTreeMap::new(),
            issued: BTreeMap::new(),
            next: 0,
        }
    }

    /// The packet in a buffer.
    pub fn in_buffer(&self, buffer: u32) -> Option<u64> {
        *self.frames.get(buffer as usize)?
    }

    /// The packet in the buffer of a handle.
    pub fn of_handle(&self, handle: u32) -> Option<u64> {
        let setup = self.buffers?;
        let offset = (handle & 0x00ff_ffff).checked_sub(setup.first_descriptor)?;
        self.in_buffer(offset / setup.descriptor_longwords.max(1))
    }

    /// Processes an event and returns the drops that it completes.
    pub fn see(&mut self, at: Cycle, event: &TraceEvent) -> Vec<MicrocodeDrop> {
        let mut decided = Vec::new();
        match *event {
            TraceEvent::Command { slot, command } => {
                self.issued(at, slot, &command, &mut decided);
            }
            TraceEvent::Served { slot, .. } => {
                if let Some(id) = self.issued.remove(&slot)
                    && let Some(open) = self.open.get_mut(&id)
                {
                    (open.drop.at, open.served) = (at, true);
                    self.settle(id, &mut decided);
                }
            }
            TraceEvent::Rbuf {
                frame,
                step: RbufStep::HandedOver { me, context },
                ..
            } => {
                self.give_up(me, context, &mut decided);
                self.context(me, context).frame = Some(frame);
            }
            TraceEvent::Touched { frame, me, context } => {
                if self.context(me, context).frame != Some(frame) {
                    self.give_up(me, context, &mut decided);
                }
                self.context(me, context).frame = Some(frame);
            }
            TraceEvent::Stored { frame, address } => {
                if let Some(setup) = self.buffers {
                    let descriptor = address >> setup.shift;
                    let offset = descriptor.checked_sub(setup.first_descriptor);
                    let buffer = offset.map(|it| it / setup.descriptor_longwords.max(1));
                    if let Some(buffer) = buffer {
                        self.fill(buffer as usize, Some(frame));
                    }
                }
            }
            TraceEvent::BufferMoved {
                buffer,
                ring,
                takes: true,
                me,
                context,
                ..
            } => {
                if self.is_free_list(ring) {
                    self.fill(buffer as usize, None);
                } else if let Some(frame) = self.in_buffer(buffer) {
                    let context = self.context(me, context);
                    if context.open.is_none() {
                        context.frame = Some(frame);
                    }
                }
            }
            _ => {}
        }
        decided
    }

    /// Visits the state that events change, except for packets in buffers: those are the same after
    /// each of two equal periods.
    pub fn visit_state(&self, state: &mut RecurringState<'_>) {
        state.value(self.next);
        state.value(self.open.len() as u64);
        state.value(self.issued.len() as u64);
        state.value(self.stored.len() as u64);
        state.value(self.contexts.len() as u64);
        for context in self.contexts.values() {
            state.value(context.frame.map_or(0, |it| it + 1));
            state.value(context.open.map_or(0, |it| it + 1));
        }
    }

    /// The drops that the end of the run completes.
    pub fn finish(&mut self) -> Vec<MicrocodeDrop> {
        let mut decided = Vec::new();
        for id in self.open.keys().copied().collect::<Vec<_>>() {
            if let Some(open) = self.open.get_mut(&id) {
                open.resolved = true;
            }
            self.settle(id, &mut decided);
        }
        decided
    }

    /// Processes a command that a context issues.
    fn issued(
        &mut self,
        at: Cycle,
        slot: CommandId,
        command: &BusCommand,
        decided: &mut Vec<MicrocodeDrop>,
    ) {
        let (me, context) = (command.me, command.context);
        match command.op {
            CommandOp::ScratchIncr | CommandOp::ScratchTestAndIncr => {
                let Some(&counter) = self.counters.get(&(command.address & !3)) else {
                    return;
                };
                self.give_up(me, context, decided);
                let id = self.next;
                self.next += 1;
                let it = self.context(me, context);
                it.open = Some(id);
                let drop = MicrocodeDrop {
                    at,
                    frame: it.frame,
                    counter,
                    me,
                    context,
                    pc: command.pc,
                };
                self.issued.insert(slot, id);
                self.open.insert(
                    id,
                    OpenDrop {
                        drop,
                        resolved: false,
                        served: false,
                    },
                );
            }
            CommandOp::SramEnqueue => {
                let ring = RingName::Sram {
                    channel: (command.address >> 30) as u8,
                    entry: (command.address >> 24) as u8 & 63,
                };
                if !self.is_free_list(ring) {
                    return;
                }
                let Some(frame) = self.of_handle(command.address) else {
                    return;
                };
                let open = self.context(me, context).open.take();
                match open {
                    Some(id) => {
                        if let Some(open) = self.open.get_mut(&id) {
                            open.drop.frame = Some(frame);
                            open.resolved = true;
                        }
                        self.settle(id, decided);
                    }
                    // The counter may be incremented next.
                    None => self.context(me, context).frame = Some(frame),
                }
            }
            _ => {}
        }
    }

    /// Completes a context's open drop when it goes on to something else: the packet is the one
    /// that it last handled.
    fn give_up(&mut self, me: u8, context: u8, decided: &mut Vec<MicrocodeDrop>) {
        let Some(id) = self.context(me, context).open.take() else {
            return;
        };
        if let Some(open) = self.open.get_mut(&id) {
            open.resolved = true;
        }
        self.settle(id, decided);
    }

    fn settle(&mut self, id: u64, decided: &mut Vec<MicrocodeDrop>) {
        let done = self.open.get(&id).filter(|it| it.resolved && it.served);
        let Some(drop) = done.map(|open| open.drop) else {
            return;
        };
        decided.push(drop);
        self.open.remove(&id);
        // A buffer that is kept for the next packet no longer holds this one.
        let kept = drop
            .frame
            .and_then(|frame| self.stored.get(&frame).copied());
        if let Some(buffer) = kept {
            self.fill(buffer, None);
        }
    }

    /// Sets the packet in a buffer.
    fn fill(&mut self, buffer: usize, frame: Option<u64>) {
        let Some(place) = self.frames.get_mut(buffer) else {
            return;
        };
        if let Some(before) = std::mem::replace(place, frame) {
            self.stored.remove(&before);
        }
        if let Some(frame) = frame {
            self.stored.insert(frame, buffer);
        }
    }

    fn context(&mut self, me: u8, context: u8) -> &mut ContextPacket {
        self.contexts.entry((me, context)).or_default()
    }

    fn is_free_list(&self, ring: RingName) -> bool {
        self.buffers.is_some_and(|it| {
            ring == RingName::Sram {
                channel: it.channel,
                entry: it.entry,
            }
        })
    }
}
