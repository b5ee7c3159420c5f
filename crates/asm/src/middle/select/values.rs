//! Resolution of operands: registers, signals, constants, labels.

use npsim_isa::{Operand, msf_csr};

use super::Selector;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::constant;
use crate::front::parse::operand::{OperandForm, operand};
use crate::front::parse::run;
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind};
use crate::middle::program::{
    OperandValue, SignalId, SignalRef, SignalUse, SymbolReference, VariableId,
};
use crate::middle::scope::{Element, NameSpace, RegisterFile, physical_label, physical_signal};
use npsim_image::TransferDirection;
use npsim_isa::physical_register;

/// How an operand is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandAccess {
    /// The operand is only read.
    Read,
    /// The operand is only written.
    Write,
    /// The operand is read and written.
    Modify,
}

impl OperandAccess {
    /// Whether the old value is used.
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write)
    }

    /// Whether a new value is written.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// The variables accessed by reads and by writes through one name.
pub type Sides = (Option<VariableId>, Option<VariableId>);

impl Selector<'_> {
    /// Parses the syntactic form of an operand.
    pub fn form(tokens: &[Token], place: SourcePlace) -> Result<OperandForm<'_>, Diagnostic> {
        run(tokens, operand).map_err(|diagnostic| {
            diagnostic.unwrap_or_else(|| place.error(codes::SYNTAX, "an operand is missing"))
        })
    }

    /// Resolves a register or constant operand.
    pub fn value(
        &mut self,
        tokens: &[Token],
        access: OperandAccess,
        place: SourcePlace,
    ) -> Result<OperandValue, Diagnostic> {
        let constant = match Self::form(tokens, place)? {
            OperandForm::None => return Ok(OperandValue::Physical(Operand::None)),
            OperandForm::Indexed(operand) => return Ok(OperandValue::Physical(operand)),
            OperandForm::LocalMemory(pointer, offset) => {
                let offset = match offset {
                    None => 0,
                    Some(tokens) => self.number(tokens, 0..=15, "a local memory offset", place)?,
                };
                return Ok(OperandValue::Physical(Operand::LocalMemory {
                    pointer,
                    offset: offset as u8,
                }));
            }
            OperandForm::Name(name, index) => match self.named(name, index, access)? {
                Some(value) => return Ok(value),
                None => tokens,
            },
            OperandForm::Label(_) | OperandForm::Expression(_) => tokens,
        };
        if access.writes() {
            return Err(place
                .error(
                    codes::CONSTANT_DESTINATION,
                    "a constant cannot be a destination",
                )
                .help("write to a register, or to `--` to keep only the condition codes"));
        }
        let expression = self.expression(constant)?;
        if !expression.references.is_empty() {
            let import = expression.references.iter().find_map(|(_, r)| match r {
                SymbolReference::Import(name) => Some(name),
                _ => None,
            });
            if let Some(name) = import {
                return Err(place
                    .error(
                        codes::IMPORT_VALUE,
                        format!("the import `{}` can be used only in `immed`", name.text),
                    )
                    .note("The linker changes constants of `immed` and its relatives.")
                    .help("load it into a register with `immed` first"));
            }
            return Ok(OperandValue::Constant(expression));
        }
        let value = constant::evaluate(&expression.tokens, place)?;
        small_constant(value, place).map(OperandValue::Physical)
    }

    /// Resolves a name to a register; `None` if the name is a constant.
    fn named(
        &mut self,
        name: &Token,
        index: Option<&[Token]>,
        access: OperandAccess,
    ) -> Result<Option<OperandValue>, Diagnostic> {
        let place = SourcePlace::of(name);
        if let Some(element) = self.find(name, index, NameSpace::Register)? {
            return match element {
                Element::Signal(_) => Err(place
                    .error(
                        codes::SIGNAL_AS_REGISTER,
                        format!("`{}` is a signal, not a register", name.text),
                    )
                    .help(format!(
                        "write `&{}` for the number of the signal",
                        name.text
                    ))),
                Element::Register { read, write } => {
                    let id = self.side(name, read, write, access)?;
                    Ok(Some(OperandValue::Register(id)))
                }
            };
        }
        if index.is_none() {
            if let Some(operand) = physical_register(&name.text) {
                self.out.physical.push(operand);
                return Ok(Some(OperandValue::Physical(operand)));
            }
            if access == OperandAccess::Read && self.symbols.imports.contains_key(&*name.text) {
                return Ok(None);
            }
            if access == OperandAccess::Read && msf_csr::by_name(&name.text).is_some() {
                return Ok(None);
            }
        }
        Err(self.undefined_register(name))
    }

    /// Makes the diagnostic for an undeclared register name.
    pub fn undefined_register(&self, name: &Token) -> Diagnostic {
        let place = SourcePlace::of(name);
        let diagnostic = place
            .error(
                codes::UNDEFINED_REGISTER,
                format!("register `{}` is not declared", name.text),
            )
            .label("no such register in this scope");
        match self.similar(&name.text, NameSpace::Register) {
            Some(near) => {
                let near = near.to_owned();
                diagnostic
                    .help(format!("did you mean `{near}`?"))
                    .patch(place.span, near)
            }
            None => with_project_note(diagnostic, &name.text)
                .help(format!("declare it before: `.reg {}`", name.text)),
        }
    }

    /// Returns the variable accessed through a name.
    fn side(
        &self,
        name: &Token,
        read: Option<VariableId>,
        write: Option<VariableId>,
        access: OperandAccess,
    ) -> Result<VariableId, Diagnostic> {
        let (wanted, other) = if access == OperandAccess::Write {
            (write, read)
        } else {
            (read, write)
        };
        if let Some(id) = wanted {
            return Ok(id);
        }
        let (declared, done, kind, help) = if access == OperandAccess::Write {
            (
                "read",
                "written",
                "a write goes to the OUT register",
                "keep the value in a general-purpose register, or declare this one without `read` if a command is to send it",
            )
        } else {
            (
                "write",
                "read",
                "a read takes the IN register, which holds what a unit delivered, not what was written",
                "keep the value in a general-purpose register and read it there",
            )
        };
        let (why, mended) = self.one_sided(name, other, declared);
        let help = mended.unwrap_or_else(|| help.to_owned());
        let mut diagnostic = SourcePlace::of(name)
            .error(
                codes::TRANSFER_DIRECTION,
                format!("`{}` {why} and cannot be {done} here", name.text),
            )
            .note(format!(
                "A transfer number stands for two registers: {kind}."
            ))
            .help(help);
        if let Some(id) = other {
            let at = self.symbols.variables[id].place;
            diagnostic = diagnostic.also(at.span, at.expansion, "declared here");
        }
        Err(diagnostic)
    }

    /// Describes why a transfer register has only one side, and how to give it both if that needs
    /// no change to its own declaration.
    pub fn one_sided(
        &self,
        name: &Token,
        variable: Option<VariableId>,
        side: &str,
    ) -> (String, Option<String>) {
        match variable.and_then(|id| self.symbols.variables[id].implied_by) {
            Some(directive) => (
                format!("is named by `{directive}` alone, which makes it `{side}`,"),
                Some(format!("declare it before: `.reg {}`", name.text)),
            ),
            None => (format!("is declared `{side}`"), None),
        }
    }

    /// Looks up a name with an optional element number and marks it as used.
    pub fn find(
        &mut self,
        name: &Token,
        index: Option<&[Token]>,
        wanted: NameSpace,
    ) -> Result<Option<Element>, Diagnostic> {
        // The number may be part of the name of a transfer register.
        if !self.symbols.is_declared(self.scope, &name.text)
            && !RegisterFile::of(&name.text).is_transfer()
        {
            return Ok(None);
        }
        let index = match index {
            None => None,
            Some(tokens) => Some(constant::evaluate(tokens, SourcePlace::of(name))?),
        };
        let element = self.symbols.element(self.scope, name, index, wanted)?;
        if let Some(element) = element {
            self.symbols.mark(element);
        }
        Ok(element)
    }

    /// Resolves a signal operand.
    pub fn signal(
        &mut self,
        tokens: &[Token],
        place: SourcePlace,
    ) -> Result<SignalUse, Diagnostic> {
        let form = Self::form(tokens, place)?;
        if let OperandForm::Name(name, Some(index)) = form
            && let Some((id, odd)) = self.half(name, index)?
        {
            return Ok(SignalUse {
                signal: SignalRef::Symbol(id),
                odd: Some(odd),
                place,
            });
        }
        let signal = match form {
            OperandForm::Name(name, index) => match self.find(name, index, NameSpace::Signal)? {
                Some(Element::Signal(id)) => SignalRef::Symbol(id),
                Some(Element::Register { .. }) => {
                    return Err(place
                        .error(
                            codes::REGISTER_AS_SIGNAL,
                            format!("`{}` is a register, not a signal", name.text),
                        )
                        .help("name a signal declared with `.sig`"));
                }
                None => match physical_signal(&name.text) {
                    Some(number) if index.is_none() => {
                        self.out.physical_signals.push(number);
                        SignalRef::Physical(number)
                    }
                    _ => return Err(self.undefined_signal(name)),
                },
            },
            _ => {
                return Err(place
                    .error(codes::SYNTAX, "expected a signal")
                    .help("name a signal declared with `.sig`"));
            }
        };
        Ok(SignalUse {
            signal,
            odd: None,
            place,
        })
    }

    /// Resolves `s[0]` or `s[1]`, where `s` is not declared as an array, to a signal of a pair.
    /// Also returns whether it is the second, odd one.
    pub fn half(
        &mut self,
        name: &Token,
        index: &[Token],
    ) -> Result<Option<(SignalId, bool)>, Diagnostic> {
        let found = self
            .symbols
            .found_as(self.scope, &name.text, None, NameSpace::Signal);
        let Some(entry) = found.map(|found| found.entry).filter(|entry| !entry.array) else {
            return Ok(None);
        };
        let &[Element::Signal(id)] = entry.elements.as_slice() else {
            return Ok(None);
        };
        let place = SourcePlace::of(name);
        let number = constant::evaluate(index, place)?;
        if !(0..=1).contains(&number) {
            let message = format!(
                "`{}` is one signal or a pair and has no signal {number}",
                name.text
            );
            return Err(place.error(codes::ARRAY_BOUNDS, message).help(format!(
                "the signals of a pair are 0 and 1; `.sig {}[n]` declares more",
                name.text
            )));
        }
        let signal = &mut self.symbols.signals[id];
        signal.used = true;
        signal.half.get_or_insert(place);
        Ok(Some((id, number == 1)))
    }

    fn undefined_signal(&self, name: &Token) -> Diagnostic {
        let place = SourcePlace::of(name);
        let diagnostic = place
            .error(
                codes::UNDEFINED_SIGNAL,
                format!("signal `{}` is not declared", name.text),
            )
            .label("no such signal in this scope");
        match self.similar(&name.text, NameSpace::Signal) {
            Some(near) => {
                let near = near.to_owned();
                diagnostic
                    .help(format!("did you mean `{near}`?"))
                    .patch(place.span, near)
            }
            None => diagnostic.help(format!("declare it before: `.sig {}`", name.text)),
        }
    }

    /// Evaluates a constant that must be known at this point and lie in a range.
    pub fn number(
        &mut self,
        tokens: &[Token],
        range: std::ops::RangeInclusive<i64>,
        what: &str,
        place: SourcePlace,
    ) -> Result<i64, Diagnostic> {
        let value = self.constant(tokens, place)?;
        in_range(value, range, what, place)
    }

    /// Evaluates a constant that must be known at this point.
    pub fn constant(&mut self, tokens: &[Token], place: SourcePlace) -> Result<i64, Diagnostic> {
        let expression = self.expression(tokens)?;
        if !expression.references.is_empty() {
            return Err(place.error(
                codes::LATE_CONSTANT,
                "this field needs a constant that is known before registers and labels are placed",
            )
            .help("use a number here; `&name` and labels can be used in register operands and in `immed`"));
        }
        constant::evaluate(&expression.tokens, place)
    }

    /// Reads a label operand.
    pub fn label(tokens: &[Token], place: SourcePlace) -> Result<Token, Diagnostic> {
        match tokens {
            [token] if token.kind == TokenKind::Label => Ok(token.clone()),
            [token] if token.kind == TokenKind::Ident && physical_label(&token.text).is_some() => {
                Ok(token.clone())
            }
            [token] if token.kind == TokenKind::Ident => Err(place
                .error(
                    codes::SYNTAX,
                    format!("expected a label, found `{}`", token.text),
                )
                .help(format!("labels end with `#`: `{}#`", token.text))
                .patch(place.span, format!("{}#", token.text))),
            _ => Err(place
                .error(codes::SYNTAX, "expected a label")
                .help("labels end with `#`, such as `loop#`")),
        }
    }

    /// Returns the transfer variables denoted by a name with an optional element.
    pub fn transfer_sides(
        &mut self,
        name: &Token,
        index: Option<&[Token]>,
    ) -> Result<Option<Sides>, Diagnostic> {
        match self.find(name, index, NameSpace::Register)? {
            Some(Element::Register { read, write }) => {
                let transfer = [read, write]
                    .into_iter()
                    .flatten()
                    .all(|id| self.symbols.variables[id].space.is_transfer());
                if transfer {
                    return Ok(Some((read, write)));
                }
                Err(not_transfer(name))
            }
            Some(Element::Signal(_)) => Err(not_transfer(name)),
            None => Ok(None),
        }
    }
}

/// Returns the variables of a name in a directive, restricted to one direction.
pub fn variables_in_direction(element: Element, direction: TransferDirection) -> Vec<VariableId> {
    let Element::Register { read, write } = element else {
        return Vec::new();
    };
    let mut variables: Vec<VariableId> = match direction {
        TransferDirection::Read => read.into_iter().collect(),
        TransferDirection::Write => write.into_iter().collect(),
        TransferDirection::Both => read.into_iter().chain(write).collect(),
    };
    variables.dedup();
    variables
}

/// Adds a note for names in capitals, which projects often define.
pub(super) fn with_project_note(diagnostic: Diagnostic, name: &str) -> Diagnostic {
    let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(capital) {
        return diagnostic
            .note("Rings, counters, queues and memories get their names from the project file.");
    }
    diagnostic
}

fn not_transfer(name: &Token) -> Diagnostic {
    SourcePlace::of(name)
        .error(
            codes::NOT_A_TRANSFER_REGISTER,
            format!("`{}` is not a transfer register", name.text),
        )
        .note("Memory units reach only transfer registers, whose names begin with `$` or `$$`.")
        .help(format!(
            "declare and use `${}`",
            name.text.trim_start_matches('@')
        ))
}

/// Checks that a constant lies in a range.
fn in_range(
    value: i64,
    range: std::ops::RangeInclusive<i64>,
    what: &str,
    place: SourcePlace,
) -> Result<i64, Diagnostic> {
    let (least, most) = (range.start(), range.end());
    if range.contains(&value) {
        return Ok(value);
    }
    let message = format!("{what} of {value} is out of range: {least} to {most}");
    Err(place
        .error(codes::CONSTANT_RANGE, message)
        .help(format!("use a value from {least} to {most}")))
}

/// Checks a constant as the initial value of a register: 32 bits, signed or unsigned.
pub fn initial_value(value: i64, place: SourcePlace) -> Result<u32, Diagnostic> {
    let range = i64::from(i32::MIN)..=i64::from(u32::MAX);
    in_range(value, range, "an initial value", place).map(|value| value as u32)
}

/// Checks a constant as a register operand.
pub fn small_constant(value: i64, place: SourcePlace) -> Result<Operand, Diagnostic> {
    u8::try_from(value).map(Operand::Constant).map_err(|_| {
        place
            .error(
                codes::CONSTANT_RANGE,
                format!("the constant {value} does not fit an operand: 0 to 255"),
            )
            .label("needs more than 8 bits")
            .help(match value {
                -65536..=65535 => format!(
                    "load it into a register first: `immed[reg, {:#x}]`{}",
                    value & 0xffff_ffff,
                    if (-255..0).contains(&value) {
                        format!("; or subtract {} instead of adding this", -value)
                    } else {
                        String::new()
                    }
                ),
                _ => format!(
                    "load it into a register first: `immed[reg, {:#x}]` and `immed_w1[reg, {:#x}]`",
                    value & 0xffff,
                    value >> 16 & 0xffff
                ),
            })
    })
}
