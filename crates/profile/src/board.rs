//! Boards as data: the surroundings of a chip. A board names its chip and specifies which memories
//! are populated, the clock of the media interface, the sizes of the FIFOs beside it, and the
//! ports. A chip profile and a board together make a [`Profile`](crate::Profile).

use toml::{Table, Value};

use crate::built_in::{BOARDS, BuiltIn, table_of};
use crate::error::ProfileError;
use crate::named::{Named, named};
use crate::parameter::{Domain, Foundation};
use crate::parse::{take_rated, take_text, wrong};

/// The line rate of a port.
const RATE: Domain = Domain::Number {
    unit: "Mbit/s",
    least: 1,
    most: 100_000,
};

named! {
    /// The kinds of media bus that are modelled.
    pub enum MediaBus {
        /// SPI-3 (POS-PHY level 3): 32 bits, one transfer per clock, an address cycle before each
        /// mpacket. Used by the IXP2400.
        Spi3 = "spi-3",
        /// SPI-4.2: 16 bits, two transfers per clock, a control word before each burst. Used by the
        /// IXP2800.
        Spi4 = "spi-4",
    }
}

impl MediaBus {
    /// Number of transfers on the bus per clock.
    #[must_use]
    pub const fn transfers_per_clock(self) -> u64 {
        match self {
            Self::Spi3 => 1,
            Self::Spi4 => 2,
        }
    }

    pub(crate) fn take(table: &mut Table) -> Result<Self, ProfileError> {
        let text = take_text(table, "", "media")?;
        Self::from_name(&text).ok_or_else(|| {
            let known = Self::NAMES.join(" and ");
            let reason = format!("`{text}` is not a media bus; there are {known}");
            wrong("media", &reason)
        })
    }
}

/// A port of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPort {
    /// The name on the board.
    pub name: String,
    /// Line rate, in bits per second.
    pub bits_per_second: u64,
    /// How well the rate is founded.
    pub foundation: Foundation,
    /// The source, or the reason for the provenance.
    pub basis: String,
}

/// A board, without the parameters that it adds to the chip's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The name.
    pub name: String,
    /// A one-line description.
    pub title: String,
    /// The chip on it.
    pub chip: String,
    /// The bus between chip and ports.
    pub media: MediaBus,
    /// The ports, in numerical order; empty if the project defines them.
    pub ports: Vec<BoardPort>,
}

impl Board {
    /// Names of the built-in boards.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BOARDS.iter().map(|board| board.name)
    }

    /// The text of a built-in board.
    #[must_use]
    pub fn text(name: &str) -> Option<&'static str> {
        BuiltIn::named(&BOARDS, name).map(|board| board.text)
    }

    /// Takes the board's own keys out of its table, leaving the parameters.
    ///
    /// # Errors
    /// Returns an error if a key is missing or wrong.
    pub(crate) fn take(table: &mut Table) -> Result<Self, ProfileError> {
        let name = take_text(table, "", "name")?;
        Ok(Self {
            name,
            title: take_text(table, "", "title")?,
            chip: take_text(table, "", "chip")?,
            media: MediaBus::take(table)?,
            ports: take_ports(table)?,
        })
    }

    /// The name of the chip that a board's text refers to.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML or names no chip.
    pub(crate) fn chip_of(text: &str) -> Result<String, ProfileError> {
        let mut table = table_of(text)?;
        take_text(&mut table, "", "chip")
    }
}

fn take_ports(table: &mut Table) -> Result<Vec<BoardPort>, ProfileError> {
    let Some(list) = table.remove("port") else {
        return Ok(Vec::new());
    };
    let Value::Array(list) = list else {
        return Err(wrong("port", "write it as [[port]] tables"));
    };
    let mut ports = Vec::with_capacity(list.len());
    for (n, port) in list.into_iter().enumerate() {
        let key = format!("port {n}");
        let Value::Table(mut port) = port else {
            return Err(wrong("port", "write it as [[port]] tables"));
        };
        let name = take_text(&mut port, &key, "name")?;
        let rate = port.remove("rate").ok_or_else(|| ProfileError::Missing {
            key: format!("{key}.rate"),
            what: "Mbit/s".to_owned(),
            meaning: "Line rate.".to_owned(),
        })?;
        let rate = take_rated(rate, &format!("{key}.rate"), &RATE)?;
        if let Some(surplus) = port.keys().next() {
            return Err(ProfileError::UnknownKey {
                key: format!("{key}.{surplus}"),
            });
        }
        ports.push(BoardPort {
            name,
            bits_per_second: rate.value.number().unwrap_or(0) * 1_000_000,
            foundation: rate.foundation,
            basis: rate.basis,
        });
    }
    Ok(ports)
}
