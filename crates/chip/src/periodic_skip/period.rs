//! Three states at equal distances, and the states that follow from them.

use crate::Cycle;
use crate::kernel::snapshot::{NumberClass, StateVector};

/// A stretch of time after which the chip is in the same state again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    /// Length of the period, in microengine cycles.
    pub cycles: Cycle,
    /// Timestamp steps in the period.
    pub steps: u64,
}

impl Period {
    /// Whether a number may have these values before and after a period.
    #[inline]
    fn allows(self, before: u64, after: u64, class: NumberClass) -> bool {
        let by = after.wrapping_sub(before);
        match class {
            NumberClass::Value => by == 0,
            NumberClass::Time => by == 0 || by == self.cycles,
            NumberClass::Count => true,
            NumberClass::Stamp { bits } => by == 0 || (by ^ self.steps) << (64 - bits) == 0,
        }
    }

    /// Whether one state may be another one a period later.
    pub fn joins(self, before: &StateVector, after: &StateVector) -> bool {
        before.classes == after.classes
            && before
                .row
                .iter()
                .zip(&after.row)
                .zip(&before.classes)
                .all(|((&before, &after), &class)| self.allows(before, after, class))
    }
}

/// Whether the numbers of three states change as much from the second to the third as from the
/// first to the second. The first two must be [joined](Period::joins) by a period.
///
/// The comparison distinguishes a count from a maximum: the maximum of a period's values cannot
/// grow in the next period, which has the same values.
pub(super) fn changes_repeat([first, before, last]: [&StateVector; 3]) -> bool {
    before.classes == last.classes && { first.row.iter().zip(&before.row) }
        .zip(&last.row)
        .zip(&last.classes)
        .all(|(((&a, &b), &c), class)| {
            let by = b.wrapping_sub(a) ^ c.wrapping_sub(b);
            match class {
                NumberClass::Stamp { bits } => by << (64 - bits) == 0,
                _ => by == 0,
            }
        })
}

/// The last two of three states that satisfy [`changes_repeat`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Recurrence<'a> {
    pub period: Period,
    pub before: &'a StateVector,
    pub last: &'a StateVector,
}

impl Recurrence<'_> {
    /// The earliest time in the last state that lies after `now` and does not move with the
    /// periods: an event that is still to come, whatever the chip does until then.
    pub fn deadline(&self, now: Cycle) -> Cycle {
        { self.before.row.iter().zip(&self.last.row) }
            .zip(&self.last.classes)
            .filter(|((before, last), class)| {
                **class == NumberClass::Time && before == last && **last > now
            })
            .map(|((_, last), _)| *last)
            .min()
            .unwrap_or(Cycle::MAX)
    }

    /// Computes the numbers a given count of periods after the last state.
    pub fn after(&self, periods: u64, out: &mut Vec<u64>) {
        out.clear();
        out.extend(
            { self.before.row.iter().zip(&self.last.row) }
                .zip(&self.last.classes)
                .map(|((&before, &last), class)| {
                    if before == last {
                        return last;
                    }
                    if let NumberClass::Stamp { bits } = class {
                        let later = last.wrapping_add(periods.wrapping_mul(self.period.steps));
                        return later << (64 - bits) >> (64 - bits);
                    }
                    last.wrapping_add(periods.wrapping_mul(last.wrapping_sub(before)))
                }),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(numbers: &[(u64, NumberClass)]) -> StateVector {
        let mut state = StateVector::default();
        (state.row, state.classes) = numbers.iter().copied().unzip();
        state
    }

    const STAMP: NumberClass = NumberClass::Stamp { bits: 16 };

    #[test]
    fn recurrence_extrapolates_times_counts_and_stamps() {
        let period = Period {
            cycles: 800,
            steps: 50,
        };
        let [a, b, c] = [0, 1, 2].map(|n| {
            state(&[
                (7, NumberClass::Value),
                (1000 + 800 * n, NumberClass::Time),
                (500, NumberClass::Time),
                (9_000, NumberClass::Time),
                (3 * n, NumberClass::Count),
                ((0xffe0 + 50 * n) & 0xffff, STAMP),
            ])
        });
        assert!(period.joins(&a, &b));
        assert!(changes_repeat([&a, &b, &c]));
        let recurrence = Recurrence {
            period,
            before: &b,
            last: &c,
        };
        assert_eq!(recurrence.deadline(2600), 9_000);
        assert_eq!(recurrence.deadline(400), 500);
        let mut out = Vec::new();
        recurrence.after(4, &mut out);
        assert_eq!(out, [7, 5800, 500, 9_000, 18, (0xffe0 + 50 * 6) & 0xffff]);
    }

    #[test]
    fn irregular_changes_do_not_form_a_period() {
        let period = Period {
            cycles: 800,
            steps: 50,
        };
        for (class, numbers) in [
            (NumberClass::Value, [1, 2, 3]),
            (NumberClass::Time, [1000, 1400, 1800]),
            (NumberClass::Time, [1000, 1800, 1800]),
            (NumberClass::Count, [0, 5, 6]),
            (STAMP, [0, 49, 98]),
            (STAMP, [0, 50, 50]),
        ] {
            let [a, b, c] = numbers.map(|number| state(&[(number, class)]));
            let found = period.joins(&a, &b) && changes_repeat([&a, &b, &c]);
            assert!(!found, "{class:?} {numbers:?}");
        }
    }
}
