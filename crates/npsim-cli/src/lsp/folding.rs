//! What an editor can fold: blocks, macros, conditions, loops and runs of comments.

use std::path::Path;

use lsp_types::{FoldingRange, FoldingRangeKind};
use npsim_asm::directives::{Block, Role, role};

use super::index::split_labels;
use super::workspace::{Workspace, is_toml};

/// Blocks that end with one another's words belong together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Assembly(Block),
    Macro,
    TextCondition,
    TextLoop,
}

/// What a line does to the blocks around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Opens(Family),
    /// It ends one part and begins the next.
    Divides(Family),
    Closes(Family),
}

/// The ranges of a text, in order of their first lines.
#[must_use]
pub fn folding(workspace: &Workspace, path: &Path) -> Option<Vec<FoldingRange>> {
    // Project files are of another language.
    let text = (!is_toml(path)).then(|| workspace.documents.text(path))??;
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let line_of = |byte: u32| starts.partition_point(|it| *it <= byte as usize) as u32 - 1;
    let mut ranges = comments(&text);
    let mut open: Vec<(Family, u32)> = Vec::new();
    for line in text.lines() {
        let first = match &line.directive {
            Some(directive) => Some(directive),
            None => split_labels(&line.tokens).1.first(),
        };
        let Some((first, edge)) =
            first.and_then(|it| Some((it, edge(&it.text, line.directive.is_some())?)))
        else {
            continue;
        };
        let here = line_of(first.span.lo);
        let (Edge::Opens(family) | Edge::Divides(family) | Edge::Closes(family)) = edge;
        if !matches!(edge, Edge::Opens(_))
            && let Some(at) = open.iter().rposition(|(known, _)| *known == family)
        {
            // What was left open in it is not whole.
            let (_, from) = open.split_off(at).swap_remove(0);
            // The closing line stays in sight.
            if here > from + 1 {
                ranges.push(range(from, here - 1, None));
            }
        }
        if !matches!(edge, Edge::Closes(_)) {
            open.push((family, here));
        }
    }
    ranges.sort_by_key(|it| (it.start_line, it.end_line));
    Some(ranges)
}

fn edge(word: &str, preprocessor: bool) -> Option<Edge> {
    use Edge::{Closes, Divides, Opens};
    if !preprocessor {
        return Some(match role(word)? {
            Role::Opens(block) => Opens(Family::Assembly(block)),
            Role::Divides(block) => Divides(Family::Assembly(block)),
            Role::Closes(block) => Closes(Family::Assembly(block)),
            Role::Declares | Role::Stands => return None,
        });
    }
    Some(match &*word.to_ascii_lowercase() {
        "macro" => Opens(Family::Macro),
        "endm" => Closes(Family::Macro),
        "if" | "ifdef" | "ifndef" => Opens(Family::TextCondition),
        "elif" | "else" => Divides(Family::TextCondition),
        "endif" => Closes(Family::TextCondition),
        "while" | "for" | "repeat" => Opens(Family::TextLoop),
        "endloop" => Closes(Family::TextLoop),
        _ => return None,
    })
}

/// Runs of two comment lines or more.
fn comments(text: &str) -> Vec<FoldingRange> {
    let mut ranges = Vec::new();
    let mut from: Option<u32> = None;
    // The line after the last ends every run.
    for (number, line) in (0..).zip(text.split('\n').chain([""])) {
        let line = line.trim_start();
        let comment = line.starts_with(';') || line.starts_with("//");
        match (comment, from) {
            (true, None) => from = Some(number),
            (false, Some(first)) => {
                if number > first + 1 {
                    ranges.push(range(first, number - 1, Some(FoldingRangeKind::Comment)));
                }
                from = None;
            }
            _ => {}
        }
    }
    ranges
}

fn range(from: u32, to: u32, kind: Option<FoldingRangeKind>) -> FoldingRange {
    FoldingRange {
        start_line: from,
        end_line: to,
        kind,
        ..FoldingRange::default()
    }
}
