//! The words of the language that are in no instruction table: directives, preprocessor directives,
//! functions and optional tokens, from the assembler's tables. The editor support and its grammars
//! are generated from them.

use npsim_asm::directives::{
    DirectiveName, PreprocessorDirective, StructuredDirective, UNSTRUCTURED,
};
use npsim_asm::vocabulary::{ConditionFunction, Function, OPTIONAL_TOKENS};

pub use npsim_asm::directives::SPELLINGS;
pub use npsim_asm::vocabulary::Word;

/// Directives of structured assembly.
pub const STRUCTURED: &[Word] = StructuredDirective::WORDS;
/// Directives of the preprocessor.
pub const PREPROCESSOR: &[Word] = PreprocessorDirective::WORDS;
/// Functions of constant expressions.
pub const FUNCTIONS: &[Word] = Function::WORDS;
/// Functions of the conditions of `.if` and `.while`.
pub const CONDITIONS: &[Word] = ConditionFunction::WORDS;
/// Optional tokens after the brackets of an instruction.
pub const OPTIONS: &[Word] = OPTIONAL_TOKENS;

/// Directives of the assembler.
pub fn directives() -> impl Iterator<Item = &'static Word> {
    UNSTRUCTURED.into_iter().flatten().chain(STRUCTURED)
}

/// All words.
fn words() -> impl Iterator<Item = &'static Word> {
    let others = [PREPROCESSOR, FUNCTIONS, CONDITIONS, OPTIONS];
    directives().chain(others.into_iter().flatten())
}

/// The word with this name, ignoring case.
#[must_use]
pub fn find(name: &str) -> Option<&'static Word> {
    if let Some((directive, _)) = DirectiveName::parse(name) {
        return Some(directive.word());
    }
    words().find(|word| word.name.eq_ignore_ascii_case(name))
}

/// Pages about the words, to follow those of the instruction tables: titles and
/// Markdown texts.
#[must_use]
pub fn pages() -> Vec<(String, String)> {
    let cell = |text: &str| text.replace('|', "\\|");
    let page = |title: &str, tables: &[&[Word]]| {
        let words = tables.iter().copied().flatten();
        let rows: Vec<String> = words
            .map(|word| format!("| `{}` | {} |\n", cell(word.syntax), cell(word.doc)))
            .collect();
        let head = format!("# {title}\n\n| Form | Meaning |\n| --- | --- |\n");
        (title.to_owned(), head + &rows.concat())
    };
    vec![
        page("Directives", &UNSTRUCTURED),
        page("Structured assembly", &[STRUCTURED, CONDITIONS]),
        page("Optional tokens", &[OPTIONS]),
        page("Preprocessor", &[PREPROCESSOR]),
        page("Functions of constant expressions", &[FUNCTIONS]),
    ]
}

/// The description of a word, as Markdown.
#[must_use]
pub fn entry(name: &str) -> Option<String> {
    let word = find(name)?;
    Some(format!(
        "# {}\n\n    {}\n\n{}\n",
        word.name, word.syntax, word.doc
    ))
}

/// Every name that has an entry.
pub fn names() -> impl Iterator<Item = &'static str> {
    let spellings = SPELLINGS.iter().map(|(spelling, _)| *spelling);
    words().map(|word| word.name).chain(spellings)
}
