//! Messages of the assembler for other programs: one JSON object each, in the format that
//! `docs/src/messages.md` describes.

use npsim_asm::diagnostic::Label;
use npsim_asm::source::ExpansionId;
use npsim_asm::{Diagnostic, Severity, SourceMap, Span};
use serde::Serialize;

use crate::problem::{Problem, floor_boundary};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticMessage {
    /// `error`, `warning` or `note`.
    pub level: &'static str,
    /// The diagnostic's name; `None` for a message outside of sources.
    pub code: Option<&'static str>,
    /// The message, on one line.
    pub message: String,
    /// The place that it refers to, if any.
    pub primary: Option<MessagePlace>,
    /// Further places.
    pub secondary: Vec<MessagePlace>,
    /// Explanations.
    pub notes: Vec<String>,
    /// Suggested remedy.
    pub help: Option<String>,
    /// Replacements that would fix the source.
    pub patches: Vec<Edit>,
    /// The message as shown to people, without styles.
    pub rendered: String,
}

/// A place in a text, with its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessagePlace {
    /// The place.
    #[serde(flatten)]
    pub range: TextRange,
    /// The text at that place.
    pub text: String,
    /// The label; may be empty.
    pub label: String,
    /// The macro uses through which the text was expanded, innermost first.
    pub expansions: Vec<Expansion>,
}

/// A range of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextRange {
    /// The file's path.
    pub file: String,
    /// Line of the first character, from 1.
    pub line: u32,
    /// Byte in that line, from 1.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// The byte after the last one, in the last line, from 1.
    pub end_column: u32,
    /// First byte in the file, from 0.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

/// A use of a macro.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Expansion {
    /// The macro.
    #[serde(rename = "macro")]
    pub name: String,
    /// Where it is used.
    pub call: TextRange,
}

/// A text replacement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// The range to replace; empty for an insertion.
    #[serde(flatten)]
    pub range: TextRange,
    /// The new text.
    pub replacement: String,
}

impl DiagnosticMessage {
    /// Creates the message for a diagnostic of the assembler; `rendered` is its text for people.
    #[must_use]
    pub fn new(diagnostic: &Diagnostic, sources: &SourceMap, rendered: &str) -> Self {
        Self {
            level: level_name(diagnostic.level),
            code: Some(diagnostic.code),
            message: diagnostic.message.clone(),
            primary: Some(place(&diagnostic.primary, sources)),
            secondary: diagnostic
                .secondary
                .iter()
                .map(|label| place(label, sources))
                .collect(),
            notes: diagnostic.notes.clone(),
            help: diagnostic.help.clone(),
            patches: diagnostic
                .patches
                .iter()
                .map(|patch| Edit {
                    range: range(patch.span, sources),
                    replacement: patch.replacement.clone(),
                })
                .collect(),
            rendered: plain(rendered),
        }
    }

    /// Creates the message for an error in a project file or on the command line.
    #[must_use]
    pub fn of_problem(problem: &Problem, rendered: &str) -> Self {
        Self::outside(Severity::Error, problem, rendered)
    }

    /// Creates the message for a remark outside of sources.
    pub(crate) fn of_remark(remark: &Problem, rendered: &str) -> Self {
        Self::outside(Severity::Note, remark, rendered)
    }

    fn outside(level: Severity, problem: &Problem, rendered: &str) -> Self {
        let primary = problem.excerpt.as_ref().map(|excerpt| {
            let start = floor_boundary(&excerpt.text, excerpt.span.start);
            let end = floor_boundary(&excerpt.text, excerpt.span.end).max(start);
            MessagePlace {
                range: text_range(&excerpt.path, &excerpt.text, start, end),
                text: excerpt.text[start..end].to_owned(),
                label: excerpt.label.clone(),
                expansions: Vec::new(),
            }
        });
        Self {
            level: level_name(level),
            code: None,
            message: problem.message.clone(),
            primary,
            secondary: Vec::new(),
            notes: problem.notes.clone(),
            help: problem.help.clone(),
            patches: Vec::new(),
            rendered: plain(rendered),
        }
    }

    /// Returns the JSON object on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        // It has only strings, numbers and lists, which JSON can always represent.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Returns the name of a level.
#[must_use]
pub(crate) const fn level_name(level: Severity) -> &'static str {
    match level {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn plain(rendered: &str) -> String {
    anstream::adapter::strip_str(rendered).to_string()
}

fn place(label: &Label, sources: &SourceMap) -> MessagePlace {
    let range = range(label.span, sources);
    let text = &sources.file(label.span.file).text;
    MessagePlace {
        text: text[range.start as usize..range.end as usize].to_owned(),
        range,
        label: label.text.clone(),
        expansions: chain(label.expansion, sources),
    }
}

fn chain(expansion: ExpansionId, sources: &SourceMap) -> Vec<Expansion> {
    sources
        .expansion_chain(expansion)
        .map(|used| Expansion {
            name: used.name.clone(),
            call: range(used.call, sources),
        })
        .collect()
}

fn range(span: Span, sources: &SourceMap) -> TextRange {
    let file = sources.file(span.file);
    let start = floor_boundary(&file.text, span.lo as usize);
    let end = floor_boundary(&file.text, span.hi as usize).max(start);
    text_range(&file.path, &file.text, start, end)
}

fn text_range(path: &str, text: &str, start: usize, end: usize) -> TextRange {
    let position = |at: usize| {
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let column = at - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
        (line as u32, column as u32)
    };
    let (line, column) = position(start);
    let (end_line, end_column) = position(end);
    TextRange {
        file: path.to_owned(),
        line,
        column,
        end_line,
        end_column,
        start: start as u32,
        end: end as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::DiagnosticMessage;
    use crate::diagnostics::{render_diagnostic, render_problem};
    use crate::problem::{Excerpt, Problem};
    use npsim_asm::source::{Expansion, ExpansionId};
    use npsim_asm::{Diagnostic, SourceMap, Span};

    #[test]
    fn json_place_has_line_offset_text_and_expansions() {
        let mut sources = SourceMap::default();
        let main = sources.add_file("main.uc".into(), "nop\nput(r0)\n".into(), None);
        let lib = sources.add_file("lib.uc".into(), "; µ\nalu[a, b]\n".into(), None);
        let expansion = sources.add_expansion(Expansion {
            name: "put".into(),
            call: Span {
                file: main,
                lo: 4,
                hi: 11,
            },
            parent: ExpansionId::ROOT,
            arguments: Vec::new(),
        });
        let span = Span {
            file: lib,
            lo: 5,
            hi: 8,
        };
        let diagnostic = Diagnostic::warning("syntax", "odd", span, expansion)
            .label("here")
            .patch(span, "ALU");
        let rendered = render_diagnostic(&diagnostic, &sources);
        let json: serde_json::Value = serde_json::from_str(
            &DiagnosticMessage::new(&diagnostic, &sources, &rendered).to_json(),
        )
        .expect("an object");
        assert_eq!(json["level"], "warning");
        assert_eq!(json["code"], "syntax");
        assert_eq!(json["primary"]["file"], "lib.uc");
        assert_eq!(json["primary"]["line"], 2);
        assert_eq!(json["primary"]["column"], 1);
        assert_eq!(json["primary"]["end_column"], 4);
        assert_eq!(json["primary"]["start"], 5);
        assert_eq!(json["primary"]["text"], "alu");
        assert_eq!(json["primary"]["expansions"][0]["macro"], "put");
        assert_eq!(json["primary"]["expansions"][0]["call"]["line"], 2);
        assert_eq!(json["patches"][0]["replacement"], "ALU");
        let shown = json["rendered"].as_str().expect("a text");
        assert!(
            shown.contains("lib.uc:2:1") && !shown.contains('\u{1b}'),
            "{shown}"
        );
    }

    #[test]
    fn place_is_taken_from_the_problems_excerpt() {
        let problem = Problem::new("bad").at(Excerpt {
            path: "p.toml".into(),
            text: "a\nb = µ".into(),
            span: 6..99,
            label: "x".into(),
        });
        let message = DiagnosticMessage::of_problem(&problem, &render_problem(&problem));
        let place = message.primary.expect("a place");
        assert_eq!((place.range.line, place.range.column), (2, 5));
        assert_eq!((place.text.as_str(), place.range.end), ("µ", 8));
        assert_eq!(message.code, None);
    }
}
