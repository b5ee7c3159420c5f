//! What an instruction does to its neighbours, from its row of the table: the
//! one place from which the assembler's checks, the interpreter's decoder and
//! the explanations take it.

use crate::{
    AluOp, Bank, CapCsr, Command, Completion, CtxArb, Index, Instruction, Operand, OperandRole,
    RESTRICTED, Role, ShfOp, Shift, ShiftCount, UNRESTRICTED, csr, unused,
};

/// How an instruction treats an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The instruction reads the register or constant.
    Read,
    /// The instruction writes the register.
    Write,
    /// The instruction writes a part of the register and keeps the rest.
    Both,
    /// The operand is no register: a number, label, operator or name.
    Text,
}

/// A kind of operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandInfo {
    /// The word in the table.
    pub name: &'static str,
    /// Which part of the instruction it is.
    pub role: OperandRole,
    /// What is done with it.
    pub access: Access,
    /// Largest number, for operands that are small numbers from 0 on.
    pub max: Option<u8>,
    /// What it is, as it stands in messages.
    pub noun: &'static str,
    /// Meaning in words.
    pub doc: &'static str,
}

/// An operand of a form.
#[derive(Clone, Copy, Debug)]
pub struct FormOperand {
    /// The kind.
    pub info: &'static OperandInfo,
    /// Whether it may be left out.
    pub optional: bool,
}

/// What the next instruction finds as "previous A operand" (the count of
/// indirect shifts) and "previous result" (the override word of
/// `indirect_ref`, the sign of `asr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// What was there before.
    Nothing,
    /// The A operand, and the result of an earlier instruction.
    OperandA,
    /// The A operand and its result.
    Result,
    /// Zeros.
    Zero,
}

/// What an instruction takes from the one executed directly before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A shift count: the A operand.
    Count,
    /// The sign of the result.
    Sign,
    /// The result, as data.
    Result,
    /// The result, as the override word of `indirect_ref`.
    Modification,
}

/// A sequence whose instructions keep state for the next one of it, so that
/// nothing else of its kind may come between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// `byte_align`: the source of the one before.
    Align,
    /// `mul_step`: the product so far.
    Multiply,
    /// `pop_count`: the count so far.
    Count,
}

/// Where control goes, which is also the class of what it costs when taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowClass {
    /// To the next word.
    Next,
    /// To a target, always.
    Branch,
    /// To a target by the condition codes.
    Codes,
    /// To a target by a bit or byte of a register.
    Bit,
    /// To a target by the context, a signal or an input state.
    State,
    /// To a computed address.
    Jump,
    /// To another context.
    Arbitration,
    /// To another context if it asks for `ctx_swap`.
    Command,
}

/// Values from which [`Form::make`] puts an instruction together; what the form
/// does not have is ignored.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the operand table describes them")]
pub struct Operands {
    pub dest: Operand,
    pub a: Operand,
    pub b: Operand,
    pub src: Operand,
    pub entry: Operand,
    pub count: ShiftCount,
    /// State, bit, byte or context number.
    pub number: u8,
    /// The byte to compare with.
    pub value: u8,
    pub target: u16,
    pub defer: u8,
}

impl Default for Operands {
    fn default() -> Self {
        Self {
            dest: Operand::None,
            a: Operand::None,
            b: Operand::None,
            src: Operand::None,
            entry: Operand::None,
            count: ShiftCount::Indirect,
            number: 0,
            value: 0,
            target: 0,
            defer: 0,
        }
    }
}

impl Operands {
    /// Sets a register operand.
    pub fn set(&mut self, role: OperandRole, operand: Operand) {
        match role {
            OperandRole::Dest => self.dest = operand,
            OperandRole::A => self.a = operand,
            OperandRole::B => self.b = operand,
            OperandRole::Src => self.src = operand,
            OperandRole::Entry => self.entry = operand,
            _ => {}
        }
    }

    /// Sets a small number.
    pub fn set_number(&mut self, info: &OperandInfo, number: u8) {
        if info.name == "byte_value" {
            self.value = number;
        } else {
            self.number = number;
        }
    }
}

/// A shape of an instruction with what it does to its neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The operands as written.
    pub operands: &'static [FormOperand],
    /// Whether it writes the condition codes.
    pub sets_codes: bool,
    /// What it leaves for the next instruction.
    pub leaves: Leaves,
    /// What it takes from the instruction before, whatever its options.
    pub takes: Option<Takes>,
    /// The sequence that it is part of.
    pub sequence: Option<Sequence>,
    /// Where control goes.
    pub flow: FlowClass,
    /// Largest defer count.
    pub max_defer: u8,
    /// Makes the instruction, where it has neither options nor operands of its
    /// own kind.
    pub make: Option<fn(&Operands) -> Instruction>,
}

impl Form {
    /// The operand of a role.
    #[must_use]
    pub fn operand(&self, role: OperandRole) -> Option<&'static OperandInfo> {
        let mut infos = self.operands.iter().map(|operand| operand.info);
        infos.find(|info| info.role == role)
    }

    /// Fewest and most operands.
    #[must_use]
    pub fn arity(&self) -> (usize, usize) {
        let least = self.operands.iter().filter(|operand| !operand.optional);
        (least.count(), self.operands.len())
    }
}

impl Operand {
    /// The index register that it goes through.
    #[must_use]
    pub const fn index(self) -> Option<Index> {
        match self {
            Self::LocalMemory { pointer, .. } | Self::LocalMemoryStep { pointer, .. } => {
                Some(Index::LocalMemory(pointer))
            }
            Self::SIndexed(_) | Self::DIndexed(_) => Some(Index::Transfer),
            _ => None,
        }
    }
}

impl Instruction {
    /// Whether it writes the condition codes.
    #[must_use]
    pub fn sets_codes(&self) -> bool {
        self.form().sets_codes
    }

    /// Whether it tests the condition codes or adds the carry.
    #[must_use]
    pub fn reads_codes(&self) -> bool {
        match self {
            Self::Alu { op, .. } => op.adds_carry(),
            other => other.form().flow == FlowClass::Codes,
        }
    }

    /// What `alu` and `alu_shf` read through the port of their first source, which
    /// is the count of an indirect shift after them. The operators B and ~B read it
    /// too; where their text has `--`, the word names a register all the same: that
    /// of the code which stands for nothing. `None` for other instructions.
    #[must_use]
    pub fn first_source(&self) -> Option<Operand> {
        let (a, b, wide) = match self {
            Self::Alu { a, b, .. } => (*a, *b, true),
            Self::AluShf { a, b, .. } => (*a, *b, false),
            _ => return None,
        };
        if a != Operand::None {
            return Some(a);
        }
        // The second source takes the field of its bank, this one the other.
        let swapped = b.bank() == Some(Bank::A);
        let bank = if swapped { Bank::B } else { Bank::A };
        match (wide, swapped) {
            (true, false) => UNRESTRICTED.decode(unused::ALU_A, Role::Source, bank),
            (true, true) => UNRESTRICTED.decode(unused::ALU_B, Role::Source, bank),
            (false, false) => RESTRICTED.decode(unused::SHF_A, Role::Source, bank),
            (false, true) => RESTRICTED.decode(unused::SHF_B, Role::Source, bank),
        }
    }

    /// Whether nothing but an indirect shift after it sees its first source.
    #[must_use]
    pub const fn passes_second(&self) -> bool {
        matches!(
            self,
            Self::Alu {
                op: AluOp::B | AluOp::NotB,
                ..
            } | Self::AluShf {
                op: ShfOp::B | ShfOp::NotB,
                ..
            }
        )
    }

    /// Whether it shifts by the A operand of the instruction before.
    #[must_use]
    pub const fn shifts_indirectly(&self) -> bool {
        match self {
            Self::AluShf { shift, .. } | Self::LdField { shift, .. } => {
                matches!(shift, Shift::LeftIndirect | Shift::RightIndirect)
            }
            Self::DblShf { count, .. } | Self::Asr { count, .. } => {
                matches!(count, ShiftCount::Indirect)
            }
            _ => false,
        }
    }

    /// Whether the previous result modifies the command that it sends.
    #[must_use]
    pub const fn is_indirect(&self) -> bool {
        match self {
            Self::Command(command) => command.indirect,
            Self::CapCsr(access) => access.indirect,
            _ => false,
        }
    }

    /// What it takes from the instruction executed directly before it: `asr` its
    /// sign even where it takes its count from there as well.
    #[must_use]
    pub fn takes(&self) -> Option<Takes> {
        self.form()
            .takes
            .or_else(|| self.shifts_indirectly().then_some(Takes::Count))
            .or_else(|| self.is_indirect().then_some(Takes::Modification))
    }

    /// What signals the end of the command that it sends.
    #[must_use]
    pub const fn completion(&self) -> Option<Completion> {
        match self {
            Self::Command(Command { completion, .. }) | Self::CapCsr(CapCsr { completion, .. }) => {
                Some(*completion)
            }
            _ => None,
        }
    }

    /// Whether the context yields the microengine and others run. A breakpoint
    /// stops all of them instead.
    #[must_use]
    pub const fn swaps(&self) -> bool {
        match self {
            Self::CtxArb(CtxArb { breakpoint, .. }) => !*breakpoint,
            other => matches!(other.completion(), Some(Completion::CtxSwap { .. })),
        }
    }

    /// Whether execution may continue elsewhere than at the next word, or the
    /// context may yield the microengine. Such an instruction may not stand in
    /// a defer slot.
    #[must_use]
    pub fn is_control_flow(&self) -> bool {
        match self.form().flow {
            FlowClass::Next => false,
            FlowClass::Command => self.swaps(),
            _ => true,
        }
    }

    /// The local CSR that it writes, by address: that of a `local_csr_wr`, or the pointer that
    /// a `cam_lookup` sets.
    #[must_use]
    pub fn csr_written(&self) -> Option<u16> {
        match self {
            Self::LocalCsrWrite { csr, .. } => Some(*csr),
            Self::CamLookup {
                lm_addr: Some(target),
                ..
            } => {
                let pointers = [csr::ACTIVE_LM_ADDR_0, csr::ACTIVE_LM_ADDR_1];
                Some(pointers[usize::from(target.pointer & 1)])
            }
            _ => None,
        }
    }

    /// The index registers that it writes.
    #[must_use]
    pub fn indexes_written(&self) -> &'static [Index] {
        let info = self.csr_written().and_then(csr::at);
        info.map_or(&[], |info| info.indexes)
    }

    /// The register operands, by role.
    pub fn register_operands(mut self) -> impl Iterator<Item = (OperandRole, Operand)> {
        use OperandRole as Role;
        [Role::Dest, Role::A, Role::B, Role::Src, Role::Entry]
            .into_iter()
            .filter(move |role| {
                let form = self.form().operand(*role);
                form.is_some_and(|info| info.access != Access::Text)
            })
            .filter_map(move |role| Some((role, *self.operand_mut(role)?)))
    }

    /// Whether it goes through an index register.
    #[must_use]
    pub fn uses_index(&self, index: Index) -> bool {
        match index {
            Index::Byte => self.form().sequence == Some(Sequence::Align),
            _ => self
                .register_operands()
                .any(|(_, operand)| operand.index() == Some(index)),
        }
    }
}
