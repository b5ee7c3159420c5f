//! Shows a live run on a terminal: panes of the debugger for a run in progress, with text beside
//! them.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use npsim_chip::chip::Chip;
use npsim_debug::Thread;
use npsim_debug::names::ProjectNames;
use npsim_debug::view::{self, ContextActivity};
use npsim_isa::CONTEXTS;
use npsim_observe::lanes::Activity;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::{DefaultTerminal, Frame};

use crate::keys::interrupts;
use crate::panes::{contexts, cut, rings, wrapped};
use crate::screen::{bar, body_area, heading, put, put_all};
use crate::theme::Theme;

/// The minimum width, in columns, at which rings are placed beside the text.
const MIN_WIDTH_FOR_COLUMNS: u16 = 100;
/// The maximum width of a stage's name.
const STAGE: usize = 16;

/// A heading with lines below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveSection {
    /// The heading.
    pub title: &'static str,
    /// The lines; long ones are wrapped.
    pub lines: Vec<String>,
}

/// The displayed state of a live run.
#[derive(Clone, Copy, Debug)]
pub struct LivePicture<'a> {
    /// The parts of the first line.
    pub bar: &'a [String],
    /// The text sections, the most important first.
    pub sections: &'a [LiveSection],
    /// The chip whose rings and contexts are shown, with the names from its project.
    pub chip: Option<(&'a Chip, &'a ProjectNames)>,
}

/// A request of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveKey {
    /// Ends the run.
    Quit,
    /// Ctrl-C.
    Interrupt,
}

/// A terminal in use for drawing until this is dropped, also after an error or a panic.
#[derive(Debug)]
pub struct LiveTerminal {
    terminal: DefaultTerminal,
    theme: Theme,
}

impl LiveTerminal {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// Returns an error if the terminal cannot be drawn on.
    pub fn open(theme: Theme) -> io::Result<Self> {
        let terminal = ratatui::try_init()?;
        Ok(Self { terminal, theme })
    }

    /// Draws a picture.
    ///
    /// # Errors
    /// Returns an error if the terminal cannot be written.
    pub fn show(&mut self, picture: &LivePicture<'_>) -> io::Result<()> {
        let theme = self.theme;
        self.terminal.draw(|frame| picture.draw(frame, theme))?;
        Ok(())
    }

    /// The user's request since the last call, if any; does not block.
    ///
    /// # Errors
    /// Returns an error if the terminal cannot be read.
    pub fn key(&mut self) -> io::Result<Option<LiveKey>> {
        while event::poll(Duration::ZERO)? {
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
            {
                if interrupts(&key) {
                    return Ok(Some(LiveKey::Interrupt));
                }
                if key.code == KeyCode::Char('q') {
                    return Ok(Some(LiveKey::Quit));
                }
            }
        }
        Ok(None)
    }
}

impl Drop for LiveTerminal {
    fn drop(&mut self) {
        // If the terminal cannot be restored, it cannot show an error message either.
        let _ = ratatui::try_restore();
    }
}

impl LivePicture<'_> {
    /// Draws the whole picture.
    pub fn draw(&self, frame: &mut Frame<'_>, theme: Theme) {
        let area = frame.area();
        let buffer = frame.buffer_mut();
        let row = |y: u16, height: u16| Rect::new(area.x, area.y + y, area.width, height);
        bar(buffer, row(0, area.height.min(1)), self.bar);
        let Some(inner) = area.height.checked_sub(2) else {
            return;
        };
        let keys = Line::from(vec![
            Span::styled("q", Theme::STRONG),
            Span::raw(" ends the run  "),
            Span::styled("Ctrl-C", Theme::STRONG),
            Span::raw(" interrupts it"),
        ]);
        put(buffer, row(inner + 1, 1), 0, &keys);
        let words = |width| -> Vec<_> {
            let sections = self.sections.iter();
            let sections = sections.map(|it| (it.title, section(it, width)));
            sections.collect()
        };
        let Some((chip, names)) = self.chip else {
            stack(buffer, row(1, inner), theme, &words(area.width));
            return;
        };
        let lanes = lanes(chip, names, theme, area.width);
        let lower = (lanes.len() as u16 + 1).min(inner / 2);
        let upper = inner - lower;
        let rings = |width| ("Rings", ring_lines(chip, names, theme, width));
        if area.width >= MIN_WIDTH_FOR_COLUMNS {
            let left = area.width * 58 / 100;
            let at = |x, width| Rect::new(area.x + x, area.y + 1, width, upper);
            stack(buffer, at(0, left), theme, &words(left));
            for y in 0..upper {
                buffer.set_string(area.x + left, area.y + 1 + y, "│", Theme::FAINT);
            }
            let right = area.width - left - 1;
            stack(buffer, at(left + 1, right), theme, &[rings(right)]);
        } else {
            let mut all = words(area.width);
            all.push(rings(area.width));
            stack(buffer, row(1, upper), theme, &all);
        }
        stack(buffer, row(1 + upper, lower), theme, &[(LANES, lanes)]);
    }
}

/// The heading of the contexts, with a legend.
const LANES: &str = "Contexts ─ █ runs ░ ready · waits x exited";

/// The lines of a section.
fn section(section: &LiveSection, width: u16) -> Vec<Line<'static>> {
    let lines = section.lines.iter();
    let lines = lines.flat_map(|line| wrapped(line, width.into()));
    lines.map(Line::from).collect()
}

/// Draws headings with their lines, as far as there is room.
fn stack(buffer: &mut Buffer, area: Rect, theme: Theme, blocks: &[(&str, Vec<Line<'static>>)]) {
    let mut rest = area;
    for (title, lines) in blocks {
        if rest.height == 0 {
            return;
        }
        heading(buffer, theme, rest, title, "", false);
        rest = body_area(rest);
        put_all(buffer, rest, lines);
        let used = rest.height.min(lines.len() as u16);
        rest = Rect::new(rest.x, rest.y + used, rest.width, rest.height - used);
    }
}

/// The rings and queues, one line each.
fn ring_lines(chip: &Chip, names: &ProjectNames, theme: Theme, width: u16) -> Vec<Line<'static>> {
    let mut rings = view::rings(chip, names);
    for ring in &mut rings {
        ring.words.clear();
    }
    let items = rings::items(&rings, theme, width).into_iter();
    items.flat_map(|item| item.lines).collect()
}

/// The activity of the contexts, one line per microengine.
fn lanes(chip: &Chip, names: &ProjectNames, theme: Theme, width: u16) -> Vec<Line<'static>> {
    let running = Thread::running(chip);
    let cores = running.chunk_by(|a, b| a.me == b.me);
    let lines = cores.map(|threads| {
        let me = threads[0].me;
        let stage = cut(&names.stage(chip, me), STAGE);
        let mut spans = vec![Span::raw(format!("{me:>3} {stage:<STAGE$} "))];
        spans.extend((0..CONTEXTS).map(|context| {
            let (sign, activity) = sign(ContextActivity::of(chip, Thread { me, context }).as_ref());
            Span::styled(sign.to_string(), theme.activity(activity))
        }));
        let mut doing: BTreeMap<String, usize> = BTreeMap::new();
        for thread in threads {
            *doing.entry(contexts::doing(chip, *thread)).or_default() += 1;
        }
        let mut doing: Vec<_> = doing.into_iter().collect();
        doing.sort_by_key(|it| std::cmp::Reverse(it.1));
        let doing = doing.iter().map(|(what, count)| format!("{count} {what}"));
        let doing = doing.collect::<Vec<_>>().join("; ");
        let room = usize::from(width).saturating_sub(STAGE + 5 + usize::from(CONTEXTS) + 1);
        spans.push(Span::raw(format!(" {}", cut(&doing, room))));
        Line::from(spans)
    });
    lines.collect()
}

fn sign(activity: Option<&ContextActivity>) -> (char, Activity) {
    match activity {
        None | Some(ContextActivity::Inactive) => (' ', Activity::Inactive),
        Some(ContextActivity::Killed) => ('x', Activity::Inactive),
        Some(ContextActivity::Ready) => ('░', Activity::Ready),
        Some(ContextActivity::Executing) => ('█', Activity::Executing),
        Some(ContextActivity::Waiting { .. }) => ('·', Activity::Waiting),
    }
}
