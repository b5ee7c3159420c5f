//! A program as the engine executes it: each instruction predecoded into a dense operation, with
//! the additional information that only the slow path needs.

use std::sync::Arc;

use npsim_image::{ContextMode, Image};
use npsim_isa::Instruction;

use crate::block::{SideEffects, find_side_effects};
use crate::decoder::Decoder;
use crate::operation::{DecodeInfo, Op};
use crate::template::CommandTemplate;
use crate::timers::Timers;
use crate::timing::Timing;
use crate::uop::UopKind;
use npsim_chip::core::Program;

/// A loaded program and what the engine derives from it. Operands are resolved for the program's
/// context mode, but not yet for a context ([`crate::bound_program::BoundProgram`]).
#[derive(Clone, Debug)]
pub(crate) struct Predecoded {
    loaded: Program,
    /// By address, with one more for the address after the last word.
    pub ops: Arc<[Op]>,
    /// Parallel to `ops`.
    pub infos: Arc<[DecodeInfo]>,
    pub side_effects: Arc<[SideEffects]>,
    /// The templates of its commands, indexed by [`Op::x`].
    pub templates: Arc<[CommandTemplate]>,
    pub timers: Arc<Timers>,
    timing: Timing,
}

impl Predecoded {
    /// Predecodes a program for a microengine with this timing.
    pub fn new(loaded: Program, timing: Timing) -> Self {
        let mut program = Self {
            loaded,
            ops: Arc::default(),
            infos: Arc::new([]),
            side_effects: Arc::new([]),
            templates: Arc::new([]),
            timers: Arc::default(),
            timing,
        };
        program.predecode();
        program
    }

    /// A placeholder between deserializing a microengine's state and restoring its program.
    pub fn absent() -> Self {
        Self::new(Program::empty(), Timing::default())
    }

    /// The program as it was loaded.
    pub fn loaded(&self) -> &Program {
        &self.loaded
    }

    /// The image that the program was made from.
    pub fn image(&self) -> &Arc<Image> {
        self.loaded.image()
    }

    /// The instruction at an address; `None` if there is none.
    pub fn instruction(&self, address: u16) -> Option<&Instruction> {
        self.loaded.words().get(usize::from(address))?.as_ref().ok()
    }

    /// The address after the last instruction.
    pub fn end(&self) -> u16 {
        self.loaded.end()
    }

    /// Decodes the program again for another context mode.
    pub fn set_mode(&mut self, mode: ContextMode) {
        self.loaded.set_mode(mode);
        self.predecode();
    }

    fn predecode(&mut self) {
        let words = self.loaded.words();
        let limit = self.loaded.mode().registers();
        let mut ops = Vec::with_capacity(words.len() + 1);
        let mut infos: Vec<DecodeInfo> = Vec::with_capacity(words.len() + 1);
        let mut templates = Vec::new();
        for (address, word) in words.iter().map(Some).chain([None]).enumerate() {
            let mut decoder = Decoder::new(limit, &self.timing, words.len());
            decoder.after_codes = infos.last().is_some_and(|info| info.sets_codes);
            if let Some(Ok(instruction)) = word {
                decoder.instruction(instruction);
                if let Instruction::Command(command) = instruction {
                    let template = CommandTemplate::of(command, address as u16);
                    decoder.op.kind = UopKind::Command;
                    decoder.op.x = templates.len() as u32;
                    templates.push(template);
                }
            }
            ops.push(decoder.op);
            infos.push(decoder.info);
        }
        for (address, word) in words.iter().enumerate() {
            let Ok(instruction) = word else {
                continue;
            };
            for slot in 1..=usize::from(instruction.defer()) {
                if let Some(info) = infos.get_mut(address + slot) {
                    info.slot_of = Some(address as u16);
                }
            }
        }
        for (op, info) in ops.iter_mut().zip(&mut infos) {
            let target = op.kind.branches().then_some(op.d as usize);
            if target.is_some_and(|target| self.loaded.is_defer_slot(target)) {
                info.always = true;
                info.scoreboarded = false;
            }
            if info.always {
                op.flags |= Op::UNVERIFIED | Op::FINISHES;
            }
        }
        let side_effects = find_side_effects(&ops, &infos);
        self.side_effects = side_effects.into();
        self.templates = templates.into();
        self.timers = Arc::new(Timers::of(&self.loaded, limit));
        for (op, address) in ops.iter_mut().zip(0..) {
            if op.kind == UopKind::CsrRead {
                op.n = u8::from(!self.timers.is_timer_only_reading(address));
            }
        }
        self.ops = ops.into();
        self.infos = infos.into();
    }
}
