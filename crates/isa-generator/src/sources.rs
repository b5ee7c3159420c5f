//! The table files, as text and parsed.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::instructions::MnemonicFile;
use super::tables::{CommandFile, CsrFile, EnumFile, FormatFile, GenerationFile, OperandFile};

/// The text of every table file.
#[derive(Clone, Default)]
pub struct Sources {
    /// `formats.toml`.
    pub formats: String,
    /// `enums.toml`.
    pub enums: String,
    /// `generations.toml`.
    pub generations: String,
    /// `operands.toml`.
    pub operands: String,
    /// `commands.toml`.
    pub commands: String,
    /// `csrs.toml`.
    pub csrs: String,
    /// `mnemonics.toml`.
    pub mnemonics: String,
}

impl Sources {
    /// Returns the tables of `isa/`.
    ///
    /// # Panics
    /// Panics if one of them is missing from `npsim-isa-tables`.
    #[must_use]
    pub fn shipped() -> Self {
        let mut sources = Self::default();
        for (name, slot) in sources.slots() {
            let text = npsim_isa_tables::table(name);
            text.unwrap_or_else(|| panic!("there is no table {name}"))
                .clone_into(slot);
        }
        sources
    }

    /// Returns the file names, with the fields for their texts.
    fn slots(&mut self) -> [(&'static str, &mut String); 7] {
        [
            ("formats.toml", &mut self.formats),
            ("enums.toml", &mut self.enums),
            ("generations.toml", &mut self.generations),
            ("operands.toml", &mut self.operands),
            ("commands.toml", &mut self.commands),
            ("csrs.toml", &mut self.csrs),
            ("mnemonics.toml", &mut self.mnemonics),
        ]
    }
}

/// All tables, parsed.
pub struct Tables {
    pub formats: FormatFile,
    pub enums: EnumFile,
    pub generations: GenerationFile,
    pub operands: OperandFile,
    pub commands: CommandFile,
    pub csrs: CsrFile,
    pub mnemonics: MnemonicFile,
}

/// Parses all files; each error names its file.
pub fn parse(sources: &Sources) -> Result<Tables, Vec<String>> {
    fn file<T: DeserializeOwned>(
        name: &str,
        text: &str,
        errors: &mut BTreeMap<String, String>,
    ) -> Option<T> {
        toml::from_str(text)
            .map_err(|error| errors.insert(name.to_owned(), format!("{name}: {error}")))
            .ok()
    }
    let mut errors = BTreeMap::new();
    let formats = file("formats.toml", &sources.formats, &mut errors);
    let enums = file::<EnumFile>("enums.toml", &sources.enums, &mut errors);
    let generations = file("generations.toml", &sources.generations, &mut errors);
    let operands = file("operands.toml", &sources.operands, &mut errors);
    let commands = file("commands.toml", &sources.commands, &mut errors);
    let csrs = file("csrs.toml", &sources.csrs, &mut errors);
    let mnemonics = file::<MnemonicFile>("mnemonics.toml", &sources.mnemonics, &mut errors);
    let tables = (|| {
        let (mut enums, mnemonics) = (enums?, mnemonics?);
        // The instructions with one source are also the values of an enumeration.
        enums.enums.push(mnemonics.one_source());
        Some(Tables {
            formats: formats?,
            enums,
            generations: generations?,
            operands: operands?,
            commands: commands?,
            csrs: csrs?,
            mnemonics,
        })
    })();
    tables.ok_or_else(|| errors.into_values().collect())
}
