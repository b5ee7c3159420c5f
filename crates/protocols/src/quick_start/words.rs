//! The task in the summary of a run and in `npsim project`.

use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

use super::task::{QuickStartSetup, QuickStartTask};
use crate::keys::group_prefix;

/// Bits per second per unit of Quick-Start's rates.
const UNIT: f64 = 40_000.0;

/// Formats a rate in Quick-Start units; limits may be negative.
fn rate(units: i64) -> String {
    let sign = if units < 0 { "-" } else { "" };
    format!("{sign}{}", show_rate(units.unsigned_abs() as f64 * UNIT))
}

impl QuickStartTask {
    /// The summary line of group `number`, with `granted` units granted in its current window.
    pub(super) fn group_summary(&self, number: usize, granted: i32) -> String {
        let mut groups = self.groups();
        let count = groups.len();
        let Some((group, state)) = groups.nth(number) else {
            return String::new();
        };
        format!(
            "{}limit {} of {}   granted {} now, {} in the last window   peak use {}   {} windows",
            group_prefix(number, count),
            rate(state.window.limit.into()),
            rate(group.threshold),
            rate(granted.into()),
            rate(state.grants.into()),
            rate(state.peak_utilisation()),
            grouped(self.windows)
        )
    }
}

impl QuickStartSetup {
    /// The plan of the task, for microengines of this frequency.
    pub(super) fn plan(&self, hertz: u64) -> String {
        let time = |cycles: u64| show_nanoseconds(cycles as f64 * 1e9 / hertz as f64);
        format!(
            "{} groups of ports, a window of {}, exact after {}",
            self.groups.len(),
            time(self.window),
            time(self.grace)
        )
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn negative_limit_is_shown_with_its_sign() {
        assert_eq!(super::rate(-1000), "-40.000 Mb/s");
        assert_eq!(super::rate(0), "0 b/s");
        assert_eq!(super::rate(25_000), "1.000 Gb/s");
    }
}
