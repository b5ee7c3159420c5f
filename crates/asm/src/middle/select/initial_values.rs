//! Initial values of registers and memory: `.init`, `.init_ctx`.

use super::values::initial_value;
use super::{FirstLongword, Initial, InitialRegister, Selector};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::constant;
use crate::front::statement::{Directive, SourcePlace};
use crate::front::token::{Nesting, NestingEvent, Token, TokenKind};
use crate::middle::scope::{Element, NameSpace};
use npsim_image::MemorySymbol;
use npsim_isa::physical_register;

impl Selector<'_> {
    /// Handles `.init register value`, or `.init_ctx` with a context before the register.
    pub(super) fn init(
        &mut self,
        directive: &Directive,
        in_one_context: bool,
    ) -> Result<(), Diagnostic> {
        let mut arguments: Vec<Token> = directive
            .arguments
            .iter()
            .filter(|token| !token.is(","))
            .cloned()
            .collect();
        let mut context = None;
        if in_one_context && !arguments.is_empty() {
            let first = arguments.remove(0);
            let place = SourcePlace::of(&first);
            let number = self.number(
                std::slice::from_ref(&first),
                0..=7,
                "a context number",
                place,
            )?;
            context = Some(number as u8);
        }
        let Some((name, mut rest)) = arguments.split_first() else {
            return Err(directive
                .place
                .error(
                    codes::SYNTAX,
                    format!("`{}` needs a register and a value", directive.spelling),
                )
                .help("write `.init register value` or `.init memory+offset value`"));
        };
        if let Some(memory) = self.inputs.memory(name) {
            let (memory, name) = (memory.clone(), name.clone());
            return self.init_memory(directive, &memory, &name, rest, context);
        }
        let mut index = None;
        if rest.first().is_some_and(|token| token.is("["))
            && let Some(close) = rest.iter().position(|token| token.is("]"))
        {
            index = Some(&rest[1..close]);
            rest = &rest[close + 1..];
        }
        // An offset after a name refers to memory.
        let distance =
            { rest.first() }.is_some_and(|sign| sign.joined && (sign.is("+") || sign.is("-")));
        if distance && self.find(name, None, NameSpace::Register)?.is_none() {
            return Err(SourcePlace::of(name)
                .error(
                    codes::UNDEFINED_REGISTER,
                    format!("`{}` has initial values, but is not a memory", name.text),
                )
                .label("neither a register nor a memory")
                .note(format!(
                    "No `[[memory]]` of the project has the name `{}`; without a project there are no memories.",
                    name.text
                ))
                .help("add a `[[memory]]` of this name to the project file that runs the source"));
        }
        let place = SourcePlace::of_all(rest).unwrap_or(directive.place);
        let value = self.expression(rest)?;
        if value.references.is_empty() {
            initial_value(constant::evaluate(&value.tokens, place)?, place)?;
        }
        let register = match self.find(name, index, NameSpace::Register)? {
            Some(Element::Register { read, write }) => {
                let Some(variable) = read.or(write) else {
                    return Ok(());
                };
                self.symbols.variables[variable].initialised = true;
                InitialRegister::Symbolic(variable)
            }
            Some(Element::Signal(_)) => {
                return Err(SourcePlace::of(name)
                    .error(
                        codes::SIGNAL_AS_REGISTER,
                        format!("`{}` is a signal", name.text),
                    )
                    .help("only registers have initial values"));
            }
            None => match physical_register(&name.text) {
                Some(register) if index.is_none() => InitialRegister::Physical(register),
                _ => return Err(self.undefined_register(name)),
            },
        };
        self.out.initial.push(Initial {
            register,
            context,
            value,
            place,
            scope: self.scope,
        });
        Ok(())
    }

    /// Handles `.init NAME+8 value`: the initial value of a longword of the project's memory.
    fn init_memory(
        &mut self,
        directive: &Directive,
        memory: &MemorySymbol,
        name: &Token,
        rest: &[Token],
        context: Option<u8>,
    ) -> Result<(), Diagnostic> {
        let (distance, value) = rest.split_at(distance(rest));
        let place = SourcePlace::of(name);
        if context.is_some() {
            return Err(place
                .error(
                    codes::SYNTAX,
                    format!("`{}` is memory, which all contexts share", memory.name),
                )
                .help("write `.init` without a context"));
        }
        let zero = Token {
            kind: TokenKind::Number(0),
            text: "0".into(),
            ..name.clone()
        };
        let sum: Vec<Token> = std::iter::once(&zero).chain(distance).cloned().collect();
        let offset_place = SourcePlace::of_all(distance).unwrap_or(place);
        let offset = constant::evaluate(&sum, offset_place)?;
        let last = memory.size as i64 - 4;
        if !(0..=last).contains(&offset) || offset % 4 != 0 {
            return Err(offset_place
                .error(
                    codes::CONSTANT_RANGE,
                    format!("`{}` has no longword at byte {offset}", memory.name),
                )
                .help(format!(
                    "longwords begin at multiples of 4 from 0 to {last}"
                )));
        }
        if value.is_empty() {
            return Err(directive
                .place
                .error(codes::SYNTAX, "there is no value for the longword")
                .help(format!("write `.init {}+{offset} value`", memory.name)));
        }
        let place = SourcePlace::of_all(value).unwrap_or(place);
        let value = self.expression(value)?;
        if value.references.is_empty() {
            initial_value(constant::evaluate(&value.tokens, place)?, place)?;
        }
        self.out.initial_memory.push(FirstLongword {
            space: memory.space,
            address: memory.address + offset as u32,
            value,
            place,
            scope: self.scope,
        });
        Ok(())
    }
}

/// Returns how many tokens after a name form an offset: signs without a space before them, each
/// followed by a number or a parenthesized expression.
fn distance(tokens: &[Token]) -> usize {
    let mut length = 0;
    while let [sign, first, rest @ ..] = &tokens[length..]
        && sign.joined
        && (sign.is("+") || sign.is("-"))
    {
        let mut nesting = Nesting::default();
        let whole = first.is("(").then(|| {
            nesting.process(first);
            let close = |token: &Token| {
                nesting.process(token) == Some(NestingEvent::Closed) && nesting.depth == 0
            };
            rest.iter().position(close).map_or(rest.len(), |at| at + 1)
        });
        length += 2 + whole.unwrap_or(0);
    }
    length
}
