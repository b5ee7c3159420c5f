//! Syntax errors that are evident from a text alone.

use std::collections::BTreeSet;
use std::rc::Rc;

use npsim_isa::{CommandOp, mnemonic, physical_register};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{DirectiveName, PreprocessorDirective, Role};
use crate::front::lexer::{HashWord, Interner, RawLine, lex};
use crate::front::parse::statement_of;
use crate::front::token::{Token, TokenKind, split_labels};
use crate::source::{ExpansionId, FileId, Span};
use crate::vocabulary::OPTIONAL_TOKENS;

/// Returns a syntax error in a text, if there is one: a line that cannot be read, or an instruction
/// that is not a statement. Macros, defines and conditionally excluded lines may contain anything,
/// and so may a line that begins with a macro or define. A line with a word that may be defined
/// elsewhere is not an error either, as the definition may supply what the line lacks.
#[must_use]
pub fn syntax_error(text: &str) -> Option<Diagnostic> {
    if let Some(error) = stray_carriage_return(text) {
        return Some(error);
    }
    let lines = lex(text, FileId(0), &mut Interner::default());
    let names = Names::of(&lines);
    let mut depth = 0usize;
    for line in &lines {
        let comment = |error: &Diagnostic| error.code == codes::UNTERMINATED_COMMENT;
        let certain = depth == 0 && !line.is_define();
        let mut errors = line.errors.iter().filter(|error| error.is_error());
        if let Some(error) = errors.find(|error| certain || comment(error)) {
            return Some(error.clone());
        }
        match &line.directive {
            Some((HashWord::Directive(directive), _)) => match directive.role() {
                Role::Opens(_) => depth += 1,
                Role::Closes(_) => depth = depth.saturating_sub(1),
                Role::Continues(_) | Role::Declares | Role::Plain => {}
            },
            None if certain && names.has_only_known_words(&line.tokens) => {
                if let Err(error) = statement_of(&line.tokens) {
                    return Some(error);
                }
            }
            Some(_) | None => {}
        }
    }
    None
}

/// Returns an error for a carriage return within a line, which does not end the line.
fn stray_carriage_return(text: &str) -> Option<Diagnostic> {
    let mut returns = text.match_indices('\r').map(|(at, _)| at);
    let ends = |at: usize| text[at..].trim_start_matches('\r').starts_with('\n');
    let at = returns
        .find(|at| !ends(*at) && !text[*at..].trim_end_matches(['\r', '\u{1a}']).is_empty())?;
    let span = Span {
        file: FileId(0),
        lo: at as u32,
        hi: at as u32 + 1,
    };
    let message = "a carriage return alone does not end the line";
    let error = Diagnostic::error(codes::INVALID_CHARACTER, message, span, ExpansionId::ROOT);
    Some(error.help("end each line with a line feed, or with a carriage return and a line feed"))
}

/// The names that a text defines.
#[derive(Default)]
struct Names {
    /// Registers, signals and other names of the program.
    declared: BTreeSet<Rc<str>>,
    /// Macros and defines.
    defined: BTreeSet<Rc<str>>,
}

impl Names {
    fn of(lines: &[RawLine]) -> Self {
        let mut names = Self::default();
        for line in lines {
            let words = { line.tokens.iter() }.filter(|token| token.kind == TokenKind::Ident);
            let texts = words.map(|token| Rc::clone(&token.text));
            match &line.directive {
                Some((HashWord::Directive(directive), _)) if defines(*directive) => {
                    names.defined.extend(texts.take(1));
                }
                None if declares(&line.tokens) => names.declared.extend(texts),
                Some(_) | None => {}
            }
        }
        names
    }

    /// Whether a line begins with an instruction or a directive, and none of its words can stand
    /// for other text.
    fn has_only_known_words(&self, tokens: &[Token]) -> bool {
        let (_, statement) = split_labels(tokens);
        let known = |word: &str| mnemonic(word).is_some() || DirectiveName::parse(word).is_some();
        match statement {
            // A macro may have the name of an instruction.
            [name, open, ..] if open.is("(") && !name.text.starts_with('.') => false,
            [first, operands @ ..] => {
                known(&first.text)
                    && !self.defined.contains(&first.text)
                    && operands.iter().all(|token| self.is_known_word(token))
            }
            [] => false,
        }
    }

    fn is_known_word(&self, token: &Token) -> bool {
        let word = &*token.text;
        token.kind != TokenKind::Ident
            || !self.defined.contains(word)
                && (self.declared.contains(word)
                    || physical_register(word).is_some()
                    || is_language_word(word))
    }
}

/// Whether a directive redefines the first word after it.
const fn defines(directive: PreprocessorDirective) -> bool {
    use PreprocessorDirective as It;
    matches!(directive, It::Define | It::DefineEval | It::Macro | It::For)
}

fn declares(tokens: &[Token]) -> bool {
    let (_, statement) = split_labels(tokens);
    let directive = statement
        .first()
        .and_then(|it| DirectiveName::parse(&it.text));
    directive.is_some_and(|(name, _)| name.role() == Role::Declares)
}

/// Whether a word is an operand or option of instructions by itself.
fn is_language_word(word: &str) -> bool {
    const OPERATORS: [&str; 7] = ["A", "B", "AND", "OR", "XOR", "carry", "indirect"];
    let same = |other: &str| other.eq_ignore_ascii_case(word);
    OPERATORS.into_iter().any(same)
        || mnemonic(word).is_some()
        || DirectiveName::parse(word).is_some()
        || OPTIONAL_TOKENS.iter().any(|option| same(option.name))
        || CommandOp::ALL
            .iter()
            .any(|command| same(command.info().name))
}
