//! Queues, and the packet buffers on the free list.

use std::ops::Range;

use npsim_chip::gpp::boot::QueueSetup;
use npsim_chip::kernel::buffers::BufferSetup;

use super::super::file::{BuffersSection, QueueSection};
use super::{Resolver, hex, suggestion};
use crate::keys::Spanned;

/// Longwords of a buffer descriptor if not given.
const DESCRIPTOR_LONGWORDS: u32 = 4;
/// Bytes of a queue descriptor.
const QUEUE_DESCRIPTOR: u64 = 16;
/// Width of longword addresses in descriptors and queue commands.
const ADDRESS_BITS: u32 = 24;

impl Resolver<'_> {
    /// Allocates queues, then the buffers that wait on one of them: descriptors first, so that they
    /// get the low addresses, from which the buffers' DRAM addresses follow.
    pub(super) fn queues(
        &mut self,
        sections: &[QueueSection],
        buffers: Option<&Spanned<BuffersSection>>,
    ) {
        let mut planned = Vec::new();
        let mut taken = vec![Vec::new(); self.sram.len()];
        for fixed in [true, false] {
            for (index, section) in sections
                .iter()
                .enumerate()
                .filter(|(_, s)| s.entry.is_some() == fixed)
            {
                if let Some((channel, entry)) = self.queue_entry(section, &mut taken) {
                    planned.push((index, channel, entry));
                }
            }
        }
        planned.sort_unstable();
        if let Some(buffers) = buffers {
            let queue = planned
                .iter()
                .find(|(i, ..)| sections[*i].name.get_ref() == buffers.get_ref().queue.get_ref());
            if let Some(&(_, channel, entry)) = queue {
                self.buffers(buffers, channel, entry);
            } else {
                let name = &buffers.get_ref().queue;
                let known = sections.iter().map(|s| s.name.get_ref().as_str());
                if known.clone().any(|known| known == name.get_ref()) {
                    // The queue itself is wrong, which has been reported.
                    return;
                }
                let help = suggestion(name.get_ref(), known, "[[queue]]");
                self.fail(
                    name.span(),
                    format!("there is no queue `{}`", name.get_ref()),
                    "",
                    &help,
                );
            }
        }
        for (index, channel, entry) in planned {
            let section = &sections[index];
            let name = section.name.get_ref();
            let owner = format!("queue `{name}`");
            let count = section.count.as_ref().map_or(1, |count| *count.get_ref());
            let bytes = QUEUE_DESCRIPTOR * u64::from(count);
            match self.sram[usize::from(channel)].place(
                format!("{owner}, descriptor"),
                QUEUE_DESCRIPTOR,
                bytes,
                QUEUE_DESCRIPTOR,
            ) {
                Ok(descriptor) => {
                    for n in 0..count {
                        self.boot.queues.push(QueueSetup {
                            channel,
                            entry: entry + n,
                            descriptor: descriptor as u32 + u32::from(n) * QUEUE_DESCRIPTOR as u32,
                        });
                    }
                }
                Err(reason) => self.no_place(
                    section.name.span(),
                    &owner,
                    bytes,
                    &format!("sram{channel}"),
                    &reason,
                ),
            }
            let span = section.name.span();
            self.define(
                name.clone(),
                hex(u32::from(channel) << 30 | u32::from(entry) << 24),
                &owner,
                span.clone(),
            );
            self.define(format!("{name}_ENTRY"), entry, &owner, span.clone());
            self.define(format!("{name}_COUNT"), count, &owner, span.clone());
            self.define(format!("{name}_CHANNEL"), channel, &owner, span);
        }
    }

    fn queue_entry(
        &mut self,
        section: &QueueSection,
        taken: &mut [Vec<(u8, String)>],
    ) -> Option<(u8, u8)> {
        if !self.name(&section.name) {
            return None;
        }
        let channel = match &section.channel {
            Some(channel) => self.channel(channel)?,
            None => 0,
        };
        let name = section.name.get_ref();
        let used = &mut taken[usize::from(channel)];
        let count = section.count.as_ref().map_or(1, |count| *count.get_ref());
        if count == 0 {
            let span = section.count.as_ref().map_or(0..0, Spanned::span);
            self.fail(span, "there must be at least one queue", "", "");
            return None;
        }
        let entries = self.capacity.queue_entries;
        let free = |used: &[(u8, String)]| {
            (0..entries).find(|&first| {
                first.checked_add(count).is_some_and(|end| end <= entries)
                    && used
                        .iter()
                        .all(|(other, _)| !(first..first + count).contains(other))
            })
        };
        let Some(entry) = section
            .entry
            .as_ref()
            .map(|entry| *entry.get_ref())
            .or_else(|| free(used))
        else {
            let what = if count == 1 {
                "no Q-array entry is".to_owned()
            } else {
                format!("no {count} consecutive Q-array entries are")
            };
            let message = format!("{what} left in channel {channel} for `{name}`");
            self.fail(
                section.name.span(),
                message,
                "",
                "put some of the queues in another channel",
            );
            return None;
        };
        if let Some(typed) = &section.entry {
            let last = u16::from(entry) + u16::from(count) - 1;
            if last >= u16::from(entries) {
                let label = format!("a channel has 0 to {}", entries - 1);
                self.fail(
                    typed.span(),
                    format!("there is no Q-array entry {last}"),
                    label,
                    "",
                );
                return None;
            }
            let others = || used.iter();
            if let Some((both, other)) =
                others().find(|(e, _)| (u16::from(entry)..=last).contains(&u16::from(*e)))
            {
                let message = format!(
                    "Q-array entry {both} of channel {channel} is used twice, by `{other}` and `{name}`"
                );
                self.fail(
                    typed.span(),
                    message,
                    "",
                    "leave `entry` out to get the next free one",
                );
                return None;
            }
        }
        used.extend((entry..entry + count).map(|entry| (entry, name.clone())));
        Some((channel, entry))
    }

    fn buffers(&mut self, section: &Spanned<BuffersSection>, queue_channel: u8, entry: u8) {
        let whole = section.span();
        let section = section.get_ref();
        if let Some(channel) = &section.channel
            && *channel.get_ref() != queue_channel
        {
            let message = format!(
                "the buffers' descriptors are in channel {}, but their queue is in channel {queue_channel}",
                channel.get_ref()
            );
            self.fail(
                channel.span(),
                message,
                "",
                "a queue links descriptors of its own channel; use the same number",
            );
            return;
        }
        let Some((count, size, longwords)) = self.buffer_sizes(section, &whole) else {
            return;
        };
        let shift = (size / longwords).trailing_zeros() as u8;
        let owner = "the buffers";
        let descriptor_bytes = u64::from(longwords) * 4;
        let span = section.count.as_ref().map_or(whole, Spanned::span);
        let space = &mut self.sram[usize::from(queue_channel)];
        // Address 0 would read as "no buffer".
        let first = match space.place(
            "the buffers' descriptors",
            descriptor_bytes,
            u64::from(count) * descriptor_bytes,
            descriptor_bytes,
        ) {
            Ok(address) => address / 4,
            Err(reason) => {
                let name = space.name.clone();
                self.no_place(
                    span,
                    "the buffers' descriptors",
                    u64::from(count) * descriptor_bytes,
                    &name,
                    &reason,
                );
                return;
            }
        };
        let data = first << shift;
        let bytes = u64::from(count) * u64::from(size);
        if first + u64::from(count) * u64::from(longwords) > 1 << ADDRESS_BITS {
            self.fail(
                span,
                format!(
                    "{count} buffers do not fit: a descriptor's address has {ADDRESS_BITS} bits"
                ),
                "",
                "use fewer buffers",
            );
            return;
        }
        if let Err(reason) = self.dram.reserve("the buffers", data, bytes) {
            self.no_place(span, owner, bytes, "dram", &reason);
            return;
        }
        self.define("BUFFER_COUNT".into(), count, owner, 0..0);
        self.define("BUFFER_SIZE".into(), size, owner, 0..0);
        self.define("BUFFER_SHIFT".into(), shift, owner, 0..0);
        self.define("BUFFER_DESCRIPTOR".into(), longwords, owner, 0..0);
        self.define(
            "BUFFER_CHANNEL_BASE".into(),
            hex(u32::from(queue_channel) << 30),
            owner,
            0..0,
        );
        self.boot.buffers = Some(BufferSetup {
            channel: queue_channel,
            entry,
            first_descriptor: first as u32,
            descriptor_longwords: longwords,
            count,
            size,
            shift,
        });
    }

    /// Returns the number of buffers, the bytes of each and the longwords of its descriptor.
    fn buffer_sizes(
        &mut self,
        section: &BuffersSection,
        whole: &Range<usize>,
    ) -> Option<(u32, u32, u32)> {
        let count = section.count.as_ref().map_or(512, |c| *c.get_ref());
        let size = section.size.as_ref().map_or(2048, |s| *s.get_ref());
        if let Some(typed) = &section.size
            && (!size.is_power_of_two() || !(64..=65536).contains(&size))
        {
            self.fail(
                typed.span(),
                format!("a buffer cannot have {size} bytes"),
                "",
                "use a power of two from 64 to 65536",
            );
            return None;
        }
        if count == 0 {
            let span = section.count.as_ref().map_or(whole.clone(), Spanned::span);
            self.fail(span, "there must be at least one buffer", "", "");
            return None;
        }
        let longwords = section
            .descriptor
            .as_ref()
            .map_or(DESCRIPTOR_LONGWORDS, |d| *d.get_ref());
        if let Some(typed) = &section.descriptor
            && ![4, 8, 16].contains(&longwords)
        {
            self.fail(
                typed.span(),
                format!("a buffer's descriptor cannot have {longwords} longwords"),
                "",
                "use 4, 8 or 16; the first longword is the queue's link",
            );
            return None;
        }
        Some((count, size, longwords))
    }
}
