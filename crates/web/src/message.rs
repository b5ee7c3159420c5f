//! Messages of the assembler, projects and the analysis in a common form.

use npsim::analysis::{Action, Diagnostic, Edit, LineIndex, Place, Severity};
use npsim::messages::{DiagnosticMessage, TextRange as MessageRange};
use npsim::problem::Problem;
use serde::Serialize;

use crate::file_store::FileStore;
use crate::position::TextRange;

/// A message, with its location if it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are those of the JSON")]
pub struct Message {
    severity: &'static str,
    code: Option<&'static str>,
    path: Option<String>,
    range: Option<TextRange>,
    message: String,
    help: Option<String>,
    notes: Vec<String>,
    related: Vec<Related>,
    repeated: bool,
    fixes: Vec<Fix>,
}

/// Another location related to a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Related {
    path: String,
    range: TextRange,
    message: String,
}

/// A fix for an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    title: String,
    preferred: bool,
    edits: Vec<TextEdit>,
}

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextEdit {
    path: String,
    range: TextRange,
    text: String,
}

impl TextEdit {
    pub fn of(edit: &Edit) -> Self {
        Self {
            path: edit.place.path.display().to_string(),
            range: range_of(&edit.place),
            text: edit.text.clone(),
        }
    }
}

/// The range of a place in its file.
pub fn range_of(place: &Place) -> TextRange {
    TextRange::of(&place.text, &place.range)
}

impl Message {
    /// Converts a message of the assembler.
    pub fn of_assembler(files: &FileStore, said: &DiagnosticMessage) -> Self {
        let place = said.primary.as_ref();
        let place = place.and_then(|it| in_file(files, &it.range));
        let (path, range) = place.unzip();
        let related = said.secondary.iter().filter_map(|it| {
            let (path, range) = in_file(files, &it.range)?;
            let message = it.label.clone();
            Some(Related {
                path,
                range,
                message,
            })
        });
        Self {
            severity: said.level,
            code: said.code,
            path,
            range,
            message: said.message.clone(),
            help: said.help.clone(),
            notes: said.notes.clone(),
            related: related.collect(),
            repeated: false,
            fixes: Vec::new(),
        }
    }

    /// Converts an error in a project file or outside all files.
    pub fn of_problem(files: &FileStore, problem: &Problem) -> Self {
        Self::of_assembler(files, &DiagnosticMessage::of_problem(problem, ""))
    }

    /// Converts a diagnostic of the analysis, with its fixes.
    pub fn of_analysis(found: &Diagnostic, actions: &[Action]) -> Self {
        let mut lines = found.message.lines();
        let message = lines.next().unwrap_or_default().to_owned();
        let (mut notes, mut help) = (Vec::new(), None);
        for line in lines {
            if let Some(text) = line.strip_prefix("help: ") {
                help = Some(text.to_owned());
            } else {
                notes.push(line.strip_prefix("note: ").unwrap_or(line).to_owned());
            }
        }
        let related = found.related.iter().map(|(place, message)| Related {
            path: place.path.display().to_string(),
            range: range_of(place),
            message: message.clone(),
        });
        let fixes = actions.iter().map(|action| Fix {
            title: action.title.clone(),
            preferred: action.preferred,
            edits: action.edits.iter().map(TextEdit::of).collect(),
        });
        Self {
            severity: match found.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            code: found.code,
            path: Some(found.place.path.display().to_string()),
            range: Some(range_of(&found.place)),
            message,
            help,
            notes,
            related: related.collect(),
            repeated: found.repeated,
            fixes: fixes.collect(),
        }
    }
}

/// The path and range of a message's location; `None` if there is no such file.
fn in_file(files: &FileStore, place: &MessageRange) -> Option<(String, TextRange)> {
    let text = LineIndex::new(files.text(place.file.as_ref())?);
    let range = TextRange::of(&text, &(place.start as usize..place.end as usize));
    Some((files.path(&place.file), range))
}
