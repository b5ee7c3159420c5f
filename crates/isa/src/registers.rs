//! Control registers by name and address: one implementation for the three register spaces.

use crate::Evidence;

/// What a register of the microengine points to; a write to it takes effect only [`csr::INDEX_GAP`]
/// instructions later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// A longword of local memory, through `*l$index0` or `*l$index1`.
    LocalMemory(u8),
    /// A transfer register, through `*$index` and `*$$index`.
    Transfer,
    /// The byte position at which `byte_align` cuts.
    Byte,
}

/// A named register.
#[derive(Clone, Copy, Debug)]
pub struct CsrInfo {
    /// Canonical name.
    pub name: &'static str,
    /// Address, as instructions encode it.
    pub address: u16,
    /// What the register points to when an instruction uses it.
    pub indexes: &'static [Index],
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Description, in prose.
    pub doc: &'static str,
    /// Evidence for name and address.
    pub source: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

impl CsrInfo {
    /// Whether `name` is the register's name or an alias, in any letter case.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        std::iter::once(&self.name)
            .chain(self.aliases)
            .any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Defines a register space: its address constants and its table, sorted by address.
macro_rules! space {
    ($(#[$doc:meta])* $space:ident from $file:literal) => {
        $(#[$doc])*
        pub mod $space {
            #[allow(unused_imports, reason = "only local registers point at something")]
            use super::{CsrInfo, Index};
            use crate::Evidence;

            include!(concat!(env!("OUT_DIR"), "/", $file));

            /// Returns all registers, sorted by address.
            #[must_use]
            pub fn all() -> &'static [CsrInfo] {
                &TABLE
            }

            /// Returns the register at an address.
            #[must_use]
            pub fn at(address: u16) -> Option<&'static CsrInfo> {
                let index = TABLE.binary_search_by_key(&address, |csr| csr.address);
                index.ok().map(|index| &TABLE[index])
            }

            /// Returns the address of a register, by name or alias in any letter case.
            #[must_use]
            pub fn by_name(name: &str) -> Option<u16> {
                let found = TABLE.iter().find(|csr| csr.is_named(name));
                found.map(|csr| csr.address)
            }

            /// Returns the canonical name of the register at an address.
            #[must_use]
            pub fn name(address: u16) -> Option<&'static str> {
                at(address).map(|csr| csr.name)
            }
        }
    };
}

space!(
    /// Local CSRs of a microengine, by byte address.
    csr from "csr.rs"
);
space!(
    /// Chip-wide CSRs, by the 16-bit address field of a `cap` word.
    cap_csr from "cap_csr.rs"
);
space!(
    /// Registers and windows of the media switch fabric, by `msf` byte address.
    msf_csr from "msf_csr.rs"
);
