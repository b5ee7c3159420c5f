//! The program between selection and encoding: instructions whose registers,
//! signals and labels are still symbols.

use npsim_isa::{CapAccess, Instruction, Operand, OperandRole, SignalRule, Words};

use crate::front::statement::SourcePlace;
use crate::front::token::Token;

/// Index into [`crate::middle::scope::Symbols::variables`].
pub type VariableId = usize;
/// Index into [`crate::middle::scope::Symbols::signals`].
pub type SignalId = usize;

/// The storage behind a transfer variable has two sides; all others use the
/// first only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The IN register, or the register itself.
    In,
    /// The OUT register.
    Out,
}

/// One side of one variable: what the data flow speaks of.
#[must_use]
pub fn cell(variable: VariableId, side: Side) -> usize {
    variable * 2 + usize::from(side == Side::Out)
}

/// A signal operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRef {
    /// A declared signal.
    Symbol(SignalId),
    /// `sN`
    Physical(u8),
}

/// What stands in an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandValue {
    /// Known already, and in the template.
    Physical(Operand),
    /// A variable to be allocated.
    Register(VariableId),
    /// A constant that depends on the allocation or on label addresses.
    Constant(BoundExpression),
}

/// What an expression names besides numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum SymbolReference {
    /// `&register`
    Register(VariableId),
    /// `&$3`: a register that is given by its number.
    Number(u8),
    /// `&signal`
    Signal(SignalRef),
    /// `label#`
    Label(Token),
    /// The value of an import variable.
    Import(Token),
}

/// A constant expression in which some tokens stand for what they refer to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundExpression {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// Which of them are references, by index.
    pub references: Vec<(usize, SymbolReference)>,
}

/// A register or constant operand of an instruction.
#[derive(Clone, Debug)]
pub struct OperandSlot {
    /// Which operand.
    pub role: OperandRole,
    /// What it is.
    pub value: OperandValue,
    /// Whether the instruction reads it.
    pub reads: bool,
    /// Whether the instruction writes it.
    pub writes: bool,
    /// Where it stands.
    pub place: SourcePlace,
}

/// The transfer operand of a command.
#[derive(Clone, Copy, Debug)]
pub struct TransferOperand {
    /// The variable whose IN registers are filled.
    pub read: Option<VariableId>,
    /// The variable whose OUT registers are taken.
    pub write: Option<VariableId>,
    /// Where it stands.
    pub place: SourcePlace,
}

/// A signal use.
#[derive(Clone, Copy, Debug)]
pub struct SignalUse {
    /// Which.
    pub signal: SignalRef,
    /// The one signal of a pair that is meant: the odd one, or the even one.
    pub odd: Option<bool>,
    /// Where it stands.
    pub place: SourcePlace,
}

/// What the constant of an instruction means when it is known late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateKind {
    /// The 32-bit value of `immed`, whose form is chosen then.
    Immed,
    /// The 16-bit value of `immed` with a given shift, or of `immed_w0/1`.
    Word,
    /// The 8-bit value of `immed_b0..3`.
    Byte,
    /// The data of `cap[fast_wr]`.
    CapData,
}

/// A constant that is computed after allocation.
#[derive(Clone, Debug)]
pub struct Late {
    /// Where it goes.
    pub kind: LateKind,
    /// The expression.
    pub expression: BoundExpression,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Micro {
    /// The instruction with place holders for what is not known yet.
    pub template: Instruction,
    /// Register and constant operands.
    pub slots: Vec<OperandSlot>,
    /// Where the other operands stand.
    pub places: Vec<(OperandRole, SourcePlace)>,
    /// The symbolic transfer operand of a command.
    pub transfer: Option<TransferOperand>,
    /// `sig_done` or `ctx_swap`.
    pub completion: Option<SignalUse>,
    /// The signals of `ctx_arb`.
    pub waits: Vec<SignalUse>,
    /// The signal of `br_signal`.
    pub tested: Option<SignalUse>,
    /// The branch target or resume label.
    pub target: Option<Token>,
    /// `targets[...]` of a jump.
    pub targets: Vec<Token>,
    /// The value known late.
    pub late: Option<Late>,
    /// The whole instruction.
    pub place: SourcePlace,
    /// The mnemonic.
    pub mnemonic: String,
    /// The scope it stands in.
    pub scope: usize,
    /// `max_N` was written, or `indirect_ref` may change the count.
    pub open_count: bool,
    /// The word, where the source gives it itself.
    pub raw: Option<u64>,
    /// Made by the assembler, so that no text stands for it alone.
    pub generated: bool,
    /// Number of the source's statement that it comes from.
    pub statement: usize,
}

impl Micro {
    /// A `nop`.
    #[must_use]
    pub fn nop(place: SourcePlace, scope: usize) -> Self {
        Self {
            template: Instruction::Nop,
            slots: Vec::new(),
            places: Vec::new(),
            transfer: None,
            completion: None,
            waits: Vec::new(),
            tested: None,
            target: None,
            targets: Vec::new(),
            late: None,
            place,
            mnemonic: "nop".to_owned(),
            scope,
            open_count: false,
            raw: None,
            generated: false,
            statement: 0,
        }
    }

    /// Where an operand stands; the whole instruction if it was not written.
    #[must_use]
    pub fn place_of(&self, role: OperandRole) -> SourcePlace {
        self.slots
            .iter()
            .map(|slot| (slot.role, slot.place))
            .chain(self.places.iter().copied())
            .find(|(r, _)| *r == role)
            .map_or(self.place, |(_, place)| place)
    }

    /// The variables that the instruction takes through its two register
    /// ports. The destination of `ld_field` occupies one of them.
    pub fn ports(&self) -> impl Iterator<Item = &OperandSlot> {
        let merges = matches!(self.template, Instruction::LdField { .. });
        self.slots
            .iter()
            .filter(move |slot| merges || slot.role != OperandRole::Dest)
    }
}

/// What a directive says of subroutines at the place where it stands.
#[derive(Clone, Copy, Debug)]
pub enum SubroutineMark {
    /// `.subroutine`
    Begin(SourcePlace),
    /// `.endsub`
    End(SourcePlace),
    /// `.reentry`: a jump or return may come here.
    Reentry,
}

/// A remark to the analysis.
#[derive(Clone, Debug, Default)]
pub struct Hint {
    /// The directive; none if a construct of the assembler makes the hint.
    pub place: Option<SourcePlace>,
    /// Subroutines.
    pub mark: Option<SubroutineMark>,
    /// Cells that get a value here.
    pub sets: Vec<usize>,
    /// Cells whose value is needed here.
    pub uses: Vec<usize>,
    /// Signals that are raised by others from here on.
    pub raised: Vec<SignalRef>,
    /// Signals whose commands are finished here.
    pub completed: Vec<SignalRef>,
}

/// An element of the program.
#[derive(Clone, Debug)]
pub enum Item {
    /// A microword.
    Micro(Box<Micro>),
    /// No word.
    Hint(Hint),
}

impl Item {
    /// The instruction, if it is one.
    #[must_use]
    pub fn micro(&self) -> Option<&Micro> {
        match self {
            Self::Micro(micro) => Some(micro),
            Self::Hint(_) => None,
        }
    }
}

/// A label.
#[derive(Clone, Debug)]
pub struct LabelDefinition {
    /// With its `#`.
    pub token: Token,
    /// Number of the `.begin` scope it stands in.
    pub scope: usize,
    /// The item that follows it; the number of items at the end.
    pub item: usize,
}

/// Longwords that a command takes from the OUT and puts into the IN registers.
#[must_use]
pub fn words(instruction: &Instruction) -> (u8, u8) {
    match instruction {
        Instruction::Command(command) => {
            let info = command.op.info();
            (
                words_of(info.pull_words, command.count),
                words_of(info.push_words, command.count),
            )
        }
        Instruction::CapCsr(access) => match access.access {
            CapAccess::Read => (0, access.count),
            CapAccess::Write => (access.count, 0),
            CapAccess::FastWriteAlu => (0, 0),
        },
        _ => (0, 0),
    }
}

fn words_of(rule: Words, count: u8) -> u8 {
    match rule {
        Words::Zero => 0,
        Words::One => 1,
        Words::Count => count,
        Words::CountTimes2 => count * 2,
        Words::CountTimes4 => count * 4,
    }
}

/// Whether a command raises its signal as one of a pair.
#[must_use]
pub fn signal_rule(instruction: &Instruction) -> SignalRule {
    match instruction {
        Instruction::Command(command) => command.op.info().signals,
        _ => SignalRule::Single,
    }
}
