//! Edits that mend what a message is about.

use std::collections::HashMap;
use std::path::Path;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionResponse, Diagnostic, Position,
    Range, TextEdit, Uri, WorkspaceEdit,
};
use npsim_asm::{Severity, codes};

use super::analysis::Analysis;
use super::publish::{converted, location};
use super::workspace::Workspace;
use super::{paths, position};

/// What can be done about the messages that touch a range of a file: what their patches
/// say, and silence for warnings.
#[must_use]
pub fn actions(workspace: &Workspace, path: &Path, range: Range) -> CodeActionResponse {
    let mut found: Vec<CodeAction> = Vec::new();
    for analysis in workspace.about(path) {
        for diagnostic in analysis.diagnostics() {
            let shown = converted(analysis, diagnostic)
                .into_iter()
                .find(|(file, it)| file == path && touch(it.range, range));
            let Some((_, shown)) = shown else { continue };
            let mut offer = |title: String, changes, preferred| {
                let action = CodeAction {
                    title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![shown.clone()]),
                    edit: Some(WorkspaceEdit::new(changes)),
                    is_preferred: Some(preferred),
                    ..CodeAction::default()
                };
                let same = |it: &CodeAction| it.title == action.title && it.edit == action.edit;
                if !found.iter().any(same) {
                    found.push(action);
                }
            };
            if let Some(changes) = patched(analysis, diagnostic) {
                let title = diagnostic.help.clone();
                let title = title.unwrap_or_else(|| format!("mend: {}", diagnostic.message));
                offer(title, changes, true);
            }
            if let Some((title, changes)) = declared(workspace, path, &shown, diagnostic.code) {
                offer(title, changes, diagnostic.patches.is_empty());
            }
            if diagnostic.level == Severity::Warning
                && let Some(changes) = silenced(workspace, path, shown.range, diagnostic.code)
            {
                offer(
                    format!("silence `{}` here", diagnostic.code),
                    changes,
                    false,
                );
            }
        }
    }
    found
        .into_iter()
        .map(CodeActionOrCommand::CodeAction)
        .collect()
}

fn touch(one: Range, other: Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

type Changes = HashMap<Uri, Vec<TextEdit>>;

/// The patches of a message; none if it has none, or one in no file.
#[expect(clippy::mutable_key_type, reason = "the protocol's own type")]
fn patched(analysis: &Analysis, diagnostic: &npsim_asm::Diagnostic) -> Option<Changes> {
    let mut changes = Changes::new();
    for patch in &diagnostic.patches {
        let place = location(analysis, patch.span)?;
        let edit = TextEdit::new(place.range, patch.replacement.clone());
        changes.entry(place.uri).or_default().push(edit);
    }
    (!changes.is_empty()).then_some(changes)
}

/// A name without a declaration, declared above the line that uses it.
fn declared(
    workspace: &Workspace,
    path: &Path,
    shown: &Diagnostic,
    code: &str,
) -> Option<(String, Changes)> {
    let directive = match code {
        codes::UNDEFINED_REGISTER => ".reg",
        codes::UNDEFINED_SIGNAL => ".sig",
        _ => return None,
    };
    let text = workspace.documents.text(path)?;
    let start = position::offset(&text, shown.range.start);
    let name = text.get(start..position::offset(&text, shown.range.end))?;
    if name.is_empty()
        || !name
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "_$@".contains(it))
    {
        return None;
    }
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent: String = text[line..]
        .chars()
        .take_while(|it| " \t".contains(*it))
        .collect();
    let place = Position::new(shown.range.start.line, 0);
    let edit = TextEdit::new(
        Range::new(place, place),
        format!("{indent}{directive} {name}\n"),
    );
    let title = format!("declare `{directive} {name}`");
    Some((title, Changes::from([(uri(workspace, path)?, vec![edit])])))
}

/// The warning switched off around a line.
fn silenced(workspace: &Workspace, path: &Path, range: Range, code: &str) -> Option<Changes> {
    let line = |line: u32, text: String| {
        let place = Position::new(line, 0);
        TextEdit::new(Range::new(place, place), text)
    };
    let edits = vec![
        line(
            range.start.line,
            format!("#pragma warning(push)\n#pragma warning(disable:{code})\n"),
        ),
        line(range.end.line + 1, "#pragma warning(pop)\n".to_owned()),
    ];
    Some(Changes::from([(uri(workspace, path)?, edits)]))
}

/// A file as the editor names it.
fn uri(workspace: &Workspace, path: &Path) -> Option<Uri> {
    match workspace.documents.get(path) {
        Some(document) => Some(document.uri.clone()),
        None => paths::to_uri(path),
    }
}
