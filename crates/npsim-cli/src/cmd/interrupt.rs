//! Handling of Ctrl-C during a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, process};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::output;

/// The exit code that shells use for a program ended by Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Returns a flag that is set by the first Ctrl-C, or by the signal of `kill` and `timeout`, so
/// that runs end between two events and save their results; the second one ends the process.
/// Without a handler, Ctrl-C ends the process immediately. SIGHUP is left alone, so that `nohup`
/// works.
pub fn interrupt_flag() -> Arc<AtomicBool> {
    Interrupt::catch().stop
}

/// The flag, for commands that also wait for input.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    stop: Arc<AtomicBool>,
    waits: Arc<AtomicBool>,
}

impl Interrupt {
    /// Installs the signal handlers.
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

    /// Waits for something that may never happen, while there is nothing in progress to save:
    /// meanwhile, the first signal ends the process.
    pub fn wait<T>(&self, come: impl FnOnce() -> T) -> T {
        self.waits.store(true, Ordering::SeqCst);
        // The signal may have arrived just before.
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
        // The order matters: the first signal must find the flag still unset.
        flag::register_conditional_shutdown(signal, code, Arc::clone(&self.stop))?;
        flag::register(signal, Arc::clone(&self.stop))?;
        Ok(())
    }
}
