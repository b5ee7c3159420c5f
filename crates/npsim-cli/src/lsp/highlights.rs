//! Uses of a name in its own text, and the files that a text includes.

use std::path::Path;

use lsp_types::{DocumentHighlight, DocumentHighlightKind, DocumentLink};
use npsim_asm::front::token::TokenKind;
use npsim_asm::source::FileId;

use super::paths;
use super::publish::location;
use super::workspace::{Spot, Workspace};

/// The places in the same text where the name at a place is used, declarations marked.
#[must_use]
pub fn highlights(workspace: &Workspace, spot: &Spot) -> Vec<DocumentHighlight> {
    let mut found: Vec<DocumentHighlight> = Vec::new();
    for (analysis, id) in workspace.symbols_at(spot) {
        let ours: Vec<FileId> = analysis.files(&spot.path).collect();
        let uses = analysis.index.references_to(id);
        for used in uses.filter(|it| ours.contains(&it.span.file)) {
            let Some(place) = location(analysis, used.span) else {
                continue;
            };
            let kind = if used.declares {
                DocumentHighlightKind::WRITE
            } else {
                DocumentHighlightKind::READ
            };
            found.push(DocumentHighlight {
                range: place.range,
                kind: Some(kind),
            });
        }
    }
    // What is named there first counts.
    found.sort_by_key(|it| (it.range.start, it.range.end));
    found.dedup_by_key(|it| it.range);
    found
}

/// The names of included files, each with the file that is meant.
#[must_use]
pub fn links(workspace: &Workspace, path: &Path) -> Option<Vec<DocumentLink>> {
    let text = workspace.documents.text(path)?;
    let mut found = Vec::new();
    for line in text.lines() {
        let includes = line
            .directive
            .as_ref()
            .is_some_and(|it| it.text.eq_ignore_ascii_case("include"));
        let Some((first, last)) = line.tokens.first().zip(line.tokens.last()) else {
            continue;
        };
        if !includes {
            continue;
        }
        let (from, to) = (first.span.lo as usize, last.span.hi as usize);
        let inner = text.get(from + 1..to.saturating_sub(1)).unwrap_or("");
        let quoted = first.kind == TokenKind::Str || first.is("<");
        let file = quoted.then(|| workspace.included_by(path, inner)).flatten();
        let Some(target) = file.and_then(|file| paths::to_uri(&file)) else {
            continue;
        };
        found.push(DocumentLink {
            range: text.range(from + 1..to - 1),
            target: Some(target),
            tooltip: None,
            data: None,
        });
    }
    Some(found)
}
