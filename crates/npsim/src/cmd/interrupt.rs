//! Ctrl-C while something runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output;

/// What a shell reports for a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// Set by the first Ctrl-C, or by what `kill` and `timeout` send, so that runs end
/// between two events and save what they have; the second ends the process. Without
/// a handler, Ctrl-C ends the process at once.
pub fn interrupt_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        output::line(&format!(
            "note: Ctrl-C will not save what is under way: {error}"
        ));
    }
    stop
}
