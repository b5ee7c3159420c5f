//! Why a profile cannot be used.

/// Why a profile could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile has the name.
    #[error("no chip profile is named `{name}`; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No built-in board has the name.
    #[error("no board is named `{name}`; there are: {known}")]
    UnknownBoard {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Something is wrong in a board's file.
    #[error("in the board's file: {0}")]
    Board(Box<ProfileError>),
    /// Chip and board do not go together.
    #[error("board `{board}` does not take chip `{chip}`: {reason}")]
    Mismatch {
        /// The board.
        board: String,
        /// The chip.
        chip: String,
        /// Why.
        reason: String,
    },
    /// The text is not TOML.
    #[error("it is not valid TOML: {0}")]
    Syntax(String),
    /// A parameter is missing.
    #[error("`{key}` ({what}) is missing: {meaning}")]
    Missing {
        /// `group.name`
        key: String,
        /// The unit that it must have, or the names that there are.
        what: String,
        /// What it means.
        meaning: String,
    },
    /// A parameter that the model does not know.
    #[error("`{key}` is not known to this model; remove it or correct its name")]
    Surplus {
        /// `group.name`
        key: String,
    },
    /// A parameter is there but wrong.
    #[error("`{key}` is wrong: {reason}")]
    Wrong {
        /// `group.name`
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A policy with a name that it cannot have.
    #[error(
        "`{key}` is wrong: unknown policy `{name}`; expected {}",
        alternatives(known)
    )]
    UnknownName {
        /// `group.name`
        key: String,
        /// What is written.
        name: String,
        /// The names there are.
        known: &'static [&'static str],
    },
}

/// The names there are: `` `closed` or `open` ``.
fn alternatives(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
