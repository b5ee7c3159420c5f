//! Devices beside SRAM channels: their windows and the names within them.

use std::ops::Range;

use npsim_chip::gpp::boot::Space;
use npsim_chip::units::sram::device::{Attachment, Device};

use super::{NamedMemory, Resolver, hex};
use crate::keys::Spanned;
use crate::registry::Sections;

/// The window that a device's keys request.
#[derive(Clone, Copy, Debug)]
pub struct DeviceWindow<'k> {
    /// Kind of the device, for messages.
    pub kind: &'static str,
    /// The name that sources use.
    pub name: &'k Spanned<String>,
    /// SRAM channel; 1 if not given and there, or else 0.
    pub channel: Option<&'k Spanned<u8>>,
    /// Byte address in the channel; the first free one after the memory if not given.
    pub address: Option<&'k Spanned<u64>>,
    /// Size in bytes; the address is a multiple of it.
    pub bytes: u32,
}

impl Resolver<'_> {
    pub(super) fn devices(&mut self, sections: &Sections) {
        for section in &sections.devices {
            (section.resolve)(self);
        }
    }

    /// Finds the place of a device's window; `None` if it cannot be attached there.
    pub fn window(&mut self, wanted: &DeviceWindow<'_>) -> Option<Attachment> {
        let DeviceWindow {
            kind, name, bytes, ..
        } = *wanted;
        if !self.name(name) {
            return None;
        }
        let channel = match wanted.channel {
            Some(channel) => self.channel(channel)?,
            None => u8::from(self.sram.len() > 1),
        };
        let memory = self.sram[usize::from(channel)].size;
        let others = self.boot.devices.iter().map(|device| device.attachment());
        let ends = others
            .filter(|other| other.channel == channel)
            .map(|other| u64::from(other.address) + u64::from(other.bytes));
        let behind = ends.max().unwrap_or(0).max(memory);
        let first = Attachment::first_address(bytes, behind);
        let address = wanted.address.map_or(first, |address| *address.get_ref());
        let checked = Attachment::check_address(address, bytes, memory);
        let attachment = Attachment {
            name: name.get_ref().clone(),
            channel,
            address: address as u32,
            bytes,
        };
        let mut others = self.boot.devices.iter().map(|device| device.attachment());
        let free = checked.and_then(|()| match others.find(|it| it.overlaps(&attachment)) {
            Some(other) => Err(format!("its window overlaps that of `{}`", other.name)),
            None => Ok(()),
        });
        if let Err(reason) = free {
            let span = wanted.address.map_or(name.span(), Spanned::span);
            self.fail(
                span,
                format!("the {kind} cannot be attached there: {reason}"),
                format!("channel {channel} has {memory:#x} bytes of memory"),
                &format!("leave `address` out to use the first possible address, {first:#x}"),
            );
            return None;
        }
        Some(attachment)
    }

    /// Attaches a device. The parts of its window get names for sources; register names can also be
    /// used where tasks name memory.
    pub fn attach(&mut self, device: Box<dyn Device>, span: &Range<usize>) {
        let (kind, own) = (device.kind(), device.attachment().clone());
        let owner = format!("the {kind} `{}`", own.name);
        let names = device.names();
        for (part, at) in &names {
            self.define(part.clone(), hex(*at), &owner, span.clone());
        }
        self.sram[usize::from(own.channel)].attach(
            format!("{kind} `{}`", own.name),
            own.address.into(),
            own.bytes.into(),
        );
        for (part, _) in names {
            if let Some((address, size)) = device.registers(&part) {
                let named = NamedMemory {
                    space: Space::Sram(own.channel),
                    address,
                    size: size.into(),
                };
                self.memories.insert(part, named);
            }
        }
        self.boot.devices.push(device);
    }
}
