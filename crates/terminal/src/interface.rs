//! Maps keys to commands and view changes, and draws the debugger and the view.

use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_debug::breakpoints::Breakpoint;
use npsim_debug::console::{Sources, completions, execute};
use npsim_debug::history::History;
use npsim_debug::search::CodePoint;
use npsim_debug::timeline::TimePoint;
use npsim_debug::{Debugger, StopCause, Thread};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use crate::keys::{Action, Motion, action, interrupts};
use crate::layout::{Layout, MIN_SCREEN, Pane};
use crate::panes::{ItemAction, PaneContext, contexts, items, source};
use crate::progress::CommandProgress;
use crate::screen;
use crate::theme::Theme;
use crate::view::{ConsoleLine, Mode, SCALES, View};

/// A debugger, the view of it, and the handling of keys.
pub struct Interface<'s> {
    debugger: Debugger,
    sources: Sources<'s>,
    theme: Theme,
    view: View,
    /// The area of the screen at the last draw.
    area: Rect,
    past: Option<(Cycle, History)>,
    progress: Option<Arc<CommandProgress>>,
    quits: bool,
}

impl std::fmt::Debug for Interface<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Interface")
            .field("debugger", &self.debugger)
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}

impl<'s> Interface<'s> {
    /// An interface to a debugger at its current state.
    #[must_use]
    pub fn new(debugger: Debugger, sources: Sources<'s>, theme: Theme) -> Self {
        Self {
            debugger,
            sources,
            theme,
            view: View::default(),
            area: Rect::new(0, 0, 80, 24),
            past: None,
            progress: None,
            quits: false,
        }
    }

    /// Makes long commands interruptible, and shows their progress.
    pub(crate) fn report(&mut self, progress: Arc<CommandProgress>) {
        let asked = Arc::clone(&progress);
        self.debugger
            .set_interrupt_check(move |cycle| asked.poll_interrupt(cycle));
        self.progress = Some(progress);
    }

    /// The debugger.
    #[must_use]
    pub fn debugger(&self) -> &Debugger {
        &self.debugger
    }

    /// Whether the user has quit.
    #[must_use]
    pub fn quits(&self) -> bool {
        self.quits
    }

    /// The lines of the console.
    pub fn answers(&self) -> impl Iterator<Item = &str> {
        self.view.lines.iter().map(|it| it.1.as_str())
    }

    fn layout(&self) -> Layout {
        let alone = self.view.alone.then_some(self.view.focus);
        let contexts = self.debugger.selectable().len() as u16;
        let (width, height) = MIN_SCREEN;
        let area = Rect {
            width: self.area.width.max(width),
            height: self.area.height.max(height),
            ..self.area
        };
        Layout::of(area, self.view.beside, alone, contexts)
    }

    /// Draws the interface.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        self.area = frame.area();
        let layout = self.layout();
        self.record_history(&layout);
        if let Some((_, past)) = &self.past {
            screen::draw(frame, &self.pane_context(past), &layout);
        }
    }

    /// Replays the cycles that are shown, to record their history.
    fn record_history(&mut self, layout: &Layout) {
        let now = self.debugger.cycle();
        let width = layout.rect(Pane::Contexts).map_or(80, |it| it.width);
        let cycles = u64::from(contexts::columns(width)) * self.view.cycles_per_column();
        let from = now.saturating_sub(cycles);
        let known = self.past.as_ref();
        if known.is_none_or(|(known, past)| *known != from || past.lanes.until() != now) {
            self.past = Some((from, History::of(&self.debugger, from)));
        }
    }

    fn pane_context<'l>(&'l self, past: &'l History) -> PaneContext<'l>
    where
        's: 'l,
    {
        PaneContext {
            debugger: &self.debugger,
            sources: self.sources,
            view: &self.view,
            past,
            theme: self.theme,
        }
    }

    /// Handles a key.
    pub fn key(&mut self, event: KeyEvent) {
        if interrupts(&event) {
            self.quits = self.view.leaving && self.view.mode == Mode::Keys;
            self.view.mode = Mode::Keys;
            self.view.leaving = true;
            return;
        }
        self.view.leaving = false;
        match self.view.mode {
            Mode::Keys => {
                if let Some(action) = action(&event) {
                    self.act(action);
                }
            }
            Mode::Command => self.command_key(&event),
            Mode::Search => self.search_key(&event),
            Mode::Help => self.help_key(&event),
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Do(command) => self.command(command),
            Action::Begin(command) => {
                self.type_command();
                self.view.command.set(command);
            }
            Action::Breakpoint => self.breakpoint(),
            Action::Search => {
                self.view.focus(Pane::Source);
                self.view.search.set("");
                self.view.mode = Mode::Search;
            }
            Action::Match(forward) => self.find(forward),
            Action::Fold => {
                self.view.folded = !self.view.folded;
                self.view.line = None;
            }
            Action::Zoom(closer) => {
                let scale = self.view.scale;
                self.view.scale = if closer {
                    scale.saturating_sub(1)
                } else {
                    (scale + 1).min(SCALES.len() - 1)
                };
            }
            Action::Focus(forward) => {
                let all = Pane::ALL;
                let by = if forward { 1 } else { all.len() - 1 };
                let next = (self.view.focus.index() + by) % all.len();
                self.view.focus(all[next]);
            }
            Action::Pane(pane) => self.view.focus(pane),
            Action::Context(forward) => self.neighbour(if forward { 1 } else { -1 }),
            Action::Return(forth) => self.navigate_history(forth),
            Action::Alone => self.view.alone = !self.view.alone,
            Action::Here => {
                self.view.line = None;
                self.view.back = 0;
            }
            Action::Choose => self.choose(),
            Action::Leave => self.leave(),
            Action::Move(motion) => self.motion(motion),
            Action::Type => self.type_command(),
            Action::Help => {
                self.view.mode = Mode::Help;
                self.view.back = 0;
            }
            Action::Quit => self.quits = true,
        }
    }

    fn type_command(&mut self) {
        self.view.mode = Mode::Command;
        self.view.alone &= self.view.focus == Pane::Console;
        self.view.back = 0;
    }

    /// Executes a command line, and shows the answer.
    fn command(&mut self, line: &str) {
        self.view
            .append_lines(ConsoleLine::Command, [line.to_owned()]);
        let before = self.debugger.thread();
        let stood = self.current_position();
        if let Some(progress) = &self.progress {
            progress.begin();
        }
        let answer = execute(&mut self.debugger, self.sources, line);
        if let Some(progress) = &self.progress {
            progress.end();
        }
        match answer {
            Ok(answer) => {
                self.quits |= answer.quits;
                if answer.stop.is_some() || self.debugger.thread() != before {
                    self.view.line = None;
                }
                let jumped = { answer.stop }.is_some_and(|it| it.reason != StopCause::Step);
                if jumped && self.current_position().0 != stood.0 {
                    self.view.places.truncate(self.view.place);
                    self.view.places.push(stood);
                    self.view.place = self.view.places.len();
                }
                self.view.append_lines(ConsoleLine::Answer, answer.lines);
            }
            Err(complaint) => self.show_error(complaint.to_string()),
        }
        // The command may have changed the course of the run.
        self.past = None;
    }

    fn current_position(&self) -> (TimePoint, CodePoint) {
        let Thread { me, context } = self.debugger.thread();
        let pc = self.debugger.pc(self.debugger.thread());
        (
            self.debugger.timeline().moment(),
            CodePoint { me, context, pc },
        )
    }

    /// Returns to the position before a jump, or forward again.
    fn navigate_history(&mut self, forth: bool) {
        let here = self.current_position();
        let view = &mut self.view;
        if !forth && view.place == view.places.len() && view.place > 0 {
            view.places.push(here);
        }
        let to = if forth {
            Some(view.place + 1)
        } else {
            view.place.checked_sub(1)
        };
        let Some((to, &(moment, place))) = to.and_then(|to| Some((to, view.places.get(to)?)))
        else {
            self.show_error("there is no jump before or after this one".to_owned());
            return;
        };
        view.place = to;
        view.line = None;
        let _ = self.debugger.goto_place(moment, Some(place));
        self.past = None;
    }

    fn show_error(&mut self, text: String) {
        self.view.append_lines(ConsoleLine::Error, [text]);
    }

    fn command_key(&mut self, event: &KeyEvent) {
        match event.code {
            KeyCode::Enter => {
                let line = self.view.command.take();
                let stays = self.view.focus == Pane::Console;
                if !stays || line.trim().is_empty() {
                    self.view.mode = Mode::Keys;
                }
                if !line.trim().is_empty() {
                    self.command(line.trim());
                }
            }
            KeyCode::Tab => self.complete(),
            KeyCode::Esc => {
                self.view.command.set("");
                self.view.mode = Mode::Keys;
            }
            KeyCode::PageUp | KeyCode::PageDown => self.scroll(event.code == KeyCode::PageUp, 5),
            _ => {
                self.view.command.key(event);
            }
        }
    }

    /// Completes the word at the cursor, or shows the candidates.
    fn complete(&mut self) {
        let input = &mut self.view.command;
        let before = &input.text()[..input.cursor()];
        let begun = before.len();
        let (from, words) = completions(&self.debugger, before);
        let Some(first) = words.first() else {
            return;
        };
        let common = words.iter().fold(first.as_str(), |common, word| {
            let same = common.char_indices().zip(word.chars());
            let differs = same.map(|((at, a), b)| (at, a, b)).find(|it| it.1 != it.2);
            let end = differs.map_or(common.len().min(word.len()), |it| it.0);
            &common[..end]
        });
        if let [word] = &words[..] {
            let word = format!("{word} ");
            input.replace(from, &word);
        } else if from + common.len() > begun {
            let common = common.to_owned();
            input.replace(from, &common);
        } else {
            self.view
                .append_lines(ConsoleLine::Answer, [words.join("  ")]);
        }
    }

    fn search_key(&mut self, event: &KeyEvent) {
        match event.code {
            KeyCode::Enter => {
                self.view.search.take();
                self.view.mode = Mode::Keys;
                self.find(true);
            }
            KeyCode::Esc => {
                self.view.search.set("");
                self.view.mode = Mode::Keys;
            }
            _ => {
                self.view.search.key(event);
            }
        }
    }

    /// Moves to the next line of the source that contains the search text.
    fn find(&mut self, forward: bool) {
        let Some(text) = self.view.search.last().map(str::to_owned) else {
            self.show_error("there is no search to repeat; `/` asks for a text".to_owned());
            return;
        };
        let (rows, here) = self.rows();
        let from = self.view.line.unwrap_or(here);
        let count = rows.len();
        let order = (1..=count).map(|by| {
            if forward {
                (from + by) % count
            } else {
                (from + count - by) % count
            }
        });
        let found = order.into_iter().find(|at| rows[*at].text.contains(&text));
        match found {
            Some(found) => {
                self.view.focus(Pane::Source);
                self.view.line = Some(found);
            }
            None => self.show_error(format!("no line shown here contains `{text}`")),
        }
    }

    fn help_key(&mut self, event: &KeyEvent) {
        let page = usize::from(self.area.height.saturating_sub(4)).max(1);
        let back = &mut self.view.back;
        match event.code {
            KeyCode::Up => *back = back.saturating_sub(1),
            KeyCode::Down => *back += 1,
            KeyCode::PageUp => *back = back.saturating_sub(page),
            KeyCode::PageDown | KeyCode::Char(' ') => *back += page,
            KeyCode::Home => *back = 0,
            _ => {
                *back = 0;
                self.view.mode = Mode::Keys;
            }
        }
    }

    /// The rows of the source, and the index of the context's row.
    fn rows(&self) -> (Vec<source::SourceRow>, usize) {
        source::rows(&self.debugger, self.sources, self.view.folded)
    }

    fn breakpoint(&mut self) {
        let (rows, here) = self.rows();
        let Some(row) = rows.get(self.view.line.unwrap_or(here)) else {
            return;
        };
        // The breakpoint may be moved to the next line that has code.
        let (line, asked) = match &row.place {
            source::RowPlace::Line(file, line) => {
                let resolved = self.debugger.line(file, *line).ok();
                let resolved = resolved.map(|(_, file, line)| (file, line));
                let (file, line) = resolved.clone().unwrap_or((file.clone(), *line));
                (resolved, format!("{file}:{line}"))
            }
            source::RowPlace::Word(pc) => (None, format!("*{pc}")),
        };
        let mut points = self.debugger.breakpoints().iter();
        let same = |point: &&Breakpoint| {
            source::stops_at(&self.debugger, point, &row.place)
                || line.is_some() && point.line == line
        };
        match points.find(same).map(|it| it.id) {
            Some(id) => self.command(&format!("delete {id}")),
            None => self.command(&format!("break {asked}")),
        }
    }

    /// Selects the context at this offset from the current one.
    fn neighbour(&mut self, by: isize) {
        let threads = self.debugger.selectable();
        let here = self.debugger.thread();
        let at = threads.iter().position(|it| *it == here);
        let last = threads.len().saturating_sub(1);
        let next = at.unwrap_or(0).saturating_add_signed(by).min(last);
        if let Some(thread) = threads.get(next)
            && *thread != here
        {
            self.view.line = None;
            if let Err(complaint) = self.debugger.select(*thread) {
                self.show_error(complaint.to_string());
            }
        }
    }

    fn choose(&mut self) {
        let pane = self.view.focus;
        if pane == Pane::Console {
            self.view.mode = Mode::Command;
            return;
        }
        let layout = self.layout();
        self.record_history(&layout);
        let width = layout.rect(pane).map_or(80, |it| it.width);
        let choice = self.past.as_ref().and_then(|(_, past)| {
            let items = items(&self.pane_context(past), pane, width);
            let chosen = self.view.chosen(pane).min(items.len().max(1) - 1);
            items.into_iter().nth(chosen)?.choice
        });
        match choice {
            Some(ItemAction::Do(command)) => self.command(&command),
            Some(ItemAction::Packet(number)) => self.packet(number),
            None => {}
        }
    }

    /// Shows the events of a packet.
    fn packet(&mut self, number: u64) {
        if let Some(progress) = &self.progress {
            progress.begin();
        }
        let trail = self.debugger.packet(number);
        if let Some(progress) = &self.progress {
            progress.end();
        }
        match trail {
            Ok(trail) => {
                let now = self.debugger.cycle();
                let next = trail.events.iter().position(|it| it.cycle >= now);
                let last = trail.events.len().saturating_sub(1);
                self.view.chosen[Pane::Packets.index()] = next.unwrap_or(last);
                self.view.trail = Some(trail);
            }
            Err(complaint) => self.show_error(complaint.to_string()),
        }
    }

    fn leave(&mut self) {
        if self.view.focus == Pane::Packets && self.view.trail.is_some() {
            self.view.trail = None;
            self.view.chosen[Pane::Packets.index()] = 0;
        } else if self.view.line.is_some() {
            self.view.line = None;
        } else {
            self.view.alone = false;
        }
    }

    fn scroll(&mut self, up: bool, by: usize) {
        let back = &mut self.view.back;
        *back = if up {
            (*back + by).min(self.view.lines.len())
        } else {
            back.saturating_sub(by)
        };
    }

    fn motion(&mut self, motion: Motion) {
        let pane = self.view.focus;
        let rect = self.layout().rect(pane);
        let page = rect.map_or(10, |it| usize::from(it.height).saturating_sub(2).max(1));
        let moved = |at: usize, count: usize| {
            let last = count.max(1) - 1;
            match motion {
                Motion::Up => at.saturating_sub(1),
                Motion::Down => at + 1,
                Motion::PageUp => at.saturating_sub(page),
                Motion::PageDown => at + page,
                Motion::First => 0,
                Motion::Last => last,
            }
            .min(last)
        };
        match pane {
            Pane::Source => {
                let (rows, here) = self.rows();
                let at = self.view.line.unwrap_or(here);
                self.view.line = Some(moved(at, rows.len()));
            }
            Pane::Contexts => {
                let threads = self.debugger.selectable();
                let here = self.debugger.thread();
                let at = threads.iter().position(|it| *it == here).unwrap_or(0);
                self.neighbour(moved(at, threads.len()) as isize - at as isize);
            }
            Pane::Console => match motion {
                Motion::Up => self.scroll(true, 1),
                Motion::Down => self.scroll(false, 1),
                Motion::PageUp => self.scroll(true, page),
                Motion::PageDown => self.scroll(false, page),
                Motion::First => self.scroll(true, usize::MAX / 2),
                Motion::Last => self.view.back = 0,
            },
            pane => {
                let layout = self.layout();
                self.record_history(&layout);
                let width = rect.map_or(80, |it| it.width);
                let count = self.past.as_ref().map_or(0, |(_, past)| {
                    items(&self.pane_context(past), pane, width).len()
                });
                let at = self.view.chosen(pane);
                self.view.chosen[pane.index()] = moved(at, count);
            }
        }
    }
}
