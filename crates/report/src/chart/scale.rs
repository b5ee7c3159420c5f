//! Linear scales, and round numbers for axes and text.

/// A linear mapping from values to coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Creates a scale that maps `from` to `start` and `to` to `end`.
    #[must_use]
    pub fn new(from: f64, to: f64, start: f64, end: f64) -> Self {
        Self {
            from,
            to: if to > from { to } else { from + 1.0 },
            start,
            end,
        }
    }

    /// The coordinate of a value.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }
}

/// Divides the range from 0 to at least `most` into about `count` round steps; returns
/// the step and their number.
#[must_use]
pub fn steps(most: f64, count: usize) -> (f64, usize) {
    if most <= 0.0 {
        return (1.0, 1);
    }
    let rough = most / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    (step, (most / step - 1e-9).ceil().max(1.0) as usize)
}

/// Round numbers between two values, in about `count` steps.
#[must_use]
pub fn ticks(from: f64, to: f64, count: usize) -> Vec<f64> {
    let (step, _) = steps(to - from, count);
    let first = (from / step - 1e-9).ceil() as i64;
    let last = (to / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// Maximum number of decimals of a label.
const MAX_DECIMALS: usize = 12;

/// The fewest decimals that represent all these numbers exactly, up to rounding.
#[must_use]
pub fn decimals(numbers: &[f64]) -> usize {
    let step = { numbers.windows(2) }.map(|pair| pair[1] - pair[0]);
    let step = step.fold(f64::INFINITY, f64::min);
    let whole = |digits: &usize| {
        let shift = 10f64.powi(i32::try_from(*digits).unwrap_or(i32::MAX));
        let off = |number: &f64| (number * shift).round() / shift - number;
        numbers
            .iter()
            .all(|number| off(number).abs() <= step * 1e-6)
    };
    (0..MAX_DECIMALS).find(whole).unwrap_or(MAX_DECIMALS)
}

/// Scales a number and returns it with its prefix.
fn prefixed(value: f64) -> (f64, &'static str) {
    match value.abs() {
        v if v >= 1e9 => (value / 1e9, " G"),
        v if v >= 1e6 => (value / 1e6, " M"),
        v if v >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    }
}

/// Removes trailing zeros of the decimals.
fn trimmed(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// Formats a round number of an axis with all its digits and a prefix: `1.025 M`.
#[must_use]
pub fn tick_label(value: f64) -> String {
    let (scaled, prefix) = prefixed(value);
    let text = format!("{scaled:.MAX_DECIMALS$}");
    trimmed(&text).to_owned() + prefix
}

/// Formats a number with three significant digits and a prefix: `4.46 M`, `250 k`, `12`.
#[must_use]
pub fn short_number(value: f64) -> String {
    let (scaled, prefix) = prefixed(value);
    let digits = match scaled.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{scaled:.digits$}");
    trimmed(&text).to_owned() + prefix
}

/// A unit of time that suits a range in nanoseconds, and the nanoseconds per unit.
#[must_use]
pub(crate) fn time_unit(range_ns: f64) -> (&'static str, f64) {
    match range_ns {
        r if r >= 2e9 => ("s", 1e9),
        r if r >= 2e6 => ("ms", 1e6),
        r if r >= 2e3 => ("µs", 1e3),
        _ => ("ns", 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{decimals, short_number, steps, tick_label, ticks};

    #[test]
    fn steps_are_round_and_reach_the_maximum() {
        assert_eq!(steps(4.46e6, 4), (2e6, 3));
        assert_eq!(steps(9.0, 4), (2.5, 4));
        assert_eq!(steps(0.0, 4), (1.0, 1));
        for most in [0.3, 1.0, 7.0, 512.0, 1e9] {
            let (step, count) = steps(most, 5);
            assert!(
                step * count as f64 >= most * (1.0 - 1e-9) && count <= 6,
                "{most}"
            );
        }
    }

    #[test]
    fn ticks_stay_inside_the_range() {
        assert_eq!(ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(3.0, 9.0, 3), [4.0, 6.0, 8.0]);
    }

    #[test]
    fn labels_of_ticks_keep_all_digits() {
        let shown =
            |from, to| -> Vec<String> { ticks(from, to, 4).into_iter().map(tick_label).collect() };
        assert_eq!(shown(0.0, 0.1), ["0", "0.025", "0.05", "0.075", "0.1"]);
        assert_eq!(shown(1e6, 1.01e6)[1], "1.0025 M");
        assert_eq!(shown(0.0, 8e6), ["0", "2 M", "4 M", "6 M", "8 M"]);
        assert_eq!(decimals(&ticks(0.0, 0.1, 4)), 3);
        assert_eq!(decimals(&[]), 0);
    }

    #[test]
    fn short_numbers_have_metric_suffixes() {
        assert_eq!(short_number(4_463_641.0), "4.46 M");
        assert_eq!(short_number(250_000.0), "250 k");
        assert_eq!(short_number(1500.0), "1500");
        assert_eq!(short_number(12.0), "12");
        assert_eq!(short_number(2.5), "2.5");
        assert_eq!(short_number(0.0), "0");
    }
}
