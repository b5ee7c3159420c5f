//! Memory that two contexts update without synchronisation: reads of a longword that are followed
//! by a write of it, while another context does the same.
//!
//! The happens-before order is tracked with vector clocks, one for each context. A context learns
//! what another one has done
//!
//! - by a signal that the other raises, once it takes it by waiting for it, testing it with a
//!   branch or reading `ACTIVE_CTX_SIG_EVENTS`: it then knows what had happened when the signal was
//!   sent,
//! - by what it takes from a ring or a queue that the other put there, longword by longword and
//!   buffer by buffer,
//! - by an atomic operation that returns the longword's old value, from all contexts that wrote
//!   that longword before: a lock that was free, a ticket, a test-and-set,
//! - by reading a longword that the other wrote without having read it (a flag, a result), or that
//!   is polled: read in a loop that contains no other command and always uses the same address.
//!
//! A command has happened once it has reached its unit, since units keep the order of the commands
//! to an address. A command that was issued before a signal was sent but reaches its unit
//! afterwards is not known to those who take the signal. The effect of a command is known when it
//! is done, not before.
//!
//! A longword that a context polls is itself a lock or a turn, and its updates do not count. An
//! update is a read and the write after it by the same context. Two updates of different contexts
//! race if neither knows about the other: the second read happened without knowledge of the first
//! write. Contexts of one microengine race only if the first write lies between the read and the
//! write of the second: they are never preempted, so if the updates come one after the other, the
//! pipeline may guarantee their order.
//!
//! The detector observes scratch and SRAM, by the commands of microengines, and their local
//! memories; not DRAM, nor accesses of the general-purpose core. An instruction that reads another
//! longword of local memory ends what it began with the previous one, since the register that it
//! loads has a new value.

mod accesses;
mod clock;
mod found;
mod in_flight;
mod race;
mod signals;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{
    Cause, ContextState, EventKinds, RingName, TraceEvent, TraceEventKind,
};
use npsim_inspect::stats::Stats;
use npsim_isa::{CONTEXTS, CommandOp, Unit, context_index};

use accesses::{ContextAccesses, LongwordState, PendingRead, Write};
use clock::{Moment, VectorClock};
use found::FoundRaces;
use in_flight::{CommandsInFlight, IssuedCommand};
pub use race::{Longword, Race, SharedMemory, Update};
use signals::RaisedSignals;

use crate::polling_reads::polling_reads;
use crate::ring_command::ring_of;
use crate::signal_takers::SignalTakers;

/// Contexts per microengine; their numbers are consecutive.
const EACH: usize = CONTEXTS as usize;
/// Maximum number of remembered reads per context; above it, old ones are dropped.
const READS: usize = 4096;
/// Age in cycles beyond which a read is dropped, as it is unlikely to begin an update.
const AGE: Cycle = 1 << 16;

/// Detects races.
#[derive(Clone, Debug)]
pub struct RaceDetector {
    contexts: Vec<ContextAccesses>,
    words: BTreeMap<Longword, LongwordState>,
    rings: BTreeMap<RingName, VecDeque<Option<Moment>>>,
    issued: CommandsInFlight,
    /// Commands of the current cycle: events of the same cycle that wake their contexts come after
    /// them.
    fresh: Vec<(Cycle, usize, BusCommand)>,
    /// Cycles from a write to a local CSR to the signal that it raises.
    signal_latency: Cycle,
    /// First addresses of devices, by channel: beyond them there is no memory.
    windows: Vec<(u8, u32)>,
    /// Reads that poll in a loop, for each microengine's program.
    polls: Vec<BTreeSet<u16>>,
    /// Where each microengine's program takes signals.
    takers: Vec<SignalTakers>,
    races: FoundRaces,
}

impl RaceDetector {
    /// A detector for a chip in its present state, with nothing observed yet.
    #[must_use]
    pub fn new(chip: &Chip) -> Self {
        let count = chip.microengines().len() * EACH;
        let stats = Stats::collect(chip);
        let mut rings = BTreeMap::new();
        for ring in &stats.rings {
            let name = RingName::Scratch(ring.ring as u8);
            rings.insert(name, VecDeque::from(vec![None; ring.level as usize]));
        }
        for queue in &stats.queues {
            let name = RingName::Sram {
                channel: queue.channel as u8,
                entry: queue.entry as u8,
            };
            rings.insert(name, VecDeque::from(vec![None; queue.level as usize]));
        }
        let devices = chip.units().sram.devices();
        Self {
            contexts: (0..count)
                .map(|_| ContextAccesses {
                    clock: Arc::new(VectorClock::new(count)),
                    signals: RaisedSignals::default(),
                    reads: BTreeMap::new(),
                    loaded: BTreeMap::new(),
                    executing: false,
                })
                .collect(),
            words: BTreeMap::new(),
            rings,
            issued: CommandsInFlight::default(),
            fresh: Vec::new(),
            signal_latency: chip.fabric().profile.local_signal_latency(),
            windows: devices
                .map(|device| (device.attachment().channel, device.attachment().address))
                .collect(),
            polls: { chip.microengines().iter() }
                .map(|core| polling_reads(core.program().image()))
                .collect(),
            takers: { chip.microengines().iter() }
                .map(|core| SignalTakers::of(core.program().image()))
                .collect(),
            races: FoundRaces::default(),
        }
    }

    /// The races, in the order of their first occurrence.
    #[must_use]
    pub fn finish(self) -> Vec<Race> {
        let is_polled = |race: &Race| self.words.get(&race.longword).is_some_and(|it| it.polled);
        { self.races.into_races() }
            .filter(|race| !is_polled(race))
            .collect()
    }

    fn longwords(&self, command: &BusCommand, count: u32) -> Vec<Longword> {
        let (memory, first) = match command.op.info().unit {
            Unit::Scratch => (SharedMemory::Scratch, command.address & 0x3ffc),
            Unit::Dram | Unit::Msf | Unit::Pci | Unit::Hash | Unit::Cap => return Vec::new(),
            Unit::Sram => (
                SharedMemory::Sram((command.address >> 30) as u8),
                command.address & 0x3fff_fffc,
            ),
        };
        let is_memory = |it: &Longword| {
            { self.windows.iter() }.all(|&(window, begin)| {
                it.memory != SharedMemory::Sram(window) || it.address < begin
            })
        };
        (0..count)
            .map(|at| Longword {
                memory,
                address: first.wrapping_add(4 * at),
            })
            .filter(is_memory)
            .collect()
    }

    /// Advances to a cycle and issues the commands of earlier ones.
    fn advance(&mut self, now: Cycle) {
        if self.fresh.first().is_some_and(|first| first.0 < now) {
            for (at, slot, command) in std::mem::take(&mut self.fresh) {
                self.issue(at, slot, &command);
            }
        }
    }

    /// Issues a command, with the present knowledge of its context.
    fn issue(&mut self, at: Cycle, slot: usize, command: &BusCommand) {
        let who = number(command.me, command.context);
        let Some(context) = self.contexts.get_mut(who) else {
            return;
        };
        let tested = context.signals.tested(at);
        context.learn(&tested);
        let issued = IssuedCommand {
            who,
            pc: command.pc,
            at,
            known: context.clock.clone(),
            arrived: None,
            learned: Vec::new(),
            done: false,
        };
        self.issued.insert(slot, issued);
        if self.polls[who / EACH].contains(&command.pc) {
            for longword in self.longwords(command, u32::from(command.count.clamp(1, 16))) {
                self.words.entry(longword).or_default().polled = true;
            }
        }
    }

    /// Notes that a command has reached its unit.
    fn arrive(&mut self, at: Cycle, slot: usize) {
        if let Some(issued) = self.issued.get_mut(slot) {
            issued.arrived = Some(at);
        }
    }

    /// Completes a command: its context now knows what it learned by it.
    fn end(&mut self, slot: usize) {
        if let Some(issued) = self.issued.get_mut(slot) {
            issued.done = true;
            let learned = std::mem::take(&mut issued.learned);
            self.contexts[issued.who].learn(&learned);
        }
    }

    /// Performs a command's effect.
    fn serve(&mut self, at: Cycle, slot: usize, command: &BusCommand) {
        use CommandOp as Op;
        let Some(issued) = self.issued.get_mut(slot) else {
            return;
        };
        let moment = issued.moment(at);
        let count = u32::from(command.count.clamp(1, 16));
        let place = (at, command.pc);
        let mut learned = Vec::new();
        match command.op {
            Op::ScratchRead | Op::SramRead => {
                for longword in self.longwords(command, count) {
                    learned.extend(self.read(place, longword, &moment));
                }
            }
            Op::ScratchWrite | Op::SramWrite => {
                for longword in self.longwords(command, count) {
                    self.write(place, longword, &moment);
                }
            }
            Op::ScratchPut | Op::SramPut | Op::SramEnqueue => {
                let entries = if command.op == Op::SramEnqueue {
                    1
                } else {
                    count
                };
                let ring = self.rings.entry(ring_of(command)).or_default();
                ring.extend((0..entries).map(|_| Some(moment.clone())));
            }
            Op::ScratchGet | Op::SramGet | Op::SramDequeue => {
                let entries = if command.op == Op::SramDequeue {
                    1
                } else {
                    count
                };
                let ring = self.rings.entry(ring_of(command)).or_default();
                let taken = (0..entries).filter_map(|_| ring.pop_front().flatten());
                learned.extend(taken);
            }
            op if op.is_atomic() => learned = self.atomic(at, command, &moment),
            _ => {}
        }
        match self.issued.get_mut(slot) {
            Some(issued) if !issued.done => issued.learned.extend(learned),
            _ => self.contexts[moment.who].learn(&learned),
        }
    }

    /// Records a context's read of a longword at a cycle and instruction, and returns what it
    /// learns by it.
    fn read(&mut self, (at, pc): (Cycle, u16), longword: Longword, moment: &Moment) -> Vec<Moment> {
        let known = self.words.get(&longword).map_or_else(Vec::new, |state| {
            let last = state.writes.iter().max_by_key(|write| write.at);
            let known = state.writes.iter().filter(|write| {
                let blind = write.read.is_none() && !write.atomic;
                let is_last = last.is_some_and(|last| last.moment.who == write.moment.who);
                state.polled || blind && is_last
            });
            known.map(|write| write.moment.clone()).collect()
        });
        let reads = &mut self.contexts[moment.who].reads;
        if reads.len() >= READS {
            reads.retain(|_, read| read.at + AGE > at);
        }
        let moment = moment.clone();
        reads.insert(longword, PendingRead { at, pc, moment });
        known
    }

    /// Records a context's write of a longword at a cycle and instruction.
    fn write(&mut self, (at, pc): (Cycle, u16), longword: Longword, moment: &Moment) {
        let who = moment.who;
        let read = self.contexts[who].reads.remove(&longword);
        let state = self.words.entry(longword).or_default();
        if let Some(read) = &read {
            for other in state.writes.iter().filter(|other| other.moment.who != who) {
                let (others, known) = (&other.moment, &read.moment.known);
                let before = others.is_known_to(known);
                let handed_over =
                    read.moment.is_known_to(&others.known) && others.is_known_to(&moment.known);
                let overlaps = other.at > read.at;
                let same = others.who / EACH == who / EACH;
                let predicted = other.read.is_some() && !same;
                if before || handed_over || !overlaps && !predicted {
                    continue;
                }
                let race = Race {
                    longword,
                    first: Update {
                        me: (others.who / EACH) as u8,
                        context: (others.who % EACH) as u8,
                        read: other.read,
                        written: (other.at, other.pc),
                    },
                    second: Update {
                        me: (who / EACH) as u8,
                        context: (who % EACH) as u8,
                        read: Some((read.at, read.pc)),
                        written: (at, pc),
                    },
                    count: 1,
                    untracked: self.takers[others.who / EACH].reads_of_others()
                        || self.takers[who / EACH].reads_of_others(),
                };
                self.races.add(race);
            }
        }
        let write = Write {
            at,
            pc,
            moment: moment.clone(),
            read: read.map(|read| (read.at, read.pc)),
            atomic: false,
        };
        state.put(write);
    }

    /// Records a context's access to its microengine's local memory.
    fn local(&mut self, (at, pc): (Cycle, u16), (me, who): (u8, usize), word: u16, write: bool) {
        let Some(context) = self.contexts.get_mut(who) else {
            return;
        };
        let tested = context.signals.tested(at);
        context.learn(&tested);
        let moment = Moment {
            who,
            at,
            known: context.clock.clone(),
        };
        let longword = Longword {
            memory: SharedMemory::Local(me),
            address: u32::from(word) * 4,
        };
        if write {
            self.write((at, pc), longword, &moment);
            return;
        }
        let learned = self.read((at, pc), longword, &moment);
        self.contexts[who].learn(&learned);
        // The register that the instruction loads now has a different value, so later writes do not
        // derive from the earlier one. Structures linked in local memory are read and, long after,
        // written anew.
        let context = &mut self.contexts[who];
        if let Some(earlier) = context.loaded.insert(pc, longword)
            && earlier != longword
            && { context.reads.get(&earlier) }.is_some_and(|read| read.pc == pc)
        {
            context.reads.remove(&earlier);
        }
    }

    /// Performs an atomic operation and returns what its context learns by it.
    fn atomic(&mut self, at: Cycle, command: &BusCommand, moment: &Moment) -> Vec<Moment> {
        let mut learned = Vec::new();
        for longword in self.longwords(command, 1) {
            let state = self.words.entry(longword).or_default();
            let mut released = moment.clone();
            if returns(command.op) {
                for other in &state.writes {
                    Arc::make_mut(&mut released.known).learn(&other.moment);
                    learned.push(other.moment.clone());
                }
            }
            let write = Write {
                at,
                pc: command.pc,
                moment: released,
                read: None,
                atomic: true,
            };
            state.put(write);
        }
        learned
    }

    /// Corrects a ring's record by its actual level: a get may have found too little, a put may
    /// have been refused, or the general-purpose core may have used the ring.
    fn level(&mut self, at: Cycle, name: RingName, fill: u32) {
        if let RingName::Neighbour(me) = name {
            return self.neighbours(at, me, fill);
        }
        let ring = self.rings.entry(name).or_default();
        while ring.len() > fill as usize {
            ring.pop_back();
        }
        while ring.len() < fill as usize {
            ring.push_front(None);
        }
    }

    /// Handles a new level of a next-neighbour ring: the context running on one side has put
    /// something, or the one on the other side has taken it.
    fn neighbours(&mut self, at: Cycle, me: u8, fill: u32) {
        let running = |contexts: &[ContextAccesses], me: usize| {
            let all = me * EACH..((me + 1) * EACH).min(contexts.len());
            { all }.find(|at| contexts[*at].executing)
        };
        let name = RingName::Neighbour(me);
        let ring = self.rings.entry(name).or_default();
        while ring.len() < fill as usize {
            let writer = usize::from(me).checked_sub(1);
            let writer = writer.and_then(|me| running(&self.contexts, me));
            ring.push_back(writer.map(|who| Moment {
                who,
                at,
                known: self.contexts[who].clock.clone(),
            }));
        }
        while ring.len() > fill as usize {
            let taken = ring.pop_front().flatten();
            let reader = running(&self.contexts, usize::from(me));
            if let (Some(taken), Some(who)) = (taken, reader) {
                self.contexts[who].learn(&[taken]);
            }
        }
    }

    /// Handles a signal that another context, or a command of another context, raises.
    fn signal(&mut self, at: Cycle, (me, context): (u8, u8), signals: u16, cause: Cause) {
        let Some((from, by, pc)) = cause.place() else {
            return;
        };
        let (from, to) = (number(from, by), number(me, context));
        if from == to || from.max(to) >= self.contexts.len() {
            return;
        }
        let sent = match self.issued.first_of(from, pc) {
            Some(issued) => issued.moment(at),
            None => Moment {
                who: from,
                at: at.saturating_sub(self.signal_latency),
                known: self.contexts[from].clock.clone(),
            },
        };
        let context = &mut self.contexts[to];
        let tested = context.signals.tested(at);
        context.learn(&tested);
        context.signals.raise(signals, sent);
    }

    /// Handles a context's change of state.
    fn change(&mut self, (me, context): (u8, u8), doing: ContextState, pc: u16) {
        let who = number(me, context);
        let Some(it) = self.contexts.get_mut(who) else {
            return;
        };
        match doing {
            ContextState::Waiting { signals, .. } => it.signals.wait(signals),
            // It need not wait for signals that had already arrived.
            ContextState::Ready if it.executing => {
                it.signals.wait(self.takers[usize::from(me)].awaited(pc));
            }
            ContextState::Executing => {
                let taken = it.signals.wake();
                it.learn(&taken);
            }
            ContextState::Ready | ContextState::Inactive | ContextState::Killed => {}
        }
        it.executing = doing == ContextState::Executing;
    }
}

impl Observer for RaceDetector {
    fn wants(&self) -> EventKinds {
        let kinds = EventKinds::of(&[
            TraceEventKind::Command,
            TraceEventKind::Queued,
            TraceEventKind::Served,
            TraceEventKind::Done,
            TraceEventKind::Signal,
            TraceEventKind::Ring,
            TraceEventKind::Context,
            TraceEventKind::LocalMemory,
        ]);
        if self.takers.iter().any(SignalTakers::has_tests) {
            return kinds.and(EventKinds::of(&[TraceEventKind::Issued]));
        }
        kinds
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.advance(at);
        match *event {
            TraceEvent::Command { slot, command } => {
                self.fresh.push((at, slot.0 as usize, command));
            }
            TraceEvent::Queued { slot, .. } => self.arrive(at, slot.0 as usize),
            TraceEvent::Served {
                slot, ref command, ..
            } => self.serve(at, slot.0 as usize, command),
            TraceEvent::Done { slot, .. } => self.end(slot.0 as usize),
            TraceEvent::Signal {
                me,
                context,
                signals,
                cause,
            } => self.signal(at, (me, context), signals, cause),
            TraceEvent::Ring { ring, fill } => self.level(at, ring, fill),
            TraceEvent::Context {
                me,
                context,
                doing,
                pc,
            } => self.change((me, context), doing, pc),
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => {
                let Some(it) = self.contexts.get_mut(number(me, context)) else {
                    return;
                };
                for (after, signals) in self.takers[usize::from(me)].tests(pc, count) {
                    it.signals.test(at + after, signals);
                }
            }
            TraceEvent::LocalMemory {
                me,
                context,
                pc,
                word,
                write,
            } => {
                let who = number(me, context);
                self.local((at, pc), (me, who), word, write);
            }
            _ => {}
        }
    }
}

/// The index of a context among those of all microengines.
fn number(me: u8, context: u8) -> usize {
    usize::from(me) * EACH + context_index(context)
}

/// Whether an atomic operation returns the old value.
fn returns(op: CommandOp) -> bool {
    op.is_atomic() && op.info().pushes
}
