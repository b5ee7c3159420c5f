//! Fault injection: perturbations that no real chip causes by itself, namely contexts stalled for a
//! time and units that respond late. They reveal whether microcode relies on timing where it must
//! not.
//!
//! All perturbations are in simulated time: equal ones give equal runs.

use std::fmt;

use npsim_isa::{Context, Unit};
use serde::{Deserialize, Serialize};

use crate::Cycle;

/// The latest cycle at which a stall may end. No run gets that far.
pub const LAST_CYCLE: Cycle = 1 << 59;

/// Most stalls that are listed individually.
pub(crate) const MAX_LINES: usize = 8;

/// The perturbations of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perturbations {
    /// Units that respond late.
    pub late: Lateness,
    /// Stalls of contexts, in the order given.
    pub stalls: Vec<Stall>,
}

impl Perturbations {
    /// Whether there are no perturbations.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.late.is_none() && self.stalls.is_empty()
    }

    /// The cycle after which nothing that happened until `last` is delayed any more: after the
    /// latest completion, and after any stall that begins before `rest` further cycles have passed.
    #[must_use]
    pub fn undisturbed_after(&self, last: Cycle, rest: Cycle) -> Cycle {
        let late = self.late.dram.max(self.late.sram).max(self.late.scratch);
        let mut stalls: Vec<_> = self.stalls.iter().collect();
        stalls.sort_by_key(|stall| stall.from);
        stalls
            .iter()
            .fold(last.saturating_add(Cycle::from(late)), |end, stall| {
                if stall.from < end.saturating_add(rest) {
                    end.max(stall.until)
                } else {
                    end
                }
            })
    }

    /// Describes the perturbations in one line each: what is late, then which contexts are stalled
    /// when, up to eight lines. Contexts stalled at the same time share a line.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.late.is_none() {
            lines.push(format!("completions come late at random: {}", self.late));
        }
        let mut together: Vec<(Stall, Vec<u8>)> = Vec::new();
        for stall in &self.stalls {
            let same =
                |it: &Stall| (it.me, it.from, it.until) == (stall.me, stall.from, stall.until);
            match together.iter_mut().find(|(first, _)| same(first)) {
                Some((_, contexts)) => contexts.push(stall.context),
                None => together.push((*stall, vec![stall.context])),
            }
        }
        let more = together.len().saturating_sub(MAX_LINES);
        for (stall, mut contexts) in together.into_iter().take(MAX_LINES) {
            contexts.sort_unstable();
            contexts.dedup();
            lines.push(format!(
                "microengine {} {} stalled from cycle {} until {}",
                stall.me,
                list_contexts(&contexts),
                stall.from,
                stall.until
            ));
        }
        if more > 0 {
            lines.push(format!("and {more} more stalls"));
        }
        lines
    }
}

/// A context that is kept from running for a time. It does not get the pipeline from cycle `from`
/// until before `until`; if it has the pipeline at `from`, it keeps it until it yields, since a
/// microengine never preempts a context. Its signals and transfers still arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Index of the microengine.
    pub me: u8,
    /// Context 0-7.
    pub context: u8,
    /// The first cycle of the stall.
    pub from: Cycle,
    /// The first cycle at which the context may run again; at most [`LAST_CYCLE`].
    pub until: Cycle,
}

impl Stall {
    /// The context, from its packed number.
    #[must_use]
    pub const fn context(&self) -> Context {
        Context::wrapping(self.context)
    }

    /// Whether the stall keeps its context from the pipeline at a cycle.
    #[must_use]
    pub fn holds_at(&self, at: Cycle) -> bool {
        (self.from..self.until).contains(&at)
    }
}

/// The end of the last stall that holds a context at a cycle; `None` if none does.
#[must_use]
pub fn stalled_until(stalls: &[Stall], context: u8, at: Cycle) -> Option<Cycle> {
    let holding = { stalls.iter() }.filter(|it| it.context == context && it.holds_at(at));
    holding.map(|stall| stall.until).max()
}

/// The maximum delay, in cycles, of the completions of each unit's commands: each is delayed by its
/// own random number from 0 to that maximum.
///
/// The delay applies to what the microengine sees: data in its IN registers, the signal, or both if
/// they belong together. When and in which order the unit reads or writes its memory does not
/// change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Equal seeds give equal runs.
    pub seed: u64,
    /// Maximum delay for DRAM, in cycles.
    pub dram: u32,
    /// Maximum delay for all SRAM channels and attached devices, in cycles.
    pub sram: u32,
    /// Maximum delay for the scratchpad, in cycles.
    pub scratch: u32,
}

impl Lateness {
    /// Whether nothing is delayed.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.dram == 0 && self.sram == 0 && self.scratch == 0
    }

    const fn most(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Dram => self.dram,
            Unit::Sram => self.sram,
            Unit::Scratch => self.scratch,
            Unit::Hash | Unit::Msf | Unit::Cap | Unit::Pci => 0,
        }
    }
}

/// Formats as `dram up to 400 cycles, sram up to 200 (seed 1)`.
impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            ("dram", self.dram),
            ("sram", self.sram),
            ("scratch", self.scratch),
        ];
        let mut between = "";
        for (name, most) in units.into_iter().filter(|unit| unit.1 > 0) {
            write!(f, "{between}{name} up to {most} cycles")?;
            between = ", ";
        }
        write!(f, " (seed {})", self.seed)
    }
}

/// Formats contexts in ascending order: `context 3`, `contexts 1 to 7`, `contexts 0, 2 and 5`.
#[must_use]
pub fn list_contexts(contexts: &[u8]) -> String {
    match contexts {
        [one] => format!("context {one}"),
        [first, .., last]
            if usize::from(last - first) + 1 == contexts.len() && last - first > 1 =>
        {
            format!("contexts {first} to {last}")
        }
        [before @ .., last] => {
            let before: Vec<_> = before.iter().map(u8::to_string).collect();
            format!("contexts {} and {last}", before.join(", "))
        }
        [] => String::new(),
    }
}

/// Draws the delays of completions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DelayedCompletions {
    most: Lateness,
    on: bool,
    /// State of a `SplitMix64` generator.
    state: u64,
}

impl DelayedCompletions {
    pub fn new(most: Lateness) -> Self {
        Self {
            most,
            on: !most.is_none(),
            state: most.seed,
        }
    }

    /// The requested maximum delays.
    pub const fn max_delays(&self) -> Lateness {
        self.most
    }

    /// Whether anything may be delayed.
    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        self.on
    }

    /// Draws the delay of a unit's next completion, in cycles.
    pub fn draw(&mut self, unit: Unit) -> Cycle {
        let most = self.most.most(unit);
        if most == 0 {
            return 0;
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // The upper half of the bits, scaled to 0 to `most`.
        ((bits >> 32) * (u64::from(most) + 1)) >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::{DelayedCompletions, Lateness, Perturbations, Stall, list_contexts};
    use npsim_isa::Unit;

    fn drawn(seed: u64, unit: Unit) -> Vec<u64> {
        let mut late = DelayedCompletions::new(Lateness {
            seed,
            dram: 3,
            sram: u32::MAX,
            scratch: 0,
        });
        (0..1000).map(|_| late.draw(unit)).collect()
    }

    #[test]
    fn drawn_delays_are_uniformly_distributed() {
        let drawn = drawn(1, Unit::Dram);
        for number in 0..=3 {
            let count = drawn.iter().filter(|&&it| it == number).count();
            assert!((200..300).contains(&count), "{number}: {count}");
        }
        assert!(drawn.iter().all(|&it| it <= 3));
    }

    #[test]
    fn drawn_delays_depend_on_seed_and_affect_only_chosen_units() {
        assert_eq!(drawn(1, Unit::Sram), drawn(1, Unit::Sram));
        assert_ne!(drawn(1, Unit::Sram), drawn(2, Unit::Sram));
        assert!(drawn(0, Unit::Sram).iter().any(|&it| it > 1 << 31));
        assert!(drawn(0, Unit::Scratch).iter().all(|&it| it == 0));
        assert!(drawn(0, Unit::Hash).iter().all(|&it| it == 0));
    }

    #[test]
    fn perturbations_are_described_in_words() {
        let late = Lateness {
            seed: 7,
            dram: 400,
            sram: 0,
            scratch: 5,
        };
        assert_eq!(
            late.to_string(),
            "dram up to 400 cycles, scratch up to 5 cycles (seed 7)"
        );
        let stall = |context| Stall {
            me: u8::from(context > 2),
            context,
            from: 10,
            until: 90,
        };
        let mut all = Perturbations {
            late,
            stalls: vec![stall(2), stall(0), stall(3)],
        };
        assert_eq!(
            all.lines()[1..],
            [
                "microengine 0 contexts 0 and 2 stalled from cycle 10 until 90",
                "microengine 1 context 3 stalled from cycle 10 until 90",
            ]
        );
        assert!(!all.is_none());
        let later = |from| Stall { from, ..stall(1) };
        all.stalls.extend((11..20).map(later));
        assert_eq!(all.lines().len(), 10);
        assert_eq!(all.lines()[9], "and 3 more stalls");
        assert!(Perturbations::default().is_none());
        assert!(Perturbations::default().lines().is_empty());
    }

    #[test]
    fn run_end_is_postponed_by_overlapping_stalls() {
        let stall = |from, until| Stall {
            me: 0,
            context: 0,
            from,
            until,
        };
        let some = |late, stalls| Perturbations {
            late: Lateness {
                dram: late,
                ..Lateness::default()
            },
            stalls,
        };
        assert_eq!(Perturbations::default().undisturbed_after(50, 10), 50);
        assert_eq!(some(7, vec![]).undisturbed_after(50, 10), 57);
        // The second begins while the first is still running, the third after the rest.
        let stalls = vec![stall(215, 300), stall(55, 210), stall(400, 900)];
        assert_eq!(some(0, stalls).undisturbed_after(50, 10), 300);
    }

    #[test]
    fn context_lists_are_abbreviated_in_text() {
        assert_eq!(list_contexts(&[3]), "context 3");
        assert_eq!(list_contexts(&[1, 2]), "contexts 1 and 2");
        assert_eq!(list_contexts(&[1, 2, 3, 4]), "contexts 1 to 4");
        assert_eq!(list_contexts(&[0, 2, 5]), "contexts 0, 2 and 5");
    }
}
