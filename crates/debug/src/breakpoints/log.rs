//! The output of log points: text with expressions in braces.

use std::str::FromStr;

use crate::error::DebugError;
use crate::expression::{EvaluationScope, Expression};

/// Text with expressions: `got {bytes} bytes at {buffer:x}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<LogPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LogPart {
    Text(String),
    /// An expression, and whether it is shown in hexadecimal.
    Value(Expression, bool),
}

impl FromStr for Template {
    type Err = DebugError;

    fn from_str(text: &str) -> Result<Self, DebugError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once('{') {
            let (inside, after) = inside
                .split_once('}')
                .ok_or_else(|| DebugError::new(format!("`{{{inside}` has no closing brace")))?;
            let (expression, hex) = match inside.strip_suffix(":x") {
                Some(expression) => (expression, true),
                None => (inside, false),
            };
            parts.push(LogPart::Text(before.to_owned()));
            parts.push(LogPart::Value(expression.parse()?, hex));
            rest = after;
        }
        parts.push(LogPart::Text(rest.to_owned()));
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }
}

impl std::fmt::Display for Template {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

impl Template {
    /// The expressions in the text.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            LogPart::Value(expression, _) => Some(expression),
            LogPart::Text(_) => None,
        })
    }

    /// The text with values filled in; expressions without a value are replaced by an error
    /// message.
    #[must_use]
    pub fn filled(&self, scope: &EvaluationScope<'_>) -> String {
        let text = |part: &LogPart| match part {
            LogPart::Text(text) => text.clone(),
            LogPart::Value(expression, hex) => match expression.value(scope) {
                Ok(value) if *hex => format!("{value:#x}"),
                Ok(value) => value.to_string(),
                Err(complaint) => format!("<{}>", complaint.message),
            },
        };
        self.parts.iter().map(text).collect()
    }
}
