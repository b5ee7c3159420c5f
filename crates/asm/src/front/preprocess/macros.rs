//! `#macro`: definitions, calls, and substitution of arguments.

use std::rc::Rc;

use npsim_isa::mnemonic;

use super::{
    Preprocessor, SKIPPED_PER_TOKEN, blocks::block_end, budget::argument_size, defines::counted,
    environment::Environment, open_comment,
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::PreprocessorDirective;
use crate::front::foreign;
use crate::front::lexer::RawLine;
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind, arguments, spell, unquoted};
use crate::source::{Expansion, ExpansionId, Span};

/// A multi-line macro.
#[derive(Debug)]
pub(super) struct Macro {
    /// The place of the name in the directive.
    span: Span,
    parameters: Vec<Rc<str>>,
    body: Vec<RawLine>,
}

/// Splits an argument at the commas outside of all brackets.
fn split_at_commas(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut depth = 0usize;
    tokens.split(move |token| {
        if token.is("(") || token.is("[") || token.is("{") {
            depth += 1;
        } else if token.is(")") || token.is("]") || token.is("}") {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.is(",")
    })
}

impl Preprocessor<'_> {
    /// Substitutes arguments for parameters.
    pub(super) fn substitute(&mut self, tokens: &[Token], environment: &Environment) -> Vec<Token> {
        if environment.is_empty() {
            if let Some(first) = tokens.first() {
                self.charge(tokens.len() / SKIPPED_PER_TOKEN, 0, first);
            }
            return tokens.to_vec();
        }
        let mut made: Vec<Token> = Vec::with_capacity(tokens.len());
        for token in tokens {
            let mut own = Token {
                expansion: environment.expansion,
                ..token.clone()
            };
            match token.kind {
                TokenKind::Ident => {
                    if let Some(value) = environment.bindings.get(&token.text) {
                        let start = made.len();
                        made.extend(value.iter().cloned());
                        if let Some(first) = made.get_mut(start) {
                            first.joined = token.joined;
                        }
                        if !self.charge(value.len(), made.len(), &own) {
                            return made;
                        }
                        continue;
                    }
                }
                TokenKind::Label => {
                    let stem = &token.text[..token.text.len() - 1];
                    if let Some(value) = environment.bindings.get(stem) {
                        let start = made.len();
                        made.extend(value.iter().cloned());
                        if made.len() > start {
                            made[start].joined = token.joined;
                            if let Some(last) = made.last_mut() {
                                self.make_label(last);
                            }
                        }
                        continue;
                    }
                }
                TokenKind::Quoted if !environment.bindings.is_empty() => {
                    own.text = self.quoted_with(&own, |word| {
                        environment.bindings.get(word).map(|value| unquoted(value))
                    });
                }
                _ => {}
            }
            made.push(own);
        }
        if let Some(first) = made.first().cloned() {
            self.charge(tokens.len(), made.len(), &first);
        }
        made
    }

    /// Stores the macro at `lines[at]`; returns the index of the line after it.
    pub(super) fn define_macro(
        &mut self,
        directive: &Token,
        lines: &[RawLine],
        at: usize,
        environment: &Environment,
    ) -> usize {
        let nests = |directive| directive == PreprocessorDirective::Macro;
        let Some(end) = block_end(lines, at + 1, nests, PreprocessorDirective::Endm) else {
            self.unterminated(
                open_comment(lines),
                environment,
                Diagnostic::error(
                    codes::UNTERMINATED_MACRO,
                    "this #macro has no #endm",
                    directive.span,
                    directive.expansion,
                )
                .label("opened here")
                .help("close it with #endm in the same file, macro or loop"),
            );
            return lines.len();
        };
        let next = end + 1;
        if lines[at].is_wrong() || !self.charge(next - at, 0, directive) {
            return next;
        }
        // Some sources write `#endm name`, which is harmless, so any text after it is ignored.
        let header = &lines[at].tokens;
        let Some((name, parameters)) = self.macro_head(directive, header, environment) else {
            return next;
        };
        let mut inner = environment.clone();
        inner.bindings.retain(|name, _| !parameters.contains(name));
        // Errors in a line of the body are reported only if a use executes the line: an unused
        // macro for another tool may contain anything.
        let body = lines[at + 1..end]
            .iter()
            .map(|line| RawLine {
                tokens: self.substitute(&line.tokens, &inner),
                directive: line.directive.clone(),
                errors: line.errors.clone(),
            })
            .collect();
        self.add_macro(
            &name,
            Macro {
                span: name.span,
                parameters,
                body,
            },
        );
        next
    }

    /// Returns the name and parameters of a macro.
    fn macro_head(
        &mut self,
        directive: &Token,
        header: &[Token],
        environment: &Environment,
    ) -> Option<(Token, Vec<Rc<str>>)> {
        // Parameters of a nested macro hide those of the outer one.
        let list = header
            .iter()
            .position(|t| t.is("(") || t.is("["))
            .unwrap_or(header.len());
        let head = self.substitute(&header[..list], environment);
        let (name, rest) = self.name_of(directive, head)?;
        if let Some(extra) = rest.first() {
            self.malformed(
                extra,
                "this does not belong in the head of a macro",
                "#macro name(a, b)",
            );
            return None;
        }
        if list == header.len() {
            return Some((name, Vec::new()));
        }
        let (parameters, used) = self.parameters(&name, &header[list..])?;
        self.extra(directive, &header[list + used..]);
        Some((name, parameters))
    }

    /// Adds a macro, replacing one with the same name and number of parameters.
    fn add_macro(&mut self, name: &Token, defined: Macro) {
        let defined = Rc::new(defined);
        let all = self.macros.entry(name.text.clone()).or_default();
        let same = all
            .iter()
            .position(|old| old.parameters.len() == defined.parameters.len());
        let Some(same) = same else {
            all.push(defined);
            return;
        };
        let warning = Diagnostic::warning(
            codes::MACRO_REDEFINED,
            format!(
                "macro `{}` with {} is defined again",
                name.text,
                counted(defined.parameters.len())
            ),
            name.span,
            name.expansion,
        )
        .also(all[same].span, ExpansionId::ROOT, "previously defined here")
        .note("from here on the new definition is used");
        all[same] = defined;
        self.report(warning);
    }

    /// Whether the tokens call a macro: its name, alone or before a list. A list in square brackets
    /// belongs to an instruction if there is one with this name.
    pub(super) fn is_call(&self, tokens: &[Token]) -> bool {
        let [name, rest @ ..] = tokens else {
            return false;
        };
        name.kind == TokenKind::Ident
            && self.macros.contains_key(&name.text)
            && rest
                .first()
                .is_none_or(|next| next.is("(") || (next.is("[") && mnemonic(&name.text).is_none()))
    }

    /// Returns the error for a call without brackets around its arguments, as in `m a, b`; `None`
    /// for tokens of another form.
    pub(super) fn call_without_brackets(&self, tokens: &[Token]) -> Option<Diagnostic> {
        let (name, given) = foreign::bare_operands(tokens)?;
        let known = self.macros.get(&name.text)?;
        if mnemonic(&name.text).is_some() {
            return None;
        }
        let error = SourcePlace::of(name)
            .error(
                codes::SYNTAX,
                format!("the arguments of macro `{}` have no brackets", name.text),
            )
            .label("arguments must be in brackets");
        let count = split_at_commas(given).count();
        if { known.iter() }.any(|it| it.parameters.len() == count) {
            return Some(foreign::in_brackets(error, name, given, ["(", ")"]));
        }
        let forms: Vec<String> = { known.iter() }
            .map(|it| format!("`{}({})`", name.text, it.parameters.join(", ")))
            .collect();
        Some(error.help(format!("write {}", forms.join(" or "))))
    }

    /// Returns the macro with this name and number of parameters.
    fn definition(&self, name: &Token, arguments: usize) -> Option<Rc<Macro>> {
        let all = self.macros.get(&name.text)?;
        let found = all.iter().find(|it| it.parameters.len() == arguments);
        found.cloned()
    }

    /// Makes the error for a macro name without a matching number of parameters.
    fn argument_count_error(&self, name: &Token, call: Span, given: usize) -> Diagnostic {
        let all = &self.macros[&name.text];
        let mut counts: Vec<usize> = all.iter().map(|m| m.parameters.len()).collect();
        counts.sort_unstable();
        let counts: Vec<String> = counts.into_iter().map(counted).collect();
        let mut error = Diagnostic::error(
            codes::MACRO_ARGUMENTS,
            format!(
                "macro `{}` takes {}, not {given}",
                name.text,
                counts.join(" or "),
            ),
            call,
            name.expansion,
        );
        for known in all {
            let form = format!("{}({})", name.text, known.parameters.join(", "));
            error = error.also(known.span, ExpansionId::ROOT, format!("`{form}`"));
        }
        error.help("give as many arguments as one of its definitions has parameters")
    }

    /// Executes a macro call.
    pub(super) fn call(&mut self, tokens: &[Token], expansion: ExpansionId) {
        let (Some(name), Some(last)) = (tokens.first(), tokens.last()) else {
            return;
        };
        let Some((given, used)) = (if tokens.len() == 1 {
            Some((Vec::new(), 0))
        } else {
            arguments(&tokens[1..])
        }) else {
            self.report(
                Diagnostic::error(
                    codes::UNCLOSED_BRACKET,
                    format!("the arguments of macro `{}` are not closed", name.text),
                    name.span,
                    name.expansion,
                )
                .help("put the closing bracket after them"),
            );
            return;
        };
        if let Some(extra) = tokens.get(1 + used) {
            self.report(
                Diagnostic::error(
                    codes::TEXT_AFTER_MACRO_CALL,
                    format!("nothing may follow the call of macro `{}`", name.text),
                    extra.span.to(last.span),
                    extra.expansion,
                )
                .help("put it on a line of its own"),
            );
            return;
        }
        let span = if name.expansion == last.expansion {
            name.span.to(last.span)
        } else {
            name.span
        };
        let mut lists = Vec::new();
        let mut given = given;
        let mut found = self.definition(name, given.len());
        if found.is_none() {
            // An argument may expand to a list of arguments.
            for argument in &given {
                let Ok(expanded) = self.expand(argument.to_vec()) else {
                    return;
                };
                lists.push(expanded);
            }
            let split: Vec<&[Token]> = lists
                .iter()
                .flat_map(|list| split_at_commas(list))
                .collect();
            found = self.definition(name, split.len());
            if found.is_some() {
                given = split;
            }
        }
        let Some(called) = found else {
            self.report(self.argument_count_error(name, span, given.len()));
            return;
        };
        let arguments = { called.parameters.iter().zip(&given) }
            .map(|(parameter, value)| argument_size(parameter, value.iter()))
            .sum();
        if !self.charge_use(name, arguments) {
            return;
        }
        let inner = self.sources.add_expansion(Expansion {
            name: String::from(&*name.text),
            call: span,
            parent: expansion,
            arguments: called
                .parameters
                .iter()
                .zip(&given)
                .map(|(name, value)| (String::from(&**name), spell(value)))
                .collect(),
        });
        let bindings = called
            .parameters
            .iter()
            .zip(given)
            .map(|(name, value)| (name.clone(), Rc::from(value)))
            .collect();
        self.run(
            &called.body,
            &Environment {
                bindings,
                expansion: inner,
            },
        );
        self.leaving = false;
    }
}
