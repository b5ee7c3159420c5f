//! Local control and status registers.

use npsim_image::ContextMode;
use npsim_isa::{Context, ContextSet, csr};

use crate::csr_order::only_posts;
use crate::local_memory::PendingIndex;
use crate::microengine::{LoopExit, Microengine, slow};
use crate::random;
use crate::timing::timestamp_at;
use npsim_chip::Cycle;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::check::WATCHDOG_CYCLES;
use npsim_chip::kernel::fabric::Fabric;

/// Bits of `CTX_ENABLES` that this model implements.
mod enables {
    pub const LM_0_GLOBAL: u32 = 1 << 16;
    pub const LM_1_GLOBAL: u32 = 1 << 17;
    pub const NN_MODE: u32 = 1 << 20;
    pub const RANDOM_MODE: u32 = 1 << 30;
    pub const FOUR_CONTEXTS: u32 = 1 << 31;
    pub const HANDLED: u32 =
        0xff00 | LM_0_GLOBAL | LM_1_GLOBAL | 3 << 18 | NN_MODE | RANDOM_MODE | FOUR_CONTEXTS;
}

/// The bit of `CC_ENABLE` that enables changes of the codes.
const CODES_ENABLE: u32 = 1 << 13;

impl Microengine {
    /// The context whose register a CSR accesses when used by a given context: another one for the
    /// INDIRECT_ views.
    #[inline]
    fn viewed(&self, csr: u16, context: Context) -> Context {
        let indirect = matches!(
            csr,
            csr::INDIRECT_CTX_STS
                | csr::INDIRECT_CTX_SIG_EVENTS
                | csr::INDIRECT_CTX_WAKEUP_EVENTS
                | csr::INDIRECT_CTX_FUTURE_COUNT
                | csr::INDIRECT_FUTURE_COUNT_SIGNAL
                | csr::INDIRECT_LM_ADDR_0
                | csr::INDIRECT_LM_ADDR_1
                | csr::INDIRECT_LM_ADDR_0_BYTE_INDEX
                | csr::INDIRECT_LM_ADDR_1_BYTE_INDEX
        );
        if indirect { self.csr_pointer } else { context }
    }

    /// Reads a local CSR at the present cycle.
    pub(crate) fn read_csr(&mut self, csr: u16, fabric: &mut Fabric) -> Result<u32, LoopExit> {
        match csr {
            csr::INDIRECT_CTX_FUTURE_COUNT | csr::ACTIVE_CTX_FUTURE_COUNT => {
                fabric.clock_readings += 1;
            }
            csr::TIMESTAMP_LOW => {
                fabric.clock_readings +=
                    u64::from(!self.program.timers.is_timer_only_reading(self.pc));
                self.watchdog_at = self.cycle + WATCHDOG_CYCLES;
            }
            csr::TIMESTAMP_HIGH | csr::PROFILE_COUNT => {
                fabric.clock_readings += 1;
                self.watchdog_at = self.cycle + WATCHDOG_CYCLES;
            }
            csr::PSEUDO_RANDOM_NUMBER => {
                fabric.clock_readings += 1;
                if !self.random_free_running {
                    self.random = random::advance(self.random, 1);
                }
            }
            _ => {}
        }
        let value = self.csr_at(csr, self.datapath.context, self.cycle, fabric);
        value.ok_or_else(|| self.no_csr(csr, fabric))
    }

    /// The value of a local CSR for a context at a cycle; `None` if there is no such CSR. Side
    /// effects of reading are not applied.
    #[inline]
    pub(crate) fn csr_at(
        &self,
        csr: u16,
        context: Context,
        now: Cycle,
        fabric: &Fabric,
    ) -> Option<u32> {
        let viewed = self.viewed(csr, context);
        let it = &self.contexts[viewed];
        Some(match csr {
            csr::CTX_ARB_CNTL => {
                u32::from(self.datapath.context.number()) | u32::from(self.last.number()) << 4
            }
            csr::CTX_ENABLES => self.enables(),
            csr::CC_ENABLE => {
                if self.slow & slow::CODES_OFF == 0 {
                    CODES_ENABLE
                } else {
                    0
                }
            }
            csr::CSR_CTX_POINTER => self.csr_pointer.number().into(),
            csr::INDIRECT_CTX_STS => {
                let ready = matches!(it.state(), ContextPhase::Ready | ContextPhase::Executing);
                u32::from(self.context_pc(viewed)) | u32::from(ready) << 31
            }
            csr::ACTIVE_CTX_STS => {
                u32::from(context.number())
                    | u32::from(self.number) << 3
                    | u32::from(self.context_pc(viewed)) << 8
                    | 1 << 31
            }
            csr::INDIRECT_CTX_SIG_EVENTS | csr::ACTIVE_CTX_SIG_EVENTS => u32::from(it.signals),
            csr::INDIRECT_CTX_WAKEUP_EVENTS | csr::ACTIVE_CTX_WAKEUP_EVENTS => {
                u32::from(it.wakeup) | u32::from(it.any) << 16
            }
            csr::INDIRECT_CTX_FUTURE_COUNT | csr::ACTIVE_CTX_FUTURE_COUNT => {
                u32::from(it.future_count)
            }
            csr::INDIRECT_FUTURE_COUNT_SIGNAL | csr::ACTIVE_FUTURE_COUNT_SIGNAL => {
                u32::from(it.future_signal)
            }
            csr::INDIRECT_LM_ADDR_0 | csr::ACTIVE_LM_ADDR_0 => self.pointer(0, viewed) << 2,
            csr::INDIRECT_LM_ADDR_1 | csr::ACTIVE_LM_ADDR_1 => self.pointer(1, viewed) << 2,
            csr::INDIRECT_LM_ADDR_0_BYTE_INDEX | csr::ACTIVE_LM_ADDR_0_BYTE_INDEX => {
                self.pointer(0, viewed) << 2 | self.datapath.byte_index
            }
            csr::INDIRECT_LM_ADDR_1_BYTE_INDEX | csr::ACTIVE_LM_ADDR_1_BYTE_INDEX => {
                self.pointer(1, viewed) << 2 | self.datapath.byte_index
            }
            csr::BYTE_INDEX => self.datapath.byte_index,
            csr::T_INDEX => self.memory.transfer_index << 2,
            csr::T_INDEX_BYTE_INDEX => self.memory.transfer_index << 2 | self.datapath.byte_index,
            csr::NN_PUT => self.nn_put_pointer(fabric),
            csr::NN_GET => u32::from(fabric.nn_rings[self.index as usize].get),
            csr::TIMESTAMP_LOW => self.timestamp_at(now) as u32,
            csr::TIMESTAMP_HIGH => (self.timestamp_at(now) >> 32) as u32,
            csr::CRC_REMAINDER => self.datapath.crc_remainder,
            csr::PROFILE_COUNT => self.profile_count.wrapping_add(now as u32) & 0xffff,
            csr::PSEUDO_RANDOM_NUMBER => self.random_at(now),
            _ => *self.held_csrs.get(usize::from(csr / 4))?,
        })
    }

    /// Writes a local CSR at the present cycle.
    pub(crate) fn write_csr(
        &mut self,
        csr: u16,
        value: u32,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        if !only_posts(csr) {
            return self.write_other_csr(csr, value, fabric);
        }
        let pc = self.pc;
        let write = self.posted_write(self.datapath.context);
        write.write((csr, pc), value, fabric);
        Ok(())
    }

    /// [`Self::write_csr`] for CSRs that do more than post an event.
    #[inline(never)]
    fn write_other_csr(
        &mut self,
        csr: u16,
        value: u32,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        let gap = self.timing.csr_gap;
        let viewed = self.viewed(csr, self.datapath.context);
        match csr {
            csr::CTX_ENABLES => self.set_enables(value, fabric),
            csr::CC_ENABLE => {
                self.slow &= !slow::CODES_OFF;
                if value & CODES_ENABLE == 0 {
                    self.slow |= slow::CODES_OFF;
                }
            }
            csr::CSR_CTX_POINTER => self.csr_pointer = Context::wrapping(value as u8),
            csr::INDIRECT_CTX_STS => self.contexts[viewed].pc = value as u16 & 0x1fff,
            csr::INDIRECT_CTX_SIG_EVENTS | csr::ACTIVE_CTX_SIG_EVENTS => {
                self.contexts[viewed].signals = value as u16;
                self.reconsider(viewed, fabric);
            }
            csr::INDIRECT_CTX_WAKEUP_EVENTS | csr::ACTIVE_CTX_WAKEUP_EVENTS => {
                self.contexts[viewed].wakeup = value as u16;
                self.contexts[viewed].any = value & 1 << 16 != 0;
                self.reconsider(viewed, fabric);
            }
            csr::INDIRECT_CTX_FUTURE_COUNT => {
                self.contexts[viewed].future_count = value as u16;
                self.posted_write(viewed).arm_timer(fabric);
            }
            csr::INDIRECT_FUTURE_COUNT_SIGNAL => {
                self.contexts[viewed].future_signal = value as u8 & 15;
                self.posted_write(viewed).arm_timer(fabric);
            }
            csr::INDIRECT_LM_ADDR_0 | csr::ACTIVE_LM_ADDR_0 => {
                self.set_pointer(0, viewed, csr, value);
            }
            csr::INDIRECT_LM_ADDR_1 | csr::ACTIVE_LM_ADDR_1 => {
                self.set_pointer(1, viewed, csr, value);
            }
            csr::INDIRECT_LM_ADDR_0_BYTE_INDEX | csr::ACTIVE_LM_ADDR_0_BYTE_INDEX => {
                self.set_pointer(0, viewed, csr, value);
                self.index_write(PendingIndex::Byte, value & 3, gap);
            }
            csr::INDIRECT_LM_ADDR_1_BYTE_INDEX | csr::ACTIVE_LM_ADDR_1_BYTE_INDEX => {
                self.set_pointer(1, viewed, csr, value);
                self.index_write(PendingIndex::Byte, value & 3, gap);
            }
            csr::BYTE_INDEX => self.index_write(PendingIndex::Byte, value & 3, gap),
            csr::T_INDEX => self.index_write(PendingIndex::Transfer, value >> 2 & 127, gap),
            csr::T_INDEX_BYTE_INDEX => {
                self.index_write(PendingIndex::Transfer, value >> 2 & 127, gap);
                self.index_write(PendingIndex::Byte, value & 3, gap);
            }
            csr::NN_PUT => self.set_nn_put_pointer(value, fabric),
            csr::NN_GET => fabric.nn_rings[self.index as usize].get = value as u8 & 127,
            csr::TIMESTAMP_LOW => {
                let high = self.timestamp_at(self.cycle) >> 32;
                self.set_timestamp(high << 32 | u64::from(value), fabric);
            }
            csr::TIMESTAMP_HIGH => {
                let low = self.timestamp_at(self.cycle) & 0xffff_ffff;
                self.set_timestamp(u64::from(value) << 32 | low, fabric);
            }
            csr::CRC_REMAINDER => self.datapath.crc_remainder = value,
            csr::PROFILE_COUNT => self.profile_count = value.wrapping_sub(self.cycle as u32),
            csr::PSEUDO_RANDOM_NUMBER => {
                self.random = value;
                self.random_set = self.cycle;
            }
            _ => match self.held_csrs.get_mut(usize::from(csr / 4)) {
                Some(held) => *held = value,
                None => return Err(self.no_csr(csr, fabric)),
            },
        }
        Ok(())
    }

    fn enables(&self) -> u32 {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        self.other_enables
            | u32::from(self.enabled.bits()) << 8
            | flag(self.memory.global[0], enables::LM_0_GLOBAL)
            | flag(self.memory.global[1], enables::LM_1_GLOBAL)
            | u32::from(self.nn_empty_threshold) << 18
            | flag(self.nn_self, enables::NN_MODE)
            | flag(self.random_free_running, enables::RANDOM_MODE)
            | flag(self.mode == ContextMode::Four, enables::FOUR_CONTEXTS)
    }

    /// A disabled context runs until it yields the pipeline.
    #[cold]
    #[inline(never)]
    fn set_enables(&mut self, value: u32, fabric: &mut Fabric) {
        self.other_enables = value & !enables::HANDLED;
        self.memory.global = [
            value & enables::LM_0_GLOBAL != 0,
            value & enables::LM_1_GLOBAL != 0,
        ];
        self.nn_empty_threshold = (value >> 18 & 3) as u8;
        self.nn_self = value & enables::NN_MODE != 0;
        if self.random_free_running != (value & enables::RANDOM_MODE != 0) {
            self.random = self.random_at(self.cycle);
            self.random_set = self.cycle;
            self.random_free_running = value & enables::RANDOM_MODE != 0;
        }
        let mode = if value & enables::FOUR_CONTEXTS != 0 {
            ContextMode::Four
        } else {
            ContextMode::Eight
        };
        if mode != self.mode {
            self.mode = mode;
            self.program.set_mode(mode);
            *self.bound = Default::default();
            self.bind();
        }
        self.enabled = self.usable(ContextSet::from_bits((value >> 8) as u16));
        for c in Context::all() {
            let on = self.enabled.contains(c);
            match (self.contexts[c].state(), on) {
                (ContextPhase::Inactive, true) => {
                    self.contexts.enter(c, ContextPhase::Sleeping, fabric.now);
                    self.trace_context_if_open(c, fabric);
                    self.reconsider(c, fabric);
                }
                (ContextPhase::Ready | ContextPhase::Sleeping, false) => {
                    self.contexts.enter(c, ContextPhase::Inactive, fabric.now);
                    self.trace_context_if_open(c, fabric);
                }
                _ => {}
            }
        }
    }

    /// A local memory pointer of a context; for the running one, its working copy.
    pub(crate) fn pointer(&self, pointer: usize, context: Context) -> u32 {
        if self.memory.global[pointer] || context == self.datapath.context {
            self.memory.pointers[pointer]
        } else {
            self.memory.saved[context.index()][pointer]
        }
    }

    fn set_pointer(&mut self, pointer: u8, context: Context, csr: u16, value: u32) {
        let words = value >> 2 & 1023;
        let active = matches!(
            csr,
            csr::ACTIVE_LM_ADDR_0
                | csr::ACTIVE_LM_ADDR_1
                | csr::ACTIVE_LM_ADDR_0_BYTE_INDEX
                | csr::ACTIVE_LM_ADDR_1_BYTE_INDEX
        );
        if active || context == self.datapath.context {
            self.index_write(
                PendingIndex::Pointer(pointer),
                words,
                self.timing.lm_addr_gap,
            );
        } else {
            self.memory.saved[context.index()][pointer as usize] = words;
        }
    }

    fn timestamp_at(&self, now: Cycle) -> u64 {
        let set = (self.timestamp, self.timestamp_set);
        timestamp_at(set, now, self.timing.timestamp)
    }

    #[cold]
    #[inline(never)]
    fn set_timestamp(&mut self, value: u64, fabric: &mut Fabric) {
        self.timestamp = value;
        self.timestamp_set = self.cycle;
        for context in Context::all() {
            if self.contexts[context].timer_due.is_some() {
                self.posted_write(context).arm_timer(fabric);
            }
        }
    }

    fn random_at(&self, now: Cycle) -> u32 {
        let steps = if self.random_free_running {
            now.saturating_sub(self.random_set)
        } else {
            0
        };
        random::advance(self.random, steps)
    }
}
