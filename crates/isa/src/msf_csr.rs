//! Registers and windows of the media switch fabric, by `msf` byte address.

use crate::Evidence;
use crate::register_names::{self, CsrInfo};

include!(concat!(env!("OUT_DIR"), "/msf_csr.rs"));

/// Every register, sorted by address.
#[must_use]
pub fn all() -> &'static [CsrInfo] {
    &TABLE
}

/// The address of a register, by name or alias in any letter case.
#[must_use]
pub fn by_name(name: &str) -> Option<u16> {
    register_names::by_name(&TABLE, name)
}

/// The canonical name of the register at an address.
#[must_use]
pub fn name(address: u16) -> Option<&'static str> {
    register_names::name(&TABLE, address)
}
