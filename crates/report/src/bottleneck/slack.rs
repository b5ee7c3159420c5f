//! Findings for runs without a limit: losses in bursts, and the most used resource.

use npsim_chip::kernel::row::permille;
use npsim_observe::series::ProbeKind;
use npsim_project::quantity::grouped;

use super::backlog;
use super::loads::{LoadKind, ResourceLoad};
use super::narrative::{Finding, Narrative, listed};
use super::wording::{Subject, percent};

/// Thousandths above which the remaining share deserves no more than a remark.
const NEARLY_ALL: u64 = 970;

impl Narrative<'_> {
    /// The finding that frames were lost although nothing is full for long.
    pub(super) fn bursts(&self) -> Finding {
        let mut evidence = vec![self.rates()];
        for place in 0..self.observed.series.places().len() {
            if self.window.lost_at(self.observed.series, place) > 0 {
                evidence.extend(self.places("On the way", &[place]));
            }
        }
        evidence.extend(self.nearest());
        Finding {
            headline: format!(
                "Frames are lost in bursts: {} found a place full, yet nothing is at its limit for long {}.",
                grouped(self.lost()),
                self.window.when
            ),
            evidence,
            advice: vec![
                "More room where frames were lost would carry a burst over, and shorter bursts need less; the depths over time show how long one lasts.".into(),
            ],
        }
    }

    /// The finding that nothing limits, and how much more traffic would pass.
    pub(super) fn slack(&self) -> Finding {
        let nearest = self.loads.iter().find(|load| Self::is_inside(load));
        let Some(nearest) = nearest else {
            return Finding {
                headline: "Nothing on the chip was used.".to_owned(),
                evidence: Vec::new(),
                advice: Vec::new(),
            };
        };
        let (used, most) = (percent(nearest.permille), nearest.permille);
        let when = self.window.when;
        if self.window.received() == 0 {
            return Finding {
                headline: format!(
                    "No frames came; {} is used most, {used} of the time.",
                    nearest.name
                ),
                evidence: self.nearest().into_iter().collect(),
                advice: Vec::new(),
            };
        }
        let lost = self.window.lost_in_queues();
        let places = self.observed.series.places();
        let buffers = backlog::exhausted_buffers(places, self.window);
        let buffers = buffers.filter(|_| self.window.sent() < self.window.received());
        let template = if buffers.is_some() {
            "Nine tenths or more of the {buffers} packet buffers are in use {when}, though nothing is saturated all the time: {name} comes nearest, used {used}."
        } else if lost > 0 {
            "{lost} frames were lost in the microcode's queues, though nothing is saturated all the time: {name} comes nearest, used {used} of the time {when}."
        } else if most >= NEARLY_ALL {
            "Nothing is lost; {name} is used {used} of the time {when}, polling included."
        } else {
            "Nothing is saturated. {Name} comes nearest, used {used} of the time {when}, polling included."
        };
        let headline = Subject::named(&self.owner(nearest)).say(
            template,
            &[
                ("buffers", &grouped(buffers.unwrap_or(0))),
                ("lost", &grouped(lost)),
                ("used", &used),
                ("when", when),
            ],
        );
        let mut evidence = vec![self.rates()];
        let stage = self.stage_of(nearest);
        evidence.extend(stage.map(|index| self.stage(index)).unwrap_or_default());
        evidence.extend(self.nearest());
        evidence.extend(self.deepest());
        let full = |load: &&ResourceLoad| {
            matches!(load.kind, LoadKind::LineIn(_)) && load.permille >= NEARLY_ALL
        };
        let lines: Vec<_> = { self.loads.iter().filter(full) }
            .map(|load| load.name.as_str())
            .collect();
        let mut advice = Vec::new();
        if buffers.is_some() {
            advice.push("Look for a way of packets that passes by the return of their buffers: the check `buffer-leak` names them at the end of a run. Where all come back, more of them (`count` of `[buffers]`) carry more.".into());
        } else if !lines.is_empty() {
            let subject = Subject {
                name: &lines.join(", "),
                plural: lines.len() > 1,
            };
            advice.push(subject.say("More cannot come by this way: {name} {is} full. Shorter frames, or frames on more ports, load the chip more.", &[]));
        } else if most < NEARLY_ALL {
            advice.push("To find the limit, offer more: frames back to back, as fast as the lines go. A capture can be played like that, too.".into());
        }
        Finding {
            headline,
            evidence,
            advice,
        }
    }

    /// A sentence on the place that came nearest to full.
    fn deepest(&self) -> Option<String> {
        let places = self.observed.series.places().iter().enumerate();
        let shares = places.filter_map(|(index, place)| {
            // Bytes on the line and idle threads are no backlog.
            let line = matches!(place.kind, ProbeKind::ReceiveFifo { .. });
            let most = self.window.fills[index].most;
            let share = permille(most, place.capacity.filter(|_| !line)?);
            (share > 0).then_some((share, index))
        });
        let (_, index) = shares.max_by_key(|&(share, index)| (share, std::cmp::Reverse(index)))?;
        self.place("Deepest of all", index)
    }

    /// A load's name, with its source for a microengine.
    fn owner(&self, load: &ResourceLoad) -> String {
        match (load.kind, self.stage_of(load)) {
            (LoadKind::Microengine(_), Some(index)) => {
                format!("{} ({})", load.name, self.observed.stages[index].name)
            }
            _ => load.name.clone(),
        }
    }

    fn stage_of(&self, load: &ResourceLoad) -> Option<usize> {
        let LoadKind::Microengine(me) = load.kind else {
            return None;
        };
        let mut stages = self.observed.stages.iter();
        stages.position(|stage| stage.microengines.contains(&me))
    }

    fn nearest(&self) -> Option<String> {
        let named = listed(self.loads.iter().take(5))?;
        Some(format!("Most used: {named}."))
    }
}
