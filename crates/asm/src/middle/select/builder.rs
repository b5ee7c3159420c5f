//! Construction of a single instruction.

use npsim_isa::{
    Access, FlowClass, Form, Instruction as Template, MnemonicInfo, Operand, OperandRole, Operands,
    Shift, ShiftCount,
};

use super::Selector;
use super::values::OperandAccess as Use;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::constant;
use crate::front::parse::operand::{ShiftAmount, ShiftText, shift};
use crate::front::parse::run;
use crate::front::statement::{Instruction, OptionalToken, SourcePlace};
use crate::front::token::{Token, TokenKind};
use crate::middle::program::{
    Late, LateKind, Micro, OperandSlot, OperandValue, SignalRef, SignalUse, TransferOperand,
};
use crate::spelling::closest;
use crate::vocabulary::OPTIONAL_TOKENS;

/// The instruction under construction.
pub struct Builder<'s, 'a> {
    /// Symbols and output of the selection.
    pub selector: &'s mut Selector<'a>,
    /// The statement being translated.
    pub statement: &'s Instruction,
    taken: Vec<bool>,
    slots: Vec<OperandSlot>,
    places: Vec<(OperandRole, SourcePlace)>,
    /// The symbolic transfer operand.
    pub transfer: Option<TransferOperand>,
    /// `sig_done` or `ctx_swap`.
    pub completion: Option<SignalUse>,
    /// Signals of `ctx_arb`.
    pub waits: Vec<SignalUse>,
    /// Signal of `br_signal`.
    pub tested: Option<SignalUse>,
    /// Branch target or resume label.
    pub target: Option<Token>,
    /// `targets[...]`
    pub targets: Vec<Token>,
    /// A constant that is known late.
    pub late: Option<Late>,
    /// Whether `indirect_ref` may change the count.
    pub open_count: bool,
}

impl<'s, 'a> Builder<'s, 'a> {
    /// Creates a builder for a statement.
    pub fn new(selector: &'s mut Selector<'a>, statement: &'s Instruction) -> Self {
        Self {
            selector,
            statement,
            taken: vec![false; statement.options.len()],
            slots: Vec::new(),
            places: Vec::new(),
            transfer: None,
            completion: None,
            waits: Vec::new(),
            tested: None,
            target: None,
            targets: Vec::new(),
            late: None,
            open_count: false,
        }
    }

    /// Makes a `nop` that takes the place of an invalid instruction.
    pub fn stub(statement: &Instruction, scope: usize) -> Micro {
        Micro {
            mnemonic: statement.mnemonic.clone(),
            generated: statement.generated,
            statement: statement.statement,
            ..Micro::nop(statement.place, scope)
        }
    }

    /// Completes the instruction; all optional tokens must have been taken.
    pub fn finish(self, template: Template) -> Result<Micro, Diagnostic> {
        for (choice, taken) in self.statement.options.iter().zip(&self.taken) {
            if *taken {
                continue;
            }
            let names = OPTIONAL_TOKENS.iter().map(|word| word.name);
            let known = names.clone().any(|name| name == choice.name);
            let diagnostic = choice.place.error(
                codes::UNKNOWN_OPTION,
                if known {
                    format!(
                        "`{}` does not go with `{}`",
                        choice.name, self.statement.mnemonic
                    )
                } else {
                    format!("there is no optional token `{}`", choice.name)
                },
            );
            let near = closest(&choice.name, names).filter(|_| !known);
            return Err(match near {
                Some(near) => diagnostic
                    .help(format!("did you mean `{near}`?"))
                    .patch(choice.place.span, near),
                None => diagnostic.help("remove it"),
            });
        }
        Ok(Micro {
            template,
            slots: self.slots,
            places: self.places,
            transfer: self.transfer,
            completion: self.completion,
            waits: self.waits,
            tested: self.tested,
            target: self.target,
            targets: self.targets,
            late: self.late,
            place: self.statement.place,
            mnemonic: self.statement.mnemonic.clone(),
            scope: self.selector.scope,
            open_count: self.open_count,
            raw: self.statement.raw,
            generated: self.statement.generated,
            statement: self.statement.statement,
        })
    }

    /// Returns the instruction, with placeholders for values not yet known:
    /// from the table if its row describes everything, otherwise by hand, for
    /// options or operands specific to the instruction.
    pub fn template(&mut self, row: &'static MnemonicInfo) -> Result<Template, Diagnostic> {
        let form = &row.forms[0];
        if row.forms.iter().any(|form| form.flow == FlowClass::Command) {
            return self.command();
        }
        if let Some(make) = form.make {
            return Ok(make(&self.operands_of(form)?));
        }
        // The operand list of `ctx_arb` may have any length.
        if form.flow != FlowClass::Arbitration {
            let (least, most) = form.arity();
            self.arity(least, most)?;
        }
        match self.datapath(row.name)? {
            Some(template) => Ok(template),
            None => self.control(row.name),
        }
    }

    /// Returns the operands of a form that the table describes completely.
    fn operands_of(&mut self, form: &Form) -> Result<Operands, Diagnostic> {
        let (least, most) = form.arity();
        self.arity(least, most)?;
        let mut operands = Operands::default();
        for (index, operand) in form.operands.iter().enumerate() {
            let info = operand.info;
            let role = info.role;
            match (info.access, info.max) {
                (Access::Read, _) => operands.set(role, self.source(index, role)?),
                (Access::Write, _) => operands.set(role, self.dest(index)?),
                (Access::Both, _) => operands.set(role, self.modified(index)?),
                (Access::Text, Some(max)) => {
                    let number = self.number(index, role, 0..=i64::from(max), info.noun)?;
                    operands.set_number(info, number as u8);
                }
                (Access::Text, None) if role == OperandRole::Target => {
                    operands.target = self.branch_target(index)?;
                }
                (Access::Text, None) => operands.count = self.right_shift_count(index)?,
            }
        }
        if form.max_defer > 0 {
            operands.defer = self.defer()?;
        }
        if form.flow == FlowClass::Jump && form.operand(OperandRole::Target).is_some() {
            self.possible_targets()?;
        }
        Ok(operands)
    }

    /// Takes the `targets[...]` of a jump.
    fn possible_targets(&mut self) -> Result<(), Diagnostic> {
        let Some(choice) = self.option("targets") else {
            return Ok(());
        };
        for argument in &choice.arguments {
            let place = SourcePlace::of_all(argument).unwrap_or(choice.place);
            self.targets.push(Selector::label(argument, place)?);
        }
        Ok(())
    }

    /// Checks the number of operands.
    pub fn arity(&self, least: usize, most: usize) -> Result<(), Diagnostic> {
        let found = self.statement.operands.len();
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let wanted = if least == most {
            format!("{least}")
        } else {
            format!("{least} to {most}")
        };
        let plural = if most == 1 { "" } else { "s" };
        let diagnostic = self
            .statement
            .place
            .error(
                codes::OPERAND_COUNT,
                format!(
                    "`{}` takes {wanted} operand{plural} here, {found} given",
                    self.statement.mnemonic
                ),
            )
            .label("wrong number of operands");
        let adjacent = (found < least).then(|| self.adjacent_words()).flatten();
        Err(match adjacent {
            Some([before, after]) => diagnostic.help(format!(
                "is there a comma missing between `{}` and `{}`?",
                before.text, after.text
            )),
            None => match npsim_isa::mnemonic(&self.statement.mnemonic) {
                Some(info) => diagnostic.help(format!("the syntax is `{}`", info.syntax)),
                None => diagnostic,
            },
        })
    }

    /// Finds two adjacent names or numbers within an operand, as after a
    /// missing comma.
    fn adjacent_words(&self) -> Option<[&'s Token; 2]> {
        let word = |token: &Token| matches!(token.kind, TokenKind::Ident | TokenKind::Number(_));
        let mut pairs = self.statement.operands.iter().flat_map(|o| o.windows(2));
        let pair = pairs.find(|pair| pair.iter().all(word))?;
        Some([&pair[0], &pair[1]])
    }

    /// Returns the tokens of an operand; empty if it was not written.
    pub fn operand(&self, index: usize) -> &'s [Token] {
        self.statement
            .operands
            .get(index)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the place of an operand.
    pub fn place(&self, index: usize) -> SourcePlace {
        SourcePlace::of_all(self.operand(index)).unwrap_or(self.statement.place)
    }

    /// Returns the text of an operand without white space, in lower case.
    pub fn word(&self, index: usize) -> String {
        self.operand(index)
            .iter()
            .map(|token| token.text.to_ascii_lowercase())
            .collect()
    }

    /// Records the place of an operand.
    pub fn locate(&mut self, role: OperandRole, index: usize) {
        let place = self.place(index);
        self.places.push((role, place));
    }

    /// Records the place of an optional token.
    pub fn locate_at(&mut self, role: OperandRole, place: SourcePlace) {
        self.places.push((role, place));
    }

    /// Reads a source operand.
    pub fn source(&mut self, index: usize, role: OperandRole) -> Result<Operand, Diagnostic> {
        self.slot(index, role, Use::Read)
    }

    /// Reads a destination operand.
    pub fn dest(&mut self, index: usize) -> Result<Operand, Diagnostic> {
        self.slot(index, OperandRole::Dest, Use::Write)
    }

    /// Reads a destination operand that is partially kept.
    pub fn modified(&mut self, index: usize) -> Result<Operand, Diagnostic> {
        self.slot(index, OperandRole::Dest, Use::Modify)
    }

    fn slot(
        &mut self,
        index: usize,
        role: OperandRole,
        access: Use,
    ) -> Result<Operand, Diagnostic> {
        let place = self.place(index);
        let value = self.selector.value(self.operand(index), access, place)?;
        let operand = match &value {
            OperandValue::Physical(operand) => *operand,
            OperandValue::Register(_) | OperandValue::Constant(_) => Operand::None,
        };
        self.slots.push(OperandSlot {
            role,
            value,
            reads: access.reads(),
            writes: access.writes(),
            place,
        });
        Ok(operand)
    }

    /// Evaluates a constant operand that must be known at this point.
    pub fn number(
        &mut self,
        index: usize,
        role: OperandRole,
        range: std::ops::RangeInclusive<i64>,
        what: &str,
    ) -> Result<i64, Diagnostic> {
        self.locate(role, index);
        let place = self.place(index);
        self.selector
            .number(self.operand(index), range, what, place)
    }

    /// Evaluates a constant that may be known late; in that case, records its
    /// expression and returns `None`.
    pub fn late_number(&mut self, index: usize, kind: LateKind) -> Result<Option<i64>, Diagnostic> {
        self.locate(OperandRole::Value, index);
        let place = self.place(index);
        let expression = self.selector.expression(self.operand(index))?;
        if expression.references.is_empty() {
            return constant::evaluate(&expression.tokens, place).map(Some);
        }
        self.late = Some(Late { kind, expression });
        Ok(None)
    }

    /// Takes an optional token by name.
    pub fn option(&mut self, name: &str) -> Option<&'s OptionalToken> {
        let index = self
            .statement
            .options
            .iter()
            .zip(&self.taken)
            .position(|(choice, taken)| choice.name == name && !taken)?;
        self.taken[index] = true;
        Some(&self.statement.options[index])
    }

    /// Takes an optional token without arguments.
    pub fn flag(&mut self, name: &str) -> Result<bool, Diagnostic> {
        match self.option(name) {
            None => Ok(false),
            Some(choice) if choice.arguments.is_empty() => Ok(true),
            Some(choice) => Err(choice
                .place
                .error(codes::SYNTAX, format!("`{name}` takes nothing in brackets"))),
        }
    }

    /// Takes the first optional token for which `pick` returns a value.
    pub fn pick<T>(&mut self, pick: impl Fn(&str) -> Option<T>) -> Option<T> {
        for (choice, taken) in self.statement.options.iter().zip(&mut self.taken) {
            if let (Some(value), false) = (pick(&choice.name), *taken) {
                *taken = true;
                return Some(value);
            }
        }
        None
    }

    /// Returns the single argument of an optional token.
    pub fn argument(choice: &OptionalToken) -> Result<&[Token], Diagnostic> {
        match choice.arguments.as_slice() {
            [argument] => Ok(argument),
            _ => Err(choice.place.error(
                codes::SYNTAX,
                format!("`{}` takes one argument in brackets", choice.name),
            )),
        }
    }

    /// Takes `defer[n]`; 0 if it is not written. The encoder checks the
    /// instruction's own limit.
    pub fn defer(&mut self) -> Result<u8, Diagnostic> {
        let Some(choice) = self.option("defer") else {
            return Ok(0);
        };
        self.locate_at(OperandRole::Defer, choice.place);
        let tokens = Self::argument(choice)?;
        let slots = self.selector.constant(tokens, choice.place)?;
        u8::try_from(slots).ok().filter(|n| *n <= 3).ok_or_else(|| {
            choice
                .place
                .error(
                    codes::DEFER_TOO_LARGE,
                    format!("no instruction has {slots} defer slots"),
                )
                .note(
                    "A branch has at most 3 defer slots; br, ctx_arb and ctx_swap have at most 2.",
                )
                .help("use a smaller count")
        })
    }

    /// Reads a branch target.
    pub fn branch_target(&mut self, index: usize) -> Result<u16, Diagnostic> {
        self.locate(OperandRole::Target, index);
        let place = self.place(index);
        self.target = Some(Selector::label(self.operand(index), place)?);
        Ok(0)
    }

    /// Returns the number of a signal operand; 0 if it is symbolic.
    pub fn signal_number(used: SignalUse) -> u8 {
        match used.signal {
            SignalRef::Symbol(_) => 0,
            SignalRef::Physical(number) => number,
        }
    }

    fn shift_text(&self, index: usize) -> Result<ShiftText<'s>, Diagnostic> {
        let place = self.place(index);
        run(self.operand(index), shift).map_err(|_| {
            place
                .error(codes::SYNTAX, "expected a shift")
                .help("write `<<n`, `>>n`, `<<rotn`, `>>rotn`, `<<indirect` or `>>indirect`")
        })
    }

    fn shift_count(&mut self, index: usize, tokens: &[Token]) -> Result<u8, Diagnostic> {
        let place = self.place(index);
        self.selector
            .number(tokens, 0..=31, "a shift count", place)
            .map(|count| count as u8)
    }

    /// Reads a shift; [`Shift::None`] if it is not written.
    pub fn shift(&mut self, index: usize) -> Result<Shift, Diagnostic> {
        if self.operand(index).is_empty() {
            return Ok(Shift::None);
        }
        self.locate(OperandRole::Shift, index);
        if let [one] = self.operand(index)
            && one.kind == TokenKind::Number(0)
        {
            return Ok(Shift::None);
        }
        let text = self.shift_text(index)?;
        Ok(match text.count {
            ShiftAmount::Indirect if text.left => Shift::LeftIndirect,
            ShiftAmount::Indirect => Shift::RightIndirect,
            ShiftAmount::By(tokens) => match self.shift_count(index, tokens)? {
                0 => Shift::None,
                n if text.left => Shift::Left(n),
                n => Shift::Right(n),
            },
            ShiftAmount::Rotate(count) => {
                let count = u8::try_from(count).ok().filter(|n| *n < 32);
                rotation(text.left, count.ok_or_else(|| self.bad_rotation(index))?)
            }
            ShiftAmount::RotateBy(tokens) => rotation(text.left, self.shift_count(index, tokens)?),
        })
    }

    fn bad_rotation(&self, index: usize) -> Diagnostic {
        self.place(index)
            .error(codes::CONSTANT_RANGE, "a rotation is by 0 to 31 bits")
            .help("use a count from 0 to 31")
    }

    /// Reads the count of `asr` or `dbl_shf`.
    pub fn right_shift_count(&mut self, index: usize) -> Result<ShiftCount, Diagnostic> {
        self.locate(OperandRole::Shift, index);
        let text = self.shift_text(index)?;
        let place = self.place(index);
        if text.left {
            return Err(place
                .error(
                    codes::SYNTAX,
                    format!("`{}` shifts only to the right", self.statement.mnemonic),
                )
                .help("write `>>n` or `>>indirect`"));
        }
        match text.count {
            ShiftAmount::Indirect => Ok(ShiftCount::Indirect),
            ShiftAmount::By(tokens) => self
                .selector
                .number(tokens, 1..=31, "a shift count", place)
                .map(|count| ShiftCount::By(count as u8)),
            ShiftAmount::Rotate(_) | ShiftAmount::RotateBy(_) => Err(place
                .error(
                    codes::SYNTAX,
                    format!("`{}` does not rotate", self.statement.mnemonic),
                )
                .help("write `>>n` or `>>indirect`")),
        }
    }
}

fn rotation(left: bool, count: u8) -> Shift {
    match (left, count) {
        (_, 0) => Shift::None,
        (true, n) => Shift::RotateRight(32 - n),
        (false, n) => Shift::RotateRight(n),
    }
}
