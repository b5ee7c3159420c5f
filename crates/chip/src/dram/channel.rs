//! One DRAM channel: an inlet, a FIFO per bank, and the choice of the bank that
//! gets the data pins next.
//!
//! Rows close after each access. A bank can start again a row cycle after its
//! last start, and not before its data is through and the row is precharged.
//! Banks take turns; a bank whose command would turn the data pins around is
//! passed over for one whose command would not, at most twice. The pins are
//! booked no further ahead than a row takes to open, so the choice stays open
//! as long as it can without leaving the pins idle. Refresh blocks all banks.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::Cycle;
use crate::fabric::Slot;
use crate::profile::Profile;
use crate::unit_counters::UnitCounters;

/// The part of a command that one channel serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub slot: Slot,
    pub bank: u8,
    write: bool,
    /// Bursts on the pins.
    pub bursts: u32,
    /// Whether its data, if it needs any, is there.
    ready: bool,
    /// The part that stands for the whole command in inlet and counters.
    pub leads: bool,
    /// Since when it could start, but for others.
    pub since: Cycle,
}

/// What came of looking for the next command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Booked {
    /// The part has the data pins from `start`.
    Data {
        part: Part,
        start: Cycle,
        /// When its bank is free again.
        free: Cycle,
    },
    /// Nothing can start before this cycle.
    Later(Cycle),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Bank {
    fifo: VecDeque<Part>,
    free: Cycle,
    passed_over: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timing {
    bank_interleave: u32,
    bank_depth: usize,
    burst_bytes: u32,
    burst_cycles: Cycle,
    column_to_data: Cycle,
    access: Cycle,
    row_cycle: Cycle,
    precharge: Cycle,
    write_recovery: Cycle,
    read_to_write: Cycle,
    write_to_read: Cycle,
    refresh_interval: Cycle,
    refresh_cycles: Cycle,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Channel {
    timing: Timing,
    inlet: VecDeque<Part>,
    banks: Vec<Bank>,
    /// The bank after the one that was served last.
    turn: usize,
    pins_free: Cycle,
    pins_wrote: bool,
    next_refresh: Cycle,
    refreshing_until: Cycle,
    /// The earliest pending turn; `Cycle::MAX` for none.
    turn_at: Cycle,
    waiting: usize,
    pub counters: UnitCounters,
}

impl Channel {
    pub fn new(profile: &Profile) -> Self {
        let timing = Timing {
            bank_interleave: profile.dram_bank_interleave(),
            bank_depth: profile.dram_bank_fifo_depth() as usize,
            burst_bytes: profile.dram_burst_bytes(),
            burst_cycles: profile.dram_burst_cycles(),
            column_to_data: profile.dram_column_to_data(),
            access: profile.dram_row_to_column() + profile.dram_column_to_data(),
            row_cycle: profile.dram_row_cycle(),
            precharge: profile.dram_precharge(),
            write_recovery: profile.dram_write_recovery(),
            read_to_write: profile.dram_read_to_write(),
            write_to_read: profile.dram_write_to_read(),
            refresh_interval: profile.dram_refresh_interval(),
            refresh_cycles: profile.dram_refresh_cycles(),
        };
        Self {
            next_refresh: timing.refresh_interval,
            timing,
            inlet: VecDeque::new(),
            banks: vec![Bank::default(); profile.dram_banks() as usize],
            turn: 0,
            pins_free: 0,
            pins_wrote: false,
            refreshing_until: 0,
            turn_at: Cycle::MAX,
            waiting: 0,
            counters: UnitCounters::default(),
        }
    }

    /// The part of `bytes` at an address within the channel.
    #[expect(clippy::too_many_arguments, reason = "the facts of one command")]
    pub fn part(
        &self,
        slot: Slot,
        address: u32,
        bytes: u32,
        write: bool,
        passes: u32,
        leads: bool,
        now: Cycle,
    ) -> Part {
        let timing = &self.timing;
        let bursts = (address + bytes - 1) / timing.burst_bytes - address / timing.burst_bytes + 1;
        let bank = address / timing.bank_interleave % self.banks.len() as u32;
        Part {
            slot,
            bank: bank as u8,
            write,
            bursts: bursts * passes,
            ready: !write,
            leads,
            since: now,
        }
    }

    /// Puts a part into the inlet.
    pub fn accept(&mut self, part: Part) {
        self.inlet.push_back(part);
        self.waiting += 1;
        self.counters.queue(self.waiting);
    }

    /// Moves the inlet's first part to its bank, if that has room.
    pub fn take(&mut self) -> Option<Part> {
        let part = *self.inlet.front()?;
        let bank = &mut self.banks[part.bank as usize];
        if bank.fifo.len() >= self.timing.bank_depth {
            return None;
        }
        self.inlet.pop_front();
        bank.fifo.push_back(part);
        Some(part)
    }

    /// A command's data has come; true if a part of it is here.
    pub fn data_is_there(&mut self, slot: Slot, now: Cycle) -> bool {
        let parts = self
            .banks
            .iter_mut()
            .flat_map(|bank| &mut bank.fifo)
            .chain(&mut self.inlet);
        let mut found = false;
        for part in parts.filter(|part| part.slot == slot) {
            part.ready = true;
            part.since = now;
            found = true;
        }
        found
    }

    /// A turn that was asked for has come.
    pub fn turn_came(&mut self, now: Cycle) {
        if self.turn_at <= now {
            self.turn_at = Cycle::MAX;
        }
    }

    /// Books the pins for the next command; `None` when there is nothing to
    /// wait for but data, commands or a turn already asked for.
    pub fn book(&mut self, now: Cycle) -> Option<Booked> {
        if !self
            .banks
            .iter()
            .any(|bank| bank.fifo.front().is_some_and(|part| part.ready))
        {
            return None;
        }
        self.refresh(now);
        if self.refreshing_until > now {
            return self.later(self.refreshing_until);
        }
        if self.pins_free > now + self.timing.access {
            return self.later(self.pins_free - self.timing.access);
        }
        match self.choose(now) {
            Ok(bank) => Some(self.start(bank, now)),
            Err(earliest) => self.later(earliest),
        }
    }

    fn later(&mut self, at: Cycle) -> Option<Booked> {
        if at >= self.turn_at {
            return None;
        }
        self.turn_at = at;
        Some(Booked::Later(at))
    }

    fn refresh(&mut self, now: Cycle) {
        if now < self.next_refresh {
            return;
        }
        let missed = (now - self.next_refresh) / self.timing.refresh_interval;
        let last = self.next_refresh + missed * self.timing.refresh_interval;
        self.next_refresh = last + self.timing.refresh_interval;
        self.refreshing_until = last + self.timing.refresh_cycles;
    }

    /// The bank to serve, or when the first could be.
    fn choose(&mut self, now: Cycle) -> Result<usize, Cycle> {
        let count = self.banks.len();
        let mut earliest = Cycle::MAX;
        let mut turning = None;
        let mut chosen = None;
        for step in 0..count {
            let at = (self.turn + step) % count;
            let bank = &self.banks[at];
            let Some(part) = bank.fifo.front().filter(|part| part.ready) else {
                continue;
            };
            if bank.free > now {
                earliest = earliest.min(bank.free);
            } else if part.write == self.pins_wrote || bank.passed_over >= 2 {
                chosen = Some(at);
                break;
            } else if turning.is_none() {
                turning = Some(at);
            }
        }
        let bank = match (chosen, turning) {
            (Some(bank), passed) => {
                if let Some(passed) = passed {
                    self.banks[passed].passed_over += 1;
                }
                bank
            }
            (None, Some(bank)) => bank,
            (None, None) => return Err(earliest),
        };
        self.turn = (bank + 1) % count;
        Ok(bank)
    }

    fn start(&mut self, at: usize, now: Cycle) -> Booked {
        let timing = &self.timing;
        let bank = &mut self.banks[at];
        let part = bank
            .fifo
            .pop_front()
            .expect("the chosen bank has a command");
        let turnaround = match (self.pins_wrote, part.write) {
            (false, true) => timing.read_to_write,
            (true, false) => timing.write_to_read,
            _ => 0,
        };
        let start = (now + timing.access).max(self.pins_free + turnaround);
        let on_pins = Cycle::from(part.bursts) * timing.burst_cycles;
        self.pins_free = start + on_pins;
        self.pins_wrote = part.write;
        let closed = if part.write {
            self.pins_free + timing.write_recovery + timing.precharge
        } else {
            self.pins_free - timing.column_to_data + timing.precharge
        };
        bank.free = closed.max(now + timing.row_cycle);
        bank.passed_over = 0;
        self.waiting -= 1;
        self.counters.busy += on_pins;
        let free = bank.free;
        Booked::Data { part, start, free }
    }
}
