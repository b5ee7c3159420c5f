//! Large numbers of values in little memory: counts in buckets whose width grows with the value.

use serde::{Deserialize, Serialize};

/// Buckets per octave, a power of two. A bucket is at most 1/4096 as wide as the values in it.
const BUCKETS: u64 = 4096;
const BUCKET_BITS: u32 = BUCKETS.trailing_zeros();

/// Counts of values. Count, sum, minimum and maximum are exact; a percentile is
/// at most 1/4096 away from the value of its rank, and exact below 8192. Values
/// up to 2^64 need 217,088 buckets; only those up to the maximum are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "HistogramFields")]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

/// The fields of a histogram as read from a file, before validation.
#[derive(Deserialize)]
struct HistogramFields {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl TryFrom<HistogramFields> for Histogram {
    type Error = &'static str;

    fn try_from(counted: HistogramFields) -> Result<Self, Self::Error> {
        let HistogramFields {
            buckets,
            count,
            sum,
            least,
            most,
        } = counted;
        let total = buckets
            .iter()
            .try_fold(0u64, |total, &values| total.checked_add(values));
        let length = if count == 0 { 0 } else { bucket_of(most) + 1 };
        if total != Some(count) || buckets.len() != length || least > most {
            return Err("counts of a histogram contradict each other");
        }
        Ok(Self {
            buckets,
            count,
            sum,
            least,
            most,
        })
    }
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.least = if self.count == 0 {
            value
        } else {
            self.least.min(value)
        };
        self.most = self.most.max(value);
        self.count += 1;
        self.sum += u128::from(value);
    }

    /// The number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least value; `None` if there are no values.
    #[must_use]
    pub fn least(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// The greatest value; `None` if there are no values.
    #[must_use]
    pub fn most(&self) -> Option<u64> {
        (self.count > 0).then_some(self.most)
    }

    /// The mean, rounded down; `None` if there are no values.
    #[must_use]
    pub fn mean(&self) -> Option<u64> {
        Some(self.sum.checked_div(u128::from(self.count))? as u64)
    }

    /// The nearest-rank percentile, in thousandths (500 is the median); `None`
    /// if there are no values.
    #[must_use]
    pub fn permille(&self, permille: u64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let scaled = u128::from(self.count) * u128::from(permille);
        let rank = scaled.div_ceil(1000).max(1) as u64;
        let mut before = 0;
        for (bucket, &values) in self.buckets.iter().enumerate() {
            before += values;
            if before >= rank {
                return Some(middle_of(bucket).clamp(self.least, self.most));
            }
        }
        Some(self.most)
    }

    /// The counted values in ascending order, each as the middle of its bucket
    /// and the count.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let buckets = self.buckets.iter().enumerate();
        buckets
            .filter(|(_, values)| **values > 0)
            .map(|(bucket, &values)| {
                let middle = middle_of(bucket).clamp(self.least, self.most);
                (middle, values)
            })
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if other.buckets.len() > self.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.least = if self.count == 0 {
            other.least
        } else {
            self.least.min(other.least)
        };
        self.most = self.most.max(other.most);
        self.count += other.count;
        self.sum += other.sum;
    }
}

impl FromIterator<u64> for Histogram {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut histogram = Self::default();
        values.into_iter().for_each(|value| histogram.add(value));
        histogram
    }
}

/// The bucket of a value. Values below two octaves' worth of buckets have one
/// each; above, the top bits of the value choose one.
fn bucket_of(value: u64) -> usize {
    let shift = (value | 1).ilog2().saturating_sub(BUCKET_BITS);
    (u64::from(shift) * BUCKETS + (value >> shift)) as usize
}

/// The value in the middle of a bucket.
fn middle_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / BUCKETS).saturating_sub(1);
    let first = (bucket - shift * BUCKETS) << shift;
    first + ((1 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_contain_their_middle_and_are_narrow() {
        let mut before = None;
        for value in (0..20_000).chain([1 << 20, (1 << 20) + 9000, u64::MAX / 3, u64::MAX]) {
            let bucket = bucket_of(value);
            assert!(Some(bucket) >= before, "{value}");
            before = Some(bucket);
            let middle = middle_of(bucket);
            assert_eq!(bucket_of(middle), bucket, "{value}");
            assert!(middle.abs_diff(value) <= value / 4096, "{value} {middle}");
            if value < 8192 {
                assert_eq!(middle, value);
            }
        }
        assert_eq!(bucket_of(u64::MAX), 217_087);
    }

    #[test]
    fn values_lists_all_counted_values() {
        let histogram: Histogram = [7, 3, 7, 100_000].into_iter().collect();
        let values: Vec<_> = histogram.values().collect();
        assert_eq!(values[..2], [(3, 1), (7, 2)]);
        assert_eq!(values.len(), 3);
        assert!(values[2].0.abs_diff(100_000) <= 100_000 / 256);
    }

    #[test]
    fn percentiles_match_sorted_values() {
        let values: Vec<u64> = (0..10_000u64).map(|n| n * n % 7919 * 31).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let histogram: Histogram = values.iter().copied().collect();
        for permille in [0, 1, 10, 500, 900, 990, 999, 1000] {
            let rank = (sorted.len() as u64 * permille).div_ceil(1000).max(1) - 1;
            let exact = sorted[rank as usize];
            let told = histogram.permille(permille).unwrap();
            assert!(
                told.abs_diff(exact) <= exact / 4096,
                "{permille}: {told} {exact}"
            );
        }
        assert_eq!(histogram.least(), sorted.first().copied());
        assert_eq!(histogram.most(), sorted.last().copied());
        let sum: u64 = values.iter().sum();
        assert_eq!(
            (histogram.count(), histogram.mean()),
            (10_000, Some(sum / 10_000))
        );
    }

    #[test]
    fn inconsistent_histogram_is_refused() {
        let good: Histogram = [7, 3, 7, 100_000].into_iter().collect();
        let wrong = |change: fn(&mut Histogram)| {
            let mut bad = good.clone();
            change(&mut bad);
            bad
        };
        for (histogram, sound) in [
            (Histogram::default(), true),
            (good.clone(), true),
            (wrong(|bad| bad.count += 1), false),
            (wrong(|bad| bad.buckets.push(0)), false),
            (wrong(|bad| bad.least = 200_000), false),
            (wrong(|bad| bad.most = 5), false),
            (wrong(|bad| bad.buckets[7] = u64::MAX), false),
        ] {
            let bytes = postcard::to_allocvec(&histogram).unwrap();
            let read = postcard::from_bytes::<Histogram>(&bytes);
            assert_eq!(read.ok(), sound.then_some(histogram));
        }
    }

    #[test]
    fn merged_halves_equal_the_whole() {
        let whole: Histogram = (1..2000).collect();
        let mut low: Histogram = (1..700).collect();
        low.merge(&(700..2000).collect());
        low.merge(&Histogram::default());
        assert_eq!(low, whole);
        let mut empty = Histogram::default();
        assert_eq!(
            (empty.least(), empty.mean(), empty.permille(500)),
            (None, None, None)
        );
        empty.merge(&whole);
        assert_eq!(empty, whole);
    }
}
