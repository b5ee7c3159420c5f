//! The architecture version that a file was compiled for, from its build attributes.
//!
//! Addenda to the ABI for the Arm Architecture, "Build attributes": the tags, and which of them have strings.

use object::read::elf::{AttributeReader, ElfFile32, SectionHeader};
use object::{Endianness, elf};

use crate::elf::ElfError;

/// `Tag_File`: attributes of the whole file.
const WHOLE_FILE: u64 = 1;
/// `Tag_CPU_arch`.
const ARCHITECTURE: u64 = 6;
/// Its values, by name.
const NAMES: [&str; 23] = [
    "an ARM before ARMv4",
    "ARMv4",
    "ARMv4T",
    "ARMv5T",
    "ARMv5TE",
    "ARMv5TEJ",
    "ARMv6",
    "ARMv6KZ",
    "ARMv6T2",
    "ARMv6K",
    "ARMv7",
    "ARMv6-M",
    "ARMv6S-M",
    "ARMv7E-M",
    "ARMv8-A",
    "ARMv8-R",
    "ARMv8-M.base",
    "ARMv8-M.main",
    "ARMv8.1-A",
    "ARMv8.2-A",
    "ARMv8.3-A",
    "ARMv8.1-M.main",
    "ARMv9-A",
];
/// `ARMv5TEJ`: the XScale's ARMv5TE plus Jazelle (`BXJ`), which compilers do not emit.
const NEWEST: u64 = 5;

/// Rejects code for an architecture newer than the XScale's.
pub(crate) fn check_architecture(
    file: &ElfFile32<'_, Endianness>,
    bytes: &[u8],
) -> Result<(), ElfError> {
    match architecture(file, bytes) {
        Some(newer) if newer > NEWEST => {
            let name = NAMES.get(newer as usize).copied();
            Err(ElfError::Architecture(name.unwrap_or("a newer ARM")))
        }
        _ => Ok(()),
    }
}

/// The value of the tag; `None` if the file does not have it, or not in readable form.
fn architecture(file: &ElfFile32<'_, Endianness>, bytes: &[u8]) -> Option<u64> {
    let endian = file.endian();
    let mut sections = file.elf_section_table().iter();
    let section = sections.find(|it| it.sh_type(endian) == elf::SHT_ARM_ATTRIBUTES)?;
    let mut vendors = section.attributes(endian, bytes).ok()?.subsections().ok()?;
    while let Some(vendor) = vendors.next().ok()? {
        if vendor.vendor() != b"aeabi" {
            continue;
        }
        let mut scopes = vendor.subsubsections();
        while let Some(scope) = scopes.next().ok()? {
            if u64::from(scope.tag().0) == WHOLE_FILE
                && let Some(found) = find(scope.attributes())
            {
                return Some(found);
            }
        }
    }
    None
}

fn find(mut attributes: AttributeReader<'_>) -> Option<u64> {
    while let Some(tag) = attributes.read_tag().ok()? {
        match tag {
            ARCHITECTURE => return attributes.read_integer().ok(),
            // Names of processors are strings. Tag 32 has an integer and a string; above it, odd tags have strings.
            4 | 5 => {
                attributes.read_string().ok()?;
            }
            32 => {
                attributes.read_integer().ok()?;
                attributes.read_string().ok()?;
            }
            _ if tag > 32 && tag % 2 == 1 => {
                attributes.read_string().ok()?;
            }
            _ => {
                attributes.read_integer().ok()?;
            }
        }
    }
    None
}
