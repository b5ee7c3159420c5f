//! The lexer, from source text to logical lines of tokens.
//!
//! Comments are dropped and continued lines joined. A line continues after a backslash, while a
//! bracket is open, and after a trailing comma. `##`, and `/**/` directly between two tokens, are
//! kept as the paste token `##` for the preprocessor. Nothing is reported here: each line carries
//! its own errors, since a condition may exclude it.

pub(crate) mod lexeme;

use std::{borrow::Cow, rc::Rc};

use npsim_isa::mnemonic;
use rustc_hash::FxHashSet;

use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::directives::PreprocessorDirective;
use crate::front::token::{Token, TokenKind, split_labels};
use crate::source::{ExpansionId, FileId, Span};

use lexeme::{Lexeme, classify, lexeme};

/// One logical line, as written in its file.
#[derive(Clone, Debug)]
pub(crate) struct RawLine {
    /// The tokens; for a directive, those after its name.
    pub tokens: Vec<Token>,
    /// The directive, if the line begins with `#`, and its name token.
    pub directive: Option<(HashWord, Token)>,
    /// Errors and warnings about the line.
    pub errors: Vec<Diagnostic>,
}

/// The word after a `#` at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashWord {
    Directive(PreprocessorDirective),
    /// A word that is not a directive.
    Unknown,
    /// No word: the `#` is alone.
    Nothing,
}

impl RawLine {
    /// Returns the span from the first token to the last; `None` if the line has only errors.
    pub fn span(&self) -> Option<Span> {
        let directive = self.directive.as_ref().map(|(_, name)| name.span);
        let first = directive.or_else(|| self.tokens.first().map(|it| it.span))?;
        Some(self.tokens.last().map_or(first, |last| first.to(last.span)))
    }

    /// Whether the line is a `#define`, whose text becomes code only where its name is used.
    pub fn is_define(&self) -> bool {
        matches!(
            self.directive,
            Some((HashWord::Directive(PreprocessorDirective::Define), _))
        )
    }

    /// Whether the line has errors and is unusable.
    pub fn is_wrong(&self) -> bool {
        self.errors.iter().any(Diagnostic::is_error)
    }
}

/// Shares storage between equal strings.
#[derive(Debug, Default)]
pub(crate) struct Interner(FxHashSet<Rc<str>>);

impl Interner {
    /// Returns the shared string.
    pub fn get(&mut self, text: &str) -> Rc<str> {
        if let Some(shared) = self.0.get(text) {
            return shared.clone();
        }
        let shared: Rc<str> = text.into();
        self.0.insert(shared.clone());
        shared
    }
}

/// Lexes a whole file.
pub(crate) fn lex(text: &str, file: FileId, interner: &mut Interner) -> Vec<RawLine> {
    let mut lexer = Lexer {
        file,
        interner,
        lines: Vec::new(),
        line: OpenLine::default(),
        resume: None,
        left_open: None,
    };
    let mut input = text;
    loop {
        if let Some((after, lexeme)) = lexeme(input) {
            let lo = (text.len() - input.len()) as u32;
            let hi = (text.len() - after.len()) as u32;
            let pasted_next = after.starts_with("/**/") || after.starts_with("##");
            lexer.take(lexeme, lexer.span(lo, hi), pasted_next);
            input = after;
        } else {
            lexer.end_line(LineEnding::File);
            if lexer.resume.is_none() {
                return lexer.lines;
            }
        }
        if let Some(at) = lexer.resume.take() {
            lexer.line = OpenLine::default();
            input = &text[at as usize..];
        }
    }
}

fn not_a_number(text: &str, span: Span, expansion: ExpansionId) -> Diagnostic {
    let message = format!("`{text}` is not a valid number");
    Diagnostic::error(codes::INVALID_NUMBER, message, span, expansion).help(
        "numbers are decimal, 0x and hexadecimal digits, or 0b and binary digits, up to 64 bits",
    )
}

/// Returns the error for a token, made by the preprocessor, that begins like a number but is not
/// one.
pub(super) fn invalid_number(token: &Token) -> Option<Diagnostic> {
    let wrong = token.kind == TokenKind::Ident && classify(&token.text).is_none();
    wrong.then(|| not_a_number(&token.text, token.span, token.expansion))
}

/// Lexes a text made by the preprocessor; all tokens get the position of `like`, and the first one
/// also whether it is joined.
pub(crate) fn lex_fragment(text: &str, like: &Token, interner: &mut Interner) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut joined = like.joined;
    let mut input = text;
    while let Some((after, lexeme)) = lexeme(input) {
        input = after;
        let (kind, text) = match lexeme {
            Lexeme::Word(text) => (classify(text).unwrap_or(TokenKind::Ident), text),
            Lexeme::LabelWord(text) => (TokenKind::Label, text),
            Lexeme::Str(text) => (TokenKind::Str, text),
            Lexeme::Quoted(text) => (TokenKind::Quoted, text),
            Lexeme::Punct(text) => (TokenKind::Punct, text),
            _ => {
                joined = false;
                continue;
            }
        };
        tokens.push(Token {
            kind,
            text: interner.get(text),
            joined,
            ..like.clone()
        });
        joined = true;
    }
    tokens
}

/// The reason why a line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnding {
    Newline,
    /// The next token cannot belong to the line.
    NextStatement,
    File,
}

/// The line being read.
#[derive(Default)]
struct OpenLine {
    tokens: Vec<Token>,
    hash: Option<Span>,
    brackets: Vec<(char, Span)>,
    errors: Vec<Diagnostic>,
    /// Whether the next token touches the last one.
    joined: bool,
    /// An empty comment that may turn out to be a paste operator.
    paste: Option<Span>,
    /// Whether the line continues past its end if the next token can belong to it.
    continued: bool,
    /// The end of the first line of a `#define` that leaves a bracket open.
    first_end: Option<FirstLineEnd>,
}

/// The state at the end of the first line of a `#define`. The lexer returns to it if the bracket
/// never closes; the define is then that line alone.
#[derive(Clone, Copy)]
struct FirstLineEnd {
    /// The byte after the newline.
    next: u32,
    tokens: usize,
    errors: usize,
}

struct Lexer<'a> {
    file: FileId,
    interner: &'a mut Interner,
    lines: Vec<RawLine>,
    line: OpenLine,
    /// The byte at which to resume, if text after it was read but does not belong to the line that
    /// ended.
    resume: Option<u32>,
    /// The bracket left open by the previous line, a `#define`.
    left_open: Option<(char, Span)>,
}

impl Lexer<'_> {
    fn span(&self, lo: u32, hi: u32) -> Span {
        Span {
            file: self.file,
            lo,
            hi,
        }
    }

    fn error(&mut self, code: &'static str, message: String, span: Span) -> &mut Diagnostic {
        let at = self.line.errors.len();
        self.line
            .errors
            .push(Diagnostic::error(code, message, span, ExpansionId::ROOT));
        &mut self.line.errors[at]
    }

    /// Adds a lexeme to the open line; `pasted_next` tells whether a paste operator follows
    /// directly, in which case a malformed number may be part of a name.
    fn take(&mut self, lexeme: Lexeme<'_>, span: Span, pasted_next: bool) {
        match lexeme {
            Lexeme::Space | Lexeme::Comment | Lexeme::Continuation => self.separate(),
            Lexeme::OpenComment => {
                self.separate();
                let opener = self.span(span.lo, span.lo + 2);
                let error = self.error(
                    codes::UNTERMINATED_COMMENT,
                    "this comment is not closed".into(),
                    opener,
                );
                error.help = Some("close it with */".into());
            }
            Lexeme::Newline => {
                self.separate();
                self.newline(span.hi);
            }
            Lexeme::EmptyComment => {
                if self.line.joined && !self.line.tokens.is_empty() {
                    self.line.paste.get_or_insert(span);
                }
            }
            Lexeme::Paste => {
                if self.line.tokens.is_empty() && self.line.hash.is_none() {
                    self.line.hash = Some(span);
                }
                self.line.paste = None;
                self.push(TokenKind::Punct, "##", span);
            }
            Lexeme::Hash => self.hash(span),
            Lexeme::Word(text) => {
                let kind = classify(text).unwrap_or_else(|| {
                    let pasted = pasted_next
                        || self.line.paste.is_some()
                        || self.line.tokens.last().is_some_and(|t| t.is("##"));
                    if !pasted {
                        let error = not_a_number(text, span, ExpansionId::ROOT);
                        self.line.errors.push(error);
                    }
                    TokenKind::Ident
                });
                self.token(kind, text, span);
            }
            Lexeme::LabelWord(text) => self.token(TokenKind::Label, text, span),
            Lexeme::Str(text) => self.token(TokenKind::Str, &join_continued_lines(text), span),
            Lexeme::Quoted(text) => {
                self.token(TokenKind::Quoted, &join_continued_lines(text), span);
            }
            Lexeme::Punct(text) => {
                self.token(TokenKind::Punct, text, span);
                self.bracket(text, span);
            }
            Lexeme::OpenString(text) if self.is_free_text() => {
                self.token(TokenKind::Str, text.trim_end(), span);
            }
            Lexeme::OpenString(_) => {
                let quote = self.span(span.lo, span.lo + 1);
                self.separate();
                let error = self.error(
                    codes::UNTERMINATED_STRING,
                    "this text is not closed on its line".into(),
                    quote,
                );
                error.primary.text = "opened here".into();
                error.help = Some("a quoted text ends with the same quote".into());
            }
            Lexeme::Stray(c) => {
                self.separate();
                let error = self.error(
                    codes::INVALID_CHARACTER,
                    format!("`{}` means nothing in microcode", c.escape_debug()),
                    span,
                );
                error.help = Some("remove it, or put it into a text or a comment".into());
            }
        }
    }

    /// Records white space at this point.
    fn separate(&mut self) {
        self.line.joined = false;
        self.line.paste = None;
    }

    fn hash(&mut self, span: Span) {
        if self.line.continued {
            self.end_line(LineEnding::NextStatement);
        }
        if self.line.tokens.is_empty() && self.line.hash.is_none() {
            self.line.hash = Some(span);
        } else if self.line.paste.is_some() || self.line.tokens.last().is_some_and(|t| t.is("##")) {
            self.token(TokenKind::Punct, "#", span);
        } else if self.line.brackets.first().is_some_and(|(c, _)| *c == '(')
            && self
                .line
                .tokens
                .last()
                .is_some_and(|t| t.is(",") || t.is("("))
        {
            // An argument that a macro appends to the stem of a label.
            self.token(TokenKind::Punct, "#", span);
        } else {
            self.separate();
            let error = self.error(
                codes::INVALID_CHARACTER,
                "`#` neither begins a directive nor ends a label here".into(),
                span,
            );
            error.help = Some(
                "a directive takes a line of its own; a label is written without space \
                 before its #"
                    .into(),
            );
        }
    }

    /// Adds a token, which may end a continued line or complete a paste.
    fn token(&mut self, kind: TokenKind, text: &str, span: Span) {
        if self.line.continued {
            let word = matches!(
                kind,
                TokenKind::Ident | TokenKind::Label | TokenKind::Number(_)
            );
            let operand = self.line.tokens.last().is_some_and(|last| {
                last.kind != TokenKind::Punct || [")", "]", "}"].contains(&&*last.text)
            });
            if word && (operand || text.starts_with('.')) {
                self.end_line(LineEnding::NextStatement);
            }
            self.line.continued = false;
        }
        if let Some(paste) = self.line.paste.take() {
            let gluable = |kind: &TokenKind, text: &str| match kind {
                TokenKind::Ident | TokenKind::Label | TokenKind::Number(_) => true,
                TokenKind::Punct => ["$", "$$", "@", ".", "#"].contains(&text),
                _ => false,
            };
            let before = self.line.tokens.last();
            if before.is_some_and(|t| gluable(&t.kind, &t.text)) && gluable(&kind, text) {
                self.push(TokenKind::Punct, "##", paste);
            }
        }
        self.push(kind, text, span);
    }

    fn push(&mut self, kind: TokenKind, text: &str, span: Span) {
        let text = self.interner.get(text);
        self.line.tokens.push(Token {
            kind,
            text,
            span,
            expansion: ExpansionId::ROOT,
            joined: self.line.joined,
        });
        self.line.joined = true;
    }

    fn bracket(&mut self, text: &str, span: Span) {
        let opened = match text {
            "(" | "[" | "{" => {
                let bracket = text.as_bytes()[0] as char;
                self.line.brackets.push((bracket, span));
                return;
            }
            ")" => '(',
            "]" => '[',
            "}" => '{',
            _ => return,
        };
        match self.line.brackets.pop() {
            Some((bracket, _)) if bracket == opened => {}
            _ if self.is_free_text() => {}
            Some((bracket, opener)) => {
                let call = self.is_macro_call(opener);
                let wanted = closing_bracket(bracket);
                let error = self.error(
                    codes::UNEXPECTED_BRACKET,
                    format!("`{text}` does not close `{bracket}`"),
                    span,
                );
                *error = error
                    .clone()
                    .label(format!("`{wanted}` was expected"))
                    .also(opener, ExpansionId::ROOT, "opened here");
                if call {
                    // Existing sources contain this, and the original tool accepts it; the meaning
                    // is clear.
                    error.level = Severity::Warning;
                    *error = error
                        .clone()
                        .note("The bracket is read as the end of the macro's arguments.")
                        .help(format!("close the arguments with `{wanted}`"))
                        .patch(span, wanted);
                    let close = self.interner.get(wanted);
                    if let Some(last) = self.line.tokens.last_mut() {
                        last.text = close;
                    }
                }
            }
            None => {
                let left_open = self.left_open.filter(|(open, _)| *open == opened);
                let error = self.error(
                    codes::UNEXPECTED_BRACKET,
                    format!("`{text}` closes no bracket"),
                    span,
                );
                error.help = Some("remove it, or open one before it".into());
                if let Some((open, opener)) = left_open {
                    *error = error
                        .clone()
                        .also(opener, ExpansionId::ROOT, format!("this `{open}` is not closed"))
                        .help("close the bracket of the `#define` in its own line, or end that with `\\`");
                }
            }
        }
    }

    /// Whether a bracket opens the arguments of a macro: it follows the first word of the line, or
    /// the first after its labels.
    fn is_macro_call(&self, opener: Span) -> bool {
        let tokens = &self.line.tokens;
        let (_, statement) = match self.directive() {
            Some(PreprocessorDirective::Define) => split_labels(define_text(tokens)),
            None if self.line.hash.is_none() => split_labels(tokens),
            _ => return false,
        };
        self.line.brackets.is_empty()
            && matches!(statement, [name, open, ..]
                if name.kind == TokenKind::Ident
                    && open.span == opener
                    && (open.is("(") || open.is("[") && mnemonic(&name.text).is_none()))
    }

    /// Whether the line is a message, which may be arbitrary text.
    fn is_free_text(&self) -> bool {
        self.directive()
            .is_some_and(PreprocessorDirective::is_message)
    }

    /// Whether the line is a `#define`.
    fn is_define(&self) -> bool {
        self.directive() == Some(PreprocessorDirective::Define)
    }

    /// Returns the directive of the open line.
    fn directive(&self) -> Option<PreprocessorDirective> {
        self.line.hash?;
        PreprocessorDirective::named(&self.line.tokens.first()?.text)
    }

    /// Handles the end of a physical line; `next` is the byte after the newline.
    fn newline(&mut self, next: u32) {
        // A newline after a backslash is part of that lexeme and never gets here.
        let comma = self.line.tokens.last().is_some_and(|t| t.is(","));
        let open = !self.line.brackets.is_empty() && !self.is_free_text();
        if open || (comma && self.line.hash.is_none()) {
            self.line.continued = true;
            if self.line.first_end.is_none() && self.is_define() {
                self.line.first_end = Some(FirstLineEnd {
                    next,
                    tokens: self.line.tokens.len(),
                    errors: self.line.errors.len(),
                });
            }
        } else {
            self.end_line(LineEnding::Newline);
        }
    }

    fn end_line(&mut self, ending: LineEnding) {
        let free_text = self.is_free_text();
        self.left_open = None;
        if ending != LineEnding::Newline && !free_text {
            let unclosed = self.line.brackets.first().copied();
            if let Some((bracket, opener)) = unclosed {
                if let Some(first) = self.line.first_end {
                    self.line.tokens.truncate(first.tokens);
                    self.line.errors.truncate(first.errors);
                    self.resume = Some(first.next);
                    self.left_open = Some((bracket, opener));
                }
                let error = self.error(
                    codes::UNCLOSED_BRACKET,
                    format!("`{bracket}` is not closed"),
                    opener,
                );
                error.primary.text = "opened here".into();
                error.help = Some(format!(
                    "put `{}` before the end of the statement",
                    closing_bracket(bracket)
                ));
            } else if self.line.hash.is_none()
                && let Some(comma) = self.line.tokens.last().filter(|t| t.is(",")).cloned()
            {
                let error = self.error(
                    codes::TRAILING_COMMA,
                    "nothing follows this comma".into(),
                    comma.span,
                );
                error.help =
                    Some("a line that ends with a comma continues on the next line".into());
            }
        }
        // The open line keeps its allocations for tokens and brackets; a finished line is allocated
        // to size.
        let line = &mut self.line;
        let hash = line.hash.take();
        line.brackets.clear();
        (line.joined, line.paste, line.continued) = (false, None, false);
        line.first_end = None;
        let mut errors = std::mem::take(&mut line.errors);
        let name = (hash.is_some() && !line.tokens.is_empty()).then(|| line.tokens.remove(0));
        let tokens: Vec<Token> = line.tokens.drain(..).collect();
        if hash.is_none()
            && let Some(paste) = [tokens.first(), tokens.last()]
                .into_iter()
                .flatten()
                .find(|token| token.is("##"))
        {
            errors.push(
                Diagnostic::error(
                    codes::PASTE_OPERAND,
                    "there is nothing to paste on one side of `##`",
                    paste.span,
                    ExpansionId::ROOT,
                )
                .help("`##` joins the token before it with the token after it"),
            );
        }
        let directive = hash.map(|hash| {
            let Some(mut name) = name else {
                let name = Token {
                    kind: TokenKind::Punct,
                    text: self.interner.get("#"),
                    span: hash,
                    expansion: ExpansionId::ROOT,
                    joined: false,
                };
                return (HashWord::Nothing, name);
            };
            let directive = PreprocessorDirective::named(&name.text);
            let directive = directive.map_or(HashWord::Unknown, HashWord::Directive);
            name.span = hash.to(name.span);
            (directive, name)
        });
        if !tokens.is_empty() || directive.is_some() || !errors.is_empty() {
            self.lines.push(RawLine {
                tokens,
                directive,
                errors,
            });
        }
    }
}

/// Returns the replacement text of a `#define` with these tokens so far.
fn define_text(tokens: &[Token]) -> &[Token] {
    let rest = tokens.get(2..).unwrap_or_default();
    if !rest.first().is_some_and(|open| open.is("(") && open.joined) {
        return rest;
    }
    let close = rest.iter().position(|token| token.is(")"));
    close.map_or(&[], |close| &rest[close + 1..])
}

/// Joins the lines of a continued string, without indentation.
fn join_continued_lines(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let part = |line: &str| -> String {
        let line = line.trim_end_matches('\r');
        line.strip_suffix('\\').unwrap_or(line).trim().to_owned()
    };
    Cow::Owned(text.split('\n').map(part).collect::<Vec<_>>().join(" "))
}

fn closing_bracket(bracket: char) -> &'static str {
    match bracket {
        '(' => ")",
        '[' => "]",
        _ => "}",
    }
}

#[cfg(test)]
mod tests;
