//! Resolution of symbols to numbers, and encoding of instructions to words.

use npsim_isa::{
    Completion, EncodeError, EncodeErrorKind, Instruction, Operand, OperandRole, SignalRule,
    Target, TransferRegister, encode_in,
};

use crate::back::allocate::Assignment;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::constant;
use crate::front::statement::SourcePlace;
use crate::front::token::Token;
use crate::middle::flow::FlowGraph;
use crate::middle::labels::Labels;
use crate::middle::program::signal_rule;
use crate::middle::program::{
    BoundExpression, Item, LateKind, Micro, OperandValue, SignalRef, SignalUse, SymbolReference,
};
use crate::middle::scope::Symbols;
use crate::middle::select::forms::{
    byte_value, cap_data, immed_form, initial_value, small_constant, word_value,
};
use crate::middle::select::{FirstLongword, Initial, InitialRegister};
use npsim_image::import::is_shifted;
use npsim_image::{ImportFixup, ImportPart, InitialLongword, InitialValue};

/// Everything needed for encoding.
pub struct Emitter<'a> {
    /// Instructions and hints.
    pub items: &'a [Item],
    /// Variables and signals.
    pub symbols: &'a Symbols,
    /// Labels.
    pub labels: &'a Labels<'a>,
    /// Branch targets.
    pub flow: &'a FlowGraph,
    /// Allocated register and signal numbers.
    pub assignment: &'a Assignment,
    /// The target of the words.
    pub target: Target,
    /// Signals for which only the odd one of the pair is raised.
    odd_only: Vec<bool>,
}

impl<'a> Emitter<'a> {
    /// Creates an emitter, scanning all commands once.
    #[must_use]
    pub fn new(
        items: &'a [Item],
        symbols: &'a Symbols,
        labels: &'a Labels<'a>,
        flow: &'a FlowGraph,
        assignment: &'a Assignment,
        target: Target,
    ) -> Self {
        let mut odd_only = vec![false; symbols.signals.len()];
        for micro in items.iter().filter_map(Item::micro) {
            if let (Some(used), SignalRule::PushOdd) =
                (micro.completion, signal_rule(&micro.template))
                && let SignalRef::Symbol(id) = used.signal
            {
                odd_only[id] = true;
            }
        }
        Self {
            items,
            symbols,
            labels,
            flow,
            assignment,
            target,
            odd_only,
        }
    }

    /// Returns the words in order; instructions that cannot be encoded are reported.
    pub fn words(&self, diagnostics: &mut Vec<Diagnostic>) -> (Vec<u64>, Vec<ImportFixup>) {
        let mut words = Vec::new();
        let mut imports = Vec::new();
        for (i, item) in self.items.iter().enumerate() {
            let Some(micro) = item.micro() else { continue };
            match self.import(micro, words.len() as u16) {
                Ok(import) => imports.extend(import),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
            let word = || {
                let instruction = self.instruction(i, micro)?;
                encode_in(&instruction, self.target)
                    .map_err(|error| explain(micro, &error, |operand| self.shown(micro, operand)))
            };
            match micro.raw.map_or_else(word, Ok) {
                Ok(word) => words.push(word),
                Err(diagnostic) => {
                    diagnostics.push(diagnostic);
                    words.push(0);
                }
            }
        }
        (words, imports)
    }

    /// Returns the fix-up of an instruction with an imported constant.
    fn import(&self, micro: &Micro, address: u16) -> Result<Option<ImportFixup>, Diagnostic> {
        let Some(late) = &micro.late else {
            return Ok(None);
        };
        let mut names = late
            .expression
            .references
            .iter()
            .filter_map(|(_, r)| match r {
                SymbolReference::Import(name) => Some(name),
                _ => None,
            });
        let Some(name) = names.next() else {
            return Ok(None);
        };
        let place = micro.place_of(OperandRole::Value);
        let bare = late.expression.tokens.len() == 1;
        let part = match (&micro.template, bare) {
            (Instruction::ImmedWord { word: 0, .. }, true) => Some(ImportPart::Low),
            (Instruction::ImmedWord { .. }, true) => Some(ImportPart::High),
            (Instruction::ImmedByte { byte, .. }, true) => Some(ImportPart::Byte(*byte)),
            _ => ImportPart::found(|probe| {
                self.with_import(&late.expression, place, micro.scope, probe)
                    .ok()
            }),
        };
        let shifted = match micro.template {
            Instruction::Immed { shift, .. } => is_shifted(shift),
            Instruction::ImmedWord { .. } | Instruction::ImmedByte { .. } => false,
            _ => {
                return Err(place
                    .error(
                        codes::IMPORT_VALUE,
                        format!("the import `{}` can be used only in `immed`", name.text),
                    )
                    .help("load it into a register with `immed` first"));
            }
        };
        let same = names.all(|other| other.text == name.text);
        match part {
            Some(part) if same => Ok(Some(ImportFixup {
                address,
                name: name.text.to_string(),
                part,
                shifted,
                value: None,
            })),
            _ => Err(place
                .error(
                    codes::IMPORT_VALUE,
                    format!("the linker cannot compute this from the import `{}`", name.text),
                )
                .note("It can fill in the whole value, one half, or one byte.")
                .help("write `NAME`, `(NAME & 0xffff)`, `(NAME >> 16)` or `((NAME >> 8) & 0xff)`, and compute the rest with `alu`")),
        }
    }

    /// Returns the instruction with all numbers filled in.
    ///
    /// # Errors
    /// Returns an error if a late constant does not fit.
    pub fn instruction(&self, item: usize, micro: &Micro) -> Result<Instruction, Diagnostic> {
        let mut instruction = micro.template;
        for slot in &micro.slots {
            let operand = match &slot.value {
                OperandValue::Physical(operand) => *operand,
                OperandValue::Register(id) => self.assignment.register(*id),
                OperandValue::Constant(expression) => {
                    let value = self.value(expression, slot.place, micro.scope)?;
                    small_constant(value, slot.place)?
                }
            };
            // The slots come from the same table, so every one has an operand.
            *instruction
                .operand_mut(slot.role)
                .expect("the instruction table has an operand for every slot") = operand;
        }
        if let Some(target) = self.flow.targets[item] {
            let address = self.labels.address(target);
            set_target(&mut instruction, address);
        }
        if let Some(late) = &micro.late {
            let place = micro.place_of(OperandRole::Value);
            let value = self.value(&late.expression, place, micro.scope)?;
            set_value(&mut instruction, late.kind, value, place)?;
        }
        if let Some(transfer) = &micro.transfer {
            // If two variables share the name, the side that the command uses decides.
            let (pull, _) = crate::middle::program::words(&micro.template);
            let variable = match (transfer.write, pull) {
                (Some(id), 1..) => Some(id),
                _ => transfer.read.or(transfer.write),
            };
            let register = match variable.map(|id| self.assignment.register(id)) {
                Some(Operand::STransfer(n)) => TransferRegister::S(n),
                Some(Operand::DTransfer(n)) => TransferRegister::D(n),
                other => unreachable!("{other:?} is not a transfer register"),
            };
            match &mut instruction {
                Instruction::Command(command) => command.transfer = register,
                Instruction::CapCsr(access) => access.transfer = register,
                _ => {}
            }
        }
        self.set_signals(&mut instruction, micro);
        Ok(instruction)
    }

    fn set_signals(&self, instruction: &mut Instruction, micro: &Micro) {
        if let Some(used) = micro.completion {
            let number = self.signal(used.signal);
            let completion = match instruction {
                Instruction::Command(command) => Some(&mut command.completion),
                Instruction::CapCsr(access) => Some(&mut access.completion),
                _ => None,
            };
            match completion {
                Some(Completion::SigDone(signal) | Completion::CtxSwap { signal, .. }) => {
                    *signal = number;
                }
                Some(Completion::Silent) | None => {}
            }
        }
        match instruction {
            Instruction::CtxArb(arb) => {
                for used in &micro.waits {
                    arb.mask |= self.mask(*used);
                }
            }
            Instruction::BranchSignal { signal, .. } => {
                if let Some(used) = micro.tested {
                    let odd_only =
                        matches!(used.signal, SignalRef::Symbol(id) if self.odd_only[id]);
                    let odd = used.odd.unwrap_or(odd_only);
                    *signal = self.signal(used.signal) | u8::from(odd);
                }
            }
            _ => {}
        }
    }

    /// Returns the number of a signal.
    #[must_use]
    pub fn signal(&self, signal: SignalRef) -> u8 {
        match signal {
            SignalRef::Physical(number) => number,
            SignalRef::Symbol(id) => self.assignment.signal(id),
        }
    }

    /// Returns the bits of `ctx_arb` that wait for a signal: two for a pair.
    fn mask(&self, used: SignalUse) -> u16 {
        let number = self.signal(used.signal);
        match used.signal {
            // Bit 0 has a different meaning.
            _ if number == 0 => 0,
            _ if used.odd.is_some() => 1 << (number + u8::from(used.odd == Some(true))),
            SignalRef::Symbol(id) if self.odd_only[id] => 2 << number,
            SignalRef::Symbol(id) if self.symbols.signals[id].pair => 3 << number,
            _ => 1 << number,
        }
    }

    /// Returns the name that the source uses for an operand.
    fn shown(&self, micro: &Micro, operand: Operand) -> String {
        let variable = micro.slots.iter().find_map(|slot| match slot.value {
            OperandValue::Register(id) if self.assignment.registers[id] == Some(operand) => {
                Some(id)
            }
            _ => None,
        });
        variable.map_or_else(
            || operand.to_string(),
            |id| format!("`{}`", self.symbols.variables[id].name),
        )
    }

    fn value(
        &self,
        expression: &BoundExpression,
        place: SourcePlace,
        scope: usize,
    ) -> Result<i64, Diagnostic> {
        self.with_import(expression, place, scope, 0)
    }

    /// Evaluates an expression with `import` as the value of imports.
    fn with_import(
        &self,
        expression: &BoundExpression,
        place: SourcePlace,
        scope: usize,
        import: u32,
    ) -> Result<i64, Diagnostic> {
        constant::resolve(expression, place, |reference| {
            self.reference_value(reference, scope, |_| Ok(import))
        })
    }

    /// Returns the number that a name in an expression stands for.
    fn reference_value(
        &self,
        reference: &SymbolReference,
        scope: usize,
        import: impl FnOnce(&Token) -> Result<u32, Diagnostic>,
    ) -> Result<i64, Diagnostic> {
        Ok(match reference {
            SymbolReference::Number(number) => i64::from(*number),
            SymbolReference::Import(name) => i64::from(import(name)?),
            SymbolReference::Signal(signal) => i64::from(self.signal(*signal)),
            SymbolReference::Label(token) => {
                let item = self.labels.item(token, scope)?;
                i64::from(self.labels.address(item))
            }
            SymbolReference::Register(id) => match self.assignment.register(*id) {
                Operand::Gpr(_, n)
                | Operand::GprAbsolute(_, n)
                | Operand::STransfer(n)
                | Operand::DTransfer(n)
                | Operand::Nn(n) => i64::from(n),
                other => unreachable!("{other} is not an allocated register"),
            },
        })
    }

    /// Returns the final initial value of a register, with imports resolved to the given values;
    /// `None` for a register without a number, or if the value is in error and reported.
    pub fn initial(
        &self,
        initial: &Initial,
        imports: &[(String, u32)],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<InitialValue> {
        let register = match initial.register {
            InitialRegister::Physical(register) => register,
            InitialRegister::Symbolic(id) => self.assignment.registers[id]?,
        };
        match self.number(&initial.value, initial.place, initial.scope, imports) {
            Ok(value) => Some(InitialValue {
                register,
                context: initial.context,
                value,
            }),
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                None
            }
        }
    }

    /// Returns the initial value of a longword, like [`Self::initial`].
    pub fn longword(
        &self,
        first: &FirstLongword,
        imports: &[(String, u32)],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<InitialLongword> {
        match self.number(&first.value, first.place, first.scope, imports) {
            Ok(value) => Some(InitialLongword {
                space: first.space,
                address: first.address,
                value,
            }),
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn number(
        &self,
        value: &BoundExpression,
        place: SourcePlace,
        scope: usize,
        imports: &[(String, u32)],
    ) -> Result<u32, Diagnostic> {
        let import = |name: &Token| {
            let known = imports.iter().find(|(known, _)| **known == *name.text);
            known.map(|(_, value)| *value).ok_or_else(|| {
                SourcePlace::of(name)
                    .error(
                        codes::IMPORT_VALUE,
                        format!("the value of the import `{}` is not known here", name.text),
                    )
                    .note("An initial value is written before the loader fills in imports.")
                    .help("give the value with `--import NAME=VALUE` or `import` of the project file, or load it with `immed`")
            })
        };
        constant::resolve(value, place, |reference| {
            self.reference_value(reference, scope, import)
        })
        .and_then(|value| initial_value(value, place))
    }
}

fn set_target(instruction: &mut Instruction, address: u16) {
    match instruction {
        Instruction::Branch { target, .. }
        | Instruction::BranchCtx { target, .. }
        | Instruction::BranchSignal { target, .. }
        | Instruction::BranchInputState { target, .. }
        | Instruction::BranchBit { target, .. }
        | Instruction::BranchByte { target, .. } => *target = address,
        Instruction::Jump { base, .. } => *base = address,
        Instruction::CtxArb(arb) => arb.resume = Some(address),
        _ => {}
    }
}

fn set_value(
    instruction: &mut Instruction,
    kind: LateKind,
    number: i64,
    place: SourcePlace,
) -> Result<(), Diagnostic> {
    match (instruction, kind) {
        (
            Instruction::Immed {
                value,
                shift,
                invert,
                ..
            },
            LateKind::Immed,
        ) => (*value, *shift, *invert) = immed_form(number, place)?,
        (Instruction::Immed { value, .. } | Instruction::ImmedWord { value, .. }, _) => {
            *value = word_value(number, place)?;
        }
        (Instruction::ImmedByte { value, .. }, _) => *value = byte_value(number, place)?,
        (Instruction::CapFastWrite { data, .. }, _) => *data = cap_data(number, place)?,
        _ => {}
    }
    Ok(())
}

/// Converts an encoding error to a diagnostic at the offending operand.
fn explain(micro: &Micro, error: &EncodeError, shown: impl Fn(Operand) -> String) -> Diagnostic {
    let place = micro.place_of(error.operand);
    let (code, help) = match error.kind {
        EncodeErrorKind::NotInForm { .. } => (
            codes::RESTRICTED_OPERAND,
            "copy it with `alu[temp, --, B, x]` and use the copy here",
        ),
        EncodeErrorKind::NumberTooLarge {
            operand: Operand::Constant(_),
            ..
        } => (
            codes::CONSTANT_RANGE,
            "load the constant into a register with `immed` first",
        ),
        EncodeErrorKind::NumberTooLarge { .. } => (
            codes::RESTRICTED_OPERAND,
            "use a smaller number, or copy it first",
        ),
        EncodeErrorKind::BankConflict { .. } => (
            codes::BANK_CONFLICT,
            "copy one of the registers to the other bank first",
        ),
        EncodeErrorKind::PathConflict { .. } => (
            codes::PATH_CONFLICT,
            "copy one of them to a general-purpose register first",
        ),
        EncodeErrorKind::TwoConstants => (
            codes::TWO_CONSTANTS,
            "compute with parentheses at assembly time, or load one with `immed`",
        ),
        EncodeErrorKind::Missing => (codes::MISSING_OPERAND, "name an operand instead of `--`"),
        EncodeErrorKind::Unexpected { .. } => (codes::UNUSED_OPERAND, "write `--` here"),
        EncodeErrorKind::OutOfRange { .. } if error.operand == OperandRole::Defer => {
            (codes::DEFER_TOO_LARGE, "defer fewer instructions")
        }
        EncodeErrorKind::OutOfRange { .. } | EncodeErrorKind::Unaligned { .. } => {
            (codes::CONSTANT_RANGE, "use a value in the range")
        }
        EncodeErrorKind::OddSignal { .. } => (
            codes::SIGNAL_ODD,
            "use an even signal; the next odd one is raised too",
        ),
        EncodeErrorKind::NoSignal => (
            codes::COMMAND_WITHOUT_SIGNAL,
            "remove the signal; this command never raises one",
        ),
        EncodeErrorKind::WrongTransferKind => (
            codes::TRANSFER_KIND,
            "use a transfer register of the unit's own kind",
        ),
        EncodeErrorKind::UseInstead { .. } => (
            codes::USE_INSTEAD,
            "write the instruction that the word means",
        ),
        EncodeErrorKind::NotInGeneration(newer) => return place.newer_instruction(newer),
    };
    let text = error.to_string();
    let (_, reason) = text.split_once(": ").unwrap_or(("", &text));
    let reason = match error.kind {
        EncodeErrorKind::PathConflict { a, b } => {
            format!("{} and {} use the same read path", shown(a), shown(b))
        }
        _ => reason.to_owned(),
    };
    place
        .error(
            code,
            format!("{} of `{}`: {reason}", error.operand, micro.mnemonic),
        )
        .help(help)
}
