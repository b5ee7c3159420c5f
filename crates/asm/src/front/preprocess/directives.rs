//! Directives of a single line; the other modules handle blocks.

use super::{MAX_INCLUDES, Preprocessor, defines::Define, environment::Environment};
use crate::LintLevel;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{Block, PreprocessorDirective as Name, Role};
use crate::front::lexer::RawLine;
use crate::front::token::{Token, TokenKind, spell};
use crate::source::ExpansionId;
use crate::spelling;
use std::rc::Rc;

impl Preprocessor<'_> {
    /// Executes the directive at `lines[at]`; returns the index of the line to continue with.
    pub(super) fn directive(
        &mut self,
        directive: Name,
        name: &Token,
        lines: &[RawLine],
        at: usize,
        environment: &Environment,
    ) -> usize {
        let line = &lines[at];
        let name = &Token {
            expansion: environment.expansion,
            ..name.clone()
        };
        match directive.role() {
            Role::Opens(Block::Macro) => return self.define_macro(name, lines, at, environment),
            Role::Opens(Block::PreprocessorLoop) => {
                return self.run_loop(directive, name, lines, at, environment);
            }
            _ if line.is_wrong() && directive != Name::Define => return at + 1,
            _ => {}
        }
        let tokens = self.substitute(&line.tokens, environment);
        match directive {
            Name::Define => self.define(name, tokens, &line.errors),
            Name::DefineEval => self.define_eval(name, tokens),
            Name::Undef => self.undef(name, tokens),
            Name::Include => self.include(name, tokens, environment),
            Name::Error | Name::Warning | Name::Warn | Name::Info => {
                self.message(directive, name, tokens);
            }
            Name::Pragma => self.pragma(name, &tokens),
            Name::Line => self.line(name, tokens),
            Name::Exitm if environment.expansion != ExpansionId::ROOT => {
                self.extra(name, &tokens);
                self.leaving = true;
            }
            Name::Endm | Name::Exitm => self.unmatched(name, "#macro"),
            Name::Endloop => self.unmatched(name, "#while, #for or #repeat"),
            // Blocks were handled above or by the caller.
            Name::If
            | Name::Ifdef
            | Name::Ifndef
            | Name::Elif
            | Name::Else
            | Name::Endif
            | Name::Macro
            | Name::While
            | Name::For
            | Name::Repeat => {}
        }
        at + 1
    }

    /// Reports a word after `#` that is not a directive.
    pub(super) fn unknown_directive(&mut self, name: &Token, environment: &Environment) {
        let name = &Token {
            expansion: environment.expansion,
            ..name.clone()
        };
        if self.already_reported(codes::UNKNOWN_DIRECTIVE, name) {
            return;
        }
        let mut error = Diagnostic::error(
            codes::UNKNOWN_DIRECTIVE,
            format!("there is no directive `#{}`", name.text),
            name.span,
            name.expansion,
        );
        let known = Name::bare_names();
        if let Some(meant) = spelling::closest(&name.text, known) {
            error = error
                .help(format!("did you mean `#{meant}`?"))
                .patch(name.span, format!("#{meant}"));
        }
        self.report(error);
    }

    pub(super) fn unmatched(&mut self, name: &Token, opener: &str) {
        self.report(
            Diagnostic::error(
                codes::UNMATCHED_DIRECTIVE,
                format!("#{} without {opener}", name.text),
                name.span,
                name.expansion,
            )
            .help("a block opens and closes in the same file, macro or loop"),
        );
    }

    pub(super) fn malformed(&mut self, at: &Token, message: &str, form: &str) {
        self.report(
            Diagnostic::error(codes::MALFORMED_DIRECTIVE, message, at.span, at.expansion)
                .help(format!("write {form}")),
        );
    }

    /// Warns of extra text after a directive.
    pub(super) fn extra(&mut self, directive: &Token, rest: &[Token]) {
        if let [first, .., last] | [first @ last] = rest {
            self.report(
                Diagnostic::warning(
                    codes::EXTRA_TOKENS,
                    format!("this text after #{} has no meaning", directive.text),
                    first.span.to(last.span),
                    first.expansion,
                )
                .help("remove it or make it a comment"),
            );
        }
    }

    /// Returns the name that a directive refers to, after pasting, and the rest.
    pub(super) fn name_of(
        &mut self,
        directive: &Token,
        tokens: Vec<Token>,
    ) -> Option<(Token, Vec<Token>)> {
        let (name, rest) = self.pasted_name(tokens);
        if self.broken.take().is_some() {
            return None;
        }
        match name {
            Some(name)
                if name.kind == TokenKind::Ident
                    && name
                        .text
                        .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') =>
            {
                Some((name, rest))
            }
            wrong => {
                let at = wrong.as_ref().unwrap_or(directive);
                self.malformed(
                    at,
                    &format!("#{} needs a name", directive.text),
                    "a name of letters, digits and _ that does not begin with a digit",
                );
                None
            }
        }
    }

    fn define(&mut self, directive: &Token, tokens: Vec<Token>, errors: &[Diagnostic]) {
        let Some((name, mut rest)) = self.name_of(directive, tokens) else {
            return;
        };
        let mut parameters = None;
        if rest.first().is_some_and(|t| t.is("(") && t.joined) {
            let Some((names, used)) = self.parameters(&name, &rest) else {
                return;
            };
            rest.drain(..used);
            parameters = Some(names);
        }
        self.add_define(
            &name,
            Define {
                parameters,
                body: rest,
                span: name.span,
                evaluated: false,
                errors: errors.to_vec(),
            },
        );
    }

    fn undef(&mut self, directive: &Token, tokens: Vec<Token>) {
        if let Some((name, rest)) = self.name_of(directive, tokens) {
            self.extra(directive, &rest);
            self.defines.remove(&name.text);
        }
    }

    pub(super) fn add_define(&mut self, name: &Token, define: Define) {
        let old = self.defines.get(&name.text);
        if let Some(old) = old
            && !old.evaluated
            && !define.evaluated
            && (old.parameters != define.parameters || spell(&old.body) != spell(&define.body))
        {
            let warning = Diagnostic::warning(
                codes::MACRO_REDEFINED,
                format!("`{}` is defined again with another text", name.text),
                name.span,
                name.expansion,
            )
            .also(old.span, name.expansion, "previously defined here")
            .help("use #undef first, or #define_eval for a value that changes");
            self.report(warning);
        }
        self.defines.insert(name.text.clone(), Rc::new(define));
    }

    fn include(&mut self, directive: &Token, tokens: Vec<Token>, environment: &Environment) {
        let tokens = match tokens.first() {
            Some(first) if first.kind == TokenKind::Ident => match self.expand(tokens) {
                Ok(tokens) => tokens,
                Err(_) => return,
            },
            _ => tokens,
        };
        let named = match &*tokens {
            [name, rest @ ..] if name.kind == TokenKind::Str => {
                self.extra(directive, rest);
                Some((name.text.to_string(), name.span))
            }
            [open, .., close] if open.is("<") && close.is(">") => {
                let span = open.span.to(close.span);
                let inside = &tokens[1..tokens.len() - 1];
                let contiguous = open.span.file == close.span.file && open.span.hi <= close.span.lo;
                let text = if contiguous {
                    let file = &self.sources.file(open.span.file).text;
                    file[open.span.hi as usize..close.span.lo as usize]
                        .trim()
                        .to_owned()
                } else {
                    spell(inside)
                };
                Some((text, span))
            }
            _ => None,
        };
        let Some((wanted, span)) = named.filter(|(name, _)| !name.is_empty()) else {
            self.malformed(
                tokens.first().unwrap_or(directive),
                "#include needs the name of a file",
                "#include \"name\" or #include <name>",
            );
            return;
        };
        self.included += 1;
        if self.included > MAX_INCLUDES {
            let what = format!("more than {MAX_INCLUDES} files were included");
            self.report_limit(&what, span, directive.expansion);
            return;
        }
        // In a macro's body that is the file of the macro, not of its use.
        let including = self.sources.file(directive.span.file).path.clone();
        match self.includes.load(&wanted, Some(&including)) {
            Ok((path, text)) => {
                if self.paths.iter().filter(|open| **open == path).count() > 8 {
                    self.report(
                        Diagnostic::error(
                            codes::INCLUDE_CYCLE,
                            format!("`{path}` includes itself again and again"),
                            span,
                            directive.expansion,
                        )
                        .note(format!("the open files are {}", self.paths.join(" > ")))
                        .help("put the file between #ifndef NAME, #define NAME and #endif"),
                    );
                    self.stopped = true;
                    return;
                }
                if !self.charge_bytes(text.len(), span, directive.expansion) {
                    return;
                }
                let lines = self.read(&path, text, Some(span));
                self.paths.push(path);
                self.run(&lines, &Environment::plain(environment.expansion));
                self.paths.pop();
            }
            Err(why) => self.report(
                Diagnostic::error(
                    codes::INCLUDE_FAILED,
                    format!("cannot include `{wanted}`"),
                    span,
                    directive.expansion,
                )
                .note(why)
                .help("name a file beside this one, or give its folder with `-I DIR` or `include` of the project file"),
            ),
        }
    }

    fn pragma(&mut self, directive: &Token, tokens: &[Token]) {
        match tokens.split_first() {
            Some((name, rest)) if name.text.eq_ignore_ascii_case("warning") => {
                self.warning_pragma(name, rest);
            }
            Some((name, _)) => self.report(
                Diagnostic::warning(
                    codes::UNKNOWN_PRAGMA,
                    format!("the pragma `{}` is not known and has no effect", name.text),
                    name.span,
                    name.expansion,
                )
                .help("the only pragma is `warning`"),
            ),
            None => self.malformed(
                directive,
                "#pragma needs a name",
                "#pragma warning(disable:NAME)",
            ),
        }
    }

    /// Handles `warning(disable:NAME)`, `warning(error:NAME)`, `warning(enable:NAME)`,
    /// `warning(default:NAME)`, `warning(default)`, `warning(push)` and `warning(pop)`. Warning
    /// numbers are those of the original tool and have no effect here.
    fn warning_pragma(&mut self, pragma: &Token, tokens: &[Token]) {
        let form = "#pragma warning(disable:NAME), with `disable`, `enable`, `error` or `default`, or with `push` or `pop` alone";
        let inside = match tokens {
            [open, inside @ .., close] if open.is("(") && close.is(")") => inside,
            _ => {
                self.malformed(pragma, "this pragma needs parentheses", form);
                return;
            }
        };
        let Some((word, rest)) = inside.split_first() else {
            self.malformed(pragma, "this pragma is empty", form);
            return;
        };
        let level = match (&*word.text.to_ascii_lowercase(), rest) {
            ("push", []) => {
                self.switched.push();
                return;
            }
            ("pop", []) => {
                if !self.switched.pop() {
                    // Libraries end with a `pop` even if there was no `push`.
                    self.report(
                        Diagnostic::warning(
                            codes::UNMATCHED_DIRECTIVE,
                            "this `pop` has no `push` before it and no effect",
                            word.span,
                            word.expansion,
                        )
                        .help(
                            "remove it, or write `#pragma warning(push)` where the state to restore is",
                        ),
                    );
                }
                return;
            }
            ("default", []) => {
                self.switched.reset();
                return;
            }
            ("disable", [_, ..]) => Some(LintLevel::Allow),
            ("enable" | "once", [_, ..]) => Some(LintLevel::Warn),
            ("error", [_, ..]) => Some(LintLevel::Deny),
            ("default", [_, ..]) => None,
            _ => {
                self.malformed(word, "this pragma is not known", form);
                return;
            }
        };
        let names = match rest.split_first() {
            Some((colon, names)) if colon.is(":") => names,
            _ => {
                self.malformed(word, "a `:` must follow", form);
                return;
            }
        };
        // `unused-register` is three tokens without space in between.
        let mut list: Vec<(String, &Token)> = Vec::new();
        let mut fresh = true;
        for token in names {
            if token.is(",") {
                fresh = true;
                continue;
            }
            match list.last_mut() {
                Some((name, _)) if token.joined && !fresh => name.push_str(&token.text),
                _ => list.push((token.text.to_string(), token)),
            }
            fresh = false;
        }
        for (name, token) in list {
            let number = matches!(token.kind, TokenKind::Number(_));
            if !number
                && !self.switched.switch(&name, level)
                && !self.already_reported(codes::UNKNOWN_PRAGMA, token)
            {
                let first = self.guessed.insert(token.span);
                let warning = Diagnostic::warning(
                    codes::UNKNOWN_PRAGMA,
                    format!("there is no warning `{name}`"),
                    token.span,
                    token.expansion,
                );
                let known = codes::all().iter().map(|code| code.name);
                let near = spelling::closest(&name, known.filter(|_| first));
                self.report(match near {
                    Some(near) => warning.help(format!("did you mean `{near}`?")),
                    None => warning.help("use the name in brackets at the start of the warning"),
                });
            }
        }
    }

    fn line(&mut self, directive: &Token, tokens: Vec<Token>) {
        let Ok(tokens) = self.expand(tokens) else {
            return;
        };
        let (number, path) = match &*tokens {
            [number] => (number, None),
            [number, path] if path.kind == TokenKind::Str => (number, Some(path.text.to_string())),
            _ => {
                self.malformed(
                    directive,
                    "#line needs a line number and may have a file name",
                    "#line NUMBER or #line NUMBER \"name\"",
                );
                return;
            }
        };
        match number.kind {
            TokenKind::Number(line) if (1..=0x7FFF_FFFF).contains(&line) => {
                self.sources.mark_line(directive.span, line as u32, path);
            }
            _ => self.malformed(
                number,
                "this is not a line number",
                "#line with a number from 1 on",
            ),
        }
    }
}
