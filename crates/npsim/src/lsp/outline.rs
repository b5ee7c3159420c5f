//! What a text defines, for the editor's outline.

use std::ops::Range;
use std::path::Path;

use lsp_types::{DocumentSymbol, DocumentSymbolResponse, SymbolKind};
use npsim_asm::source::ExpansionId;

use super::index::Kind;
use super::position;
use super::scan::definitions;
use super::workspace::Workspace;

/// Macros, names, registers, signals and labels of a file in their order.
#[must_use]
pub fn outline(workspace: &Workspace, path: &Path) -> Option<DocumentSymbolResponse> {
    let text = workspace.documents.text(path)?;
    let found = definitions(&text);
    let mut rows: Vec<(Range<usize>, DocumentSymbol)> = Vec::new();
    let mut add = |name: &str, detail: String, kind, whole: Range<usize>, place: Range<usize>| {
        if name.is_empty() {
            return;
        }
        rows.push((
            whole.clone(),
            #[expect(deprecated, reason = "the structure has no other constructor")]
            DocumentSymbol {
                name: name.to_owned(),
                detail: Some(detail),
                kind,
                tags: None,
                deprecated: None,
                range: position::range(&text, whole),
                selection_range: position::range(&text, place),
                children: None,
            },
        ));
    };
    for known in &found.macros {
        add(
            &known.name,
            known.signature(),
            SymbolKind::FUNCTION,
            known.whole.clone(),
            known.place.clone(),
        );
    }
    for known in &found.defines {
        add(
            &known.name,
            known.value.clone(),
            SymbolKind::CONSTANT,
            known.whole.clone(),
            known.place.clone(),
        );
    }
    if let Some(analysis) = workspace.about(path).next() {
        for symbol in &analysis.index.symbols {
            if symbol.expansion != ExpansionId::ROOT || analysis.path(symbol.place) != Some(path) {
                continue;
            }
            let kind = match symbol.kind {
                Kind::Register | Kind::Synonym => SymbolKind::VARIABLE,
                Kind::Signal => SymbolKind::EVENT,
                Kind::Label => SymbolKind::KEY,
                Kind::Import => SymbolKind::CONSTANT,
            };
            let place = symbol.place.lo as usize..symbol.place.hi as usize;
            add(
                &symbol.name,
                symbol.declaration.replace('\n', "; "),
                kind,
                place.clone(),
                place,
            );
        }
    }
    rows.sort_by_key(|(place, _)| (place.start, place.end));
    let rows = rows.into_iter().map(|(_, symbol)| symbol).collect();
    Some(DocumentSymbolResponse::Nested(rows))
}
