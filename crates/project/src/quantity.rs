//! Times and rates as users write them: `2ms`, `500us`, `100000` (cycles),
//! `1Gbps`. Everything is exact: decimals are kept as integers.

use std::fmt;
use std::str::FromStr;

/// A duration that was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Microengine cycles.
    Cycles(u64),
    /// Picoseconds.
    Picoseconds(u64),
}

impl Time {
    /// In microengine cycles at `hertz`, rounded up.
    #[must_use]
    pub fn cycles(self, hertz: u64) -> u64 {
        match self {
            Self::Cycles(cycles) => cycles,
            Self::Picoseconds(ps) => {
                let cycles = (u128::from(ps) * u128::from(hertz)).div_ceil(PICO);
                u64::try_from(cycles).unwrap_or(u64::MAX)
            }
        }
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text);
        let scale = match unit {
            "" | "cycles" | "cycle" => {
                let plain = number.replace('_', "");
                return plain
                    .parse()
                    .map(Self::Cycles)
                    .map_err(|_| format!("`{text}` is not a whole number of cycles; write `100000` or a time such as `500us`"));
            }
            "s" => PICO,
            "ms" => PICO / 1_000,
            "us" | "µs" => PICO / 1_000_000,
            "ns" => 1_000,
            "ps" => 1,
            _ if number.is_empty() => {
                return Err(format!(
                    "`{text}` is not a time; write for example `2ms` or `500us`"
                ));
            }
            _ => {
                return Err(format!(
                    "`{unit}` is not a unit of time; use s, ms, us, ns or cycles"
                ));
            }
        };
        decimal(number, scale)
            .map(Self::Picoseconds)
            .ok_or_else(|| format!("`{text}` is not a time; write for example `2ms` or `500us`"))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cycles(cycles) => write!(f, "{cycles} cycles"),
            Self::Picoseconds(ps) => {
                let units = [
                    (1_000_000_000_000, "s"),
                    (1_000_000_000, "ms"),
                    (1_000_000, "us"),
                    (1_000, "ns"),
                ];
                let (scale, unit) = units
                    .into_iter()
                    .find(|(scale, _)| ps >= *scale && ps % *scale == 0)
                    .unwrap_or((1, "ps"));
                write!(f, "{}{unit}", ps / scale)
            }
        }
    }
}

const PICO: u128 = 1_000_000_000_000;

/// Bits a second: `1Gbps`, `100 Mb/s`, `2.5Gbit/s`, or a bare number.
///
/// # Errors
/// Says what a rate looks like.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let prefix = ["bps", "bit/s", "b/s"]
        .iter()
        .find_map(|end| unit.strip_suffix(end))
        .or(unit.is_empty().then_some(""));
    let scale = match prefix {
        Some("") => 1,
        Some("k" | "K") => 1_000,
        Some("M") => 1_000_000,
        Some("G") => 1_000_000_000,
        _ => {
            return Err(format!(
                "`{text}` is not a rate; write for example `1Gbps`, `100Mbps` or `2.5Gbps`"
            ));
        }
    };
    match decimal(number, scale) {
        Some(0) => Err(format!("a rate of `{text}` moves nothing")),
        Some(rate) => Ok(rate),
        None => Err(format!(
            "`{text}` is not a rate; write for example `1Gbps`, `100Mbps` or `2.5Gbps`"
        )),
    }
}

/// A rate for reading: `1.250 Gb/s`.
#[must_use]
pub fn show_rate(bits_per_second: f64) -> String {
    match bits_per_second {
        r if r >= 1e9 => format!("{:.3} Gb/s", r / 1e9),
        r if r >= 1e6 => format!("{:.3} Mb/s", r / 1e6),
        r if r >= 1e3 => format!("{:.3} kb/s", r / 1e3),
        r => format!("{r:.0} b/s"),
    }
}

/// A duration for reading: `1.250 ms`.
#[must_use]
pub fn show_nanoseconds(ns: f64) -> String {
    match ns {
        t if t >= 1e9 => format!("{:.3} s", t / 1e9),
        t if t >= 1e6 => format!("{:.3} ms", t / 1e6),
        t if t >= 1e3 => format!("{:.3} us", t / 1e3),
        t => format!("{t:.1} ns"),
    }
}

/// A share, `12.3%`: the tenth nearest to the quotient in floating point; or what is to
/// stand for a share of nothing.
#[must_use]
pub fn percent(part: u64, whole: u64, of_nothing: &str) -> String {
    if whole == 0 {
        return of_nothing.to_owned();
    }
    format!("{:.1}%", part as f64 * 100.0 / whole as f64)
}

/// `12,345,678`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// `number * scale`, exactly; `None` for a malformed or too large number.
#[must_use]
pub fn decimal(number: &str, scale: u128) -> Option<u64> {
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 18 || whole.len() > 18 {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = 10u128.pow(fraction.len() as u32);
    let product = digits * scale;
    (product.is_multiple_of(divisor)).then(|| u64::try_from(product / divisor).ok())?
}

#[cfg(test)]
mod tests {
    use super::{Time, grouped, parse_rate};

    #[test]
    fn times_become_cycles_exactly() {
        let cycles = |text: &str| text.parse::<Time>().map(|t| t.cycles(600_000_000));
        assert_eq!(cycles("1us"), Ok(600));
        assert_eq!(cycles("2ms"), Ok(1_200_000));
        assert_eq!(cycles("1.5 ms"), Ok(900_000));
        assert_eq!(cycles("100_000"), Ok(100_000));
        assert_eq!(cycles("1ns"), Ok(1), "rounded up from 0.6");
        assert!(cycles("2m").unwrap_err().contains("unit of time"));
        assert!(cycles("ms").is_err());
        assert!(cycles("1.2.3ms").is_err());
        assert!(cycles("1.5").is_err());
        assert!(cycles("99999999999999999999s").is_err());
    }

    #[test]
    fn times_are_shown_as_typed() {
        for text in ["100us", "2ms", "1s", "1500us", "3ns"] {
            assert_eq!(
                text.parse::<Time>().map(|t| t.to_string()),
                Ok(text.to_string())
            );
        }
    }

    #[test]
    fn rates() {
        assert_eq!(parse_rate("1Gbps"), Ok(1_000_000_000));
        assert_eq!(parse_rate("2.5 Gb/s"), Ok(2_500_000_000));
        assert_eq!(parse_rate("100Mbit/s"), Ok(100_000_000));
        assert_eq!(parse_rate("42"), Ok(42));
        assert!(parse_rate("0Gbps").unwrap_err().contains("moves nothing"));
        for bad in ["fast", "1Tbps", "", "1.5bps", "-1Gbps", "."] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn groups_of_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
