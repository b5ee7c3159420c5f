//! What an editor can fold: blocks, macros, conditions, loops and runs of comments.

use std::path::Path;

use lsp_types::{FoldingRange, FoldingRangeKind};
use npsim_asm::directives::{Block, PreprocessorDirective, Role, role};
use npsim_asm::front::token::split_labels;

use super::workspace::{Workspace, is_toml};

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
    let mut open: Vec<(Block, u32)> = Vec::new();
    for line in text.lines() {
        let first = match &line.directive {
            Some(directive) => Some(directive),
            None => split_labels(&line.tokens).1.first(),
        };
        let Some(first) = first else { continue };
        let role = match line.directive {
            Some(_) => PreprocessorDirective::named(&first.text).map(PreprocessorDirective::role),
            None => role(&first.text),
        };
        let Some(role @ (Role::Opens(block) | Role::Divides(block) | Role::Closes(block))) = role
        else {
            continue;
        };
        let here = line_of(first.span.lo);
        if !matches!(role, Role::Opens(_))
            && let Some(at) = open.iter().rposition(|(known, _)| *known == block)
        {
            // What was left open in it is not whole.
            let (_, from) = open.split_off(at).swap_remove(0);
            // The closing line stays in sight.
            if here > from + 1 {
                ranges.push(range(from, here - 1, None));
            }
        }
        if !matches!(role, Role::Closes(_)) {
            open.push((block, here));
        }
    }
    ranges.sort_by_key(|it| (it.start_line, it.end_line));
    Some(ranges)
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
