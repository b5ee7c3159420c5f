//! `#define` and `#define_eval`: expansion within a line, and pasting.

use std::{collections::VecDeque, rc::Rc};

use rustc_hash::FxHashMap;

use super::{MAX_TOKEN_TEXT, Preprocessor, budget::argument_size, environment::Undefined};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::expression::{Failure, Value, joins_operands};
use crate::front::lexer::lex_fragment;
use crate::front::token::{Nesting, NestingEvent, Token, TokenKind, arguments, spell, unquoted};
use crate::source::{Expansion, ExpansionId, Span};
use crate::vocabulary::Function;

/// Maximum length of a chain of definitions that refer to each other.
const MAX_CHAIN: usize = 100;

/// A name that stands for tokens.
#[derive(Debug)]
pub(super) struct Define {
    /// Names of the parameters, for the form `NAME(a, b)`.
    pub parameters: Option<Vec<Rc<str>>>,
    /// The replacement tokens.
    pub body: Vec<Token>,
    /// The place of the name in the directive.
    pub span: Span,
    /// Whether it was made by `#define_eval`, so that redefinition is expected.
    pub evaluated: bool,
    /// Errors in its text, which are reported where the name is used.
    pub errors: Vec<Diagnostic>,
}

/// A token during expansion.
#[derive(Clone, Debug)]
pub(super) struct ExpandedToken {
    pub token: Token,
    /// Whether the name occurred within its own expansion and must not be expanded again.
    fixed: bool,
}

pub(super) fn expandable(token: Token) -> ExpandedToken {
    ExpandedToken {
        token,
        fixed: false,
    }
}

pub(super) fn tokens_of(pieces: Vec<ExpandedToken>) -> Vec<Token> {
    pieces.into_iter().map(|piece| piece.token).collect()
}

impl Preprocessor<'_> {
    pub(super) fn define_eval(&mut self, directive: &Token, tokens: Vec<Token>) {
        let Some((name, rest)) = self.name_of(directive, tokens) else {
            return;
        };
        let Ok(expanded) = self.expand(rest.clone()) else {
            return;
        };
        // Lists, such as jump targets, are not values.
        let body = if is_list(&expanded) {
            expanded
        } else {
            match self.value(rest, &name, Undefined::Error) {
                Ok(Value::Number(n)) => lex_fragment(&n.to_string(), &name, &mut self.interner),
                Ok(Value::Text(text)) => lex_fragment(&text, &name, &mut self.interner),
                // A reference to a register or the like is text for the lines that use it; but a
                // counter that refers to itself lacks an initial value.
                Err(failure) => {
                    let counts = expanded.iter().any(|token| token.text == name.text);
                    if counts || !self.is_foreign(&expanded) {
                        self.report(*failure);
                        return;
                    }
                    self.as_one_value(expanded)
                }
            }
        };
        self.add_define(
            &name,
            Define {
                parameters: None,
                body,
                span: name.span,
                evaluated: true,
                errors: Vec::new(),
            },
        );
    }

    /// Makes a text behave as a single value wherever it is used: a lone name loses its brackets,
    /// and anything with an operator gets brackets.
    fn as_one_value(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        if let Some(name) = bracketed_name(&tokens) {
            return vec![name.clone()];
        }
        let Some(first) = tokens.first().filter(|_| has_operator(&tokens)) else {
            return tokens;
        };
        let bracket = |text, joined| Token {
            kind: TokenKind::Punct,
            text,
            joined,
            ..first.clone()
        };
        let open = bracket(self.interner.get("("), first.joined);
        let close = bracket(self.interner.get(")"), true);
        let mut inside = tokens.clone();
        inside[0].joined = true;
        std::iter::once(open).chain(inside).chain([close]).collect()
    }

    /// Whether a text refers to something without a value during preprocessing: a register, a
    /// signal, a label, or the empty operand.
    fn is_foreign(&self, text: &[Token]) -> bool {
        let foreign = |(at, token): (usize, &Token)| match token.kind {
            TokenKind::Ident => {
                let called = text.get(at + 1).is_some_and(|next| next.is("("));
                let function = called || Function::by_name(&token.text).is_some();
                !function && !self.defines.contains_key(&token.text)
            }
            TokenKind::Label => true,
            TokenKind::Number(_) | TokenKind::Str | TokenKind::Quoted | TokenKind::Punct => false,
        };
        bracketed_name(text).is_some_and(|name| name.is("--"))
            || text.iter().enumerate().any(foreign)
    }

    /// Whether expansion would change the tokens.
    pub(super) fn needs_expansion(&self, tokens: &[Token]) -> bool {
        tokens.iter().any(|token| match token.kind {
            TokenKind::Ident => self.defines.contains_key(&token.text),
            TokenKind::Punct => &*token.text == "##",
            TokenKind::Quoted => self.would_expand_quoted(&token.text),
            _ => false,
        })
    }

    /// Expands defined names and pastes.
    ///
    /// # Errors
    /// Returns an error if a `#define` in use is broken, which has already been reported.
    pub(super) fn expand(&mut self, tokens: Vec<Token>) -> Result<Vec<Token>, Failure> {
        let expanded = if self.needs_expansion(&tokens) {
            let pieces = tokens.into_iter().map(expandable).collect();
            tokens_of(self.rescan(pieces, &mut Vec::new(), 0))
        } else {
            tokens
        };
        match self.broken.take() {
            Some(error) => Err(error),
            None => Ok(expanded),
        }
    }

    /// Splits off the first token, with everything pasted to it. The pasted name itself is not
    /// expanded.
    pub(super) fn pasted_name(&mut self, tokens: Vec<Token>) -> (Option<Token>, Vec<Token>) {
        if !tokens.get(1).is_some_and(|t| t.is("##")) {
            let mut tokens = tokens.into_iter();
            return (tokens.next(), tokens.collect());
        }
        let mut input: VecDeque<ExpandedToken> = tokens.into_iter().map(expandable).collect();
        let mut name = Vec::new();
        self.chain(&mut name, &mut input, &mut Vec::new(), 0);
        let mut name = tokens_of(name).into_iter();
        let first = name.next();
        (first, name.chain(tokens_of(input.into())).collect())
    }

    fn rescan(
        &mut self,
        input: Vec<ExpandedToken>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<ExpandedToken> {
        let mut input: VecDeque<ExpandedToken> = input.into();
        let mut out: Vec<ExpandedToken> = Vec::with_capacity(input.len());
        while let Some(first) = input.front() {
            let near = first.token.clone();
            if !self.charge(1, out.len() + input.len(), &near) {
                break;
            }
            if near.is("##") {
                // Its left side was an empty argument.
                input.pop_front();
            } else if input.get(1).is_some_and(|next| next.token.is("##")) {
                let mut chain = Vec::new();
                self.chain(&mut chain, &mut input, active, depth);
                out.extend(self.rescan(chain, active, depth));
            } else if self.needs_no_expansion(first) {
                out.extend(input.pop_front());
            } else if let Some(piece) = input.pop_front() {
                out.extend(self.used(piece, &mut input, active, depth));
            }
        }
        out
    }

    /// Takes `a ## b ## c` from the input; the result of pasting may be expanded again.
    fn chain(
        &mut self,
        chain: &mut Vec<ExpandedToken>,
        input: &mut VecDeque<ExpandedToken>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) {
        *chain = self.operand(input, active, depth);
        while let Some(paste) = input.front().filter(|p| p.token.is("##")) {
            let paste = paste.token.clone();
            while input.front().is_some_and(|p| p.token.is("##")) {
                input.pop_front();
            }
            if input.is_empty() || self.stopped {
                break;
            }
            let right = self.operand(input, active, depth);
            self.glue(chain, right, &paste);
        }
    }

    /// Takes one side of a paste. In `port/**/i#` the counter is the name before `#`.
    fn operand(
        &mut self,
        input: &mut VecDeque<ExpandedToken>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<ExpandedToken> {
        let stem = input.front().filter(|p| p.token.kind == TokenKind::Label);
        if let Some(label) = stem {
            let label = label.token.clone();
            let stem = Token {
                kind: TokenKind::Ident,
                text: self.interner.get(label.text.trim_end_matches('#')),
                ..label.clone()
            };
            let known = self.defines.get(&stem.text);
            if known.is_some_and(|define| define.parameters.is_none()) {
                input.pop_front();
                let mut stem = self.item(&mut VecDeque::from([expandable(stem)]), active, depth);
                if let Some(last) = stem.last_mut() {
                    self.make_label(&mut last.token);
                }
                return stem;
            }
        }
        let mut item = self.item(input, active, depth);
        for piece in &mut item {
            // Already expanded; only the result of pasting may form another name.
            piece.fixed = true;
        }
        item
    }

    /// Turns `name` into `name#`.
    pub(super) fn make_label(&mut self, token: &mut Token) {
        if matches!(token.kind, TokenKind::Ident | TokenKind::Number(_)) {
            token.text = self.interner.get(&format!("{}#", token.text));
            token.kind = TokenKind::Label;
        }
    }

    fn glue(&mut self, chain: &mut Vec<ExpandedToken>, right: Vec<ExpandedToken>, paste: &Token) {
        let mut right = right.into_iter();
        let Some(mut second) = right.next() else {
            return;
        };
        let Some(first) = chain.last() else {
            chain.push(second);
            chain.extend(right);
            return;
        };
        let word = |t: &Token| match t.kind {
            TokenKind::Ident | TokenKind::Label | TokenKind::Number(_) => true,
            TokenKind::Punct => ["$", "$$", "@", ".", "#"].contains(&&*t.text),
            TokenKind::Str | TokenKind::Quoted => false,
        };
        let punct = |t: &Token| t.kind == TokenKind::Punct;
        let (a, b) = (&first.token, &second.token);
        if (word(a) && word(b)) || (punct(a) && punct(b)) {
            let text = format!("{}{}", a.text, b.text);
            let near_each_other = a.span.file == b.span.file && a.span.hi <= b.span.lo;
            let like = Token {
                span: if near_each_other && a.expansion == b.expansion {
                    a.span.to(b.span)
                } else {
                    a.span
                },
                expansion: paste.expansion,
                ..a.clone()
            };
            if text.len() > MAX_TOKEN_TEXT {
                self.report_limit(
                    "pasting makes this name too long",
                    like.span,
                    like.expansion,
                );
                return;
            }
            let glued = lex_fragment(&text, &like, &mut self.interner);
            self.charge(text.len() / 16, 0, &like);
            chain.pop();
            chain.extend(glued.into_iter().map(expandable));
        } else {
            second.token.joined = true;
            chain.push(second);
        }
        chain.extend(right);
    }

    /// Whether a token needs no expansion.
    fn needs_no_expansion(&self, piece: &ExpandedToken) -> bool {
        match piece.token.kind {
            TokenKind::Quoted => !self.would_expand_quoted(&piece.token.text),
            TokenKind::Ident => piece.fixed || !self.defines.contains_key(&piece.token.text),
            _ => true,
        }
    }

    /// Takes one token, or one use of a defined name, from the input.
    pub(super) fn item(
        &mut self,
        input: &mut VecDeque<ExpandedToken>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<ExpandedToken> {
        match input.pop_front() {
            Some(piece) if self.needs_no_expansion(&piece) => vec![piece],
            Some(piece) => self.used(piece, input, active, depth),
            None => Vec::new(),
        }
    }

    /// Returns the expansion of a token, taking any arguments from the input after it.
    fn used(
        &mut self,
        mut piece: ExpandedToken,
        input: &mut VecDeque<ExpandedToken>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<ExpandedToken> {
        if piece.token.kind == TokenKind::Quoted {
            piece.token.text = self.expanded_text(&piece.token, active, depth);
            return vec![piece];
        }
        let Some(define) = self.defines.get(&piece.token.text).cloned() else {
            return vec![piece];
        };
        let takes_list = input.front().is_some_and(|next| next.token.is("("));
        if define.parameters.is_none() || takes_list {
            let (span, expansion) = (piece.token.span, piece.token.expansion);
            for error in &define.errors {
                let error = error.clone().also(span, expansion, "used here");
                self.report_in(&error, ExpansionId::ROOT);
            }
            if let Some(error) = define.errors.iter().find(|error| error.is_error()) {
                self.broken.get_or_insert_with(|| Box::new(error.clone()));
                return Vec::new();
            }
        }
        let token = piece.token.clone();
        if active.contains(&token.text) {
            piece.fixed = true;
            return vec![piece];
        }
        if depth >= MAX_CHAIN {
            self.report_limit(
                &format!("definitions refer to each other more than {MAX_CHAIN} deep"),
                token.span,
                token.expansion,
            );
            return vec![piece];
        }
        let Some(parameters) = &define.parameters else {
            let body = self.body_of(&define, &token, token.span, None);
            active.push(token.text.clone());
            let mut out = self.rescan(body, active, depth + 1);
            active.pop();
            if let Some(first) = out.first_mut() {
                first.token.joined = token.joined;
            }
            return self.name_before_list(out, input, active, depth);
        };
        let Some((given, close)) = take_arguments(input) else {
            return vec![piece];
        };
        // `NAME()` passes one empty argument to a single parameter.
        let given = if given.is_empty() && parameters.len() == 1 {
            vec![Vec::new()]
        } else if given.len() < parameters.len() {
            // An argument may expand to a list of arguments.
            let expanded = given
                .into_iter()
                .map(|argument| self.rescan(argument, active, depth + 1));
            expanded.flat_map(split_list).collect()
        } else {
            given
        };
        if given.len() != parameters.len() {
            self.report(
                Diagnostic::error(
                    codes::MACRO_ARGUMENTS,
                    format!(
                        "`{}` takes {}, but {} given",
                        token.text,
                        counted(parameters.len()),
                        if given.len() == 1 {
                            "1 is".to_owned()
                        } else {
                            format!("{} are", given.len())
                        }
                    ),
                    token.span.to(close.span),
                    token.expansion,
                )
                .also(define.span, ExpansionId::ROOT, "defined here")
                .help("give as many arguments as it has parameters"),
            );
            return Vec::new();
        }
        let mut bound: FxHashMap<Rc<str>, Vec<ExpandedToken>> = FxHashMap::default();
        for (name, argument) in parameters.iter().zip(given) {
            let argument = self.rescan(argument, active, depth + 1);
            bound.insert(name.clone(), argument);
        }
        let span = if close.expansion == token.expansion {
            token.span.to(close.span)
        } else {
            token.span
        };
        let body = self.body_of(&define, &token, span, Some(&bound));
        active.push(token.text.clone());
        let mut out = self.rescan(body, active, depth + 1);
        active.pop();
        if let Some(first) = out.first_mut() {
            first.token.joined = token.joined;
        }
        out
    }

    /// Expands `F(1)` to `G(1)` after `#define F G`, if a `G(x)` is defined.
    fn name_before_list(
        &mut self,
        mut out: Vec<ExpandedToken>,
        input: &mut VecDeque<ExpandedToken>,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<ExpandedToken> {
        let takes_list = out.last().is_some_and(|last| {
            !last.fixed
                && last.token.kind == TokenKind::Ident
                && self
                    .defines
                    .get(&last.token.text)
                    .is_some_and(|define| define.parameters.is_some())
        });
        if takes_list
            && input.front().is_some_and(|next| next.token.is("("))
            && let Some(name) = out.pop()
        {
            input.push_front(name);
            let rest = self.item(input, active, depth + 1);
            out.extend(rest);
        }
        out
    }

    /// Returns the body with its arguments substituted, for one use.
    fn body_of(
        &mut self,
        define: &Define,
        token: &Token,
        call: Span,
        bound: Option<&FxHashMap<Rc<str>, Vec<ExpandedToken>>>,
    ) -> Vec<ExpandedToken> {
        let size = bound.into_iter().flatten().map(|(parameter, value)| {
            argument_size(parameter, value.iter().map(|piece| &piece.token))
        });
        if !self.charge_use(token, size.sum()) {
            return Vec::new();
        }
        let arguments = match (&define.parameters, bound) {
            (Some(parameters), Some(bound)) => parameters
                .iter()
                .map(|name| {
                    let value = bound.get(name).cloned().unwrap_or_default();
                    (String::from(&**name), spell(&tokens_of(value)))
                })
                .collect(),
            _ => Vec::new(),
        };
        let expansion = self.sources.add_expansion(Expansion {
            name: String::from(&*token.text),
            call,
            parent: token.expansion,
            arguments,
        });
        let mut body = Vec::with_capacity(define.body.len());
        for from in &define.body {
            let argument = bound
                .filter(|_| from.kind == TokenKind::Ident)
                .and_then(|bound| bound.get(&from.text));
            if let Some(argument) = argument {
                let start = body.len();
                body.extend(argument.iter().cloned());
                if let Some(first) = body.get_mut(start) {
                    first.token.joined = from.joined;
                }
                continue;
            }
            let mut made = from.clone();
            // Labels, including pasted ones, belong to the place of use.
            if made.kind == TokenKind::Label || made.is("##") {
                (made.expansion, made.span) = (token.expansion, call);
            } else {
                made.expansion = expansion;
            }
            if made.kind == TokenKind::Quoted
                && let Some(bound) = bound
            {
                made.text = self.quoted_with(&made, |name| {
                    bound
                        .get(name)
                        .map(|argument| unquoted(&tokens_of(argument.clone())))
                });
            }
            body.push(expandable(made));
        }
        self.charge(body.len(), body.len(), token);
        body
    }

    /// Parses the names in `(a, b)`; returns them and the number of tokens used.
    pub(super) fn parameters(
        &mut self,
        owner: &Token,
        tokens: &[Token],
    ) -> Option<(Vec<Rc<str>>, usize)> {
        let form = "the parameters as (a, b, c)";
        let Some((list, used)) = arguments(tokens) else {
            self.malformed(owner, "the list of parameters is not closed", form);
            return None;
        };
        let mut names: Vec<Rc<str>> = Vec::new();
        for parameter in list {
            let [name] = parameter else {
                let at = parameter.get(1).unwrap_or(owner);
                self.malformed(at, "each parameter is one name", form);
                return None;
            };
            if name.kind != TokenKind::Ident {
                self.malformed(name, "a parameter is a name", form);
                return None;
            }
            if names.contains(&name.text) {
                self.report(
                    Diagnostic::error(
                        codes::DUPLICATE_PARAMETER,
                        format!("two parameters are named `{}`", name.text),
                        name.span,
                        name.expansion,
                    )
                    .help("give each parameter a name of its own"),
                );
                return None;
            }
            names.push(name.text.clone());
        }
        Some((names, used))
    }
}

/// Returns the name, or `--`, if brackets contain nothing else.
fn bracketed_name(tokens: &[Token]) -> Option<&Token> {
    match tokens {
        [name] if matches!(name.kind, TokenKind::Ident | TokenKind::Label) || name.is("--") => {
            Some(name)
        }
        [open, inside @ .., close] if open.is("(") && close.is(")") => bracketed_name(inside),
        _ => None,
    }
}

/// Whether there is a binary operator outside of all brackets.
fn has_operator(tokens: &[Token]) -> bool {
    let mut nesting = Nesting::default();
    tokens.iter().enumerate().any(|(at, token)| {
        nesting.process(token);
        at > 0 && nesting.depth == 0 && joins_operands(token)
    })
}

/// Whether there is a comma outside of all brackets.
fn is_list(tokens: &[Token]) -> bool {
    let mut nesting = Nesting::default();
    { tokens.iter() }
        .any(|token| nesting.process(token) == Some(NestingEvent::Comma) && nesting.depth == 0)
}

/// Splits an argument at the commas outside of all brackets.
fn split_list(argument: Vec<ExpandedToken>) -> Vec<Vec<ExpandedToken>> {
    let mut nesting = Nesting::default();
    let mut list = vec![Vec::new()];
    for piece in argument {
        if nesting.process(&piece.token) == Some(NestingEvent::Comma) && nesting.depth == 0 {
            list.push(Vec::new());
            continue;
        }
        if let Some(part) = list.last_mut() {
            part.push(piece);
        }
    }
    list
}

/// Takes `(a, b)` from the input; `None` if there is no complete list.
fn take_arguments(input: &mut VecDeque<ExpandedToken>) -> Option<(Vec<Vec<ExpandedToken>>, Token)> {
    if !input.front()?.token.is("(") {
        return None;
    }
    let mut nesting = Nesting::default();
    let close = input.iter().position(|piece| {
        nesting.process(&piece.token) == Some(NestingEvent::Closed) && nesting.depth == 0
    })?;
    let last = input.get(close)?.token.clone();
    let inside = input.drain(..=close).skip(1).take(close - 1).collect();
    let mut list = split_list(inside);
    if list.len() == 1 && list[0].is_empty() {
        list.clear();
    }
    Some((list, last))
}

/// Returns a count with its noun: `1 argument`, `2 arguments`.
pub(super) fn counted(arguments: usize) -> String {
    match arguments {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
