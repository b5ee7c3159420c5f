//! Tokens of rings and locks in memory: things that a context takes with one command and gives back
//! with another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};
use npsim_image::Image;
use npsim_isa::CommandOp;

use super::{ExclusiveResource, Part, Tally};
use crate::polling_reads::polling_reads;
use crate::ring_command::ring_of;

/// Maximum number of remembered tries; programs with more use such commands for other purposes than
/// locks.
const TRIES: usize = 4096;

/// A context that tries: microengine and context.
type Trier = (u8, u8);

/// What contexts take and give back with commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds {
    /// The tries of each context since it last gave the resource back.
    tries: BTreeMap<(ExclusiveResource, Trier), Tries>,
    /// The resource that each context tried for with its last command, if any.
    spins: BTreeMap<Trier, ExclusiveResource>,
    given_back: BTreeMap<ExclusiveResource, Release>,
    /// Polling reads of each microengine's program: it waits for a value, such as its turn number.
    polls: Vec<BTreeSet<u16>>,
}

/// Consecutive tries of a context for a resource, with no other command in between.
#[derive(Clone, Copy, Debug)]
struct Tries {
    first: Cycle,
    /// The cycle and the instruction of the last one.
    last: (Cycle, u16),
}

/// The last release of a resource.
#[derive(Clone, Copy, Debug, Default)]
struct Release {
    at: Cycle,
    /// Number of tries since then.
    tries: u64,
    /// Whether a try had failed by then.
    wanted: bool,
}

/// What a command does with an exclusive resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HoldStep {
    Try,
    GiveBack,
}

impl Holds {
    pub fn new(images: &[Arc<Image>]) -> Self {
        Self {
            polls: images.iter().map(|image| polling_reads(image)).collect(),
            ..Self::default()
        }
    }

    pub const fn wants() -> EventKinds {
        EventKinds::of(&[TraceEventKind::Served])
    }

    /// Visits the state that events change.
    pub fn visit_state(&mut self, state: &mut RecurringState<'_>) {
        state.value(self.tries.len() as u64);
        for ((what, (me, context)), tries) in &mut self.tries {
            state.value(what.number());
            state.value(u64::from(*me) << 24 | u64::from(*context) << 16 | u64::from(tries.last.1));
            state.time(&mut tries.first);
            state.time(&mut tries.last.0);
        }
        state.value(self.spins.len() as u64);
        for ((me, context), what) in &self.spins {
            state.value(u64::from(*me) << 8 | u64::from(*context));
            state.value(what.number());
        }
        state.value(self.given_back.len() as u64);
        for release in self.given_back.values_mut() {
            state.time(&mut release.at);
            state.count(&mut release.tries);
            state.value(u64::from(release.wanted));
        }
    }

    pub fn see(&mut self, at: Cycle, event: &TraceEvent, tally: &mut Tally) {
        let TraceEvent::Served { ref command, .. } = *event else {
            return;
        };
        let polls = { self.polls.get(usize::from(command.me)) }
            .is_some_and(|polls| polls.contains(&command.pc));
        let who = (command.me, command.context);
        let spun = self.spins.remove(&who);
        let Some((step, what)) = step(command, polls) else {
            return;
        };
        match step {
            HoldStep::Try => {
                self.spins.insert(who, what);
                if self.tries.len() < TRIES || self.tries.contains_key(&(what, who)) {
                    let earlier = self.tries.get(&(what, who)).filter(|_| spun == Some(what));
                    let tries = Tries {
                        first: earlier.map_or(at, |tries| tries.first),
                        last: (at, command.pc),
                    };
                    self.tries.insert((what, who), tries);
                    if let Some(release) = self.given_back.get_mut(&what) {
                        release.tries += 1;
                    }
                }
            }
            HoldStep::GiveBack => self.give_back(at, what, command, tally),
        }
    }

    fn give_back(
        &mut self,
        at: Cycle,
        what: ExclusiveResource,
        command: &BusCommand,
        tally: &mut Tally,
    ) {
        let who = (command.me, command.context);
        let Some(tries) = self.tries.remove(&(what, who)) else {
            return;
        };
        let (since, pc) = tries.last;
        let bounds = (command.me, pc, command.pc);
        if !tally.hold(what, (since, at), (command.context, bounds)) {
            return;
        }
        { tally.passages.entry(who).or_default() }.insert(what, (tries.first, at));
        let before = self.given_back.get(&what).copied().unwrap_or_default();
        // One of the tries has succeeded.
        let failed = before.tries.saturating_sub(1);
        let release = Release {
            at,
            tries: 0,
            wanted: failed > 0,
        };
        if self.given_back.insert(what, release).is_none() {
            return;
        }
        tally.add(at, what, Part::Failed, failed);
        if since < before.at {
            return tally.add(at, what, Part::Shared, 1);
        }
        let between = if before.wanted {
            Part::HandedOver
        } else {
            Part::Idle
        };
        tally.add(at, what, between, since - before.at);
    }
}

/// What a command does, and with which resource; `polls` is whether a read polls for a value.
fn step(command: &BusCommand, polls: bool) -> Option<(HoldStep, ExclusiveResource)> {
    use CommandOp as Op;
    let unit = command.op.info().unit;
    let lock = || ExclusiveResource::lock(unit, command.address);
    let (step, what) = match command.op {
        Op::ScratchGet | Op::SramGet | Op::SramDequeue => {
            (HoldStep::Try, ExclusiveResource::Token(ring_of(command)))
        }
        Op::ScratchPut | Op::SramPut | Op::SramEnqueue => (
            HoldStep::GiveBack,
            ExclusiveResource::Token(ring_of(command)),
        ),
        Op::ScratchRead | Op::SramRead if polls => (HoldStep::Try, lock()?),
        op if op.is_atomic() && op.info().pushes => (HoldStep::Try, lock()?),
        op if op.is_atomic() => (HoldStep::GiveBack, lock()?),
        Op::ScratchWrite | Op::SramWrite => (HoldStep::GiveBack, lock()?),
        _ => return None,
    };
    Some((step, what))
}
