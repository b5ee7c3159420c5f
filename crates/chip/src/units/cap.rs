//! The CSR access proxy: chip-wide registers, interrupts of the
//! general-purpose core, signals between threads, the reflector, and a mailbox
//! in place of PCI.

use npsim_isa::{CONTEXTS, CommandOp, cap_csr};
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::{BusCommand, CommandId, Fabric, TransferKind};
use crate::kernel::sideband::{CsrBank, InterruptLine, Interrupts};
use crate::kernel::signal_source::SignalSource;
use crate::kernel::target::{Inlet, Interleave};
use crate::kernel::unit::{HasTarget, Unit};
use crate::kernel::unit_counters::{PathDirection, UnitCounters};
use npsim_profile::Profile;

/// Threads that have a message register: 16 microengines of eight contexts.
const THREADS: usize = 128;
/// Number of PCI longwords that are modelled.
pub(crate) const MAILBOX: usize = 4;

/// What the proxy reaches besides its own registers.
pub struct ProxyTargets<'a> {
    /// Units whose registers are in the proxy's address space.
    pub banks: [&'a mut dyn CsrBank; 2],
    /// The general-purpose core, which threads interrupt.
    pub core: &'a mut dyn Interrupts,
}

impl ProxyTargets<'_> {
    fn read(&self, address: u16) -> Option<u32> {
        self.banks.iter().find_map(|bank| bank.read_csr(address))
    }

    fn write(&mut self, address: u16, value: u32, fabric: &mut Fabric) -> bool {
        let mut banks = self.banks.iter_mut();
        banks.any(|bank| bank.write_csr(address, value, fabric))
    }
}

/// The CSR access proxy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cap {
    messages: Vec<u32>,
    summary: [u32; THREADS / 32],
    self_destruct: [u32; 2],
    misc_control: u32,
    product_id: u32,
    mailbox: [u32; MAILBOX],
    /// When the next command can start; one register per bus clock.
    free_at: Cycle,
    bus_cycle: Cycle,
    read_lead: Cycle,
    write_lead: Cycle,
    fast_write_lead: Cycle,
    interthread_lead: Cycle,
    reflect_lead: Cycle,
    counters: UnitCounters,
    /// Usage counts.
    pub uses: CapUses,
}

/// How often the CSR proxy performed each operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapUses {
    /// Registers read.
    pub reads: u64,
    /// Registers written, fast writes included.
    pub writes: u64,
    /// Signals raised through `INTERTHREAD_SIG`.
    pub interthread_signals: u64,
    /// Reflector transfers.
    pub reflections: u64,
}

impl Cap {
    /// All registers clear.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let inlet = profile.issue_to_inlet();
        // The reflector moves the words over both a pull bus and a push bus.
        let both_ways = inlet + 2 * (profile.bus_cycle() + profile.transfer_latency());
        Self {
            messages: vec![0; THREADS],
            summary: [0; THREADS / 32],
            self_destruct: [0; 2],
            misc_control: 0,
            product_id: profile.product_id(),
            mailbox: [0; MAILBOX],
            free_at: 0,
            bus_cycle: profile.bus_cycle(),
            read_lead: profile.push_lead(profile.cap_read(), 1),
            write_lead: profile.pull_lead(profile.cap_write(), 1),
            fast_write_lead: profile.cap_fast_write().saturating_sub(inlet),
            interthread_lead: profile.interthread_signal().saturating_sub(inlet),
            reflect_lead: profile.cap_reflect().saturating_sub(both_ways),
            counters: UnitCounters::default(),
            uses: CapUses::default(),
        }
    }

    /// The PCI mailbox.
    #[must_use]
    pub const fn mailbox(&self) -> &[u32; MAILBOX] {
        &self.mailbox
    }

    /// Starts a reflector transfer: the words leave the other microengine's OUT
    /// registers (read) or the issuer's (write).
    fn reflect(&mut self, slot: CommandId, command: BusCommand, start: Cycle, fabric: &mut Fabric) {
        let Some((me, _)) = reflected(command.address, &fabric.profile) else {
            let message = format!(
                "cap[{}]: 0x{:x} names no microengine",
                command.op.info().name,
                command.address
            );
            let help =
                "bits 14-10 are the microengine's five-bit number, bits 8-2 its transfer register"
                    .to_owned();
            fabric.fault(slot, None, message, Some(help));
            fabric.finish(slot);
            return;
        };
        self.uses.reflections += 1;
        if command.op == CommandOp::CapReflectRead {
            // The fabric pulls from the registers that the command names. Hence it names those of
            // the other side until the words have arrived, and the scratch field keeps their
            // destination.
            let own = u64::from(command.transfer_me) << 8 | u64::from(command.transfer);
            let flight = fabric.flight_mut(slot);
            flight.unit_scratch = own;
            flight.command.transfer_me = me;
            flight.command.transfer = register(command.address);
            flight.command.transfer_kind = TransferKind::S;
        }
        fabric.pull(slot, command.count, start + self.reflect_lead);
    }

    /// Reads a register for the general-purpose core now; `None` if it is not one of the proxy's
    /// own.
    pub(crate) fn core_read(&mut self, address: u16) -> Option<u32> {
        self.uses.reads += 1;
        self.read_own(address)
    }

    /// Writes a register for the general-purpose core now. Returns false if it is not a writable
    /// register of the proxy's own.
    pub(crate) fn core_write(&mut self, address: u16, value: u32) -> bool {
        self.uses.writes += 1;
        self.write_own(address, value)
    }

    /// Raises a signal of a thread for the general-purpose core now, as [`Self::interthread`] does.
    /// Returns false if there is no such thread or signal.
    pub(crate) fn core_signal(&mut self, value: u32, fabric: &mut Fabric) -> bool {
        let Some(event) = signal_event(value, SignalSource::UNKNOWN, &fabric.profile) else {
            return false;
        };
        self.uses.interthread_signals += 1;
        fabric.events.post(fabric.now, event);
        true
    }

    fn read_mailbox(&self, address: u32) -> Option<u32> {
        self.mailbox.get(address as usize / 4).copied()
    }

    fn write_mailbox(&mut self, slot: CommandId, address: u32, value: u32, fabric: &mut Fabric) {
        match self.mailbox.get_mut(address as usize / 4) {
            Some(word) => *word = value,
            None => unknown(slot, address, fabric),
        }
    }

    fn read(&mut self, address: u32, behind: &ProxyTargets<'_>) -> Option<u32> {
        self.uses.reads += 1;
        let address = known(address)?;
        // Write-only registers and the loader's clock, reset and strap
        // registers read as zero.
        let own = self.read_own(address);
        Some(own.or_else(|| behind.read(address)).unwrap_or(0))
    }

    /// Reads one of the proxy's own registers; `None` if there is none.
    fn read_own(&mut self, address: u16) -> Option<u32> {
        Some(match address {
            cap_csr::THREAD_MESSAGE_0..=cap_csr::THREAD_MESSAGE_127 => {
                let thread = usize::from(address - cap_csr::THREAD_MESSAGE_0) / 4;
                self.summary[thread / 32] &= !(1 << (thread % 32));
                std::mem::take(&mut self.messages[thread])
            }
            cap_csr::THREAD_MESSAGE_SUMMARY_0..=cap_csr::THREAD_MESSAGE_SUMMARY_3 => {
                self.summary[usize::from(address - cap_csr::THREAD_MESSAGE_SUMMARY_0) / 4]
            }
            cap_csr::SELF_DESTRUCT_0 | cap_csr::SELF_DESTRUCT_1 => std::mem::take(
                &mut self.self_destruct[usize::from(address - cap_csr::SELF_DESTRUCT_0) / 4],
            ),
            cap_csr::PRODUCT_ID => self.product_id,
            cap_csr::CAP_MISC_CONTROL => self.misc_control,
            _ => return None,
        })
    }

    /// Writes one of the proxy's own registers. Returns false if there is none.
    fn write_own(&mut self, address: u16, value: u32) -> bool {
        match address {
            cap_csr::THREAD_MESSAGE_0..=cap_csr::THREAD_MESSAGE_127 => {
                let thread = usize::from(address - cap_csr::THREAD_MESSAGE_0) / 4;
                self.messages[thread] = value;
                self.summary[thread / 32] |= 1 << (thread % 32);
            }
            cap_csr::SELF_DESTRUCT_0 | cap_csr::SELF_DESTRUCT_1 => {
                self.self_destruct[usize::from(address - cap_csr::SELF_DESTRUCT_0) / 4] |= value;
            }
            cap_csr::CAP_MISC_CONTROL => self.misc_control = value,
            _ => return false,
        }
        true
    }

    fn write(
        &mut self,
        slot: CommandId,
        address: u32,
        value: u32,
        fabric: &mut Fabric,
        behind: &mut ProxyTargets<'_>,
    ) {
        self.uses.writes += 1;
        let Some(address) = known(address) else {
            unknown(slot, address, fabric);
            return;
        };
        match address {
            cap_csr::INTERTHREAD_SIGNAL => self.interthread(slot, value, fabric),
            cap_csr::XSCALE_INT_A => {
                behind
                    .core
                    .interrupt(InterruptLine::A, thread_of(slot, fabric), fabric);
            }
            cap_csr::XSCALE_INT_B => {
                behind
                    .core
                    .interrupt(InterruptLine::B, thread_of(slot, fabric), fabric);
            }
            _ if self.write_own(address, value) => {}
            _ if behind.write(address, value, fabric) => {}
            _ => {
                let name = cap_csr::name(address).unwrap_or("this register");
                let message = format!("cap[write]: microcode cannot write {name} in this model");
                let help = "clocks, resets and straps are set by the loader".to_owned();
                fabric.fault(slot, None, message, Some(help));
            }
        }
    }

    /// Raises a signal: microengine number in bits 11-7, context 6-4, signal 3-0.
    fn interthread(&mut self, slot: CommandId, value: u32, fabric: &mut Fabric) {
        let command = fabric.flight(slot).command;
        let by = SignalSource::at(command.me, command.context, command.pc);
        if let Some(event) = signal_event(value, by, &fabric.profile) {
            self.uses.interthread_signals += 1;
            fabric.events.post(fabric.now, event);
            return;
        }
        let signal = value & 15;
        let wrong = if signal == 0 {
            "signal 0".to_owned()
        } else {
            format!("microengine {}", value >> 7 & 0x1f)
        };
        let message =
            format!("INTERTHREAD_SIGNAL: 0x{value:x} names {wrong}, which does not exist");
        let help = "bits 11-7 are the five-bit microengine number (cluster in bit 4), 6-4 the context, 3-0 the signal";
        fabric.fault(slot, None, message, Some(help.to_owned()));
    }
}

impl Unit for Cap {
    type Sideband<'a> = ProxyTargets<'a>;

    fn inlet(profile: &Profile) -> Inlet {
        Inlet {
            channels: 1,
            depth: profile.cap_inlet_depth(),
            interleave: Interleave::None,
            shared: true,
        }
    }

    /// Handles a command that has reached the proxy's inlet. It is served as soon as the proxy is
    /// free; everything that follows is scheduled now, since nothing can intervene.
    ///
    /// The leads are counted from the start of service to the fabric's next step for the command:
    /// data that is ready to be pushed, data that is pulled, or, for writes that carry their data
    /// (`immediate`), the write itself. The place in the inlet becomes free when service begins:
    /// now, or with the turn that is posted.
    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let command = fabric.flight(slot).command;
        let words = if command.immediate.is_some() {
            1
        } else {
            command.count.clamp(1, 32)
        };
        let now = self.free_at.max(fabric.now);
        let busy = Cycle::from(words) * self.bus_cycle;
        self.free_at = now + busy;
        if command.op.info().pushes {
            self.counters.used(PathDirection::Read, busy);
        } else {
            self.counters.used(PathDirection::Write, busy);
        }
        self.counters.started(command.op, words, now - fabric.now);
        fabric.record_service(slot, Self::FIRST, 0, now, self.free_at);
        if now > fabric.now {
            self.counters.count_arrival(fabric.now);
            fabric.events.post(now, Event::Turn(Self::FIRST));
        } else {
            fabric.release(Self::FIRST);
        }
        match command.op {
            CommandOp::CapRead | CommandOp::PciRead => fabric.ready_at(slot, now + self.read_lead),
            CommandOp::CapWrite if command.immediate.is_some() => {
                let lead = if command.address == u32::from(cap_csr::INTERTHREAD_SIGNAL) {
                    self.interthread_lead
                } else {
                    self.fast_write_lead
                };
                fabric.ready_at(slot, now + lead);
            }
            CommandOp::CapWrite | CommandOp::PciWrite => {
                fabric.pull(slot, command.count, now + self.write_lead);
            }
            CommandOp::CapReflectRead | CommandOp::CapReflectWrite => {
                self.reflect(slot, command, now, fabric);
            }
            other => {
                let message = format!("the CSR proxy has no command {}", other.info().name);
                fabric.fault(slot, None, message, None);
                fabric.finish(slot);
            }
        }
    }

    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let words = fabric.flight(slot).words;
        let command = fabric.flight(slot).command;
        match command.op {
            CommandOp::CapReflectRead => {
                let flight = fabric.flight_mut(slot);
                flight.command.transfer_me = (flight.unit_scratch >> 8) as u8;
                flight.command.transfer = flight.unit_scratch as u8;
                fabric.push(slot, words);
            }
            CommandOp::CapReflectWrite => {
                if let Some((me, register)) = reflected(command.address, &fabric.profile) {
                    let flight = fabric.flight_mut(slot);
                    flight.command.transfer_me = me;
                    flight.command.transfer = register;
                    flight.command.transfer_kind = TransferKind::S;
                    // The issuer has been signalled; the other side gets no signal.
                    flight.command.push_signals = 0;
                    fabric.push(slot, words);
                }
            }
            _ => fabric.ready_at(slot, fabric.now),
        }
    }

    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, mut behind: Self::Sideband<'_>) {
        let flight = fabric.flight(slot);
        let (command, words, mut data) = (flight.command, flight.words as usize, flight.data);
        let pci = matches!(command.op, CommandOp::PciRead | CommandOp::PciWrite);
        if matches!(command.op, CommandOp::CapRead | CommandOp::PciRead) {
            let words = command.count.clamp(1, 16) as usize;
            for (address, word) in longwords(command.address).zip(&mut data[..words]) {
                let value = if pci {
                    self.read_mailbox(address)
                } else {
                    self.read(address, &behind)
                };
                *word = value.unwrap_or_default();
                if value.is_none() {
                    unknown(slot, address, fabric);
                }
            }
            fabric.flight_mut(slot).data = data;
            fabric.push(slot, words as u8);
            return;
        }
        let words = command.immediate.map_or(words, |value| {
            data[0] = value;
            1
        });
        for (address, &word) in longwords(command.address).zip(&data[..words.min(data.len())]) {
            if pci {
                self.write_mailbox(slot, address, word, fabric);
            } else {
                self.write(slot, address, word, fabric, &mut behind);
            }
        }
        fabric.finish(slot);
    }

    fn turn(&mut self, _: u8, fabric: &mut Fabric) {
        self.counters.count_departure(fabric.now);
        fabric.release(Self::FIRST);
    }

    fn counters(&self) -> impl Iterator<Item = &UnitCounters> {
        std::iter::once(&self.counters)
    }
}

/// The event that a write of `INTERTHREAD_SIGNAL` raises; `None` if there is no such microengine or
/// signal.
fn signal_event(value: u32, by: SignalSource, profile: &Profile) -> Option<Event> {
    let me = profile.index_of((value >> 7 & 0x1f) as u8)?;
    let (context, signal) = ((value >> 4) as u8 % CONTEXTS, (value & 15) as u8);
    (signal != 0).then_some(Event::Signal {
        me,
        context,
        signal,
        by,
    })
}

/// The number of the issuing thread: 64 for each cluster, 8 for each
/// microengine in it.
fn thread_of(slot: CommandId, fabric: &Fabric) -> u8 {
    let command = fabric.flight(slot).command;
    let number = fabric.profile.number_of(command.me);
    (number >> 4) * 64 + (number & 7) * 8 + command.context
}

/// The addresses of consecutive longwords, starting at the one at `address`.
fn longwords(address: u32) -> impl Iterator<Item = u32> {
    (0..32).map(move |i| (address & !3).wrapping_add(4 * i))
}

fn known(address: u32) -> Option<u16> {
    u16::try_from(address)
        .ok()
        .filter(|&a| cap_csr::name(a).is_some())
}

/// The index of the microengine that a reflector address names, and the register. The layout is
/// assumed to match the windows of the microengines' own CSRs: 1 KB for each five-bit number.
fn reflected(address: u32, profile: &Profile) -> Option<(u8, u8)> {
    let me = profile.index_of((address >> 10 & 0x1f) as u8)?;
    Some((me, register(address)))
}

const fn register(address: u32) -> u8 {
    (address >> 2 & 0x7f) as u8
}

fn unknown(slot: CommandId, address: u32, fabric: &mut Fabric) {
    let command = fabric.flight(slot).command;
    let name = command.op.info().name;
    let (message, help) = if matches!(command.op, CommandOp::PciRead | CommandOp::PciWrite) {
        (
            format!("pci[{name}] at 0x{address:x}: PCI is not modelled beyond a mailbox"),
            "the mailbox is four longwords at addresses 0 to 12".to_owned(),
        )
    } else {
        (
            format!("cap[{name}]: no register is at 0x{address:04x}"),
            "name the register instead of computing its address".to_owned(),
        )
    };
    fabric.fault(slot, None, message, Some(help));
}

#[cfg(test)]
mod tests;
