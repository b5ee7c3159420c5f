//! Chips as data: every number about the hardware that the model uses, with
//! where it comes from.
//!
//! A profile is a TOML text with one table per unit. Each parameter is
//! `name = { value = 60, unit = "ME cycles", source = "..." }` or has, instead
//! of a source, `mark = "likely" | "assumed" | "derived" | "calibrated"` and a
//! `basis`. Latencies are targets from the issue of the instruction to the
//! signal on an idle chip; the units take the fixed parts of the way off.

mod parse;
mod schema;

use std::fmt;

use toml::Table;

use crate::Cycle;
use parse::{in_range, take_errata, take_number, take_parameter, take_text, wrong};
pub use schema::{Schema, Values};

/// Profiles that come with the program: name and text.
const BUILT_IN: &[(&str, &str)] = &[("ixp2400", include_str!("../profiles/ixp2400.toml"))];

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
    /// The text is not TOML.
    #[error("the chip profile is not valid TOML: {0}")]
    Syntax(String),
    /// A parameter is missing.
    #[error("the chip profile lacks `{key}` ({unit}): {meaning}")]
    Missing {
        /// `group.name`
        key: String,
        /// The unit it must have.
        unit: &'static str,
        /// What it means.
        meaning: String,
    },
    /// A parameter that the model does not know.
    #[error(
        "the chip profile has `{key}`, which this model does not know; remove it or correct its name"
    )]
    Surplus {
        /// `group.name`
        key: String,
    },
    /// A parameter is there but wrong.
    #[error("the chip profile's `{key}` is wrong: {reason}")]
    Wrong {
        /// `group.name`
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

/// How well a parameter is founded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Foundation {
    /// Read in a primary source.
    Source,
    /// Two weak sources agree.
    Likely,
    /// Computed from other figures.
    Derived,
    /// Fitted to one published figure.
    Calibrated,
    /// One recollection or a modelling choice.
    Assumed,
}

impl Foundation {
    /// All of them, best first.
    pub const ALL: [Self; 5] = [
        Self::Source,
        Self::Likely,
        Self::Derived,
        Self::Calibrated,
        Self::Assumed,
    ];

    /// The word used in profiles.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Likely => "likely",
            Self::Derived => "derived",
            Self::Calibrated => "calibrated",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Foundation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One parameter as the profile gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The unit of the chip it belongs to.
    pub group: &'static str,
    /// Its name in the group.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// The unit of measure.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How well it is founded.
    pub foundation: Foundation,
    /// The source, or the reason for the mark.
    pub basis: String,
}

/// A known fault of the silicon, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erratum {
    /// The vendor's number.
    pub number: u32,
    /// What goes wrong.
    pub effect: String,
    /// Where it is documented.
    pub source: String,
    /// RBUF elements it concerns, by element size 64, 128, 256 bytes.
    pub elements: [Vec<u8>; 3],
}

/// A chip as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    name: String,
    title: String,
    product_id: u32,
    pub(crate) values: Values,
    parameters: Vec<Parameter>,
    errata: Vec<Erratum>,
}

impl Profile {
    /// What stands for a chip's profile between reading the chip's state and
    /// giving it its profile back.
    pub(crate) fn absent() -> Self {
        Self {
            name: String::new(),
            title: String::new(),
            product_id: 0,
            values: Values::new(&[]),
            parameters: Vec::new(),
            errata: Vec::new(),
        }
    }

    /// Names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The text of a built-in profile.
    #[must_use]
    pub fn text(name: &str) -> Option<&'static str> {
        BUILT_IN
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| *text)
    }

    /// A built-in profile.
    ///
    /// # Errors
    /// There is none of that name, or it is incomplete.
    pub fn load(name: &str) -> Result<Self, ProfileError> {
        let text = Self::text(name).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            known: Self::names().collect::<Vec<_>>().join(", "),
        })?;
        Self::from_toml(text)
    }

    /// A profile from its text.
    ///
    /// # Errors
    /// The text is no TOML, a parameter is missing, unknown, out of range, has
    /// another unit than the model expects, or no source or mark.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        let mut table: Table = text
            .parse()
            .map_err(|e: toml::de::Error| ProfileError::Syntax(e.to_string()))?;
        let name = take_text(&mut table, "", "name")?;
        let title = take_text(&mut table, "", "title")?;
        let product_id = take_number(&mut table, "", "product_id")?;
        let product_id =
            u32::try_from(product_id).map_err(|_| wrong("product_id", "it must fit in 32 bits"))?;
        let errata = take_errata(&mut table)?;
        let mut parameters = Vec::with_capacity(schema::SCHEMA.len());
        for schema in schema::SCHEMA {
            parameters.push(take_parameter(&mut table, schema)?);
        }
        for (group, value) in &table {
            match value.as_table() {
                Some(rest) if schema::SCHEMA.iter().any(|s| s.group == group) => {
                    if let Some(name) = rest.keys().next() {
                        return Err(ProfileError::Surplus {
                            key: format!("{group}.{name}"),
                        });
                    }
                }
                _ => return Err(ProfileError::Surplus { key: group.clone() }),
            }
        }
        let values = Values::new(&parameters);
        let profile = Self {
            name,
            title,
            product_id,
            values,
            parameters,
            errata,
        };
        profile.check()?;
        Ok(profile)
    }

    /// The profile's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line that says what chip it is.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the `PRODUCT_ID` register reads.
    #[must_use]
    pub fn product_id(&self) -> u32 {
        self.product_id
    }

    /// All parameters in the order of the schema.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter()
    }

    /// How many parameters have each foundation, best first.
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

    /// A known fault by its number.
    #[must_use]
    pub fn erratum(&self, number: u32) -> Option<&Erratum> {
        self.errata.iter().find(|e| e.number == number)
    }

    /// The same profile with one parameter changed, for sweeps and tests. The
    /// value is marked as assumed.
    ///
    /// # Errors
    /// There is no such parameter, or the value is out of range.
    pub fn with(&self, group: &str, name: &str, value: u64) -> Result<Self, ProfileError> {
        let mut profile = self.clone();
        let key = format!("{group}.{name}");
        let Some(at) = self
            .parameters
            .iter()
            .position(|p| p.group == group && p.name == name)
        else {
            return Err(ProfileError::Surplus { key });
        };
        in_range(&schema::SCHEMA[at], value)?;
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
        self.values.clusters * self.values.per_cluster
    }

    /// Cluster of a microengine, by its index.
    #[must_use]
    pub fn cluster_of(&self, index: u8) -> u8 {
        index / self.values.per_cluster
    }

    /// The five-bit number of a microengine: its cluster in bit 4.
    #[must_use]
    pub fn number_of(&self, index: u8) -> u8 {
        (self.cluster_of(index) << 4) | (index % self.values.per_cluster)
    }

    /// The index of the microengine with a five-bit number.
    #[must_use]
    pub fn index_of(&self, number: u8) -> Option<u8> {
        let (cluster, place) = (number >> 4, number & 15);
        (cluster < self.values.clusters && place < self.values.per_cluster)
            .then(|| cluster * self.values.per_cluster + place)
    }

    /// How long a unit waits between a command's arrival and its request for
    /// `words` pulled longwords so that the pull signal of an idle chip comes
    /// `target` cycles after issue.
    #[must_use]
    pub fn pull_lead(&self, target: Cycle, words: u8) -> Cycle {
        target.saturating_sub(self.path(words))
    }

    /// How long a unit works between a command's arrival and its push of
    /// `words` longwords so that the push signal comes `target` cycles after
    /// issue.
    #[must_use]
    pub fn push_lead(&self, target: Cycle, words: u8) -> Cycle {
        target.saturating_sub(self.path(words))
    }

    /// How long a unit works between the pull signal, due `pulled` cycles after
    /// issue, and its push of `words` longwords so that the push signal comes
    /// `target` cycles after issue.
    #[must_use]
    pub fn push_lead_after_pull(&self, target: Cycle, pulled: Cycle, words: u8) -> Cycle {
        target.saturating_sub(pulled + self.carriage(words))
    }

    /// Issue to inlet, `words` on a bus, and the register write.
    fn path(&self, words: u8) -> Cycle {
        self.values.issue_to_inlet + self.carriage(words)
    }

    /// `words` on a bus and the register write.
    fn carriage(&self, words: u8) -> Cycle {
        Cycle::from(words) * self.values.bus_cycle + self.values.transfer_latency
    }

    /// What no single range can say: latencies must leave room for the way.
    fn check(&self) -> Result<(), ProfileError> {
        let v = &self.values;
        let dram_access = v.dram_row_to_column + v.dram_column_to_data + v.dram_burst_cycles;
        let array = (v.hash_array_48 + 2 * v.hash_buffer_48_64) * v.bus_cycle;
        let media = 8 * v.bus_cycle;
        let least = [
            ("scratch.read", v.scratch_read, self.path(1)),
            ("scratch.write", v.scratch_write, self.path(1)),
            (
                "scratch.atomic",
                v.scratch_atomic,
                v.scratch_write + self.carriage(1),
            ),
            ("scratch.ring_get", v.scratch_ring_get, self.path(1)),
            ("scratch.ring_put", v.scratch_ring_put, self.path(1)),
            ("sram.read", v.sram_read, self.path(1)),
            ("sram.write", v.sram_write, self.path(1)),
            (
                "sram.atomic",
                v.sram_atomic,
                v.sram_write + self.carriage(1),
            ),
            ("sram.dequeue", v.sram_dequeue, self.path(1)),
            ("sram.ring_get", v.sram_ring_get, self.path(1)),
            (
                "sram.ring_put",
                v.sram_ring_put,
                v.sram_write + self.carriage(1),
            ),
            ("sram.csr", v.sram_csr, self.path(1)),
            ("dram.read", v.dram_read, self.path(2) + dram_access),
            ("dram.write", v.dram_write, self.path(2)),
            ("dram.rbuf_rd", v.dram_rbuf_rd, self.path(0) + media),
            (
                "dram.tbuf_wr",
                v.dram_tbuf_wr,
                self.path(0) + dram_access + media,
            ),
            (
                "hash.one",
                v.hash_one,
                self.path(2) + array + self.carriage(2),
            ),
            ("msf.read", v.msf_read, self.path(1)),
            ("msf.write", v.msf_write, self.path(1)),
            ("cap.read", v.cap_read, self.path(1)),
            ("cap.write", v.cap_write, self.path(1)),
        ];
        for (key, value, least) in least {
            if value < least {
                return Err(wrong(
                    key,
                    &format!("{value} ME cycles are fewer than the {least} that the way takes"),
                ));
            }
        }
        if !v.dram_channel_interleave.is_power_of_two() {
            return Err(wrong(
                "dram.channel_interleave",
                "it must be a power of two",
            ));
        }
        if !v.dram_bank_interleave.is_power_of_two() {
            return Err(wrong("dram.bank_interleave", "it must be a power of two"));
        }
        for (key, bytes) in [
            ("dram.channel_bytes", v.dram_channel_bytes),
            ("sram.channel_bytes", v.sram_channel_bytes),
        ] {
            if !bytes.is_multiple_of(4096) {
                return Err(wrong(key, "it must be a multiple of 4096"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
