//! Packets that arrived or left over the last cycles, or are in the buffers of the media
//! interface; or the events of a single packet.

use crate::theme::Theme;
use npsim_debug::history::Fate;
use npsim_debug::view;
use ratatui::text::{Line, Span};

use super::{Item, ItemAction, PaneContext};
use crate::layout::NARROW;

pub(crate) fn heading(look: &PaneContext<'_>) -> String {
    if let Some(trail) = &look.view.trail {
        return format!("packet {}", trail.packet);
    }
    let traffic = look.debugger.timeline().traffic();
    let lost: u64 = traffic.drops.values().sum();
    format!(
        "{} came, {} left, {lost} lost",
        traffic.offered_frames, traffic.sent_frames
    )
}

pub(crate) fn items(look: &PaneContext<'_>, width: u16) -> Vec<Item> {
    if look.view.trail.is_some() {
        return events(look);
    }
    let theme = look.theme;
    let mut items = Vec::new();
    // Newest first.
    for shown in view::packets(look.debugger, look.past).into_iter().rev() {
        let (frame, packet) = (shown.number, &shown.packet);
        let came = match packet.came {
            Some((port, _, _)) if width < NARROW => format!("port {port}"),
            Some((port, bytes, _)) => format!("{bytes:>5} B port {port}"),
            None if width < NARROW => "before".to_owned(),
            None => "       before ".to_owned(),
        };
        let (place, style) = match (&packet.fate, shown.buffers) {
            (Fate::Lost { reason, at }, _) => (format!("lost at {at}: {reason}"), theme.alarm()),
            (Fate::Left { port, at }, _) => (format!("left by {port} at {at}"), Theme::FAINT),
            (Fate::Inside, Some(place)) => (place, Theme::STRONG),
            (Fate::Inside, None) => ("in the chip".to_owned(), ratatui::style::Style::new()),
        };
        let line = Line::from(vec![
            Span::styled(format!("{frame:>5} "), theme.name()),
            Span::raw(format!("{came} ")),
            Span::styled(place, style),
        ]);
        items.push(Item {
            lines: vec![line],
            choice: Some(ItemAction::Packet(frame)),
        });
    }
    if items.is_empty() {
        items.push(Item::plain("none came or left in these cycles"));
    }
    items
}

/// The events of the packet being viewed.
fn events(look: &PaneContext<'_>) -> Vec<Item> {
    let theme = look.theme;
    let Some(trail) = &look.view.trail else {
        return Vec::new();
    };
    let now = look.debugger.cycle();
    let events = trail.events.iter().enumerate();
    let mut items: Vec<_> = events
        .map(|(number, event)| {
            let who = event.place.map_or_else(
                || "     ".to_owned(),
                |it| format!("{:<5}", format!("{}.{}", it.me, it.context)),
            );
            let style = if event.cycle < now {
                ratatui::style::Style::new()
            } else {
                Theme::FAINT
            };
            let line = Line::from(vec![
                Span::styled(format!("{:>8} ", event.cycle), theme.name()),
                Span::styled(format!("{who} {}", event.what), style),
            ]);
            Item {
                lines: vec![line],
                choice: Some(ItemAction::Do(format!(
                    "goto packet {} @{number}",
                    trail.packet
                ))),
            }
        })
        .collect();
    if !trail.over {
        items.push(Item::plain(format!(
            "nothing more before cycle {}",
            trail.until
        )));
    }
    items
}
