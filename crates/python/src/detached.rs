//! Work without the interpreter's lock, interruptible by Ctrl-C.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::InternalError;

/// Interval between checks for signals.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A flag that makes work stop.
pub type StopFlag = Arc<AtomicBool>;

thread_local! {
    /// Of a thread that works for a call: the flag that stops its work, and an exception raised by a
    /// callback.
    static WORK: RefCell<Option<(StopFlag, Option<PyErr>)>> = const { RefCell::new(None) };
}

/// Handles an exception raised by a callback on a worker thread: stops the work, and the first such
/// exception is raised by the call that the work is for. On other threads it is written to `stderr`,
/// as Python does with exceptions that cannot propagate.
pub fn raise(py: Python<'_>, raised: PyErr) {
    WORK.with_borrow_mut(|work| match work {
        Some((flag, first)) => {
            flag.store(true, Ordering::Relaxed);
            first.get_or_insert(raised);
        }
        None => raised.write_unraisable(py, None),
    });
}

/// Runs work on another thread. This thread waits for it without the interpreter's lock, so that
/// other Python threads continue, and handles signals. If a signal handler raises, as that of Ctrl-C
/// does, the flag is set, and the exception is raised once the work has stopped.
///
/// Python handles signals in its main thread only: on other threads nothing interrupts the work.
pub fn detached<T: Send>(
    py: Python<'_>,
    flag: &StopFlag,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    attended(py, flag, |_| Ok(()), work)
}

/// As [`detached`], and calls `attend` on this thread repeatedly meanwhile. An exception that it
/// raises ends the work as a signal does.
pub fn attended<T: Send>(
    py: Python<'_>,
    flag: &StopFlag,
    mut attend: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    flag.store(false, Ordering::Relaxed);
    let (done, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let own = Arc::clone(flag);
            let worker = scope.spawn(move || {
                WORK.set(Some((own, None)));
                let done = catch_unwind(AssertUnwindSafe(work));
                let raised = WORK.take().and_then(|(_, raised)| raised);
                // Nothing else is sent to the other end.
                let _ = sender.send(());
                (done, raised)
            });
            let mut raised = None;
            while receiver.recv_timeout(SIGNAL_CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    let looked = |py: Python<'_>| py.check_signals().and_then(|()| attend(py));
                    raised = Python::attach(looked).err();
                }
                // A callback may have set it as well.
                if raised.is_some() {
                    flag.store(true, Ordering::Relaxed);
                }
            }
            match worker.join() {
                Ok((done, by_callback)) => (done, raised.or(by_callback)),
                Err(panic) => (Err(panic), raised),
            }
        })
    });
    match raised {
        Some(raised) => Err(raised),
        None => done.map_err(|panic| panic_error(&*panic)),
    }
}

fn panic_error(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    InternalError::new_err(format!(
        "npsim has a defect: {}; please report it with what led to it",
        text.unwrap_or_else(|| "no message".to_owned())
    ))
}
