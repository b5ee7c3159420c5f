//! The statements of a program, before any name in them is looked up.

use npsim_isa::NewerInstruction;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{self, DirectiveName, PreprocessorDirective};
use crate::front::token::Token;
use crate::source::{ExpansionId, Span};
use crate::spelling::closest;

/// A place in the source, with the macro expansion that it came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The span of the text.
    pub span: Span,
    /// The expansion that contains it.
    pub expansion: ExpansionId,
}

impl SourcePlace {
    /// Returns the place of a token.
    #[must_use]
    pub fn of(token: &Token) -> Self {
        Self {
            span: token.span,
            expansion: token.expansion,
        }
    }

    /// Returns the place of several tokens, as far as they are contiguous; `None` if there are no
    /// tokens.
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

    /// Makes the error for an instruction that the target's microengines lack.
    #[must_use]
    pub fn newer_instruction(self, newer: NewerInstruction) -> Diagnostic {
        let since = newer.since;
        self.error(codes::UNKNOWN_INSTRUCTION, newer.to_string())
            .label(format!("only from {since} on"))
            .help(format!(
                "choose a chip with {since} microengines, or replace the instruction with older ones"
            ))
    }

    /// Makes an error at this place.
    #[must_use]
    pub fn error(self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message, self.span, self.expansion)
    }

    /// Makes a warning at this place.
    #[must_use]
    pub fn warning(self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, message, self.span, self.expansion)
    }
}

/// The statement on one line.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Labels before the body, each with its `#`.
    pub labels: Vec<Token>,
    /// The body after the labels.
    pub body: Body,
}

impl Statement {
    /// Returns the directive, if the body is one.
    pub fn directive(&self) -> Option<&Directive> {
        match &self.body {
            Body::Directive(directive) => Some(directive),
            Body::Empty | Body::Instruction(_) => None,
        }
    }
}

/// The body of a statement, after its labels.
#[derive(Clone, Debug)]
pub enum Body {
    /// No body, only labels.
    Empty,
    /// An instruction.
    Instruction(Instruction),
    /// A directive, `.name ...`.
    Directive(Directive),
}

/// An instruction, `mnemonic[operand, ...], option, ...`.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The mnemonic in lower case, such as `br!=ctx`.
    pub mnemonic: String,
    /// The place of the mnemonic.
    pub mnemonic_place: SourcePlace,
    /// The operands: the tokens between the commas.
    pub operands: Vec<Vec<Token>>,
    /// The optional tokens after the bracket.
    pub options: Vec<OptionalToken>,
    /// The place of the whole instruction.
    pub place: SourcePlace,
    /// The encoded word, if the source gives it; the other fields then only describe its effect.
    pub raw: Option<u64>,
    /// Whether the assembler generated it for a structured construct.
    pub generated: bool,
    /// Index of the source statement that it comes from.
    pub statement: usize,
}

/// An optional token such as `ctx_swap[s]` or `indirect_ref`.
#[derive(Clone, Debug)]
pub struct OptionalToken {
    /// The name in lower case.
    pub name: String,
    /// Its place in the source.
    pub place: SourcePlace,
    /// The bracketed arguments; empty for a bare name.
    pub arguments: Vec<Vec<Token>>,
}

/// A directive, `.name arguments`.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The directive.
    pub name: DirectiveName,
    /// Its spelling, in lower case and including the dot.
    pub spelling: &'static str,
    /// The place of its name.
    pub place: SourcePlace,
    /// All tokens after the name.
    pub arguments: Vec<Token>,
}

/// A line whose first word begins with a dot but is not a directive.
#[derive(Clone, Debug)]
pub struct UnknownDirective<'t> {
    /// Labels before it.
    pub labels: Vec<Token>,
    /// The word.
    pub word: &'t Token,
    /// All tokens after the word.
    pub arguments: &'t [Token],
}

impl UnknownDirective<'_> {
    /// Makes the diagnostic, with a suggestion.
    pub fn diagnostic(&self) -> Diagnostic {
        let word = self.word.text.to_ascii_lowercase();
        let place = SourcePlace::of(self.word);
        let diagnostic = place.error(
            codes::UNSUPPORTED_DIRECTIVE,
            format!("the directive `{word}` is not supported"),
        );
        if let Some(intended_directive) = directives::intended_directive(&word) {
            let intended_directive = intended_directive.word().name;
            return diagnostic
                .help(format!("write `{intended_directive}`"))
                .patch(place.span, intended_directive);
        }
        if let Some(intended_directive) = PreprocessorDirective::named(&word[1..]) {
            let intended_directive = intended_directive.word().name;
            return diagnostic
                .help(format!(
                    "write `{intended_directive}` instead; it is a preprocessor directive"
                ))
                .patch(place.span, intended_directive);
        }
        match closest(&word, directives::names()) {
            Some(near) => diagnostic
                .help(format!("did you mean `{near}`?"))
                .patch(place.span, near),
            None => diagnostic.help("remove the directive, or write its effect with instructions"),
        }
    }

    /// Returns the statement to continue with: the directive that was probably meant, so that its
    /// block has an end, or just the labels.
    pub fn stub(self) -> Statement {
        let body = match directives::intended_directive(&self.word.text) {
            None => Body::Empty,
            Some(intended_directive) => Body::Directive(Directive::new(
                DirectiveName::Structured(intended_directive),
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
    /// Makes a directive with its canonical spelling.
    pub fn new(name: DirectiveName, place: SourcePlace, arguments: Vec<Token>) -> Self {
        Self {
            name,
            spelling: name.word().name,
            place,
            arguments,
        }
    }
}
