//! The program between selection and encoding: instructions whose registers,
//! signals and labels are still symbolic.

use npsim_isa::{CapAccess, Instruction, Operand, OperandRole, SignalRule, Words};

use crate::front::statement::SourcePlace;
use crate::front::token::Token;

/// Index into [`crate::middle::scope::Symbols::variables`].
pub type VariableId = usize;
/// Index into [`crate::middle::scope::Symbols::signals`].
pub type SignalId = usize;

/// A side of the storage behind a variable. Transfer variables have two sides;
/// all others use only the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The IN register, or the register itself.
    In,
    /// The OUT register.
    Out,
}

/// Returns the cell for one side of a variable, the unit of data-flow analysis.
#[must_use]
pub fn cell(variable: VariableId, side: Side) -> usize {
    variable * 2 + usize::from(side == Side::Out)
}

/// A signal operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRef {
    /// A declared signal.
    Symbol(SignalId),
    /// A signal given by number, `sN`.
    Physical(u8),
}

/// The value of an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandValue {
    /// An operand that is already known, and set in the template.
    Physical(Operand),
    /// A variable to be allocated.
    Register(VariableId),
    /// A constant that depends on the allocation or on label addresses.
    Constant(BoundExpression),
}

/// A reference to a symbol in an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum SymbolReference {
    /// `&register`: the number of a register.
    Register(VariableId),
    /// `&$3`: the number of a register that is itself given by number.
    Number(u8),
    /// `&signal`: the number of a signal.
    Signal(SignalRef),
    /// `label#`: the address of a label.
    Label(Token),
    /// The value of an import variable.
    Import(Token),
}

/// A constant expression with its references to symbols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundExpression {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The tokens that are references, by index.
    pub references: Vec<(usize, SymbolReference)>,
}

/// A register or constant operand of an instruction.
#[derive(Clone, Debug)]
pub struct OperandSlot {
    /// The role of the operand.
    pub role: OperandRole,
    /// Its value.
    pub value: OperandValue,
    /// Whether the instruction reads it.
    pub reads: bool,
    /// Whether the instruction writes it.
    pub writes: bool,
    /// Its place in the source.
    pub place: SourcePlace,
}

/// The transfer operand of a command.
#[derive(Clone, Copy, Debug)]
pub struct TransferOperand {
    /// The variable whose IN registers the command fills.
    pub read: Option<VariableId>,
    /// The variable whose OUT registers the command sends.
    pub write: Option<VariableId>,
    /// Its place in the source.
    pub place: SourcePlace,
}

/// A use of a signal.
#[derive(Clone, Copy, Debug)]
pub struct SignalUse {
    /// The signal.
    pub signal: SignalRef,
    /// Selects one signal of a pair: the odd one if true, the even one if
    /// false.
    pub odd: Option<bool>,
    /// Its place in the source.
    pub place: SourcePlace,
}

/// How an instruction uses a constant that becomes known late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateKind {
    /// The 32-bit value of `immed`, which determines its fields.
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
    /// How the instruction uses it.
    pub kind: LateKind,
    /// The expression.
    pub expression: BoundExpression,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Micro {
    /// The instruction, with placeholders for values not yet known.
    pub template: Instruction,
    /// Register and constant operands.
    pub slots: Vec<OperandSlot>,
    /// Places of the other operands.
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
    /// The constant that is known late.
    pub late: Option<Late>,
    /// The place of the whole instruction.
    pub place: SourcePlace,
    /// The mnemonic.
    pub mnemonic: String,
    /// The scope that contains it.
    pub scope: usize,
    /// Whether the count is open: `max_N` was written, or `indirect_ref` may
    /// change it.
    pub open_count: bool,
    /// The encoded word, if the source gives it directly.
    pub raw: Option<u64>,
    /// Whether the assembler generated it, so that it has no source text of its
    /// own.
    pub generated: bool,
    /// Index of the source statement that it comes from.
    pub statement: usize,
}

impl Micro {
    /// Makes a `nop`.
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

    /// Returns the place of an operand; that of the whole instruction if it was
    /// not written.
    #[must_use]
    pub fn place_of(&self, role: OperandRole) -> SourcePlace {
        self.slots
            .iter()
            .map(|slot| (slot.role, slot.place))
            .chain(self.places.iter().copied())
            .find(|(r, _)| *r == role)
            .map_or(self.place, |(_, place)| place)
    }

    /// Returns the operands that the instruction reads through its two register
    /// ports. The destination of `ld_field` occupies one of them.
    pub fn ports(&self) -> impl Iterator<Item = &OperandSlot> {
        let merges = matches!(self.template, Instruction::LdField { .. });
        self.slots
            .iter()
            .filter(move |slot| merges || slot.role != OperandRole::Dest)
    }
}

/// A directive about subroutines.
#[derive(Clone, Copy, Debug)]
pub enum SubroutineMark {
    /// `.subroutine`: a subroutine begins.
    Begin(SourcePlace),
    /// `.endsub`: a subroutine ends.
    End(SourcePlace),
    /// `.reentry`: a jump or return may lead here.
    Reentry,
}

/// A hint to the analyses, which takes no word.
#[derive(Clone, Debug, Default)]
pub struct Hint {
    /// The directive; `None` if the assembler generated the hint.
    pub place: Option<SourcePlace>,
    /// The subroutine directive, if it is one.
    pub mark: Option<SubroutineMark>,
    /// Cells that get a value here.
    pub sets: Vec<usize>,
    /// Cells whose value is needed here.
    pub uses: Vec<usize>,
    /// Signals that may be raised from outside the program from here on.
    pub raised: Vec<SignalRef>,
    /// Signals whose commands have finished here.
    pub completed: Vec<SignalRef>,
}

/// An item of the program.
#[derive(Clone, Debug)]
pub enum Item {
    /// An instruction word.
    Micro(Box<Micro>),
    /// A hint, which takes no word.
    Hint(Hint),
}

impl Item {
    /// Returns the instruction, if the item is one.
    #[must_use]
    pub fn micro(&self) -> Option<&Micro> {
        match self {
            Self::Micro(micro) => Some(micro),
            Self::Hint(_) => None,
        }
    }
}

/// A label definition.
#[derive(Clone, Debug)]
pub struct LabelDefinition {
    /// The label's token, including its `#`.
    pub token: Token,
    /// Index of the scope that contains it.
    pub scope: usize,
    /// The item that follows it; the number of items if it is at the end.
    pub item: usize,
}

/// Returns how many longwords a command takes from the OUT registers and puts
/// into the IN registers.
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

/// Returns which signals a command raises.
#[must_use]
pub fn signal_rule(instruction: &Instruction) -> SignalRule {
    match instruction {
        Instruction::Command(command) => command.op.info().signals,
        _ => SignalRule::Single,
    }
}
