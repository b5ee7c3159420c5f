//! Times, rates and numbers in the form in which users write them: `2ms`, `1/3s`, `100000` (cycles),
//! `1Gbps`. All conversions are exact; nothing goes through a float.

use std::fmt;
use std::str::FromStr;

use crate::{Ratio, RatioError};

/// Units of time with their picoseconds, largest first.
const TIME_UNITS: [(&str, u64); 5] = [
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];

/// Units of a rate in bits a second, without a prefix.
pub(crate) const BIT_RATE_UNITS: [&str; 3] = ["bps", "bit/s", "b/s"];

/// Prefixes of a rate, largest first. A lower-case m would mean a thousandth, so only the capital is a
/// million.
const PREFIXES: [(&str, u64); 4] = [
    ("G", 1_000_000_000),
    ("M", 1_000_000),
    ("k", 1_000),
    ("K", 1_000),
];

/// The physical dimension of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// None: a bare number or a percentage.
    Number,
    /// Time.
    Time,
    /// Bits a second.
    BitRate,
    /// Packets a second.
    PacketRate,
    /// Bytes.
    Bytes,
    /// Packets.
    Packets,
    /// Times a second.
    Frequency,
}

/// Units that take a prefix, except for those of bit rates.
const PREFIXED_UNITS: [(&str, Dimension); 7] = [
    ("pps", Dimension::PacketRate),
    ("packets", Dimension::Packets),
    ("packet", Dimension::Packets),
    ("bytes", Dimension::Bytes),
    ("byte", Dimension::Bytes),
    ("B", Dimension::Bytes),
    ("Hz", Dimension::Frequency),
];

/// A unit: its dimension, and its size as a fraction of picoseconds, bits or packets a second, bytes,
/// packets, hertz or a bare number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Dimension of the unit.
    pub dimension: Dimension,
    /// The numerator of its size.
    pub numerator: u64,
    /// The denominator of its size.
    pub denominator: u64,
}

impl Unit {
    /// Returns the unit of this name, with or without a prefix; the empty name is the unit of bare numbers.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let unit = |dimension, numerator, denominator| Self {
            dimension,
            numerator,
            denominator,
        };
        match name {
            "" => return Some(unit(Dimension::Number, 1, 1)),
            "%" => return Some(unit(Dimension::Number, 1, 100)),
            _ => {}
        }
        if let Some(scale) = time_unit(name) {
            return Some(unit(Dimension::Time, scale, 1));
        }
        let of_bits = BIT_RATE_UNITS.map(|unit| (unit, Dimension::BitRate));
        let mut known = of_bits.iter().chain(&PREFIXED_UNITS);
        known.find_map(|(plain, dimension)| {
            let (rest, factor) = scaled(name, plain)?;
            rest.is_empty().then(|| unit(*dimension, factor, 1))
        })
    }
}

/// Splits a text into its leading number and the name of the unit that follows.
#[must_use]
pub fn number_and_unit(text: &str) -> (&str, &str) {
    split(text)
}

/// Parses an amount of a dimension, such as the bytes of `64KB`; `None` unless it is exactly a whole number.
#[must_use]
pub fn whole(text: &str, dimension: Dimension) -> Option<u64> {
    let (number, unit) = split(text);
    let unit =
        Unit::of(unit).filter(|unit| unit.dimension == dimension && unit.denominator == 1)?;
    exact(number, unit.numerator.into())
}

/// Parses a multiple of a unit that is in no table, such as `0.5rtt`, as a fraction.
#[must_use]
pub fn multiple(text: &str, unit: &str) -> Option<(u64, u64)> {
    let (number, found) = split(text);
    let ratio = ratio_or_zero(&number.replace('_', "")).ok();
    let fraction = ratio.filter(|_| found == unit)?;
    Some(fraction.map_or((0, 1), |ratio| (ratio.numerator(), ratio.denominator())))
}

/// Returns the picoseconds of a unit of time.
fn time_unit(name: &str) -> Option<u64> {
    // The micro sign or the Greek letter mu.
    let plain = if matches!(name, "\u{b5}s" | "\u{3bc}s") {
        "us"
    } else {
        name
    };
    let known = TIME_UNITS.iter().find(|(name, _)| *name == plain);
    known.map(|(_, scale)| *scale)
}

/// A duration entered by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Microengine cycles.
    Cycles(u64),
    /// Picoseconds.
    Picoseconds(u64),
}

impl Time {
    /// Returns the duration in microengine cycles at `hertz`, rounded up.
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
        if matches!(unit, "" | "cycles" | "cycle") {
            return number.replace('_', "").parse().map(Self::Cycles).map_err(|_| {
                format!("`{text}` is not a whole number of cycles; write `100000` or a time such as `500us`")
            });
        }
        match time_unit(unit) {
            None if !number.is_empty() => Err(format!(
                "`{unit}` is not a unit of time; use s, ms, us, ns or cycles"
            )),
            scale => scale
                .and_then(|scale| exact(number, u128::from(scale)))
                .map(Self::Picoseconds)
                .ok_or_else(|| {
                    format!("`{text}` is not a time; write for example `2ms` or `500us`")
                }),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cycles(cycles) => write!(f, "{cycles} cycles"),
            Self::Picoseconds(ps) => {
                let (unit, scale) = TIME_UNITS
                    .into_iter()
                    .find(|(_, scale)| ps >= *scale && ps % *scale == 0)
                    .unwrap_or(("ps", 1));
                write!(f, "{}{unit}", ps / scale)
            }
        }
    }
}

const PICO: u128 = 1_000_000_000_000;

/// Parses a rate in bits a second: `1Gbps`, `100 Mb/s`, `2.5Gbit/s`, or a bare number.
///
/// # Errors
/// Returns an error that describes the form of a rate.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    let shape =
        || format!("`{text}` is not a rate; write for example `1Gbps`, `100Mbps` or `2.5Gbps`");
    let (number, unit) = split(text);
    let prefix = BIT_RATE_UNITS
        .iter()
        .find_map(|end| unit.strip_suffix(end))
        .or(unit.is_empty().then_some(""))
        .ok_or_else(shape)?;
    let scale = match PREFIXES.iter().find(|(name, _)| *name == prefix) {
        Some((_, scale)) => *scale,
        None if prefix.is_empty() => 1,
        None => return Err(shape()),
    };
    match exact(number, u128::from(scale)) {
        Some(0) => Err(format!("a rate of `{text}` moves nothing")),
        rate => rate.ok_or_else(shape),
    }
}

/// Formats a rate for display: `1.250 Gb/s`.
#[must_use]
pub fn show_rate(bits_per_second: f64) -> String {
    match bits_per_second {
        r if r >= 1e9 => format!("{:.3} Gb/s", r / 1e9),
        r if r >= 1e6 => format!("{:.3} Mb/s", r / 1e6),
        r if r >= 1e3 => format!("{:.3} kb/s", r / 1e3),
        r => format!("{r:.0} b/s"),
    }
}

/// Formats a duration for display: `1.250 ms`.
#[must_use]
pub fn show_nanoseconds(ns: f64) -> String {
    match ns {
        t if t >= 1e9 => format!("{:.3} s", t / 1e9),
        t if t >= 1e6 => format!("{:.3} ms", t / 1e6),
        t if t >= 1e3 => format!("{:.3} us", t / 1e3),
        t => format!("{t:.1} ns"),
    }
}

/// Formats a share, such as `12.3%`, rounded to the nearest tenth in floating point; `of_nothing` if `whole`
/// is 0.
#[must_use]
pub fn percent(part: u64, whole: u64, of_nothing: &str) -> String {
    if whole == 0 {
        return of_nothing.to_owned();
    }
    format!("{:.1}%", part as f64 * 100.0 / whole as f64)
}

/// Formats a number with separators: `12,345,678`.
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
        .find(|c: char| !(c.is_ascii_digit() || "./_".contains(c)))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// Returns `number * scale` exactly; `None` if the number is malformed or too large, or the product is not
/// whole.
#[must_use]
pub fn decimal(number: &str, scale: u128) -> Option<u64> {
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    divided(digits.checked_mul(scale)?, divisor)
}

/// Returns a decimal number or a fraction times `scale`, exactly.
fn exact(number: &str, scale: u128) -> Option<u64> {
    let Some((part, whole)) = number.split_once('/') else {
        return decimal(number, scale);
    };
    let product = u128::from(decimal(part, 1)?).checked_mul(scale)?;
    divided(product, u128::from(decimal(whole, 1)?))
}

/// Returns the quotient if there is no remainder.
fn divided(number: u128, divisor: u128) -> Option<u64> {
    let whole = divisor != 0 && number.is_multiple_of(divisor);
    whole.then(|| u64::try_from(number / divisor).ok())?
}

/// Parses a decimal number or a fraction such as `1/3`, greater than zero.
pub(crate) fn ratio(text: &str) -> Result<Ratio, RatioError> {
    let not_a_number = || RatioError::NotANumber(text.to_string());
    let Some((numerator, denominator)) = text.split_once('/') else {
        return text.parse();
    };
    let part = |digits: &str| -> Result<u64, RatioError> {
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(not_a_number());
        }
        digits.parse().map_err(|_| RatioError::TooLarge)
    };
    Ratio::new(part(numerator)?, part(denominator)?)
}

/// Parses a decimal number, a fraction or zero, for which it returns `None`.
pub(crate) fn ratio_or_zero(text: &str) -> Result<Option<Ratio>, RatioError> {
    match ratio(text) {
        Err(RatioError::Zero) if !text.contains('/') => Ok(None),
        other => other.map(Some),
    }
}

/// Strips a unit and its prefix (k, M, G) from a number; returns the number's text and the prefix's factor.
pub(crate) fn scaled<'a>(text: &'a str, unit: &str) -> Option<(&'a str, u64)> {
    let rest = text.strip_suffix(unit)?;
    for (prefix, factor) in PREFIXES {
        if let Some(number) = rest.strip_suffix(prefix) {
            return Some((number.trim_end(), factor));
        }
    }
    Some((rest.trim_end(), 1))
}

/// Formats 4,500,000 as `4.5M`: with the largest prefix that leaves at least one, if the number stays exact.
pub(crate) fn with_prefix(value: Ratio) -> String {
    for (prefix, factor) in PREFIXES {
        if value.numerator() / value.denominator() >= factor
            && let Some(denominator) = value.denominator().checked_mul(factor)
            && let Ok(part) = Ratio::new(value.numerator(), denominator)
        {
            return format!("{part}{prefix}");
        }
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn printed_times_and_prefixed_numbers_parse_back(ps: u64, number in 1..=Ratio::LIMIT, of in 1..1000u64) {
            let time = Time::Picoseconds(ps);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            let cycles = Time::Cycles(ps);
            prop_assert_eq!(cycles.to_string().parse(), Ok(cycles));
            prop_assert_eq!(parse_rate(&format!("{number}bps")), Ok(number));
            let value = Ratio::new(number, of).unwrap();
            let text = with_prefix(value) + "bps";
            let (digits, factor) = scaled(&text, "bps").unwrap();
            prop_assert_eq!(ratio(digits).unwrap().times(factor), Ok(value));
        }

        #[test]
        fn any_text_parses_or_is_refused(text: String, digits in "[0-9./_]{0,45}(s|ps|Gbps)?") {
            for text in [text, digits] {
                let _ = (text.parse::<Time>(), parse_rate(&text), ratio_or_zero(&text));
            }
        }
    }

    #[test]
    fn units_are_looked_up_by_name_and_dimension() {
        let of = |name: &str| Unit::of(name).map(|unit| (unit.dimension, unit.numerator));
        assert_eq!(of("KB"), Some((Dimension::Bytes, 1_000)));
        assert_eq!(of("Mb/s"), Some((Dimension::BitRate, 1_000_000)));
        assert_eq!(of("kpps"), Some((Dimension::PacketRate, 1_000)));
        assert_eq!(of("\u{b5}s"), of("us"));
        for unknown in ["KiB", "mpps", "bdp", "Mbs", "k", "ms/s"] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
        assert_eq!(whole("1.5 MB", Dimension::Bytes), Some(1_500_000));
        assert_eq!(whole("1GB", Dimension::Bytes), Some(1_000_000_000));
        assert_eq!(whole("0.5B", Dimension::Bytes), None);
        assert_eq!(whole("3Mb/s", Dimension::Bytes), None);
        assert_eq!(multiple("1/3 bdp", "bdp"), Some((1, 3)));
        assert_eq!(multiple("0bdp", "bdp"), Some((0, 1)));
        assert_eq!(multiple("1bdp", "rtt"), None);
    }

    #[test]
    fn times_convert_to_cycles_exactly() {
        let cycles = |text: &str| text.parse::<Time>().map(|t| t.cycles(600_000_000));
        assert_eq!(cycles("1us"), Ok(600));
        assert_eq!(cycles("2ms"), Ok(1_200_000));
        assert_eq!(cycles("1.5 ms"), Ok(900_000));
        assert_eq!(cycles("100_000"), Ok(100_000));
        assert_eq!(cycles("1ns"), Ok(1), "rounded up from 0.6");
        assert!(cycles("2m").unwrap_err().contains("unit of time"));
        assert!(cycles("ms").is_err());
        assert!(cycles("1/3s").unwrap_err().contains("not a time"));
        assert_eq!(cycles("1/4us"), Ok(150));
        assert_eq!(cycles("1\u{3bc}s"), cycles("1\u{b5}s"));
        assert_eq!(cycles("1.0000000000000000000000s"), Ok(600_000_000));
        for wrong in [
            "1/0s", "0/0s", "1/2/4s", "1/s", "/2s", "1.2.3ms", "1/2", ".s",
        ] {
            assert!(cycles(wrong).is_err(), "{wrong}");
        }
        assert!(cycles("999999999999999999.999999999999999999s").is_err());
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
    fn rates_parse_with_units() {
        assert_eq!(parse_rate("1Gbps"), Ok(1_000_000_000));
        assert_eq!(parse_rate("2.5 Gb/s"), Ok(2_500_000_000));
        assert_eq!(parse_rate("100Mbit/s"), Ok(100_000_000));
        assert_eq!(parse_rate("42"), Ok(42));
        assert_eq!(parse_rate("1/2Gbps"), Ok(500_000_000));
        assert!(parse_rate("0Gbps").unwrap_err().contains("moves nothing"));
        for bad in ["fast", "1Tbps", "", "1.5bps", "-1Gbps", "."] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn digits_are_grouped_in_threes() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn fractions_and_zero_are_parsed() {
        assert_eq!(ratio("1/3"), Ratio::new(1, 3));
        assert_eq!(ratio("0.25"), Ratio::new(1, 4));
        assert_eq!(ratio_or_zero("0"), Ok(None));
        assert_eq!(ratio_or_zero("0.0"), Ok(None));
        for text in ["1/0", "0/3", "1/", "/3", "1/2/3", "-1", "a/b"] {
            assert!(ratio_or_zero(text).is_err(), "{text}");
        }
    }

    #[test]
    fn unit_prefixes_are_parsed_and_printed() {
        assert_eq!(scaled("4.5Mpps", "pps"), Some(("4.5", 1_000_000)));
        assert_eq!(scaled("3 Gbps", "bps"), Some(("3", 1_000_000_000)));
        assert_eq!(scaled("3Gbps", "pps"), None);
        for (value, text) in [(4_500_000, "4.5M"), (999, "999"), (1_000, "1k")] {
            assert_eq!(with_prefix(Ratio::new(value, 1).unwrap()), text);
        }
    }
}
