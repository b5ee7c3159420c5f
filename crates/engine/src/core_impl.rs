//! The microengine's implementation of [`Core`], the interface to the chip and its units.

use std::array;
use std::ops::Range;
use std::sync::Arc;

use npsim_image::NnMode;
use npsim_isa::{CONTEXTS, Context, ContextSet, Operand};

use crate::ENGINE;
use crate::aborted_slots::AbortedSlots;
use crate::bound_program::BoundProgram;
use crate::microengine::{Microengine, Phase, slow};
use crate::predecoded_program::Predecoded;
use crate::registers::{SLOTS, SlotMask, transfer_file};
use crate::scoreboard::Reservation;
use npsim_chip::Cycle;
use npsim_chip::core::{
    ContextPhase, ContextView, Core, CoreKind, CoreProbe, MeStats, Program, ahead, pull_from,
    push_to,
};
use npsim_chip::kernel::fabric::{CommandId, Fabric, TransferKind};
use npsim_chip::kernel::fault_injection::Stall;
use npsim_chip::kernel::remote_access::RemoteAccess;
use npsim_chip::kernel::saved_memory::StateError;
use npsim_chip::kernel::signal_source::SignalSource;
use npsim_chip::kernel::snapshot::{self, SnapshotError, StateReader, StateVector};
use npsim_chip::kernel::trace_event::{Cause, TraceEvent};

impl Core for Microengine {
    fn kind(&self) -> CoreKind {
        ENGINE
    }

    fn boxed_clone(&self) -> Box<dyn Core> {
        Box::new(self.clone())
    }

    fn index(&self) -> u8 {
        self.index
    }

    fn load(&mut self, program: Program) {
        let image = Arc::clone(program.image());
        self.program = Predecoded::new(program, self.timing);
        // How far the limit lies from `run_until` depends on the program's length.
        self.fast_until = 0;
        self.pending_sync = None;
        *self.bound = Default::default();
        self.bind();
        self.mode = image.contexts;
        self.nn_self = image.nn_mode == NnMode::Own;
        for initial in &image.initial_values {
            match initial.context {
                Some(context) => self.write_register(initial.register, context, initial.value),
                None => (0..CONTEXTS).for_each(|context| {
                    self.write_register(initial.register, context, initial.value);
                }),
            }
        }
    }

    fn program(&self) -> &Program {
        self.program.loaded()
    }

    fn start(&mut self, contexts: ContextSet, fabric: &mut Fabric) {
        let now = fabric.now;
        if !self.running {
            self.running = true;
            self.stats.started = now;
            self.cycle = now;
            self.contexts.open(now);
        }
        let usable = self.usable(contexts);
        for context in usable.iter() {
            let it = &mut self.contexts[context];
            if it.state() == ContextPhase::Inactive {
                it.signals |= 1;
                it.wakeup = 1;
                it.any = false;
                it.pc = 0;
                self.contexts.enter(context, ContextPhase::Ready, now);
                self.trace_context_if_open(context, fabric);
            }
        }
        self.enabled = self.enabled.union(usable);
        if !self.enabled.is_empty() && matches!(self.phase, Phase::Idle | Phase::Halted) {
            self.wake(0, fabric);
        }
    }

    fn seed_random(&mut self, value: u32) {
        self.random = value.max(1);
        self.random_set = self.cycle;
    }

    fn run(&mut self, fabric: &mut Fabric) {
        if fabric.trace.is_open() {
            self.run_as::<true>(fabric);
        } else {
            self.run_unobserved(fabric);
        }
    }

    fn run_unobserved(&mut self, fabric: &mut Fabric) {
        self.run_as::<false>(fabric);
    }

    #[inline]
    fn signal(&mut self, context: u8, mask: u16, fabric: &mut Fabric) {
        self.raise(Context::wrapping(context), mask, fabric);
    }

    fn timer(&mut self, context: u8, fabric: &mut Fabric) {
        let context = Context::wrapping(context);
        let it = &mut self.contexts[context];
        if it.timer_due != Some(fabric.now) {
            return;
        }
        it.timer_due = None;
        if fabric.trace.is_open() {
            return self.timer_observed(context, fabric);
        }
        self.timer_raises(context, fabric);
    }

    fn nn_put(&mut self, index: u8, value: u32, ring: bool, fabric: &mut Fabric) {
        self.neighbour_wrote(index, value, ring, fabric);
    }

    #[inline]
    fn push(&mut self, kind: TransferKind, register: u8, words: &[u32]) {
        self.push_words(transfer_file(kind, true) + u16::from(register & 127), words);
    }

    #[inline]
    fn pull(&mut self, kind: TransferKind, register: u8, out: &mut [u32]) {
        self.pull_words(transfer_file(kind, false) + u16::from(register & 127), out);
    }

    // Rare cases are tail calls, so that nothing has to be saved across a call.
    fn pushed(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let flight = fabric.flight(slot);
        let command = &flight.command;
        let first = transfer_file(command.transfer_kind, true) + u16::from(command.transfer & 127);
        let is_done = if flight.words == 1 {
            self.push_one(first, flight.data[0])
        } else {
            self.push_few(first, flight.words, &flight.data)
        };
        if !is_done {
            return self.pushed_slow(slot, fabric);
        }
        let (context, signals) = (command.signal_context(), command.push_signals);
        if signals != 0 {
            self.raise(context, signals, fabric);
        }
    }

    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let flight = fabric.flight_mut(slot);
        let command = &flight.command;
        let first = transfer_file(command.transfer_kind, false) + u16::from(command.transfer & 127);
        let is_done = if flight.words == 1 {
            self.pull_one(first, &mut flight.data[0])
        } else {
            self.pull_few(first, flight.words, &mut flight.data)
        };
        if !is_done {
            return self.pulled_slow(slot, fabric);
        }
        let (context, signals) = (command.signal_context(), command.pull_signals);
        if signals != 0 {
            self.raise(context, signals, fabric);
        }
    }

    fn claim_in_registers(&mut self, kind: TransferKind, register: u8, words: u8) {
        let first = transfer_file(kind, true) + u16::from(register & 127);
        self.scoreboard.add(Reservation {
            first,
            words,
            op: None,
            // No instruction of this microengine requested it, and how far the microengine has run
            // ahead depends on when it got its turns.
            context: 0,
            pc: 0,
            issued: 0,
        });
    }

    fn expose(&mut self, exposed: RemoteAccess) {
        self.scoreboard.expose(exposed);
    }

    fn stall(&mut self, stall: Stall) -> bool {
        self.add_stall(stall)
    }

    fn stalls(&self) -> &[Stall] {
        &self.stalls.all
    }

    fn stall_over(&mut self, fabric: &mut Fabric) {
        self.end_stall(fabric);
    }

    fn local_time(&self) -> Cycle {
        self.cycle
    }

    fn stats_at(&self, now: Cycle) -> MeStats {
        let mut stats = self.stats;
        if !self.running {
            return stats;
        }
        // Every cycle not accounted for otherwise issued an instruction, so instructions are not
        // counted separately.
        let others = [stats.started, stats.aborted, stats.stalled, stats.idle];
        stats.instructions = others.into_iter().fold(self.cycle, Cycle::saturating_sub);
        stats.subtract_after(now, self.cycle, self.refilled, self.aborted_slots.iter());
        let refill = ahead(now, self.refilled);
        let rest = now.saturating_sub(self.cycle);
        match self.phase {
            Phase::Held => stats.stalled += rest,
            Phase::Idle | Phase::Pick | Phase::Halted | Phase::Run | Phase::Swap => {
                stats.idle += rest;
            }
        }
        for (context, times) in Context::all().zip(&mut stats.contexts) {
            // The last context to yield the pipeline counts as executing until its slots are over,
            // and is ready after them only if it is also the next to get the pipeline.
            let ready = if context == self.last {
                refill
            } else {
                Cycle::MAX
            };
            *times = self.contexts[context].times_at(now, ready);
        }
        stats
    }

    fn forget_before(&mut self, now: Cycle) {
        self.aborted_slots.forget_before(now);
    }

    fn halted(&self) -> Option<u8> {
        (self.phase == Phase::Halted).then_some(self.datapath.context.number())
    }

    #[inline]
    fn context(&self, context: u8) -> ContextView {
        let context = Context::wrapping(context);
        let it = &self.contexts[context];
        ContextView {
            phase: it.state(),
            since: it.since(),
            pc: self.context_pc(context),
            yielded_at: it.yielded_at,
            signals: it.signals,
            wakeup: it.wakeup,
            any: it.any,
        }
    }

    fn probe(&self) -> Option<&dyn CoreProbe> {
        Some(self)
    }

    fn write_register(&mut self, register: Operand, context: u8, value: u32) {
        if let Some(slot) = self.slot_of(register, Context::wrapping(context), true) {
            self.datapath.file[slot] = value;
            self.initialised.mark(slot);
            // The pending synchronisation point may already have read the old value.
            self.pending_sync = None;
        }
    }

    fn read_register(&self, register: Operand, context: u8) -> u32 {
        self.slot_of(register, Context::wrapping(context), true)
            .map_or(0, |slot| self.datapath.file[slot])
    }

    fn read_out_register(&self, kind: TransferKind, register: u8) -> u32 {
        self.datapath.file[transfer_file(kind, false) as usize + (register as usize & 127)]
    }

    fn local_memory(&self) -> &[u32] {
        &self.memory.words
    }

    fn local_memory_mut(&mut self) -> &mut [u32] {
        &mut self.memory.words
    }

    fn condition_codes(&self) -> [bool; 4] {
        let codes = self.datapath.codes;
        [
            codes.negative(),
            codes.zero(),
            codes.overflow(),
            codes.carry(),
        ]
    }

    fn cam_entry(&self, entry: u8) -> (u32, u8) {
        let cam = &self.datapath.cam;
        let entry = u32::from(entry);
        (cam.tag(entry), (cam.state(entry) >> 8) as u8)
    }

    fn cam_order(&self) -> [u8; 16] {
        self.datapath.cam.order()
    }

    fn crc_remainder(&self) -> u32 {
        self.datapath.crc_remainder
    }

    fn state_digest(&self, now: Cycle) -> Option<u64> {
        let mut digest = u64::from(self.pc) << 32
            | u64::from(self.datapath.context.number()) << 24
            | (self.phase as u64) << 16
            | self.cycle.saturating_sub(now) & 0xffff;
        for context in self.contexts.iter() {
            let state = u64::from(context.pc) << 24
                | u64::from(context.signals) << 8
                | context.state() as u64;
            digest = (digest.rotate_left(9) ^ state).wrapping_mul(0x2545_f491_4f6c_dd1d);
        }
        Some(digest)
    }

    fn write_vector(&self, out: &mut StateVector) -> Result<(), SnapshotError> {
        // In defer slots, the next address is not known here.
        let deferring = self.slow & slow::DEFER != 0;
        let contexts = Context::all().map(|context| {
            let running = context == self.datapath.context;
            let at = self.context_pc(context);
            (context, if running && deferring { u16::MAX } else { at })
        });
        let timers = self.program.timers.registers(contexts);
        let mut aborted_slots = self.aborted_slots.clone();
        aborted_slots.forget_before(self.turn_start);
        out.add_core(&(self, &aborted_slots), timers.as_ref().map(|it| &it[..]))
    }

    fn read_vector(&mut self, vector: &mut StateReader<'_>) -> Result<(), SnapshotError> {
        let (mut it, aborted_slots): (Self, AbortedSlots) = vector.take()?;
        it.aborted_slots = aborted_slots;
        std::mem::swap(&mut it.program, &mut self.program);
        std::mem::swap(&mut it.bound, &mut self.bound);
        *self = it;
        Ok(())
    }

    /// The program is left out, since it is rebuilt from the image. What contexts have learned
    /// about it is saved: the operations that each of them still checks before execution; nothing
    /// for a context that has not run yet.
    fn save(&self) -> Result<Vec<u8>, StateError> {
        let unverified: [Vec<u8>; CONTEXTS as usize] =
            array::from_fn(|context| self.bound[context].unverified());
        Ok(snapshot::to_bytes(&(
            self,
            unverified,
            &self.aborted_slots,
        ))?)
    }

    fn restored(&self, state: &[u8]) -> Result<Box<dyn Core>, StateError> {
        type Saved = (Microengine, [Vec<u8>; CONTEXTS as usize], AbortedSlots);
        let ((mut it, unverified, aborted_slots), rest) = snapshot::from_bytes::<Saved>(state)?;
        if !rest.is_empty() {
            return Err(StateError::Long(rest.len()));
        }
        it.aborted_slots = aborted_slots;
        it.scoreboard.expose(self.scoreboard.exposed());
        it.program = self.program.clone();
        if it.mode != self.mode {
            it.program.set_mode(it.mode);
        }
        for (context, unverified) in Context::all().zip(&unverified) {
            if !unverified.is_empty() {
                let bound_program = &mut it.bound[context.index()];
                *bound_program = BoundProgram::new(&it.program, (it.index, context));
                bound_program.clear_checks_as(unverified);
            }
        }
        // A microengine without a program never runs and is not bound.
        if it.program.end() != 0 {
            it.bind();
        }
        Ok(Box::new(it))
    }
}

impl Microengine {
    /// Writes one longword to an IN register if its reservation shares no slots, as is nearly
    /// always the case. Returns whether it did.
    #[inline(always)]
    fn push_one(&mut self, first: u16, word: u32) -> bool {
        if !self.scoreboard.has_alone(first, 1) {
            return false;
        }
        self.datapath.file[usize::from(first) % SLOTS] = word;
        self.initialised.mark_all(SlotMask::one(first));
        self.scoreboard.end(first, SlotMask::one(first));
        true
    }

    /// [`Self::push_one`] for other numbers of longwords, in registers that are bits of a single
    /// word.
    #[inline(always)]
    fn push_few(&mut self, first: u16, words: u8, data: &[u32; 32]) -> bool {
        let Some(slots) = SlotMask::new(first, words) else {
            return false;
        };
        if !self.scoreboard.has_alone(first, words) {
            return false;
        }
        if let Some((data, file)) = few(data, &mut self.datapath.file, first, words) {
            copy_few(file, data);
        }
        self.initialised.mark_all(slots);
        self.scoreboard.end(first, slots);
        true
    }

    /// Reads one longword from an OUT register if its reservation shares no slots, as is nearly
    /// always the case. Returns whether it did.
    #[inline(always)]
    fn pull_one(&mut self, first: u16, word: &mut u32) -> bool {
        if !self.scoreboard.has_alone(first, 1) {
            return false;
        }
        *word = self.datapath.file[usize::from(first) % SLOTS];
        self.scoreboard.end(first, SlotMask::one(first));
        true
    }

    /// [`Self::pull_one`] for other numbers of longwords, in registers that are bits of a single
    /// word.
    #[inline(always)]
    fn pull_few(&mut self, first: u16, words: u8, data: &mut [u32; 32]) -> bool {
        let Some(slots) = SlotMask::new(first, words) else {
            return false;
        };
        if !self.scoreboard.has_alone(first, words) {
            return false;
        }
        if let Some((data, file)) = few_mut(data, &self.datapath.file, first, words) {
            copy_few(data, file);
        }
        self.scoreboard.end(first, slots);
        true
    }

    /// [`Core::pushed`] if the registers are not bits of a single word, or reservations share them.
    #[cold]
    #[inline(never)]
    fn pushed_slow(&mut self, slot: CommandId, fabric: &mut Fabric) {
        push_to(self, slot, fabric);
    }

    #[cold]
    #[inline(never)]
    fn pulled_slow(&mut self, slot: CommandId, fabric: &mut Fabric) {
        pull_from(self, slot, fabric);
    }

    /// Writes data to IN registers, starting at a slot.
    fn push_words(&mut self, first: u16, words: &[u32]) {
        for (slot, &word) in slots_from(first).zip(words) {
            self.datapath.file[slot] = word;
            self.initialised.mark(slot);
        }
        self.scoreboard.release(first, words.len() as u8);
    }

    /// Reads data from OUT registers, starting at a slot.
    fn pull_words(&mut self, first: u16, out: &mut [u32]) {
        let words = out.len() as u8;
        for (slot, word) in slots_from(first).zip(out) {
            *word = self.datapath.file[slot];
        }
        self.scoreboard.release(first, words);
    }

    /// Raises the signal of a context's timer.
    #[inline(always)]
    fn timer_raises(&mut self, context: Context, fabric: &mut Fabric) {
        let signal = self.contexts[context].future_signal & 15;
        let at = (self.index, context.number(), signal);
        fabric.raisers.note(fabric.now, at, SignalSource::TIMER);
        self.raise(context, 1 << signal, fabric);
    }

    /// [`Self::timer_raises`], traced.
    #[cold]
    #[inline(never)]
    fn timer_observed(&mut self, context: Context, fabric: &mut Fabric) {
        let (me, signal) = (self.index, self.contexts[context].future_signal & 15);
        let raised = TraceEvent::Signal {
            me,
            context: context.number(),
            signals: 1 << signal,
            cause: Cause::Timer,
        };
        fabric.trace.put(fabric.now, raised);
        self.timer_raises(context, fabric);
    }
}

/// Number of slots whose bits form one word.
const BITS: usize = 64;

/// The word of bits that contains a range of slots, and their range within it.
#[inline(always)]
fn place(first: u16, words: u8) -> (usize, Range<usize>) {
    let from = usize::from(first) % BITS;
    let word = usize::from(first) / BITS % (SLOTS / BITS);
    (word, from..from + usize::from(words))
}

/// The valid words of a command's data, and an equal number of registers.
#[inline(always)]
fn few<'a>(
    data: &'a [u32; 32],
    file: &'a mut [u32; SLOTS],
    first: u16,
    words: u8,
) -> Option<(&'a [u32], &'a mut [u32])> {
    let (word, slots) = place(first, words);
    let file = file.as_chunks_mut::<BITS>().0.get_mut(word)?;
    Some((data.get(..usize::from(words))?, file.get_mut(slots)?))
}

/// [`few`] in the opposite direction.
#[inline(always)]
fn few_mut<'a>(
    data: &'a mut [u32; 32],
    file: &'a [u32; SLOTS],
    first: u16,
    words: u8,
) -> Option<(&'a mut [u32], &'a [u32])> {
    let (word, slots) = place(first, words);
    let file = file.as_chunks::<BITS>().0.get(word)?;
    Some((data.get_mut(..usize::from(words))?, file.get(slots)?))
}

/// Copies as many words as commands move, without a call. If their number is not a power of two,
/// the first and the last words are copied, and some in the middle twice.
#[inline(always)]
fn copy_few(to: &mut [u32], from: &[u32]) {
    match to.len() {
        0 => {}
        1 => copy_ends::<1>(to, from),
        2..4 => copy_ends::<2>(to, from),
        4..8 => copy_ends::<4>(to, from),
        8..16 => copy_ends::<8>(to, from),
        _ => copy_ends::<16>(to, from),
    }
}

#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [u32], from: &[u32]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk::<N>()) {
        *to = *from;
    }
}

/// The slots of a file of transfer registers from a given one on, wrapping around to the first.
fn slots_from(first: u16) -> impl Iterator<Item = usize> {
    (first..).map(move |slot| usize::from(first & !127 | slot & 127))
}
