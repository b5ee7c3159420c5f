//! Statistics that reduce many values to one.

use serde::Deserialize;

/// A statistic over many values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Arithmetic mean.
    #[default]
    Mean,
    /// Smallest.
    Min,
    /// Median by nearest rank.
    P50,
    /// 90th percentile by nearest rank.
    P90,
    /// 99th percentile by nearest rank.
    P99,
    /// Largest.
    Max,
}

impl Statistic {
    /// Computes the statistic of `values`, in their unit; `None` if there are
    /// none.
    #[must_use]
    pub fn of(self, values: &[u64]) -> Option<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let rank = |percent: usize| {
            let at = (sorted.len() * percent).div_ceil(100).max(1) - 1;
            sorted[at] as f64
        };
        Some(match self {
            Self::Mean => {
                let sum: u128 = sorted.iter().map(|&v| u128::from(v)).sum();
                sum as f64 / sorted.len() as f64
            }
            Self::Min => first as f64,
            Self::P50 => rank(50),
            Self::P90 => rank(90),
            Self::P99 => rank(99),
            Self::Max => last as f64,
        })
    }

    /// The wording in a definition, as in "mean delay".
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Min => "least",
            Self::P50 => "median",
            Self::P90 => "90th percentile of the",
            Self::P99 => "99th percentile of the",
            Self::Max => "largest",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Statistic;

    #[test]
    fn statistics_are_nearest_rank() {
        let values: Vec<u64> = (1..=200).rev().collect();
        assert_eq!(Statistic::Mean.of(&values), Some(100.5));
        assert_eq!(Statistic::P50.of(&values), Some(100.0));
        assert_eq!(Statistic::P99.of(&values), Some(198.0));
        assert_eq!(Statistic::Max.of(&values), Some(200.0));
        assert_eq!(Statistic::Min.of(&[7]), Some(7.0));
        assert_eq!(Statistic::Mean.of(&[]), None);
    }
}
