//! Runs the interface on a real terminal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use npsim_debug::Debugger;
use npsim_debug::console::Sources;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::interface::Interface;
use crate::progress::CommandProgress;
use crate::theme::Theme;

/// The interval at which the stop flag is polled.
const WAIT: Duration = Duration::from_millis(200);

/// Shows a debugger on the terminal until the user quits or `stop` is set. The terminal is
/// restored afterwards, also after an error or a panic.
///
/// # Errors
/// Returns an error if the terminal cannot be read or written.
pub fn run(
    debugger: Debugger,
    sources: Sources<'_>,
    theme: Theme,
    stop: Arc<AtomicBool>,
) -> io::Result<()> {
    let mut interface = Interface::new(debugger, sources, theme);
    let progress = Arc::new(CommandProgress::new(stop));
    interface.report(Arc::clone(&progress));
    // The guard restores the terminal after a panic.
    let mut terminal = ratatui::try_init()?;
    let done = serve(&mut interface, &mut terminal, &progress);
    ratatui::try_restore()?;
    done
}

fn serve(
    interface: &mut Interface<'_>,
    terminal: &mut DefaultTerminal,
    progress: &CommandProgress,
) -> io::Result<()> {
    while !interface.quits() {
        if progress.wrote() {
            terminal.clear()?;
        }
        terminal.draw(|frame| interface.draw(frame))?;
        let Some(event) = next(progress)? else {
            return Ok(());
        };
        if let Event::Key(key) = event
            && key.kind != KeyEventKind::Release
        {
            interface.key(key);
        }
    }
    Ok(())
}

/// The next event from the user; `None` if the process has to end.
fn next(progress: &CommandProgress) -> io::Result<Option<Event>> {
    if let Some(event) = progress.typed() {
        return Ok(Some(event));
    }
    while !progress.stop_requested() {
        if event::poll(WAIT)? {
            return event::read().map(Some);
        }
    }
    Ok(None)
}
