//! Ctrl-C while something runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, process};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::output;

/// What a shell reports for a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// Set by the first Ctrl-C, or by what `kill` and `timeout` send, so that runs end
/// between two events and save what they have; the second ends the process. Without
/// a handler, Ctrl-C ends the process at once. A hang-up is left to the shell, so that
/// `nohup` does what it says.
pub fn interrupt_flag() -> Arc<AtomicBool> {
    Interrupt::catch().stop
}

/// The flag for commands that also wait for input.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    stop: Arc<AtomicBool>,
    waits: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on signals set the flag.
    pub fn catch() -> Self {
        let it = Self::default();
        let signals = [SIGINT, SIGTERM].into_iter();
        if let Err(error) = { signals }.try_for_each(|signal| it.handle(signal)) {
            output::line(&format!(
                "note: Ctrl-C will not save what is in progress: {error}"
            ));
        }
        it
    }

    /// The flag.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Waits for something that may never come, with nothing in progress that could be saved:
    /// meanwhile the first signal ends the process.
    pub fn wait<T>(&self, come: impl FnOnce() -> T) -> T {
        self.waits.store(true, Ordering::SeqCst);
        // The interrupt came just before.
        if self.stop.load(Ordering::SeqCst) {
            process::exit(i32::from(INTERRUPTED));
        }
        let it = come();
        self.waits.store(false, Ordering::SeqCst);
        it
    }

    fn handle(&self, signal: i32) -> io::Result<()> {
        let code = i32::from(INTERRUPTED);
        flag::register_conditional_shutdown(signal, code, Arc::clone(&self.waits))?;
        // In this order: the first signal finds the flag not set yet.
        flag::register_conditional_shutdown(signal, code, Arc::clone(&self.stop))?;
        flag::register(signal, Arc::clone(&self.stop))?;
        Ok(())
    }
}
