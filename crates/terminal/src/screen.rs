//! Draws the screen: headings, panes, the first and the last line.

use crate::theme::Theme;
use npsim_debug::console::time_text;
use npsim_debug::view::{self, StopReason};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::keys::KEYS;
use crate::layout::{Layout, MIN_SCREEN, Pane};
use crate::panes::{PaneContext, console, contexts, cut, help, items, packets, source};
use crate::view::Mode;

/// Draws the whole screen.
pub(crate) fn draw(frame: &mut Frame<'_>, look: &PaneContext<'_>, layout: &Layout) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < MIN_SCREEN.0 || area.height < MIN_SCREEN.1 {
        let text = format!(
            "at least {} columns and {} lines",
            MIN_SCREEN.0, MIN_SCREEN.1
        );
        put(buffer, area, 0, &Line::from(text));
        return;
    }
    title(buffer, look, layout.title);
    if look.view.mode == Mode::Help {
        let inner = Rect::new(area.x, 1, area.width, layout.keys.y - 1);
        draw_help(buffer, look, inner);
    } else {
        for (pane, rect) in &layout.panes {
            draw_pane(buffer, look, *pane, *rect);
        }
        for rule in &layout.rules {
            for y in rule.y..rule.bottom() {
                buffer.set_string(rule.x, y, "│", Theme::FAINT);
            }
        }
    }
    keys(buffer, look, layout.keys);
    let (line, column) = console::typed(look, area.width);
    let typed = layout.rect(Pane::Console).filter(|it| it.height > 1);
    if let Some(column) = column {
        // If the console is hidden, its input appears on the last line.
        let place = typed.map_or(layout.keys, |it| {
            Rect::new(it.x, it.bottom() - 1, it.width, 1)
        });
        let blank = Line::from(" ".repeat(place.width.into()));
        put(buffer, place, 0, &blank);
        put(buffer, place, 0, &line);
        frame.set_cursor_position((place.x + column, place.y));
    }
}

pub(crate) fn put(buffer: &mut Buffer, area: Rect, row: u16, line: &Line<'_>) {
    if row < area.height {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
}

pub(crate) fn put_all(buffer: &mut Buffer, area: Rect, lines: &[Line<'_>]) {
    for (row, line) in (0..area.height).zip(lines) {
        put(buffer, area, row, line);
    }
}

/// The area of a pane below its heading.
pub(crate) fn body_area(area: Rect) -> Rect {
    Rect::new(
        area.x,
        area.y + 1,
        area.width,
        area.height.saturating_sub(1),
    )
}

pub(crate) fn heading(
    buffer: &mut Buffer,
    theme: Theme,
    area: Rect,
    name: &str,
    text: &str,
    has_keys: bool,
) {
    let rule = if has_keys { "━" } else { "─" };
    let style = theme.heading(has_keys);
    let width = usize::from(area.width);
    let name = format!("{rule} {name} ");
    let room = width.saturating_sub(name.chars().count() + 1);
    let text = if text.is_empty() {
        String::new()
    } else {
        format!("{} ", cut(text, room))
    };
    let used = name.chars().count() + text.chars().count();
    let line = Line::from(vec![
        Span::styled(name, style),
        Span::raw(text),
        Span::styled(rule.repeat(width.saturating_sub(used)), style),
    ]);
    put(buffer, area, 0, &line);
}

fn draw_pane(buffer: &mut Buffer, look: &PaneContext<'_>, pane: Pane, area: Rect) {
    let inner = body_area(area);
    let text = match pane {
        Pane::Source => source::heading(look),
        Pane::Contexts => {
            let text = contexts::heading(look, inner.width);
            let both = format!("{text} ─ {}", contexts::LEGEND);
            if both.chars().count() + 14 <= usize::from(area.width) {
                both
            } else {
                text
            }
        }
        Pane::Packets => packets::heading(look),
        Pane::Names | Pane::Rings | Pane::Units | Pane::Console => String::new(),
    };
    let has_keys = look.view.focus == pane;
    heading(buffer, look.theme, area, pane.name(), &text, has_keys);
    match pane {
        Pane::Source => put_all(
            buffer,
            inner,
            &source::lines(look, inner.width, inner.height),
        ),
        Pane::Contexts => {
            put_all(
                buffer,
                inner,
                &contexts::lines(look, inner.width, inner.height),
            );
        }
        Pane::Console => {
            let height = inner.height.saturating_sub(1);
            put_all(buffer, inner, &console::lines(look, inner.width, height));
            put(buffer, inner, height, &console::typed(look, inner.width).0);
        }
        pane => list(buffer, look, pane, inner),
    }
}

/// Draws a list, scrolled so that the chosen entry is visible.
fn list(buffer: &mut Buffer, look: &PaneContext<'_>, pane: Pane, area: Rect) {
    let items = items(look, pane, area.width);
    let chosen = look.view.chosen(pane).min(items.len().max(1) - 1);
    let marks = look.view.focus == pane;
    let mut lines = Vec::new();
    let mut begins = 0;
    for (index, item) in items.into_iter().enumerate() {
        if index == chosen {
            begins = lines.len();
        }
        for line in item.lines {
            let is_chosen = marks && index == chosen;
            lines.push(if is_chosen {
                let blank = usize::from(area.width).saturating_sub(line.width());
                let mut line = line;
                line.push_span(" ".repeat(blank));
                line.patch_style(Theme::CHOSEN)
            } else {
                line
            });
        }
    }
    let height = usize::from(area.height);
    let last_top = lines.len().saturating_sub(height);
    let top = begins.saturating_sub(height / 2).min(last_top);
    put_all(buffer, area, &lines[top..]);
}

/// A short description of why the run stopped here.
fn reason(look: &PaneContext<'_>) -> String {
    match view::reason(look.debugger, look.debugger.reason()) {
        StopReason::Entry | StopReason::Beginning => "the beginning of the run".to_owned(),
        StopReason::Step | StopReason::Goto => String::new(),
        StopReason::Interrupted => "interrupted".to_owned(),
        StopReason::Breakpoint { hits } => {
            let numbers: Vec<_> = hits.iter().map(|it| it.number.to_string()).collect();
            format!("breakpoint {}", numbers.join(", "))
        }
        StopReason::Fault { name, message, .. } => format!("{name}: {message}"),
        StopReason::End { text } => text,
    }
}

fn title(buffer: &mut Buffer, look: &PaneContext<'_>, area: Rect) {
    let debugger = look.debugger;
    let thread = debugger.thread();
    let time = time_text(debugger.cycle(), debugger.timeline().hertz());
    let mut parts = vec![
        format!(" {thread} {}", debugger.stage(thread.me)),
        match debugger.core().filter(|_| thread.is_core()) {
            Some(core) => core.doing().to_owned(),
            None => contexts::doing(debugger.chip(), thread),
        },
        format!("cycle {} ({time})", debugger.cycle()),
    ];
    let reason = reason(look);
    if !reason.is_empty() {
        parts.push(reason);
    }
    bar(buffer, area, &parts);
}

/// Draws the first line: the most important facts, side by side.
pub(crate) fn bar(buffer: &mut Buffer, area: Rect, parts: &[String]) {
    let text = cut(&parts.join(" │ "), area.width.into());
    let text = format!("{text:<0$}", usize::from(area.width));
    put(buffer, area, 0, &Line::from(Span::styled(text, Theme::BAR)));
}

/// Draws as many keys as there is room for.
fn keys(buffer: &mut Buffer, look: &PaneContext<'_>, area: Rect) {
    let mut row = 0;
    let mut spans = Vec::new();
    let mut used = 0;
    let leaving = look
        .view
        .leaving
        .then(|| ("Ctrl-C".to_owned(), "again ends the debugger"));
    let table = KEYS.iter().filter(|it| it.footer);
    let table = table.map(|it| (it.label(), it.short));
    for (label, short) in leaving.into_iter().chain(table) {
        let width = label.chars().count() + short.len() + 3;
        if used + width > usize::from(area.width) + 2 {
            put(buffer, area, row, &Line::from(std::mem::take(&mut spans)));
            row += 1;
            used = 0;
            if row == area.height {
                return;
            }
        }
        used += width;
        spans.push(Span::styled(label, Theme::STRONG));
        spans.push(Span::raw(format!(" {short}  ")));
    }
    put(buffer, area, row, &Line::from(spans));
}

fn draw_help(buffer: &mut Buffer, look: &PaneContext<'_>, area: Rect) {
    let inner = body_area(area);
    let lines = help::lines(look, inner.width);
    let last_top = lines.len().saturating_sub(inner.height.into());
    let top = look.view.back.min(last_top);
    let text = "Up, Down, PgUp, PgDn; any other key leaves it";
    heading(buffer, look.theme, area, "Help", text, true);
    put_all(buffer, inner, &lines[top..]);
}
