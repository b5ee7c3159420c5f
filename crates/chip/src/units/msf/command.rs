//! Commands of microengines to the media interface, and the interface's registers.

use npsim_isa::{CommandOp, msf_csr};

use super::calendar::ENTRIES;
use super::rbuf::ElementHolder;
use super::receive::FREELISTS;
use super::{DATA_WINDOW, Msf};
use crate::Cycle;
use crate::kernel::check::Check;
use crate::kernel::event::Event;
use crate::kernel::fabric::{BusCommand, CommandId, Fabric};
use crate::kernel::freelist_entry::{FreelistEntry, is_freelist};
use crate::kernel::port_io::PacketTag;
use crate::kernel::saved_memory::StateError;
use crate::kernel::sideband::TransferRegisters;
use crate::kernel::target::{Inlet, Interleave};
use crate::kernel::unit::{HasTarget, Resources, Unit};
use crate::kernel::unit_counters::{PathDirection, UnitCounters};
use npsim_profile::{MediaBus, Profile};

/// Scratch value of a write whose data has been pulled.
const PULLED: u64 = 1;
const WINDOW_END: u32 = DATA_WINDOW + 0x2000;
const CONTROL: u32 = msf_csr::TBUF_ELEMENT_CONTROL_0 as u32;
const CONTROL_END: u32 = CONTROL + 128 * 8;

impl Msf {
    fn read(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let command = fabric.flight(slot).command;
        let words = words_of(command.op, command.count);
        let address = command.media_address();
        let mut data = [0; 32];
        let out = &mut data[..words as usize];
        if (DATA_WINDOW..WINDOW_END).contains(&address) {
            if let Err(error) = self.read_window(address, out) {
                fabric.fault(slot, None, format!("msf[read]: {error}"), None);
            }
        } else {
            for (i, word) in out.iter_mut().enumerate() {
                let at = address.wrapping_add(4 * i as u32);
                if let Some(value) = self.read_register(at, fabric.now) {
                    *word = value;
                } else {
                    self.unknown(slot, "read", at, fabric);
                }
            }
        }
        fabric.flight_mut(slot).data = data;
        fabric.push(slot, words);
    }

    fn write(
        &mut self,
        slot: CommandId,
        data: &[u32],
        fabric: &mut Fabric,
        registers: &mut dyn TransferRegisters,
    ) {
        let address = fabric.flight(slot).command.media_address();
        if (DATA_WINDOW..WINDOW_END).contains(&address) {
            self.last_activity = fabric.now;
            if let Err(error) = self.write_window(address, data, PacketTag::default()) {
                fabric.fault(slot, None, format!("msf[write]: {error}"), None);
            }
        } else if (CONTROL..CONTROL_END).contains(&address) {
            self.write_control(slot, address, data, fabric);
        } else {
            for (i, &word) in data.iter().enumerate() {
                self.write_register(
                    slot,
                    address.wrapping_add(4 * i as u32),
                    word,
                    fabric,
                    registers,
                );
            }
        }
    }

    fn write_control(&mut self, slot: CommandId, address: u32, data: &[u32], fabric: &mut Fabric) {
        if !address.is_multiple_of(8) || !data.len().is_multiple_of(2) {
            let message = format!(
                "{} longwords written at 0x{address:04x}: the control words of a TBUF element are two longwords at a multiple of 8",
                data.len()
            );
            let help = "write both longwords with one msf[write, ..., 2]".to_owned();
            fabric.fault(slot, None, message, Some(help));
            return;
        }
        for (i, pair) in data.chunks_exact(2).enumerate() {
            let number = (address - CONTROL) / 8 + i as u32;
            self.last_activity = fabric.now;
            let Some(element) = self.transmit.tbuf.element_of(number) else {
                let tbuf = &self.transmit.tbuf;
                let message = format!(
                    "TBUF element {number} does not exist, the last is {}",
                    tbuf.number_of(tbuf.elements() - 1)
                );
                let help = tbuf.numbering().to_owned();
                fabric.fault(slot, None, message, Some(help));
                continue;
            };
            match self.transmit.set_valid(element, [pair[0], pair[1]], fabric) {
                Ok(()) => self.trace_tbuf_valid(element, slot, fabric),
                Err(refusal) => {
                    let help = refusal.help.to_owned();
                    fabric.fault(slot, None, refusal.message, Some(help));
                }
            }
        }
    }

    /// A register's current value; `None` if there is no register at the address.
    #[must_use]
    pub fn read_register(&self, address: u32, now: Cycle) -> Option<u32> {
        if (CONTROL..CONTROL_END).contains(&address) {
            let tbuf = &self.transmit.tbuf;
            let control = tbuf.control(tbuf.element_of((address - CONTROL) / 8)?)?;
            return Some(control[address as usize / 4 % 2]);
        }
        if let Some(calendar) = &self.calendar
            && let Some(place) = Status::at(address)
        {
            return Some(match place {
                Status::Length => calendar.length(),
                Status::Entry(n) => calendar.entry(n),
                Status::Port(n) => calendar.status(n, &self.ports, now) as u32,
                Status::Ports(n) => calendar.statuses(n, &self.ports, now),
            });
        }
        let known = self.register(address)?;
        Some(match known {
            msf_csr::TX_SEQUENCE_0 => self.transmit.tbuf.sequence(),
            // With one partition nothing is ever pending on the others.
            msf_csr::TX_SEQUENCE_1 | msf_csr::TX_SEQUENCE_2 => 1 << 31,
            msf_csr::RX_THREAD_FREELIST_TIMEOUT_0
            | msf_csr::RX_THREAD_FREELIST_TIMEOUT_1
            | msf_csr::RX_THREAD_FREELIST_TIMEOUT_2 => {
                let list = (known - msf_csr::RX_THREAD_FREELIST_TIMEOUT_0) as usize / 4;
                (self.receive.timeout(list) / self.parameters.timeout_unit) as u32
            }
            _ => self.registers[known as usize / 4],
        })
    }

    /// The register at a byte address, from those common to both buses and those of this one.
    fn register(&self, address: u32) -> Option<u16> {
        let address = u16::try_from(address).ok().filter(|&a| a < 0x100)?;
        let other = self.parameters.bus == MediaBus::Spi4
            && (msf_csr::RX_UP_CONTROL_0..=msf_csr::TX_UP_CONTROL_3).contains(&address);
        msf_csr::name(address).filter(|_| !other).map(|_| address)
    }

    fn unknown(&self, slot: CommandId, what: &str, address: u32, fabric: &mut Fabric) {
        let message = format!("msf[{what}]: no register is at 0x{address:04x}");
        let help = match self.parameters.bus {
            MediaBus::Spi3 if Status::at(address).is_some() => {
                Some("calendars and FIFO status are for SPI-4; this interface runs SPI-3")
            }
            MediaBus::Spi4 if address < 0x100 && msf_csr::name(address as u16).is_some() => {
                Some("RX_UP_CONTROL and TX_UP_CONTROL are for SPI-3; this interface runs SPI-4")
            }
            _ => None,
        };
        fabric.fault(slot, None, message, help.map(str::to_owned));
    }

    fn write_register(
        &mut self,
        slot: CommandId,
        address: u32,
        data: u32,
        fabric: &mut Fabric,
        registers: &mut dyn TransferRegisters,
    ) {
        if let Some(calendar) = &mut self.calendar
            && let Some(place) = Status::at(address)
        {
            match place {
                Status::Length => calendar.set_length(data),
                Status::Entry(n) => calendar.set_entry(n, data),
                // RX_PORT_CALENDAR_STATUS: sent instead of the fill of RBUF, in a mode that is not
                // modelled.
                Status::Port(_) => {}
                Status::Ports(n) => {
                    let message = format!("TX_MULTIPLE_PORT_STATUS_{n} is read only");
                    fabric.fault(slot, None, message, None);
                }
            }
            return;
        }
        // Threads write these two registers for each mpacket; both buses have them.
        match address {
            DONE => return self.element_done(slot, data, fabric),
            FIRST_LIST => return self.enlist(slot, 0, data, fabric, registers),
            _ => {}
        }
        let Some(known) = self.register(address) else {
            self.unknown(slot, "write", address, fabric);
            return;
        };
        match known {
            msf_csr::RX_THREAD_FREELIST_1 | msf_csr::RX_THREAD_FREELIST_2 => {
                let list = (known - msf_csr::RX_THREAD_FREELIST_0) as usize / 4;
                self.enlist(slot, list % FREELISTS, data, fabric, registers);
            }
            msf_csr::RX_THREAD_FREELIST_TIMEOUT_0
            | msf_csr::RX_THREAD_FREELIST_TIMEOUT_1
            | msf_csr::RX_THREAD_FREELIST_TIMEOUT_2 => {
                let list = (known - msf_csr::RX_THREAD_FREELIST_TIMEOUT_0) as usize / 4;
                self.receive.set_timeout(
                    list,
                    u64::from(data) * self.parameters.timeout_unit,
                    fabric,
                );
            }
            msf_csr::TX_SEQUENCE_0 | msf_csr::TX_SEQUENCE_1 | msf_csr::TX_SEQUENCE_2 => {
                let message = format!(
                    "{} is read only",
                    msf_csr::name(known).unwrap_or("this register")
                );
                fabric.fault(slot, None, message, None);
            }
            msf_csr::MSF_RX_CONTROL | msf_csr::MSF_TX_CONTROL => {
                let old = self.registers[known as usize / 4];
                // Bits 3-2 are the element size; CSIX and widths are above.
                if (old ^ data) & (3 << 2 | 0x007f_0000) != 0 {
                    let message = format!(
                        "{} is set to 0x{data:08x}: mode and element size stay as they were at boot (0x{old:08x})",
                        msf_csr::name(known).unwrap_or("the control register")
                    );
                    let help =
                        "set the element size in the project file's [media] table".to_owned();
                    fabric.fault(slot, None, message, Some(help));
                }
                self.registers[known as usize / 4] = data;
            }
            _ => self.registers[known as usize / 4] = data,
        }
    }

    /// Handles a write to a receive freelist: puts the thread that `data` names on it, or gives it
    /// an element at once.
    ///
    /// The status of an mpacket is two longwords, for which the thread's IN registers have to be
    /// reserved in the scoreboard. A core that lists one of its own threads has done so at issue;
    /// for any other thread it is done here (`claimed_by_issuer`). `lists_others` tells the
    /// deadlock search (`npsim-inspect`, `liveness/raise.rs`) that such a write may wake any
    /// context. `last_activity` advances only when an element was handed out: time in which threads
    /// merely enlist may be skipped (`periodic_skip.rs`).
    fn enlist(
        &mut self,
        slot: CommandId,
        list: usize,
        data: u32,
        fabric: &mut Fabric,
        registers: &mut dyn TransferRegisters,
    ) {
        match FreelistEntry::from_register(data, &fabric.profile) {
            Ok(waiter) => {
                let command = &fabric.flight(slot).command;
                if !waiter.claimed_by_issuer(command) {
                    registers.release_registers(waiter.me, waiter.absolute_register(), 2);
                }
                self.receive.lists_others |=
                    (command.me, command.context) != (waiter.me, waiter.context);
                let handed = self.receive.handed;
                if let Err(message) =
                    self.receive
                        .enlist(list, waiter, self.parameters.freelist_depth, fabric)
                {
                    fabric.fault(slot, None, message, None);
                }
                if self.receive.handed != handed {
                    self.last_activity = fabric.now;
                }
            }
            Err(message) => {
                let message = format!("RX_THREAD_FREELIST_{list}: {message}");
                let help = match self.parameters.bus {
                    MediaBus::Spi3 => {
                        "on the IXP2400 bit 9 is the cluster and bits 8-7 the microengine in it"
                    }
                    MediaBus::Spi4 => {
                        "on the IXP2800 bits 11-7 are the microengine's number, as in ACTIVE_CTX_STS"
                    }
                }
                .to_owned();
                fabric.fault(slot, None, message, Some(help));
            }
        }
    }

    fn element_done(&mut self, slot: CommandId, data: u32, fabric: &mut Fabric) {
        let rbuf = &self.receive.rbuf;
        let Some(element) = rbuf.element_of(data) else {
            let last = (rbuf.elements().len() - 1) as u8;
            let message = format!(
                "RBUF_ELEMENT_DONE: element {data} does not exist, the last is {}",
                rbuf.number_of(last)
            );
            let help = "the element number is in bits 30-24 of the receive status word".to_owned();
            fabric.fault(slot, None, message, Some(help));
            return;
        };
        self.last_activity = fabric.now;
        match self.receive.rbuf.release(element) {
            Ok(()) => {
                self.trace_rbuf_freed(element, slot, fabric);
                // An mpacket may have been waiting for the element.
                self.receive.arbitrate(&self.ports, fabric);
            }
            Err(holder) => {
                let state = match holder {
                    ElementHolder::Filling => "a frame is being received into it",
                    ElementHolder::Full => "it holds an mpacket that no thread has got yet",
                    _ => "it is free",
                };
                let message = format!("RBUF element {data} is freed twice: {state}");
                let help = "write each element number to RBUF_ELEMENT_DONE once for each receive status word".to_owned();
                fabric.fault(slot, Some(Check::RbufDoubleFree), message, Some(help));
            }
        }
    }
}

/// Whether a command that has not taken effect puts a thread with this signal on a freelist, or may
/// do so because its data is not known. `pulled` is the data that it already has.
#[must_use]
pub fn may_join_freelist(
    command: &BusCommand,
    pulled: Option<u32>,
    (me, context, signal): (u8, u8, u8),
    profile: &Profile,
) -> bool {
    let data = match command.op {
        CommandOp::MsfFastWr => Some(command.fast_data()),
        CommandOp::MsfWrite | CommandOp::MsfWrite64 => pulled,
        _ => return false,
    };
    let is_meant = |data| {
        FreelistEntry::from_register(data, profile)
            .is_ok_and(|it| (it.me, it.context, it.signal) == (me, context, signal))
    };
    is_freelist(command.media_address()) && data.is_none_or(is_meant)
}

/// The registers that threads write for each mpacket.
const DONE: u32 = msf_csr::RBUF_ELEMENT_DONE as u32;
const FIRST_LIST: u32 = msf_csr::RX_THREAD_FREELIST_0 as u32;

impl Unit for Msf {
    const RESOURCES: Resources = Resources::Directions;

    type Sideband<'a> = &'a mut dyn TransferRegisters;

    fn inlet(profile: &Profile) -> Inlet {
        Inlet {
            channels: 1,
            depth: profile.msf_inlet_depth(),
            interleave: Interleave::None,
            shared: false,
        }
    }

    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let command = &fabric.flight(slot).command;
        let (op, count, now) = (command.op, command.count, fabric.now);
        // Threads write registers for each mpacket, and nothing delays these writes.
        if op == CommandOp::MsfFastWr {
            fabric.release(Self::FIRST);
            self.counters.started(op, 1, 0);
            fabric.record_service(slot, Self::FIRST, 1, now, now);
            fabric.ready_at(slot, now + self.parameters.fast_write_lead);
            return self.counters.count_arrival(now);
        }
        let words = words_of(op, count);
        let occupied = u64::from(words) * self.parameters.word;
        let start = match op {
            CommandOp::MsfWrite | CommandOp::MsfWrite64 => self.write_free.max(now),
            _ => self.read_free.max(now),
        };
        if start > now {
            fabric.events.post(start, Event::Turn(Self::FIRST));
        } else {
            fabric.release(Self::FIRST);
        }
        match op {
            CommandOp::MsfWrite | CommandOp::MsfWrite64 => {
                self.write_free = start + occupied;
                fabric.record_service(slot, Self::FIRST, 1, start, self.write_free);
                self.counters.started(op, words, start - now);
                self.counters.used(PathDirection::Write, occupied);
                fabric.pull(slot, words, start + self.parameters.write_lead);
            }
            CommandOp::MsfRead | CommandOp::MsfRead64 => {
                self.read_free = start + occupied;
                fabric.record_service(slot, Self::FIRST, 0, start, self.read_free);
                self.counters.started(op, words, start - now);
                self.counters.used(PathDirection::Read, occupied);
                fabric.ready_at(slot, start + self.parameters.read_lead);
            }
            other => {
                let message = format!("the media interface has no command {}", other.info().name);
                fabric.fault(slot, None, message, None);
                fabric.retire(slot);
                return;
            }
        }
        self.counters.count_arrival(now);
    }

    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        // Registers take effect in `ready`, where the microengines are accessible.
        fabric.flight_mut(slot).unit_scratch = PULLED;
        fabric.ready_at(slot, fabric.now);
    }

    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, registers: Self::Sideband<'_>) {
        self.counters.count_departure(fabric.now);
        let flight = fabric.flight(slot);
        let command = &flight.command;
        if command.op == CommandOp::MsfFastWr {
            let (address, data) = (command.media_address(), command.fast_data());
            self.write_register(slot, address, data, fabric, registers);
            fabric.finish(slot);
        } else if flight.unit_scratch == PULLED {
            let (words, data) = (usize::from(flight.words), flight.data);
            let data = &data[..words.min(data.len())];
            self.write(slot, data, fabric, registers);
            fabric.finish(slot);
        } else {
            self.read(slot, fabric);
        }
    }

    fn turn(&mut self, _: u8, fabric: &mut Fabric) {
        fabric.release(Self::FIRST);
    }

    fn counters(&self) -> impl Iterator<Item = &UnitCounters> {
        std::iter::once(&self.counters)
    }

    fn restore(&mut self, _: &Self, _: &mut &[u8]) -> Result<(), StateError> {
        self.complete_saved();
        Ok(())
    }

    fn adopt_unsaved(&mut self, _: &mut Self) {
        self.complete_saved();
    }
}

/// Number of longwords that a command moves.
fn words_of(op: CommandOp, count: u8) -> u8 {
    let info = op.info();
    let words = info.pull_words.of(u32::from(count)) + info.push_words.of(u32::from(count));
    words.min(32) as u8
}

/// A register of the FIFO status channel.
enum Status {
    /// `TX_CALENDAR_LENGTH`.
    Length,
    /// `TX_CALENDAR_n`.
    Entry(usize),
    /// `TX_PORT_STATUS_n`.
    Port(usize),
    /// `TX_MULTIPLE_PORT_STATUS_n`.
    Ports(usize),
}

impl Status {
    /// The register at a byte address of an SPI-4 interface.
    fn at(address: u32) -> Option<Self> {
        const SHARED: u32 = msf_csr::TX_MULTIPLE_PORT_STATUS_0 as u32;
        const SHARED_END: u32 = SHARED + ENTRIES as u32 / 16 * 4;
        const CALENDAR: u32 = msf_csr::TX_CALENDAR_0 as u32;
        const STATUS: u32 = msf_csr::RX_PORT_CALENDAR_STATUS as u32;
        const STATUS_END: u32 = STATUS + ENTRIES as u32 * 4;
        const LENGTH: u32 = msf_csr::TX_MPHY_POLL_LIMIT as u32;
        let word = |base: u32| ((address - base) / 4) as usize;
        match address & !3 {
            LENGTH => Some(Self::Length),
            SHARED..SHARED_END => Some(Self::Ports(word(SHARED))),
            CALENDAR..STATUS => Some(Self::Entry(word(CALENDAR))),
            STATUS..STATUS_END => Some(Self::Port(word(STATUS))),
            _ => None,
        }
    }
}
