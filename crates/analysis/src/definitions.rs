//! The macros and names defined by a text, with their comments, read without assembling it.

use std::ops::Range;

use npsim_asm::directives::PreprocessorDirective as Directive;
use npsim_asm::front::text::{TextLine, without_comments};
use npsim_asm::front::token::{Token, TokenKind};

/// A `#macro`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    /// The name.
    pub name: String,
    /// The parameters.
    pub parameters: Vec<String>,
    /// The bytes of the name.
    pub place: Range<usize>,
    /// From the directive to its `#endm`.
    pub whole: Range<usize>,
    /// The comment before it, without comment marks.
    pub comment: String,
}

impl Macro {
    /// `name(a, b)`
    #[must_use]
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }
}

/// A `#define` or `#define_eval`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// The name.
    pub name: String,
    /// `(a, b)` if it takes arguments.
    pub parameters: Option<String>,
    /// Its replacement.
    pub value: String,
    /// The bytes of the name.
    pub place: Range<usize>,
    /// The whole directive.
    pub whole: Range<usize>,
    /// The comment on its line, or the one before it.
    pub comment: String,
}

/// The definitions of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Macros, in order of the text.
    pub macros: Vec<Macro>,
    /// Names, in order of the text.
    pub defines: Vec<Define>,
}

/// The bytes of a token.
pub(super) fn place(token: &Token) -> Range<usize> {
    token.span.lo as usize..token.span.hi as usize
}

/// All macros and names defined by a text with these lines, whether the lines are active or not.
#[must_use]
pub fn definitions(text: &str, lines: &[TextLine]) -> Definitions {
    let mut found = Definitions::default();
    let mut open: Vec<usize> = Vec::new();
    // Pieces that begin after a token do not begin in a comment.
    let code = |piece: Range<usize>| without_comments(&text[piece]);
    for line in lines {
        let Some(directive) = &line.directive else {
            continue;
        };
        let from = place(directive).start;
        let end = place(line.tokens.last().unwrap_or(directive)).end;
        let line_start = text[..from].rfind('\n').map_or(0, |at| at + 1);
        let kind = Directive::named(&directive.text);
        match (kind, line.tokens.as_slice()) {
            (Some(Directive::Macro), [name, list @ ..]) => {
                let parameters = list.iter().filter(|token| token.kind == TokenKind::Ident);
                open.push(found.macros.len());
                found.macros.push(Macro {
                    name: name.text.to_string(),
                    parameters: parameters.map(|token| token.text.to_string()).collect(),
                    place: place(name),
                    whole: from..end,
                    comment: comment_before(text, line_start),
                });
            }
            (Some(Directive::Endm), _) => {
                if let Some(index) = open.pop() {
                    found.macros[index].whole.end = end;
                }
            }
            (Some(Directive::Define | Directive::DefineEval), [name, value @ ..]) => {
                // Parameters require a bracket directly after the name.
                let list = value.first().filter(|open| open.is("(") && open.joined);
                let list = list
                    .filter(|_| kind == Some(Directive::Define))
                    .and_then(|open| {
                        let close = value.iter().find(|token| token.is(")"))?;
                        Some((place(open).end, place(close)))
                    });
                let value = list
                    .as_ref()
                    .map_or(place(name).end, |(_, close)| close.end);
                let beside = code_comment(text, end);
                found.defines.push(Define {
                    name: name.text.to_string(),
                    parameters: list
                        .map(|(open, close)| format!("({})", code(open..close.start).trim())),
                    value: code(value..end).trim().to_owned(),
                    place: place(name),
                    whole: from..end,
                    comment: if beside.is_empty() {
                        comment_before(text, line_start)
                    } else {
                        beside
                    },
                });
            }
            _ => {}
        }
    }
    found
}

/// A comment line's text.
fn comment_text(line: &str) -> Option<&str> {
    let line = line.trim();
    let text = line.strip_prefix("//").or_else(|| line.strip_prefix(';'))?;
    Some(text.trim_start_matches([';', '/']))
}

/// The comment lines directly above the line that begins at `at`.
fn comment_before(text: &str, at: usize) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text[..at].lines().rev() {
        match comment_text(line) {
            Some(comment) => lines.push(comment),
            None => break,
        }
    }
    lines.reverse();
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let cut: Vec<_> = lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or("").trim_end())
        .collect();
    cut.join("\n").trim_matches('\n').to_owned()
}

/// The comment in the rest of a line.
fn code_comment(text: &str, at: usize) -> String {
    let line = text[at..].lines().next().unwrap_or("");
    comment_text(line).unwrap_or("").trim().to_owned()
}
