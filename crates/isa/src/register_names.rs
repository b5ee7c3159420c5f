//! Lookup of register names, shared by the CSR modules.

use crate::Evidence;

/// A named register.
#[derive(Clone, Copy, Debug)]
pub struct CsrInfo {
    /// Canonical name.
    pub name: &'static str,
    /// Address as the instruction gives it.
    pub address: u16,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Meaning in words.
    pub doc: &'static str,
    /// What supports name and address.
    pub source: &'static [Evidence],
    /// What is not confirmed.
    pub uncertain: Option<&'static str>,
}

pub(crate) fn by_name(table: &[CsrInfo], name: &str) -> Option<u16> {
    table
        .iter()
        .find(|csr| {
            csr.name.eq_ignore_ascii_case(name)
                || csr.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
        })
        .map(|csr| csr.address)
}

/// `table` is sorted by address.
pub(crate) fn name(table: &[CsrInfo], address: u16) -> Option<&'static str> {
    table
        .binary_search_by_key(&address, |csr| csr.address)
        .ok()
        .map(|index| table[index].name)
}
