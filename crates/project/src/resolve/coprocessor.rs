//! The feedback coprocessor: its window and the names of its parts.

use npsim_chip::gpp::boot::Space;
use npsim_chip::units::coprocessor::{CoprocessorSetup, WINDOW_BYTES};

use super::super::file::CoprocessorSection;
use super::{NamedMemory, Resolver, hex};

impl Resolver<'_> {
    /// Attaches the coprocessor to its channel.
    pub(super) fn coprocessor(&mut self, section: Option<&CoprocessorSection>) {
        let Some(section) = section else { return };
        if !self.name(&section.name) {
            return;
        }
        let channel = match &section.channel {
            Some(channel) => match self.channel(channel) {
                Some(channel) => channel,
                None => return,
            },
            None => u8::from(self.sram.len() > 1),
        };
        let memory = self.sram[usize::from(channel)].size;
        let first = CoprocessorSetup::first_address(memory);
        let address = section.address.as_ref().map_or(first, |a| *a.get_ref());
        if let Err(reason) = CoprocessorSetup::check_address(address, memory) {
            let span = (section.address.as_ref()).map_or(section.name.span(), toml::Spanned::span);
            self.fail(
                span,
                format!("the coprocessor cannot be attached there: {reason}"),
                format!("channel {channel} has {memory:#x} bytes of memory"),
                &format!("leave `address` out to have the first that is possible, {first:#x}"),
            );
            return;
        }
        let name = section.name.get_ref();
        let owner = format!("the coprocessor `{name}`");
        let setup = CoprocessorSetup {
            name: name.clone(),
            channel,
            address: address as u32,
        };
        for (part, at) in setup.names() {
            self.define(part, hex(at), &owner, section.name.span());
        }
        self.sram[usize::from(channel)].attach(
            format!("coprocessor `{name}`"),
            address,
            u64::from(WINDOW_BYTES),
        );
        for (part, _) in setup.names() {
            if let Some((address, size)) = setup.registers(&part) {
                let named = NamedMemory {
                    space: Space::Sram(channel),
                    address,
                    size: size.into(),
                };
                self.memories.insert(part, named);
            }
        }
        self.boot.coprocessor = Some(setup);
    }
}
