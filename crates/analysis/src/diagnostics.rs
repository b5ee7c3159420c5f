//! Messages of the assembler and the projects about files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use npsim_asm::{Severity, Span};
use npsim_project::files::Files as _;
use npsim_project::problem::Problem;

use super::analysis::Analysis;
use super::paths;
use super::position::{LineIndex, Place};
use super::workspace::Workspace;

/// A message about part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place that it is about; the beginning of the file if it is about no part of it.
    pub place: Place,
    /// Its severity.
    pub severity: Severity,
    /// Whether it repeats, in the text of a macro, a message about a use of that macro.
    pub repeated: bool,
    /// The name in `npsim codes`; `None` for a project file.
    pub code: Option<&'static str>,
    /// The text, with notes and help on separate lines.
    pub message: String,
    /// Other related places, each with its relation.
    pub related: Vec<(Place, String)>,
}

impl Workspace {
    /// The messages about the programs that contain open texts and about the projects in reach:
    /// grouped by file, and in order of place within a file.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.collect_diagnostics(self.analyses().iter(), |_| true)
    }

    /// The messages about the programs that contain a file, or about the file as part of a project.
    #[must_use]
    pub fn diagnostics_about(&self, path: &Path) -> Vec<Diagnostic> {
        self.collect_diagnostics(self.analyses_of(path), |place| place.contains(&path))
    }

    /// The messages of these programs, and of projects selected by their file and the file that
    /// contains the error.
    fn collect_diagnostics<'a>(
        &self,
        analyses: impl Iterator<Item = &'a Analysis>,
        counts: impl Fn([&Path; 2]) -> bool,
    ) -> Vec<Diagnostic> {
        let mut all: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        let mut add = |shown: Diagnostic| {
            let list = all.entry(shown.place.path.clone()).or_default();
            if !list.contains(&shown) {
                list.push(shown);
            }
        };
        for analysis in analyses {
            // Authors of a library know that it does not generate a program.
            let told = |d: &&npsim_asm::Diagnostic| {
                d.code != npsim_asm::codes::EMPTY_PROGRAM || d.level != Severity::Note
            };
            for diagnostic in analysis.diagnostics().iter().filter(told) {
                convert_diagnostic(analysis, diagnostic)
                    .into_iter()
                    .for_each(&mut add);
            }
        }
        for (path, problems) in &self.projects.problems {
            for found in problems {
                // A project may extend the file that contains the error.
                let file = found.excerpt.as_ref().map(|at| PathBuf::from(&at.path));
                let file = file.filter(|file| self.documents.files().is_file(file));
                let file = file.map_or_else(|| path.clone(), |file| paths::canonical(&file));
                if counts([path, &file]) {
                    add(problem(&file, found));
                }
            }
        }
        for list in all.values_mut() {
            list.sort_by_key(|it| (it.place.range.start, it.place.range.end));
        }
        all.into_values().flatten().collect()
    }
}

/// A message with its notes and its help, each on a separate line.
fn message_with_notes(message: &str, notes: &[String], help: Option<&String>) -> String {
    let notes = notes.iter().map(|note| format!("\nnote: {note}"));
    let help = help.map(|help| format!("\nhelp: {help}"));
    notes
        .chain(help)
        .fold(message.to_owned(), |all, it| all + &it)
}

/// Converts a message of the assembler. A message about a macro's text is shown where the macro is
/// used, and as a hint in the macro.
pub fn convert_diagnostic(
    analysis: &Analysis,
    diagnostic: &npsim_asm::Diagnostic,
) -> Vec<Diagnostic> {
    let primary = &diagnostic.primary;
    let calls: Vec<_> = analysis
        .sources
        .expansion_chain(primary.expansion)
        .collect();
    let mut message = diagnostic.message.clone();
    if !primary.text.is_empty() {
        message = format!("{message}: {}", primary.text);
    }
    let message = message_with_notes(&message, &diagnostic.notes, diagnostic.help.as_ref());
    let mut related: Vec<(Place, String)> = Vec::new();
    let mut relate = |span: Span, text: String| {
        related.extend(analysis.place(span).map(|place| (place, text)));
    };
    if !calls.is_empty() {
        relate(primary.span, diagnostic.message.clone());
    }
    for used in &calls {
        relate(used.call, format!("in this expansion of `{}`", used.name));
    }
    for label in &diagnostic.secondary {
        let text = if label.text.is_empty() {
            "here".to_owned()
        } else {
            label.text.clone()
        };
        relate(label.span, text);
    }
    let shown = |span: Span, repeated| Diagnostic {
        // Definitions from the command line and the like have no place in a text.
        place: { analysis.place(span) }.unwrap_or_else(|| start_of_file(&analysis.root.main)),
        severity: diagnostic.level,
        repeated,
        code: Some(diagnostic.code),
        message: message.clone(),
        related: related.clone(),
    };
    match calls.last() {
        None => vec![shown(primary.span, false)],
        Some(outermost) => vec![shown(outermost.call, false), shown(primary.span, true)],
    }
}

/// The place for a message about a file as a whole.
fn start_of_file(path: &Path) -> Place {
    Place::new(path, &Arc::new(LineIndex::new("")), 0..0)
}

fn problem(path: &Path, problem: &Problem) -> Diagnostic {
    let excerpt = problem.excerpt.as_ref();
    Diagnostic {
        place: excerpt.map_or_else(
            || start_of_file(path),
            |at| {
                let text = Arc::new(LineIndex::new(Arc::clone(&at.text)));
                Place::new(path, &text, at.span.clone())
            },
        ),
        severity: Severity::Error,
        repeated: false,
        code: None,
        message: message_with_notes(&problem.message, &problem.notes, problem.help.as_ref()),
        related: Vec::new(),
    }
}
