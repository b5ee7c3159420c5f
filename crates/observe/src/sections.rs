//! Critical sections: parts of programs that one context at a time passes through, since it holds
//! something that exists only once: a turn passed on as a signal, the only token of a ring or a
//! queue, or a lock. For each: how long it was held and handed over, and from which line to which.
//!
//! A **turn** is a signal that a context takes and then sends on under the same number. It is held
//! from when it is taken until it is sent, handed over from then until it arrives, and idle if the
//! next context is not yet waiting for it.
//!
//! A **token** is what a context gets from a ring or queue and puts back there. A **lock** is a
//! longword that a context changes with an atomic operation that returns the old value
//! (`test_and_set`), or polls until its number is there, and clears or writes later. The last try
//! of a context before it gives the thing back is the one that succeeded. If another context tried
//! meanwhile, the time to the next hold is a handover, otherwise nothing waited.
//!
//! A turn also stands idle when the context that it came to is still occupied with something else:
//! contexts that take a lock in any order and leave in order wait for the one that got it last.
//! That part of the turn's idle time is attributed to what the context tried for or held.

mod holds;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::signal_name_at;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, RingName, TraceEvent};
use npsim_chip::watch::Sampler;
use npsim_image::Image;
use npsim_isa::Unit;

use crate::counts_over_time::CountsOverTime;
use crate::profile::chain;
use holds::Holds;
use turns::Turns;

/// Maximum number of exclusive resources; later ones are not tracked.
const MAX_RESOURCES: usize = 64;

/// Something that exists only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExclusiveResource {
    /// A signal passed from context to context: a microengine that takes it, and the signal's
    /// number.
    Turn {
        /// The microengine.
        me: u8,
        /// The signal's number.
        signal: u8,
    },
    /// The token of a ring or queue.
    Token(RingName),
    /// A longword of scratch or SRAM, by its command address.
    Lock {
        /// Whether it is in SRAM.
        sram: bool,
        /// The address; for SRAM it includes the channel.
        address: u32,
    },
}

impl ExclusiveResource {
    /// A longword by its address in commands to a unit.
    pub(crate) fn lock(unit: Unit, address: u32) -> Option<Self> {
        let (sram, mask) = match unit {
            Unit::Scratch => (false, 0x3ffc),
            Unit::Sram => (true, !3),
            _ => return None,
        };
        let address = address & mask;
        Some(Self::Lock { sram, address })
    }

    /// A unique number.
    fn number(self) -> u64 {
        let (kind, a, b): (u64, u64, u64) = match self {
            Self::Turn { me, signal } => (0, me.into(), signal.into()),
            Self::Token(RingName::Scratch(ring)) => (1, 0, ring.into()),
            Self::Token(RingName::Neighbour(me)) => (2, 0, me.into()),
            Self::Token(RingName::Sram { channel, entry }) => (3, channel.into(), entry.into()),
            Self::Lock { sram, address } => (4, u64::from(sram), address.into()),
        };
        kind << 40 | a << 32 | b
    }
}

/// What is counted for an exclusive resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Held,
    HandedOver,
    Idle,
    Sections,
    /// Failed tries.
    Failed,
    /// It was held by two contexts at a time, so it does not exist only once.
    Shared,
    /// Cycles for which the turn of this microengine and signal waited for a context that tried for
    /// the resource or held it.
    Delays(u8, u8),
}

/// The bounds of a section: the microengine, and the addresses of the instructions that take and
/// give back.
type Bounds = (u8, u16, u16);

/// A section that one context at a time passed through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialSection {
    /// The exclusive resource that was held.
    pub held_resource: ExclusiveResource,
    /// The name of a turn's signal in the program.
    pub signal: Option<String>,
    /// The microengines whose contexts held it.
    pub microengines: Vec<u8>,
    /// Number of contexts that held it.
    pub contexts: usize,
    /// Cycles in which it was held.
    pub held: Cycle,
    /// Cycles from one hold to the next during which a context waited.
    pub handed_over: Cycle,
    /// Number of holds.
    pub sections: u64,
    /// Failed tries; there are none for turns.
    pub failed: u64,
    /// The turn that waited longest for contexts that tried for this or held it, and the cycles of
    /// its wait.
    pub delays: Option<(String, Cycle)>,
    /// The lines that take it and give it back, for the section that took the most time.
    pub lines: Option<(String, String)>,
}

/// Observes what one context at a time holds.
#[derive(Clone, Debug, Default)]
pub struct SerialSections {
    turns: Turns,
    holds: Holds,
    tally: Tally,
    images: Vec<Arc<Image>>,
}

/// The counts.
#[derive(Clone, Debug, Default)]
struct Tally {
    counts: CountsOverTime<(ExclusiveResource, Part)>,
    holders: BTreeMap<ExclusiveResource, BTreeSet<(u8, u8)>>,
    /// For each context and resource, the first try and the release of the last passage.
    passages: BTreeMap<(u8, u8), BTreeMap<ExclusiveResource, (Cycle, Cycle)>>,
    bounds: BTreeMap<ExclusiveResource, BTreeMap<Bounds, Cycle>>,
}

impl Tally {
    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) {
        self.counts.visit_state(at, state);
        for holders in self.holders.values() {
            state.value(holders.len() as u64);
        }
        for bounds in self.bounds.values_mut() {
            state.value(bounds.len() as u64);
            for held in bounds.values_mut() {
                state.count(held);
            }
        }
        for passages in self.passages.values_mut() {
            state.value(passages.len() as u64);
            for (first, last) in passages.values_mut() {
                state.time(first);
                state.time(last);
            }
        }
    }

    /// Counts a hold that ended. Returns false if the resource is not tracked.
    fn hold(
        &mut self,
        what: ExclusiveResource,
        (from, until): (Cycle, Cycle),
        (context, bounds): (u8, Bounds),
    ) -> bool {
        if self.holders.len() >= MAX_RESOURCES && !self.holders.contains_key(&what) {
            return false;
        }
        let held = until.saturating_sub(from);
        self.holders
            .entry(what)
            .or_default()
            .insert((bounds.0, context));
        *{ self.bounds.entry(what).or_default() }
            .entry(bounds)
            .or_default() += held;
        self.counts.add(until, (what, Part::Held), held);
        self.counts.add(until, (what, Part::Sections), 1);
        true
    }

    /// Attributes the delay of a turn that had arrived earlier, while the context that now takes it
    /// was occupied with something else.
    fn delay(&mut self, (from, at): (Cycle, Cycle), (me, context): (u8, u8), signal: u8) {
        for (&what, &(first, last)) in self.passages.get(&(me, context)).into_iter().flatten() {
            let cycles = last.min(at).saturating_sub(first.max(from));
            if cycles > 0 {
                self.counts
                    .add(at, (what, Part::Delays(me, signal)), cycles);
            }
        }
    }

    fn add(&mut self, at: Cycle, what: ExclusiveResource, part: Part, count: u64) {
        if self.holders.contains_key(&what) {
            self.counts.add(at, (what, part), count);
        }
    }
}

impl SerialSections {
    /// An observer for a chip, with nothing observed yet.
    #[must_use]
    pub fn new(chip: &Chip) -> Self {
        let images = { chip.microengines().iter() }.map(|core| core.program().image().clone());
        let images: Vec<_> = images.collect();
        Self {
            turns: Turns::new(&images, chip.fabric().profile.local_signal_latency()),
            holds: Holds::new(&images),
            tally: Tally::default(),
            images,
        }
    }

    /// The sections that two or more contexts passed through, one at a time, between two cycles.
    #[must_use]
    pub fn between(&self, from: Cycle, to: Cycle) -> Vec<SerialSection> {
        let (before, after) = (
            self.tally.counts.before(from),
            self.tally.counts.before(to.saturating_add(1)),
        );
        let count = |what: ExclusiveResource, part| {
            let at = |counts: &BTreeMap<_, _>| counts.get(&(what, part)).copied().unwrap_or(0);
            at(after).saturating_sub(at(before))
        };
        let groups = self.turns.groups(self.tally.holders.keys());
        let sections = groups.into_iter().filter_map(|group| {
            let sum = |part| group.iter().map(|what| count(*what, part)).sum::<u64>();
            let (held, handed_over) = (sum(Part::Held), sum(Part::HandedOver));
            let sections = sum(Part::Sections);
            let cycles = to.saturating_sub(from);
            // The times of something that exists only once add up to no more than the elapsed time.
            let times = held + handed_over + sum(Part::Idle);
            if sections == 0
                || sum(Part::Shared) * 20 > sections
                || times > cycles + cycles / 20 + 1000
            {
                return None;
            }
            let holders: BTreeSet<_> = { group.iter() }
                .filter_map(|what| self.tally.holders.get(what))
                .flatten()
                .copied()
                .collect();
            let bounds = { group.iter() }.filter_map(|what| self.tally.bounds.get(what));
            let longest = { bounds.flatten() }.max_by_key(|(bounds, held)| (**held, **bounds));
            let what = *group.first()?;
            let microengines: BTreeSet<_> = holders.iter().map(|(me, _)| *me).collect();
            (holders.len() > 1).then(|| SerialSection {
                held_resource: what,
                signal: self.signal(what, longest.map(|(bounds, _)| *bounds)),
                microengines: microengines.into_iter().collect(),
                contexts: holders.len(),
                held,
                handed_over,
                sections,
                failed: sum(Part::Failed),
                delays: self.delays(what, |part| count(what, part)),
                lines: longest.and_then(|(bounds, _)| self.lines(*bounds)),
            })
        });
        sections.collect()
    }

    /// The turn that waited longest because of a resource.
    fn delays(
        &self,
        what: ExclusiveResource,
        count: impl Fn(Part) -> u64,
    ) -> Option<(String, Cycle)> {
        let turns = self.turns.groups(self.tally.holders.keys()).into_iter();
        let turns = turns.filter(|group| matches!(group[..], [ExclusiveResource::Turn { .. }, ..]));
        let waited = turns.map(|group| {
            let each = group.iter().map(|turn| match *turn {
                ExclusiveResource::Turn { me, signal } => count(Part::Delays(me, signal)),
                _ => 0,
            });
            (each.sum::<u64>(), group)
        });
        let (cycles, group) = waited.max_by_key(|(cycles, _)| *cycles)?;
        let turn = *group.first().filter(|turn| cycles > 0 && **turn != what)?;
        let bounds = self.tally.bounds.get(&turn)?;
        let (bounds, _) = bounds
            .iter()
            .max_by_key(|(bounds, held)| (**held, **bounds))?;
        Some((self.signal(turn, Some(*bounds))?, cycles))
    }

    fn signal(&self, what: ExclusiveResource, bounds: Option<Bounds>) -> Option<String> {
        let (ExclusiveResource::Turn { signal, .. }, Some((me, taken, _))) = (what, bounds) else {
            return None;
        };
        let image = self.images.get(usize::from(me))?;
        let name = signal_name_at(image, signal, taken);
        let quoted = name.split('`').nth(1).map(|name| format!("`{name}`"));
        Some(quoted.unwrap_or(name))
    }

    /// The lines in the author's source: where a macro is used, not where it is defined.
    fn lines(&self, (me, taken, given): Bounds) -> Option<(String, String)> {
        let image = self.images.get(usize::from(me))?;
        let line = |pc: u16| {
            let places = chain(image, usize::from(pc));
            let (file, line) = places.iter().rev().find_map(|place| place.line)?;
            Some(format!("{file}:{line}"))
        };
        Some((line(taken)?, line(given)?))
    }
}

impl Sampler for SerialSections {}

impl Observer for SerialSections {
    fn wants(&self) -> EventKinds {
        self.turns.wants().and(Holds::wants())
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.turns.visit_state(state);
        self.holds.visit_state(state);
        self.tally.visit_state(at, state);
        true
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.turns.see(at, event, &mut self.tally);
        self.holds.see(at, event, &mut self.tally);
    }
}
