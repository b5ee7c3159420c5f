//! The definitions of a text for the editor's outline: macros and blocks with their contents.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::Path;

use npsim_asm::directives::{Block, Role, role};
use npsim_asm::front::token::{Token, split_labels};
use npsim_asm::name_index::NameKind;
use npsim_asm::source::ExpansionId;

use super::text::Text;
use super::workspace::Workspace;

/// The kind of a definition in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A macro.
    Macro,
    /// A name that stands for text.
    Define,
    /// A block of names, or a subroutine.
    Block,
    /// A name that the program declares.
    Name(NameKind),
}

/// A definition in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineItem {
    /// The name.
    pub name: String,
    /// The form, value or declaration.
    pub detail: String,
    /// The kind.
    pub kind: SymbolKind,
    /// The bytes of the whole definition.
    pub whole: Range<usize>,
    /// The bytes of the name.
    pub place: Range<usize>,
    /// The definitions inside it.
    pub children: Vec<OutlineItem>,
}

impl Workspace {
    /// Macros, blocks of names, subroutines, names, registers, signals and labels of a file, in
    /// order, each inside the item that contains it.
    #[must_use]
    pub fn outline(&self, path: &Path) -> Option<Vec<OutlineItem>> {
        let text = self.documents.text(path)?;
        let found = text.definitions();
        let mut rows: Vec<OutlineItem> = Vec::new();
        let mut add =
            |name: &str, detail: String, kind, whole: Range<usize>, place: Range<usize>| {
                if !name.is_empty() {
                    rows.push(OutlineItem {
                        name: name.to_owned(),
                        detail,
                        kind,
                        whole,
                        place,
                        children: Vec::new(),
                    });
                }
            };
        for known in &found.macros {
            add(
                &known.name,
                known.signature(),
                SymbolKind::Macro,
                known.whole.clone(),
                known.place.clone(),
            );
        }
        for known in &found.defines {
            add(
                &known.name,
                known.value.clone(),
                SymbolKind::Define,
                known.whole.clone(),
                known.place.clone(),
            );
        }
        for Part { whole, place, name } in blocks(&text) {
            add(&name, String::new(), SymbolKind::Block, whole, place);
        }
        if let Some(analysis) = self.analyses_of(path).next() {
            for symbol in &analysis.index.symbols {
                if symbol.expansion != ExpansionId::ROOT
                    || analysis.path(symbol.place) != Some(path)
                {
                    continue;
                }
                let place = symbol.place.lo as usize..symbol.place.hi as usize;
                add(
                    &symbol.name,
                    symbol.declaration.replace('\n', "; "),
                    SymbolKind::Name(symbol.kind),
                    place.clone(),
                    place,
                );
            }
        }
        // Outer items come before inner ones.
        rows.sort_by_key(|row| (row.whole.start, Reverse(row.whole.end)));
        Some(nested(rows))
    }
}

/// A block of names, or a subroutine.
struct Part {
    whole: Range<usize>,
    place: Range<usize>,
    name: String,
}

/// The blocks of a text that declare names, and its subroutines.
fn blocks(text: &Text) -> Vec<Part> {
    let mut found = Vec::new();
    let mut open: Vec<(Block, Part)> = Vec::new();
    for line in text.lines().iter().filter(|it| it.directive.is_none()) {
        let Some((first, rest)) = split_labels(&line.tokens).1.split_first() else {
            continue;
        };
        let bytes = |token: &Token| token.span.lo as usize..token.span.hi as usize;
        match role(&first.text) {
            Some(Role::Opens(block @ (Block::Scope | Block::Subroutine))) => {
                let named = rest.first().filter(|_| block == Block::Subroutine);
                let place = bytes(named.unwrap_or(first));
                let whole = bytes(first).start..place.end;
                let name = text[whole.clone()].to_owned();
                open.push((block, Part { whole, place, name }));
            }
            Some(Role::Closes(block)) => {
                if let Some(at) = open.iter().rposition(|(known, _)| *known == block) {
                    // Blocks left open inside it are dropped.
                    let (_, mut part) = open.split_off(at).swap_remove(0);
                    part.whole.end = bytes(first).end;
                    found.push(part);
                }
            }
            _ => {}
        }
    }
    found
}

/// Maximum depth of an outline; deeper items are put on the last level. Editors receive it as
/// nested objects.
const MAX_DEPTH: usize = 64;

/// Nests each row in the last one that contains it.
fn nested(rows: Vec<OutlineItem>) -> Vec<OutlineItem> {
    let mut top = Vec::new();
    let mut open: Vec<OutlineItem> = Vec::new();
    let mut close = |open: &mut Vec<OutlineItem>| {
        let Some(row) = open.pop() else { return };
        match open.last_mut() {
            Some(outer) => outer.children.push(row),
            None => top.push(row),
        }
    };
    for row in rows {
        while { open.last() }.is_some_and(|outer| row.whole.end > outer.whole.end) {
            close(&mut open);
        }
        if open.len() == MAX_DEPTH {
            close(&mut open);
        }
        open.push(row);
    }
    while !open.is_empty() {
        close(&mut open);
    }
    top
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, OutlineItem, SymbolKind, nested};

    #[test]
    fn blocks_beyond_the_depth_limit_share_the_last_level() {
        let row = |at: usize| OutlineItem {
            name: at.to_string(),
            detail: String::new(),
            kind: SymbolKind::Block,
            whole: at..1000 - at,
            place: at..at,
            children: Vec::new(),
        };
        let mut level = nested((0..100).map(row).collect());
        for depth in 1..MAX_DEPTH {
            assert_eq!(level.len(), 1, "level {depth}");
            level = level.remove(0).children;
        }
        assert_eq!(level.len(), 100 - MAX_DEPTH + 1);
        assert!(level.iter().all(|row| row.children.is_empty()));
    }
}
