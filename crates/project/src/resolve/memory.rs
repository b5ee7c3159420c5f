//! Named memory and counters: their addresses, and the errors if there is no space.

use std::ops::Range;

use npsim_chip::gpp::boot::{CounterSetup, MemoryImage, Space as BootSpace};
use npsim_image::{MemorySpace, MemorySymbol};

use super::super::file::{CounterSection, MemorySection};
use super::super::layout::{MemoryLayout, PlacementError};
use super::{NamedMemory, Resolver, hex};
use crate::keys::Spanned;

impl Resolver<'_> {
    /// Allocates memory whose address the user gives.
    pub(super) fn fixed_memory(&mut self, sections: &[MemorySection]) {
        for section in sections {
            let Some(address) = &section.address else {
                continue;
            };
            let Some((space, size, align)) = self.memory_shape(section) else {
                continue;
            };
            if !address.get_ref().is_multiple_of(align) {
                self.fail(
                    address.span(),
                    format!("the address is not a multiple of {align}"),
                    "",
                    "",
                );
                continue;
            }
            let owner = format!("memory `{}`", section.name.get_ref());
            match self.space(space).reserve(&owner, *address.get_ref(), size) {
                Ok(()) => self.memory_image(section, space, *address.get_ref(), size),
                Err(reason) => self.no_place(
                    address.span(),
                    &owner,
                    size,
                    section.space.get_ref(),
                    &reason,
                ),
            }
        }
    }

    /// Allocates the remaining memory where there is space.
    pub(super) fn fitted_memory(&mut self, sections: &[MemorySection]) {
        for section in sections.iter().filter(|s| s.address.is_none()) {
            let Some((space, size, align)) = self.memory_shape(section) else {
                continue;
            };
            let owner = format!("memory `{}`", section.name.get_ref());
            match self.space(space).place(&owner, 0, size, align) {
                Ok(address) => self.memory_image(section, space, address, size),
                Err(reason) => self.no_place(
                    section.name.span(),
                    &owner,
                    size,
                    section.space.get_ref(),
                    &reason,
                ),
            }
        }
    }

    fn memory_shape(&mut self, section: &MemorySection) -> Option<(BootSpace, u64, u64)> {
        if !self.name(&section.name) {
            return None;
        }
        let space = match section.space.get_ref().as_str() {
            "scratch" => Some(BootSpace::Scratch),
            "dram" => Some(BootSpace::Dram),
            other => other
                .strip_prefix("sram")
                .and_then(|n| n.parse::<u8>().ok())
                .filter(|n| usize::from(*n) < self.sram.len())
                .map(BootSpace::Sram),
        };
        let Some(space) = space else {
            let names: Vec<_> = std::iter::once("scratch".to_string())
                .chain(self.sram.iter().map(|s| s.name.clone()))
                .chain(["dram".into()])
                .collect();
            let message = format!("there is no memory space `{}`", section.space.get_ref());
            self.fail(
                section.space.span(),
                message,
                "",
                &format!("use one of {}", names.join(", ")),
            );
            return None;
        };
        let unit = if space == BootSpace::Dram { 8 } else { 4 };
        let words = section.words.len() as u64 * 4;
        let size = section.size.as_ref().map_or(words, |s| *s.get_ref());
        if size == 0 || !size.is_multiple_of(4) || size < words || size > u64::from(u32::MAX) {
            let span = section
                .size
                .as_ref()
                .map_or(section.name.span(), Spanned::span);
            let message = format!(
                "memory `{}` cannot have {size} bytes",
                section.name.get_ref()
            );
            let help = match (section.words.len(), &section.size) {
                (0, None) => "give `size`, a multiple of 4, or `words`".to_owned(),
                (0, Some(_)) => "give a multiple of 4".to_owned(),
                (words, _) => format!("give a multiple of 4 that holds the {words} `words`"),
            };
            self.fail(span, message, "", &help);
            return None;
        }
        let align = section.align.as_ref().map_or(unit, |a| *a.get_ref());
        if let Some(typed) = &section.align
            && (!align.is_power_of_two() || align < unit)
        {
            self.fail(
                typed.span(),
                format!("an alignment of {align} bytes is not possible"),
                "",
                &format!("use a power of two from {unit} on"),
            );
            return None;
        }
        Some((space, size, align))
    }

    fn space(&mut self, space: BootSpace) -> &mut MemoryLayout {
        match space {
            BootSpace::Scratch => &mut self.scratch,
            BootSpace::Sram(channel) => &mut self.sram[usize::from(channel)],
            BootSpace::Dram => &mut self.dram,
        }
    }

    fn memory_image(&mut self, section: &MemorySection, space: BootSpace, address: u64, size: u64) {
        let name = section.name.get_ref();
        let owner = format!("memory `{name}`");
        let channel = if let BootSpace::Sram(channel) = space {
            u32::from(channel) << 30
        } else {
            0
        };
        self.define(
            name.clone(),
            hex(channel | address as u32),
            &owner,
            section.name.span(),
        );
        self.define(format!("{name}_SIZE"), size, &owner, section.name.span());
        let named = NamedMemory {
            space,
            address: address as u32,
            size,
        };
        self.memories.insert(name.clone(), named);
        let mut words = section.words.clone();
        // Memory is zero at the start only where the loader has written it.
        words.resize((size / 4) as usize, 0);
        self.boot.memory.push(MemoryImage {
            space,
            address: address as u32,
            words,
        });
    }

    /// Returns a memory in the form that the assembler uses.
    pub(super) fn named(&self, name: &str) -> Option<MemorySymbol> {
        let found = self.memories.get(name)?;
        let (space, channel) = match found.space {
            BootSpace::Scratch => (MemorySpace::Scratch, 0),
            BootSpace::Sram(channel) => (MemorySpace::Sram, u32::from(channel) << 30),
            BootSpace::Dram => (MemorySpace::Dram, 0),
        };
        Some(MemorySymbol {
            name: name.to_owned(),
            space,
            address: channel | found.address,
            size: found.size,
        })
    }

    pub(super) fn counters(&mut self, sections: &[CounterSection]) {
        for section in sections {
            if !self.name(&section.name) {
                continue;
            }
            let name = section.name.get_ref();
            let owner = format!("counter `{name}`");
            match self.scratch.place(&owner, 0, 4, 4) {
                Ok(address) => {
                    self.define(
                        name.clone(),
                        hex(address as u32),
                        &owner,
                        section.name.span(),
                    );
                    let (drop, text) = (section.drop, section.text.clone());
                    self.boot.counters.push(CounterSetup {
                        name: name.clone(),
                        address: address as u32,
                        drop,
                        text,
                    });
                }
                Err(reason) => self.no_place(section.name.span(), &owner, 4, "scratch", &reason),
            }
        }
    }

    pub(super) fn no_place(
        &mut self,
        span: Range<usize>,
        what: &str,
        size: u64,
        space: &str,
        reason: &PlacementError,
    ) {
        match reason {
            PlacementError::Overlap(other) => {
                let label = format!(
                    "bytes {:#x} to {:#x} of {space} belong to {}",
                    other.start,
                    other.end - 1,
                    other.name
                );
                self.fail(
                    span,
                    format!("{what} overlaps {}", other.name),
                    label,
                    "give another `address`, or leave `address` out to let npsim choose",
                );
            }
            PlacementError::Outside => {
                let bytes = self.size_of(space);
                self.fail(
                    span,
                    format!("{what} extends beyond the end of {space}"),
                    format!("{space} has {bytes:#x} bytes"),
                    "",
                );
            }
            PlacementError::Full(largest) => {
                let message = format!("no room for {what} in {space}");
                self.fail(
                    span,
                    message,
                    format!("it needs {size} bytes in one piece, {largest} are left"),
                    "",
                );
            }
        }
    }

    fn size_of(&self, space: &str) -> u64 {
        let all = std::iter::once(&self.scratch)
            .chain(&self.sram)
            .chain([&self.dram]);
        all.into_iter()
            .find(|s| s.name == space)
            .map_or(0, |s| s.size)
    }
}
