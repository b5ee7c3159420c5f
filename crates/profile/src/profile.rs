//! A chip on a board, as data: reading, checking and access.

mod accessors;
mod consistency;
mod fingerprint;

use npsim_isa::Generation;
use toml::{Table, Value};

use crate::board::{Board, MediaBus};
use crate::built_in::{BuiltIn, CHIPS, table_of};
use crate::error::ProfileError;
use crate::parameter::{self, Erratum, Foundation, Parameter};
use crate::parse::{in_domain, take_errata, take_number, take_parameter, take_text, wrong};
use crate::schema::{SCHEMA, Values};

/// A chip on a board, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    name: String,
    title: String,
    product_id: u32,
    generation: Generation,
    board: Board,
    values: Values,
    parameters: Vec<Parameter>,
    errata: Vec<Erratum>,
}

impl Profile {
    /// A placeholder for a chip's profile, from reading the chip's state until its profile is
    /// restored.
    #[must_use]
    pub fn absent() -> Self {
        Self {
            name: String::new(),
            title: String::new(),
            product_id: 0,
            generation: Generation::default(),
            board: Board {
                name: String::new(),
                title: String::new(),
                chip: String::new(),
                media: MediaBus::Spi3,
                ports: Vec::new(),
            },
            values: Values::new(&[]),
            parameters: Vec::new(),
            errata: Vec::new(),
        }
    }

    /// Names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CHIPS.iter().map(|chip| chip.name)
    }

    /// The text of a built-in profile.
    #[must_use]
    pub fn text(name: &str) -> Option<&'static str> {
        BuiltIn::named(&CHIPS, name).map(|chip| chip.text)
    }

    /// A built-in profile on its plain board.
    ///
    /// # Errors
    /// Returns an error if there is none with that name, or if it is incomplete.
    pub fn load(name: &str) -> Result<Self, ProfileError> {
        let text = Self::text(name).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            known: Self::names().collect::<Vec<_>>().join(", "),
        })?;
        Self::from_toml(text)
    }

    /// A chip from its text, on the built-in board that it names.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Profile::from_texts`], and if there is no such
    /// board.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        let name = take_text(&mut merged_table(text)?.0, "", "board")?;
        let board = Board::text(&name).ok_or_else(|| ProfileError::UnknownBoard {
            name,
            known: Board::names().collect::<Vec<_>>().join(", "),
        })?;
        Self::from_texts(text, board)
    }

    /// A built-in board with its chip.
    ///
    /// # Errors
    /// Returns an error if there is no board with that name, or if it is incomplete.
    pub fn load_board(name: &str) -> Result<Self, ProfileError> {
        let text = Board::text(name).ok_or_else(|| ProfileError::UnknownBoard {
            name: name.to_owned(),
            known: Board::names().collect::<Vec<_>>().join(", "),
        })?;
        Self::from_board_toml(text)
    }

    /// A board from its text, with the built-in chip that it names.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Profile::from_texts`], and if there is no such chip.
    pub fn from_board_toml(text: &str) -> Result<Self, ProfileError> {
        let chip = Board::chip_of(text)?;
        let chip = Self::text(&chip).ok_or_else(|| ProfileError::Unknown {
            name: chip,
            known: Self::names().collect::<Vec<_>>().join(", "),
        })?;
        Self::from_texts(chip, text)
    }

    /// A chip and a board from their texts.
    ///
    /// # Errors
    /// Returns an error if a text is not TOML; if a parameter is missing, unknown, in the wrong one
    /// of the two, out of range, in a unit other than the model expects, or without a source or
    /// provenance; or if chip and board do not match.
    pub fn from_texts(chip: &str, board: &str) -> Result<Self, ProfileError> {
        let (mut table, extended) = merged_table(chip)?;
        let name = take_text(&mut table, "", "name")?;
        let title = take_text(&mut table, "", "title")?;
        let product_id = take_number(&mut table, "", "product_id")?;
        let product_id =
            u32::try_from(product_id).map_err(|_| wrong("product_id", "it must fit in 32 bits"))?;
        let generation = take_text(&mut table, "", "generation")?;
        let generation = Generation::from_name(&generation).ok_or_else(|| {
            let known = Generation::ALL.map(|it| it.info().name).join(", ");
            wrong("generation", &format!("it must be one of {known}"))
        })?;
        let media = MediaBus::take(&mut table)?;
        take_text(&mut table, "", "board")?;
        let errata = take_errata(&mut table)?;
        let in_board = |error| ProfileError::Board(Box::new(error));
        let mut board_table = table_of(board).map_err(in_board)?;
        let board = Board::take(&mut board_table).map_err(in_board)?;
        let mut parameters = Vec::with_capacity(SCHEMA.len());
        for schema in &SCHEMA {
            parameters.push(if schema.is_board_parameter() {
                take_parameter(&mut board_table, schema).map_err(in_board)?
            } else {
                take_parameter(&mut table, schema)?
            });
        }
        refuse_leftover_keys(&table, false)?;
        refuse_leftover_keys(&board_table, true).map_err(in_board)?;
        let mismatch = |reason: String| ProfileError::Mismatch {
            board: board.name.clone(),
            chip: name.clone(),
            reason,
        };
        if board.chip != name && extended.as_ref() != Some(&board.chip) {
            return Err(mismatch(format!("it is made for `{}`", board.chip)));
        }
        if board.media != media {
            return Err(mismatch(format!(
                "its media bus is {}, the chip's {}",
                board.media.name(),
                media.name()
            )));
        }
        let values = Values::new(&parameters);
        let profile = Self {
            name,
            title,
            product_id,
            generation,
            board,
            values,
            parameters,
            errata,
        };
        profile.check()?;
        Ok(profile)
    }

    /// The board of the chip.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The bus between the chip and its ports.
    #[must_use]
    pub fn media(&self) -> MediaBus {
        self.board.media
    }

    /// The profile's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A one-line description of the chip.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The value of the `PRODUCT_ID` register.
    #[must_use]
    pub fn product_id(&self) -> u32 {
        self.product_id
    }

    /// The generation of its microengines, which determines their instructions.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// All parameters, in schema order.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter()
    }

    /// The number of parameters with each foundation, best first.
    #[must_use]
    pub fn foundations(&self) -> [(Foundation, usize); 5] {
        Foundation::ALL.map(|f| {
            (
                f,
                self.parameters.iter().filter(|p| p.foundation == f).count(),
            )
        })
    }

    /// Known faults of the silicon.
    #[must_use]
    pub fn errata(&self) -> &[Erratum] {
        &self.errata
    }

    /// A known fault, by its number.
    #[must_use]
    pub fn erratum(&self, number: u32) -> Option<&Erratum> {
        self.errata.iter().find(|e| e.number == number)
    }

    /// The profile with one parameter changed, for sweeps and tests. The value is marked as
    /// assumed.
    ///
    /// # Errors
    /// Returns an error if there is no such parameter, or if the value is out of range.
    pub fn with(
        &self,
        group: &str,
        name: &str,
        value: impl Into<parameter::ParameterValue>,
    ) -> Result<Self, ProfileError> {
        let value = value.into();
        let mut profile = self.clone();
        let key = format!("{group}.{name}");
        let Some(at) = self
            .parameters
            .iter()
            .position(|p| p.group == group && p.name == name)
        else {
            return Err(ProfileError::UnknownKey { key });
        };
        in_domain(&key, &SCHEMA[at].domain, value)?;
        let parameter = &mut profile.parameters[at];
        parameter.value = value;
        parameter.foundation = Foundation::Assumed;
        "set for this run".clone_into(&mut parameter.basis);
        profile.values = Values::new(&profile.parameters);
        profile.check()?;
        Ok(profile)
    }

    /// Number of microengines.
    #[must_use]
    pub fn microengines(&self) -> u8 {
        self.clusters() * self.per_cluster()
    }

    /// The cluster of a microengine, by its index.
    #[must_use]
    pub fn cluster_of(&self, index: u8) -> u8 {
        index / self.per_cluster()
    }

    /// The five-bit number of a microengine, with its cluster in bit 4.
    #[must_use]
    pub fn number_of(&self, index: u8) -> u8 {
        (self.cluster_of(index) << 4) | (index % self.per_cluster())
    }

    /// The index of the microengine with a five-bit number; `None` if there is none.
    #[must_use]
    pub fn index_of(&self, number: u8) -> Option<u8> {
        let (cluster, place) = (number >> 4, number & 15);
        (cluster < self.clusters() && place < self.per_cluster())
            .then(|| cluster * self.per_cluster() + place)
    }

    /// Cycles that a unit waits between a command's arrival and its request for `words` pulled
    /// longwords, so that on an idle chip the pull signal comes `target` cycles after issue.
    #[must_use]
    pub fn pull_lead(&self, target: u64, words: u8) -> u64 {
        target.saturating_sub(self.path(words))
    }

    /// Cycles that a unit works between a command's arrival and its push of `words` longwords, so
    /// that the push signal comes `target` cycles after issue.
    #[must_use]
    pub fn push_lead(&self, target: u64, words: u8) -> u64 {
        target.saturating_sub(self.path(words))
    }

    /// Cycles that a unit works between the pull signal, due `pulled` cycles after issue, and its
    /// push of `words` longwords, so that the push signal comes `target` cycles after issue.
    #[must_use]
    pub fn push_lead_after_pull(&self, target: u64, pulled: u64, words: u8) -> u64 {
        target.saturating_sub(pulled + self.transfer_cycles(words))
    }

    /// Cycles from issue to inlet, for `words` on a bus, and for the register write.
    fn path(&self, words: u8) -> u64 {
        self.issue_to_inlet() + self.transfer_cycles(words)
    }

    /// Cycles for `words` on a bus and for the register write.
    fn transfer_cycles(&self, words: u8) -> u64 {
        u64::from(words) * self.bus_cycle() + self.transfer_latency()
    }
}

/// A chip's table merged with that of the built-in chip that it extends, and the name of the chip
/// at the root of the chain.
fn merged_table(text: &str) -> Result<(Table, Option<String>), ProfileError> {
    let mut table = table_of(text)?;
    if !table.contains_key("extends") {
        return Ok((table, None));
    }
    let name = take_text(&mut table, "", "extends")?;
    let base = Profile::text(&name).ok_or_else(|| ProfileError::Unknown {
        name: name.clone(),
        known: Profile::names().collect::<Vec<_>>().join(", "),
    })?;
    let (mut all, extended) = merged_table(base)?;
    for (key, value) in table {
        match (all.get_mut(&key).and_then(Value::as_table_mut), value) {
            (Some(group), Value::Table(own)) => group.extend(own),
            (_, value) => {
                all.insert(key, value);
            }
        }
    }
    // A chip fits the boards of the chip at the root of its chain.
    Ok((all, extended.or(Some(name))))
}

/// Refuses keys left in a file after everything that belongs there has been taken out.
fn refuse_leftover_keys(table: &Table, in_board: bool) -> Result<(), ProfileError> {
    for (group, value) in table {
        let known = |name: Option<&String>| {
            SCHEMA
                .iter()
                .any(|s| s.group == group && name.is_none_or(|name| s.name == name))
        };
        let Some(rest) = value.as_table().filter(|_| known(None)) else {
            return Err(ProfileError::UnknownKey { key: group.clone() });
        };
        if let Some(name) = rest.keys().next() {
            let key = format!("{group}.{name}");
            if !known(Some(name)) {
                return Err(ProfileError::UnknownKey { key });
            }
            let (here, there) = if in_board {
                ("board", "chip")
            } else {
                ("chip", "board")
            };
            let reason =
                format!("it describes a {there}, not a {here}; move it to the {there}'s file");
            return Err(wrong(&key, &reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
