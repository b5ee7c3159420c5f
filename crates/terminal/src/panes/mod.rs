//! The contents of the panes.

pub(crate) mod console;
pub(crate) mod contexts;
pub(crate) mod help;
pub(crate) mod names;
pub(crate) mod packets;
pub(crate) mod rings;
pub(crate) mod source;
pub(crate) mod units;

use npsim_debug::Debugger;
use npsim_debug::console::Sources;
use npsim_debug::history::History;
use npsim_debug::view;
use ratatui::text::{Line, Span};

use crate::layout::Pane;
use crate::theme::Theme;
use crate::view::View;

/// The inputs of a screen.
#[derive(Clone, Copy)]
pub(crate) struct PaneContext<'l> {
    pub debugger: &'l Debugger,
    pub sources: Sources<'l>,
    pub view: &'l View,
    pub past: &'l History,
    pub theme: Theme,
}

/// The action of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemAction {
    /// Runs a command.
    Do(String),
    /// Shows the events of a packet.
    Packet(u64),
}

/// An entry of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub lines: Vec<Line<'static>>,
    pub choice: Option<ItemAction>,
}

impl Item {
    /// A line without an action.
    pub fn plain(line: impl Into<Line<'static>>) -> Self {
        Self {
            lines: vec![line.into()],
            choice: None,
        }
    }
}

/// The entries of a pane that is a list.
pub(crate) fn items(look: &PaneContext<'_>, pane: Pane, width: u16) -> Vec<Item> {
    match pane {
        Pane::Names => names::items(look, width),
        Pane::Rings => {
            let debugger = look.debugger;
            let rings = view::rings(debugger.chip(), debugger.names());
            rings::items(&rings, look.theme, width)
        }
        Pane::Units => units::items(look, width),
        Pane::Packets => packets::items(look, width),
        Pane::Source | Pane::Contexts | Pane::Console => Vec::new(),
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Truncates a text that is too long, with an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Wraps a text to lines of at most `width` columns, at blanks where possible.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut rest = text;
    let mut lines = Vec::new();
    while let Some((end, _)) = rest.char_indices().nth(width) {
        let blank = rest[..end].rfind(' ').filter(|at| *at > end / 2);
        let at = blank.unwrap_or(end);
        lines.push(rest[..at].to_owned());
        rest = rest[at..].trim_start_matches(' ');
    }
    lines.push(rest.to_owned());
    lines
}

/// Wraps a text to lines with an indentation of `by` columns.
pub(crate) fn indented(
    text: &str,
    by: usize,
    width: u16,
    style: ratatui::style::Style,
) -> Vec<Line<'static>> {
    let lines = wrapped(text, usize::from(width).saturating_sub(by));
    let blank = " ".repeat(by);
    lines
        .into_iter()
        .map(|it| Line::from(Span::styled(format!("{blank}{it}"), style)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{cut, wrapped};

    #[test]
    fn long_texts_are_cut_and_wrapped_within_their_width() {
        assert_eq!(cut("sram[read, 2]", 6), "sram[…");
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("aaaaaaaaaa", 4), ["aaaa", "aaaa", "aa"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
