//! Mnemonics with their syntax, for the assembler's help and the reference.

use crate::{Evidence, Format};

/// A mnemonic.
#[derive(Clone, Copy, Debug)]
pub struct MnemonicInfo {
    /// Spelling.
    pub name: &'static str,
    /// Other spellings of the same instruction.
    pub aliases: &'static [&'static str],
    /// Word format.
    pub class: Format,
    /// Operand shape.
    pub syntax: &'static str,
    /// Meaning in words.
    pub doc: &'static str,
    /// Largest defer count.
    pub max_defer: u8,
    /// What supports it.
    pub evidence: &'static [Evidence],
    /// What is not confirmed.
    pub uncertain: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/mnemonics.rs"));

/// Every mnemonic.
#[must_use]
pub fn mnemonics() -> &'static [MnemonicInfo] {
    &TABLE
}

/// The mnemonic with this spelling or alias, in any letter case.
#[must_use]
pub fn mnemonic(name: &str) -> Option<&'static MnemonicInfo> {
    TABLE.iter().find(|row| {
        row.name.eq_ignore_ascii_case(name)
            || row.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
    })
}
