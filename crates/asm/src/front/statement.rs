//! What one line of the program says, before any name in it is looked up.

use npsim_isa::NewerInstruction;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{self, DirectiveName, PreprocessorDirective};
use crate::front::token::Token;
use crate::source::{ExpansionId, Span};
use crate::spelling::closest;

/// A place in the source together with the macro use it came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Where the text stands.
    pub span: Span,
    /// In whose body.
    pub expansion: ExpansionId,
}

impl SourcePlace {
    /// The place of one token.
    #[must_use]
    pub fn of(token: &Token) -> Self {
        Self {
            span: token.span,
            expansion: token.expansion,
        }
    }

    /// The place of several tokens, as far as they stand together; `None` for no tokens.
    #[must_use]
    pub fn of_all(tokens: &[Token]) -> Option<Self> {
        let first = tokens.first()?;
        let mut place = Self::of(first);
        for token in tokens {
            if token.expansion == place.expansion {
                place.span = place.span.to(token.span);
            }
        }
        Some(place)
    }

    /// An instruction here that the target's microengines lack.
    #[must_use]
    pub fn newer_instruction(self, newer: NewerInstruction) -> Diagnostic {
        let since = newer.since;
        self.error(codes::UNKNOWN_INSTRUCTION, newer.to_string())
            .label(format!("only from {since} on"))
            .help(format!(
                "choose a chip with {since} microengines, or write it with older instructions"
            ))
    }

    /// An error here.
    #[must_use]
    pub fn error(self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message, self.span, self.expansion)
    }

    /// A warning here.
    #[must_use]
    pub fn warning(self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, message, self.span, self.expansion)
    }
}

/// One line.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Labels defined before what follows, each with its `#`.
    pub labels: Vec<Token>,
    /// What follows them.
    pub body: Body,
}

impl Statement {
    /// The directive, if it is one.
    pub fn directive(&self) -> Option<&Directive> {
        match &self.body {
            Body::Directive(directive) => Some(directive),
            Body::Empty | Body::Instruction(_) => None,
        }
    }
}

/// The part of a line after its labels.
#[derive(Clone, Debug)]
pub enum Body {
    /// Only labels.
    Empty,
    /// A microword.
    Instruction(Instruction),
    /// `.name ...`
    Directive(Directive),
}

/// `mnemonic[operand, ...], option, ...`
#[derive(Clone, Debug)]
pub struct Instruction {
    /// In lower case, such as `br!=ctx`.
    pub mnemonic: String,
    /// Where the mnemonic stands.
    pub mnemonic_place: SourcePlace,
    /// The tokens between the commas.
    pub operands: Vec<Vec<Token>>,
    /// The optional tokens after the bracket.
    pub options: Vec<OptionalToken>,
    /// The whole instruction.
    pub place: SourcePlace,
    /// The word, where it is given and the rest only says what it does.
    pub raw: Option<u64>,
    /// Made by the assembler for a structured construct.
    pub generated: bool,
    /// Number of the source's statement that it comes from.
    pub statement: usize,
}

/// An optional token such as `ctx_swap[s]` or `indirect_ref`.
#[derive(Clone, Debug)]
pub struct OptionalToken {
    /// In lower case.
    pub name: String,
    /// Where it stands.
    pub place: SourcePlace,
    /// The bracketed arguments, none for a bare name.
    pub arguments: Vec<Vec<Token>>,
}

/// `.name arguments`
#[derive(Clone, Debug)]
pub struct Directive {
    /// What it is.
    pub name: DirectiveName,
    /// How it is spelt, in lower case and with the dot.
    pub spelling: &'static str,
    /// Where the name stands.
    pub place: SourcePlace,
    /// All that follows it.
    pub arguments: Vec<Token>,
}

/// A line whose first word begins with a dot and is no directive.
#[derive(Clone, Debug)]
pub struct UnknownDirective<'t> {
    /// Labels defined before it.
    pub labels: Vec<Token>,
    /// The word.
    pub word: &'t Token,
    /// All that follows it.
    pub arguments: &'t [Token],
}

impl UnknownDirective<'_> {
    /// What is wrong with it, and what to write.
    pub fn diagnostic(&self) -> Diagnostic {
        let word = self.word.text.to_ascii_lowercase();
        let place = SourcePlace::of(self.word);
        let diagnostic = place.error(
            codes::UNSUPPORTED_DIRECTIVE,
            format!("the directive `{word}` is not supported"),
        );
        if let Some(meant) = directives::meant(&word) {
            let meant = meant.word().name;
            return diagnostic
                .help(format!("write `{meant}`"))
                .patch(place.span, meant);
        }
        if let Some(meant) = PreprocessorDirective::named(&word[1..]) {
            let meant = meant.word().name;
            return diagnostic
                .help(format!(
                    "write `{meant}` here: the preprocessor carries it out"
                ))
                .patch(place.span, meant);
        }
        match closest(&word, directives::names()) {
            Some(near) => diagnostic
                .help(format!("did you mean `{near}`?"))
                .patch(place.span, near),
            None => diagnostic.help("remove it, or write what it stands for with instructions"),
        }
    }

    /// The statement to go on with: the directive that was meant, so that its block has an
    /// end, or nothing but the labels.
    pub fn stand_in(self) -> Statement {
        let body = match directives::meant(&self.word.text) {
            None => Body::Empty,
            Some(meant) => Body::Directive(Directive::new(
                DirectiveName::Structured(meant),
                SourcePlace::of(self.word),
                self.arguments.to_vec(),
            )),
        };
        Statement {
            labels: self.labels,
            body,
        }
    }
}

impl Directive {
    /// A directive that the assembler makes, in its own spelling.
    pub fn new(name: DirectiveName, place: SourcePlace, arguments: Vec<Token>) -> Self {
        Self {
            name,
            spelling: name.word().name,
            place,
            arguments,
        }
    }
}
