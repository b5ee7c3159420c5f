//! The analysis as sentences.

use npsim_observe::series::ProbeKind;
use npsim_project::quantity::grouped;

use super::Analysis;
use super::handoffs::HandoffWait;
use super::limits::{Limit, LimitCauses, LimitKind, is_busy};
use super::loads::{LoadKind, ResourceLoad};
use super::locks::LockLoad;
use super::observed::Observed;
use super::serial::SectionLoad;
use super::window::AnalysisWindow;
use super::wording::{Subject, percent};

/// Occupation in thousandths below which a stage may do little but poll for work, so that its
/// cycles per frame mean nothing.
const MOSTLY_WORK: u64 = 300;

/// Load in thousandths above which a stage has no time to spare.
const NO_SLACK: u64 = 700;
/// Thousandths of aborted slots that are worth saving.
const MANY_ABORTED: u64 = 100;

/// The analysis of a run that was never sampled.
pub(super) fn never_sampled() -> Analysis {
    Analysis {
        headline: "Nothing was seen of the run, so nothing can be said about it.".into(),
        evidence: Vec::new(),
        advice: Vec::new(),
        limits: Vec::new(),
        loads: Vec::new(),
        shares: Vec::new(),
        from: 0,
        to: 0,
        when: "over the whole run",
    }
}

/// The headline of an analysis and its sentences.
pub(super) struct Finding {
    pub headline: String,
    pub evidence: Vec<String>,
    pub advice: Vec<String>,
}

/// The data that the sentences are made from.
pub(super) struct Narrative<'a> {
    pub observed: &'a Observed<'a>,
    pub window: &'a AnalysisWindow,
    pub loads: &'a [ResourceLoad],
    pub reasons: LimitCauses<'a>,
}

/// Describes a run by what limits it.
pub(super) fn analysis(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    loads: Vec<ResourceLoad>,
    reasons: LimitCauses<'_>,
    limits: Vec<Limit>,
) -> Analysis {
    let narrative = Narrative {
        observed,
        window,
        loads: &loads,
        reasons,
    };
    let finding = match limits.split_first() {
        Some((first, others)) => narrative.limited(first, others),
        None if narrative.lost() > 0 => narrative.bursts(),
        None => narrative.slack(),
    };
    Analysis {
        headline: finding.headline,
        evidence: finding.evidence,
        advice: finding.advice,
        limits,
        from: window.before.cycle,
        to: window.after.cycle,
        when: window.when,
        loads,
        shares: super::loads::shares(window),
    }
}

impl Narrative<'_> {
    /// Frames that found a place full in the window.
    pub(super) fn lost(&self) -> u64 {
        let places = 0..self.observed.series.places().len();
        places
            .map(|place| self.window.lost_at(self.observed.series, place))
            .sum()
    }

    fn limited(&self, first: &Limit, others: &[Limit]) -> Finding {
        let mut evidence = vec![self.rates()];
        if let Some(stage) = first.stage {
            evidence.extend(self.stage(stage));
            evidence.extend(self.wait_sentences(stage));
            evidence.extend(self.backlog_sentence(stage));
        }
        if let Some(lock) = self.lock(first) {
            evidence.extend(lock.evidence(self.observed.stages, self.window));
        }
        if let Some(section) = self.section(first) {
            evidence.extend(section.evidence(self.observed.stages, self.window));
        }
        evidence.extend(self.places("In front", &first.before));
        if first.stage.is_none() && matches!(first.kind, LimitKind::Line(_)) {
            evidence.push(format!(
                "In front, {} frames were lost in the microcode's queues.",
                grouped(first.lost)
            ));
        }
        evidence.extend(self.places("Behind", &first.after));
        evidence.extend(others.iter().map(|limit| self.other_limit(limit)));
        evidence.extend(self.room(first));
        Finding {
            headline: self.headline(first),
            evidence,
            advice: self.advice(first),
        }
    }

    fn headline(&self, limit: &Limit) -> String {
        let stuck = || self.lock(limit).is_some_and(|lock| lock.stuck);
        let delayed = self.delayed(limit);
        let template = match limit.kind {
            LimitKind::Line(_) => "{Name} {is} the limit: {it} {is} full, {used} used {when}.",
            LimitKind::Compute => {
                "{Name} {is} the limit: {it} {is} occupied {used} of the time {when}."
            }
            LimitKind::Latency if limit.permille >= NO_SLACK => {
                "{Name} {is} close to the limit, {used} of the time used {when}: the contexts sleep while work waits."
            }
            LimitKind::Latency => {
                "{Name} hold{s} the frames up without being occupied: the contexts sleep while work waits, {used} of the time is used {when}."
            }
            LimitKind::Unit if !is_busy(limit.permille) => {
                "{Name} {is} the limit: {stalled} of the time {when} {stage} can issue nothing, since it takes no more commands."
            }
            LimitKind::Unit => "{Name} {is} the limit: {it} {is} busy {used} of the time {when}.",
            LimitKind::Lock(_) if stuck() => {
                "{Name} is never released: it is held {used} of the time {when}."
            }
            LimitKind::Lock(_) | LimitKind::Serial(_) if delayed.is_some() => {
                "{Name} is the limit: {waits} of the time {when} the turn {turn} waits for a context that tries for it or holds it."
            }
            LimitKind::Lock(_) | LimitKind::Serial(_) => {
                "{Name} is the limit: it is held or handed over {used} of the time {when}."
            }
            LimitKind::SlowPath => {
                "{Name} is the limit of the slow path: packets pile up in its ring {when}, and it is busy {used} of the time."
            }
        };
        let used = percent(limit.permille);
        let (turn, waits) = delayed.unwrap_or_default();
        let stage = limit.stage.map(|index| {
            let load = &self.reasons.stages[index];
            let stalled = percent(load.share(load.stalled));
            (self.observed.stages[index].title(), stalled)
        });
        let (stage, stalled) = stage.unwrap_or_default();
        limit.subject().say(
            template,
            &[
                ("used", &used),
                ("when", self.window.when),
                ("stage", &stage),
                ("stalled", &stalled),
                ("turn", turn),
                ("waits", &percent(waits)),
            ],
        )
    }

    /// The turn that a lock or section delays, and the share of time, if this is how it limits.
    fn delayed(&self, limit: &Limit) -> Option<(&str, u64)> {
        let lock = self.lock(limit).and_then(LockLoad::delayed);
        lock.or_else(|| self.section(limit)?.delayed())
    }

    /// The data of a limiting lock.
    fn lock(&self, limit: &Limit) -> Option<&LockLoad> {
        let LimitKind::Lock(index) = limit.kind else {
            return None;
        };
        self.reasons.locks.iter().find(|lock| lock.index == index)
    }

    /// The data of a limiting section.
    fn section(&self, limit: &Limit) -> Option<&SectionLoad> {
        let LimitKind::Serial(index) = limit.kind else {
            return None;
        };
        self.reasons.sections.get(index)
    }

    /// The rates of frames that arrived, left and were lost in the window.
    pub(super) fn rates(&self) -> String {
        let window = self.window;
        let rate = |frames| grouped(window.per_second(frames));
        let lost = match self.lost() {
            0 => String::new(),
            n => format!(", {} a second found a place full", rate(n)),
        };
        format!(
            "{} frames a second arrive, {} leave{lost} (cycles {} to {}, {}).",
            rate(window.received()),
            rate(window.sent()),
            grouped(window.before.cycle),
            grouped(window.after.cycle),
            window.when,
        )
    }

    pub(super) fn stage(&self, index: usize) -> Vec<String> {
        let (stage, load) = (&self.observed.stages[index], &self.reasons.stages[index]);
        let share = |cycles| percent(load.share(cycles));
        let mut lines = vec![Subject::named(&stage.title()).say(
            "{Name} execute{s} {executing}, lose{s} {aborted} to taken branches and context swaps, {is} stalled {stalled} and idle {idle}.",
            &[
                ("executing", &share(load.executing)),
                ("aborted", &share(load.aborted)),
                ("stalled", &share(load.stalled)),
                ("idle", &share(load.idle)),
            ],
        )];
        let occupied = load.occupied();
        let works = occupied > 0 && load.share(occupied) >= MOSTLY_WORK;
        if let Some(frames) = load.frames.filter(|&frames| frames > 0 && works) {
            let hertz = u128::from(self.window.after.stats.mhz) * 1_000_000;
            let count = stage.microengines.len();
            let most = hertz * count as u128 * u128::from(frames) / u128::from(occupied);
            let subject = Subject {
                name: &match count {
                    1 => "one microengine".to_owned(),
                    several => format!("{several} microengines"),
                },
                plural: count != 1,
            };
            lines.push(subject.say(
                "A frame costs it {cycles} cycles, so {name} take{s} at most {most} frames a second.",
                &[
                    ("cycles", &grouped(occupied / frames)),
                    ("most", &grouped(most as u64)),
                ],
            ));
        }
        lines
    }

    /// Sentences on the stages that wait for this one to accept work.
    fn wait_sentences(&self, stage: usize) -> Vec<String> {
        let waits = self
            .reasons
            .waits
            .iter()
            .filter(|wait| wait.blocker == stage);
        let one = |wait: &HandoffWait| {
            let tenths = wait.polls * 10 / wait.writes;
            Subject::named(&self.observed.stages[wait.waiter].title()).say(
                "In front, {name} poll{s} {progress} {times} times for each write to {slots}: {it} wait{s} for room.",
                &[
                    ("progress", &wait.progress),
                    ("times", &format!("{}.{}", tenths / 10, tenths % 10)),
                    ("slots", &wait.slots),
                ],
            )
        };
        waits.map(one).collect()
    }

    /// A sentence on the packets held in a stage while there are no free buffers.
    fn backlog_sentence(&self, stage: usize) -> Option<String> {
        let backlog = self
            .reasons
            .backlog
            .filter(|backlog| backlog.stage == stage)?;
        Some(format!(
            "Nine tenths or more of the {} packet buffers are in use: {} packets have come into {} and not gone on, more than it has contexts.",
            grouped(backlog.buffers),
            grouped(backlog.packets),
            self.observed.stages[stage].title(),
        ))
    }

    /// Sentences on the fill of places, and on frames that found no room in them.
    pub(super) fn places(&self, side: &str, places: &[usize]) -> Vec<String> {
        let known = self.observed.series.places();
        let fifos: Vec<(u8, u64)> = places
            .iter()
            .filter_map(|&place| match known[place].kind {
                ProbeKind::ReceiveFifo { port } => {
                    let lost = self.window.lost_at(self.observed.series, place);
                    (lost > 0).then_some((port, lost))
                }
                _ => None,
            })
            .collect();
        let mut lines = Vec::new();
        if !fifos.is_empty() {
            let ports: Vec<_> = fifos.iter().map(|(port, _)| port.to_string()).collect();
            lines.push(format!(
                "{side}, {} frames found no room in the receive FIFO of port{} {}.",
                grouped(fifos.iter().map(|(_, lost)| lost).sum()),
                if ports.len() == 1 { "" } else { "s" },
                ports.join(", ")
            ));
        }
        lines.extend(places.iter().filter_map(|&place| self.place(side, place)));
        lines
    }

    /// A sentence on the fill of a place; `None` if it adds no information.
    pub(super) fn place(&self, side: &str, index: usize) -> Option<String> {
        let place = &self.observed.series.places()[index];
        let fill = self.window.fills[index];
        let lost = self.window.lost_at(self.observed.series, index);
        if matches!(
            place.kind,
            ProbeKind::ReceiveFifo { .. }
                | ProbeKind::FullList
                | ProbeKind::Transmit { .. }
                | ProbeKind::Freelist
        ) || fill.samples == 0
        {
            return None;
        }
        let no_room = match lost {
            0 => String::new(),
            n => format!(", and {} frames found no room", grouped(n)),
        };
        if fill.most == 0 && lost == 0 {
            return Some(format!("{side}, {} is empty.", place.name));
        }
        let of = place.capacity.map_or(String::new(), |capacity| {
            format!(" of {}", grouped(capacity))
        });
        Some(format!(
            "{side}, {} holds {}{of} {} on average, {} at most{no_room}.",
            place.name,
            grouped(fill.sum / fill.samples),
            place.unit,
            grouped(fill.most),
        ))
    }

    /// The next most used resources.
    fn room(&self, first: &Limit) -> Option<String> {
        let others = self
            .loads
            .iter()
            .filter(|load| !first.name.contains(&load.name));
        let others = listed(others.filter(|load| Self::is_inside(load)).take(3))?;
        Some(format!("Next in line inside the chip: {others}."))
    }

    pub(super) fn is_inside(load: &ResourceLoad) -> bool {
        !matches!(load.kind, LoadKind::LineIn(_) | LoadKind::LineOut(_))
    }

    fn advice(&self, limit: &Limit) -> Vec<String> {
        let mut advice = Vec::new();
        let stage = limit
            .stage
            .map(|index| (&self.observed.stages[index], &self.reasons.stages[index]));
        let unused = self.unused();
        match limit.kind {
            LimitKind::Line(port) => {
                let ports = match limit.name.strip_prefix("the lines out of ") {
                    Some(ports) => ports.to_owned(),
                    None => format!("port {port}"),
                };
                advice.push(limit.subject().say(
                    "Nothing on the chip helps: {ports} cannot send more. Spread the routes over more ports, or offer less for {them}.",
                    &[("ports", &ports)],
                ));
            }
            LimitKind::Compute => {
                if let Some((stage, load)) = stage {
                    if let Some(unused) = &unused {
                        advice.push(format!(
                            "{unused}: run {} on more of them, if its order can be kept across microengines, or split it in two stages.",
                            stage.name
                        ));
                    }
                    let aborted = load.share(load.aborted);
                    if aborted >= MANY_ABORTED {
                        advice.push(format!(
                            "{} of its cycles are aborted slots: move work into defer slots of branches and swaps (`npsim explain` shows which are free).",
                            percent(aborted)
                        ));
                    }
                    advice.push("Fewer instructions a frame help directly: take constants, address arithmetic and rare cases out of the common path.".into());
                }
            }
            LimitKind::Latency => {
                advice.push("Its contexts wait for memory one reference after the other: issue references that do not depend on each other together, and wait for all of them at once.".into());
                if let (Some((stage, _)), Some(unused)) = (stage, unused) {
                    advice.push(format!(
                        "More contexts hide more latency, where order and locks leave them room: run {} on more microengines ({unused}).",
                        stage.name
                    ));
                }
            }
            LimitKind::Unit => advice.push(format!(
                "Send less to {}: keep data in local memory or registers, join references into longer bursts, or move tables to another channel.",
                limit.name
            )),
            LimitKind::Lock(_) => {
                advice.extend(self.lock(limit).map(LockLoad::advice).unwrap_or_default());
            }
            LimitKind::Serial(_) => {
                advice.extend(self.section(limit).map(SectionLoad::advice).unwrap_or_default());
            }
            LimitKind::SlowPath => advice.push(
                "Send fewer packets to the core: handle the common exception in microcode, or drop by rate before its ring.".into(),
            ),
        }
        advice
    }

    /// A remark on microengines without a program.
    fn unused(&self) -> Option<String> {
        let taken: Vec<u8> = self
            .observed
            .stages
            .iter()
            .flat_map(|stage| stage.microengines.iter().copied())
            .collect();
        let all = self.window.after.stats.microengines.len();
        match all.saturating_sub(taken.len()) {
            0 => None,
            1 => Some("1 microengine runs nothing".into()),
            n => Some(format!("{n} microengines run nothing")),
        }
    }

    /// A sentence on a limit other than the first.
    fn other_limit(&self, limit: &Limit) -> String {
        let delayed = self.delayed(limit);
        let (template, front) = match limit.kind {
            LimitKind::Line(_) => ("{Name} {is} full as well: {used} used{lost}.", "{them}"),
            LimitKind::Latency => (
                "{Name} {is} slow as well, its contexts asleep: {used} used{lost}.",
                "it",
            ),
            _ if delayed.is_some() => (
                "{Name} is at its limit as well: {waits} of the time the turn {turn} waits for it{lost}.",
                "it",
            ),
            _ => ("{Name} {is} at its limit as well: {used} used{lost}.", "it"),
        };
        let subject = limit.subject();
        let lost = match limit.lost {
            0 => String::new(),
            n => format!(
                ", and {} frames were lost in front of {}",
                grouped(n),
                subject.say(front, &[])
            ),
        };
        let (turn, waits) = delayed.unwrap_or_default();
        subject.say(
            template,
            &[
                ("used", &percent(limit.permille)),
                ("lost", &lost),
                ("turn", turn),
                ("waits", &percent(waits)),
            ],
        )
    }
}

/// Lists loads with their shares; `None` if there are none.
pub(super) fn listed<'a>(loads: impl Iterator<Item = &'a ResourceLoad>) -> Option<String> {
    let named: Vec<_> = loads
        .map(|load| format!("{} {}", load.name, percent(load.permille)))
        .collect();
    (!named.is_empty()).then(|| named.join(", "))
}
