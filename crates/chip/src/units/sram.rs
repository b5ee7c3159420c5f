//! The SRAM channels: memory behind separate read and write ports, atomic operations, and a Q-array
//! of queues, rings and journals. Look-aside devices may be attached alongside the memory of a channel
//! ([`device`]).

mod atomic;
mod channel;
pub mod device;
mod device_command;
mod flags;
mod op_traits;
mod qarray;
mod window;

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::fabric::{CommandId, Fabric};
use crate::kernel::lock::Lock;
use crate::kernel::saved_memory::{StateError, get_memory, put_memory};
use crate::kernel::target::{Inlet, Interleave};
use crate::kernel::unit::{HasTarget, Resources, Unit};
use crate::kernel::unit_counters::UnitCounters;
use channel::Channel;
use device::{Attachment, Device};
use npsim_profile::Profile;
pub use qarray::QueueEntry;

/// Cycles that the steps of a command take on an idle chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Leads {
    read: Cycle,
    write: Cycle,
    atomic: Cycle,
    atomic_pulled: Cycle,
    dequeue: Cycle,
    ring_get: Cycle,
    ring_put: Cycle,
    csr: Cycle,
    /// Per longword on the pins.
    longword: Cycle,
    /// Cycles by which each further longword of a burst exceeds its bus clock.
    paced: Cycle,
    turnaround: Cycle,
    same_entry: Cycle,
}

/// All SRAM channels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sram {
    channels: Vec<Channel>,
    leads: Leads,
}

impl Sram {
    /// Zeroed memory and empty Q-arrays.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let longword = profile.sram_longword_cycles();
        let leads = Leads {
            read: profile.push_lead(profile.sram_read(), 1),
            write: profile.pull_lead(profile.sram_write(), 1),
            atomic: profile.push_lead(profile.sram_atomic(), 1),
            atomic_pulled: profile.push_lead_after_pull(
                profile.sram_atomic(),
                profile.sram_write(),
                1,
            ),
            dequeue: profile.push_lead(profile.sram_dequeue(), 1),
            ring_get: profile.push_lead(profile.sram_ring_get(), 1),
            ring_put: profile.push_lead_after_pull(
                profile.sram_ring_put(),
                profile.sram_write(),
                1,
            ),
            csr: profile.push_lead(profile.sram_csr(), 1),
            longword,
            paced: longword.saturating_sub(profile.bus_cycle()),
            turnaround: profile.sram_atomic_turnaround(),
            same_entry: profile.same_entry_gap(),
        };
        let channels = (0..profile.sram_channels())
            .map(|number| Channel::new(number, profile))
            .collect();
        Self { channels, leads }
    }

    /// The longword of memory, or the device register, at a byte address with the channel in bits
    /// 31-30; `None` if there is neither.
    #[must_use]
    pub fn read_word(&self, address: u32) -> Option<u32> {
        let channel = self.channels.get((address >> 30) as usize)?;
        let longword = address << 2 >> 4;
        let memory = channel.memory.get(longword as usize);
        memory.or_else(|| channel.device_register(longword))
    }

    /// Writes a longword of memory, or a device register, at a byte address with the channel in
    /// bits 31-30. Returns false if there is neither.
    pub fn write_word(&mut self, address: u32, value: u32) -> bool {
        let Some(channel) = self.channels.get_mut((address >> 30) as usize) else {
            return false;
        };
        let longword = address << 2 >> 4;
        channel.memory.set(longword as usize, value).is_ok()
            || channel.set_device_register(longword, value)
    }

    /// Attaches a device.
    ///
    /// # Errors
    /// Returns the reason if the device cannot be attached there.
    pub fn attach(&mut self, mut device: Box<dyn Device>, profile: &Profile) -> Result<(), String> {
        let own = device.attachment();
        let count = self.channels.len();
        let Some(channel) = self.channels.get_mut(usize::from(own.channel)) else {
            return Err(format!(
                "there is no SRAM channel {}; this chip has {count}",
                own.channel
            ));
        };
        let bytes = channel.memory.len() as u64 * 4;
        Attachment::check_address(u64::from(own.address), own.bytes, bytes)?;
        let mut others = channel.devices.iter().map(|it| it.attachment());
        if let Some(other) = others.find(|it| it.overlaps(own)) {
            return Err(format!("its window overlaps that of {}", other.name));
        }
        device.prepare(profile);
        channel.devices.push(device);
        Ok(())
    }

    /// Number of commands handed to devices.
    pub(crate) fn handovers(&self) -> u64 {
        self.channels.iter().map(|channel| channel.handovers).sum()
    }

    /// The devices of all channels.
    pub fn devices(&self) -> impl Iterator<Item = &dyn Device> {
        self.channels
            .iter()
            .flat_map(|channel| channel.devices.iter().map(|device| &**device))
    }

    /// The first device of this type.
    #[must_use]
    pub fn device<T: Device>(&self) -> Option<&T> {
        self.devices().find_map(|device| device.downcast_ref())
    }

    /// The states of the devices as bytes.
    pub(crate) fn save_devices(&self) -> Result<Vec<Vec<u8>>, StateError> {
        self.devices().map(device::StoredDevice::save).collect()
    }

    /// Takes over the devices of `other`, with the given states.
    pub(crate) fn restore_devices(
        &mut self,
        other: &Self,
        states: &[Vec<u8>],
    ) -> Result<(), StateError> {
        if other.devices().count() != states.len() {
            return Err(StateError::OtherChip("devices beside SRAM"));
        }
        let mut states = states.iter();
        for (channel, other) in self.channels.iter_mut().zip(&other.channels) {
            channel.devices.clone_from(&other.devices);
            for (device, state) in channel.devices.iter_mut().zip(states.by_ref()) {
                device.restore(state)?;
            }
        }
        Ok(())
    }

    /// Starts watching bit 0 of the longword at a byte address of a channel as a lock. Returns
    /// false if there is no memory there.
    pub(crate) fn watch_lock(
        &mut self,
        index: u16,
        name: String,
        channel: u8,
        address: u32,
    ) -> bool {
        let Some(channel) = self.channels.get_mut(channel as usize) else {
            return false;
        };
        let Some(value) = channel.memory.get(address as usize / 4) else {
            return false;
        };
        channel.locks.watch(index, name, address / 4, value);
        true
    }

    /// Enqueues, for the core, a whole one-buffer packet or a free buffer. Returns false if the
    /// channel, the entry or the memory of the link does not exist.
    pub fn enqueue(&mut self, channel: u8, entry: u8, buffer: u32) -> bool {
        let Some(channel) = self.channels.get_mut(channel as usize) else {
            return false;
        };
        let Some(entry) = channel.entries.get_mut(entry as usize) else {
            return false;
        };
        entry.enqueue(&mut channel.memory, buffer, None).is_ok()
    }

    /// Dequeues for the core: 0 if the queue is empty, `None` if the channel, the entry or the
    /// memory of the link does not exist.
    pub fn dequeue(&mut self, channel: u8, entry: u8) -> Option<u32> {
        let channel = self.channels.get_mut(channel as usize)?;
        channel
            .entries
            .get_mut(entry as usize)?
            .dequeue(&channel.memory)
            .ok()
    }

    /// Accounts for the core reading longwords of a channel now. Returns how long it waits for the
    /// channel's pins.
    pub(crate) fn core_read(&mut self, channel: u8, words: u8, fabric: &mut Fabric) -> Cycle {
        let leads = &self.leads;
        self.channels
            .get_mut(channel as usize)
            .map_or(0, |channel| channel.core_access(words, 0, fabric, leads))
    }

    /// Accounts for the core taking a buffer off a queue of a channel now. Returns how long it
    /// waits for the channel's pins.
    pub(crate) fn core_dequeue(&mut self, channel: u8, fabric: &mut Fabric) -> Cycle {
        let leads = &self.leads;
        self.channels
            .get_mut(channel as usize)
            .map_or(0, |channel| channel.core_access(1, 0, fabric, leads))
    }

    /// Accounts for the core putting a buffer back on a queue of a channel now. Returns how long it
    /// waits for the channel's pins.
    pub(crate) fn core_enqueue(&mut self, channel: u8, fabric: &mut Fabric) -> Cycle {
        let leads = &self.leads;
        self.channels
            .get_mut(channel as usize)
            .map_or(0, |channel| channel.core_access(0, 1, fabric, leads))
    }

    /// Writes longwords for the core now, at a byte address with the channel in bits 31-30. Returns
    /// how long the core waits for the channel's pins.
    pub(crate) fn core_write(&mut self, address: u32, words: &[u32], fabric: &mut Fabric) -> Cycle {
        let leads = &self.leads;
        let waited = self
            .channels
            .get_mut((address >> 30) as usize)
            .map_or(0, |channel| {
                channel.update_locks_for_core(address, words, fabric);
                channel.core_access(0, words.len() as u8, fabric, leads)
            });
        for (at, &word) in (0..).zip(words) {
            // Nothing is written beyond the memory: plans are checked before they start.
            self.write_word(address.wrapping_add(4 * at), word);
        }
        waited
    }

    /// Changes a longword of memory for the core now, as an atomic operation. Returns its old value
    /// and how long the core waits.
    pub(crate) fn core_change(
        &mut self,
        address: u32,
        new: impl FnOnce(u32) -> u32,
        fabric: &mut Fabric,
    ) -> (u32, Cycle) {
        let leads = &self.leads;
        self.channels
            .get_mut((address >> 30) as usize)
            .map_or((0, 0), |channel| {
                let old = channel.core_change(address, new, fabric);
                (old, channel.core_access(1, 1, fabric, leads))
            })
    }

    /// The buffers on a queue, first to last; `None` if there is no such queue or its head is not
    /// in the Q-array.
    #[must_use]
    pub fn chain(&self, channel: u8, entry: u8) -> Option<Vec<u32>> {
        let channel = self.channels.get(channel as usize)?;
        let entry = channel.entries.get(entry as usize)?;
        entry.chain(&channel.memory)
    }

    /// The longwords on a Q-array entry used as a ring or a journal, oldest first.
    pub fn entry_words(&self, channel: u8, entry: u8) -> Vec<u32> {
        let channel = self.channels.get(channel as usize);
        let found = channel.and_then(|it| Some((it, it.entries.get(entry as usize)?)));
        found.map_or_else(Vec::new, |(it, entry)| entry.words(&it.memory).collect())
    }

    /// Channel, entry and fill level of the Q-array entries that were loaded or used.
    pub fn entries_in_use(&self) -> impl Iterator<Item = (u8, u8, u32)> + '_ {
        (0..).zip(&self.channels).flat_map(|(channel, it)| {
            let entries = (0..).zip(&it.entries);
            let used = entries.filter(|(_, entry)| **entry != QueueEntry::default());
            used.map(move |(number, entry)| (channel, number, entry.count()))
        })
    }

    /// All words on queues, rings and journals. The use of an entry is not known, so it is read
    /// both as a queue and as a ring; an entry that begins at a buffer is not a ring.
    pub fn queued_words(&self, is_buffer: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut words = Vec::new();
        for channel in &self.channels {
            for entry in &channel.entries {
                let chain = entry.chain(&channel.memory).unwrap_or_default();
                let queue = chain.first().is_some_and(|first| is_buffer(*first));
                words.extend(chain);
                if !queue {
                    words.extend(entry.words(&channel.memory));
                }
            }
        }
        words
    }

    /// Raises the fault for a command to a channel that does not exist.
    #[cold]
    #[inline(never)]
    fn refuse(&self, slot: CommandId, number: usize, fabric: &mut Fabric) {
        let count = self.channels.len();
        let command = fabric.flight(slot).command;
        fabric.release(Self::FIRST);
        let message = format!(
            "sram[{}] at address {:#x}: there is no SRAM channel {number}; this chip has {count}",
            command.op.info().name,
            command.address
        );
        let help = "address bits 31-30 select the channel; check the address operands";
        fabric.fault(slot, None, message, Some(help.to_owned()));
        fabric.finish(slot);
    }

    /// The state of a Q-array entry.
    #[must_use]
    pub fn entry(&self, channel: u8, entry: u8) -> Option<&QueueEntry> {
        self.channels
            .get(channel as usize)?
            .entries
            .get(entry as usize)
    }

    /// Sets a Q-array entry as if a descriptor of these three longwords had been loaded. Returns
    /// false if there is no such entry.
    pub(crate) fn set_entry(&mut self, channel: u8, entry: u8, descriptor: [u32; 3]) -> bool {
        let entry = self
            .channels
            .get_mut(channel as usize)
            .and_then(|c| c.entries.get_mut(entry as usize));
        entry
            .map(|entry| *entry = QueueEntry::from_descriptor(descriptor))
            .is_some()
    }
}

impl Unit for Sram {
    const CHANNELS: u8 = 4;
    const MEMORY: bool = true;
    const RESOURCES: Resources = Resources::Directions;

    type Sideband<'a> = ();

    fn inlet(profile: &Profile) -> Inlet {
        Inlet {
            channels: profile.sram_channels(),
            depth: profile.sram_inlet_depth(),
            interleave: Interleave::TopBits,
            shared: false,
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let number = (fabric.flight(slot).command.address >> 30) as usize;
        match self.channels.get_mut(number) {
            Some(channel) => channel.arrive(slot, fabric, &self.leads),
            None => self.refuse(slot, number, fabric),
        }
    }

    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let number = (fabric.flight(slot).command.address >> 30) as usize;
        self.channels[number].pulled(slot, fabric, &self.leads);
    }

    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, (): ()) {
        fabric.finish(slot);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    fn turn(&mut self, channel: u8, fabric: &mut Fabric) {
        if let Some(channel) = self.channels.get_mut(channel as usize) {
            channel.turn(fabric, &self.leads);
        }
    }

    fn counters(&self) -> impl Iterator<Item = &UnitCounters> {
        self.channels.iter().map(|channel| &channel.counters)
    }

    fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.channels
            .iter()
            .flat_map(|channel| channel.locks.iter())
    }

    fn ahead_of(&self, slot: CommandId, channel: u8) -> Option<Vec<CommandId>> {
        self.channels.get(usize::from(channel))?.ahead_of(slot)
    }

    fn save(&self, out: &mut Vec<u8>) {
        for channel in &self.channels {
            put_memory(&channel.memory, out);
        }
    }

    fn restore(&mut self, own: &Self, rest: &mut &[u8]) -> Result<(), StateError> {
        if self.channels.len() != own.channels.len() {
            return Err(StateError::OtherChip("SRAM channels"));
        }
        for (channel, own) in self.channels.iter_mut().zip(&own.channels) {
            if !channel.is_compatible_with(own) {
                return Err(StateError::OtherChip("Q-array entries or FIFOs"));
            }
            channel.memory = own.memory.clone();
            get_memory(&mut channel.memory, rest)?;
        }
        Ok(())
    }

    fn adopt_unsaved(&mut self, from: &mut Self) {
        for (own, from) in self.channels.iter_mut().zip(&mut from.channels) {
            std::mem::swap(&mut own.memory, &mut from.memory);
            std::mem::swap(&mut own.devices, &mut from.devices);
            own.handovers = from.handovers;
        }
    }

    fn changes(&self) -> u64 {
        { self.channels.iter() }
            .map(|channel| channel.memory.changes())
            .sum()
    }

    fn memory_bytes(&self) -> u64 {
        let words: usize = self.channels.iter().map(|it| it.memory.len()).sum();
        4 * words as u64
    }

    fn share_memory(&mut self) {
        for channel in &mut self.channels {
            channel.memory.share();
        }
    }

    fn host_bytes(&self, beside: Option<&Self>) -> usize {
        let own = self.channels.iter().enumerate();
        own.map(|(number, channel)| {
            let other = beside.and_then(|it| it.channels.get(number));
            channel.memory.unshared_bytes(other.map(|it| &it.memory))
        })
        .sum()
    }
}

/// Whether a command works on a Q-array entry.
const fn uses_entry(op: CommandOp) -> bool {
    use CommandOp as Op;
    matches!(
        op,
        Op::SramPut
            | Op::SramGet
            | Op::SramJournal
            | Op::SramFastJournal
            | Op::SramDequeue
            | Op::SramEnqueue
            | Op::SramEnqueueTail
            | Op::SramWrQdesc
            | Op::SramWrQdescCount
            | Op::SramRdQdescOther
            | Op::SramRdQdescTail
            | Op::SramRdQdescHead
    )
}
