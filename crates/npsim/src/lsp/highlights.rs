//! Uses of a name in its own text, and the files that a text includes.

use std::path::Path;

use lsp_types::{DocumentHighlight, DocumentHighlightKind, DocumentLink};
use npsim_asm::front::text::lines;
use npsim_asm::front::token::TokenKind;

use super::paths;
use super::position;
use super::publish::location;
use super::workspace::{Spot, Workspace};

/// The places in the same text where the name at a place is used, declarations marked.
#[must_use]
pub fn highlights(workspace: &Workspace, spot: &Spot) -> Vec<DocumentHighlight> {
    let mut found: Vec<DocumentHighlight> = Vec::new();
    for (analysis, id) in workspace.symbols_at(spot) {
        let uses = analysis
            .index
            .references
            .iter()
            .filter(|it| it.symbol == id);
        for used in uses.filter(|it| analysis.path(it.span) == Some(&spot.path)) {
            let Some(place) = location(analysis, used.span) else {
                continue;
            };
            let kind = if used.declares {
                DocumentHighlightKind::WRITE
            } else {
                DocumentHighlightKind::READ
            };
            if !found.iter().any(|it| it.range == place.range) {
                found.push(DocumentHighlight {
                    range: place.range,
                    kind: Some(kind),
                });
            }
        }
    }
    found.sort_by_key(|it| it.range.start);
    found
}

/// The names of included files, each with the file that is meant.
#[must_use]
pub fn links(workspace: &Workspace, path: &Path) -> Option<Vec<DocumentLink>> {
    let text = workspace.documents.text(path)?;
    let mut found = Vec::new();
    for line in lines(&text) {
        let includes = line
            .directive
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
            range: position::range(&text, from + 1..to - 1),
            target: Some(target),
            tooltip: None,
            data: None,
        });
    }
    Some(found)
}
