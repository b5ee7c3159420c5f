//! Ctrl-C while something runs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    let stop = Arc::new(AtomicBool::new(false));
    if let Err(error) = [SIGINT, SIGTERM]
        .into_iter()
        .try_for_each(|signal| handle(signal, &stop))
    {
        output::line(&format!(
            "note: Ctrl-C will not save what is under way: {error}"
        ));
    }
    stop
}

fn handle(signal: i32, stop: &Arc<AtomicBool>) -> io::Result<()> {
    // In this order: the first signal finds the flag not set yet.
    flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(stop))?;
    flag::register(signal, Arc::clone(stop))?;
    Ok(())
}
