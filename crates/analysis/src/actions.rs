//! Edits that fix the problem of a message.

use std::ops::Range;
use std::path::Path;

use npsim_asm::directives::{DirectiveName, ScopeDirective};
use npsim_asm::front::text::TextLine;
use npsim_asm::front::token::split_labels;
use npsim_asm::name_index::declared_names;
use npsim_asm::{Severity, codes};

use super::analysis::Analysis;
use super::definitions::place;
use super::diagnostics::{Diagnostic, convert_diagnostic};
use super::position::{Edit, Place};
use super::text::Text;
use super::workspace::Workspace;

/// A quick fix for a message.
#[derive(Clone, Debug)]
pub struct Action {
    /// A description of the fix.
    pub title: String,
    /// The changes.
    pub edits: Vec<Edit>,
    /// The message that it fixes.
    pub diagnostic: Diagnostic,
    /// Whether it is the most likely intended fix.
    pub preferred: bool,
}

impl Workspace {
    /// The fixes for the messages that touch a range of a file: the patches of the messages, a
    /// declaration to add or remove, and ways to silence warnings.
    #[must_use]
    pub fn actions(&self, path: &Path, range: &Range<usize>) -> Vec<Action> {
        let mut found: Vec<Action> = Vec::new();
        for analysis in self.analyses_of(path) {
            for message in analysis.diagnostics() {
                let shown = { convert_diagnostic(analysis, message).into_iter() }
                    .find(|it| it.place.path == path && touch(&it.place.range, range));
                let Some(diagnostic) = shown else { continue };
                let mut offer = |title: String, edits, preferred| {
                    let same = |it: &Action| it.title == title && it.edits == edits;
                    if !found.iter().any(same) {
                        found.push(Action {
                            title,
                            edits,
                            diagnostic: diagnostic.clone(),
                            preferred,
                        });
                    }
                };
                if let Some(edits) = patched(analysis, message) {
                    let title = message.help.clone();
                    let title = title.unwrap_or_else(|| format!("mend: {}", message.message));
                    offer(title, edits, true);
                }
                if let Some((title, edit)) = declared(&diagnostic.place, message.code) {
                    offer(title, vec![edit], message.patches.is_empty());
                }
                if matches!(message.code, codes::UNUSED_REGISTER | codes::UNUSED_SIGNAL)
                    && let Some((title, edit)) = self.removed(analysis, message)
                {
                    offer(title, vec![edit], true);
                }
                if message.level == Severity::Warning {
                    let edits = silenced(&diagnostic.place, message.code);
                    offer(format!("silence `{}` here", message.code), edits, false);
                }
            }
        }
        found
    }

    /// Removes an unused name from its declaration; `None` if another use of that text, in a macro
    /// or an included file, needs it.
    fn removed(
        &self,
        analysis: &Analysis,
        message: &npsim_asm::Diagnostic,
    ) -> Option<(String, Edit)> {
        let name = analysis.place(message.primary.span)?;
        let needed = self.analyses_of(&name.path).any(|it| is_used(it, &name));
        let text = &analysis.texts[message.primary.span.file.0 as usize];
        let range = (!needed)
            .then(|| declaration(text, &name.range))
            .flatten()?;
        let title = format!("remove the declaration of `{}`", &text[name.range]);
        let edit = Edit {
            place: text.place(&name.path, range),
            text: String::new(),
        };
        Some((title, edit))
    }
}

/// Whether a program uses a symbol that is declared at a place.
fn is_used(analysis: &Analysis, declared: &Place) -> bool {
    let index = &analysis.index;
    let here = |span| analysis.place(span).as_ref() == Some(declared);
    let declaring = index.references.iter().filter(|it| it.declares);
    { declaring.filter(|it| here(it.span)) }
        .any(|it| index.references_to(it.symbol).any(|it| !it.declares))
}

/// The bytes to delete so that a name is no longer declared: the name with its size and the gap to
/// its neighbour, or the whole line if it declares nothing else.
fn declaration(text: &Text, name: &Range<usize>) -> Option<Range<usize>> {
    let declares = |line: &&TextLine| line.tokens.iter().any(|it| place(it) == *name);
    let line = text.lines().iter().find(declares)?;
    let (labels, statement) = split_labels(&line.tokens);
    let (directive, arguments) = statement.split_first()?;
    let (kind, _) = DirectiveName::parse(&directive.text)?;
    let is_scope = kind == DirectiveName::Scope(ScopeDirective::Local);
    if !is_scope && !matches!(kind, DirectiveName::Declaration(_)) {
        return None;
    }
    let bytes = |name: &Range<usize>| {
        place(&arguments[name.start]).start..place(&arguments[name.end - 1]).end
    };
    let names: Vec<Range<usize>> = declared_names(arguments).iter().map(bytes).collect();
    let at = names.iter().position(|it| it.start == name.start)?;
    let own = &names[at];
    if let Some(next) = names.get(at + 1) {
        return Some(own.start..next.start);
    }
    if let Some(before) = at.checked_sub(1) {
        return Some(names[before].end..own.end);
    }
    let directive = place(directive);
    if is_scope {
        return Some(directive.end..own.end);
    }
    let after = text.starts().get(text.line(own.end) + 1);
    let line = text.line_start(directive.start)..after.copied().unwrap_or(text.len());
    let shared = !labels.is_empty()
        || ["/*", "*/"]
            .iter()
            .any(|it| text[line.clone()].contains(it));
    Some(if shared {
        directive.start..own.end
    } else {
        line
    })
}

const fn touch(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// The patches of a message; `None` if it has none, or one that is not in a file.
fn patched(analysis: &Analysis, message: &npsim_asm::Diagnostic) -> Option<Vec<Edit>> {
    let patches = message.patches.iter().map(|patch| {
        Some(Edit {
            place: analysis.place(patch.span)?,
            text: patch.replacement.clone(),
        })
    });
    let edits: Vec<Edit> = patches.collect::<Option<_>>()?;
    (!edits.is_empty()).then_some(edits)
}

/// An insertion at a byte of a place's file.
fn inserted(place: &Place, at: usize, text: String) -> Edit {
    Edit {
        place: Place::new(&place.path, &place.text, at..at),
        text,
    }
}

/// Declares an undeclared name above the line that uses it.
fn declared(place: &Place, code: &str) -> Option<(String, Edit)> {
    let directive = match code {
        codes::UNDEFINED_REGISTER => ".reg",
        codes::UNDEFINED_SIGNAL => ".sig",
        _ => return None,
    };
    let name = place.text.get(place.range.clone())?;
    if name.is_empty()
        || !name
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "_$@".contains(it))
    {
        return None;
    }
    let line = place.text.line_start(place.range.start);
    let indent: String = place.text[line..]
        .chars()
        .take_while(|it| " \t".contains(*it))
        .collect();
    let edit = inserted(place, line, format!("{indent}{directive} {name}\n"));
    Some((format!("declare `{directive} {name}`"), edit))
}

/// Disables a warning around the lines of a place.
fn silenced(place: &Place, code: &str) -> Vec<Edit> {
    let before = place.text.line_start(place.range.start);
    let off = format!("#pragma warning(push)\n#pragma warning(disable:{code})\n");
    let next = place.text.line(place.range.end) + 1;
    let (after, on) = match place.text.starts().get(next) {
        Some(start) => (*start, "#pragma warning(pop)\n"),
        None => (place.text.len(), "\n#pragma warning(pop)\n"),
    };
    vec![
        inserted(place, before, off),
        inserted(place, after, on.to_owned()),
    ]
}
