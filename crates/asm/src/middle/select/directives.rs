//! Directives other than declarations and initial values.

use npsim_isa::Bank;

use super::values::variables_in_direction;
use super::{Selector, TransferOrder};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{DirectiveName, HintDirective, ProgramDirective};
use crate::front::constant;
use crate::front::statement::{Directive, SourcePlace};
use crate::front::token::{Token, TokenKind};
use crate::middle::program::{Hint, Item, Side, SignalRef, SubroutineMark, VariableId, cell};
use crate::middle::scope::{Element, NameSpace, RegisterFile};
use npsim_image::{ContextMode, NnMode, TransferDirection};
use npsim_isa::physical_register;

/// The kind of symbol that a numbering directive applies to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbered {
    /// A register, with its bank if it has one, or a signal.
    Any,
    /// A general-purpose register in this bank.
    In(Bank),
    /// A register, with its bank if it has one.
    Register,
}

/// A name in a directive, with the tokens of its index.
struct NamedSymbol<'t> {
    name: &'t Token,
    index: Option<&'t [Token]>,
}

impl Selector<'_> {
    /// Carries out a directive.
    pub fn directive(&mut self, directive: &Directive) -> Result<(), Diagnostic> {
        match directive.name {
            DirectiveName::Hint(name) => self.hint_directive(directive, name),
            DirectiveName::Program(name) => self.program_directive(directive, name),
            // Earlier stages have carried these out.
            DirectiveName::Scope(_)
            | DirectiveName::Declaration(_)
            | DirectiveName::Rewrite(_)
            | DirectiveName::Structured(_) => Ok(()),
        }
    }

    fn hint_directive(
        &mut self,
        directive: &Directive,
        name: HintDirective,
    ) -> Result<(), Diagnostic> {
        match name {
            HintDirective::Set => self.hint(directive, TransferDirection::Both, true),
            HintDirective::SetRd => self.hint(directive, TransferDirection::Read, true),
            HintDirective::SetWr => self.hint(directive, TransferDirection::Write, true),
            HintDirective::Use => self.hint(directive, TransferDirection::Both, false),
            HintDirective::UseRd => self.hint(directive, TransferDirection::Read, false),
            HintDirective::UseWr => self.hint(directive, TransferDirection::Write, false),
            HintDirective::SetSig => self.signal_hint(directive, true),
            HintDirective::IoCompleted => self.signal_hint(directive, false),
            HintDirective::Reentry => {
                self.mark(SubroutineMark::Reentry);
                Ok(())
            }
        }
    }

    fn program_directive(
        &mut self,
        directive: &Directive,
        name: ProgramDirective,
    ) -> Result<(), Diagnostic> {
        match name {
            ProgramDirective::Subroutine => {
                self.mark(SubroutineMark::Begin(directive.place));
                Ok(())
            }
            ProgramDirective::Endsub => {
                self.mark(SubroutineMark::End(directive.place));
                Ok(())
            }
            ProgramDirective::XferOrder => self.order(directive, TransferDirection::Both),
            ProgramDirective::XferOrderRd => self.order(directive, TransferDirection::Read),
            ProgramDirective::XferOrderWr => self.order(directive, TransferDirection::Write),
            ProgramDirective::Addr => self.address(directive, Numbered::Any),
            ProgramDirective::Areg => self.address(directive, Numbered::In(Bank::A)),
            ProgramDirective::Breg => self.address(directive, Numbered::In(Bank::B)),
            ProgramDirective::RegAddr => self.address(directive, Numbered::Register),
            ProgramDirective::NumContexts => self.contexts(directive),
            ProgramDirective::InitNnMode => self.nn_mode(directive),
            ProgramDirective::Init => self.init(directive, false),
            ProgramDirective::InitCtx => self.init(directive, true),
            ProgramDirective::Assert => Self::assertion(directive),
        }
    }

    fn mark(&mut self, mark: SubroutineMark) {
        self.out.items.push(Item::Hint(Hint {
            mark: Some(mark),
            ..Hint::default()
        }));
    }

    /// Returns the names of a directive, separated by spaces or commas.
    fn items(directive: &Directive) -> Result<Vec<NamedSymbol<'_>>, Diagnostic> {
        let mut items = Vec::new();
        let mut rest = directive.arguments.as_slice();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            if first.is(",") {
                continue;
            }
            if first.kind != TokenKind::Ident {
                return Err(SourcePlace::of(first).error(
                    codes::SYNTAX,
                    format!("expected a name, found `{}`", first.text),
                ));
            }
            let mut index = None;
            if rest.first().is_some_and(|token| token.is("[")) {
                let Some(close) = rest.iter().position(|token| token.is("]")) else {
                    return Err(SourcePlace::of(first).error(codes::SYNTAX, "expected `]`"));
                };
                index = Some(&rest[1..close]);
                rest = &rest[close + 1..];
            }
            items.push(NamedSymbol { name: first, index });
        }
        if items.is_empty() {
            return Err(directive.place.error(
                codes::SYNTAX,
                format!("`{}` names nothing", directive.spelling),
            ));
        }
        Ok(items)
    }

    /// Returns the elements that an item denotes: one, or all elements of an array.
    fn elements(
        &mut self,
        item: &NamedSymbol<'_>,
        wanted: NameSpace,
    ) -> Result<Vec<Element>, Diagnostic> {
        if item.index.is_none()
            && let Some(entry) = self.symbols.lookup(self.scope, &item.name.text, wanted)
        {
            let elements = entry.elements.clone();
            for element in &elements {
                self.symbols.mark(*element);
            }
            return Ok(elements);
        }
        match self.find(item.name, item.index, wanted)? {
            Some(element) => Ok(vec![element]),
            None => Err(self.undefined_register(item.name)),
        }
    }

    fn order(
        &mut self,
        directive: &Directive,
        direction: TransferDirection,
    ) -> Result<(), Diagnostic> {
        let mut sides: [Vec<VariableId>; 2] = [Vec::new(), Vec::new()];
        for item in Self::items(directive)? {
            let place = SourcePlace::of(item.name);
            for element in self.elements(&item, NameSpace::Register)? {
                let Element::Register { read, write } = element else {
                    return Err(place.error(
                        codes::NOT_A_TRANSFER_REGISTER,
                        format!("`{}` is a signal", item.name.text),
                    ));
                };
                for (side, id) in [read, write].into_iter().enumerate() {
                    let Some(id) = id else { continue };
                    if !self.symbols.variables[id].space.is_transfer() {
                        return Err(place
                            .error(
                                codes::NOT_A_TRANSFER_REGISTER,
                                format!("`{}` is not a transfer register", item.name.text),
                            )
                            .help("only transfer registers have an order"));
                    }
                    let wanted = match direction {
                        TransferDirection::Both => true,
                        TransferDirection::Read => side == 0,
                        TransferDirection::Write => side == 1,
                    };
                    if wanted {
                        sides[side].push(id);
                    }
                }
            }
        }
        // A name without a direction is a single variable, in both lists.
        let [read, write] = sides;
        let mut lists = vec![read];
        if lists[0] != write {
            lists.push(write);
        }
        for variables in lists {
            let space = variables
                .first()
                .map(|&id| self.symbols.variables[id].space);
            if let Some(&odd) = variables
                .iter()
                .find(|&&id| Some(self.symbols.variables[id].space) != space)
            {
                return Err(directive
                    .place
                    .error(
                        codes::TRANSFER_ORDER,
                        format!(
                            "`{}` is in another register file than the first name",
                            self.symbols.variables[odd].name
                        ),
                    )
                    .help("order `$` and `$$` registers in separate directives"));
            }
            if variables.len() > 1 {
                self.out.orders.push(TransferOrder {
                    variables,
                    place: directive.place,
                });
            }
        }
        Ok(())
    }

    fn hint(
        &mut self,
        directive: &Directive,
        direction: TransferDirection,
        set: bool,
    ) -> Result<(), Diagnostic> {
        let mut hint = Hint {
            place: Some(directive.place),
            ..Hint::default()
        };
        for item in Self::items(directive)? {
            if !self.symbols.is_declared(self.scope, &item.name.text)
                && physical_register(&item.name.text).is_some()
            {
                continue;
            }
            for element in self.elements(&item, NameSpace::Register)? {
                if let Element::Signal(id) = element {
                    return Err(SourcePlace::of(item.name)
                        .error(
                            codes::SIGNAL_AS_REGISTER,
                            format!("`{}` is a signal", self.symbols.signals[id].name),
                        )
                        .help("use `.set_sig` or `.io_completed` for signals"));
                }
                for id in variables_in_direction(element, direction) {
                    self.hint_cells(&mut hint, id, direction, set);
                }
            }
        }
        self.out.items.push(Item::Hint(hint));
        Ok(())
    }

    fn hint_cells(
        &mut self,
        hint: &mut Hint,
        id: VariableId,
        direction: TransferDirection,
        set: bool,
    ) {
        let variable = &mut self.symbols.variables[id];
        let both = variable.direction == TransferDirection::Both;
        let transfer = variable.space.is_transfer();
        let input = !transfer
            || direction != TransferDirection::Write
                && variable.direction != TransferDirection::Write;
        let output = transfer
            && direction != TransferDirection::Read
            && variable.direction != TransferDirection::Read;
        if !set {
            if input {
                hint.uses.push(cell(id, Side::In));
            }
            if output {
                hint.uses.push(cell(id, Side::Out));
            }
            return;
        }
        // A transfer register filled by other means may change at any time, so no other variable
        // may share it.
        if transfer {
            variable.private = true;
        }
        if input {
            hint.sets.push(cell(id, Side::In));
        }
        if output && !(both && direction == TransferDirection::Both) {
            hint.sets.push(cell(id, Side::Out));
        }
    }

    /// Handles `.set_sig` (signals are raised) and `.io_completed` (commands are done).
    fn signal_hint(&mut self, directive: &Directive, raised: bool) -> Result<(), Diagnostic> {
        let mut hint = Hint {
            place: Some(directive.place),
            ..Hint::default()
        };
        for item in Self::items(directive)? {
            if let Some(index) = item.index
                && let Some((id, _)) = self.half(item.name, index)?
            {
                // A hint about one signal of a pair applies to its command.
                self.push_signal(&mut hint, raised, SignalRef::Symbol(id));
                continue;
            }
            if item.index.is_none() && !self.symbols.is_declared(self.scope, &item.name.text) {
                let tokens = std::slice::from_ref(item.name);
                let used = self.signal(tokens, SourcePlace::of(item.name))?;
                self.push_signal(&mut hint, raised, used.signal);
                continue;
            }
            for element in self.elements(&item, NameSpace::Signal)? {
                let Element::Signal(id) = element else {
                    return Err(SourcePlace::of(item.name)
                        .error(
                            codes::REGISTER_AS_SIGNAL,
                            format!("`{}` is a register, not a signal", item.name.text),
                        )
                        .help("name a signal declared with `.sig`"));
                };
                self.push_signal(&mut hint, raised, SignalRef::Symbol(id));
            }
        }
        self.out.items.push(Item::Hint(hint));
        Ok(())
    }

    fn push_signal(&mut self, hint: &mut Hint, raised: bool, signal: SignalRef) {
        if raised {
            if let SignalRef::Symbol(id) = signal {
                self.symbols.signals[id].private = true;
            }
            hint.raised.push(signal);
        } else {
            hint.completed.push(signal);
        }
    }

    /// Handles `.addr name number [A|B]` and related directives.
    fn address(&mut self, directive: &Directive, about: Numbered) -> Result<(), Diagnostic> {
        let arguments: Vec<Token> = directive
            .arguments
            .iter()
            .filter(|token| !token.is(","))
            .cloned()
            .collect();
        let malformed = || {
            directive
                .place
                .error(
                    codes::SYNTAX,
                    format!("`{}` needs a name and a number", directive.spelling),
                )
                .help(match about {
                    Numbered::Register => "write `.reg_addr name number A` or `B`",
                    Numbered::Any | Numbered::In(_) => "write the name, then the number",
                })
        };
        let (name, index, rest) = match &*arguments {
            [name, open, rest @ ..] if open.is("[") => {
                let Some(close) = rest.iter().position(|token| token.is("]")) else {
                    return Err(malformed());
                };
                (name, Some(&rest[..close]), &rest[close + 1..])
            }
            [name, rest @ ..] => (name, None, rest),
            [] => return Err(malformed()),
        };
        let Some(number) = rest.first() else {
            return Err(malformed());
        };
        let given = rest.get(1).map(|token| token.text.to_ascii_uppercase());
        let bank = match (about, given.as_deref()) {
            (Numbered::In(bank), None) => Some(bank),
            (Numbered::Any | Numbered::Register, Some("A")) => Some(Bank::A),
            (Numbered::Any | Numbered::Register, Some("B")) => Some(Bank::B),
            (Numbered::Any | Numbered::Register, None) => None,
            (_, Some(_)) => return Err(malformed()),
        };
        let place = SourcePlace::of(number);
        // Without a bank, the number may be that of a signal.
        let wanted = if bank.is_none() && about != Numbered::Register {
            NameSpace::Signal
        } else {
            NameSpace::Register
        };
        let Some(element) = self.find(name, index, wanted)? else {
            return Err(self.undefined_register(name));
        };
        let value = std::slice::from_ref(number);
        match element {
            Element::Signal(id) => {
                let number = self.number(value, 1..=15, "a signal number", place)? as u8;
                let before = self.symbols.signals[id].fixed.replace(number);
                let shown = |number: u8| number.to_string();
                let before = before.map(shown);
                self.asked(element, before.as_deref(), &shown(number), directive, name)?;
            }
            Element::Register { .. } => {
                let mut asked = None;
                for id in variables_in_direction(element, TransferDirection::Both) {
                    let space = self.symbols.variables[id].space;
                    let limit = if space == RegisterFile::Absolute {
                        127
                    } else {
                        31
                    };
                    let gpr = matches!(space, RegisterFile::Gpr | RegisterFile::Absolute);
                    if gpr && bank.is_none() {
                        return Err(directive
                            .place
                            .error(
                                codes::SYNTAX,
                                format!(
                                    "`{}` needs a bank for `{}`",
                                    directive.spelling, name.text
                                ),
                            )
                            .help("use `.areg` or `.breg`, or add `A` or `B`"));
                    }
                    let number = self.number(value, 0..=limit, "a register number", place)? as u8;
                    let fixed = (bank.filter(|_| gpr), number);
                    let before = self.symbols.variables[id].fixed.replace(fixed);
                    let shown = |(bank, number): (Option<Bank>, u8)| match bank {
                        Some(bank) => format!("{bank:?}{number}"),
                        None => number.to_string(),
                    };
                    asked = Some((before.map(shown), shown(fixed)));
                }
                if let Some((before, number)) = asked {
                    self.asked(element, before.as_deref(), &number, directive, name)?;
                }
            }
        }
        Ok(())
    }

    /// Records a directive that requires a number for a name, and reports conflicts with an earlier
    /// one.
    fn asked(
        &mut self,
        element: Element,
        before: Option<&str>,
        number: &str,
        directive: &Directive,
        name: &Token,
    ) -> Result<(), Diagnostic> {
        let place = SourcePlace::of(name);
        let first = { self.numbered.iter() }.find(|(known, _)| *known == element);
        let (Some(before), Some(&(_, first))) = (before, first) else {
            self.numbered.push((element, place));
            return Ok(());
        };
        let spelling = directive.spelling;
        if before == number {
            self.diagnostics.push(
                place
                    .warning(
                        codes::DECLARED_TWICE,
                        format!("`{}` gets the number {number} twice", name.text),
                    )
                    .also(first.span, first.expansion, "first here")
                    .help(format!("remove this `{spelling}`")),
            );
            return Ok(());
        }
        Err(place
            .error(
                codes::ADDRESS_TAKEN,
                format!(
                    "`{}` has the number {before} and cannot have {number} too",
                    name.text
                ),
            )
            .also(first.span, first.expansion, "it gets its number here")
            .help("remove one of the directives, or name another register in one of them"))
    }

    fn contexts(&mut self, directive: &Directive) -> Result<(), Diagnostic> {
        let contexts = constant::evaluate(&directive.arguments, directive.place)?;
        self.out.contexts = ContextMode::with_contexts(contexts).ok_or_else(|| {
            let meant = if contexts <= 4 { "4" } else { "8" };
            let number = SourcePlace::of_all(&directive.arguments).unwrap_or(directive.place);
            directive
                .place
                .error(
                    codes::CONSTANT_RANGE,
                    format!("a microengine cannot run with {contexts} contexts"),
                )
                .note("A microengine runs with 4 or 8 contexts.")
                .help(format!("write `{} {meant}`", directive.spelling))
                .patch(number.span, meant)
        })?;
        Ok(())
    }

    fn nn_mode(&mut self, directive: &Directive) -> Result<(), Diagnostic> {
        let word = directive
            .arguments
            .first()
            .map_or_else(String::new, |token| token.text.to_ascii_lowercase());
        self.out.nn_mode = match word.as_str() {
            "neighbor" | "neighbour" => NnMode::Neighbor,
            "self" => NnMode::Own,
            _ => {
                return Err(directive
                    .place
                    .error(
                        codes::SYNTAX,
                        format!("`{word}` is not a next-neighbour mode"),
                    )
                    .help("write `.init_nn_mode neighbor` or `.init_nn_mode self`"));
            }
        };
        Ok(())
    }

    fn assertion(directive: &Directive) -> Result<(), Diagnostic> {
        let (message, expression) = match directive.arguments.split_last() {
            Some((last, rest)) if matches!(last.kind, TokenKind::Str | TokenKind::Quoted) => {
                let rest = rest
                    .split_last()
                    .filter(|(token, _)| token.is(","))
                    .map_or(rest, |(_, rest)| rest);
                (Some(last.text.clone()), rest)
            }
            _ => (None, directive.arguments.as_slice()),
        };
        if constant::evaluate(expression, directive.place)? != 0 {
            return Ok(());
        }
        let place = SourcePlace::of_all(expression).unwrap_or(directive.place);
        Err(place
            .error(
                codes::ASSERTION_FAILED,
                match message {
                    Some(message) => format!("assertion failed: {message}"),
                    None => "assertion failed".to_owned(),
                },
            )
            .label("this is 0")
            .help("the source requires this condition to hold; change one of the values in it"))
    }
}
