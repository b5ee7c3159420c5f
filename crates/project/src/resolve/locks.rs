//! Longwords of named memory that are watched as locks.

use npsim_chip::gpp::boot::{LockSetup, Space};

use super::super::file::{LockSection, MemorySection};
use super::{Resolver, suggestion};
use crate::keys::Spanned;

impl Resolver<'_> {
    /// Resolves the longword of every lock. The memory must have been allocated before.
    pub(super) fn locks(&mut self, sections: &[LockSection], memory: &[MemorySection]) {
        for section in sections {
            if let Some(setup) = self.lock(section, memory) {
                self.boot.locks.push(setup);
            }
        }
    }

    fn lock(&mut self, section: &LockSection, memory: &[MemorySection]) -> Option<LockSetup> {
        if !self.name(&section.name) {
            return None;
        }
        let name = section.name.get_ref();
        if self.boot.locks.iter().any(|other| other.name == *name) {
            let message = format!("the lock `{name}` is given twice");
            let help = "give one of them another name";
            self.fail(section.name.span(), message, "the second one", help);
            return None;
        }
        let place = &section.memory;
        let known = memory.iter().map(|memory| memory.name.get_ref().as_str());
        if !known.clone().any(|other| other == place.get_ref()) {
            let message = format!("there is no memory `{}`", place.get_ref());
            let help = suggestion(place.get_ref(), known, "[[memory]]");
            self.fail(place.span(), message, "", &help);
            return None;
        }
        // If the memory has no place, it is itself wrong, which has been reported.
        let named = *self.memories.get(place.get_ref())?;
        if named.space == Space::Dram {
            self.fail(
                place.span(),
                format!("the lock `{name}` cannot be in DRAM"),
                "",
                "atomic operations work on scratch and SRAM; put the memory there",
            );
            return None;
        }
        let offset = section.offset.as_ref().map_or(0, |it| *it.get_ref());
        if !offset.is_multiple_of(4) || offset >= named.size {
            let span = section.offset.as_ref().map_or(place.span(), Spanned::span);
            let message = format!(
                "`{}` has no longword at offset {offset} for a lock",
                place.get_ref()
            );
            let help = format!("use a multiple of 4 below {}", named.size);
            self.fail(span, message, "", &help);
            return None;
        }
        let address = named.address + offset as u32;
        let same = |other: &&LockSetup| (other.space, other.address) == (named.space, address);
        if let Some(other) = self.boot.locks.iter().find(same) {
            let message = format!("the lock `{name}` is the same longword as `{}`", other.name);
            self.fail(section.name.span(), message, "", "remove one of them");
            return None;
        }
        Some(LockSetup {
            name: name.clone(),
            space: named.space,
            address,
        })
    }
}
