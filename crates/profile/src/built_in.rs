//! The built-in chips and boards.

use std::sync::OnceLock;

use toml::Table;

use crate::error::ProfileError;

/// A built-in chip or board.
pub(crate) struct BuiltIn {
    pub name: &'static str,
    pub text: &'static str,
    /// The text, parsed on first use. Studies and networks make many chips from the same few texts,
    /// and parsing one takes longer than the rest of making a chip.
    table: OnceLock<Table>,
}

impl BuiltIn {
    const fn new(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            text,
            table: OnceLock::new(),
        }
    }

    /// The chip or board with this name in `all`.
    pub fn named(all: &'static [Self], name: &str) -> Option<&'static Self> {
        all.iter().find(|known| known.name == name)
    }
}

pub(crate) static CHIPS: [BuiltIn; 3] = [
    BuiltIn::new("ixp2400", include_str!("../profiles/ixp2400.toml")),
    BuiltIn::new("ixp2400-sdk", include_str!("../profiles/ixp2400-sdk.toml")),
    BuiltIn::new("ixp2800", include_str!("../profiles/ixp2800.toml")),
];

pub(crate) static BOARDS: [BuiltIn; 4] = [
    BuiltIn::new("enp-2611", include_str!("../boards/enp-2611.toml")),
    BuiltIn::new(
        "ixp2400-plain",
        include_str!("../boards/ixp2400-plain.toml"),
    ),
    BuiltIn::new("ixp2800-6g", include_str!("../boards/ixp2800-6g.toml")),
    BuiltIn::new(
        "ixp2800-plain",
        include_str!("../boards/ixp2800-plain.toml"),
    ),
];

/// Parses the text of a chip or a board into a table.
///
/// # Errors
/// Returns an error if it is not TOML.
pub(crate) fn table_of(text: &str) -> Result<Table, ProfileError> {
    let built_in = CHIPS.iter().chain(&BOARDS).find(|it| it.text == text);
    if let Some(table) = built_in.and_then(|it| it.table.get()) {
        return Ok(table.clone());
    }
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| ProfileError::Syntax(error.to_string()))?;
    Ok(match built_in {
        Some(it) => it.table.get_or_init(|| table).clone(),
        None => table,
    })
}
