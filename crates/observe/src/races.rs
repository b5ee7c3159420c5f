//! Memory that two contexts update without anything that keeps them apart: reads of a
//! longword that are followed by a write of it, while another context does the same.
//!
//! What happened before what is followed with vector clocks, one for each context. A
//! context learns what another one has done
//!
//! - by a signal that the other raises,
//! - by what it takes from a ring or a queue that the other put there, longword by
//!   longword and buffer by buffer,
//! - by an atomic operation that returns the longword's old value, of all contexts that wrote that
//!   longword before: a lock that was free, a ticket, a test and set,
//! - by reading a longword that the other wrote without having read it (a flag, a
//!   result), or that is polled: read in a loop with no other command in it.
//!
//! A longword that a context polls is a lock or a turn itself, and its updates are none. An
//! update is a read and the write after it by the same context. Two updates of
//! different contexts race if neither knows of the other: the second was read without
//! knowing of the first's write. Contexts of one microengine race only if the first write
//! lies between the read and the write of the second: they are never preempted, so
//! where they come one after the other the order may be the work of the pipeline.
//!
//! The detector sees scratch and SRAM, by the commands of microengines, and their local memories;
//! not DRAM, nor accesses of the general-purpose core. An instruction that reads another
//! longword of local memory ends what it began with the one before, since the register that
//! it loads has a new value.

mod clock;
mod polls;
mod race;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{
    Cause, ContextState, Kinds, RingName, TraceEvent, TraceEventKind,
};
use npsim_inspect::stats::Stats;
use npsim_isa::{CONTEXTS, CommandOp, Unit, context_index};

use clock::VectorClock;
use polls::polling_reads;
pub use race::{Longword, Race, SharedMemory, Update};

/// Contexts of a microengine; their numbers follow each other.
const EACH: usize = CONTEXTS as usize;
/// Reads of a context that are remembered; more are thinned out by age.
const READS: usize = 4096;
/// Cycles after which a read is not taken for the beginning of an update, when reads are
/// thinned out.
const AGE: Cycle = 1 << 16;
/// Different pairs of places that are remembered.
const MOST: usize = 256;

/// A read that may be the beginning of an update.
#[derive(Clone, Debug)]
struct PendingRead {
    at: Cycle,
    pc: u16,
    clock: Arc<VectorClock>,
}

/// The last write of a longword by one context.
#[derive(Clone, Debug)]
struct Write {
    who: usize,
    at: Cycle,
    pc: u16,
    clock: Arc<VectorClock>,
    read: Option<(Cycle, u16)>,
    atomic: bool,
}

impl Write {
    /// Whether a context with this clock has seen it.
    fn is_known_to(&self, clock: &VectorClock) -> bool {
        clock.of(self.who) >= self.clock.of(self.who)
    }
}

#[derive(Clone, Debug, Default)]
struct LongwordState {
    writes: Vec<Write>,
    polled: bool,
}

#[derive(Clone, Debug)]
struct ContextAccesses {
    clock: Arc<VectorClock>,
    reads: BTreeMap<Longword, PendingRead>,
    /// What each instruction read last in local memory.
    loaded: BTreeMap<u16, Longword>,
    executing: bool,
}

/// Looks for races.
#[derive(Clone, Debug)]
pub struct RaceDetector {
    contexts: Vec<ContextAccesses>,
    words: BTreeMap<Longword, LongwordState>,
    rings: BTreeMap<RingName, VecDeque<Option<Arc<VectorClock>>>>,
    /// Fill of a ring after the last operation, told behind it.
    issued: Vec<Option<Arc<VectorClock>>>,
    /// Where devices begin, channel by channel: what lies there is no memory.
    windows: Vec<(u8, u32)>,
    /// Reads in a loop that waits for what they find, of each microengine's program.
    polls: Vec<BTreeSet<u16>>,
    races: Vec<Race>,
}

impl RaceDetector {
    /// A detector that has seen nothing yet of a chip as it stands.
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
                .map(|own| ContextAccesses {
                    clock: Arc::new(VectorClock::first(count, own)),
                    reads: BTreeMap::new(),
                    loaded: BTreeMap::new(),
                    executing: false,
                })
                .collect(),
            words: BTreeMap::new(),
            rings,
            issued: Vec::new(),
            windows: devices
                .map(|device| (device.attachment().channel, device.attachment().address))
                .collect(),
            polls: { chip.microengines().iter() }
                .map(|core| polling_reads(core.program().image()))
                .collect(),
            races: Vec::new(),
        }
    }

    /// The races, in the order of their first occurrence.
    #[must_use]
    pub fn finish(mut self) -> Vec<Race> {
        let words = &self.words;
        self.races
            .retain(|race| words.get(&race.longword).is_none_or(|it| !it.polled));
        self.races
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

    /// A command is issued: what its context knows now goes with it.
    fn issue(&mut self, slot: usize, command: &BusCommand) {
        let who = number(command.me, command.context);
        let Some(context) = self.contexts.get_mut(who) else {
            return;
        };
        if self.issued.len() <= slot {
            self.issued.resize(slot + 1, None);
        }
        self.issued[slot] = Some(context.clock.clone());
        if !is_plain_read(command.op) {
            // A context that synchronises with this command is ordered after all that came before
            // it, and not after what follows it.
            Arc::make_mut(&mut context.clock).step(who);
        }
        if self.polls[who / EACH].contains(&command.pc) {
            for longword in self.longwords(command, u32::from(command.count.clamp(1, 16))) {
                self.words.entry(longword).or_default().polled = true;
            }
        }
    }

    /// A command takes effect.
    fn serve(&mut self, at: Cycle, slot: usize, command: &BusCommand) {
        use CommandOp as Op;
        let who = number(command.me, command.context);
        let Some(Some(clock)) = self.issued.get(slot).cloned() else {
            return;
        };
        if who >= self.contexts.len() {
            return;
        }
        let count = u32::from(command.count.clamp(1, 16));
        match command.op {
            Op::ScratchRead | Op::SramRead => {
                for longword in self.longwords(command, count) {
                    self.read((at, command.pc), who, longword, &clock);
                }
            }
            Op::ScratchWrite | Op::SramWrite => {
                for longword in self.longwords(command, count) {
                    self.write((at, command.pc), who, longword, &clock);
                }
            }
            Op::ScratchPut | Op::SramPut | Op::SramEnqueue => {
                let entries = if command.op == Op::SramEnqueue {
                    1
                } else {
                    count
                };
                let ring = self.rings.entry(ring_of(command)).or_default();
                ring.extend((0..entries).map(|_| Some(clock.clone())));
            }
            Op::ScratchGet | Op::SramGet | Op::SramDequeue => {
                let entries = if command.op == Op::SramDequeue {
                    1
                } else {
                    count
                };
                for _ in 0..entries {
                    let ring = self.rings.entry(ring_of(command)).or_default();
                    if let Some(Some(known)) = ring.pop_front() {
                        Arc::make_mut(&mut self.contexts[who].clock).join(&known);
                    }
                }
            }
            op if op.is_atomic() => self.atomic(at, who, command, &clock),
            _ => {}
        }
    }

    /// A context reads a longword at a cycle and place.
    fn read(
        &mut self,
        (at, pc): (Cycle, u16),
        who: usize,
        longword: Longword,
        clock: &Arc<VectorClock>,
    ) {
        if let Some(state) = self.words.get(&longword) {
            let last = state.writes.iter().max_by_key(|write| write.at);
            let known = state.writes.iter().filter(|write| {
                let blind = write.read.is_none() && !write.atomic;
                state.polled || blind && last.is_some_and(|last| last.who == write.who)
            });
            let known: Vec<_> = known.map(|write| write.clock.clone()).collect();
            for other in known {
                Arc::make_mut(&mut self.contexts[who].clock).join(&other);
            }
        }
        let reads = &mut self.contexts[who].reads;
        if reads.len() >= READS {
            reads.retain(|_, read| read.at + AGE > at);
        }
        let clock = clock.clone();
        reads.insert(longword, PendingRead { at, pc, clock });
    }

    /// A context writes a longword at a cycle and place.
    fn write(
        &mut self,
        (at, pc): (Cycle, u16),
        who: usize,
        longword: Longword,
        clock: &Arc<VectorClock>,
    ) {
        let read = self.contexts[who].reads.remove(&longword);
        let state = self.words.entry(longword).or_default();
        if let Some(read) = &read {
            for other in state.writes.iter().filter(|other| other.who != who) {
                let before = other.is_known_to(&read.clock);
                let handed_over =
                    other.clock.of(who) >= read.clock.of(who) && other.is_known_to(clock);
                let overlaps = other.at > read.at;
                let same = other.who / EACH == who / EACH;
                let predicted = other.read.is_some() && !same;
                if before || handed_over || !overlaps && !predicted {
                    continue;
                }
                let race = Race {
                    longword,
                    first: Update {
                        me: (other.who / EACH) as u8,
                        context: (other.who % EACH) as u8,
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
                };
                remember(&mut self.races, race);
            }
        }
        let write = Write {
            who,
            at,
            pc,
            clock: clock.clone(),
            read: read.map(|read| (read.at, read.pc)),
            atomic: false,
        };
        put(&mut state.writes, write);
    }

    /// A context reads or writes its microengine's local memory.
    fn local(&mut self, (at, pc): (Cycle, u16), (me, who): (u8, usize), word: u16, write: bool) {
        let Some(context) = self.contexts.get(who) else {
            return;
        };
        let clock = context.clock.clone();
        let longword = Longword {
            memory: SharedMemory::Local(me),
            address: u32::from(word) * 4,
        };
        if write {
            self.write((at, pc), who, longword, &clock);
            return;
        }
        self.read((at, pc), who, longword, &clock);
        // The register that the instruction loads has another value now, so that what
        // is written from here on is not made of the earlier one. Structures that are
        // linked in local memory are read and, long after, written anew.
        let context = &mut self.contexts[who];
        if let Some(earlier) = context.loaded.insert(pc, longword)
            && earlier != longword
            && { context.reads.get(&earlier) }.is_some_and(|read| read.pc == pc)
        {
            context.reads.remove(&earlier);
        }
    }

    fn atomic(&mut self, at: Cycle, who: usize, command: &BusCommand, clock: &Arc<VectorClock>) {
        for longword in self.longwords(command, 1) {
            let state = self.words.entry(longword).or_default();
            let mut released = clock.clone();
            if returns(command.op) {
                for other in &state.writes {
                    Arc::make_mut(&mut self.contexts[who].clock).join(&other.clock);
                    Arc::make_mut(&mut released).join(&other.clock);
                }
            }
            let write = Write {
                who,
                at,
                pc: command.pc,
                clock: released,
                read: None,
                atomic: true,
            };
            put(&mut state.writes, write);
        }
    }

    /// What the ring holds now decides where the account was wrong: a get that found too
    /// little, a put that was refused, what the general-purpose core did.
    fn level(&mut self, name: RingName, fill: u32) {
        if let RingName::Neighbour(me) = name {
            return self.neighbours(me, fill);
        }
        let ring = self.rings.entry(name).or_default();
        while ring.len() > fill as usize {
            ring.pop_back();
        }
        while ring.len() < fill as usize {
            ring.push_front(None);
        }
    }

    /// A next-neighbour ring has another fill: the context that runs on the one side has
    /// put something, or the one on the other has taken it.
    fn neighbours(&mut self, me: u8, fill: u32) {
        let running = |contexts: &[ContextAccesses], me: usize| {
            let all = me * EACH..((me + 1) * EACH).min(contexts.len());
            { all }.find(|at| contexts[*at].executing)
        };
        let name = RingName::Neighbour(me);
        let ring = self.rings.entry(name).or_default();
        while ring.len() < fill as usize {
            let writer = usize::from(me).checked_sub(1);
            let writer = writer.and_then(|me| running(&self.contexts, me));
            ring.push_back(writer.map(|at| self.contexts[at].clock.clone()));
            if let Some(at) = writer {
                Arc::make_mut(&mut self.contexts[at].clock).step(at);
            }
        }
        while ring.len() > fill as usize {
            let taken = ring.pop_front().flatten();
            let reader = running(&self.contexts, usize::from(me));
            if let (Some(known), Some(at)) = (taken, reader) {
                Arc::make_mut(&mut self.contexts[at].clock).join(&known);
            }
        }
    }

    fn signal(&mut self, me: u8, context: u8, cause: Cause) {
        let Cause::Thread {
            me: from,
            context: by,
            ..
        } = cause
        else {
            return;
        };
        let (from, to) = (number(from, by), number(me, context));
        if from == to || from.max(to) >= self.contexts.len() {
            return;
        }
        let known = self.contexts[from].clock.clone();
        Arc::make_mut(&mut self.contexts[to].clock).join(&known);
        Arc::make_mut(&mut self.contexts[from].clock).step(from);
    }
}

impl Observer for RaceDetector {
    fn wants(&self) -> Kinds {
        Kinds::of(&[
            TraceEventKind::Command,
            TraceEventKind::Served,
            TraceEventKind::Signal,
            TraceEventKind::Ring,
            TraceEventKind::Context,
            TraceEventKind::LocalMemory,
        ])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        match *event {
            TraceEvent::Command { slot, ref command } => self.issue(slot.0 as usize, command),
            TraceEvent::Served {
                slot, ref command, ..
            } => self.serve(at, slot.0 as usize, command),
            TraceEvent::Signal {
                me, context, cause, ..
            } => self.signal(me, context, cause),
            TraceEvent::Ring { ring, fill } => self.level(ring, fill),
            TraceEvent::Context {
                me, context, doing, ..
            } => {
                let at = number(me, context);
                if let Some(it) = self.contexts.get_mut(at) {
                    it.executing = doing == ContextState::Executing;
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

/// The number of a context among those of all microengines.
fn number(me: u8, context: u8) -> usize {
    usize::from(me) * EACH + context_index(context)
}

/// The last write of each context.
fn put(writes: &mut Vec<Write>, write: Write) {
    match writes.iter_mut().find(|it| it.who == write.who) {
        Some(own) => *own = write,
        None => writes.push(write),
    }
}

fn remember(races: &mut Vec<Race>, race: Race) {
    let places = |race: &Race| {
        let pc = |update: &Update| (update.me, update.read.map(|it| it.1), update.written.1);
        (race.longword.memory, pc(&race.first), pc(&race.second))
    };
    let room = races.len() < MOST;
    match races.iter_mut().find(|it| places(it) == places(&race)) {
        Some(known) => {
            known.count += 1;
            // A race with a lost update says more than one that might have lost it.
            if race.has_lost() && !known.has_lost() {
                *known = Race {
                    count: known.count,
                    ..race
                };
            }
        }
        None if room => races.push(race),
        None => {}
    }
}

fn is_plain_read(op: CommandOp) -> bool {
    use CommandOp as Op;
    matches!(
        op,
        Op::ScratchRead | Op::SramRead | Op::ScratchGet | Op::SramGet | Op::SramDequeue
    )
}

/// Whether an atomic operation gives the old value.
fn returns(op: CommandOp) -> bool {
    op.is_atomic() && op.info().pushes
}

fn ring_of(command: &BusCommand) -> RingName {
    match command.op.info().unit {
        Unit::Scratch => RingName::Scratch((command.address >> 2 & 15) as u8),
        _ => RingName::Sram {
            channel: (command.address >> 30) as u8,
            entry: (command.address >> 24 & 63) as u8,
        },
    }
}
