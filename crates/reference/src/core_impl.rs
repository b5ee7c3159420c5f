//! The reference core's implementation of [`Core`], the interface to the chip.

use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, ContextView, Core, CoreKind, MeStats, Program};
use npsim_chip::kernel::fabric::{Fabric, TransferKind};
use npsim_chip::kernel::fault_injection::Stall;
use npsim_chip::kernel::remote_access::RemoteAccess;
use npsim_chip::kernel::signal_source::SignalSource;
use npsim_chip::kernel::trace_event::{Cause, TraceEvent};
use npsim_chip::state::StateError;
use npsim_image::{ContextMode, NnMode};
use npsim_isa::{Bank, CONTEXTS, ContextSet, Operand, context_index};

use crate::commands::transfer_file;
use crate::state::{Claim, FileName, MicroengineState, Phase};
use crate::{REFERENCE, Reference};

impl MicroengineState {
    /// Returns the context mode set in `CTX_ENABLES`.
    pub(crate) fn mode(&self) -> ContextMode {
        if self.four_contexts {
            ContextMode::Four
        } else {
            ContextMode::Eight
        }
    }

    /// Returns the contexts that can run: in four-context mode, only the even ones.
    pub(crate) fn usable(&self, contexts: ContextSet) -> ContextSet {
        contexts.intersection(self.mode().running())
    }
}

impl Reference {
    pub(crate) fn view(&self, context: u8) -> ContextView {
        let it = &self.state.contexts[context_index(context)];
        ContextView {
            phase: it.phase,
            since: it.since,
            pc: if it.phase == ContextPhase::Executing {
                self.state.pc
            } else {
                it.pc
            },
            yielded_at: it.yielded_at,
            signals: it.signals,
            wakeup: it.wakeup,
            any: it.any,
        }
    }

    /// Returns the register for an operand, if it can be named from outside.
    fn register(&self, operand: Operand, context: u8) -> Option<(FileName, usize)> {
        let of = |n| self.state.absolute(context, n);
        Some(match operand {
            Operand::Gpr(Bank::A, n) => (FileName::A, of(n)),
            Operand::Gpr(Bank::B, n) => (FileName::B, of(n)),
            Operand::GprAbsolute(Bank::A, n) => (FileName::A, (n & 127).into()),
            Operand::GprAbsolute(Bank::B, n) => (FileName::B, (n & 127).into()),
            Operand::STransfer(n) => (FileName::SIn, of(n)),
            Operand::DTransfer(n) => (FileName::DIn, of(n)),
            Operand::Nn(n) => (FileName::Neighbour, of(n)),
            _ => return None,
        })
    }

    /// Ends the oldest claim of exactly these registers, or else the oldest that begins at the same
    /// one.
    fn release(&mut self, file: FileName, first: u8, words: u8) {
        let claims = &mut self.state.claims;
        let begins = |claim: &Claim| claim.file == file && claim.first == first;
        let exact = claims.iter().position(|it| begins(it) && it.words == words);
        if let Some(at) = exact.or_else(|| claims.iter().position(begins)) {
            claims.remove(at);
        }
    }
}

impl Core for Reference {
    fn kind(&self) -> CoreKind {
        REFERENCE
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
        self.state.four_contexts = image.contexts == ContextMode::Four;
        self.state.neighbour_is_self = image.nn_mode == NnMode::Own;
        for initial in &image.initial_values {
            for context in initial.context.map_or(0..CONTEXTS, |one| one..one + 1) {
                self.write_register(initial.register, context, initial.value);
            }
        }
    }

    fn program(&self) -> &Program {
        &self.program
    }

    fn start(&mut self, contexts: ContextSet, fabric: &mut Fabric) {
        let now = fabric.now;
        let state = &mut self.state;
        if !state.started {
            state.started = true;
            state.stats.started = now;
            state.cycle = now;
            for context in &mut state.contexts {
                context.since = now;
            }
        }
        let usable = state.usable(contexts);
        for context in usable.iter() {
            let it = &mut self.state.contexts[context.index()];
            if it.phase == ContextPhase::Inactive {
                it.signals |= 1;
                it.wakeup = 1;
                it.any = false;
                it.pc = 0;
                it.enter(ContextPhase::Ready, now);
                self.trace_context(context.number(), fabric);
            }
        }
        self.state.enabled = self.state.enabled.union(usable);
        let waits = matches!(self.state.phase, Phase::Idle | Phase::Halted);
        if !self.state.enabled.is_empty() && waits {
            self.wake(0, fabric);
        }
    }

    fn seed_random(&mut self, value: u32) {
        self.state.random = value.max(1);
        self.state.random_at = self.state.cycle;
    }

    fn run(&mut self, fabric: &mut Fabric) {
        self.turn(fabric);
    }

    fn signal(&mut self, context: u8, mask: u16, fabric: &mut Fabric) {
        let context = context % CONTEXTS;
        self.check_signals(context, mask, fabric);
        self.state.contexts[usize::from(context)].signals |= mask;
        self.reconsider(context, fabric);
    }

    fn timer(&mut self, context: u8, fabric: &mut Fabric) {
        let it = &mut self.state.contexts[context_index(context)];
        if it.timer_due != Some(fabric.now) {
            return;
        }
        it.timer_due = None;
        let signals = 1 << (it.future_signal & 15);
        let me = self.index;
        fabric.trace.record(fabric.now, || TraceEvent::Signal {
            me,
            context,
            signals,
            cause: Cause::Timer,
        });
        let at = (me, context % CONTEXTS, signals.trailing_zeros() as u8 & 15);
        fabric.raisers.note(fabric.now, at, SignalSource::TIMER);
        self.signal(context, signals, fabric);
    }

    fn nn_put(&mut self, index: u8, value: u32, ring: bool, fabric: &mut Fabric) {
        self.receive(index, value, ring, fabric);
    }

    fn push(&mut self, kind: TransferKind, register: u8, words: &[u32]) {
        let file = transfer_file(kind, true);
        self.release(file, register & 127, words.len() as u8);
        for (offset, &word) in words.iter().enumerate() {
            let file = self.state.file_mut(file);
            file.set(usize::from(register) + offset, word);
        }
    }

    fn pull(&mut self, kind: TransferKind, register: u8, out: &mut [u32]) {
        let file = transfer_file(kind, false);
        self.release(file, register & 127, out.len() as u8);
        let values = &self.state.file(file).values;
        for (offset, word) in out.iter_mut().enumerate() {
            *word = values[(usize::from(register) + offset) % 128];
        }
    }

    fn claim_in_registers(&mut self, kind: TransferKind, register: u8, words: u8) {
        self.state.claims.push(Claim {
            file: transfer_file(kind, true),
            first: register & 127,
            words,
        });
    }

    fn expose(&mut self, exposed: RemoteAccess) {
        self.state.exposed = exposed;
    }

    fn stall(&mut self, stall: Stall) -> bool {
        let usable = self.state.usable(self.state.enabled);
        let runs = usable.contains(stall.context());
        if runs {
            self.state.stalls.push(stall);
        }
        runs
    }

    fn stalls(&self) -> &[Stall] {
        &self.state.stalls
    }

    fn stall_over(&mut self, fabric: &mut Fabric) {
        if self.state.stall_due <= fabric.now {
            self.state.stall_due = Cycle::MAX;
        }
        let mut contexts = self.state.contexts.iter();
        let ready = contexts.any(|it| it.phase == ContextPhase::Ready);
        if self.state.phase == Phase::Idle && ready {
            self.wake(fabric.profile.wake_latency(), fabric);
        }
    }

    fn local_time(&self) -> Cycle {
        self.state.cycle
    }

    fn stats_at(&self, now: Cycle) -> MeStats {
        self.state.stats_at(now)
    }

    fn halted(&self) -> Option<u8> {
        (self.state.phase == Phase::Halted).then_some(self.state.running % CONTEXTS)
    }

    fn context(&self, context: u8) -> ContextView {
        self.view(context)
    }

    fn write_register(&mut self, register: Operand, context: u8, value: u32) {
        if let Some((file, number)) = self.register(register, context) {
            self.state.file_mut(file).set(number, value);
        }
    }

    fn read_register(&self, register: Operand, context: u8) -> u32 {
        self.register(register, context)
            .map_or(0, |(file, number)| self.state.file(file).values[number])
    }

    fn read_out_register(&self, kind: TransferKind, register: u8) -> u32 {
        let file = self.state.file(transfer_file(kind, false));
        file.values[usize::from(register & 127)]
    }

    fn local_memory(&self) -> &[u32] {
        &self.state.local_memory
    }

    fn local_memory_mut(&mut self) -> &mut [u32] {
        &mut self.state.local_memory
    }

    fn condition_codes(&self) -> [bool; 4] {
        self.state.codes
    }

    fn cam_entry(&self, entry: u8) -> (u32, u8) {
        let entry = usize::from(entry & 15);
        (self.state.tags[entry], self.state.tag_states[entry])
    }

    fn cam_order(&self) -> [u8; 16] {
        self.oldest_first()
    }

    fn crc_remainder(&self) -> u32 {
        self.state.crc
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        Ok(postcard::to_allocvec(&self.state)?)
    }

    fn restored(&self, state: &[u8]) -> Result<Box<dyn Core>, StateError> {
        let (mut state, rest) = postcard::take_from_bytes::<MicroengineState>(state)?;
        if !rest.is_empty() {
            return Err(StateError::Long(rest.len()));
        }
        if state.local_memory.len() != self.state.local_memory.len() {
            return Err(StateError::OtherChip("local memories"));
        }
        state.exposed = self.state.exposed;
        state.running %= CONTEXTS;
        state.last %= CONTEXTS;
        let mut core = Self {
            state,
            ..self.clone()
        };
        core.program.set_mode(core.state.mode());
        Ok(Box::new(core))
    }
}
