//! A mean with its 95 % interval, from independent values.

/// Two-sided 95 % quantiles of Student's t with 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
/// The quantile for so many degrees of freedom that their number does not matter.
const NORMAL: f64 = 1.960;

/// A mean and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half of the 95 % interval; `None` for a single value, or if all values are equal, which may
    /// mean that the run has no randomness.
    pub half_width: Option<f64>,
    /// The number of values.
    pub runs: usize,
}

impl From<f64> for Estimate {
    fn from(mean: f64) -> Self {
        Self {
            mean,
            half_width: None,
            runs: 1,
        }
    }
}

impl Estimate {
    /// Estimates the mean of these values; NaN if there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let runs = values.len();
        let count = runs as f64;
        let first = values.first().copied().unwrap_or(f64::NAN);
        if values.iter().all(|value| value.total_cmp(&first).is_eq()) {
            return Self {
                mean: first,
                half_width: None,
                runs,
            };
        }
        let mean = values.iter().sum::<f64>() / count;
        let freedom = runs - 1;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / freedom as f64 / count).sqrt();
        let quantile = STUDENT.get(freedom - 1).copied().unwrap_or(NORMAL);
        Self {
            mean,
            half_width: Some(quantile * error),
            runs,
        }
    }

    /// Whether it comes from several values that are all equal.
    #[must_use]
    pub const fn has_equal_runs(&self) -> bool {
        self.runs > 1 && self.half_width.is_none()
    }

    /// The 95 % interval of the mean.
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.half_width
            .map(|half_width| [self.mean - half_width, self.mean + half_width])
    }

    /// The ends of the interval; both are the mean if there is none.
    fn ends(&self) -> [f64; 2] {
        self.interval().unwrap_or([self.mean, self.mean])
    }

    /// Whether the mean lies between two values; `None` if undecided.
    #[must_use]
    pub fn within(&self, least: f64, most: f64) -> Option<bool> {
        match (self.at_least(least), self.at_most(most)) {
            (Some(true), Some(true)) => Some(true),
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => None,
        }
    }

    /// Whether the mean is at least this; `None` if undecided.
    #[must_use]
    pub fn at_least(&self, least: f64) -> Option<bool> {
        let [low, high] = self.ends();
        if low >= least {
            Some(true)
        } else if high < least {
            Some(false)
        } else {
            None
        }
    }

    /// Whether the mean is at most this; `None` if undecided.
    #[must_use]
    pub fn at_most(&self, most: f64) -> Option<bool> {
        let [low, high] = self.ends();
        if high <= most {
            Some(true)
        } else if low > most {
            Some(false)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Estimate;

    #[test]
    fn interval_uses_student_t() {
        let estimate = Estimate::of(&[32.7, 35.1, 34.5, 27.1]);
        assert!((estimate.mean - 32.35).abs() < 1e-9);
        // Standard deviation 3.646, its error 1.823, times 3.182.
        let half_width = estimate.half_width.unwrap();
        assert!((half_width - 5.800).abs() < 0.005, "{estimate:?}");
        assert_eq!(Estimate::of(&[4.0]), Estimate::from(4.0));
        assert!(Estimate::of(&[]).mean.is_nan());
    }

    #[test]
    fn equal_runs_have_no_interval() {
        let equal = Estimate::of(&[0.1, 0.1, 0.1]);
        assert!(equal.has_equal_runs() && equal.interval().is_none());
        assert_eq!(equal.mean.to_bits(), 0.1_f64.to_bits(), "to the last bit");
        assert_eq!(equal.within(0.0, 1.0), Some(true));
        let nearly = Estimate::of(&[0.1, 0.1, 0.1 + f64::EPSILON]);
        assert!(!nearly.has_equal_runs() && nearly.interval().is_some());
        assert!(!Estimate::of(&[4.0]).has_equal_runs(), "one is no series");
    }

    #[test]
    fn bound_inside_the_interval_is_undecided() {
        let estimate = Estimate {
            mean: 10.0,
            half_width: Some(1.0),
            runs: 2,
        };
        for (least, most, expected) in [
            (8.0, 12.0, Some(true)),
            (9.5, 12.0, None),
            (8.0, 10.5, None),
            (11.5, 12.0, Some(false)),
            (5.0, 8.9, Some(false)),
            (9.5, 10.5, None),
        ] {
            assert_eq!(estimate.within(least, most), expected, "{least} {most}");
        }
        assert_eq!(Estimate::from(3.0).at_least(3.0), Some(true));
        assert_eq!(Estimate::from(2.9).at_least(3.0), Some(false));
        assert_eq!(estimate.at_most(9.5), None);
        assert_eq!(Estimate::of(&[]).at_least(0.0), None);
    }
}
