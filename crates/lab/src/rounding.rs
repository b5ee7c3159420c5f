//! Comparison of numbers written in decimal and computed in binary.

/// The rounding error allowed for decimal numbers: absolute for numbers up to 1, relative for larger
/// ones.
const ROUNDING: f64 = 1e-9;

/// The rounding error allowed for a number of this size.
#[must_use]
pub(crate) fn rounding(size: f64) -> f64 {
    ROUNDING * size.abs().max(1.0)
}

/// Whether two numbers are equal up to rounding. An infinite number equals only itself.
#[must_use]
pub(crate) fn close(one: f64, other: f64) -> bool {
    // The allowed error of an infinite number is infinite, as is its distance to all others.
    if one.is_infinite() || other.is_infinite() {
        return one.total_cmp(&other).is_eq();
    }
    (one - other).abs() <= rounding(one.abs().max(other.abs()))
}

/// Whether a number is at least `bound`, up to rounding.
#[must_use]
pub(crate) fn at_least(number: f64, bound: f64) -> bool {
    number >= bound || close(number, bound)
}

/// Whether a number is at most `bound`, up to rounding.
#[must_use]
pub(crate) fn at_most(number: f64, bound: f64) -> bool {
    number <= bound || close(number, bound)
}

#[cfg(test)]
mod tests {
    use super::{at_least, at_most, close};

    #[test]
    fn rounding_is_relative_above_one() {
        assert!(close(0.1 + 0.2, 0.3) && close(1e12 + 1.0, 1e12));
        assert!(!close(0.1, 0.100_001) && !close(f64::NAN, f64::NAN));
        assert!(at_least(0.3, 0.1 + 0.2) && at_most(0.1 + 0.2, 0.3));
        assert!(!at_least(0.299, 0.3) && !at_most(0.301, 0.3));
    }

    #[test]
    fn infinity_is_close_only_to_itself() {
        let most = f64::INFINITY;
        assert!(close(most, most) && !close(most, -most) && !close(most, 0.0));
        assert!(!close(1.0, most) && !close(f64::NAN, most));
        assert!(!at_least(-most, 0.0) && at_least(most, 0.0));
        assert!(!at_most(most, 0.0) && at_most(-most, 0.0));
    }
}
