//! A fingerprint of everything in a profile that affects a run.

use npsim_isa::Generation;

use super::Profile;
use crate::board::MediaBus;
use crate::parameter::{Domain, Parameter, ParameterValue, Schema};
use crate::schema::SCHEMA;

/// 64-bit FNV-1a: its start value and its factor.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x0000_0100_0000_01b3;

impl Profile {
    /// Sixteen hexadecimal digits derived from all names, values, provenances, errata and ports of
    /// chip and board, and from the generation of the microengines. Two runs with the same
    /// fingerprint used the same numbers; the wording of a source does not count.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let board = self.board();
        let mut lines = vec![self.identity()];
        lines.push(format!("{} {}", board.name, board.media.name()));
        lines.extend(self.parameter_lines(|_| true));
        for port in &board.ports {
            lines.push(format!("port {} {}", port.name, port.bits_per_second));
        }
        lines.extend(self.errata_lines());
        digest(&lines)
    }

    /// A fingerprint of the chip alone, without the board, its memories and its ports. The media
    /// bus is part of the chip; SPI-3 is omitted, like the default generation.
    #[must_use]
    pub fn chip_fingerprint(&self) -> String {
        let mut lines = vec![self.identity()];
        let media = self.media();
        if media != MediaBus::Spi3 {
            lines.push(format!("media {}", media.name()));
        }
        lines.extend(self.parameter_lines(|schema| !schema.is_board_parameter()));
        lines.extend(self.errata_lines());
        digest(&lines)
    }

    /// A line for each parameter. A policy with its first name, the model's behaviour before there
    /// was a choice, has none: chips keep their fingerprints when a policy becomes selectable.
    fn parameter_lines(&self, wanted: impl Fn(&Schema) -> bool) -> impl Iterator<Item = String> {
        let all = self.parameters.iter().zip(&SCHEMA);
        all.filter(move |(parameter, schema)| {
            let is_first = matches!(
                (schema.domain, parameter.value),
                (Domain::Name([first, ..]), ParameterValue::Name(name)) if *first == name
            );
            wanted(schema) && !is_first
        })
        .map(|(parameter, _)| line(parameter))
    }

    /// The identity of the chip. The default generation is omitted, so that chips keep the
    /// fingerprints from before profiles named one.
    fn identity(&self) -> String {
        let chip = format!("{} {:08x}", self.name, self.product_id);
        if self.generation == Generation::default() {
            chip
        } else {
            format!("{chip} {}", self.generation)
        }
    }

    fn errata_lines(&self) -> impl Iterator<Item = String> {
        self.errata
            .iter()
            .map(|erratum| format!("erratum {} {:?}", erratum.number, erratum.elements))
    }
}

fn line(parameter: &Parameter) -> String {
    format!(
        "{}.{} {} {} {}",
        parameter.group, parameter.name, parameter.value, parameter.unit, parameter.foundation
    )
}

fn digest(lines: &[String]) -> String {
    let bytes = lines.iter().flat_map(|line| line.bytes().chain([b'\n']));
    let hash = bytes.fold(START, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FACTOR)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn chip_fingerprint_is_independent_of_the_board() {
        let plain = Profile::load("ixp2400").unwrap();
        let board = crate::Board::text("enp-2611").unwrap();
        let mounted = Profile::from_board_toml(board).unwrap();
        assert_eq!(plain.chip_fingerprint(), mounted.chip_fingerprint());
        assert_ne!(plain.fingerprint(), mounted.fingerprint());
        let slower = plain.with("sram", "read", 120).unwrap();
        assert_ne!(plain.chip_fingerprint(), slower.chip_fingerprint());
    }

    #[test]
    fn fingerprints_differ_by_generation() {
        let newer = Profile::text("ixp2400").unwrap();
        let older = newer.replace("generation = \"MEv2\"", "generation = \"MEv1\"");
        let [newer, older] = [newer, &older].map(|text| Profile::from_toml(text).unwrap());
        assert_ne!(newer.generation(), older.generation());
        assert_ne!(newer.chip_fingerprint(), older.chip_fingerprint());
        assert_ne!(newer.fingerprint(), older.fingerprint());
    }

    #[test]
    fn fingerprints_differ_by_media_bus() {
        let on = |bus: &str| {
            let texts = [
                Profile::text("ixp2800"),
                crate::Board::text("ixp2800-plain"),
            ];
            let [chip, board] = texts.map(|text| {
                let from = "media = \"spi-4\"";
                assert!(text.unwrap().contains(from));
                text.unwrap().replace(from, &format!("media = \"{bus}\""))
            });
            Profile::from_texts(&chip, &board).unwrap()
        };
        let (one, other) = (on("spi-3"), on("spi-4"));
        assert_ne!(one.media(), other.media());
        assert_ne!(one.chip_fingerprint(), other.chip_fingerprint());
        assert_ne!(one.fingerprint(), other.fingerprint());
    }
}
