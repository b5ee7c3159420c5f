//! Texts in the layout of `npsim fmt`.

use std::path::Path;

use lsp_types::{Position, Range, TextEdit};
use npsim_asm::format::format;

use super::workspace::{Workspace, is_toml};

/// The edits that lay out a text, or the part of it in `range`: one for each line that
/// changes, so that the editor keeps its place in the others.
#[must_use]
pub fn layout(workspace: &Workspace, path: &Path, range: Option<Range>) -> Option<Vec<TextEdit>> {
    // Project files are of another language.
    let text = (!is_toml(path)).then(|| workspace.documents.text(path))??;
    let formatted = format(&text);
    let asked = |line: u32| {
        range.is_none_or(|range| {
            let last = match range.end.character {
                // A selection of whole lines ends where the next one begins.
                0 => range.end.line.saturating_sub(1).max(range.start.line),
                _ => range.end.line,
            };
            (range.start.line..=last).contains(&line)
        })
    };
    let lines = (0..).zip(text.split('\n').zip(formatted.split('\n')));
    let mut edits: Vec<TextEdit> = lines
        .filter(|(line, (old, new))| old != new && asked(*line))
        .map(|(line, (old, new))| {
            let end = Position::new(line, old.encode_utf16().count() as u32);
            TextEdit::new(Range::new(Position::new(line, 0), end), new.to_owned())
        })
        .collect();
    // What the last line lacks at its end.
    let last = text.split('\n').next_back().unwrap_or("");
    if !last.is_empty() && asked(text.split('\n').count() as u32 - 1) {
        let line = text.split('\n').count() as u32 - 1;
        let end = Position::new(line, last.encode_utf16().count() as u32);
        match edits.last_mut() {
            Some(edit) if edit.range.start.line == line => edit.new_text.push('\n'),
            _ => edits.push(TextEdit::new(Range::new(end, end), "\n".to_owned())),
        }
    }
    Some(edits)
}
