//! `--format`: text for people, or JSON for programs.

use clap::ValueEnum;
use serde::Serialize;

use crate::output;

/// The form of results on standard output, and of messages on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    #[value(aliases = ["human", "table"])]
    Text,
    /// For programs (`npsim docs json`)
    Json,
}

impl Format {
    /// Whether the format is JSON.
    pub fn is_json(self) -> bool {
        self == Self::Json
    }

    /// Prints a result in this format.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be written.
    pub fn print<T: Serialize + ?Sized>(
        self,
        result: &T,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        match self {
            Self::Text => output::print_text(&text()),
            Self::Json => json(result),
        }
    }
}

/// Prints a result as JSON.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn json<T: Serialize + ?Sized>(result: &T) -> anyhow::Result<()> {
    output::print(&(serde_json::to_string_pretty(result)? + "\n"))
}
