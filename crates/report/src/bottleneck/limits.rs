//! Finds the stage, line or unit that holds frames up.

use std::collections::BTreeSet;

use npsim_inspect::stats::UnitStats;
use npsim_observe::flow::WorkDirection;
use npsim_observe::series::ProbeKind;
use serde::Serialize;

use super::backlog::Backlog;
use super::handoffs::HandoffWait;
use super::loads::{LoadKind, ResourceLoad};
use super::locks::LockLoad;
use super::observed::{Observed, Stage};
use super::serial::SectionLoad;
use super::stage_load::{OCCUPIED, StageLoad, is_congested};
use super::window::AnalysisWindow;
use super::wording::Subject;

/// Load in thousandths at which a unit or bus is at its limit.
const BUSY: u64 = 900;
/// Load in thousandths at which a line is full; it falls short of 1000 since frames do not divide
/// time evenly.
const LINE_FULL: u64 = 970;
/// Load in thousandths at which a line is full if frames wait for the stage in front of it and that
/// stage has time to spare: the rest is lost at the ends of bursts.
const LINE_BUSY: u64 = 900;
/// Stall time in thousandths at which a unit holds a stage up.
const STALLED: u64 = 200;

/// Whether a unit or bus with this load is saturated. One that limits a run at a lower load does so
/// because it accepts no more commands.
pub(super) const fn is_busy(permille: u64) -> bool {
    permille >= BUSY
}

/// Kinds of limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// The line out of a port; the most loaded one if several are full.
    Line(u8),
    /// The microengines of a stage, which execute all the time.
    Compute,
    /// The contexts of a stage, which are all asleep waiting for memory.
    Latency,
    /// A unit or bus that is saturated.
    Unit,
    /// The general-purpose core, which takes too little from a ring.
    SlowPath,
    /// A lock that is always held or being handed over, by its index in the project.
    Lock(u16),
    /// A turn, the token of a ring, or a lock that the project does not name, which is always held
    /// or being handed over.
    Serial(usize),
}

/// Something that holds frames up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// The kind.
    pub kind: LimitKind,
    /// The name in sentences: `microengine 0 (forward.uc)`.
    pub name: String,
    /// Thousandths of the window in which it was in use.
    pub permille: u64,
    /// Frames lost in front of it.
    pub lost: u64,
    /// Index of the stage, if it belongs to one.
    pub stage: Option<usize>,
    /// Indices of the places in front of it.
    #[serde(skip)]
    pub before: Vec<usize>,
    /// Indices of the places behind it.
    #[serde(skip)]
    pub after: Vec<usize>,
}

impl Limit {
    /// The subject of sentences about it.
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject::named(&self.name)
    }
}

/// The evidence from which limits are found.
#[derive(Clone, Copy)]
pub(super) struct LimitCauses<'a> {
    pub stages: &'a [StageLoad],
    pub waits: &'a [HandoffWait],
    pub locks: &'a [LockLoad],
    pub sections: &'a [SectionLoad],
    pub backlog: Option<Backlog>,
}

/// Finds what holds frames up, most costly first.
pub(super) fn limits(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    loads: &[ResourceLoad],
    reasons: &LimitCauses<'_>,
) -> Vec<Limit> {
    let backlog = reasons.backlog;
    let search = LimitSearch {
        observed,
        window,
        loads,
        reasons,
        in_front_of_backlog: backlog.map_or_else(BTreeSet::new, |backlog| {
            upstream_stages(reasons.stages, backlog.stage)
        }),
    };
    let stages = 0..observed.stages.len().min(reasons.stages.len());
    let mut limits: Vec<Limit> = stages.filter_map(|index| search.stage(index)).collect();
    slow_path(observed, window, loads, &mut limits);
    full_queues(window, loads, &mut limits);
    limits.sort_by_key(|limit| std::cmp::Reverse(limit.lost));
    for lock in reasons.locks.iter().rev() {
        let limit = search.lock(lock);
        // Everything except a line may be full only because contexts wait for the lock.
        let worse =
            |other: &&Limit| matches!(other.kind, LimitKind::Line(_)) && other.lost > limit.lost;
        let place = limits.iter().take_while(worse).count();
        limits.insert(place, limit);
    }
    limits
}

/// The search for limits.
struct LimitSearch<'a> {
    observed: &'a Observed<'a>,
    window: &'a AnalysisWindow,
    loads: &'a [ResourceLoad],
    reasons: &'a LimitCauses<'a>,
    /// Stages upstream of the one with the backlog.
    in_front_of_backlog: BTreeSet<usize>,
}

impl LimitSearch<'_> {
    /// Frames lost at these places.
    fn lost(&self, places: &[usize]) -> u64 {
        let lost = |&place: &usize| self.window.lost_at(self.observed.series, place);
        places.iter().map(lost).sum()
    }

    fn any_congested(&self, places: &[usize]) -> bool {
        let is_congested = |&place: &usize| is_congested(self.observed, self.window, place);
        places.iter().any(is_congested)
    }

    /// The places in front of these stages.
    fn input_places(&self, stages: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        stages.flat_map(|stage| self.reasons.stages[stage].takes.iter().copied())
    }

    /// Whether a stage waits for a buffer or for another stage, and so is not a limit itself.
    fn waits(&self, index: usize) -> bool {
        let mut waits = self.reasons.waits.iter();
        waits.any(|wait| wait.waiter == index) || self.in_front_of_backlog.contains(&index)
    }

    /// Whether a stage spins for a lock, or waits for a stage that does, and so is not a limit
    /// itself.
    fn is_held_up_by_lock(&self, index: usize, load: &StageLoad) -> bool {
        let LimitCauses { waits, locks, .. } = self.reasons;
        let takes_lock = |stage: usize| locks.iter().any(|lock| lock.takers.contains(&stage));
        let mut waiting = waits.iter().filter(|wait| wait.blocker == index);
        takes_lock(index)
            || !locks.is_empty()
                && !self.any_congested(&load.takes)
                && waiting.all(|wait| takes_lock(wait.waiter))
    }

    /// The limit that a stage poses, if any.
    fn stage(&self, index: usize) -> Option<Limit> {
        let (stage, load) = (&self.observed.stages[index], &self.reasons.stages[index]);
        // Frames lost in front of a waiting stage are attributed to the stage that it waits for.
        let waiting = self.reasons.waits.iter().filter(|it| it.blocker == index);
        let mut in_front: Vec<usize> = self.input_places(waiting.map(|it| it.waiter)).collect();
        if self.reasons.backlog.is_some_and(|it| it.stage == index) {
            in_front.extend(self.input_places(self.in_front_of_backlog.iter().copied()));
        }
        if self.waits(index) || (in_front.is_empty() && !self.any_congested(&load.takes)) {
            return None;
        }
        let mut before = in_front;
        before.extend(&load.takes);
        let mut known = BTreeSet::new();
        before.retain(|&place| known.insert(place));
        let (kind, name, permille) = self.kind(index, stage, load)?;
        // If places are only full at times, no work waits for the sleeping contexts.
        let has_work = self.reasons.backlog.is_some_and(|it| it.stage == index)
            || before.iter().any(|&place| self.holds_work(place));
        if kind == LimitKind::Latency && !has_work {
            return None;
        }
        let by_lock = matches!(kind, LimitKind::Compute | LimitKind::Latency)
            && self.is_held_up_by_lock(index, load);
        (!by_lock).then(|| Limit {
            kind,
            name,
            permille,
            lost: self.lost(&before),
            stage: Some(index),
            before,
            after: load.gives.clone(),
        })
    }

    /// What keeps a stage from taking more work, with its name and its load in thousandths; `None`
    /// if something downstream holds the stage up.
    fn kind(
        &self,
        index: usize,
        stage: &Stage,
        load: &StageLoad,
    ) -> Option<(LimitKind, String, u64)> {
        let share = load.share(load.occupied());
        let enough = if share < OCCUPIED {
            LINE_BUSY
        } else {
            LINE_FULL
        };
        let unit = busiest_unit(self.observed, self.loads, stage).filter(|unit| {
            is_busy(unit.permille) && (share < OCCUPIED || load.share(load.stalled) >= STALLED)
        });
        if let Some(unit) = unit {
            return Some((LimitKind::Unit, unit.name.clone(), unit.permille));
        }
        // Stalls of an occupied stage must be a significant part of its time.
        let works = load.executing + load.aborted;
        let refusing = self.refusing_unit(stage, load);
        if let Some(unit) = refusing.filter(|_| share < OCCUPIED || load.stalled * 2 >= works) {
            return Some((LimitKind::Unit, unit.name.clone(), unit.permille));
        }
        if share >= OCCUPIED {
            // Contexts that keep retrying for a token or a lock do no computation.
            let section = self.section(index, |section| !section.waiters_sleep());
            return section.or_else(|| Some((LimitKind::Compute, stage.title(), share)));
        }
        if let Some((port, line)) = full_line(self.observed, self.loads, load, enough) {
            let name = format!("the line out of port {port}");
            return Some((LimitKind::Line(port), name, line));
        }
        if self.any_congested(&load.gives) {
            return None;
        }
        let section = self.section(index, |_| true);
        section.or_else(|| Some((LimitKind::Latency, stage.title(), share)))
    }

    /// The unit that accepts no more commands, if it makes a stage stall: the one that microengines
    /// stalled for most.
    fn refusing_unit(&self, stage: &Stage, load: &StageLoad) -> Option<&ResourceLoad> {
        let (before, after) = (&self.window.before.stats, &self.window.after.stats);
        let stalled = |unit: &UnitStats| {
            let earlier = before.units.iter().find(|it| it.name == unit.name);
            let earlier = earlier.map_or(0, |it| it.stalled_microengines);
            unit.stalled_microengines.saturating_sub(earlier)
        };
        let used = after
            .units
            .iter()
            .filter(|unit| is_used_by(self.observed, stage, &unit.name));
        let most = used.max_by_key(|unit| stalled(unit))?;
        let is_cause = load.share(load.stalled) >= STALLED && stalled(most) * 2 >= load.stalled;
        let mut loads = self.loads.iter().filter(|_| is_cause);
        loads.find(|load| load.kind == LoadKind::Unit && load.name == most.name)
    }

    /// Whether a place holds work on average: at least half of what makes it full.
    fn holds_work(&self, place: usize) -> bool {
        let (fill, known) = (
            self.window.fills[place],
            &self.observed.series.places()[place],
        );
        let full = known.full_at.filter(|_| fill.samples > 0);
        full.is_some_and(|full| fill.sum * 2 >= full * fill.samples)
    }

    /// The most loaded of the saturated sections that a stage passes through.
    fn section(
        &self,
        stage: usize,
        is_meant: impl Fn(&SectionLoad) -> bool,
    ) -> Option<(LimitKind, String, u64)> {
        let mut sections = self.reasons.sections.iter().enumerate();
        let (index, section) =
            sections.find(|(_, section)| section.stages.contains(&stage) && is_meant(section))?;
        let name = section.name.clone();
        Some((LimitKind::Serial(index), name, section.permille()))
    }

    fn lock(&self, lock: &LockLoad) -> Limit {
        let before: BTreeSet<usize> = self.input_places(lock.takers.iter().copied()).collect();
        let before: Vec<usize> = before.into_iter().collect();
        Limit {
            kind: LimitKind::Lock(lock.index),
            name: format!("the lock {}", lock.name),
            permille: lock.permille(),
            lost: self.lost(&before),
            stage: None,
            before,
            after: Vec::new(),
        }
    }
}

/// All stages upstream of one, directly or indirectly, excluding itself.
fn upstream_stages(stages: &[StageLoad], index: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut ahead = vec![index];
    while let Some(stage) = ahead.pop() {
        for (other, load) in stages.iter().enumerate() {
            let feeds = load
                .gives
                .iter()
                .any(|place| stages[stage].takes.contains(place));
            if other != index && feeds && found.insert(other) {
                ahead.push(other);
            }
        }
    }
    found
}

/// The most loaded line that a stage feeds, if its load is at least `enough`.
fn full_line(
    observed: &Observed<'_>,
    loads: &[ResourceLoad],
    stage: &StageLoad,
    enough: u64,
) -> Option<(u8, u64)> {
    let transmits = stage
        .gives
        .iter()
        .any(|&place| observed.series.places()[place].kind == ProbeKind::Tbuf);
    loads.iter().filter(|_| transmits).find_map(|load| {
        let LoadKind::LineOut(port) = load.kind else {
            return None;
        };
        (load.permille >= enough).then_some((port, load.permille))
    })
}

/// Adds lines that are full while frames are lost in queues kept by the microcode, so that few of
/// them reach the transmit stage.
fn full_queues(window: &AnalysisWindow, loads: &[ResourceLoad], limits: &mut Vec<Limit>) {
    let lost = window.lost_in_queues();
    let known = |limit: &Limit| matches!(limit.kind, LimitKind::Line(_));
    if lost == 0 || limits.iter().any(known) {
        return;
    }
    let lines: Vec<(u8, u64)> = loads
        .iter()
        .filter_map(|load| match load.kind {
            LoadKind::LineOut(port) if load.permille >= LINE_FULL => Some((port, load.permille)),
            _ => None,
        })
        .collect();
    let Some(&(fullest, permille)) = lines.first() else {
        return;
    };
    let ports: Vec<_> = lines.iter().map(|(port, _)| port.to_string()).collect();
    limits.push(Limit {
        kind: LimitKind::Line(fullest),
        name: match ports.as_slice() {
            [one] => format!("the line out of port {one}"),
            _ => format!("the lines out of ports {}", ports.join(", ")),
        },
        permille,
        lost,
        stage: None,
        before: Vec::new(),
        after: Vec::new(),
    });
}

/// The most used unit or bus among those that a stage sends commands to.
fn busiest_unit<'a>(
    observed: &Observed<'_>,
    loads: &'a [ResourceLoad],
    stage: &Stage,
) -> Option<&'a ResourceLoad> {
    loads.iter().find(|load| match load.kind {
        LoadKind::Unit => is_used_by(observed, stage, &load.name),
        LoadKind::Bus => true,
        _ => false,
    })
}

/// Whether a stage sends commands to a unit.
fn is_used_by(observed: &Observed<'_>, stage: &Stage, unit: &str) -> bool {
    let mut microengines = stage.microengines.iter();
    microengines.any(|&me| observed.flow.commands_to(me, unit) > 0)
}

/// Adds the core if a ring that no microengine takes from is full.
fn slow_path(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    loads: &[ResourceLoad],
    limits: &mut Vec<Limit>,
) {
    for (place, known) in observed.series.places().iter().enumerate() {
        let ProbeKind::Ring { .. } = known.kind else {
            continue;
        };
        let taken = observed.stages.iter().any(|stage| {
            stage.microengines.iter().any(|&me| {
                let mut ends = observed.flow.ends(me, WorkDirection::Takes);
                ends.any(|(end, _)| end.is_counted_by(known))
            })
        });
        let served = observed.report.chip.gpp.exceptions > 0;
        if taken || !served || !is_congested(observed, window, place) {
            continue;
        }
        let core = loads.iter().find(|load| load.kind == LoadKind::Core);
        limits.push(Limit {
            kind: LimitKind::SlowPath,
            name: "the general-purpose core".to_owned(),
            permille: core.map_or(0, |load| load.permille),
            lost: window.lost_at(observed.series, place),
            stage: None,
            before: vec![place],
            after: Vec::new(),
        });
    }
}
