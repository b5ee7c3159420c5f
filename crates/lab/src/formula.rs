//! Formulas over named numbers: `min(x, n / Td, 1 / Tcrit)`.
//!
//! Numbers, names, `+ - * /`, brackets, `min(...)` and `max(...)`.

use std::collections::BTreeSet;

/// Brackets and signs may be this deep.
const DEEPEST: usize = 64;

/// A formula that can be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number as it is typed.
    Number(f64),
    /// A name.
    Name(String),
    /// The negative of another.
    Negative(Box<Formula>),
    /// Two with a sign between them.
    Two(Box<Formula>, Sign, Box<Formula>),
    /// The smallest of some.
    Least(Vec<Formula>),
    /// The largest of some.
    Largest(Vec<Formula>),
}

/// What stands between two formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader {
            text,
            at: 0,
            depth: 0,
        };
        let formula = reader.sum()?;
        match reader.next() {
            None => Ok(formula),
            Some(_) => Err(reader.wrong("an operator")),
        }
    }

    /// The names in it.
    #[must_use]
    pub fn names(&self) -> BTreeSet<&str> {
        match self {
            Self::Number(_) => BTreeSet::new(),
            Self::Name(name) => BTreeSet::from([name.as_str()]),
            Self::Negative(of) => of.names(),
            Self::Two(one, _, other) => one.names().union(&other.names()).copied().collect(),
            Self::Least(of) | Self::Largest(of) => of.iter().flat_map(Self::names).collect(),
        }
    }

    /// Its value, with what `value` gives for each name.
    ///
    /// # Errors
    /// A name has no value, or something is divided by 0.
    pub fn value(&self, value: &dyn Fn(&str) -> Result<f64, String>) -> Result<f64, String> {
        let all = |of: &[Self]| -> Result<Vec<f64>, String> {
            of.iter().map(|part| part.value(value)).collect()
        };
        let none = || "a list without values".to_owned();
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => value(name).map_err(|why| format!("`{name}`: {why}"))?,
            Self::Negative(of) => -of.value(value)?,
            Self::Two(one, sign, other) => {
                let (one, other) = (one.value(value)?, other.value(value)?);
                match sign {
                    Sign::Plus => one + other,
                    Sign::Minus => one - other,
                    Sign::Times => one * other,
                    Sign::Over if other == 0.0 => return Err("it is divided by 0".into()),
                    Sign::Over => one / other,
                }
            }
            Self::Least(of) => all(of)?.into_iter().reduce(f64::min).ok_or_else(none)?,
            Self::Largest(of) => all(of)?.into_iter().reduce(f64::max).ok_or_else(none)?,
        })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    /// The next character that is not blank.
    fn next(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.next() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn wrong(&self, expected: &str) -> String {
        let rest = &self.text[self.at..];
        match rest.chars().next() {
            Some(found) => format!(
                "`{}` has `{found}` at character {} where {expected} is expected",
                self.text,
                self.text[..self.at].chars().count() + 1
            ),
            None => format!("`{}` ends where {expected} is expected", self.text),
        }
    }

    fn sum(&mut self) -> Result<Formula, String> {
        let mut whole = self.product()?;
        loop {
            let sign = match self.next() {
                Some('+') => Sign::Plus,
                Some('-') => Sign::Minus,
                _ => return Ok(whole),
            };
            self.at += 1;
            whole = Formula::Two(Box::new(whole), sign, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Formula, String> {
        let mut whole = self.part()?;
        loop {
            let sign = match self.next() {
                Some('*') => Sign::Times,
                Some('/') => Sign::Over,
                _ => return Ok(whole),
            };
            self.at += 1;
            whole = Formula::Two(Box::new(whole), sign, Box::new(self.part()?));
        }
    }

    fn part(&mut self) -> Result<Formula, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("`{}` is nested too deep", self.text));
        }
        let part = self.part_inside();
        self.depth -= 1;
        part
    }

    fn part_inside(&mut self) -> Result<Formula, String> {
        if self.take('-') {
            return Ok(Formula::Negative(Box::new(self.part()?)));
        }
        if self.take('(') {
            let inner = self.sum()?;
            return if self.take(')') {
                Ok(inner)
            } else {
                Err(self.wrong("`)`"))
            };
        }
        let Some(first) = self.next() else {
            return Err(self.wrong("a number or a name"));
        };
        let word_start = self.at;
        let length = |text: &str, fits: fn(char) -> bool| {
            text.find(|c: char| !fits(c)).unwrap_or(text.len())
        };
        if first.is_ascii_digit() || first == '.' {
            self.at += length(&self.text[self.at..], |c| c.is_ascii_digit() || c == '.');
            let rest = &self.text[self.at..];
            let exponent = rest.strip_prefix(['e', 'E']).map(|rest| {
                let signed = rest.strip_prefix(['+', '-']).unwrap_or(rest);
                (
                    rest.len() - signed.len(),
                    length(signed, |c| c.is_ascii_digit()),
                )
            });
            if let Some((sign, digits @ 1..)) = exponent {
                self.at += 1 + sign + digits;
            }
            let digits = &self.text[word_start..self.at];
            return digits
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(Formula::Number)
                .ok_or_else(|| format!("`{}`: `{digits}` is no number", self.text));
        }
        if !(first.is_ascii_alphabetic() || first == '_') {
            return Err(self.wrong("a number or a name"));
        }
        self.at += length(&self.text[self.at..], |c| {
            c.is_ascii_alphanumeric() || c == '_'
        });
        let name = &self.text[word_start..self.at];
        if !self.take('(') {
            return Ok(Formula::Name(name.to_owned()));
        }
        let mut of = vec![self.sum()?];
        while self.take(',') {
            of.push(self.sum()?);
        }
        if !self.take(')') {
            return Err(self.wrong("`,` or `)`"));
        }
        match name {
            "min" => Ok(Formula::Least(of)),
            "max" => Ok(Formula::Largest(of)),
            _ => Err(format!(
                "`{}`: there is no `{name}(...)`, only `min(...)` and `max(...)`",
                self.text
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Formula;

    fn value(text: &str) -> Result<f64, String> {
        Formula::parse(text)?.value(&|name| match name {
            "x" => Ok(3.0),
            "T_d" => Ok(0.5),
            _ => Err("it is not known".into()),
        })
    }

    #[test]
    fn signs_bind_as_usual() {
        for (text, expected) in [
            ("1 + 2 * x", 7.0),
            ("(1 + 2) * x", 9.0),
            ("8 / 2 / 2", 2.0),
            ("8 - 2 - 2", 4.0),
            ("-x + 1", -2.0),
            ("2 * -x", -6.0),
            ("min(x, 24 / T_d, 1e1)", 3.0),
            ("max(x, -1, 2.5e-1 * 100)", 25.0),
            ("2e", 0.0),
        ] {
            if text == "2e" {
                assert!(value(text).is_err());
                continue;
            }
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        let names = Formula::parse("min(x, n / Td) - x").unwrap();
        let names: Vec<_> = names.names().into_iter().collect();
        assert_eq!(names, ["Td", "n", "x"]);
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, expected) in [
            ("", "ends where a number or a name"),
            ("1 +", "ends where"),
            ("1 2", "has `2` at character 3 where an operator"),
            ("(1", "ends where `)`"),
            ("min(1; 2)", "`,` or `)`"),
            ("sqrt(2)", "there is no `sqrt(...)`"),
            ("1.2.3", "`1.2.3` is no number"),
            ("1e999", "is no number"),
            ("µ", "has `µ` at character 1"),
            ("x / (x - 3)", "divided by 0"),
            ("y", "`y`: it is not known"),
        ] {
            let message = value(text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
        assert!(
            value(&"(".repeat(100_000))
                .unwrap_err()
                .contains("too deep")
        );
        assert!(
            value(&"-".repeat(100_000))
                .unwrap_err()
                .contains("too deep")
        );
    }
}
