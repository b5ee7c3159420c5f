//! Exact positive fractions, for rates and speeds.

use std::fmt;
use std::str::FromStr;

/// A positive fraction in lowest terms. Both parts are at most 2^40, so that products with times fit in 128
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

/// Why a number is not a [`Ratio`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatioError {
    /// The text is not digits with at most one decimal point.
    #[error("`{0}` is not a number; write digits with at most one decimal point, such as 4.5")]
    NotANumber(String),
    /// The number is zero or has a denominator of zero.
    #[error("the number must be more than zero")]
    Zero,
    /// A part exceeds [`Ratio::LIMIT`].
    #[error("the number is too large or has too many digits to be kept exactly")]
    TooLarge,
}

impl Ratio {
    /// The ratio 1.
    pub const ONE: Ratio = Ratio {
        numerator: 1,
        denominator: 1,
    };
    /// Largest numerator and denominator in lowest terms.
    pub const LIMIT: u64 = 1 << 40;

    /// Creates `numerator / denominator` in lowest terms.
    ///
    /// # Errors
    /// Returns [`RatioError::Zero`] if either part is zero, [`RatioError::TooLarge`] beyond [`Ratio::LIMIT`].
    pub fn new(numerator: u64, denominator: u64) -> Result<Ratio, RatioError> {
        if numerator == 0 || denominator == 0 {
            return Err(RatioError::Zero);
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        if numerator > Self::LIMIT || denominator > Self::LIMIT {
            return Err(RatioError::TooLarge);
        }
        Ok(Ratio {
            numerator,
            denominator,
        })
    }

    /// Returns the numerator in lowest terms.
    #[must_use]
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// Returns the denominator in lowest terms.
    #[must_use]
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// Returns the ratio times `factor`.
    ///
    /// # Errors
    /// See [`Ratio::new`].
    pub fn times(self, factor: u64) -> Result<Ratio, RatioError> {
        let common = greatest_common_divisor(factor.max(1), self.denominator);
        let numerator = self
            .numerator
            .checked_mul(factor / common)
            .ok_or(RatioError::TooLarge)?;
        Ratio::new(numerator, self.denominator / common)
    }
}

impl FromStr for Ratio {
    type Err = RatioError;

    /// Parses a decimal number (`3`, `0.5`, `4.25`) exactly.
    fn from_str(text: &str) -> Result<Ratio, RatioError> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{decimals}");
        if whole.is_empty()
            || text.ends_with('.')
            || !digits.bytes().all(|digit| digit.is_ascii_digit())
        {
            return Err(RatioError::NotANumber(text.to_string()));
        }
        let numerator = digits.parse().map_err(|_| RatioError::TooLarge)?;
        let places = u32::try_from(decimals.len()).map_err(|_| RatioError::TooLarge)?;
        let denominator = 10u64.checked_pow(places).ok_or(RatioError::TooLarge)?;
        Ratio::new(numerator, denominator)
    }
}

impl fmt::Display for Ratio {
    /// Writes a decimal number if nine decimal places suffice, `a/b` otherwise.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = u128::from(self.numerator % self.denominator);
        let mut decimals = String::new();
        while rest != 0 && decimals.len() < 9 {
            rest *= 10;
            decimals.push(char::from(
                b'0' + (rest / u128::from(self.denominator)) as u8,
            ));
            rest %= u128::from(self.denominator);
        }
        match (rest, decimals.is_empty()) {
            (0, true) => write!(out, "{}", self.numerator / self.denominator),
            (0, false) => write!(out, "{}.{decimals}", self.numerator / self.denominator),
            _ => write!(out, "{}/{}", self.numerator, self.denominator),
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_round_trip() {
        for (text, numerator, denominator) in [
            ("3", 3, 1),
            ("0.5", 1, 2),
            ("4.25", 17, 4),
            ("1.488095", 297_619, 200_000),
        ] {
            let ratio: Ratio = text.parse().unwrap();
            assert_eq!(
                (ratio.numerator(), ratio.denominator()),
                (numerator, denominator)
            );
            assert_eq!(ratio.to_string(), text);
        }
        assert_eq!(Ratio::new(1, 3).unwrap().to_string(), "1/3");
    }

    #[test]
    fn invalid_ratios_are_refused() {
        for text in ["", ".", ".5", "5.", "-1", "+1", "1e6", "1.2.3", "x", "１"] {
            assert_eq!(
                text.parse::<Ratio>(),
                Err(RatioError::NotANumber(text.to_string())),
                "{text}"
            );
        }
        assert_eq!("0".parse::<Ratio>(), Err(RatioError::Zero));
        assert_eq!("0.00".parse::<Ratio>(), Err(RatioError::Zero));
        assert_eq!(
            "99999999999999999999999".parse::<Ratio>(),
            Err(RatioError::TooLarge)
        );
        assert_eq!(
            "1.000000000000001".parse::<Ratio>(),
            Err(RatioError::TooLarge)
        );
        assert_eq!(Ratio::new(1, 0), Err(RatioError::Zero));
    }

    #[test]
    fn multiplication_reduces_first() {
        let half: Ratio = "0.5".parse().unwrap();
        assert_eq!(
            half.times(1_000_000).unwrap(),
            Ratio::new(500_000, 1).unwrap()
        );
        assert_eq!(half.times(0), Err(RatioError::Zero));
        assert_eq!(
            Ratio::new(Ratio::LIMIT, 1).unwrap().times(2),
            Err(RatioError::TooLarge)
        );
    }
}
