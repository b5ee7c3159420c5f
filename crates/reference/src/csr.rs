//! Local control and status registers.

use npsim_chip::Cycle;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::signal_source::SignalSource;
use npsim_isa::{CONTEXTS, Context, ContextSet, context_index, csr};

use crate::state::{Delayed, LateWrite};
use crate::{Reference, Stop};

/// Bits of `CTX_ENABLES`, and the bit of `CC_ENABLE` that lets the condition codes change.
mod bits {
    pub const LM_0_GLOBAL: u32 = 1 << 16;
    pub const LM_1_GLOBAL: u32 = 1 << 17;
    pub const NN_MODE: u32 = 1 << 20;
    pub const RANDOM_MODE: u32 = 1 << 30;
    pub const FOUR_CONTEXTS: u32 = 1 << 31;
    pub const EMPTY_THRESHOLD: u32 = 3 << 18;
    pub const CONTEXTS: u32 = 0xff00;
    pub const CODES: u32 = 1 << 13;
}

impl Reference {
    /// Returns the context that a CSR refers to: for an INDIRECT_ register, the one in
    /// `CSR_CTX_POINTER`.
    fn shown(&self, csr: u16) -> usize {
        let indirect = [
            csr::INDIRECT_CTX_STS,
            csr::INDIRECT_CTX_SIG_EVENTS,
            csr::INDIRECT_CTX_WAKEUP_EVENTS,
            csr::INDIRECT_CTX_FUTURE_COUNT,
            csr::INDIRECT_FUTURE_COUNT_SIGNAL,
            csr::INDIRECT_LM_ADDR_0,
            csr::INDIRECT_LM_ADDR_1,
            csr::INDIRECT_LM_ADDR_0_BYTE_INDEX,
            csr::INDIRECT_LM_ADDR_1_BYTE_INDEX,
        ];
        let context = if indirect.contains(&csr) {
            self.state.csr_pointer
        } else {
            self.state.running
        };
        context_index(context)
    }

    pub(crate) fn read_csr(&mut self, csr: u16, fabric: &mut Fabric) -> Result<u32, Stop> {
        let shown = self.shown(csr);
        let state = &self.state;
        let context = &state.contexts[shown];
        let number = fabric.profile.number_of(self.index);
        Ok(match csr {
            csr::CTX_ARB_CNTL => u32::from(state.running) | u32::from(state.last) << 4,
            csr::CTX_ENABLES => self.enables(),
            csr::CC_ENABLE => flag(state.codes_on, bits::CODES),
            csr::CSR_CTX_POINTER => state.csr_pointer.into(),
            csr::INDIRECT_CTX_STS => {
                let view = self.view(shown as u8);
                let ready = matches!(view.phase, ContextPhase::Ready | ContextPhase::Executing);
                u32::from(view.pc) | flag(ready, 1 << 31)
            }
            csr::ACTIVE_CTX_STS => {
                u32::from(state.running)
                    | u32::from(number) << 3
                    | u32::from(state.pc) << 8
                    | 1 << 31
            }
            csr::INDIRECT_CTX_SIG_EVENTS | csr::ACTIVE_CTX_SIG_EVENTS => context.signals.into(),
            csr::INDIRECT_CTX_WAKEUP_EVENTS | csr::ACTIVE_CTX_WAKEUP_EVENTS => {
                u32::from(context.wakeup) | flag(context.any, 1 << 16)
            }
            csr::INDIRECT_CTX_FUTURE_COUNT | csr::ACTIVE_CTX_FUTURE_COUNT => {
                context.future_count.into()
            }
            csr::INDIRECT_FUTURE_COUNT_SIGNAL | csr::ACTIVE_FUTURE_COUNT_SIGNAL => {
                context.future_signal.into()
            }
            csr::INDIRECT_LM_ADDR_0 | csr::ACTIVE_LM_ADDR_0 => self.pointer(0, shown) * 4,
            csr::INDIRECT_LM_ADDR_1 | csr::ACTIVE_LM_ADDR_1 => self.pointer(1, shown) * 4,
            csr::INDIRECT_LM_ADDR_0_BYTE_INDEX | csr::ACTIVE_LM_ADDR_0_BYTE_INDEX => {
                self.pointer(0, shown) << 2 | state.byte_index
            }
            csr::INDIRECT_LM_ADDR_1_BYTE_INDEX | csr::ACTIVE_LM_ADDR_1_BYTE_INDEX => {
                self.pointer(1, shown) << 2 | state.byte_index
            }
            csr::BYTE_INDEX => state.byte_index,
            csr::T_INDEX => state.transfer_index * 4,
            csr::T_INDEX_BYTE_INDEX => state.transfer_index << 2 | state.byte_index,
            csr::NN_PUT => self.put_pointer(fabric),
            csr::NN_GET => fabric.nn_rings[usize::from(self.index)].get.into(),
            csr::TIMESTAMP_LOW => self.timestamp(fabric) as u32,
            csr::TIMESTAMP_HIGH => (self.timestamp(fabric) >> 32) as u32,
            csr::CRC_REMAINDER => state.crc,
            csr::PROFILE_COUNT => {
                let count = state.profile_count.wrapping_add(state.cycle as u32);
                count & 0xffff
            }
            csr::PSEUDO_RANDOM_NUMBER => {
                if self.state.random_runs {
                    self.catch_up_random();
                } else {
                    self.state.random = next_random(self.state.random);
                }
                self.state.random
            }
            _ => match state.held_csrs.get(usize::from(csr / 4)) {
                Some(&held) => held,
                None => return Err(self.no_csr(csr, fabric)),
            },
        })
    }

    pub(crate) fn write_csr(
        &mut self,
        csr: u16,
        value: u32,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let shown = self.shown(csr);
        let gap = Cycle::from(fabric.profile.csr_gap());
        let byte = value & 3;
        let transfer = value >> 2 & 127;
        match csr {
            csr::CTX_ENABLES => self.set_enables(value, fabric),
            csr::CC_ENABLE => self.state.codes_on = value & bits::CODES != 0,
            csr::CSR_CTX_POINTER => self.state.csr_pointer = value as u8 % CONTEXTS,
            csr::INDIRECT_CTX_STS => self.state.contexts[shown].pc = value as u16 & 0x1fff,
            csr::INDIRECT_CTX_SIG_EVENTS | csr::ACTIVE_CTX_SIG_EVENTS => {
                self.state.contexts[shown].signals = value as u16;
                self.reconsider(shown as u8, fabric);
            }
            csr::INDIRECT_CTX_WAKEUP_EVENTS | csr::ACTIVE_CTX_WAKEUP_EVENTS => {
                self.state.contexts[shown].wakeup = value as u16;
                self.state.contexts[shown].any = value >> 16 & 1 == 1;
                self.reconsider(shown as u8, fabric);
            }
            csr::INDIRECT_CTX_FUTURE_COUNT | csr::ACTIVE_CTX_FUTURE_COUNT => {
                self.state.contexts[shown].future_count = value as u16;
                self.arm_timer(shown, fabric);
            }
            csr::INDIRECT_FUTURE_COUNT_SIGNAL | csr::ACTIVE_FUTURE_COUNT_SIGNAL => {
                self.state.contexts[shown].future_signal = value as u8 & 15;
                self.arm_timer(shown, fabric);
            }
            csr::ACTIVE_LM_ADDR_0 => self.set_own_pointer(0, value, fabric),
            csr::ACTIVE_LM_ADDR_1 => self.set_own_pointer(1, value, fabric),
            csr::INDIRECT_LM_ADDR_0 => self.set_pointer(0, shown, value, fabric),
            csr::INDIRECT_LM_ADDR_1 => self.set_pointer(1, shown, value, fabric),
            csr::ACTIVE_LM_ADDR_0_BYTE_INDEX => {
                self.set_own_pointer(0, value, fabric);
                self.write_late(Delayed::ByteIndex, byte, gap);
            }
            csr::ACTIVE_LM_ADDR_1_BYTE_INDEX => {
                self.set_own_pointer(1, value, fabric);
                self.write_late(Delayed::ByteIndex, byte, gap);
            }
            csr::INDIRECT_LM_ADDR_0_BYTE_INDEX => {
                self.set_pointer(0, shown, value, fabric);
                self.write_late(Delayed::ByteIndex, byte, gap);
            }
            csr::INDIRECT_LM_ADDR_1_BYTE_INDEX => {
                self.set_pointer(1, shown, value, fabric);
                self.write_late(Delayed::ByteIndex, byte, gap);
            }
            csr::BYTE_INDEX => self.write_late(Delayed::ByteIndex, byte, gap),
            csr::T_INDEX => self.write_late(Delayed::TransferIndex, transfer, gap),
            csr::T_INDEX_BYTE_INDEX => {
                self.write_late(Delayed::TransferIndex, transfer, gap);
                self.write_late(Delayed::ByteIndex, byte, gap);
            }
            csr::NN_PUT => self.set_put_pointer(value, fabric),
            csr::NN_GET => {
                fabric.nn_rings[usize::from(self.index)].get = value as u8 % 128;
            }
            csr::TIMESTAMP_LOW => {
                let high = self.timestamp(fabric) >> 32;
                self.set_timestamp(high << 32 | u64::from(value), fabric);
            }
            csr::TIMESTAMP_HIGH => {
                let low = self.timestamp(fabric) & 0xffff_ffff;
                self.set_timestamp(u64::from(value) << 32 | low, fabric);
            }
            csr::NEXT_NEIGHBOR_SIGNAL => self.send_signal(self.index.checked_add(1), value, fabric),
            csr::PREV_NEIGHBOR_SIGNAL => self.send_signal(self.index.checked_sub(1), value, fabric),
            csr::SAME_ME_SIGNAL => self.send_signal(Some(self.index), value, fabric),
            csr::CRC_REMAINDER => self.state.crc = value,
            csr::PROFILE_COUNT => {
                self.state.profile_count = value.wrapping_sub(self.state.cycle as u32);
            }
            csr::PSEUDO_RANDOM_NUMBER => {
                self.state.random = value;
                self.state.random_at = self.state.cycle;
            }
            _ => match self.state.held_csrs.get_mut(usize::from(csr / 4)) {
                Some(held) => *held = value,
                None => return Err(self.no_csr(csr, fabric)),
            },
        }
        Ok(())
    }

    fn no_csr(&self, csr: u16, fabric: &mut Fabric) -> Stop {
        self.fatal_fault(format!("there is no local CSR at 0x{csr:03x}"), fabric)
    }

    /// Schedules a write that takes effect after `gap` more instructions.
    pub(crate) fn write_late(&mut self, register: Delayed, value: u32, gap: Cycle) {
        let issued = self.state.cycle;
        self.state.late_writes.push(LateWrite {
            register,
            value,
            issued,
            due: issued + gap + 1,
        });
    }

    fn enables(&self) -> u32 {
        let state = &self.state;
        state.other_enables
            | u32::from(state.enabled.bits()) << 8
            | flag(state.global_pointers[0], bits::LM_0_GLOBAL)
            | flag(state.global_pointers[1], bits::LM_1_GLOBAL)
            | u32::from(state.empty_threshold) << 18
            | flag(state.neighbour_is_self, bits::NN_MODE)
            | flag(state.random_runs, bits::RANDOM_MODE)
            | flag(state.four_contexts, bits::FOUR_CONTEXTS)
    }

    /// Writes `CTX_ENABLES`. A running context that is disabled continues until it yields.
    fn set_enables(&mut self, value: u32, fabric: &mut Fabric) {
        let is_set = |bit: u32| value & bit != 0;
        let known = bits::CONTEXTS
            | bits::LM_0_GLOBAL
            | bits::LM_1_GLOBAL
            | bits::EMPTY_THRESHOLD
            | bits::NN_MODE
            | bits::RANDOM_MODE
            | bits::FOUR_CONTEXTS;
        if self.state.random_runs {
            self.catch_up_random();
        }
        let state = &mut self.state;
        state.random_at = state.cycle;
        state.random_runs = is_set(bits::RANDOM_MODE);
        state.other_enables = value & !known;
        state.global_pointers = [is_set(bits::LM_0_GLOBAL), is_set(bits::LM_1_GLOBAL)];
        state.empty_threshold = (value >> 18 & 3) as u8;
        state.neighbour_is_self = is_set(bits::NN_MODE);
        state.four_contexts = is_set(bits::FOUR_CONTEXTS);
        self.program.set_mode(state.mode());
        state.enabled = state.usable(ContextSet::from_bits((value >> 8) as u16));
        for context in Context::all() {
            let enabled = self.state.enabled.contains(context);
            let it = &mut self.state.contexts[context.index()];
            let context = context.number();
            match (it.phase, enabled) {
                (ContextPhase::Inactive, true) => {
                    it.enter(ContextPhase::Sleeping, fabric.now);
                    self.trace_context(context, fabric);
                    self.reconsider(context, fabric);
                }
                (ContextPhase::Ready | ContextPhase::Sleeping, false) => {
                    it.enter(ContextPhase::Inactive, fabric.now);
                    self.trace_context(context, fabric);
                }
                _ => {}
            }
        }
    }

    /// Returns a pointer of a context; that of the running context is the active one.
    fn pointer(&self, pointer: usize, context: usize) -> u32 {
        let state = &self.state;
        if state.global_pointers[pointer] || context == usize::from(state.running) {
            state.pointers[pointer]
        } else {
            state.saved_pointers[context][pointer]
        }
    }

    fn set_own_pointer(&mut self, pointer: u8, value: u32, fabric: &Fabric) {
        let gap = fabric.profile.lm_addr_gap().into();
        self.write_late(Delayed::Pointer(pointer), value >> 2 & 1023, gap);
    }

    fn set_pointer(&mut self, pointer: u8, context: usize, value: u32, fabric: &Fabric) {
        if context == usize::from(self.state.running) {
            self.set_own_pointer(pointer, value, fabric);
        } else {
            let saved = &mut self.state.saved_pointers[context];
            saved[usize::from(pointer)] = value >> 2 & 1023;
        }
    }

    fn timestamp(&self, fabric: &Fabric) -> u64 {
        let state = &self.state;
        state.timestamp + (state.cycle - state.timestamp_at) / fabric.profile.timestamp_divider()
    }

    fn set_timestamp(&mut self, value: u64, fabric: &mut Fabric) {
        self.state.timestamp = value;
        self.state.timestamp_at = self.state.cycle;
        for context in 0..usize::from(CONTEXTS) {
            if self.state.contexts[context].timer_due.is_some() {
                self.arm_timer(context, fabric);
            }
        }
    }

    /// Arms the timer, which fires once, when the low half of the timestamp next becomes the future
    /// count, but not in the current cycle.
    fn arm_timer(&mut self, context: usize, fabric: &mut Fabric) {
        let now = self.timestamp(fabric);
        let divider = fabric.profile.timestamp_divider();
        let state = &mut self.state;
        let it = &mut state.contexts[context];
        let event = Event::Timer {
            me: self.index,
            context: context as u8,
        };
        if let Some(due) = it.timer_due.take() {
            fabric.events.cancel(due, event);
        }
        if it.future_signal == 0 {
            return;
        }
        let left = u64::from(it.future_count.wrapping_sub(now as u16));
        let counts = now - state.timestamp + left;
        let due = (state.timestamp_at + counts * divider).max(state.cycle + 1);
        it.timer_due = Some(due);
        fabric.events.post(due, event);
    }

    /// Raises a signal for a write to a signal CSR, in a context given by number or in the one
    /// after the writer's.
    fn send_signal(&mut self, me: Option<u8>, value: u32, fabric: &mut Fabric) {
        let own = self.state.running;
        let signal = (value >> 3 & 15) as u8;
        let context = if value >> 7 & 1 == 0 {
            value as u8 % CONTEXTS
        } else {
            (own + if self.state.four_contexts { 2 } else { 1 }) % CONTEXTS
        };
        let Some(me) = me.filter(|&me| me < fabric.profile.microengines()) else {
            return;
        };
        if signal == 0 {
            return;
        }
        let due = self.state.cycle + fabric.profile.local_signal_latency();
        let sender = self.index;
        let event = Event::Signal {
            me,
            context,
            signal,
            by: SignalSource::at(sender, own, self.state.pc),
        };
        fabric.events.post(due, event);
    }

    /// Steps a free-running `PSEUDO_RANDOM_NUMBER` up to the current cycle.
    fn catch_up_random(&mut self) {
        let state = &mut self.state;
        for _ in state.random_at..state.cycle {
            state.random = next_random(state.random);
        }
        state.random_at = state.cycle;
    }
}

fn flag(on: bool, bit: u32) -> u32 {
    if on { bit } else { 0 }
}

/// Returns the next state of the shift register x^32 + x^22 + x^2 + x + 1.
fn next_random(value: u32) -> u32 {
    let shifted = value << 1;
    if value >> 31 == 1 {
        shifted ^ (1 << 22 | 1 << 2 | 1 << 1 | 1)
    } else {
        shifted
    }
}
