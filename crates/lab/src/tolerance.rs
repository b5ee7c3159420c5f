//! Tolerances between measured and published values.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::rounding::rounding;

/// A share such as `5%` of the published value, or a number in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "TypedTolerance", into = "String")]
pub enum Tolerance {
    /// A share of the published value, 0.05 for 5 %.
    Relative(f64),
    /// A number in the value's unit.
    Absolute(f64),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or a percentage such as \"5%\"")]
enum TypedTolerance {
    Number(f64),
    Text(String),
}

impl TryFrom<TypedTolerance> for Tolerance {
    type Error = String;

    fn try_from(typed: TypedTolerance) -> Result<Self, String> {
        let tolerance = match typed {
            TypedTolerance::Number(number) => Self::Absolute(number),
            TypedTolerance::Text(text) => {
                let number = text.strip_suffix('%').map(|n| n.trim().parse::<f64>());
                let Some(Ok(percent)) = number else {
                    return Err(format!(
                        "`{text}` is not a tolerance: write `5%`, or a number in the value's unit"
                    ));
                };
                Self::Relative(percent / 100.0)
            }
        };
        let (Self::Relative(size) | Self::Absolute(size)) = tolerance;
        if !size.is_finite() || size < 0.0 {
            return Err("a tolerance is a number from 0".into());
        }
        Ok(tolerance)
    }
}

impl From<Tolerance> for String {
    fn from(tolerance: Tolerance) -> Self {
        tolerance.to_string()
    }
}

impl Tolerance {
    /// The permitted distance from `value`, with an allowance for binary
    /// rounding.
    #[must_use]
    pub fn allowed(self, value: f64) -> f64 {
        let size = match self {
            Self::Relative(share) => share * value.abs(),
            Self::Absolute(size) => size,
        };
        size + rounding(value)
    }

    /// Whether `measured` is within the tolerance of `value`.
    #[must_use]
    pub fn accepts(self, value: f64, measured: f64) -> bool {
        (measured - value).abs() <= self.allowed(value)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(share) => {
                // Percentages are typed with few digits; the product has more.
                let percent = (share * 100.0 * 1e6).round() / 1e6;
                write!(f, "{percent}%")
            }
            Self::Absolute(size) => write!(f, "{size}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tolerance;

    #[derive(serde::Deserialize)]
    struct Holder {
        t: Tolerance,
    }

    fn read(text: &str) -> Result<Tolerance, String> {
        toml::from_str(&format!("t = {text}"))
            .map(|holder: Holder| holder.t)
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn tolerance_bounds_are_inclusive() {
        let five = read("\"5%\"").unwrap();
        assert!(five.accepts(4.0, 3.8) && five.accepts(4.0, 4.2));
        assert!(!five.accepts(4.0, 3.799) && !five.accepts(4.0, 4.201));
        assert!(!five.accepts(4.0, f64::NAN));
        let absolute = read("0.4").unwrap();
        assert!(absolute.accepts(12.2, 12.6) && !absolute.accepts(12.2, 12.61));
        assert_eq!(
            (five.to_string(), absolute.to_string()),
            ("5%".into(), "0.4".into())
        );
        assert_eq!(read("\"7%\"").unwrap().to_string(), "7%");
    }

    #[test]
    fn invalid_tolerances_are_refused() {
        assert!(read("\"5\"").unwrap_err().contains("5%"));
        assert!(read("-1").unwrap_err().contains("from 0"));
        assert!(read("\"-5%\"").is_err());
    }
}
