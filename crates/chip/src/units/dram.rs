//! The DRAM channels: memory behind banks with row timing, and the transfers
//! between DRAM and the media interface's buffers.
//!
//! Each bank serves its commands in order of arrival; the channel chooses among the banks. The data
//! of a command moves when its data pins are booked. Both signals of a DRAM command are raised
//! together at its end.

mod channel;
mod core_access;
mod refresh;
mod rows;

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::{CommandId, Fabric};
use crate::kernel::memory::{OutOfRange, Paged};
use crate::kernel::port_io::PacketTag;
use crate::kernel::queue::references;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::{MemoryCell, StateError, get_memory, put_memory};
use crate::kernel::sideband::MediaBuffers;
use crate::kernel::snapshot::bits;
use crate::kernel::target::{CommandTarget, Inlet, Interleave};
use crate::kernel::trace_event::{Bus, MemoryName, TraceEvent, TraceEventKind, Writer};
use crate::kernel::unit::{HasTarget, Resources, Unit};
use crate::kernel::unit_counters::UnitCounters;
use channel::{Channel, NextCommand, Started};
use npsim_profile::Profile;

/// Bytes of memory that share one packet tag.
const TAG_BLOCK: u32 = 64;

/// All DRAM channels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dram {
    #[serde(skip)]
    memory: Paged<u32>,
    #[serde(skip)]
    tags: Paged<PacketTag>,
    channels: Vec<Channel>,
    interleave: u32,
    #[serde(with = "bits")]
    bytes: u64,
    write_lead: Cycle,
    rbuf_lead: Cycle,
    /// From the first burst in the controller to the push of a read, or of a transfer to TBUF.
    read_back: Cycle,
    tbuf_back: Cycle,
    /// The first burst of an access, rounded up to whole cycles.
    first_burst: Cycle,
    burst_half_cycles: Cycle,
    bus_cycle: Cycle,
    transfer_latency: Cycle,
}

impl Dram {
    /// Zeroed memory, idle banks.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let bytes = u64::from(profile.dram_channel_bytes()) * u64::from(profile.dram_channels());
        let burst = profile.dram_burst_half_cycles().div_ceil(2);
        let access = profile.dram_row_to_column() + profile.dram_column_to_data() + burst;
        let bus_cycle = profile.bus_cycle();
        // The media targets are for eight quadwords, one per bus clock.
        let media = profile.push_lead(0, 0) + 8 * bus_cycle;
        Self {
            memory: Paged::new((bytes / 4) as usize),
            tags: Paged::new(bytes.div_ceil(u64::from(TAG_BLOCK)) as usize),
            channels: (0..profile.dram_channels())
                .map(|_| Channel::new(profile))
                .collect(),
            interleave: profile.dram_channel_interleave(),
            bytes,
            write_lead: profile.pull_lead(profile.dram_write(), 2),
            rbuf_lead: profile
                .pull_lead(profile.dram_rbuf_rd(), 0)
                .saturating_sub(media),
            read_back: profile
                .push_lead(profile.dram_read(), 2)
                .saturating_sub(access),
            tbuf_back: profile
                .push_lead(profile.dram_tbuf_wr(), 0)
                .saturating_sub(media + access),
            first_burst: burst,
            burst_half_cycles: profile.dram_burst_half_cycles(),
            bus_cycle,
            transfer_latency: profile.transfer_latency(),
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Nearly all of its callers' work.
    fn data_arrived(&mut self, slot: CommandId, fabric: &mut Fabric) {
        if let [channel] = &mut self.channels[..] {
            let address = fabric.flight(slot).command.address & !7;
            channel.whole_data_arrived(slot, address, fabric.now);
            return self.serve(0, fabric);
        }
        for channel in 0..self.channels.len() {
            if self.channels[channel].data_arrived(slot, fabric.now) {
                self.serve(channel, fabric);
            }
        }
    }

    fn serve_all(&mut self, fabric: &mut Fabric) {
        for channel in 0..self.channels.len() {
            self.serve(channel, fabric);
        }
    }

    /// Lets a channel take commands from its inlet and book its pins.
    #[inline]
    fn serve(&mut self, number: usize, fabric: &mut Fabric) {
        if !self.channels[number].only_waits() {
            self.serve_now(number, fabric);
        }
    }

    #[inline(never)]
    fn serve_now(&mut self, number: usize, fabric: &mut Fabric) {
        loop {
            // Alternately: a booking makes room in a bank's FIFO, which lets the inlet move on,
            // which may bring a better choice for the next booking.
            if self.channels[number].has_inlet() {
                self.drain_inlet(number, fabric);
            }
            let ready_at = |slot: CommandId| fabric.push_ready(slot);
            match self.channels[number].next(fabric.now, ready_at) {
                NextCommand::Bank(bank) => self.start(number, bank, fabric),
                NextCommand::Later(at) => {
                    let turn = Event::Turn(Self::target(number as u8));
                    return fabric.events.post(at, turn);
                }
                NextCommand::Nothing => return,
            }
        }
    }

    /// Moves parts from the inlet to their banks as long as these have room.
    #[inline(never)]
    fn drain_inlet(&mut self, number: usize, fabric: &mut Fabric) {
        while let Some((slot, is_head)) = self.channels[number].take() {
            if is_head {
                self.left_inlet(slot, number, fabric);
            }
        }
    }

    /// Frees the place in the inlet that a command has left, and requests its data.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of a command's start.
    fn left_inlet(&mut self, slot: CommandId, channel: usize, fabric: &mut Fabric) {
        fabric.release(Self::target(channel as u8));
        let command = &fabric.flight(slot).command;
        let quadwords = quadwords(command.count) as u8;
        match command.op {
            CommandOp::DramWrite => {
                let at = fabric.now + self.write_lead;
                fabric.pull(slot, 2 * quadwords, at);
            }
            CommandOp::DramRbufRd => {
                let end = fabric.buses.media_pull(
                    fabric.now,
                    self.rbuf_lead,
                    quadwords,
                    &mut fabric.trace,
                );
                fabric.ready_at(slot, end);
            }
            _ => {}
        }
    }

    /// Books time on the pins for the first part of a bank; with the last part of a command, its
    /// data moves.
    #[inline(never)]
    fn start(&mut self, number: usize, bank: usize, fabric: &mut Fabric) {
        let now = fabric.now;
        let channel = &mut self.channels[number];
        let Started { part, pins, free } = channel.start(bank, now);
        let slot = part.slot;
        channel.counters.words += u64::from(part.words);
        let flight = fabric.flight_mut(slot);
        flight.unit_scratch -= 1;
        let is_last = flight.unit_scratch == 0;
        if part.is_head {
            let op = flight.command.op;
            channel.counters.started(op, 0, now - part.since);
        }
        if fabric.trace.is_open() {
            let target = Self::target(number as u8);
            trace_pins(target, pins, fabric);
            fabric.record_service(slot, target, bank as u8, now, free);
            if is_last && fabric.trace.wants(TraceEventKind::Written) {
                trace_written(slot, fabric);
            }
        }
        if is_last {
            self.move_data(slot, part.bursts, pins.0 + self.first_burst, fabric);
        }
    }

    /// Moves all data of a command at once when its last part is booked, though on the pins it
    /// moves later. The difference is not observable: the data it reads arrives later still, and
    /// commands to one bank are booked in order of arrival.
    #[inline]
    fn move_data(&mut self, slot: CommandId, bursts: u32, first_burst: Cycle, fabric: &mut Fabric) {
        let now = fabric.now;
        // The event records that a command reads or writes the beginning of a frame.
        if fabric.trace.wants(TraceEventKind::Touched) {
            self.trace_touch(slot, fabric);
        }
        let flight = fabric.flight_mut(slot);
        let (op, address) = (flight.command.op, flight.command.address);
        let words = quadwords(flight.command.count) as u8 * 2;
        let first = (address / 8 * 2) as usize;
        let data = &mut flight.data[..words as usize];
        match op {
            CommandOp::DramRead => {
                expect_in_range(self.memory.read(first, data));
                // The push starts after the first burst and overlaps the others. Where the pins are
                // slower than the push bus, it starts later by the difference, so that no word is
                // pushed before it is read.
                let on_pins = (Cycle::from(bursts - 1) * self.burst_half_cycles).div_ceil(2);
                let on_bus = Cycle::from(words - 2) * self.bus_cycle;
                let slower = on_pins.saturating_sub(on_bus);
                fabric.push_at(slot, words, first_burst + self.read_back + slower);
            }
            CommandOp::DramTbufWr => {
                expect_in_range(self.memory.read(first, data));
                flight.tag = self.tag_of(address, words);
                let lead = first_burst + self.tbuf_back - now;
                let end = fabric
                    .buses
                    .media_push(now, lead, words / 2, &mut fabric.trace);
                fabric.ready_at(slot, end);
            }
            CommandOp::DramRbufRd => {
                expect_in_range(self.memory.write(first, data));
                let tag = flight.tag;
                let (first, last) = blocks(address, words);
                let _ = self.tags.set(first, tag);
                for block in first + 1..=last {
                    let _ = self.tags.set(block, tag);
                }
                if let Some(frame) = tag.frame() {
                    fabric
                        .trace
                        .record(now, || TraceEvent::Stored { frame, address });
                }
                fabric.finish(slot);
            }
            _ => {
                let mask = flight.command.byte_mask;
                let data = &flight.data[..words as usize];
                expect_in_range(match data {
                    &[high, low] if mask != 0xff => self.write_masked(first, &[high, low], mask),
                    data => self.memory.write(first, data),
                });
                fabric.finish(slot);
            }
        }
    }

    /// The first tag among the blocks that a command touches, of which there is usually one.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of moving data to TBUF.
    fn tag_of(&self, address: u32, words: u8) -> PacketTag {
        let (first, last) = blocks(address, words);
        let tag = self.tags.get(first).unwrap_or_default();
        if first == last || !tag.is_none() {
            return tag;
        }
        let mut behind = (first + 1..=last).filter_map(|block| self.tags.get(block));
        behind.find(|tag| !tag.is_none()).unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn trace_touch(&self, slot: CommandId, fabric: &mut Fabric) {
        let command = fabric.flight(slot).command;
        let words = quadwords(command.count) as u8 * 2;
        if matches!(command.op, CommandOp::DramRbufRd | CommandOp::DramTbufWr) {
            return;
        }
        if let Some(frame) = self.tag_of(command.address, words).frame() {
            let (me, context) = (command.me, command.context);
            fabric
                .trace
                .record(fabric.now, || TraceEvent::Touched { frame, me, context });
        }
    }

    fn write_masked(&mut self, first: usize, words: &[u32], mask: u8) -> Result<(), OutOfRange> {
        for (place, &word) in words.iter().enumerate() {
            let old = self.memory.get(first + place).ok_or(OutOfRange)?;
            self.memory
                .set(first + place, merge(old, word, mask >> (4 * place)))?;
        }
        Ok(())
    }

    /// Faults a command that reaches beyond the memory or names no buffer element.
    #[cold]
    #[inline(never)]
    fn refuse(&self, slot: CommandId, fabric: &mut Fabric) {
        let command = &fabric.flight(slot).command;
        let name = command.op.info().name;
        let bytes = quadwords(command.count) * 8;
        let address = command.address & !7;
        let (message, help) = if u64::from(address) + u64::from(bytes) > self.bytes {
            let message = format!(
                "dram[{name}] of {bytes} bytes at address {:#x}: DRAM ends at {:#x}",
                command.address, self.bytes
            );
            (
                message,
                "check the address operands: their sum is a byte address",
            )
        } else {
            (
                format!("dram[{name}] without indirect_ref names no buffer element"),
                "put the element's address in bits 18-5 of the previous ALU result and add indirect_ref",
            )
        };
        fabric.release(Self::target(self.channel_of(address) as u8));
        fabric.fault(slot, None, message, Some(help.to_owned()));
        fabric.finish(slot);
    }

    fn channel_of(&self, address: u32) -> usize {
        if self.channels.len() == 1 {
            0
        } else {
            (address / self.interleave) as usize % self.channels.len()
        }
    }

    /// The address within its channel.
    fn local_address(&self, address: u32) -> u32 {
        let count = self.channels.len() as u32;
        if count == 1 {
            return address;
        }
        address / self.interleave / count * self.interleave + address % self.interleave
    }

    /// The frame that was moved from RBUF to a range of memory; the first if there are several.
    #[must_use]
    pub fn frame_in(&self, address: u32, bytes: u32) -> Option<u64> {
        let (first, end) = (address / TAG_BLOCK, (address + bytes).div_ceil(TAG_BLOCK));
        let mut tags = (first..end).filter_map(|block| self.tags.get(block as usize));
        tags.find_map(PacketTag::frame)
    }

    /// Reads bytes in network order; `None` if there is no memory.
    #[must_use]
    pub fn read_bytes(&self, address: u32, len: usize) -> Option<Vec<u8>> {
        let bytes = (0..len).map(|at| {
            let byte = address as usize + at;
            Some(self.memory.get(byte / 4)?.to_be_bytes()[byte % 4])
        });
        bytes.collect()
    }

    /// Writes bytes in network order. Returns false, with nothing written, if there is no memory.
    pub fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> bool {
        if address as u64 + bytes.len() as u64 > self.bytes {
            return false;
        }
        for (at, &value) in bytes.iter().enumerate() {
            let byte = address as usize + at;
            let mut word = self.memory.get(byte / 4).unwrap_or(0).to_be_bytes();
            word[byte % 4] = value;
            let _ = self.memory.set(byte / 4, u32::from_be_bytes(word));
        }
        true
    }

    /// The longword at a byte address; `None` if there is no memory.
    #[must_use]
    pub fn read_word(&self, address: u32) -> Option<u32> {
        self.memory.get((address / 4) as usize)
    }

    /// Writes a longword at a byte address. Returns false if there is no memory.
    pub fn write_word(&mut self, address: u32, value: u32) -> bool {
        self.memory.set((address / 4) as usize, value).is_ok()
    }
}

impl Unit for Dram {
    const CHANNELS: u8 = 4;
    const MEMORY: bool = true;
    const RESOURCES: Resources = Resources::Banks;

    type Sideband<'a> = &'a mut dyn MediaBuffers;

    fn inlet(profile: &Profile) -> Inlet {
        let channels = profile.dram_channels();
        Inlet {
            channels,
            depth: profile.dram_inlet_depth(),
            interleave: match channels {
                1 => Interleave::None,
                _ => Interleave::Bytes(profile.dram_channel_interleave()),
            },
            shared: false,
        }
    }

    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let now = fabric.now;
        let flight = fabric.flight_mut(slot);
        let command = &mut flight.command;
        let (address, bytes) = (command.address & !7, quadwords(command.count) * 8);
        let media = matches!(command.op, CommandOp::DramRbufRd | CommandOp::DramTbufWr);
        let beyond = u64::from(address) + u64::from(bytes) > self.bytes;
        if beyond || media && command.indirect.is_none() {
            return self.refuse(slot, fabric);
        }
        if media {
            // The data bypasses the microengine's registers: all signals are raised at the end.
            command.push_signals |= command.pull_signals;
            command.pull_signals = 0;
        }
        let write = matches!(command.op, CommandOp::DramWrite | CommandOp::DramRbufRd);
        // Less than a quadword is read, merged and written.
        let passes = if write && command.count <= 1 && command.byte_mask != 0xff {
            2
        } else {
            1
        };
        // From here on the scratch field counts the parts that have no time on the pins yet.
        if let [channel] = &mut self.channels[..] {
            flight.unit_scratch = 1;
            let part = channel.part(slot, address, bytes, write, passes, true, now);
            if channel.enter(part, now) {
                self.left_inlet(slot, 0, fabric);
            }
            return self.serve(0, fabric);
        }
        // A command that crosses the end of an interleave block is served by several channels, each
        // in its own time. The first part stands for the whole command: only it came over the
        // command bus and took a place at an inlet; the others are passed across.
        let mut parts = 0;
        let mut at = address;
        let end = address + bytes;
        while at < end {
            let next = end.min((at / self.interleave + 1) * self.interleave);
            let channel = self.channel_of(at);
            let local = self.local_address(at);
            let part =
                self.channels[channel].part(slot, local, next - at, write, passes, parts == 0, now);
            self.channels[channel].accept(part, now);
            parts += 1;
            at = next;
        }
        fabric.flight_mut(slot).unit_scratch = parts;
        if parts == 1 {
            self.serve(self.channel_of(address), fabric);
        } else {
            self.serve_all(fabric);
        }
    }

    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        self.data_arrived(slot, fabric);
    }

    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, media: Self::Sideband<'_>) {
        let flight = fabric.flight_mut(slot);
        let op = flight.command.op;
        let words = usize::from(quadwords(flight.command.count) as u8) * 2;
        let buffer = buffer_address(flight.command.indirect.unwrap_or(0));
        let data = &mut flight.data[..words];
        if op == CommandOp::DramTbufWr {
            match media.tbuf_write(buffer, data, flight.tag) {
                Ok(()) => media.trace_tbuf_written(buffer, slot, fabric),
                Err(error) => media_fault(slot, "tbuf_wr", &error, fabric),
            }
            return fabric.finish(slot);
        }
        match media.rbuf_read(buffer, data) {
            Ok(tag) => {
                flight.tag = tag;
                media.trace_rbuf_read(buffer, slot, fabric);
            }
            Err(error) => media_fault(slot, "rbuf_rd", &error, fabric),
        }
        // The element's data has been taken: the signals are due although the memory is written
        // later.
        let command = &mut fabric.flight_mut(slot).command;
        let signals = std::mem::take(&mut command.push_signals);
        let command = *command;
        let due = fabric.now + self.transfer_latency + fabric.late(slot);
        fabric.signal_at(due, &command, signals);
        self.data_arrived(slot, fabric);
    }

    fn turn(&mut self, channel: u8, fabric: &mut Fabric) {
        let channel = channel as usize;
        if channel < self.channels.len() {
            self.channels[channel].clear_turn(fabric.now);
            self.serve(channel, fabric);
        }
    }

    fn counters(&self) -> impl Iterator<Item = &UnitCounters> {
        self.channels.iter().map(|channel| &channel.counters)
    }

    fn own_counters(&self, channel: u8) -> Row {
        let channel = self.channels.get(usize::from(channel));
        channel.map(Channel::own_counters).unwrap_or_default()
    }

    fn ahead_of(&self, slot: CommandId, _: u8) -> Option<Vec<CommandId>> {
        let parts = self.channels.iter().filter_map(|it| it.ahead_of(slot));
        let mut ahead = parts.reduce(|mut all, more| {
            all.extend(more);
            all
        })?;
        ahead.sort_unstable();
        ahead.dedup();
        Some(ahead)
    }

    fn save(&self, out: &mut Vec<u8>) {
        put_memory(&self.memory, out);
        put_memory(&self.tags, out);
    }

    fn restore(&mut self, own: &Self, rest: &mut &[u8]) -> Result<(), StateError> {
        self.memory = own.memory.clone();
        self.tags = own.tags.clone();
        let alike = self.channels.len() == own.channels.len() && { self.channels.iter() }
            .zip(&own.channels)
            .all(|(it, own)| it.is_compatible_with(own));
        if !alike {
            return Err(StateError::OtherChip("DRAM channels"));
        }
        self.channels.iter_mut().for_each(Channel::complete);
        get_memory(&mut self.memory, rest)?;
        get_memory(&mut self.tags, rest)
    }

    fn adopt_unsaved(&mut self, from: &mut Self) {
        std::mem::swap(&mut self.memory, &mut from.memory);
        std::mem::swap(&mut self.tags, &mut from.tags);
        self.channels.iter_mut().for_each(Channel::complete);
    }

    fn changes(&self) -> u64 {
        self.memory.changes() + self.tags.changes()
    }

    fn memory_bytes(&self) -> u64 {
        (self.memory.len() * u32::BYTES + self.tags.len() * PacketTag::BYTES) as u64
    }

    fn share_memory(&mut self) {
        self.memory.share();
        self.tags.share();
    }

    fn host_bytes(&self, beside: Option<&Self>) -> usize {
        self.memory.unshared_bytes(beside.map(|it| &it.memory))
            + self.tags.unshared_bytes(beside.map(|it| &it.tags))
    }
}

/// Reports to observers the interval for which the pins of a channel are taken.
fn trace_pins(target: CommandTarget, (from, until): (Cycle, Cycle), fabric: &mut Fabric) {
    let bus = Bus::DramPins(target.channel());
    fabric
        .trace
        .record(from, || TraceEvent::Bus { bus, from, until });
}

/// Reports to observers the longwords written by a command whose data moves now.
fn trace_written(slot: CommandId, fabric: &mut Fabric) {
    let command = fabric.flight(slot).command;
    if !matches!(command.op, CommandOp::DramWrite | CommandOp::DramRbufRd) {
        return;
    }
    let words = quadwords(command.count) as usize * 2;
    let first = command.address & !7;
    let by = Writer::of(&command);
    if words > 2 || command.op == CommandOp::DramRbufRd {
        return fabric.trace_written(MemoryName::Dram, first, words, by);
    }
    // The mask of a quadword may exclude one of its longwords.
    for (at, bytes) in [(0, command.byte_mask & 15), (4, command.byte_mask >> 4)] {
        if bytes != 0 {
            fabric.trace_written(MemoryName::Dram, first + at, 1, by);
        }
    }
}

/// The first and the last of the tag blocks that a command of this many longwords touches.
const fn blocks(address: u32, words: u8) -> (usize, usize) {
    let first = address / TAG_BLOCK;
    let last = ((address & !7) + words as u32 * 4 - 1) / TAG_BLOCK;
    (first as usize, last as usize)
}

/// Asserts that a transfer succeeded: the range of a command was checked on its arrival.
fn expect_in_range(moved: Result<(), OutOfRange>) {
    debug_assert!(moved.is_ok(), "the range was checked on arrival");
}

/// Number of quadwords of a command.
fn quadwords(count: u8) -> u32 {
    references(count).into()
}

/// The buffer's byte address on the media interface: bits 18-5 of the override.
const fn buffer_address(indirect: u32) -> u32 {
    indirect >> 5 & 0x3fff
}

fn media_fault(slot: CommandId, name: &str, error: &str, fabric: &mut Fabric) {
    let help =
        "the override word holds the element's address (0x2000 + element * size) in bits 18-5";
    fabric.fault(
        slot,
        None,
        format!("dram[{name}]: {error}"),
        Some(help.to_owned()),
    );
}

/// Merges the bytes that a mask selects: bits 3-0 select bytes, bit 3 the most significant.
fn merge(old: u32, new: u32, mask: u8) -> u32 {
    let bytes = (0..4)
        .filter(|byte| mask >> byte & 1 == 1)
        .fold(0, |bytes, byte| bytes | 0xff << (8 * byte));
    old & !bytes | new & bytes
}
