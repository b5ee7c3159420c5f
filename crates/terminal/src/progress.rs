//! Progress display and user input during long commands.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use npsim_chip::Cycle;
use ratatui::crossterm::cursor::MoveTo;
use ratatui::crossterm::event::{self, Event, KeyCode};
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{self, Clear, ClearType};
use ratatui::crossterm::{QueueableCommand, queue};

use crate::keys::interrupts;

/// The delay before progress is shown, and the interval between updates.
const INITIAL_DELAY: Duration = Duration::from_millis(300);
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// A command in progress.
pub(crate) struct CommandProgress {
    /// Whether the process was asked to end.
    stop: Arc<AtomicBool>,
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    begun: Option<Instant>,
    shown: Option<Instant>,
    /// Events that arrived in the meantime.
    typed: VecDeque<Event>,
}

impl CommandProgress {
    pub fn new(stop: Arc<AtomicBool>) -> Self {
        Self {
            stop,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the process was asked to end.
    pub fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Begins a command that may take long.
    pub fn begin(&self) {
        self.state().begun = Some(Instant::now());
    }

    /// Ends the progress display.
    pub fn end(&self) {
        self.state().begun = None;
    }

    /// Whether anything was written on the screen since the last call.
    pub fn wrote(&self) -> bool {
        self.state().shown.take().is_some()
    }

    /// The next event that arrived in the meantime.
    pub fn typed(&self) -> Option<Event> {
        self.state().typed.pop_front()
    }

    /// Whether to interrupt the command; called with the current cycle.
    pub fn poll_interrupt(&self, cycle: Cycle) -> bool {
        if self.stop_requested() {
            return true;
        }
        let mut state = self.state();
        while event::poll(Duration::ZERO).unwrap_or(false) {
            match event::read() {
                Ok(Event::Key(key)) if interrupts(&key) || key.code == KeyCode::Esc => return true,
                Ok(event) => state.typed.push_back(event),
                Err(_) => return true,
            }
        }
        let waited = state.begun.is_some_and(|it| it.elapsed() >= INITIAL_DELAY);
        let old = state.shown.is_none_or(|it| it.elapsed() >= UPDATE_INTERVAL);
        if waited && old {
            state.shown = Some(Instant::now());
            // A lost terminal is detected when the screen is drawn.
            let _ = overwrite_last_line(&format!("at cycle {cycle}; Ctrl-C or Esc interrupts"));
        }
        false
    }
}

/// Overwrites the last line of the screen.
fn overwrite_last_line(text: &str) -> io::Result<()> {
    let (width, height) = terminal::size()?;
    let text: String = text.chars().take(width.into()).collect();
    let mut out = io::stdout().lock();
    out.queue(MoveTo(0, height.saturating_sub(1)))?;
    queue!(out, Clear(ClearType::CurrentLine), Print(text))?;
    out.flush()
}
