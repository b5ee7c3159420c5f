//! The tables of the instruction set as text, for the build of `npsim-isa`.

/// A table: its file name and its text.
pub type Table = (&'static str, &'static str);

/// All tables that `npsim-isa` is made from.
pub const TABLES: &[Table] = &[
    ("commands.toml", include_str!("commands.toml")),
    ("csrs.toml", include_str!("csrs.toml")),
    ("enums.toml", include_str!("enums.toml")),
    ("formats.toml", include_str!("formats.toml")),
    ("generations.toml", include_str!("generations.toml")),
    ("mnemonics.toml", include_str!("mnemonics.toml")),
    ("operands.toml", include_str!("operands.toml")),
];

/// The text of a table.
#[must_use]
pub fn table(name: &str) -> Option<&'static str> {
    let mut tables = TABLES.iter();
    tables.find_map(|(known, text)| (*known == name).then_some(*text))
}
