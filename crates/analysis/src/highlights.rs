//! Uses of a name in its own text, and the files included by a text.

use std::ops::Range;
use std::path::{Path, PathBuf};

use npsim_asm::front::token::TokenKind;
use npsim_asm::source::FileId;

use super::workspace::{Spot, Workspace};

/// A use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The bytes of the name.
    pub range: Range<usize>,
    /// Whether the name is declared here.
    pub declares: bool,
}

/// The name of an included file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The bytes of the name.
    pub range: Range<usize>,
    /// The file that it refers to.
    pub target: PathBuf,
}

impl Workspace {
    /// The uses, in the same text, of the name at a place.
    #[must_use]
    pub fn uses(&self, spot: &Spot) -> Vec<Use> {
        let mut found: Vec<Use> = Vec::new();
        for (analysis, id) in self.symbols_at(spot) {
            let ours: Vec<FileId> = analysis.files(&spot.path).collect();
            let uses = analysis.index.references_to(id);
            let uses = uses.filter(|it| ours.contains(&it.span.file));
            found.extend(uses.map(|it| Use {
                range: it.span.lo as usize..it.span.hi as usize,
                declares: it.declares,
            }));
        }
        // If several references coincide, the first one counts.
        found.sort_by_key(|it| (it.range.start, it.range.end));
        found.dedup_by(|one, other| one.range == other.range);
        found
    }

    /// The names of included files, each with the file that it refers to.
    #[must_use]
    pub fn links(&self, path: &Path) -> Option<Vec<Link>> {
        let text = self.documents.text(path)?;
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
            let file = quoted.then(|| self.included_by(path, inner)).flatten();
            found.extend(file.map(|target| Link {
                range: from + 1..to - 1,
                target,
            }));
        }
        Some(found)
    }
}
