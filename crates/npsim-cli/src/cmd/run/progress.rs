//! The progress bar of a run.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar on standard error, shown only on a terminal and only for long runs.
pub struct RunProgress {
    started: Instant,
    end: u64,
    bar: Option<ProgressBar>,
}

impl RunProgress {
    pub fn new(started: Instant, arrivals_end: u64, until: Option<u64>) -> Self {
        let end = match until {
            Some(until) if arrivals_end > 0 => until.min(arrivals_end),
            Some(until) => until,
            None => arrivals_end,
        };
        Self {
            started,
            end,
            bar: None,
        }
    }

    pub fn at(&mut self, cycle: u64) {
        if self.bar.is_none()
            && std::io::stderr().is_terminal()
            && self.started.elapsed() > Duration::from_secs(1)
        {
            let bar = ProgressBar::new(self.end);
            if let Ok(style) = ProgressStyle::with_template(
                "{bar:40} {percent}% of the traffic, {elapsed}, {eta} to go",
            ) {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(cycle.min(self.end));
        }
    }

    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
