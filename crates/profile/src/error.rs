//! Why a profile cannot be used.

/// Why a profile could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile has the name.
    #[error("no chip profile is named `{name}`; there are: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// No built-in board has the name.
    #[error("no board is named `{name}`; there are: {known}")]
    UnknownBoard {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// Something is wrong in a board's file.
    #[error("in the board's file: {0}")]
    Board(Box<ProfileError>),
    /// Chip and board do not match.
    #[error("board `{board}` does not take chip `{chip}`: {reason}")]
    Mismatch {
        /// The board.
        board: String,
        /// The chip.
        chip: String,
        /// The reason.
        reason: String,
    },
    /// The text is not TOML.
    #[error("invalid TOML: {0}")]
    Syntax(String),
    /// A parameter is missing.
    #[error("`{key}` ({what}) is missing: {meaning}")]
    Missing {
        /// `group.name`
        key: String,
        /// The unit that it must have, or the possible names.
        what: String,
        /// What it means.
        meaning: String,
    },
    /// A parameter that the model does not know.
    #[error("`{key}` is not known to this model; remove it or correct its name")]
    UnknownKey {
        /// `group.name`
        key: String,
    },
    /// A parameter is present but wrong.
    #[error("`{key}` is wrong: {reason}")]
    InvalidValue {
        /// `group.name`
        key: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A policy has an unknown name.
    #[error(
        "`{key}` is wrong: unknown policy `{name}`; expected {}",
        alternatives(known)
    )]
    UnknownName {
        /// `group.name`
        key: String,
        /// The name in the file.
        name: String,
        /// The possible names.
        known: &'static [&'static str],
    },
}

/// The possible names: `` `closed` or `open` ``.
fn alternatives(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
