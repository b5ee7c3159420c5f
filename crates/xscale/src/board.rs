//! The processor's bus, which takes each access to its target, at its cost.
//!
//! An access that leaves the program's own cached memory takes effect at its own cycle, so only the first
//! instruction of a job may make one. If any other tries to, the bus refuses, and the next job begins with that
//! instruction.

use npsim_arm::{Bus, CoprocessorRegister, Size};
use npsim_chip::Cycle;
use npsim_chip::gpp::boot::Space;
use npsim_chip::gpp::{Access, LongwordAddress};
use npsim_chip::kernel::check::Check;

use crate::cache::{CacheMode, LINE};
use crate::clocks::Clocks;
use crate::devices::Devices;
use crate::map::{self, Alias, Target};
use crate::problem::Problem;
use crate::setup::{Owner, Setup};

/// Why an access is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It belongs to the next job.
    Later,
    /// The program is not allowed to make it.
    Stop(Box<Problem>),
}

type Made<T> = Result<T, Refusal>;

/// A store within this many bytes below the stack makes the job check the stack pointer.
const BELOW_STACK: u32 = 1024;

/// The processor's surroundings during one job.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says another thing of the job"
)]
pub(crate) struct Board<'a, 'b> {
    pub access: &'a mut Access<'b>,
    pub devices: &'a mut Devices,
    pub setup: &'a Setup,
    pub clocks: &'a Clocks,
    /// Whether accesses may leave the program's cached memory.
    pub open: bool,
    /// Whether the check that this instruction would trigger is allowed.
    pub tolerant: bool,
    /// ME cycles that such accesses took.
    pub spent: Cycle,
    /// Whether a longword of code was written.
    pub code_written: bool,
    /// Whether a longword just below the stack was written, possibly because the stack overflowed.
    pub below_stack: bool,
    /// A problem found in the middle of an instruction.
    pub late: Option<Box<Problem>>,
    /// Accesses of a block that were announced and are still outstanding.
    announced: u32,
    /// The last line accessed, and whether it was written; consecutive accesses to it form one burst.
    burst: Option<(u32, bool)>,
}

impl<'a, 'b> Board<'a, 'b> {
    pub fn new(
        access: &'a mut Access<'b>,
        devices: &'a mut Devices,
        setup: &'a Setup,
        clocks: &'a Clocks,
    ) -> Self {
        Self {
            access,
            devices,
            setup,
            clocks,
            open: true,
            tolerant: false,
            spent: 0,
            code_written: false,
            below_stack: false,
            late: None,
            announced: 0,
            burst: None,
        }
    }

    /// Refuses accesses other than the first of a job.
    fn permit(&self) -> Made<()> {
        if self.open || self.announced > 0 {
            Ok(())
        } else {
            Err(Refusal::Later)
        }
    }

    /// Accounts for an access outside the program's memory.
    fn charge(&mut self, cycles: Cycle) {
        self.spent += cycles;
        self.devices.counts.outside += 1;
        self.devices.counts.outside_cycles += cycles;
    }

    /// Whether an access continues the burst of the preceding one, at no further cost.
    fn continues_burst(&mut self, address: u32, write: bool) -> bool {
        let line = (address / LINE, write);
        self.burst.replace(line) == Some(line)
    }

    /// Reports a problem with an access, which is then not made unless it was announced. Only the first instruction
    /// of a job is reported, so that it is at its own cycle.
    fn find(&mut self, problem: Problem) -> Made<()> {
        self.permit()?;
        if self.tolerant && problem.check.is_some() {
            return Ok(());
        }
        if self.announced > 0 {
            self.late.get_or_insert_with(|| Box::new(problem));
            return Ok(());
        }
        Err(Refusal::Stop(Box::new(problem)))
    }

    /// Stops the chip for an unrecoverable problem. As with [`Board::find`], only the first instruction of a job is
    /// reported.
    fn fatal<T>(&self, what: String, help: &str) -> Made<T> {
        self.permit()?;
        Err(Refusal::Stop(Box::new(Problem::fatal(what, help))))
    }

    /// Accounts for time at the program's memory if its line is not in the cache, which is refused within a job.
    /// For a write, `word` is the longword to be stored in memory.
    fn reach(&mut self, address: u32, word: Option<u32>) -> Made<()> {
        let write = word.is_some();
        match self.setup.cache {
            CacheMode::Perfect => {}
            CacheMode::Model => {
                if self.devices.data.hit(address, write) {
                    self.devices.counts.data_hits += 1;
                    return Ok(());
                }
                self.permit()?;
                let line = address / LINE * LINE;
                if let Some(back) = self.devices.data.fill(address, write) {
                    self.access.dram_write_back(back);
                }
                let cycles = self.access.dram_read(line, LINE);
                self.devices.counts.data_misses += 1;
                self.devices.counts.memory_cycles += cycles;
                self.spent += cycles;
            }
            CacheMode::None => {
                self.permit()?;
                self.devices.counts.data_misses += 1;
                if !self.continues_burst(address, write) {
                    let cycles = match word {
                        Some(word) => self.access.dram_write(address, word).unwrap_or_default(),
                        None => self.access.dram_read(address & !3, 4),
                    };
                    self.devices.counts.memory_cycles += cycles;
                    self.spent += cycles;
                }
            }
        }
        Ok(())
    }

    fn read_dram(&mut self, address: u32) -> Made<u32> {
        let Some(word) = self.access.dram_word(address) else {
            return self.unmapped("reads", address);
        };
        match self.setup.owner(address) {
            Owner::Program => self.reach(address, None)?,
            Owner::Free => {
                if !self.devices.was_written(address) {
                    self.find(Problem::checked(
                        Check::CoreUnwrittenRead,
                        format!("reads DRAM at 0x{address:08x}, where neither it nor the project has written anything"),
                        "look for a pointer that was not set; memory that microengines fill is to have a [[memory]] section",
                    ))?;
                }
                self.reach(address, None)?;
            }
            Owner::Shared => {
                self.permit()?;
                self.devices.footprint.changed = true;
                let cycles = if self.continues_burst(address, false) {
                    0
                } else {
                    self.access.dram_read(address & !3, 4)
                };
                self.charge(cycles);
            }
        }
        Ok(word)
    }

    fn write_dram(&mut self, address: u32, size: Size, value: u32) -> Made<()> {
        let Some(old) = self.access.dram_word(address) else {
            return self.unmapped("writes", address);
        };
        let word = self.merge(old, address, size, value);
        let owner = self.setup.owner(address);
        if owner == Owner::Shared {
            self.permit()?;
            self.devices.footprint.changed = true;
            self.devices.active = true;
            let continues_burst = self.continues_burst(address, true);
            let cycles = self.access.dram_write(address, word).unwrap_or_default();
            self.charge(if continues_burst { 0 } else { cycles });
            return Ok(());
        }
        if self.setup.program.is_code(address) {
            self.find(Problem::checked(
                Check::CoreCodeWrite,
                format!("stores into its own code at 0x{address:08x}"),
                "look for a pointer that went astray; a program that changes itself can allow the check",
            ))?;
        }
        self.code_written |= self.holds_code(address);
        self.reach(address, Some(word))?;
        for stack in self.setup.program.stacks() {
            self.below_stack |= stack.start.wrapping_sub(address) <= BELOW_STACK;
        }
        if owner == Owner::Free {
            self.devices.note_written(address);
        }
        if word != old {
            self.devices.footprint.changed = true;
            self.access.set_dram_word(address & !3, word);
        }
        Ok(())
    }

    /// Whether instructions are fetched from an address: code of the file, and vectors, which a program may fill
    /// in.
    fn holds_code(&self, address: u32) -> bool {
        let vectors = self.setup.program.vectors.unwrap_or(0);
        address.wrapping_sub(vectors) < 0x20 || self.setup.program.is_code(address)
    }

    /// A longword with some bytes replaced.
    fn merge(&self, old: u32, address: u32, size: Size, value: u32) -> u32 {
        let (shift, mask) = self.setup.program.order.lane(address, size);
        old & !(mask << shift) | (value & mask) << shift
    }

    fn read_outside(&mut self, address: u32) -> Made<u32> {
        self.permit()?;
        let now = self.access.now();
        let register = self.access.costs().ring;
        let (word, cycles) = match map::target(address) {
            Target::Dram => return self.read_dram(address),
            Target::Memory(place, _) => {
                let Some(word) = self.access.peek(place) else {
                    return self.unmapped("reads", address);
                };
                self.devices.footprint.changed = true;
                let cycles = if self.continues_burst(address, false) {
                    0
                } else {
                    self.access.read_words(place, 1).1
                };
                (word, cycles)
            }
            Target::Ring(ring) => {
                self.own_ring(ring, "takes from")?;
                let (word, cycles) = self.access.ring_get(ring);
                if word == 0 {
                    self.devices.footprint.rings |= 1 << ring;
                } else {
                    self.devices.footprint.changed = true;
                    self.devices.active = true;
                    self.takes(ring, word);
                }
                (word, cycles)
            }
            Target::Queue { channel, entry } => {
                self.devices.footprint.changed = true;
                match self.access.dequeue(channel, entry) {
                    Some((word, cycles)) => {
                        self.devices.active |= word != 0;
                        (word, cycles)
                    }
                    None => return self.no_queue("dequeues from", channel, entry),
                }
            }
            Target::Proxy(register) => {
                self.devices.footprint.changed = true;
                match self.access.register(register) {
                    Some(read) => read,
                    None => return self.unknown("reads", address),
                }
            }
            Target::Timers(offset) => {
                self.devices.footprint.looked = true;
                self.devices.footprint.changed |= offset / 0x10 == 2;
                let clock = self.clocks.timers();
                match self.devices.timers.read(offset, now, clock) {
                    Some(word) => (word, register),
                    None => return self.unknown("reads", address),
                }
            }
            Target::Uart(offset) => {
                self.devices.footprint.looked = true;
                let before = self.devices.uart.clone();
                let word = self.devices.uart.read(offset, now, &self.setup.input);
                self.devices.footprint.changed |= before != self.devices.uart;
                match word {
                    Some(word) => (word, register),
                    None => return self.unknown("reads", address),
                }
            }
            Target::Interrupts(offset) => {
                self.devices.footprint.looked = true;
                let lines = self.devices.lines(now, self.setup);
                match self.devices.interrupts.read(offset, lines) {
                    Some(word) => (word, register),
                    None => return self.unknown("reads", address),
                }
            }
            Target::Unmodelled(name) => return self.missing("reads", name, address),
            Target::Unmapped => return self.unmapped("reads", address),
        };
        self.charge(cycles);
        Ok(word)
    }

    /// Counts a longword taken off a ring if it is a packet that ended at the core.
    fn takes(&mut self, ring: u8, entry: u32) {
        let exceptions = self.setup.exceptions.as_ref();
        if exceptions.is_some_and(|exceptions| exceptions.ring == ring) {
            self.access.trace_exception(entry);
            *self
                .devices
                .by_reason
                .entry((entry >> 24) as u8)
                .or_default() += 1;
        }
    }

    fn write_outside(&mut self, address: u32, size: Size, value: u32) -> Made<()> {
        self.permit()?;
        self.devices.footprint.changed = true;
        let now = self.access.now();
        let register = self.access.costs().ring;
        let target = map::target(address);
        if size != Size::Word
            && matches!(
                target,
                Target::Ring(_)
                    | Target::Queue { .. }
                    | Target::Proxy(_)
                    | Target::Timers(_)
                    | Target::Interrupts(_)
            )
        {
            return self.fatal(
                format!(
                    "writes {} bytes at 0x{address:08x}, where only longwords can be written",
                    size.bytes()
                ),
                "rings, queues and registers have no byte writes: write the longword",
            );
        }
        let cycles = match target {
            Target::Dram => return self.write_dram(address, size, value),
            Target::Memory(place, alias) => {
                self.devices.active = true;
                self.write_memory(address, place, alias, size, value)?
            }
            Target::Ring(ring) => {
                self.own_ring(ring, "puts onto")?;
                if self.access.ring_is_full(ring) {
                    self.find(Problem::checked(
                        Check::RingOverflow,
                        format!("puts 0x{value:08x} onto scratch ring {ring}, which is full: that overwrites its oldest longword"),
                        "compare the ring's head and tail before the put, or make the ring larger",
                    ))?;
                }
                self.devices.active = true;
                self.devices.made += u64::from(self.setup.core_ring == Some(ring));
                self.access.ring_store(ring, value)
            }
            Target::Queue { channel, entry } => {
                self.devices.active = true;
                match self.access.append_to_queue(channel, entry, value) {
                    Some(cycles) => cycles,
                    None => return self.no_queue("enqueues to", channel, entry),
                }
            }
            Target::Proxy(register) => match self.access.set_register(register, value) {
                Some(cycles) => cycles,
                None => return self.unknown("writes", address),
            },
            Target::Timers(offset) => {
                if !self.devices.timers.write(offset, value, now) {
                    return self.unknown("writes", address);
                }
                register
            }
            Target::Uart(offset) => {
                let lane = self.setup.program.order.lane(address, size).0;
                if !self.devices.uart.write(offset, value << lane) {
                    return self.unknown("writes", address);
                }
                self.devices.active = true;
                register
            }
            Target::Interrupts(offset) => {
                if !self.devices.interrupts.write(offset, value) {
                    return self.unknown("writes", address);
                }
                register
            }
            Target::Unmodelled(name) => return self.missing("writes", name, address),
            Target::Unmapped => return self.unmapped("writes", address),
        };
        self.charge(cycles);
        Ok(())
    }

    fn write_memory(
        &mut self,
        address: u32,
        place: LongwordAddress,
        alias: Alias,
        size: Size,
        value: u32,
    ) -> Made<Cycle> {
        let Some(old) = self.access.peek(place) else {
            return self.unmapped("writes", address);
        };
        if size != Size::Word && (place.space == Space::Scratch || alias != Alias::Write) {
            return self.fatal(
                format!(
                    "writes {} bytes at 0x{address:08x}, where only longwords can be written",
                    size.bytes()
                ),
                "scratch and the atomic aliases have no byte writes: write the longword",
            );
        }
        if alias != Alias::Write {
            return Ok(self.access.change(place, |old| alias.apply(old, value)).1);
        }
        let word = self.merge(old, address, size, value);
        let continues_burst = self.continues_burst(address, true);
        let cycles = self.access.write(place, &[word]);
        Ok(if continues_burst { 0 } else { cycles })
    }

    fn own_ring(&self, ring: u8, does: &str) -> Made<()> {
        if self.setup.has_ring(ring) {
            return Ok(());
        }
        self.fatal(
            format!("{does} scratch ring {ring}, which belongs to another"),
            "name the program's rings in `rings` of [gpp.program]; a ring that a task takes from is that task's",
        )
    }

    fn unknown<T>(&self, does: &str, address: u32) -> Made<T> {
        self.fatal(
            format!(
                "{does} 0x{address:08x}: there is no such register, or it cannot be used like that"
            ),
            "the page on programs of the core has the registers that are modelled",
        )
    }

    fn missing<T>(&self, does: &str, name: &str, address: u32) -> Made<T> {
        self.fatal(
            format!("{does} 0x{address:08x}: {name} is not modelled"),
            "the page on programs of the core has the windows that are modelled",
        )
    }

    fn unmapped<T>(&self, does: &str, address: u32) -> Made<T> {
        let help = if address < map::REGISTERS {
            "look for a pointer that was not set, or memory that this chip does not have"
        } else {
            "look for a pointer that was not set. Registers whose address no source gives, such as the hash unit's operands, are not modelled"
        };
        self.fatal(format!("{does} 0x{address:08x}, where nothing is"), help)
    }

    fn no_queue<T>(&self, does: &str, channel: u8, entry: u8) -> Made<T> {
        self.fatal(
        format!(
            "{does} entry {entry} of SRAM channel {channel}, where no queue is or a link leads out of memory"
        ),
        "take channel and entry of a [[queue]] of the project",
    )
    }
}

impl Bus for Board<'_, '_> {
    type Refusal = Refusal;

    fn code(&mut self, address: u32) -> Made<u32> {
        if !self.holds_code(address) {
            return self.fatal(
                "runs there, where none of its code is".to_owned(),
                "look for a function pointer or a return address that was overwritten",
            );
        }
        if self.setup.zero_division_handlers.contains(&address) && !self.devices.divided {
            // Only once: the code is fetched again after the processor is copied.
            self.devices.divided = self.tolerant;
            self.find(Problem::checked(
                Check::CoreDivision,
                "divides by zero".to_owned(),
                "look at the divisor before the division",
            ))?;
        }
        match self.access.dram_word(address & !3) {
            Some(word) => Ok(word),
            None => self.unmapped("runs", address),
        }
    }

    fn enter_line(&mut self, address: u32) -> u32 {
        if !self.devices.fetch(address, self.setup.cache) {
            return 0;
        }
        let cycles = self.access.dram_read(address / LINE * LINE, LINE);
        self.devices.counts.memory_cycles += cycles;
        self.clocks.core_cycles(cycles) as u32
    }

    fn begin_block(&mut self, address: u32, longwords: u32) -> Made<()> {
        self.announced = 0;
        for address in (0..longwords).map(|at| address.wrapping_add(4 * at)) {
            let populated = match map::target(address) {
                Target::Dram => {
                    let cached = self.setup.cache != CacheMode::None
                        && self.setup.owner(address) != Owner::Shared;
                    let stays = cached
                        && (self.setup.cache == CacheMode::Perfect
                            || self.devices.data.hit(address, false));
                    // The first instruction of a job is also the one whose problems are reported.
                    let doubtful = self.setup.program.is_code(address)
                        || self.setup.owner(address) == Owner::Free
                            && !self.devices.was_written(address);
                    if !stays || doubtful {
                        self.permit()?;
                    }
                    self.access.dram_word(address).is_some()
                }
                Target::Memory(place, _) => {
                    self.permit()?;
                    self.access.peek(place).is_some()
                }
                Target::Unmodelled(name) => return self.missing("accesses", name, address),
                Target::Unmapped => false,
                _ => {
                    self.permit()?;
                    true
                }
            };
            if !populated {
                return self.unmapped("accesses", address);
            }
        }
        self.announced = longwords;
        Ok(())
    }

    fn read(&mut self, address: u32, size: Size) -> Made<(u32, u32)> {
        let word = if address < 0x8000_0000 {
            self.read_dram(address)?
        } else {
            self.read_outside(address)?
        };
        self.announced = self.announced.saturating_sub(1);
        let (shift, mask) = self.setup.program.order.lane(address, size);
        Ok((word >> shift & mask, 0))
    }

    fn write(&mut self, address: u32, size: Size, value: u32) -> Made<u32> {
        if address < 0x8000_0000 {
            self.write_dram(address, size, value)?;
        } else {
            self.write_outside(address, size, value)?;
        }
        self.announced = self.announced.saturating_sub(1);
        Ok(0)
    }

    fn coprocessor_read(&mut self, register: CoprocessorRegister) -> Option<u32> {
        // The cycle counter advances without being part of a loop's state.
        self.devices.footprint.changed |= register.coprocessor == 14;
        None
    }

    fn ends_run(&mut self) -> bool {
        self.late.is_some() || self.code_written || self.below_stack
    }
}
