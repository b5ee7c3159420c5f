//! Rings, queues, buffers, named memory and counters: their addresses.

use std::ops::Range;

use npsim_chip::gpp::boot::{BufferSetup, CounterSetup, MemoryImage, QueueSetup, RingSetup, RingStatus, Space as BootSpace};
use toml::Spanned;

use super::super::file::{BuffersSection, CounterSection, MemorySection, QueueSection, RingSection, StatusKind};
use super::super::layout::{NoPlace, Space};
use super::{Resolver, hex, suggestion};

/// Longwords of a buffer descriptor.
const DESCRIPTOR_LONGWORDS: u32 = 4;
/// Bytes of a queue descriptor.
const QUEUE_DESCRIPTOR: u64 = 16;
/// Rings whose status an instruction can branch on.
const STATUS_RINGS: u8 = 12;
/// Longword addresses in descriptors and queue commands have 24 bits.
const ADDRESS_BITS: u32 = 24;

impl Resolver<'_> {
    pub(super) fn rings(&mut self, sections: &[RingSection]) {
        let mut taken = vec![None; usize::from(self.capacity.scratch_rings)];
        for section in sections {
            if let Some(number) = &section.number {
                let name = section.name.get_ref();
                match taken.get_mut(usize::from(*number.get_ref())) {
                    None => {
                        let message = format!("there is no scratch ring {}", number.get_ref());
                        self.fail(number.span(), message, format!("this chip has 0 to {}", taken.len() - 1), "");
                    }
                    Some(Some(other)) => {
                        let message = format!("scratch ring {} is used twice, by `{other}` and `{name}`", number.get_ref());
                        self.fail(number.span(), message, "", "leave `number` out to get the next free one");
                    }
                    Some(free) => *free = Some(name.clone()),
                }
            }
        }
        for section in sections {
            let name = section.name.get_ref();
            if !self.name(&section.name) {
                continue;
            }
            let number = match &section.number {
                Some(number) if usize::from(*number.get_ref()) < taken.len() => *number.get_ref(),
                Some(_) => continue,
                None => match taken.iter().position(Option::is_none) {
                    Some(number) => {
                        taken[number] = Some(name.clone());
                        number as u8
                    }
                    None => {
                        let message = format!("no scratch ring is left for `{name}`");
                        self.fail(section.name.span(), message, format!("this chip has {}", taken.len()), "");
                        continue;
                    }
                },
            };
            self.ring(section, number);
        }
    }

    fn ring(&mut self, section: &RingSection, number: u8) {
        let name = section.name.get_ref();
        let size = section.size.as_ref().map_or(128, |size| *size.get_ref());
        if let Some(typed) = &section.size
            && ![128, 256, 512, 1024].contains(&size)
        {
            self.fail(typed.span(), format!("a scratch ring cannot have {size} longwords"), "", "use 128, 256, 512 or 1024");
            return;
        }
        let bytes = u64::from(size) * 4;
        let owner = format!("ring `{name}`");
        let base = match self.scratch.place(&owner, 0, bytes, bytes) {
            Ok(base) => base as u32,
            Err(reason) => {
                self.no_place(section.name.span(), &owner, bytes, "scratch", &reason);
                return;
            }
        };
        let span = section.name.span();
        self.define(name.clone(), u32::from(number) << 2, &owner, span.clone());
        self.define(format!("{name}_NUMBER"), number, &owner, span.clone());
        self.define(format!("{name}_SIZE"), size, &owner, span.clone());
        if number < STATUS_RINGS {
            self.define(format!("{name}_STATUS"), format!("SCR_Ring{number}_Status"), &owner, span);
        }
        let status = match section.status {
            Some(StatusKind::Empty) => RingStatus::Empty,
            Some(StatusKind::Full) | None => RingStatus::NearlyFull,
        };
        self.boot.rings.push(RingSetup { number, base, size, status });
        self.boot.rings.sort_by_key(|ring| ring.number);
    }

    /// Queues, then the buffers that wait on one of them: descriptors first, so
    /// that they get the low addresses which the buffers' DRAM addresses follow.
    pub(super) fn queues(&mut self, sections: &[QueueSection], buffers: Option<&Spanned<BuffersSection>>) {
        let mut planned = Vec::new();
        let mut taken = vec![Vec::new(); self.sram.len()];
        for fixed in [true, false] {
            for (index, section) in sections.iter().enumerate().filter(|(_, s)| s.entry.is_some() == fixed) {
                if let Some((channel, entry)) = self.queue_entry(section, &mut taken) {
                    planned.push((index, channel, entry));
                }
            }
        }
        planned.sort_unstable();
        if let Some(buffers) = buffers {
            let queue = planned.iter().find(|(i, ..)| sections[*i].name.get_ref() == buffers.get_ref().queue.get_ref());
            match queue {
                Some(&(_, channel, entry)) => self.buffers(buffers, channel, entry),
                None => {
                    let name = &buffers.get_ref().queue;
                    let known = sections.iter().map(|s| s.name.get_ref().as_str());
                    let help = suggestion(name.get_ref(), known, "[[queue]]");
                    self.fail(name.span(), format!("there is no queue `{}`", name.get_ref()), "", &help);
                }
            }
        }
        for (index, channel, entry) in planned {
            let section = &sections[index];
            let name = section.name.get_ref();
            let owner = format!("queue `{name}`");
            match self.sram[usize::from(channel)].place(format!("{owner}, descriptor"), QUEUE_DESCRIPTOR, QUEUE_DESCRIPTOR, QUEUE_DESCRIPTOR) {
                Ok(descriptor) => self.boot.queues.push(QueueSetup { channel, entry, descriptor: descriptor as u32 }),
                Err(reason) => self.no_place(section.name.span(), &owner, QUEUE_DESCRIPTOR, &format!("sram{channel}"), &reason),
            }
            let span = section.name.span();
            self.define(name.clone(), hex(u32::from(channel) << 30 | u32::from(entry) << 24), &owner, span.clone());
            self.define(format!("{name}_ENTRY"), entry, &owner, span.clone());
            self.define(format!("{name}_CHANNEL"), channel, &owner, span);
        }
    }

    fn queue_entry(&mut self, section: &QueueSection, taken: &mut [Vec<(u8, String)>]) -> Option<(u8, u8)> {
        if !self.name(&section.name) {
            return None;
        }
        let channel = match &section.channel {
            Some(channel) => self.channel(channel)?,
            None => 0,
        };
        let name = section.name.get_ref();
        let used = &mut taken[usize::from(channel)];
        let entry = match &section.entry {
            Some(entry) => {
                if *entry.get_ref() >= self.capacity.queue_entries {
                    let label = format!("a channel has 0 to {}", self.capacity.queue_entries - 1);
                    self.fail(entry.span(), format!("there is no Q-array entry {}", entry.get_ref()), label, "");
                    return None;
                }
                if let Some((_, other)) = used.iter().find(|(e, _)| e == entry.get_ref()) {
                    let message = format!("Q-array entry {} of channel {channel} is used twice, by `{other}` and `{name}`", entry.get_ref());
                    self.fail(entry.span(), message, "", "leave `entry` out to get the next free one");
                    return None;
                }
                *entry.get_ref()
            }
            None => {
                let free = (0..self.capacity.queue_entries).find(|e| used.iter().all(|(other, _)| other != e));
                let Some(free) = free else {
                    let message = format!("no Q-array entry is left in channel {channel} for `{name}`");
                    self.fail(section.name.span(), message, "", "put some of the queues in another channel");
                    return None;
                };
                free
            }
        };
        used.push((entry, name.clone()));
        Some((channel, entry))
    }

    fn buffers(&mut self, section: &Spanned<BuffersSection>, queue_channel: u8, entry: u8) {
        let whole = section.span();
        let section = section.get_ref();
        if let Some(channel) = &section.channel
            && *channel.get_ref() != queue_channel
        {
            let message = format!("the buffers' descriptors are in channel {}, but their queue is in channel {queue_channel}", channel.get_ref());
            self.fail(channel.span(), message, "", "a queue links descriptors of its own channel; use the same number");
            return;
        }
        let count = section.count.as_ref().map_or(512, |c| *c.get_ref());
        let size = section.size.as_ref().map_or(2048, |s| *s.get_ref());
        if let Some(typed) = &section.size
            && (!size.is_power_of_two() || !(64..=65536).contains(&size))
        {
            self.fail(typed.span(), format!("a buffer cannot have {size} bytes"), "", "use a power of two from 64 to 65536");
            return;
        }
        if count == 0 {
            let span = section.count.as_ref().map_or(whole, Spanned::span);
            self.fail(span, "there must be at least one buffer", "", "");
            return;
        }
        let shift = (size / DESCRIPTOR_LONGWORDS).trailing_zeros() as u8;
        let owner = "the buffers";
        let descriptor_bytes = u64::from(DESCRIPTOR_LONGWORDS) * 4;
        let span = section.count.as_ref().map_or(whole, Spanned::span);
        let space = &mut self.sram[usize::from(queue_channel)];
        // Address 0 would read as "no buffer".
        let first = match space.place("the buffers' descriptors", descriptor_bytes, u64::from(count) * descriptor_bytes, descriptor_bytes) {
            Ok(address) => address / 4,
            Err(reason) => {
                let name = space.name.clone();
                self.no_place(span, "the buffers' descriptors", u64::from(count) * descriptor_bytes, &name, &reason);
                return;
            }
        };
        let data = first << shift;
        let bytes = u64::from(count) * u64::from(size);
        if first + u64::from(count * DESCRIPTOR_LONGWORDS) > 1 << ADDRESS_BITS {
            self.fail(span, format!("{count} buffers do not fit: a descriptor's address has {ADDRESS_BITS} bits"), "", "use fewer buffers");
            return;
        }
        if let Err(reason) = self.dram.reserve("the buffers", data, bytes) {
            self.no_place(span, owner, bytes, "dram", &reason);
            return;
        }
        self.define("BUFFER_COUNT".into(), count, owner, 0..0);
        self.define("BUFFER_SIZE".into(), size, owner, 0..0);
        self.define("BUFFER_SHIFT".into(), shift, owner, 0..0);
        self.define("BUFFER_CHANNEL_BASE".into(), hex(u32::from(queue_channel) << 30), owner, 0..0);
        self.boot.buffers = Some(BufferSetup {
            channel: queue_channel,
            entry,
            first_descriptor: first as u32,
            descriptor_longwords: DESCRIPTOR_LONGWORDS,
            count,
            size,
            shift,
        });
    }

    /// Memory whose address the user gives.
    pub(super) fn fixed_memory(&mut self, sections: &[MemorySection]) {
        for section in sections {
            let Some(address) = &section.address else {
                continue;
            };
            let Some((space, size, align)) = self.memory_shape(section) else {
                continue;
            };
            if !address.get_ref().is_multiple_of(align) {
                self.fail(address.span(), format!("the address is not a multiple of {align}"), "", "");
                continue;
            }
            let owner = format!("memory `{}`", section.name.get_ref());
            match self.space(space).reserve(&owner, *address.get_ref(), size) {
                Ok(()) => self.memory_image(section, space, *address.get_ref(), size),
                Err(reason) => self.no_place(address.span(), &owner, size, section.space.get_ref(), &reason),
            }
        }
    }

    /// Memory that goes where there is room.
    pub(super) fn fitted_memory(&mut self, sections: &[MemorySection]) {
        for section in sections.iter().filter(|s| s.address.is_none()) {
            let Some((space, size, align)) = self.memory_shape(section) else {
                continue;
            };
            let owner = format!("memory `{}`", section.name.get_ref());
            match self.space(space).place(&owner, 0, size, align) {
                Ok(address) => self.memory_image(section, space, address, size),
                Err(reason) => self.no_place(section.name.span(), &owner, size, section.space.get_ref(), &reason),
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
            let names: Vec<_> = std::iter::once("scratch".to_string()).chain(self.sram.iter().map(|s| s.name.clone())).chain(["dram".into()]).collect();
            let message = format!("there is no memory space `{}`", section.space.get_ref());
            self.fail(section.space.span(), message, "", &format!("use one of {}", names.join(", ")));
            return None;
        };
        let unit = if space == BootSpace::Dram { 8 } else { 4 };
        let words = section.words.len() as u64 * 4;
        let size = section.size.as_ref().map_or(words, |s| *s.get_ref());
        if size == 0 || !size.is_multiple_of(4) || size < words || size > u64::from(u32::MAX) {
            let span = section.size.as_ref().map_or(section.name.span(), Spanned::span);
            let message = format!("memory `{}` cannot have {size} bytes", section.name.get_ref());
            let help = format!("give a multiple of 4 that holds the {} `words`", section.words.len());
            self.fail(span, message, "", &help);
            return None;
        }
        let align = section.align.as_ref().map_or(unit, |a| *a.get_ref());
        if let Some(typed) = &section.align
            && (!align.is_power_of_two() || align < unit)
        {
            self.fail(typed.span(), format!("an alignment of {align} bytes is not possible"), "", &format!("use a power of two from {unit} on"));
            return None;
        }
        Some((space, size, align))
    }

    fn space(&mut self, space: BootSpace) -> &mut Space {
        match space {
            BootSpace::Scratch => &mut self.scratch,
            BootSpace::Sram(channel) => &mut self.sram[usize::from(channel)],
            BootSpace::Dram => &mut self.dram,
        }
    }

    fn memory_image(&mut self, section: &MemorySection, space: BootSpace, address: u64, size: u64) {
        let name = section.name.get_ref();
        let owner = format!("memory `{name}`");
        let channel = if let BootSpace::Sram(channel) = space { u32::from(channel) << 30 } else { 0 };
        self.define(name.clone(), hex(channel | address as u32), &owner, section.name.span());
        self.define(format!("{name}_SIZE"), size, &owner, section.name.span());
        let mut words = section.words.clone();
        // Memory starts out as zero only where the loader wrote it.
        words.resize((size / 4) as usize, 0);
        self.boot.memory.push(MemoryImage { space, address: address as u32, words });
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
                    self.define(name.clone(), hex(address as u32), &owner, section.name.span());
                    let (drop, text) = (section.drop, section.text.clone());
                    self.boot.counters.push(CounterSetup { name: name.clone(), address: address as u32, drop, text });
                }
                Err(reason) => self.no_place(section.name.span(), &owner, 4, "scratch", &reason),
            }
        }
    }

    pub(super) fn no_place(&mut self, span: Range<usize>, what: &str, size: u64, space: &str, reason: &NoPlace) {
        match reason {
            NoPlace::Overlap(other) => {
                let label = format!("bytes {:#x} to {:#x} of {space} belong to {}", other.start, other.end - 1, other.name);
                self.fail(span, format!("{what} overlaps {}", other.name), label, "give another `address`, or leave it out to have it fitted");
            }
            NoPlace::Outside => {
                let bytes = self.size_of(space);
                self.fail(span, format!("{what} ends behind the end of {space}"), format!("{space} has {bytes:#x} bytes"), "");
            }
            NoPlace::Full(largest) => {
                let message = format!("{what} does not fit in {space}");
                self.fail(span, message, format!("it needs {size} bytes in one piece, {largest} are left"), "");
            }
        }
    }

    fn size_of(&self, space: &str) -> u64 {
        let all = std::iter::once(&self.scratch).chain(&self.sram).chain([&self.dram]);
        all.into_iter().find(|s| s.name == space).map_or(0, |s| s.size)
    }
}
