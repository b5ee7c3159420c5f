//! Instructions decoded once, at load, into what the interpreter runs.

use std::fmt;
use std::sync::Arc;

use npsim_image::ContextMode;
use npsim_image::Image;
use npsim_isa::{Command, Instruction, TransferRegister, decode_lenient};

use super::form::{Form, find_forms};
use super::operation::{Kind, Op, Side};
use super::predecode::Maker;
use super::rounds::{Round, find_rounds};
use super::template::Template;
use super::timers::Timers;
use super::timing::Timing;
use crate::kernel::exposure::Exposure;
use crate::profile::Profile;

/// A program that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It does not fit.
    #[error(
        "program `{name}` has {words} instructions, but a control store holds {most}; shorten it or divide it among microengines"
    )]
    TooLong {
        /// The program.
        name: String,
        /// Its length.
        words: usize,
        /// Size of a control store.
        most: usize,
    },
}

/// What stands at an address.
#[derive(Clone, Debug)]
pub(super) enum Word {
    Instruction(Instruction),
    /// No instruction; why.
    Invalid(String),
    /// The word after the last.
    End,
}

/// A program, decoded.
#[derive(Clone)]
pub struct Program {
    pub(super) image: Arc<Image>,
    pub(super) ops: Arc<[Op]>,
    pub(super) words: Arc<[Word]>,
    pub(super) sides: Arc<[Side]>,
    pub(super) forms: Arc<[Form]>,
    /// Lines that may go round.
    pub(super) rounds: Arc<[Round]>,
    /// What its commands look like, as [`Op::x`] numbers them.
    pub(super) templates: Arc<[Template]>,
    pub(super) timers: Arc<Timers>,
    timing: Timing,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.image.name)
            .field("words", &self.image.words.len())
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Decodes an image. Words that are no instructions are kept: they are a
    /// fault only when they are executed.
    ///
    /// # Errors
    /// The image is longer than a control store.
    pub fn new(image: &Image, profile: &Profile) -> Result<Self, ProgramError> {
        let most = usize::from(profile.control_store_words());
        if image.words.len() > most {
            return Err(ProgramError::TooLong {
                name: image.name.clone(),
                words: image.words.len(),
                most,
            });
        }
        let mut words: Vec<_> = image.words.iter().map(|&word| decode_word(word)).collect();
        words.push(Word::End);
        let mut program = Self {
            image: Arc::new(image.clone()),
            ops: Arc::default(),
            words: words.into(),
            sides: Arc::new([]),
            forms: Arc::new([]),
            rounds: Arc::new([]),
            templates: Arc::new([]),
            timers: Arc::default(),
            timing: Timing::new(profile),
        };
        program.decode(image.contexts);
        Ok(program)
    }

    /// No instructions at all, for a core before it is loaded.
    #[must_use]
    pub fn empty(profile: &Profile) -> Self {
        let mut program = Self {
            image: Arc::new(Image::default()),
            ops: Arc::default(),
            words: Arc::new([Word::End]),
            sides: Arc::new([]),
            forms: Arc::new([]),
            rounds: Arc::new([]),
            templates: Arc::new([]),
            timers: Arc::default(),
            timing: Timing::new(profile),
        };
        program.decode(ContextMode::Eight);
        program
    }

    /// What stands for a program between reading a microengine's state and
    /// giving it its program back.
    pub(super) fn absent() -> Self {
        Self {
            image: Arc::new(Image::default()),
            ops: Arc::default(),
            words: Arc::new([Word::End]),
            sides: Arc::new([]),
            forms: Arc::new([]),
            rounds: Arc::new([]),
            templates: Arc::new([]),
            timers: Arc::default(),
            timing: Timing::default(),
        }
    }

    /// The image it was made from.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// What it can do to transfer registers of any microengine.
    #[must_use]
    pub fn exposes(&self) -> Exposure {
        let exposes = |word: &Word| match word {
            Word::Instruction(it) => Exposure::by(it),
            Word::Invalid(_) | Word::End => Exposure::default(),
        };
        let all = self.words.iter().map(exposes);
        all.fold(Exposure::default(), |all, it| all | it)
    }

    /// A command of the program as a context mode reads it. With four contexts the
    /// transfer field is a 5-bit register of the unit's own kind; with eight its top
    /// bit selects the other kind, which is how the decoder reads it.
    pub(super) fn command_at(&self, address: u16, command: Command, mode: ContextMode) -> Command {
        let word = self.image.words.get(usize::from(address));
        let register = (word.copied().unwrap_or_default() >> 20 & 31) as u8;
        let named = command.transfer != TransferRegister::None;
        if mode == ContextMode::Eight || register < 16 || !named {
            return command;
        }
        let transfer = match command.op.info().default_transfer {
            npsim_isa::TransferKind::S => TransferRegister::S(register),
            npsim_isa::TransferKind::D => TransferRegister::D(register),
        };
        Command {
            transfer,
            ..command
        }
    }

    /// Resolves operands for a context mode.
    pub(super) fn decode(&mut self, mode: ContextMode) {
        let limit = match mode {
            ContextMode::Four => 32,
            ContextMode::Eight => 16,
        };
        let mut ops = Vec::with_capacity(self.words.len());
        let mut sides: Vec<Side> = Vec::with_capacity(self.words.len());
        let mut templates = Vec::new();
        for (address, word) in self.words.iter().enumerate() {
            let mut maker = Maker::new(limit, &self.timing, self.words.len() - 1);
            maker.after_codes = sides.last().is_some_and(|side| side.sets_codes);
            if let Word::Instruction(instruction) = word {
                maker.instruction(instruction);
                if let Instruction::Command(command) = *instruction {
                    let command = self.command_at(address as u16, command, mode);
                    let template = Template::of(&command, address as u16);
                    maker.op.kind = Kind::Command;
                    maker.op.x = templates.len() as u32;
                    templates.push(template);
                }
            }
            ops.push(maker.op);
            sides.push(maker.side);
        }
        for (address, word) in self.words.iter().enumerate() {
            let Word::Instruction(instruction) = word else {
                continue;
            };
            for slot in 1..=usize::from(instruction.defer()) {
                if let Some(side) = sides.get_mut(address + slot) {
                    side.slot_of = Some(address as u16);
                }
            }
        }
        for (op, side) in ops.iter_mut().zip(&mut sides) {
            let target = op.kind.branches().then_some(op.d as usize);
            if target
                .is_some_and(|target| self.words.len() > target && sides_slot(&self.words, target))
            {
                side.always = true;
                side.guarded = false;
            }
            if side.always {
                op.marks |= Op::WATCHED | Op::FINISHES;
            }
        }
        let forms = find_forms(&ops, &sides);
        self.rounds = find_rounds(&ops, &forms).into();
        self.forms = forms.into();
        self.templates = templates.into();
        self.timers = Arc::new(Timers::of(&self.words, limit));
        for (op, address) in ops.iter_mut().zip(0..) {
            if op.kind == Kind::CsrRead {
                op.n = u8::from(!self.timers.are_all_of(address));
            }
        }
        self.ops = ops.into();
        self.sides = sides.into();
    }
}

/// Whether an address lies in the defer slots of an earlier instruction.
fn sides_slot(words: &[Word], target: usize) -> bool {
    (1..=3).any(|back| {
        target.checked_sub(back).is_some_and(
            |at| matches!(&words[at], Word::Instruction(instruction) if usize::from(instruction.defer()) >= back),
        )
    })
}

fn decode_word(word: u64) -> Word {
    match decode_lenient(word) {
        Ok(instruction) => Word::Instruction(instruction),
        Err(error) => Word::Invalid(error.to_string()),
    }
}
