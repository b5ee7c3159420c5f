//! Lists of Quick-Start requests, one for each context, made by the router's own macros, and the
//! conditions that their grants must meet.

use std::collections::{BTreeMap, BTreeSet};

use npsim_chip::chip::Chip;
use npsim_protocols::quick_start::option::rate_units;
use npsim_protocols::quick_start::pool::grant;

use super::bench::{Loaded, driver, ensure, run_until, valid_gap};
use npsim_chip::Cycle;
use npsim_testkit::microcode::Edit;

/// Bytes of a group's state, and of a request in a list.
const GROUP: u32 = 32;
const ENTRY: u32 = 16;
const WRITTEN: u32 = 1 << 31;

/// How grants are kept consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    Lock,
    Atomic,
}

/// A request to be made: nothing for code 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub code: u8,
    pub group: u8,
    /// Steps of 16 cycles to wait first.
    pub gap: u16,
}

/// A request that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    pub code: u8,
    pub group: u8,
    pub granted: u8,
    pub phase: u32,
    pub limit: i32,
    /// The counter that it found.
    pub before: i32,
}

impl Made {
    pub fn units(&self) -> i64 {
        units(self.granted)
    }
}

/// Units of 40 kbit/s of a rate code.
pub fn units(code: u8) -> i64 {
    i64::from(rate_units(code))
}

/// The state of a group in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub limit: i32,
    /// 0 or 8.
    pub phase: u32,
    pub counters: [i32; 2],
    pub locked: bool,
}

impl State {
    /// The counter of this window.
    pub fn granted(&self) -> i64 {
        i64::from(self.counters[usize::from(self.phase != 0)])
    }
}

/// Contexts with their lists, running.
pub struct Contest {
    pub variant: Variant,
    pub chip: Chip,
    lists: Vec<Vec<Request>>,
    /// The number of requests of each list that have been seen to be made.
    seen: Vec<usize>,
    state: u32,
    requests: u32,
    /// Entries in each list's memory.
    room: u32,
}

/// The assembled driver; lists of `room` requests, a power of two.
pub fn loaded(
    variant: Variant,
    microengines: u32,
    room: u32,
    defines: &[(&str, u32)],
    edits: &[Edit],
) -> Loaded {
    assert!(room.is_power_of_two());
    let kind = match variant {
        Variant::Lock => "QUICK_START_LOCK",
        Variant::Atomic => "QUICK_START_ATOMIC",
    };
    let mut all = vec![
        (kind, 1),
        ("LIST", room),
        ("LIST_SHIFT", (room * ENTRY).ilog2()),
    ];
    all.extend_from_slice(defines);
    driver("requests", microengines, &all, edits)
}

impl Contest {
    /// Lists shorter than their room are padded with empty entries.
    pub fn new(loaded: &Loaded, variant: Variant, lists: Vec<Vec<Request>>) -> Self {
        let mut contest = Self {
            variant,
            chip: loaded.chip.clone(),
            seen: vec![0; lists.len()],
            state: loaded.value("QS_STATE"),
            requests: loaded.value("REQUESTS"),
            room: loaded.value("LIST"),
            lists,
        };
        for context in 0..contest.lists.len() {
            for (index, request) in contest.lists[context].clone().iter().enumerate() {
                let word = u32::from(request.code)
                    | u32::from(request.group) << 4
                    | u32::from(valid_gap(request.gap)) << 16;
                let at = contest.entry(context, index);
                assert!(contest.chip.units_mut().sram.write_word(at, word));
            }
        }
        contest
    }

    fn entry(&self, context: usize, index: usize) -> u32 {
        assert!(index < self.room as usize);
        self.requests + (context as u32 * self.room + index as u32) * ENTRY
    }

    pub fn now(&self) -> Cycle {
        self.chip.now()
    }

    fn word(&self, group: u32, word: u32) -> u32 {
        self.chip
            .units()
            .scratch
            .read(self.state + group * GROUP + 4 * word)
            .unwrap()
    }

    fn put(&mut self, group: u32, word: u32, value: u32) {
        assert!(
            self.chip
                .units_mut()
                .scratch
                .write(self.state + group * GROUP + 4 * word, value)
        );
    }

    pub fn state(&self, group: u32) -> State {
        State {
            limit: self.word(group, 0).cast_signed(),
            phase: self.word(group, 1),
            counters: [2, 4].map(|word| self.word(group, word).cast_signed()),
            locked: self.word(group, 3) & 1 != 0,
        }
    }

    pub fn set_counter(&mut self, group: u32, phase: u32, value: i32) {
        self.put(group, 2 + phase / 4, value.cast_unsigned());
    }

    pub fn set_limit(&mut self, group: u32, limit: i32) {
        self.put(group, 0, limit.cast_unsigned());
    }

    /// Limit and phase, as with one write of both.
    pub fn set_window(&mut self, group: u32, limit: i32, phase: u32) {
        self.set_limit(group, limit);
        self.put(group, 1, phase);
    }

    /// Runs to a cycle; returns the requests made meanwhile, context by context, and whether
    /// everything has ended.
    pub fn run(&mut self, until: Cycle) -> Result<(Vec<Made>, bool), String> {
        let quiet = run_until(&mut self.chip, until)?;
        let mut made = Vec::new();
        for context in 0..self.lists.len() {
            while let Some(&request) = self.lists[context].get(self.seen[context]) {
                if request.code > 0 {
                    let at = self.entry(context, self.seen[context]);
                    let [note, limit, first, second] = [0, 4, 8, 12]
                        .map(|word| self.chip.units().sram.read_word(at + word).unwrap());
                    if note & WRITTEN == 0 {
                        break;
                    }
                    let phase = note >> 16 & 0xff;
                    let before = match self.variant {
                        Variant::Lock if phase == 0 => first,
                        _ => second,
                    };
                    let it = Made {
                        code: (note & 0xff) as u8,
                        group: request.group,
                        granted: (note >> 8 & 0xff) as u8,
                        phase,
                        limit: limit.cast_signed(),
                        before: before.cast_signed(),
                    };
                    ensure(it.code == request.code && it.granted <= it.code, || {
                        format!("context {context} asked for {request:?} and got {it:?}")
                    })?;
                    made.push(it);
                }
                self.seen[context] += 1;
            }
        }
        let all = (self.lists.iter().zip(&self.seen)).all(|(list, seen)| list.len() == *seen);
        ensure(all || !quiet, || "requests were never made".into())?;
        Ok((made, quiet))
    }
}

/// The grants in one window of a group, and the values that its requests saw.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub made: Vec<Made>,
    pub granted: i64,
}

impl Ledger {
    pub fn add(&mut self, made: Made) {
        self.granted += made.units();
        self.made.push(made);
    }

    /// The condition at any time, whether or not a lock is held or a surplus is in flight, on a
    /// counter that began at `start` under a limit of at most `limit`.
    pub fn check_so_far(
        &self,
        variant: Variant,
        limit: i32,
        start: i32,
        counter: i64,
    ) -> Result<(), String> {
        let counted = counter - i64::from(start);
        ensure(counted >= self.granted, || {
            format!("{} granted, {counted} counted", self.granted)
        })?;
        let most = match variant {
            Variant::Lock => counter,
            Variant::Atomic => i64::from(start) + self.granted,
        };
        let limit = i64::from(limit.max(start));
        ensure(most <= limit, || format!("{most} of {limit} granted"))
    }

    /// The conditions at the end: no more is granted than there was, all of it is counted, and each
    /// request got what the law gives for the counter that it found.
    pub fn check_settled(&self, variant: Variant, start: i32, counter: i32) -> Result<(), String> {
        let expected = i64::from(start) + self.granted;
        ensure(expected == i64::from(counter), || {
            format!("{} granted from {start}, {counter} counted", self.granted)
        })?;
        for made in &self.made {
            let right = grant(made.limit, made.before, made.code);
            ensure(made.granted == right, || {
                format!("{right} expected of {made:?}")
            })?;
        }
        let limit = self.made.iter().map(|made| i64::from(made.limit)).max();
        let limit = limit.unwrap_or(0).max(i64::from(start));
        ensure(expected <= limit, || {
            format!("{expected} of {limit} granted")
        })?;
        match variant {
            Variant::Lock => self.check_serialised(start),
            Variant::Atomic => Ok(()),
        }
    }

    /// Under a lock, grants are ordered: each finds the counter that the one before left.
    fn check_serialised(&self, start: i32) -> Result<(), String> {
        let granted = self.made.iter().filter(|made| made.granted > 0);
        let next: BTreeMap<i32, &Made> = granted.clone().map(|made| (made.before, made)).collect();
        ensure(next.len() == granted.count(), || {
            "two found the same counter and took from it".into()
        })?;
        let mut values = BTreeSet::from([start]);
        let mut counter = start;
        while let Some(made) = next.get(&counter) {
            counter += rate_units(made.granted);
            values.insert(counter);
        }
        ensure(values.len() == next.len() + 1, || {
            "the counter jumped".into()
        })?;
        let seen = self.made.iter().all(|made| values.contains(&made.before));
        ensure(seen, || "a counter was found that never was".into())
    }
}
