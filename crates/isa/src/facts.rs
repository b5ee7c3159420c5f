//! How an instruction affects its neighbours, according to its table row: the single source for the
//! assembler's checks, the interpreter's decoder and the explanations.

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
    /// The instruction writes part of the register and keeps the rest.
    Both,
    /// The operand is not a register: a number, label, operator or name.
    Text,
}

/// A kind of operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandInfo {
    /// The operand's name in the table.
    pub name: &'static str,
    /// The part of the instruction that the operand is.
    pub role: OperandRole,
    /// How the instruction treats it.
    pub access: Access,
    /// Largest number, for operands that are small numbers starting at 0.
    pub max: Option<u8>,
    /// A noun for the operand, as used in messages.
    pub noun: &'static str,
    /// Description, in prose.
    pub doc: &'static str,
}

/// An operand of a form.
#[derive(Clone, Copy, Debug)]
pub struct FormOperand {
    /// The kind.
    pub info: &'static OperandInfo,
    /// Whether the operand may be omitted.
    pub optional: bool,
}

/// What an instruction leaves for the next one as "previous A operand" (the count of indirect
/// shifts) and "previous result" (the override word of `indirect_ref`, the sign of `asr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Leaves both unchanged.
    Nothing,
    /// The A operand; the previous result stays that of an earlier instruction.
    OperandA,
    /// The A operand and its result.
    Result,
    /// Zeros.
    Zero,
}

/// What an instruction takes from the one executed directly before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The A operand, as a shift count.
    Count,
    /// The result's sign.
    Sign,
    /// The result, as data.
    Result,
    /// The result, as the override word of `indirect_ref`.
    Modification,
}

/// A sequence whose instructions keep state for each other, so that no other instruction of its
/// kind may come between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// `byte_align`: the source of the previous one.
    Align,
    /// `mul_step`: the product so far.
    Multiply,
    /// `pop_count`: the count so far.
    Count,
}

/// Where control goes, which also determines the cost of the instruction when taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowClass {
    /// To the next word.
    Next,
    /// To a target, unconditionally.
    Branch,
    /// To a target, depending on the condition codes.
    Codes,
    /// To a target, depending on a bit or byte of a register.
    Bit,
    /// To a target, depending on the context, a signal or an input state.
    State,
    /// To a computed address.
    Jump,
    /// To another context.
    Arbitration,
    /// To another context if the command has `ctx_swap`.
    Command,
}

/// Values from which [`Form::make`] assembles an instruction; those that the form does not use are
/// ignored.
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
    /// Sets a register operand by role.
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

    /// Sets a small-number operand.
    pub fn set_number(&mut self, info: &OperandInfo, number: u8) {
        if info.name == "byte_value" {
            self.value = number;
        } else {
            self.number = number;
        }
    }
}

/// A form of an instruction and its effects on neighbouring instructions.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The operands, as written in the source.
    pub operands: &'static [FormOperand],
    /// Whether the instruction writes the condition codes.
    pub sets_codes: bool,
    /// What the instruction leaves for the next one.
    pub leaves: Leaves,
    /// What the instruction takes from the previous one, regardless of its options.
    pub takes: Option<Takes>,
    /// The sequence that the instruction belongs to.
    pub sequence: Option<Sequence>,
    /// Where control goes.
    pub flow: FlowClass,
    /// Largest defer count.
    pub max_defer: u8,
    /// Builds the instruction; `None` if it has options or operands of its own kind.
    pub make: Option<fn(&Operands) -> Instruction>,
}

impl Form {
    /// Returns the operand with a role.
    #[must_use]
    pub fn operand(&self, role: OperandRole) -> Option<&'static OperandInfo> {
        let mut infos = self.operands.iter().map(|operand| operand.info);
        infos.find(|info| info.role == role)
    }

    /// Returns the smallest and largest number of operands.
    #[must_use]
    pub fn arity(&self) -> (usize, usize) {
        let least = self.operands.iter().filter(|operand| !operand.optional);
        (least.count(), self.operands.len())
    }
}

impl Operand {
    /// Returns the index register through which the operand is accessed.
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
    /// Whether the instruction writes the condition codes.
    #[must_use]
    pub fn sets_codes(&self) -> bool {
        self.form().sets_codes
    }

    /// Whether the instruction tests the condition codes or adds the carry.
    #[must_use]
    pub fn reads_codes(&self) -> bool {
        match self {
            Self::Alu { op, .. } => op.adds_carry(),
            other => other.form().flow == FlowClass::Codes,
        }
    }

    /// Returns what `alu` and `alu_shf` read through the port of their first source, which is the
    /// count of an indirect shift after them. The operators B and ~B read it too; where their text
    /// has `--`, the word still names an operand, the one that the unused-field code decodes to.
    /// `None` for other instructions.
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
        // The second source takes the field of its bank, the first source the other.
        let swapped = b.bank() == Some(Bank::A);
        let bank = if swapped { Bank::B } else { Bank::A };
        match (wide, swapped) {
            (true, false) => UNRESTRICTED.decode(unused::ALU_A, Role::Source, bank),
            (true, true) => UNRESTRICTED.decode(unused::ALU_B, Role::Source, bank),
            (false, false) => RESTRICTED.decode(unused::SHF_A, Role::Source, bank),
            (false, true) => RESTRICTED.decode(unused::SHF_B, Role::Source, bank),
        }
    }

    /// Whether the first source is visible only to an indirect shift after the instruction.
    #[must_use]
    pub const fn ignores_first_source(&self) -> bool {
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

    /// Whether the instruction shifts by the A operand of the previous one.
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

    /// Whether the previous result modifies the command that the instruction sends.
    #[must_use]
    pub const fn is_indirect(&self) -> bool {
        match self {
            Self::Command(command) => command.indirect,
            Self::CapCsr(access) => access.indirect,
            _ => false,
        }
    }

    /// Returns what the instruction takes from the one executed directly before it. For `asr` this
    /// is the sign, even if it takes its count from there as well.
    #[must_use]
    pub fn takes(&self) -> Option<Takes> {
        self.form()
            .takes
            .or_else(|| self.shifts_indirectly().then_some(Takes::Count))
            .or_else(|| self.is_indirect().then_some(Takes::Modification))
    }

    /// Returns how the command that the instruction sends signals its completion.
    #[must_use]
    pub const fn completion(&self) -> Option<Completion> {
        match self {
            Self::Command(Command { completion, .. }) | Self::CapCsr(CapCsr { completion, .. }) => {
                Some(*completion)
            }
            _ => None,
        }
    }

    /// Whether the context yields the microengine to the others. A breakpoint stops all contexts
    /// instead.
    #[must_use]
    pub const fn swaps(&self) -> bool {
        match self {
            Self::CtxArb(CtxArb { breakpoint, .. }) => !*breakpoint,
            other => matches!(other.completion(), Some(Completion::CtxSwap { .. })),
        }
    }

    /// Whether execution may continue elsewhere than at the next word, or the context may yield the
    /// microengine. Such an instruction is not allowed in a defer slot.
    #[must_use]
    pub fn is_control_flow(&self) -> bool {
        match self.form().flow {
            FlowClass::Next => false,
            FlowClass::Command => self.swaps(),
            _ => true,
        }
    }

    /// Returns the address of the local CSR that the instruction writes: that of a `local_csr_wr`,
    /// or the pointer that a `cam_lookup` sets.
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

    /// Returns the index registers that the instruction writes.
    #[must_use]
    pub fn indexes_written(&self) -> &'static [Index] {
        let info = self.csr_written().and_then(csr::at);
        info.map_or(&[], |info| info.indexes)
    }

    /// Returns the register operands with their roles.
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

    /// Whether an operand is accessed through an index register.
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
