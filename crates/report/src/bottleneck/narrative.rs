//! The analysis as sentences.

use npsim_chip::kernel::row::permille;
use npsim_observe::series::PlaceKind;
use npsim_project::quantity::grouped;

use super::backlog::Backlog;
use super::hand_overs::HeldUp;
use super::limits::{Limit, LimitKind, StageLoad, stage_name};
use super::loads::{Load, LoadKind};
use super::locks::LockLoad;
use super::window::Window;
use super::{Analysis, Observed};

/// A stage that is occupied less may do little but poll for work, and what a
/// frame costs it then says nothing.
const MOSTLY_WORK: u64 = 300;

/// From here on a share is near enough to all that no more than a remark is
/// worth making about what is left.
const NEARLY_ALL: u64 = 970;
/// A stage that is used so much cannot be said to have time to spare.
const CLOSE: u64 = 700;
/// Aborted slots are worth saving from here on.
const MANY_ABORTED: u64 = 100;

/// `58.3%` of thousandths.
pub(crate) fn percent(permille: u64) -> String {
    format!("{}.{}%", permille / 10, permille % 10)
}

/// What there is to say about a run that was never sampled.
pub(super) fn nothing_seen() -> Analysis {
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

/// All that is at hand while sentences are made.
struct Teller<'a> {
    observed: &'a Observed<'a>,
    window: &'a Window,
    loads: &'a [Load],
    stages: &'a [StageLoad],
    waits: &'a [HeldUp],
    locks: &'a [LockLoad],
    backlog: Option<Backlog>,
}

/// What the limits were found from.
#[derive(Clone, Copy)]
pub(super) struct Reasons<'a> {
    pub stages: &'a [StageLoad],
    pub waits: &'a [HeldUp],
    pub locks: &'a [LockLoad],
    pub backlog: Option<Backlog>,
}

pub(super) fn tell(
    observed: &Observed<'_>,
    window: &Window,
    loads: Vec<Load>,
    reasons: Reasons<'_>,
    limits: Vec<Limit>,
) -> Analysis {
    let teller = Teller {
        observed,
        window,
        loads: &loads,
        stages: reasons.stages,
        waits: reasons.waits,
        locks: reasons.locks,
        backlog: reasons.backlog,
    };
    let (headline, evidence, advice) = match limits.first() {
        Some(first) => teller.limited(first, &limits[1..]),
        None if teller.lost() > 0 => teller.bursts(),
        None => teller.slack(),
    };
    Analysis {
        headline,
        evidence,
        advice,
        limits,
        from: window.before.cycle,
        to: window.after.cycle,
        when: window.when,
        loads,
        shares: super::loads::shares(window),
    }
}

type Told = (String, Vec<String>, Vec<String>);

impl Teller<'_> {
    fn lost(&self) -> u64 {
        let places = 0..self.observed.series.places().len();
        places
            .map(|place| self.window.lost_at(self.observed.series, place))
            .sum()
    }

    fn limited(&self, first: &Limit, others: &[Limit]) -> Told {
        let when = self.window.when;
        let used = percent(first.permille);
        let name = capital(&first.name);
        let headline = match first.kind {
            LimitKind::Line(_) if name.starts_with("The lines") => {
                format!("{name} are the limit: they are full, {used} used {when}.")
            }
            LimitKind::Line(_) => {
                format!("{name} is the limit: it is full, {used} used {when}.")
            }
            LimitKind::Compute => {
                let is = if name.starts_with("Microengines") {
                    "are"
                } else {
                    "is"
                };
                let it = if is == "are" { "they" } else { "it" };
                format!("{name} {is} the limit: {it} {is} occupied {used} of the time {when}.")
            }
            LimitKind::Latency if first.permille >= CLOSE => format!(
                "{name} {} close to the limit, {used} of the time used {when}: the contexts sleep while work waits.",
                if name.starts_with("Microengines") {
                    "are"
                } else {
                    "is"
                }
            ),
            LimitKind::Latency => format!(
                "{name} hold{} the frames up without being occupied: the contexts sleep while work waits, {used} of the time is used {when}.",
                if name.starts_with("Microengines") {
                    ""
                } else {
                    "s"
                }
            ),
            LimitKind::Unit => {
                format!("{name} is the limit: it is busy {used} of the time {when}.")
            }
            LimitKind::Lock(_) => match self.lock(first) {
                Some(lock) if lock.stuck => {
                    format!("{name} is never released: it is held {used} of the time {when}.")
                }
                _ => format!(
                    "{name} is the limit: it is held or handed over {used} of the time {when}."
                ),
            },
            LimitKind::SlowPath => format!(
                "{name} is the limit of the slow path: its ring is full {when}, and it is busy {used} of the time."
            ),
        };
        let mut evidence = vec![self.rates()];
        if let Some(stage) = first.stage {
            evidence.extend(self.stage(stage));
            evidence.extend(self.held_up_by(stage));
            evidence.extend(self.kept_by(stage));
        }
        if let Some(lock) = self.lock(first) {
            evidence.extend(lock.evidence(self.observed.stages, self.window));
        }
        evidence.extend(self.places("In front", &first.before));
        if first.stage.is_none() && matches!(first.kind, LimitKind::Line(_)) {
            evidence.push(format!(
                "In front, {} frames were lost in the microcode's queues.",
                grouped(first.lost)
            ));
        }
        evidence.extend(self.places("Behind", &first.after));
        evidence.extend(others.iter().map(|limit| {
            let what = match limit.kind {
                LimitKind::Line(_) => "full as well",
                LimitKind::Latency => "slow as well, its contexts asleep",
                _ => "at its limit as well",
            };
            let lost = match limit.lost {
                0 => String::new(),
                n => format!(", and {} frames were lost in front of it", grouped(n)),
            };
            let lost = if limit.name.starts_with("the lines") {
                lost.replace("of it", "of them")
            } else {
                lost
            };
            let name = capital(&limit.name);
            let is = if name.starts_with("Microengines") || name.starts_with("The lines") {
                "are"
            } else {
                "is"
            };
            format!(
                "{name} {is} {what}: {} used{lost}.",
                percent(limit.permille)
            )
        }));
        evidence.extend(self.room(first));
        let advice = self.advice(first);
        (headline, evidence, advice)
    }

    /// What is known of a lock that limits.
    fn lock(&self, limit: &Limit) -> Option<&LockLoad> {
        let LimitKind::Lock(index) = limit.kind else {
            return None;
        };
        self.locks.iter().find(|lock| lock.index == index)
    }

    /// Frames in, out and lost, in the time analysed.
    fn rates(&self) -> String {
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

    fn stage(&self, index: usize) -> Vec<String> {
        let (stage, load) = (&self.observed.stages[index], &self.stages[index]);
        let share = |cycles| percent(load.share(cycles));
        let several = stage.microengines.len() > 1;
        let mut lines = vec![format!(
            "{} execute{} {}, lose{} {} to taken branches and context swaps, {} stalled {} and idle {}.",
            capital(&stage_name(stage)),
            if several { "" } else { "s" },
            share(load.executing),
            if several { "" } else { "s" },
            share(load.aborted),
            if several { "are" } else { "is" },
            share(load.stalled),
            share(load.idle),
        )];
        let occupied = load.occupied();
        let works = occupied > 0 && load.share(occupied) >= MOSTLY_WORK;
        if let Some(frames) = load.frames.filter(|&frames| frames > 0 && works) {
            let hertz = u128::from(self.window.after.stats.mhz) * 1_000_000;
            let count = stage.microengines.len() as u128;
            let most = hertz * count * u128::from(frames) / u128::from(occupied);
            lines.push(format!(
                "A frame costs it {} cycles, so {} take{} at most {} frames a second.",
                grouped(occupied / frames),
                if count == 1 {
                    "one microengine".to_owned()
                } else {
                    format!("{count} microengines")
                },
                if count == 1 { "s" } else { "" },
                grouped(most as u64),
            ));
        }
        lines
    }

    /// Who waits for a stage to take what is handed over.
    fn held_up_by(&self, stage: usize) -> Vec<String> {
        let waits = self.waits.iter().filter(|wait| wait.by == stage);
        let one = |wait: &HeldUp| {
            let who = stage_name(&self.observed.stages[wait.who]);
            let (poll, wait_for) = if who.starts_with("microengines") {
                ("poll", "they wait")
            } else {
                ("polls", "it waits")
            };
            let tenths = wait.polls * 10 / wait.writes;
            format!(
                "In front, {who} {poll} {} {}.{} times for each write to {}: {wait_for} for room.",
                wait.progress,
                tenths / 10,
                tenths % 10,
                wait.slots,
            )
        };
        waits.map(one).collect()
    }

    /// How many packets wait in a stage while there are no buffers for others.
    fn kept_by(&self, stage: usize) -> Option<String> {
        let backlog = self.backlog.filter(|backlog| backlog.stage == stage)?;
        Some(format!(
            "All {} packet buffers are in use: {} packets have come into {} and not gone on, more than it has contexts.",
            grouped(backlog.buffers),
            grouped(backlog.packets),
            stage_name(&self.observed.stages[stage]),
        ))
    }

    /// How full places were, and who found no room in them.
    fn places(&self, side: &str, places: &[usize]) -> Vec<String> {
        let known = self.observed.series.places();
        let fifos: Vec<(u8, u64)> = places
            .iter()
            .filter_map(|&place| match known[place].kind {
                PlaceKind::ReceiveFifo { port } => {
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

    /// How full a place was; nothing for one that tells nothing new.
    fn place(&self, side: &str, index: usize) -> Option<String> {
        let place = &self.observed.series.places()[index];
        let fill = self.window.fills[index];
        let lost = self.window.lost_at(self.observed.series, index);
        if matches!(
            place.kind,
            PlaceKind::ReceiveFifo { .. }
                | PlaceKind::FullList
                | PlaceKind::Transmit { .. }
                | PlaceKind::Freelist
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

    /// What else is used, and how much.
    fn room(&self, first: &Limit) -> Option<String> {
        let others: Vec<_> = self
            .loads
            .iter()
            .filter(|load| !first.name.contains(&load.name) && Self::is_inside(load))
            .take(3)
            .map(|load| format!("{} {}", load.name, percent(load.permille)))
            .collect();
        (!others.is_empty())
            .then(|| format!("Next in line inside the chip: {}.", others.join(", ")))
    }

    fn is_inside(load: &Load) -> bool {
        !matches!(load.kind, LoadKind::LineIn(_) | LoadKind::LineOut(_))
    }

    fn advice(&self, limit: &Limit) -> Vec<String> {
        let mut advice = Vec::new();
        let stage = limit
            .stage
            .map(|index| (&self.observed.stages[index], &self.stages[index]));
        let unused = self.unused();
        match limit.kind {
            LimitKind::Line(port) => advice.push(format!(
                "Nothing on the chip helps: {} cannot send more. Spread the routes over more ports, or offer less for {}.",
                if limit.name.starts_with("the lines") {
                    limit.name.replacen("the lines out of ", "", 1)
                } else {
                    format!("port {port}")
                },
                if limit.name.starts_with("the lines") { "them" } else { "it" },
            )),
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
                if let Some((stage, _)) = stage {
                    let more = unused.map_or(String::new(), |unused| format!(" ({unused})"));
                    advice.push(format!(
                        "More contexts hide more latency, where order and locks leave them room: run {} on more microengines{more}.",
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
            LimitKind::SlowPath => advice.push(
                "Send fewer packets to the core: handle the common exception in microcode, or drop by rate before its ring.".into(),
            ),
        }
        advice
    }

    /// Microengines without a program.
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

    /// Frames were lost, and yet nothing is full for long.
    fn bursts(&self) -> Told {
        let headline = format!(
            "Frames are lost in bursts: {} found a place full, yet nothing is at its limit for long {}.",
            grouped(self.lost()),
            self.window.when
        );
        let mut evidence = vec![self.rates()];
        for place in 0..self.observed.series.places().len() {
            if self.window.lost_at(self.observed.series, place) > 0 {
                evidence.extend(self.places("On the way", &[place]));
            }
        }
        evidence.extend(self.nearest());
        let advice = vec![
            "A deeper ring or more buffers would carry a burst over; the depths over time show how long it lasts.".into(),
        ];
        (headline, evidence, advice)
    }

    /// Nothing limits: how much more would pass?
    fn slack(&self) -> Told {
        let nearest = self.loads.iter().find(|load| Self::is_inside(load));
        let Some(nearest) = nearest else {
            let headline = "Nothing on the chip was used.".to_owned();
            return (headline, Vec::new(), Vec::new());
        };
        let used = percent(nearest.permille);
        if self.window.received() == 0 {
            let headline = format!(
                "No frames came; {} is used most, {used} of the time.",
                nearest.name
            );
            return (headline, self.nearest(), Vec::new());
        }
        let most = nearest.permille;
        let lost = self.window.lost_in_queues();
        let headline = if lost > 0 {
            format!(
                "{} frames were lost in the microcode's queues, though nothing is saturated all the time: {} comes nearest, used {used} of the time {}.",
                grouped(lost),
                self.owner(nearest),
                self.window.when
            )
        } else if most >= NEARLY_ALL {
            format!(
                "Nothing is lost; {} is used {used} of the time {}, polling included.",
                self.owner(nearest),
                self.window.when
            )
        } else {
            format!(
                "Nothing is saturated. {} comes nearest, used {used} of the time {}, polling included.",
                capital(&self.owner(nearest)),
                self.window.when,
            )
        };
        let mut evidence = vec![self.rates()];
        let stage = self.stage_of(nearest);
        evidence.extend(stage.map(|index| self.stage(index)).unwrap_or_default());
        evidence.extend(self.nearest());
        let deepest = (0..self.observed.series.places().len())
            .filter_map(|index| {
                let place = &self.observed.series.places()[index];
                // Bytes on the line and idle threads are no backlog.
                let line = matches!(place.kind, PlaceKind::ReceiveFifo { .. });
                let most = self.window.fills[index].most;
                let share = permille(most, place.capacity.filter(|_| !line)?);
                (share > 0).then_some((share, index))
            })
            .max_by_key(|&(share, index)| (share, std::cmp::Reverse(index)));
        if let Some((_, index)) = deepest {
            evidence.extend(self.place("Deepest of all", index));
        }
        let mut advice = Vec::new();
        let lines: Vec<_> = self
            .loads
            .iter()
            .filter(|load| matches!(load.kind, LoadKind::LineIn(_)) && load.permille >= NEARLY_ALL)
            .map(|load| load.name.clone())
            .collect();
        if !lines.is_empty() {
            advice.push(format!(
                "More cannot come by this way: {} {} full. Shorter frames, or frames on more ports, load the chip more.",
                lines.join(", "),
                if lines.len() == 1 { "is" } else { "are" }
            ));
        } else if most < NEARLY_ALL {
            advice.push("To find the limit, offer more: `--pace line` plays a capture as fast as the lines go.".into());
        }
        (headline, evidence, advice)
    }

    /// A load's name with the source it runs, for a microengine.
    fn owner(&self, load: &Load) -> String {
        match (load.kind, self.stage_of(load)) {
            (LoadKind::Microengine(_), Some(index)) => {
                format!("{} ({})", load.name, self.observed.stages[index].name)
            }
            _ => load.name.clone(),
        }
    }

    fn stage_of(&self, load: &Load) -> Option<usize> {
        let LoadKind::Microengine(me) = load.kind else {
            return None;
        };
        let mut stages = self.observed.stages.iter();
        stages.position(|stage| stage.microengines.contains(&me))
    }

    fn nearest(&self) -> Vec<String> {
        let named: Vec<_> = self
            .loads
            .iter()
            .take(5)
            .map(|load| format!("{} {}", load.name, percent(load.permille)))
            .collect();
        if named.is_empty() {
            return Vec::new();
        }
        vec![format!("Most used: {}.", named.join(", "))]
    }
}

/// The text with a capital letter in front.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}
