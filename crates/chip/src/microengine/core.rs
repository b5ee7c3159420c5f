//! The microengine as a [`Core`]: what chip and units do with it.

use std::array;
use std::sync::Arc;

use npsim_image::NnMode;
use npsim_isa::Operand;

use super::Program;
use super::ahead::Thrown;
use super::registers::{Claim, Here, SLOTS, transfer_file};
use super::{Lane, Microengine, Phase, slow};
use crate::Cycle;
use crate::core::{
    ContextPhase, ContextView, Core, CoreKind, Inside, MeStats, ahead, pull_from, push_to,
};
use crate::engine::ENGINE;
use crate::kernel::disturb::Stall;
use crate::kernel::fabric::{Fabric, Slot, TransferKind};
use crate::kernel::raiser::Raiser;
use crate::kernel::saved_memory::StateError;
use crate::kernel::trace_event::{Cause, TraceEvent};
use crate::quiescence::{NotNumbers, Numbers, Reader};

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
        self.program = program;
        // The limit's distance depends on the program's length.
        self.calm = 0;
        self.refused = None;
        *self.lanes = Default::default();
        self.open_lane();
        self.mode = image.contexts;
        self.nn_self = image.nn_mode == NnMode::Own;
        for initial in &image.initial_values {
            match initial.context {
                Some(context) => self.write_register(initial.register, context, initial.value),
                None => (0..8).for_each(|context| {
                    self.write_register(initial.register, context, initial.value);
                }),
            }
        }
    }

    fn program(&self) -> &Program {
        &self.program
    }

    fn start(&mut self, contexts: u8, fabric: &mut Fabric) {
        let now = fabric.now;
        if !self.running {
            self.running = true;
            self.stats.started = now;
            self.cycle = now;
            self.contexts.open(now);
        }
        let usable = self.usable(contexts);
        for c in 0..8 {
            let context = &mut self.contexts[c];
            if usable & 1 << c != 0 && context.state() == ContextPhase::Inactive {
                context.signals |= 1;
                context.wakeup = 1;
                context.any = false;
                context.pc = 0;
                self.contexts.enter(c, ContextPhase::Ready, now);
                self.journal_context(c, fabric);
            }
        }
        self.enabled |= usable;
        if self.enabled != 0 && matches!(self.phase, Phase::Idle | Phase::Halted) {
            self.wake(0, fabric);
        }
    }

    fn seed_random(&mut self, value: u32) {
        self.random = value.max(1);
        self.random_set = self.cycle;
    }

    fn run(&mut self, fabric: &mut Fabric) {
        self.take_turn(fabric);
    }

    #[inline]
    fn signal(&mut self, context: u8, mask: u16, fabric: &mut Fabric) {
        self.raise(context, mask, fabric);
    }

    fn timer(&mut self, context: u8, fabric: &mut Fabric) {
        let it = &mut self.contexts[context];
        if it.timer_due == Some(fabric.now) {
            it.timer_due = None;
            let mask = 1 << (it.future_signal & 15);
            let signal = it.future_signal & 15;
            let at = (self.index, context & 7, signal);
            if fabric.journal.is_open() {
                tell_timer(at, fabric);
            }
            fabric.raisers.note(fabric.now, at, Raiser::TIMER);
            self.raise(context & 7, mask, fabric);
        }
    }

    fn nn_put(&mut self, index: u8, value: u32, ring: bool, fabric: &mut Fabric) {
        self.neighbour_wrote(index, value, ring, fabric);
    }

    #[inline]
    fn push(&mut self, kind: TransferKind, register: u8, words: &[u32]) {
        let first = transfer_file(kind, true) + u16::from(register & 127);
        let [word] = words else {
            return self.push_words(first, words);
        };
        self.datapath.file[usize::from(first) % SLOTS] = *word;
        let slot = Here::one(first);
        self.initialised.mark_here(slot);
        self.claims.release_here(first, 1, slot);
    }

    #[inline]
    fn pull(&mut self, kind: TransferKind, register: u8, out: &mut [u32]) {
        let first = transfer_file(kind, false) + u16::from(register & 127);
        let [word] = out else {
            return self.pull_words(first, out);
        };
        *word = self.datapath.file[usize::from(first) % SLOTS];
        self.claims.release_here(first, 1, Here::one(first));
    }

    // Here and not by default, so that they are compiled with the rest of this crate.
    fn pushed(&mut self, slot: Slot, fabric: &mut Fabric) {
        push_to(self, slot, fabric);
    }

    fn pulled(&mut self, slot: Slot, fabric: &mut Fabric) {
        pull_from(self, slot, fabric);
    }

    fn claim_in(&mut self, kind: TransferKind, register: u8, words: u8) {
        let first = transfer_file(kind, true) + u16::from(register & 127);
        self.claims.add(Claim {
            first,
            words,
            op: None,
            // No instruction of this microengine asked for it, and where it has
            // run ahead to depends on when it got its turns.
            context: 0,
            pc: 0,
            issued: 0,
        });
    }

    fn stall(&mut self, stall: Stall) -> bool {
        self.add_stall(stall)
    }

    fn stalls(&self) -> &[Stall] {
        self.stalls.all()
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
        // A cycle that is nothing else issued an instruction, so nobody counts these.
        let others = [stats.started, stats.aborted, stats.stalled, stats.idle];
        stats.instructions = others.into_iter().fold(self.cycle, Cycle::saturating_sub);
        stats.take_back(now, self.cycle, self.refilled, self.thrown.iter());
        let refill = ahead(now, self.refilled);
        let rest = now.saturating_sub(self.cycle);
        match self.phase {
            Phase::Held => stats.stalled += rest,
            Phase::Idle | Phase::Pick | Phase::Halted | Phase::Run | Phase::Swap => {
                stats.idle += rest;
            }
        }
        for ((number, context), times) in (0..).zip(self.contexts.iter()).zip(&mut stats.contexts) {
            // The last to give up the pipeline counts as executing until its slots are over,
            // and is ready after them only if it is also the next to get it.
            let ready = if number == self.last {
                refill
            } else {
                Cycle::MAX
            };
            *times = context.times_at(now, ready);
        }
        stats
    }

    fn forget_before(&mut self, now: Cycle) {
        self.thrown.forget_before(now);
    }

    fn halted(&self) -> Option<u8> {
        (self.phase == Phase::Halted).then_some(self.datapath.context & 7)
    }

    fn context(&self, context: u8) -> ContextView {
        let it = &self.contexts[context];
        ContextView {
            phase: it.state(),
            since: it.since(),
            pc: self.context_pc(context & 7),
            yielded_at: it.yielded_at,
            signals: it.signals,
            wakeup: it.wakeup,
            any: it.any,
        }
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }

    fn write_register(&mut self, register: Operand, context: u8, value: u32) {
        if let Some(slot) = self.slot_of(register, context, true) {
            self.datapath.file[slot] = value;
            self.initialised.mark(slot);
            // It may have been taken from there already.
            self.refused = None;
        }
    }

    fn read_register(&self, register: Operand, context: u8) -> u32 {
        self.slot_of(register, context, true)
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

    fn pulse(&self, now: Cycle) -> Option<u64> {
        let mut pulse = u64::from(self.pc) << 32
            | u64::from(self.datapath.context) << 24
            | (self.phase as u64) << 16
            | self.cycle.saturating_sub(now) & 0xffff;
        for context in self.contexts.iter() {
            let state = u64::from(context.pc) << 24
                | u64::from(context.signals) << 8
                | context.state() as u64;
            pulse = (pulse.rotate_left(9) ^ state).wrapping_mul(0x2545_f491_4f6c_dd1d);
        }
        Some(pulse)
    }

    fn write_numbers(&self, out: &mut Numbers) -> Result<(), NotNumbers> {
        // In defer slots it is not known here where control goes.
        let deferring = self.slow & slow::DEFER != 0;
        let contexts: [_; 8] = array::from_fn(|context| {
            let running = context == usize::from(self.datapath.context);
            let at = self.context_pc(context as u8);
            (
                context as u8,
                if running && deferring { u16::MAX } else { at },
            )
        });
        let timers = self.program.timers.registers(&contexts);
        let mut thrown = self.thrown.clone();
        thrown.forget_before(self.entered);
        out.add_core(&(self, &thrown), timers.as_ref().map(|it| &it[..]))
    }

    fn read_numbers(&mut self, numbers: &mut Reader<'_>) -> Result<(), NotNumbers> {
        let (mut it, thrown): (Self, Thrown) = numbers.take()?;
        it.thrown = thrown;
        std::mem::swap(&mut it.program, &mut self.program);
        std::mem::swap(&mut it.lanes, &mut self.lanes);
        *self = it;
        Ok(())
    }

    /// The program is left out, which the image gives again. What contexts have
    /// learned about it is not: which operations each of them still looks at before
    /// it executes them; nothing for a context that has not run yet.
    fn save(&self) -> Result<Vec<u8>, StateError> {
        let watched: [Vec<u8>; 8] = array::from_fn(|context| self.lanes[context].watched());
        Ok(postcard::to_allocvec(&(self, watched, &self.thrown))?)
    }

    fn restored(&self, state: &[u8]) -> Result<Box<dyn Core>, StateError> {
        type Saved = (Microengine, [Vec<u8>; 8], Thrown);
        let ((mut it, watched, thrown), rest) = postcard::take_from_bytes::<Saved>(state)?;
        if !rest.is_empty() {
            return Err(StateError::Long(rest.len()));
        }
        it.thrown = thrown;
        it.program = self.program.clone();
        if it.mode != self.mode {
            it.program.decode(it.mode);
        }
        for (context, (lane, watched)) in it.lanes.iter_mut().zip(&watched).enumerate() {
            if !watched.is_empty() {
                *lane = Lane::new(&it.program, (it.index, context as u8));
                lane.relieve_as(watched, &it.program);
            }
        }
        it.datapath.context &= 7;
        // One without a program never runs and has no lane.
        if !it.program.image.words.is_empty() {
            it.open_lane();
        }
        Ok(Box::new(it))
    }
}

impl Microengine {
    /// Data of another length than one longword reaches IN registers.
    #[inline(never)]
    fn push_words(&mut self, first: u16, words: &[u32]) {
        let Some(slots) = here(first, words) else {
            return self.push_far(first, words);
        };
        if let Some(file) = self.datapath.file.get_mut(usize::from(first)..)
            && let Some(file) = file.get_mut(..words.len())
        {
            copy_few(file, words);
        }
        self.initialised.mark_here(slots);
        self.claims.release_here(first, words.len() as u8, slots);
    }

    /// The same where the registers are not bits of one word. More words than a command
    /// moves come only from the host.
    #[cold]
    #[inline(never)]
    fn push_far(&mut self, first: u16, words: &[u32]) {
        for (slot, &word) in slots_from(first).zip(words) {
            self.datapath.file[slot] = word;
            self.initialised.mark(slot);
        }
        self.claims.release(first);
    }

    /// Data of another length than one longword leaves OUT registers.
    #[inline(never)]
    fn pull_words(&mut self, first: u16, out: &mut [u32]) {
        let Some(slots) = here(first, out) else {
            return self.pull_far(first, out);
        };
        if let Some(file) = self.datapath.file.get(usize::from(first)..)
            && let Some(file) = file.get(..out.len())
        {
            copy_few(out, file);
        }
        self.claims.release_here(first, out.len() as u8, slots);
    }

    /// The same where the registers are not bits of one word.
    #[cold]
    #[inline(never)]
    fn pull_far(&mut self, first: u16, out: &mut [u32]) {
        for (slot, word) in slots_from(first).zip(out) {
            *word = self.datapath.file[slot];
        }
        self.claims.release(first);
    }
}

/// Most longwords that a command moves.
const MOST: usize = 32;

/// The slots of no more words than a command moves, from one on, if they are bits of one
/// word and so do not go round in their file.
#[inline]
fn here(first: u16, words: &[u32]) -> Option<Here> {
    (words.len() <= MOST)
        .then(|| Here::new(first, words.len() as u8))
        .flatten()
}

/// Copies as many words as commands move without a call. Where their number is no power
/// of two, the first and the last of them are copied, and some in the middle twice.
#[inline(always)]
#[allow(clippy::inline_always)] // It is there to save a call.
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
#[allow(clippy::inline_always)] // It is a part of copying few words.
fn copy_ends<const N: usize>(to: &mut [u32], from: &[u32]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk::<N>()) {
        *to = *from;
    }
}

/// Writes down for whoever watches that a timer raises a signal.
#[cold]
#[inline(never)]
fn tell_timer((me, context, signal): (u8, u8, u8), fabric: &mut Fabric) {
    fabric.journal.tell(fabric.now, || TraceEvent::Signal {
        me,
        context,
        signals: 1 << signal,
        cause: Cause::Timer,
    });
}

/// The slots of a file of transfer registers from one on, round to its first.
fn slots_from(first: u16) -> impl Iterator<Item = usize> {
    (first..).map(move |slot| usize::from(first & !127 | slot & 127))
}
