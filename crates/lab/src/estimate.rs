//! A mean with its 95 % interval, from values that are independent of one another.

/// Two-sided 95 % quantiles of Student's t with 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
/// The quantile with so many degrees of freedom that their number does not matter.
const NORMAL: f64 = 1.960;

/// A mean, and how far from it the true one may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half of the 95 % interval; 0 for a single value.
    pub half: f64,
}

impl From<f64> for Estimate {
    fn from(mean: f64) -> Self {
        Self { mean, half: 0.0 }
    }
}

impl Estimate {
    /// Of these values; no number for none.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 {
            return Self { mean, half: 0.0 };
        }
        let freedom = values.len() - 1;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / freedom as f64 / count).sqrt();
        let quantile = STUDENT.get(freedom - 1).copied().unwrap_or(NORMAL);
        Self {
            mean,
            half: quantile * error,
        }
    }

    /// Where the true mean is, 95 times of 100.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        [self.mean - self.half, self.mean + self.half]
    }

    /// Whether it is between two values; nothing where that is open.
    #[must_use]
    pub fn within(&self, least: f64, most: f64) -> Option<bool> {
        match (self.at_least(least), self.at_most(most)) {
            (Some(true), Some(true)) => Some(true),
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => None,
        }
    }

    /// Whether it is at least this.
    #[must_use]
    pub fn at_least(&self, least: f64) -> Option<bool> {
        let [low, high] = self.interval();
        if low >= least {
            Some(true)
        } else if high < least {
            Some(false)
        } else {
            None
        }
    }

    /// Whether it is at most this.
    #[must_use]
    pub fn at_most(&self, most: f64) -> Option<bool> {
        let [low, high] = self.interval();
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
    fn the_interval_is_students() {
        let estimate = Estimate::of(&[32.7, 35.1, 34.5, 27.1]);
        assert!((estimate.mean - 32.35).abs() < 1e-9);
        // Standard deviation 3.646, its error 1.823, times 3.182.
        assert!((estimate.half - 5.800).abs() < 0.005, "{estimate:?}");
        assert!(Estimate::of(&[4.0, 4.0, 4.0]).half.abs() < 1e-12);
        assert!(Estimate::of(&[4.0]).half.abs() < 1e-12);
        assert!(Estimate::of(&[]).mean.is_nan());
    }

    #[test]
    fn a_border_inside_the_interval_decides_nothing() {
        let estimate = Estimate {
            mean: 10.0,
            half: 1.0,
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
