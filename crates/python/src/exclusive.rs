//! Values that only one call at a time may use.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;

use crate::detached::{StopFlag, detached};
use crate::error::{InternalError, mistake};

/// A value that only one call at a time may use.
#[derive(Debug)]
pub struct Exclusive<T> {
    content: Mutex<T>,
    /// Whether work on it ended in a panic.
    torn: AtomicBool,
}

impl<T> Exclusive<T> {
    /// Wraps a value that no call uses yet.
    pub fn new(content: T) -> Self {
        Self {
            content: Mutex::new(content),
            torn: AtomicBool::new(false),
        }
    }

    /// Claims the value for one call. A second call, from another thread or from a callback of
    /// the first, is refused rather than made to wait.
    pub fn claim(&self, what: &str) -> PyResult<Claim<'_, T>> {
        let torn = || {
            InternalError::new_err(format!(
                "{what} was left half-done by a defect and cannot be used any more"
            ))
        };
        match self.content.try_lock() {
            Ok(_) if self.torn.load(Ordering::Relaxed) => Err(torn()),
            Ok(content) => Ok(Claim {
                content,
                torn: &self.torn,
            }),
            Err(TryLockError::WouldBlock) => Err(mistake(
                format!("{what} is in use by another call"),
                "wait for that call; a callback of a run cannot use what runs",
            )),
            Err(TryLockError::Poisoned(_)) => Err(torn()),
        }
    }
}

/// A value in use by a call.
#[derive(Debug)]
pub struct Claim<'a, T> {
    content: MutexGuard<'a, T>,
    torn: &'a AtomicBool,
}

impl<T: Send> Claim<'_, T> {
    /// Runs work on the value as [`detached`] does. After work that panicked, no call can claim
    /// it again: a panic on the worker thread does not poison the lock held by this one.
    pub fn detached<R: Send>(
        &mut self,
        py: Python<'_>,
        flag: &StopFlag,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        let (content, torn) = (&mut *self.content, self.torn);
        torn.store(true, Ordering::Relaxed);
        detached(py, flag, || {
            let done = work(content);
            torn.store(false, Ordering::Relaxed);
            done
        })
    }
}

impl<T> Deref for Claim<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.content
    }
}

impl<T> DerefMut for Claim<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.content
    }
}
