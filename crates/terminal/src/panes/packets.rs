//! Packets that came or left over the last cycles or are in the buffers of the media
//! interface; or the stations of one.

use crate::theme::Theme;
use npsim_inspect::Inspect;
use std::collections::BTreeMap;

use npsim_inspect::BufferHolder;
use ratatui::text::{Line, Span};

use super::{Choice, Item, PaneContext};
use crate::history::{Fate, Packet};
use crate::layout::NARROW;

/// Where buffers of the media interface have parts of packets.
fn buffers(look: &PaneContext<'_>) -> BTreeMap<u64, String> {
    let inspect = Inspect::new(look.debugger.chip());
    let mut places: BTreeMap<u64, String> = BTreeMap::new();
    let mut add = |frame: u64, text: String| {
        let place = places.entry(frame).or_default();
        if !place.is_empty() {
            place.push_str(", ");
        }
        place.push_str(&text);
    };
    for it in inspect.rbuf() {
        let Some(frame) = it.frame else {
            continue;
        };
        let element = it.element;
        match it.holder {
            BufferHolder::Withheld | BufferHolder::Pool => {}
            BufferHolder::Filling => add(frame, format!("filling RBUF {element}")),
            BufferHolder::Full => add(frame, format!("RBUF {element} waits")),
            BufferHolder::Thread { me, context, .. } => {
                add(frame, format!("RBUF {element} of {me}.{context}"));
            }
        }
    }
    for it in inspect.tbuf() {
        if let (Some(frame), Some(_)) = (it.frame, it.valid_since) {
            add(frame, format!("TBUF {}", it.element));
        }
    }
    places
}

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
        return stations(look);
    }
    let theme = look.theme;
    let buffers = buffers(look);
    let unknown = Packet {
        came: None,
        fate: Fate::Inside,
    };
    let mut all: BTreeMap<u64, &Packet> = BTreeMap::new();
    all.extend(look.past.packets.iter().map(|it| (*it.0, it.1)));
    for frame in buffers.keys() {
        all.entry(*frame).or_insert(&unknown);
    }
    let mut items = Vec::new();
    // The newest first.
    for (frame, packet) in all.into_iter().rev() {
        let came = match packet.came {
            Some((port, _, _)) if width < NARROW => format!("port {port}"),
            Some((port, bytes, _)) => format!("{bytes:>5} B port {port}"),
            None if width < NARROW => "before".to_owned(),
            None => "       before ".to_owned(),
        };
        let (place, style) = match (&packet.fate, buffers.get(&frame)) {
            (Fate::Lost { reason, at }, _) => (format!("lost at {at}: {reason}"), theme.alarm()),
            (Fate::Left { port, at }, _) => (format!("left by {port} at {at}"), Theme::FAINT),
            (Fate::Inside, Some(place)) => (place.clone(), Theme::STRONG),
            (Fate::Inside, None) => ("in the chip".to_owned(), ratatui::style::Style::new()),
        };
        let line = Line::from(vec![
            Span::styled(format!("{frame:>5} "), theme.name()),
            Span::raw(format!("{came} ")),
            Span::styled(place, style),
        ]);
        items.push(Item {
            lines: vec![line],
            choice: Some(Choice::Packet(frame)),
        });
    }
    if items.is_empty() {
        items.push(Item::plain("none came or left in these cycles"));
    }
    items
}

/// The stations of the packet that is looked at.
fn stations(look: &PaneContext<'_>) -> Vec<Item> {
    let theme = look.theme;
    let Some(trail) = &look.view.trail else {
        return Vec::new();
    };
    let now = look.debugger.cycle();
    let stations = trail.stations.iter().enumerate();
    let mut items: Vec<_> = stations
        .map(|(number, station)| {
            let who = station.place.map_or_else(
                || "     ".to_owned(),
                |it| format!("{:<5}", format!("{}.{}", it.me, it.context)),
            );
            let style = if station.cycle < now {
                ratatui::style::Style::new()
            } else {
                Theme::FAINT
            };
            let line = Line::from(vec![
                Span::styled(format!("{:>8} ", station.cycle), theme.name()),
                Span::styled(format!("{who} {}", station.what), style),
            ]);
            Item {
                lines: vec![line],
                choice: Some(Choice::Do(format!(
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
