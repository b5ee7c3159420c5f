//! Formulas over named numbers: `min(x, n / Td, 1 / Tcrit)`.
//!
//! They are parsed and evaluated as expressions of `minijinja`, extended by `min(...)` and
//! `max(...)` of numbers; the result must be a finite number. The text, lists and filters of
//! that language are not supported.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Rest;
use minijinja::{Environment, Error, ErrorKind, Expression, UndefinedBehavior};

/// Maximum length of a formula in characters; far more than any needs.
const MAX_CHARACTERS: usize = 1000;
/// Maximum number of operators and brackets: each may add a level of recursion to parsing and
/// evaluation, and a thread's stack has room for some hundred levels.
const MAX_LEVELS: usize = 50;
/// Characters that may add a level.
const LEVELS: [char; 5] = ['+', '-', '*', '/', '('];
const FUNCTIONS: [&str; 2] = ["min", "max"];
/// Characters allowed beside letters, digits and blanks.
const SIGNS: &str = "+-*/(),._";

/// A parsed formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formula {
    text: String,
    names: BTreeSet<String>,
}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    /// Returns what is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let length = text.chars().count();
        if length > MAX_CHARACTERS {
            return Err(format!(
                "a formula of {length} characters is too long; {MAX_CHARACTERS} are the most"
            ));
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || SIGNS.contains(c);
        if let Some((at, found)) = text.chars().enumerate().find(|&(_, c)| !fits(c)) {
            return Err(format!(
                "`{text}` has an unexpected `{found}` at character {}",
                at + 1
            ));
        }
        let levels = text.matches(LEVELS).count();
        if levels > MAX_LEVELS {
            return Err(format!(
                "a formula of {levels} operators and opening brackets is too long; {MAX_LEVELS} are the most"
            ));
        }
        let environment = environment();
        let expression = environment
            .compile_expression(text)
            .map_err(|error| syntax_error(text, &error))?;
        let mut names: BTreeSet<_> = expression.undeclared_variables(false).into_iter().collect();
        names.retain(|name| !FUNCTIONS.contains(&name.as_str()));
        if let Some(name) = names.iter().find(|name| is_used_as_function(text, name)) {
            return Err(format!(
                "`{text}`: there is no `{name}(...)`, only `min(...)` and `max(...)`"
            ));
        }
        let formula = Self {
            text: text.to_owned(),
            names,
        };
        formula.check_with_trial_values(&expression)?;
        Ok(formula)
    }

    /// Refuses a formula that can never be a number, whatever its names stand for. An
    /// evaluation that fails with these trial numbers proves nothing.
    fn check_with_trial_values(&self, expression: &Expression) -> Result<(), String> {
        let trial: BTreeMap<_, _> = (1_u8..=u8::MAX)
            .cycle()
            .zip(&self.names)
            .map(|(nth, name)| (name.as_str(), f64::from(nth).mul_add(0.617, 2.7)))
            .collect();
        let outcome = match expression.eval(trial) {
            Ok(outcome) => f64::try_from(outcome).map(drop),
            Err(error) => match error.kind() {
                ErrorKind::MissingArgument | ErrorKind::UndefinedError => Err(error),
                _ => Ok(()),
            },
        };
        outcome.map_err(|error| syntax_error(&self.text, &error))
    }

    /// The names that occur in it.
    #[must_use]
    pub fn names(&self) -> BTreeSet<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Evaluates the formula, with `value` giving the number of each name.
    ///
    /// # Errors
    /// Returns an error if a name has no value or the result is not a finite number, as after
    /// a division by 0.
    pub fn value(&self, value: &dyn Fn(&str) -> Result<f64, String>) -> Result<f64, String> {
        let known = |name: &String| match value(name) {
            Ok(number) => Ok((name.clone(), number)),
            Err(why) => Err(format!("`{name}`: {why}")),
        };
        let values: BTreeMap<_, _> = self.names.iter().map(known).collect::<Result<_, _>>()?;
        let environment = environment();
        let outcome = environment
            .compile_expression(&self.text)
            .and_then(|expression| expression.eval(values))
            .and_then(f64::try_from)
            .map_err(|error| self.evaluation_error(&reason(&error)))?;
        if outcome.is_finite() {
            Ok(outcome)
        } else {
            Err(self.evaluation_error("it is too large"))
        }
    }

    fn evaluation_error(&self, why: &str) -> String {
        format!("`{}` has no value: {why}", self.text)
    }
}

/// Whether a formula uses a name as a function.
fn is_used_as_function(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && after.trim_start().starts_with('(')
    })
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_function("min", |of: Rest<f64>| chosen(&of, f64::min));
    environment.add_function("max", |of: Rest<f64>| chosen(&of, f64::max));
    environment
}

fn chosen(of: &[f64], choose: fn(f64, f64) -> f64) -> Result<f64, Error> {
    let none = || {
        Error::new(
            ErrorKind::MissingArgument,
            "numbers to choose from are missing",
        )
    };
    of.iter().copied().reduce(choose).ok_or_else(none)
}

fn syntax_error(text: &str, error: &Error) -> String {
    let reason = reason(error);
    match error.range() {
        Some(place) if place.start < text.len() => format!(
            "`{text}` is not a formula: {reason} at character {}",
            text[..place.start].chars().count() + 1
        ),
        _ => format!("`{text}` is not a formula: {reason}"),
    }
}

fn reason(error: &Error) -> String {
    let detail = error.detail().map(str::to_owned);
    detail.unwrap_or_else(|| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::{Formula, MAX_LEVELS};

    fn value(text: &str) -> Result<f64, String> {
        Formula::parse(text)?.value(&|name| match name {
            "x" => Ok(3.0),
            "T_d" => Ok(0.5),
            _ => Err("it is not known".into()),
        })
    }

    #[test]
    fn operators_have_the_usual_precedence() {
        for (text, expected) in [
            ("1 + 2 * x", 7.0),
            ("(1 + 2) * x", 9.0),
            ("8 / 2 / 2", 2.0),
            ("1 / 2", 0.5),
            ("8 - 2 - 2", 4.0),
            ("-x + 1", -2.0),
            ("2 * -x", -6.0),
            ("min(x, 24 / T_d, 1e1)", 3.0),
            ("max(x, -1, 2.5e-1 * 100)", 25.0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        let names = Formula::parse("min(x, n / Td) - x").unwrap();
        let names: Vec<_> = names.names().into_iter().collect();
        assert_eq!(names, ["Td", "n", "x"]);
    }

    #[test]
    fn formula_errors_have_a_position() {
        for (text, expected) in [
            ("", "unexpected end of input"),
            (
                "1 +",
                "unexpected end of input, expected expression at character 3",
            ),
            ("1 2", "unexpected input after expression at character 3"),
            ("(1", "unexpected end of input, expected `)`"),
            ("min(1; 2)", "unexpected `;` at character 6"),
            ("min()", "numbers to choose from are missing"),
            ("sqrt(2)", "there is no `sqrt(...)`"),
            ("x * sqrt (x)", "there is no `sqrt(...)`"),
            ("1.2.3", "is not a formula"),
            ("2e", "invalid float"),
            ("true", "is not a formula"),
            ("x.y", "is not a formula"),
            ("µ", "unexpected `µ` at character 1"),
            ("'text'", "unexpected `'` at character 1"),
        ] {
            let message = Formula::parse(text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
        for (text, expected) in [
            ("x / (x - 3)", "unable to calculate 3.0 / 0.0"),
            ("min(x, 1 / 0)", "unable to calculate 1 / 0"),
            ("1e999", "too large"),
            ("y", "`y`: it is not known"),
        ] {
            let message = value(text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
        for sign in ["(", "-", "1-", "min("] {
            for count in [40, 100, 240, 100_000] {
                assert!(Formula::parse(&sign.repeat(count)).is_err());
            }
        }
    }

    #[test]
    fn deepest_formula_fits_in_half_a_stack() {
        let deep = || {
            for (open, close) in [("(", ")"), ("-", ""), ("1-", ""), ("min(", ")")] {
                let of = |levels| format!("{}x{}", open.repeat(levels), close.repeat(levels));
                assert!(value(&of(MAX_LEVELS)).is_ok(), "{open}");
                let message = value(&of(MAX_LEVELS + 1)).unwrap_err();
                assert!(
                    message.contains("51 operators and opening brackets"),
                    "{message}"
                );
            }
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20);
        thread.spawn(deep).unwrap().join().unwrap();
    }
}
