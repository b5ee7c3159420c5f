//! Formatting of texts as by `npsim fmt`.

use std::ops::Range;
use std::path::Path;

use npsim_asm::format::format;

use super::position::Edit;
use super::workspace::{Workspace, is_toml};

impl Workspace {
    /// The edits that format a text, or the lines of it that contain the bytes of `range`: one for
    /// each changed line, so that an editor keeps its position in the others. `None` for a project
    /// file.
    #[must_use]
    pub fn layout(&self, path: &Path, range: Option<&Range<usize>>) -> Option<Vec<Edit>> {
        // Project files are in another language.
        let text = (!is_toml(path)).then(|| self.documents.text(path))??;
        let formatted = format(&text);
        let requested = |start: usize| {
            range.is_none_or(|range| {
                let first = text.line_start(range.start);
                // A selection of whole lines ends where the next one begins.
                start == first || (first..range.end).contains(&start)
            })
        };
        let edit = |range: Range<usize>, new: &str| Edit {
            place: text.place(path, range),
            text: new.to_owned(),
        };
        let lines = text.split('\n').zip(formatted.split('\n'));
        let mut edits: Vec<Edit> = { text.starts().iter().zip(lines) }
            .filter(|(start, (old, new))| old != new && requested(**start))
            .map(|(start, (old, new))| edit(*start..start + old.len(), new))
            .collect();
        // The missing newline at the end of the last line.
        let last = text.line_start(text.len());
        if last < text.len() && requested(last) {
            match edits.last_mut() {
                Some(edit) if edit.place.range.start == last => edit.text.push('\n'),
                _ => edits.push(edit(text.len()..text.len(), "\n")),
            }
        }
        Some(edits)
    }
}
