//! Positions on an axis of values with units: `500kpps` and `1Mpps` lie at 0.5 and 1 on an axis in
//! Mpps.

use npsim_project::quantity::{Dimension, Unit, multiple, number_and_unit};

/// A value split into number and unit.
#[derive(Clone, Debug, PartialEq)]
struct Value<'a> {
    number: f64,
    /// The text after the number.
    unit: &'a str,
}

impl<'a> Value<'a> {
    /// Splits a text into its leading number and the rest; `None` if it does not begin with a
    /// number.
    fn of(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let whole = |number: f64| Self { number, unit: "" };
        let digits = text.strip_prefix('-').unwrap_or(text);
        if let Some(hexadecimal) = digits.strip_prefix("0x") {
            let number = u32::from_str_radix(hexadecimal, 16).ok()?;
            return Some(whole(f64::from(number)));
        }
        if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        if let Ok(number) = text.parse() {
            return Some(whole(number));
        }
        let sign = if digits.len() == text.len() {
            1.0
        } else {
            -1.0
        };
        let (number, unit) = number_and_unit(digits);
        let number = match number.split_once('/') {
            Some(_) => multiple(number, "").map(|(part, of)| part as f64 / of as f64)?,
            None => number.replace('_', "").parse().ok()?,
        };
        let number = sign * number;
        Some(Self { number, unit })
    }

    fn is_zero(&self) -> bool {
        self.number == 0.0
    }
}

/// Returns the size of `unit` in units of `of`; `None` if they measure different quantities.
fn ratio(unit: &str, of: &str) -> Option<f64> {
    if unit == of {
        return Some(1.0);
    }
    let (unit, of) = (Unit::of(unit)?, Unit::of(of)?);
    let same = unit.dimension == of.dimension;
    // For two powers of ten, dividing the larger by the smaller is exact.
    let size = |unit: Unit| unit.numerator as f64 / unit.denominator as f64;
    same.then(|| size(unit) / size(of))
}

/// The unit for values in several units: the largest one. `None` if all values have the same unit.
pub(crate) fn common_unit(texts: &[String]) -> Option<String> {
    let values: Vec<Value<'_>> = texts.iter().filter_map(|text| Value::of(text)).collect();
    let mut units = { values.iter() }
        .filter(|value| !value.is_zero())
        .map(|value| value.unit);
    let first = units.next()?;
    let largest = units.try_fold(first, |largest, unit| {
        Some(if ratio(unit, largest)? > 1.0 {
            unit
        } else {
            largest
        })
    })?;
    let differ = { values.iter() }.any(|value| !value.is_zero() && value.unit != largest);
    differ.then(|| largest.to_owned())
}

/// Returns the positions of values on an axis with this unit: their converted numbers, or
/// consecutive integers if none of them is a number.
///
/// # Errors
/// Returns a description of the problem if the units do not fit the axis or one another.
pub(crate) fn places(texts: &[String], unit: &str) -> Result<Vec<f64>, String> {
    let values: Vec<_> = texts.iter().map(|text| Value::of(text)).collect();
    if values.iter().all(Option::is_none) {
        return Ok((0..texts.len()).map(|at| at as f64).collect());
    }
    let has_unit = |value: &&Value<'_>| !value.is_zero() && !value.unit.is_empty();
    let first = { values.iter().flatten() }
        .find(has_unit)
        .map_or("", |value| value.unit);
    // The axis label may not be a known unit; all values must then have the same unit.
    let is_known = Unit::of(unit).is_some_and(|unit| unit.dimension != Dimension::Number);
    let common = common_unit(texts);
    let of = match &common {
        _ if is_known && Unit::of(first).is_some() => unit,
        Some(common) => common,
        None => first,
    };
    let place = |(text, value): (&String, &Option<Value<'_>>)| {
        let Some(value) = value else {
            return Err(format!(
                "`{text}` is not a number, but other values are; give the places with `x`"
            ));
        };
        // A bare number is in the axis's unit, and zero is the same in every unit.
        let is_bare = value.unit.is_empty() && (first.is_empty() || is_known);
        if value.is_zero() || is_bare {
            return Ok(value.number);
        }
        let factor = ratio(value.unit, of).ok_or_else(|| {
            format!(
                "`{text}` cannot be laid on an axis{}; give the places with `x`",
                match of {
                    "" => " of bare numbers".to_owned(),
                    of if of.starts_with(|c: char| c.is_alphabetic() || c == '%') => {
                        format!(" in `{of}`")
                    }
                    // Text after a number that is not a unit, such as the rest of a range.
                    _ => " with the others".to_owned(),
                }
            )
        })?;
        // A quotient of powers of ten below 1 is not exact; its reciprocal is.
        Ok(if factor < 1.0 {
            value.number / (1.0 / factor).round()
        } else {
            value.number * factor
        })
    };
    if common.is_some() && !unit.is_empty() && !is_known {
        return Err(format!(
            "its values have several units and it is labelled with `{unit}`, which is none of them; \
             give the places with `x`"
        ));
    }
    texts.iter().zip(&values).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::{common_unit, places};

    fn axis_positions(texts: &[&str], unit: &str) -> Result<Vec<f64>, String> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        places(&texts, unit)
    }

    #[test]
    fn axis_values_convert_to_one_unit() {
        let rates = ["500kpps", "1Mpps", "2Mpps"];
        assert_eq!(axis_positions(&rates, "Mpps"), Ok(vec![0.5, 1.0, 2.0]));
        assert_eq!(axis_positions(&rates, ""), Ok(vec![0.5, 1.0, 2.0]));
        assert_eq!(
            axis_positions(&rates, "kpps"),
            Ok(vec![500.0, 1000.0, 2000.0])
        );
        let texts = rates.map(str::to_owned);
        assert_eq!(common_unit(&texts).as_deref(), Some("Mpps"));
        assert_eq!(
            axis_positions(&["500kpps", "800kpps"], "Mpps"),
            Ok(vec![0.5, 0.8])
        );
        assert_eq!(
            axis_positions(&["20ms", "1s", "0"], "ms"),
            Ok(vec![20.0, 1000.0, 0.0])
        );
        assert_eq!(
            axis_positions(&["64KB", "1.5MB"], "KB"),
            Ok(vec![64.0, 1500.0])
        );
        assert_eq!(
            axis_positions(&["100Mbps", "1Gb/s"], "Mb/s"),
            Ok(vec![100.0, 1000.0])
        );
        assert_eq!(axis_positions(&["0.5", "100%"], ""), Ok(vec![0.5, 1.0]));
        // Numbers stay as typed when there is only one unit.
        assert_eq!(
            axis_positions(&["1.5Mpps", "4.464Mpps"], ""),
            Ok(vec![1.5, 4.464])
        );
        assert_eq!(
            axis_positions(&["0.25bdp", "2bdp"], "products"),
            Ok(vec![0.25, 2.0])
        );
        assert_eq!(axis_positions(&["1", "2.5"], "Mpps"), Ok(vec![1.0, 2.5]));
        assert_eq!(
            axis_positions(&["-1", "1e6", "1_000", "1/4", "0x10"], ""),
            Ok(vec![-1.0, 1e6, 1e3, 0.25, 16.0])
        );
        assert_eq!(axis_positions(&["fifo", "red"], ""), Ok(vec![0.0, 1.0]));
    }

    #[test]
    fn values_without_a_common_unit_are_refused() {
        let several: [(&[&str], &str); 8] = [
            (&["1ms", "1Mpps"], ""),
            (&["1Mpps", "2Mpps"], "us"),
            (&["10", "20ms"], ""),
            (&["1", "2Mpps"], "ms"),
            (&["500kpps", "1Mpps"], "of the line"),
            (&["off", "1ms"], ""),
            (&["4", "4-7"], ""),
            (&["64KB", "100 packets"], ""),
        ];
        for (texts, unit) in several {
            let why = axis_positions(texts, unit).unwrap_err();
            assert!(why.contains("with `x`"), "{texts:?}: {why}");
        }
    }
}
