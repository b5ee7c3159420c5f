//! A number that stands for everything in a profile that a run depends on.

use super::Profile;

/// FNV-1a of 64 bits: its start value and its factor.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x0000_0100_0000_01b3;

impl Profile {
    /// Sixteen hexadecimal digits made from all names, values, marks, errata and
    /// ports of chip and board. Two runs with the same fingerprint ran on the
    /// same numbers; the wording of a source does not count.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = START;
        let mut add = |text: &str| {
            for byte in text.bytes().chain([b'\n']) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(FACTOR);
            }
        };
        let board = self.board();
        add(&format!("{} {:08x}", self.name, self.product_id));
        add(&format!("{} {}", board.name, board.media.name()));
        for parameter in &self.parameters {
            add(&format!(
                "{}.{} {} {} {}",
                parameter.group,
                parameter.name,
                parameter.value,
                parameter.unit,
                parameter.foundation
            ));
        }
        for port in &board.ports {
            add(&format!("port {} {}", port.name, port.bits_per_second));
        }
        for erratum in &self.errata {
            add(&format!(
                "erratum {} {:?}",
                erratum.number, erratum.elements
            ));
        }
        format!("{hash:016x}")
    }
}
