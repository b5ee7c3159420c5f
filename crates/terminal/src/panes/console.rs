//! Commands and their answers.

use crate::theme::Theme;
use ratatui::text::{Line, Span};

use super::{PaneContext, wrapped};
use crate::view::{ConsoleLine, Mode};

/// The prompt before the input.
pub(crate) const PROMPT: &str = "> ";

/// The last lines that fit above the input line.
pub(crate) fn lines(look: &PaneContext<'_>, width: u16, height: u16) -> Vec<Line<'static>> {
    let height = usize::from(height);
    let mut lines = Vec::new();
    // From the last line backwards, as many as are visible.
    for (kind, text) in look.view.lines.iter().rev() {
        let (text, style) = match kind {
            ConsoleLine::Command => (format!("{PROMPT}{text}"), Theme::STRONG),
            ConsoleLine::Answer => (text.clone(), ratatui::style::Style::new()),
            ConsoleLine::Error => (text.clone(), look.theme.alarm()),
        };
        let wrapped = wrapped(&text, width.into()).into_iter().rev();
        lines.extend(wrapped.map(|it| Line::from(Span::styled(it, style))));
        if lines.len() >= height + look.view.back {
            break;
        }
    }
    let back = look.view.back.min(lines.len().saturating_sub(height));
    lines.drain(..back);
    lines.truncate(height);
    lines.reverse();
    lines
}

/// The visible part of the input line, and the column of the cursor.
pub(crate) fn typed(look: &PaneContext<'_>, width: u16) -> (Line<'static>, Option<u16>) {
    let (prompt, input) = match look.view.mode {
        Mode::Command => (PROMPT, &look.view.command),
        Mode::Search => ("/", &look.view.search),
        Mode::Keys | Mode::Help => {
            let hint = "`:` types a command, `?` helps";
            let hint = Span::styled(hint, Theme::FAINT);
            return (Line::from(vec![Span::raw(PROMPT), hint]), None);
        }
    };
    let room = usize::from(width).saturating_sub(prompt.len() + 1).max(1);
    let before = input.text()[..input.cursor()].chars().count();
    let skipped = before.saturating_sub(room);
    let shown: String = input.text().chars().skip(skipped).take(room).collect();
    let column = prompt.len() + before - skipped;
    (Line::from(format!("{prompt}{shown}")), Some(column as u16))
}
