//! Errors in the user's requests.

use std::fmt;

use npsim_asm::spelling::closest;

/// A user error, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugError {
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
}

impl DebugError {
    /// An error without help.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
        }
    }

    /// Adds help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds help if there is none yet.
    #[must_use]
    pub fn or_help(self, help: &str) -> Self {
        if self.help.is_some() {
            self
        } else {
            self.help(help)
        }
    }

    /// Adds a similar name as a suggestion.
    #[must_use]
    pub fn or_similar<'a>(self, name: &str, names: impl Iterator<Item = &'a str>) -> Self {
        match closest(name, names) {
            Some(similar) => self.help(format!("did you mean `{similar}`?")),
            None => self,
        }
    }
}

impl fmt::Display for DebugError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.help {
            Some(help) => write!(out, "{}; {help}", self.message),
            None => out.write_str(&self.message),
        }
    }
}

impl std::error::Error for DebugError {}
