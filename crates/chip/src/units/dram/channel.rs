//! One DRAM channel: an inlet, a FIFO per bank, and the choice of the bank that
//! gets the data pins next.
//!
//! [`super::rows`] determines when a bank can begin an access, [`super::refresh`] which banks wait
//! for a refresh. Banks take turns; a bank whose command would turn the data pins around is passed
//! over for one whose command would not, at most twice. The pins are booked no further ahead than a
//! row takes to open, so the choice stays open as long as possible without leaving the pins idle. A
//! bank does not start to read while the bus that takes the data is booked too far ahead. A refresh
//! waits until the rows of its banks are closed and then blocks these banks.
//!
//! Bursts may end between two microengine cycles, so time on the pins is counted in half cycles.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::refresh::{Refresh, RefreshTiming};
use super::rows::{OpenRow, RowTiming};
use crate::Cycle;
use crate::kernel::fabric::CommandId;
use crate::kernel::queue::take_out;
use crate::kernel::row::Row as CounterRow;
use crate::kernel::unit_counters::{PathDirection, UnitCounters};
use npsim_profile::Profile;

/// A divisor applied to addresses over and over: powers of two use a shift, since a division takes
/// many times as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Divisor {
    by: u32,
    /// The logarithm, if it is a power of two.
    shift: Option<u8>,
}

impl Divisor {
    fn new(by: u32) -> Self {
        let by = by.max(1);
        let shift = by.is_power_of_two().then(|| by.trailing_zeros() as u8);
        Self { by, shift }
    }

    /// The quotient of an address.
    #[inline]
    fn into(self, address: u32) -> u32 {
        match self.shift {
            Some(shift) => address >> (shift % 32),
            None => address / self.by,
        }
    }

    /// The remainder of a number.
    #[inline]
    fn rest_of(self, number: u32) -> u32 {
        match self.shift {
            Some(_) => number & (self.by - 1),
            None => number % self.by,
        }
    }
}

/// The part of a command that one channel serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BankRequest {
    pub slot: CommandId,
    bank: u8,
    /// The row within the bank.
    row: u32,
    write: bool,
    /// Bursts on the pins.
    pub bursts: u32,
    /// Longwords of the command in this channel.
    pub words: u8,
    /// Whether its data, if it needs any, has arrived.
    ready: bool,
    /// Whether this part stands for the whole command in inlet and counters.
    pub is_head: bool,
    /// The cycle from which it could have started, but for other commands.
    pub since: Cycle,
}

impl BankRequest {
    /// The earliest cycle at which it could start at a bank with this row.
    #[inline]
    fn earliest(&self, row: &OpenRow, ready_at: impl Fn(CommandId) -> Cycle) -> Cycle {
        let bank = row.earliest(self.row);
        if self.write {
            bank
        } else {
            bank.max(ready_at(self.slot))
        }
    }
}

/// The result of looking for the next command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextCommand {
    /// The first command of this bank can start.
    Bank(usize),
    /// No command can start before this cycle.
    Later(Cycle),
    /// There is nothing to wait for except data, commands or a turn already scheduled.
    Nothing,
}

/// A part that has the data pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Started {
    pub part: BankRequest,
    /// Start and end of its time on the pins, rounded up to whole cycles.
    pub pins: (Cycle, Cycle),
    /// When its bank becomes free again.
    pub free: Cycle,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Bank {
    /// Oldest first. Few are queued, so a vector will do.
    fifo: Vec<BankRequest>,
    row: OpenRow,
    passed_over: u8,
}

impl Bank {
    /// Whether its first command has its data.
    #[inline]
    fn is_ready(&self) -> bool {
        self.fifo.first().is_some_and(|part| part.ready)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Timing {
    bank_interleave: Divisor,
    banks: Divisor,
    bank_depth: usize,
    burst_bytes: Divisor,
    /// In half cycles.
    burst: Cycle,
    rows: RowTiming,
    read_to_write: Cycle,
    write_to_read: Cycle,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Channel {
    timing: Timing,
    inlet: VecDeque<BankRequest>,
    banks: Vec<Bank>,
    /// The bank after the one that was served last.
    turn: usize,
    /// In half cycles.
    pins_free: Cycle,
    /// Half cycles on the pins that do not yet make a whole one, by direction.
    odd: [Cycle; 2],
    pins_wrote: bool,
    refresh: Refresh,
    /// The earliest pending turn; `Cycle::MAX` for none.
    turn_at: Cycle,
    /// Bit b is set if the first command of bank b has its data. Derived from `banks`; shows that
    /// nothing can start without examining each bank.
    #[serde(skip)]
    ready: u64,
    pub counters: UnitCounters,
    own: DramCounters,
}

/// A channel's counters beyond those of all units.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct DramCounters {
    /// Cycles in which the pins turned around.
    turning: Cycle,
    /// Cycles in which banks were refreshed.
    refreshing: Cycle,
    /// Accesses that found their row open.
    row_hits: u64,
}

impl Channel {
    pub fn new(profile: &Profile) -> Self {
        let timing = Timing {
            bank_interleave: Divisor::new(profile.dram_bank_interleave()),
            banks: Divisor::new(u32::from(profile.dram_banks())),
            bank_depth: profile.dram_bank_fifo_depth() as usize,
            burst_bytes: Divisor::new(profile.dram_burst_bytes()),
            burst: profile.dram_burst_half_cycles(),
            rows: RowTiming::new(profile),
            read_to_write: profile.dram_read_to_write(),
            write_to_read: profile.dram_write_to_read(),
        };
        Self {
            timing,
            inlet: VecDeque::new(),
            banks: vec![Bank::default(); profile.dram_banks() as usize],
            turn: 0,
            pins_free: 0,
            odd: [0; 2],
            pins_wrote: false,
            refresh: Refresh::new(RefreshTiming::new(profile)),
            turn_at: Cycle::MAX,
            ready: 0,
            counters: UnitCounters::default(),
            own: DramCounters::default(),
        }
    }

    /// Whether a saved channel has the timing and the banks of `own`, and commands for no other
    /// banks.
    pub fn is_compatible_with(&self, own: &Self) -> bool {
        let banks = own.banks.len();
        let parts = self.banks.iter().flat_map(|bank| bank.fifo.iter());
        self.timing == own.timing
            && self.refresh.timing == own.refresh.timing
            && self.banks.len() == banks
            && parts
                .chain(&self.inlet)
                .all(|part| usize::from(part.bank) < banks)
    }

    /// Rebuilds the state that is not saved.
    pub fn complete(&mut self) {
        self.ready = 0;
        for (at, bank) in self.banks.iter().enumerate() {
            self.ready |= u64::from(bank.is_ready()) << at;
        }
    }

    /// The bank of an address within the channel.
    #[inline]
    fn bank_of(&self, address: u32) -> usize {
        let timing = &self.timing;
        timing.banks.rest_of(timing.bank_interleave.into(address)) as usize
    }

    /// The row of an address within its bank: the bank bits lie right above those of a row's
    /// columns.
    #[inline]
    fn row_of(&self, address: u32) -> u32 {
        let timing = &self.timing;
        timing.banks.into(timing.bank_interleave.into(address))
    }

    /// The part of a command that covers `bytes` at an address within the channel.
    #[expect(clippy::too_many_arguments, reason = "the facts of one command")]
    #[inline]
    pub fn part(
        &self,
        slot: CommandId,
        address: u32,
        bytes: u32,
        write: bool,
        passes: u32,
        is_head: bool,
        now: Cycle,
    ) -> BankRequest {
        let timing = &self.timing;
        let burst = |address: u32| timing.burst_bytes.into(address);
        let bursts = burst(address + bytes - 1) - burst(address) + 1;
        BankRequest {
            slot,
            bank: self.bank_of(address) as u8,
            row: self.row_of(address),
            write,
            bursts: bursts * passes,
            words: (bytes / 4) as u8,
            ready: !write,
            is_head,
            since: now,
        }
    }

    /// Puts a part into the inlet.
    pub(crate) fn accept(&mut self, part: BankRequest, now: Cycle) {
        self.inlet.push_back(part);
        self.counters.count_arrival(now);
    }

    /// Puts a part directly into its bank if [`Self::take`] would move it there, and returns true;
    /// otherwise puts it into the inlet.
    #[inline]
    pub fn enter(&mut self, part: BankRequest, now: Cycle) -> bool {
        if !self.inlet.is_empty() || !self.move_on(part) {
            self.accept(part, now);
            return false;
        }
        self.counters.count_arrival(now);
        true
    }

    /// Whether nothing can be done before data or a command arrives: the inlet is empty and no
    /// bank's first command has its data.
    #[inline]
    pub fn only_waits(&self) -> bool {
        self.ready == 0 && self.inlet.is_empty()
    }

    /// Whether a part is in the inlet.
    #[inline]
    pub fn has_inlet(&self) -> bool {
        !self.inlet.is_empty()
    }

    /// Moves the inlet's first part to its bank, if that has room. Returns its command and whether
    /// the part stands for the whole command.
    #[inline]
    pub fn take(&mut self) -> Option<(CommandId, bool)> {
        let part = *self.inlet.front()?;
        if !self.move_on(part) {
            return None;
        }
        self.inlet.pop_front();
        Some((part.slot, part.is_head))
    }

    /// Puts a part into its bank. Returns false if there is no room.
    #[inline]
    fn move_on(&mut self, part: BankRequest) -> bool {
        let fifo = &mut self.banks[part.bank as usize].fifo;
        if fifo.len() >= self.timing.bank_depth {
            return false;
        }
        self.ready |= u64::from(fifo.is_empty() && part.ready) << part.bank;
        fifo.push(part);
        true
    }

    /// The commands whose parts precede those of a waiting one in its bank's FIFO and in the inlet;
    /// `None` if it is not waiting here.
    pub fn ahead_of(&self, slot: CommandId) -> Option<Vec<CommandId>> {
        let slots =
            |parts: &mut dyn Iterator<Item = &BankRequest>| parts.map(|it| it.slot).collect();
        let until = |mut all: Vec<CommandId>| {
            let at = all.iter().position(|other| *other == slot)?;
            all.truncate(at);
            Some(all)
        };
        let mut banks = self.banks.iter();
        let in_bank = banks.find_map(|bank| until(slots(&mut bank.fifo.iter())));
        in_bank.or_else(|| {
            let part = self.inlet.iter().find(|part| part.slot == slot)?;
            let mut ahead: Vec<_> = slots(&mut self.banks[usize::from(part.bank)].fifo.iter());
            ahead.extend(until(slots(&mut self.inlet.iter()))?);
            Some(ahead)
        })
    }

    /// Handles the arrival of the data of a command that lies entirely in this channel and has left
    /// the inlet.
    #[inline]
    pub fn whole_data_arrived(&mut self, slot: CommandId, address: u32, now: Cycle) {
        let bank = self.bank_of(address);
        let mut parts = self.banks[bank].fifo.iter_mut().enumerate();
        if let Some((at, part)) = parts.find(|(_, part)| part.slot == slot) {
            part.ready = true;
            part.since = now;
            self.ready |= u64::from(at == 0) << bank;
        }
    }

    /// Handles the arrival of a command's data. Returns true if a part of the command is here.
    pub(crate) fn data_arrived(&mut self, slot: CommandId, now: Cycle) -> bool {
        let mut found = false;
        let mut set = |parts: &mut dyn Iterator<Item = &mut BankRequest>| {
            for part in parts.filter(|part| part.slot == slot) {
                part.ready = true;
                part.since = now;
                found = true;
            }
        };
        for (at, bank) in self.banks.iter_mut().enumerate() {
            set(&mut bank.fifo.iter_mut());
            self.ready |= u64::from(bank.is_ready()) << at;
        }
        set(&mut self.inlet.iter_mut());
        found
    }

    /// The counters beyond those of all units; row hits only if rows stay open.
    pub fn own_counters(&self) -> CounterRow {
        let own = &self.own;
        let row = CounterRow::default()
            .with("turning", own.turning)
            .with("refreshing", own.refreshing);
        if self.timing.rows.stay_open() {
            row.with("row_hits", own.row_hits)
        } else {
            row
        }
    }

    /// Notes that a scheduled turn has come.
    pub(crate) fn clear_turn(&mut self, now: Cycle) {
        if self.turn_at <= now {
            self.turn_at = Cycle::MAX;
        }
    }

    /// Looks for the next command to get the pins. `ready_at` gives the cycle at which a read's
    /// data could be carried away.
    #[inline]
    pub fn next(&mut self, now: Cycle, ready_at: impl Fn(CommandId) -> Cycle) -> NextCommand {
        if self.ready == 0 {
            return NextCommand::Nothing;
        }
        self.refresh(now);
        let pins_free = self.pins_free / 2;
        // The choice is left open until a row opened now would be open just as the pins become
        // free. Choosing earlier would gain no time on the pins and would miss commands that are
        // still to arrive.
        let at = if pins_free > now + self.timing.rows.access() {
            pins_free - self.timing.rows.access()
        } else {
            match self.choose(now, ready_at) {
                Ok(bank) => return NextCommand::Bank(bank),
                Err(earliest) => earliest,
            }
        };
        if at >= self.turn_at {
            return NextCommand::Nothing;
        }
        self.turn_at = at;
        NextCommand::Later(at)
    }

    #[inline]
    fn refresh(&mut self, now: Cycle) {
        if self.refresh.is_due(now) {
            self.run_due_refreshes(now);
        }
    }

    #[cold]
    fn run_due_refreshes(&mut self, now: Cycle) {
        let due = self.refresh.take_due(now);
        let rows = &self.timing.rows;
        for at in self.refresh.over(&due) {
            self.banks[at].row.close(due.at, rows);
        }
        let blocked = || self.refresh.blocked(&due);
        let closed = { blocked() }
            .map(|at| self.banks[at].row.close(due.at, rows))
            .max()
            .unwrap_or(0);
        for at in blocked() {
            let until = due.at.max(closed) + self.refresh.timing.cycles;
            self.banks[at].row.block(until);
        }
        self.own.refreshing += due.count * self.refresh.timing.cycles;
    }

    /// The bank to serve, or the earliest cycle at which one could be.
    #[inline]
    fn choose(
        &mut self,
        now: Cycle,
        ready_at: impl Fn(CommandId) -> Cycle,
    ) -> Result<usize, Cycle> {
        let bank = if self.ready.is_power_of_two() {
            // With a single candidate, the only question is whether it can start.
            let at = self.ready.trailing_zeros() as usize;
            let bank = &self.banks[at];
            let part = bank.fifo.first().expect("a bank with a command");
            let free = part.earliest(&bank.row, ready_at);
            if free > now {
                return Err(free);
            }
            at
        } else {
            self.choose_of_several(now, ready_at)?
        };
        let then = bank + 1;
        self.turn = if then == self.banks.len() { 0 } else { then };
        Ok(bank)
    }

    #[inline(never)]
    fn choose_of_several(
        &mut self,
        now: Cycle,
        ready_at: impl Fn(CommandId) -> Cycle,
    ) -> Result<usize, Cycle> {
        let mut earliest = Cycle::MAX;
        let mut turning = None;
        let mut passed = 0u64;
        let mut chosen = None;
        // Banks whose command waits for data are skipped: the arrival of the data serves the
        // channel again.
        let before = (1u64 << (self.turn % 64)) - 1;
        let (mut left, mut then) = (self.ready & !before, self.ready & before);
        while left | then != 0 {
            if left == 0 {
                left = std::mem::take(&mut then);
            }
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let bank = &self.banks[at];
            // A bank that becomes free no earlier than another candidate decides nothing.
            if bank.row.free() >= earliest {
                continue;
            }
            let Some(part) = bank.fifo.first() else {
                continue;
            };
            let free = part.earliest(&bank.row, &ready_at);
            if free > now {
                earliest = earliest.min(free);
            } else if part.write == self.pins_wrote || bank.passed_over >= 2 {
                chosen = Some(at);
                break;
            } else {
                turning = turning.or(Some(at));
                passed |= 1 << at;
            }
        }
        if chosen.is_some() {
            // Only banks that another was preferred to count as passed over, not those for which
            // the pins turned around after all.
            while passed != 0 {
                self.banks[passed.trailing_zeros() as usize].passed_over += 1;
                passed &= passed - 1;
            }
        }
        chosen.or(turning).ok_or(earliest)
    }

    /// Gives the pins to the first part of a bank.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Avoids copying the part.
    pub fn start(&mut self, at: usize, now: Cycle) -> Started {
        let timing = &self.timing;
        let bank = &mut self.banks[at];
        let part = take_out(&mut bank.fifo, 0).expect("the chosen bank has a command");
        // The gap when the data pins change direction overlaps with opening the row, so it costs
        // nothing on pins that have been idle long enough.
        let turnaround = match (self.pins_wrote, part.write) {
            (false, true) => timing.read_to_write,
            (true, false) => timing.write_to_read,
            _ => 0,
        };
        self.own.row_hits += u64::from(bank.row.is_hit(part.row));
        let opened = 2 * bank.row.begin(part.row, now, &timing.rows);
        let start = opened.max(self.pins_free + 2 * turnaround);
        self.own.turning += start.saturating_sub(opened.max(self.pins_free)) / 2;
        let on_pins = Cycle::from(part.bursts) * timing.burst;
        self.pins_free = start + on_pins;
        self.pins_wrote = part.write;
        let end = self.pins_free.div_ceil(2);
        bank.row.end(part.write, end, &timing.rows);
        bank.passed_over = 0;
        let free = bank.row.free();
        self.ready = self.ready & !(1 << at) | u64::from(bank.is_ready()) << at;
        self.counters.count_departure(now);
        self.count_pins(part.write, on_pins);
        Started {
            part,
            pins: (start.div_ceil(2), end),
            free,
        }
    }

    fn count_pins(&mut self, write: bool, half_cycles: Cycle) {
        let odd = &mut self.odd[usize::from(write)];
        // Counts are in whole cycles; a remaining half is carried over to the next burst in the
        // same direction, so that none is lost to rounding.
        *odd += half_cycles;
        let way = if write {
            PathDirection::Write
        } else {
            PathDirection::Read
        };
        self.counters.used(way, *odd / 2);
        *odd %= 2;
    }

    /// Accounts for the core reading or writing `bytes` at an address within the channel now, from
    /// the bank's next free time on. Returns how long it waits for bank and pins, and when its time
    /// on the pins begins and ends.
    pub(crate) fn core_access(
        &mut self,
        address: u32,
        bytes: u32,
        write: bool,
        now: Cycle,
    ) -> (Cycle, (Cycle, Cycle)) {
        self.refresh(now);
        let (bank, row) = (self.bank_of(address), self.row_of(address));
        let timing = &self.timing;
        let bank = &mut self.banks[bank].row;
        let begun = now.max(bank.earliest(row));
        self.own.row_hits += u64::from(bank.is_hit(row));
        let opened = 2 * bank.begin(row, begun, &timing.rows);
        let turnaround = match (self.pins_wrote, write) {
            (false, true) => timing.read_to_write,
            (true, false) => timing.write_to_read,
            _ => 0,
        };
        let start = opened.max(self.pins_free + 2 * turnaround);
        let on_pins = Cycle::from(bytes.div_ceil(timing.burst_bytes.by)) * timing.burst;
        self.pins_free = start + on_pins;
        self.pins_wrote = write;
        let pins = (start.div_ceil(2), self.pins_free.div_ceil(2));
        bank.end(write, pins.1, &timing.rows);
        // An open row can be ready earlier than the core's own figure assumes.
        let waited = pins.0.saturating_sub(now + timing.rows.access());
        self.count_pins(write, on_pins);
        (waited, pins)
    }
}
