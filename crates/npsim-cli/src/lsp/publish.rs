//! What the assembler and the projects say, as the editor shows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range,
};
use npsim_asm::{Severity, Span};

use super::analysis::Analysis;
use super::text::Text;
use super::workspace::Workspace;
use super::{paths, position};
use npsim::files::Files as _;
use npsim::problem::Problem;

/// The diagnostics of all files in open programs; open texts without any have
/// an empty list.
#[must_use]
pub fn diagnostics(workspace: &Workspace) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut all: BTreeMap<PathBuf, Vec<Diagnostic>> = workspace
        .documents
        .paths()
        .map(|path| (path.clone(), Vec::new()))
        .collect();
    for analysis in workspace.analyses() {
        // That a library makes no program is no news to who edits it.
        let told = |d: &&npsim_asm::Diagnostic| {
            d.code != npsim_asm::codes::EMPTY_PROGRAM || d.level != Severity::Note
        };
        for diagnostic in analysis.diagnostics().iter().filter(told) {
            for (path, shown) in converted(analysis, diagnostic) {
                let list = all.entry(path).or_default();
                if !list.contains(&shown) {
                    list.push(shown);
                }
            }
        }
    }
    for (path, problems) in &workspace.projects.problems {
        for found in problems {
            // A project may extend the file in which the mistake is.
            let file = found.excerpt.as_ref().map(|at| PathBuf::from(&at.path));
            let file = file.filter(|file| workspace.documents.files().is_file(file));
            let file = file.map_or_else(|| path.clone(), |file| paths::canonical(&file));
            let shown = problem(found);
            let list = all.entry(file).or_default();
            if !list.contains(&shown) {
                list.push(shown);
            }
        }
    }
    for list in all.values_mut() {
        list.sort_by_key(|shown| (shown.range.start, shown.range.end));
    }
    all
}

fn severity(level: Severity) -> DiagnosticSeverity {
    match level {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
    }
}

/// A message as the editor shows it, with the file of each. One about a macro's text is shown where the macro is used, and as a
/// hint in the macro.
pub fn converted(
    analysis: &Analysis,
    diagnostic: &npsim_asm::Diagnostic,
) -> Vec<(PathBuf, Diagnostic)> {
    let primary = diagnostic.primary.span;
    let calls: Vec<_> = analysis
        .sources
        .expansion_chain(diagnostic.primary.expansion)
        .collect();
    let mut message = diagnostic.message.clone();
    if !diagnostic.primary.text.is_empty() {
        message = format!("{message}: {}", diagnostic.primary.text);
    }
    for note in &diagnostic.notes {
        message = format!("{message}\nnote: {note}");
    }
    if let Some(help) = &diagnostic.help {
        message = format!("{message}\nhelp: {help}");
    }
    let mut related: Vec<DiagnosticRelatedInformation> = Vec::new();
    let mut relate = |span: Span, text: String| {
        if let Some(location) = location(analysis, span) {
            related.push(DiagnosticRelatedInformation {
                location,
                message: text,
            });
        }
    };
    if !calls.is_empty() {
        relate(primary, diagnostic.message.clone());
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
    let shown = |span: Span, severity, message: String| {
        let path = analysis.path(span).unwrap_or(&analysis.root.main);
        let diagnostic = Diagnostic {
            range: range(analysis, span),
            severity: Some(severity),
            code: Some(NumberOrString::String(diagnostic.code.to_owned())),
            source: Some("npsim".to_owned()),
            message,
            related_information: (!related.is_empty()).then(|| related.clone()),
            ..Diagnostic::default()
        };
        (path.to_path_buf(), diagnostic)
    };
    let level = severity(diagnostic.level);
    match calls.last() {
        None => vec![shown(primary, level, message)],
        Some(outermost) => vec![
            shown(outermost.call, level, message.clone()),
            shown(primary, DiagnosticSeverity::HINT, message),
        ],
    }
}

/// Spans of the command line and the like have no place in a text.
fn range(analysis: &Analysis, span: Span) -> Range {
    if analysis.path(span).is_none() {
        return Range::default();
    }
    let bytes = span.lo as usize..span.hi as usize;
    analysis.texts[span.file.0 as usize].range(bytes)
}

/// A span as the protocol says it.
#[must_use]
pub fn location(analysis: &Analysis, span: Span) -> Option<Location> {
    Some(Location {
        uri: analysis.uris.get(span.file.0 as usize)?.clone()?,
        range: range(analysis, span),
    })
}

/// A range of bytes of a file.
#[must_use]
pub fn file_location(path: &Path, text: &Text, bytes: std::ops::Range<usize>) -> Option<Location> {
    Some(Location {
        uri: paths::to_uri(path)?,
        range: text.range(bytes),
    })
}

fn problem(problem: &Problem) -> Diagnostic {
    let mut message = problem.message.clone();
    for note in &problem.notes {
        message = format!("{message}\nnote: {note}");
    }
    if let Some(help) = &problem.help {
        message = format!("{message}\nhelp: {help}");
    }
    let range = problem
        .excerpt
        .as_ref()
        .map_or_else(Range::default, |excerpt| {
            position::range(&excerpt.text, excerpt.span.clone())
        });
    Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("npsim".to_owned()),
        message,
        ..Diagnostic::default()
    }
}
