//! Conditional blocks, and the evaluation of expressions in directives.

use rustc_hash::FxHashSet;
use std::rc::Rc;

use super::{
    Preprocessor, SKIPPED_PER_TOKEN,
    environment::{Environment, Undefined},
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{PreprocessorDirective, Role};
use crate::front::expression::{Expression, Failure, Resolver, Value, builtin};
use crate::front::lexer::RawLine;
use crate::front::token::{Token, TokenKind, arguments};
use crate::source::Span;
use crate::spelling;
use crate::vocabulary::Function;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arm {
    /// No arm has been taken yet.
    Seeking,
    /// The current arm is taken.
    Taken,
    /// An arm has been taken, or none may be.
    Done,
}

/// An open `#if`.
#[derive(Debug)]
pub(super) struct Conditional {
    /// The directive that opens it.
    pub opener: Token,
    arm: Arm,
    otherwise: Option<Span>,
}

impl Conditional {
    /// Whether the lines that follow are included.
    pub fn is_live(&self) -> bool {
        self.arm == Arm::Taken
    }
}

impl Preprocessor<'_> {
    pub(super) fn conditional(
        &mut self,
        directive: PreprocessorDirective,
        name: &Token,
        line: &RawLine,
        environment: &Environment,
        open: &mut Vec<Conditional>,
    ) {
        let name = &Token {
            expansion: environment.expansion,
            ..name.clone()
        };
        if matches!(directive.role(), Role::Opens(_)) {
            let live = open.last().is_none_or(Conditional::is_live);
            let value = if live {
                self.arm_value(directive, name, line, environment)
            } else {
                None
            };
            open.push(Conditional {
                opener: name.clone(),
                arm: arm_of(value),
                otherwise: None,
            });
            return;
        }
        let Some(current) = open.last_mut() else {
            self.unmatched(name, "#if");
            return;
        };
        let seeking = current.arm == Arm::Seeking;
        match directive.role() {
            Role::Continues(_) => {
                if let Some(before) = current.otherwise {
                    self.report(
                        Diagnostic::error(
                            codes::DUPLICATE_ELSE,
                            format!("#{} after #else", name.text),
                            name.span,
                            name.expansion,
                        )
                        .also(before, name.expansion, "the #else")
                        .help(
                            "a block has one #else, as its last part; the parts before have #elif",
                        ),
                    );
                    current.arm = Arm::Done;
                    return;
                }
                let value = if directive == PreprocessorDirective::Else {
                    current.otherwise = Some(name.span);
                    Some(true)
                } else if seeking {
                    self.arm_value(directive, name, line, environment)
                } else {
                    None
                };
                current.arm = if seeking { arm_of(value) } else { Arm::Done };
            }
            Role::Opens(_) | Role::Closes(_) | Role::Declares | Role::Plain => {
                open.pop();
            }
        }
        let live = open.last().is_none_or(Conditional::is_live);
        if directive != PreprocessorDirective::Elif && (live || seeking) {
            let rest = self.substitute(&line.tokens, environment);
            self.extra(name, &rest);
        }
    }

    /// Evaluates the condition of an arm; `None` if it has no value.
    fn arm_value(
        &mut self,
        directive: PreprocessorDirective,
        name: &Token,
        line: &RawLine,
        environment: &Environment,
    ) -> Option<bool> {
        if line.is_wrong() {
            return None;
        }
        let tokens = self.substitute(&line.tokens, environment);
        if directive == PreprocessorDirective::If || directive == PreprocessorDirective::Elif {
            return self.condition(tokens, name);
        }
        let (macro_name, rest) = self.name_of(name, tokens)?;
        self.extra(name, &rest);
        let defined = self.defines.contains_key(&macro_name.text);
        Some(defined == (directive == PreprocessorDirective::Ifdef))
    }

    /// Evaluates a condition, reporting any failure.
    pub(super) fn condition(&mut self, tokens: Vec<Token>, near: &Token) -> Option<bool> {
        self.number(tokens, near).map(|n| n != 0)
    }

    /// Evaluates a number, reporting any failure.
    pub(super) fn number(&mut self, tokens: Vec<Token>, near: &Token) -> Option<i128> {
        let value = self
            .value(tokens, near, Undefined::Zero)
            .and_then(|value| match value {
                Value::Number(n) => Ok(n),
                Value::Text(text) => Err(Box::new(
                    Diagnostic::error(
                        codes::TEXT_IN_ARITHMETIC,
                        format!("#{} needs a number, not the text '{text}'", near.text),
                        near.span,
                        near.expansion,
                    )
                    .help("compare texts with streq('a', 'b')"),
                )),
            });
        match value {
            Ok(n) => Some(n),
            Err(failure) => {
                self.report(*failure);
                None
            }
        }
    }

    /// Expands and evaluates an expression of a directive.
    pub(super) fn value(
        &mut self,
        tokens: Vec<Token>,
        near: &Token,
        undefined: Undefined,
    ) -> Result<Value, Failure> {
        let tokens = self.answer_defined(tokens);
        let tokens = self.expand(tokens)?;
        self.charge_functions(&tokens, near);
        let expression = Expression::parse(&tokens, near)?;
        let mut names = ConditionNames {
            imports: &self.imports,
            guessed: &mut self.guessed,
            undefined,
            met: Vec::new(),
        };
        let value = expression.evaluate(&mut names);
        for name in names.met {
            if self.already_reported(codes::UNDEFINED_IN_CONDITION, &name) {
                continue;
            }
            let mut warning = Diagnostic::warning(
                codes::UNDEFINED_IN_CONDITION,
                format!("`{}` is not defined and counts as 0", name.text),
                name.span,
                name.expansion,
            );
            let may_suggest = self.guessed.len() < spelling::MAX_SUGGESTIONS;
            let meant = if may_suggest && self.guessed.insert(name.span) {
                let mut known: Vec<&str> = self.defines.keys().map(|k| &**k).collect();
                known.sort_unstable();
                spelling::closest(&name.text, known)
            } else {
                None
            };
            warning = match meant {
                Some(meant) => warning
                    .help(format!("did you mean `{meant}`?"))
                    .patch(name.span, meant),
                None => warning.help("define it, or test it with defined() or #ifdef"),
            };
            self.report(warning);
        }
        value
    }

    /// Counts the texts that the functions of an expression read.
    fn charge_functions(&mut self, tokens: &[Token], near: &Token) {
        let is_text = |token: &&Token| matches!(token.kind, TokenKind::Quoted | TokenKind::Str);
        let texts = { tokens.iter().filter(is_text) }.map(|token| token.text.len());
        let bytes: usize = texts.sum();
        if bytes >= SKIPPED_PER_TOKEN {
            let functions = { tokens.iter() }
                .filter(|it| it.kind == TokenKind::Ident && Function::by_name(&it.text).is_some());
            self.charge(bytes / SKIPPED_PER_TOKEN * functions.count(), 0, near);
        }
    }

    /// Replaces `defined(NAME)` and `IS_IXPTYPE(NAME)` by 1 or 0, before the name inside is
    /// expanded.
    fn answer_defined(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let asks = |token: &Token| {
            let function = (token.kind == TokenKind::Ident)
                .then(|| Function::by_name(&token.text))
                .flatten();
            matches!(function, Some(Function::Defined | Function::IsIxptype))
        };
        if !tokens.iter().any(asks) {
            return tokens;
        }
        let mut answered = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if !asks(token) {
                answered.push(token.clone());
                at += 1;
                continue;
            }
            let rest = &tokens[at + 1..];
            let (names, used): (Vec<&[Token]>, usize) = match rest.first() {
                Some(open) if open.is("(") => arguments(rest).unwrap_or_default(),
                Some(name) if name.kind == TokenKind::Ident => (vec![&rest[..1]], 1),
                _ => (Vec::new(), 0),
            };
            if names.is_empty() {
                // The expression parser reports the error.
                answered.push(token.clone());
                at += 1;
                continue;
            }
            let yes = names.into_iter().any(|name| {
                let (name, _) = self.pasted_name(name.to_vec());
                name.is_some_and(|name| self.defines.contains_key(&name.text))
            });
            answered.push(Token {
                kind: TokenKind::Number(u64::from(yes)),
                text: self.interner.get(if yes { "1" } else { "0" }),
                ..token.clone()
            });
            at += 1 + used;
        }
        answered
    }
}

fn arm_of(value: Option<bool>) -> Arm {
    match value {
        Some(true) => Arm::Taken,
        Some(false) => Arm::Seeking,
        // If a condition cannot be decided, no arm is taken: follow-up errors would only hide the
        // first one.
        None => Arm::Done,
    }
}

/// Resolves the names that macro expansion leaves.
struct ConditionNames<'a> {
    imports: &'a FxHashSet<Rc<str>>,
    /// Places for which a suggestion was sought. A failure is computed in every iteration of a loop, and may be
    /// discarded each time.
    guessed: &'a mut FxHashSet<Span>,
    undefined: Undefined,
    /// Undefined names that were treated as 0.
    met: Vec<Token>,
}

impl ConditionNames<'_> {
    fn not_constant_error(name: &Token, what: &str) -> Failure {
        Box::new(
            Diagnostic::error(
                codes::NOT_CONSTANT,
                format!("{what} cannot be used in a directive"),
                name.span,
                name.expansion,
            )
            .note("registers and signals get their numbers after preprocessing"),
        )
    }

    /// Whether every instruction can use the operand, including those with narrow operand fields.
    fn is_restricted(&self, argument: &[Token], function: &Token) -> bool {
        match argument {
            [none] if none.is("--") => true,
            [star, index, rest @ ..] if star.is("*") => {
                let index = index.text.to_ascii_lowercase();
                match (index.as_str(), rest) {
                    ("l$index0" | "l$index1", []) | ("$index" | "$$index" | "n$index", _) => true,
                    ("l$index0" | "l$index1", [open, offset @ .., close])
                        if open.is("[") && close.is("]") =>
                    {
                        matches!(Self::constant(offset, function), Some(0..=7))
                    }
                    _ => false,
                }
            }
            [name, ..] if name.kind == TokenKind::Ident && !self.imports.contains(&name.text) => {
                !name.text.starts_with('@') && !name.text.starts_with("n$")
            }
            _ => matches!(Self::constant(argument, function), Some(0..=127)),
        }
    }

    /// Returns the value of an argument without names.
    fn constant(argument: &[Token], function: &Token) -> Option<i128> {
        let none = FxHashSet::default();
        let mut names = ConstancyProbe { imports: &none };
        Expression::parse(argument, function)
            .ok()?
            .number(&mut names)
            .ok()
    }

    /// Whether the argument has a value now, or at load time.
    fn is_constant(&self, argument: &[Token], function: &Token, at_load_time: bool) -> bool {
        let none = FxHashSet::default();
        let Ok(expression) = Expression::parse(argument, function) else {
            return false;
        };
        let mut names = ConstancyProbe {
            imports: if at_load_time { self.imports } else { &none },
        };
        matches!(expression.evaluate(&mut names), Ok(Value::Number(_)))
    }
}

impl Resolver for ConditionNames<'_> {
    fn name(&mut self, name: &Token, index: Option<i64>) -> Result<Value, Failure> {
        if self.imports.contains(&name.text) {
            return Err(Box::new(Diagnostic::error(
                codes::NOT_CONSTANT,
                format!("the value of `{}` is known only to the loader", name.text),
                name.span,
                name.expansion,
            )));
        }
        if self.undefined == Undefined::Zero && index.is_none() {
            self.met.push(name.clone());
            return Ok(Value::Number(0));
        }
        Err(Box::new(
            Diagnostic::error(
                codes::NOT_CONSTANT,
                format!("`{}` has no value here", name.text),
                name.span,
                name.expansion,
            )
            .help("define it with #define before this line"),
        ))
    }

    fn address(&mut self, name: &Token, _: Option<i64>) -> Result<Value, Failure> {
        Err(Self::not_constant_error(
            name,
            &format!("the number of `{}`", name.text),
        ))
    }

    fn call(&mut self, function: &Token, arguments: &[Vec<Token>]) -> Result<Value, Failure> {
        if let Some(value) = builtin(function, arguments, self) {
            return value;
        }
        if let Some(known) = Function::by_name(&function.text) {
            if known == Function::Mask {
                return Err(Self::not_constant_error(function, "mask()"));
            }
            let [argument] = arguments else {
                return Err(Box::new(Diagnostic::error(
                    codes::FUNCTION_ARGUMENT,
                    format!(
                        "{} takes 1 argument, but {} are given",
                        function.text,
                        arguments.len()
                    ),
                    function.span,
                    function.expansion,
                )));
            };
            let yes = match known {
                Function::Isimport => {
                    matches!(&**argument, [name] if self.imports.contains(&name.text))
                }
                Function::Isrestricted => self.is_restricted(argument, function),
                Function::IsRtConst => self.is_constant(argument, function, true),
                Function::Defined
                | Function::Isnum
                | Function::IsCtConst
                | Function::IsIxptype
                | Function::Streq
                | Function::Strlen
                | Function::Strstr
                | Function::Strleft
                | Function::Strright
                | Function::Log2
                | Function::Mask => self.is_constant(argument, function, false),
            };
            return Ok(Value::Number(i128::from(yes)));
        }
        let names: Vec<&str> = Function::WORDS.iter().map(|word| word.name).collect();
        let first = self.guessed.insert(function.span);
        let known = names.iter().copied().filter(|_| first);
        let meant = spelling::closest(&function.text, known);
        let error = Diagnostic::error(
            codes::UNKNOWN_FUNCTION,
            format!("there is no function `{}`", function.text),
            function.span,
            function.expansion,
        );
        Err(Box::new(match meant {
            Some(meant) => error
                .help(format!("did you mean `{meant}`?"))
                .patch(function.span, meant),
            None => error.help(format!("the functions are {}", names.join(", "))),
        }))
    }
}

/// Determines whether an expression is constant: imports are, other names are not.
struct ConstancyProbe<'a> {
    imports: &'a FxHashSet<Rc<str>>,
}

impl Resolver for ConstancyProbe<'_> {
    fn name(&mut self, name: &Token, _: Option<i64>) -> Result<Value, Failure> {
        if self.imports.contains(&name.text) {
            Ok(Value::Number(1))
        } else {
            Err(ConditionNames::not_constant_error(name, "a register"))
        }
    }

    fn address(&mut self, name: &Token, _: Option<i64>) -> Result<Value, Failure> {
        Err(ConditionNames::not_constant_error(
            name,
            "a register number",
        ))
    }

    fn call(&mut self, function: &Token, arguments: &[Vec<Token>]) -> Result<Value, Failure> {
        builtin(function, arguments, self).unwrap_or_else(|| {
            Err(ConditionNames::not_constant_error(
                function,
                "this function",
            ))
        })
    }
}
