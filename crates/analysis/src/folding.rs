//! Foldable ranges: blocks, macros, conditions, loops and runs of comments.

use std::ops::RangeInclusive;
use std::path::Path;

use npsim_asm::directives::{Block, PreprocessorDirective, Role, role};
use npsim_asm::front::token::split_labels;

use super::workspace::{Workspace, is_toml};

/// A range of lines that can be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The lines, from 0; the first one stays visible.
    pub lines: RangeInclusive<usize>,
    /// Whether the lines are comments.
    pub comment: bool,
}

impl Workspace {
    /// The foldable ranges of a text, in order of their first lines; `None` for a project file.
    #[must_use]
    pub fn folds(&self, path: &Path) -> Option<Vec<Fold>> {
        // Project files are in another language.
        let text = (!is_toml(path)).then(|| self.documents.text(path))??;
        let mut ranges = comments(&text);
        let mut open: Vec<(Block, usize)> = Vec::new();
        for line in text.lines() {
            let first = match &line.directive {
                Some(directive) => Some(directive),
                None => split_labels(&line.tokens).1.first(),
            };
            let Some(first) = first else { continue };
            let role = match line.directive {
                Some(_) => {
                    PreprocessorDirective::named(&first.text).map(PreprocessorDirective::role)
                }
                None => role(&first.text),
            };
            let Some(role @ (Role::Opens(block) | Role::Continues(block) | Role::Closes(block))) =
                role
            else {
                continue;
            };
            let here = text.line(first.span.lo as usize);
            if !matches!(role, Role::Opens(_))
                && let Some(at) = open.iter().rposition(|(known, _)| *known == block)
            {
                // Blocks left open inside it are incomplete.
                let (_, from) = open.split_off(at).swap_remove(0);
                // The closing line stays visible.
                if here > from + 1 {
                    ranges.push(Fold {
                        lines: from..=here - 1,
                        comment: false,
                    });
                }
            }
            if !matches!(role, Role::Closes(_)) {
                open.push((block, here));
            }
        }
        ranges.sort_by_key(|it| (*it.lines.start(), *it.lines.end()));
        Some(ranges)
    }
}

/// Runs of at least two comment lines.
fn comments(text: &str) -> Vec<Fold> {
    let mut ranges = Vec::new();
    let mut from: Option<usize> = None;
    // The extra line at the end terminates any run.
    for (number, line) in (0..).zip(text.split('\n').chain([""])) {
        let line = line.trim_start();
        let comment = line.starts_with(';') || line.starts_with("//");
        match (comment, from) {
            (true, None) => from = Some(number),
            (false, Some(first)) => {
                if number > first + 1 {
                    ranges.push(Fold {
                        lines: first..=number - 1,
                        comment: true,
                    });
                }
                from = None;
            }
            _ => {}
        }
    }
    ranges
}
