//! Rings and queues with their contents.

use crate::theme::Theme;
use npsim_debug::view::{RingAtStop, RingKind};
use ratatui::text::{Line, Span};

use super::{Item, ItemAction, cut};

/// The width of a ring's bar, in columns.
const BAR: u32 = 10;

/// A bar that shows a fill level.
fn bar(fill: u32, size: u32) -> String {
    let full = (u64::from(fill) * u64::from(BAR)).div_ceil(u64::from(size.max(1)));
    let full = (full as usize).min(BAR as usize);
    format!("{}{}", "■".repeat(full), "□".repeat(BAR as usize - full))
}

/// As many words as fit, the oldest first.
fn contents(words: &[u32], width: u16) -> String {
    let fit = usize::from(width).saturating_sub(3) / 9;
    let mut text: Vec<_> = words
        .iter()
        .take(fit)
        .map(|it| format!("{it:08x}"))
        .collect();
    if words.len() > fit {
        text.push("…".to_owned());
    }
    format!("  {}", text.join(" "))
}

pub(crate) fn items(rings: &[RingAtStop], theme: Theme, width: u16) -> Vec<Item> {
    let name_width = usize::from(width.saturating_sub(24)).clamp(8, 24);
    let mut items = Vec::new();
    let mut add = |name: &str, how: String, words: &[u32], choice: Option<ItemAction>| {
        let mut lines = vec![Line::from(vec![
            Span::styled(
                format!("{:<name_width$} ", cut(name, name_width)),
                theme.name(),
            ),
            Span::raw(how),
        ])];
        if !words.is_empty() {
            lines.push(Line::from(Span::styled(
                contents(words, width),
                Theme::FAINT,
            )));
        }
        items.push(Item { lines, choice });
    };
    for ring in rings {
        let (fill, name) = (ring.fill, &ring.name);
        let choice = || Some(ItemAction::Do(format!("ring {name}")));
        let (how, choice) = match ring.kind {
            RingKind::Scratch { size } => (format!("{} {fill}/{size}", bar(fill, size)), choice()),
            RingKind::Queue => (format!("{fill} entries"), choice()),
            RingKind::Neighbour { in_flight } => {
                (format!("{fill} words, {in_flight} in flight"), None)
            }
        };
        add(name, how, &ring.words, choice);
    }
    if items.is_empty() {
        items.push(Item::plain("the project has no rings"));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::{bar, contents};

    #[test]
    fn a_bar_is_empty_or_full_only_if_the_ring_is() {
        assert_eq!(bar(0, 128), "□□□□□□□□□□");
        assert_eq!(bar(1, 128), "■□□□□□□□□□");
        assert_eq!(bar(128, 128), "■■■■■■■■■■");
    }

    #[test]
    fn ring_words_are_truncated_to_the_width() {
        assert_eq!(contents(&[1, 2, 3], 24), "  00000001 00000002 …");
        assert_eq!(contents(&[1, 2], 24), "  00000001 00000002");
    }
}
