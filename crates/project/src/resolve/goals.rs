//! Goals: converts bounds to the unit of the measure and resolves names.

use std::ops::Range;

use super::super::file::ProjectFile;
use super::super::goals::{BoundValue, Goal, GoalSection, Measure, MeasureKind};
use super::{Resolver, suggestion};
use crate::keys::Spanned;
use crate::quantity::{Time, parse_rate};

const PICOSECONDS_IN_SECOND: u128 = 1_000_000_000_000;

/// A parsed bound.
#[derive(Clone, Copy)]
enum Bound {
    Frames(u64),
    Other(u64),
}

impl Bound {
    fn value(self) -> u64 {
        match self {
            Self::Frames(value) | Self::Other(value) => value,
        }
    }
}

impl Resolver<'_> {
    /// Resolves the goals. Memory, locks and stages must have been resolved before.
    pub(super) fn goals(&mut self, file: &ProjectFile) -> Vec<Goal> {
        let mut goals: Vec<Goal> = Vec::new();
        for section in &file.goal {
            let name = section.name.get_ref();
            if goals.iter().any(|other| other.name == *name) {
                let message = format!("the goal `{name}` is given twice");
                let help = "give one of them another name";
                self.fail(section.name.span(), message, "the second one", help);
                continue;
            }
            goals.extend(self.goal(section, file));
        }
        goals
    }

    fn goal(&mut self, section: &GoalSection, file: &ProjectFile) -> Option<Goal> {
        let before = self.mistakes();
        let kind = *section.measure.get_ref();
        self.foreign_keys(section, kind);
        let (least, most) = self.bounds(section, kind);
        let frames = [least, most]
            .iter()
            .flatten()
            .any(|bound| matches!(bound, Bound::Frames(_)));
        let measure = self.measure(section, kind, frames, file);
        if self.mistakes() > before {
            return None;
        }
        Some(Goal {
            name: section.name.get_ref().clone(),
            kind,
            measure: measure?,
            least: least.map(Bound::value),
            most: most.map(Bound::value),
            hint: section.hint.clone(),
            place: self.text.excerpt(section.name.span(), ""),
        })
    }

    /// Reports keys that do not apply to the measure.
    fn foreign_keys(&mut self, section: &GoalSection, kind: MeasureKind) {
        use MeasureKind as Kind;
        let stages = [Kind::Cycles, Kind::Instructions, Kind::Words];
        let mut only_for = |kinds: &[Kind], key: &str, span: Option<Range<usize>>| {
            let Some(span) = span.filter(|_| !kinds.contains(&kind)) else {
                return;
            };
            let kinds = kinds.iter().map(|kind| format!("`{}`", kind.name()));
            let kinds = kinds.collect::<Vec<_>>().join(" or ");
            let message = format!("`{key}` does not apply to `{}`", kind.name());
            let help = format!("remove it, or measure {kinds}");
            self.fail(span, message, "", &help);
        };
        let of = section.of.as_ref().map(Spanned::span);
        only_for(&[Kind::Latency], "of", of);
        let memory = section.memory.as_ref().map(Spanned::span);
        only_for(&[Kind::Memory], "memory", memory);
        let offset = section.offset.as_ref().map(Spanned::span);
        only_for(&[Kind::Memory], "offset", offset);
        let stage = section.stage.as_ref().map(Spanned::span);
        only_for(&stages, "stage", stage);
        let unit = section.unit.as_ref().map(Spanned::span);
        only_for(&[Kind::Commands], "unit", unit);
        let lock = section.lock.as_ref().map(Spanned::span);
        only_for(&[Kind::Held], "lock", lock);
    }

    fn bounds(
        &mut self,
        section: &GoalSection,
        kind: MeasureKind,
    ) -> (Option<Bound>, Option<Bound>) {
        let mut read = |typed: &Option<Spanned<BoundValue>>| {
            let typed = typed.as_ref()?;
            Some((self.bound(typed, kind)?, typed.span()))
        };
        let equals = read(&section.equals);
        let least = read(&section.at_least);
        let most = read(&section.at_most);
        if let Some(typed) = &section.equals {
            let other = section.at_least.as_ref().or(section.at_most.as_ref());
            if let Some(other) = other {
                let message = "a goal with `equals` has no other bound";
                self.fail(other.span(), message, "", "remove one of them");
            }
            // A rate is never met exactly.
            if kind == MeasureKind::Throughput {
                let help = "use `at_least` or `at_most`";
                self.fail(typed.span(), "a throughput is never met exactly", "", help);
            }
            let equals = equals.map(|(bound, _)| bound);
            return (equals, equals);
        }
        if section.at_least.is_none() && section.at_most.is_none() {
            let message = format!("the goal `{}` has no bound", section.name.get_ref());
            let help = "give `at_least`, `at_most` or `equals`";
            self.fail(section.name.span(), message, "", help);
        }
        if let (Some((least, _)), Some((most, span))) = (&least, &most) {
            let mixed = matches!(least, Bound::Frames(_)) != matches!(most, Bound::Frames(_));
            if mixed {
                let message = "the bounds of a throughput must both be in frames or both in bits";
                self.fail(span.clone(), message, "", "");
            } else if least.value() > most.value() {
                let message = "`at_least` is above `at_most`";
                self.fail(span.clone(), message, "", "swap the bounds");
            }
        }
        (least.map(|it| it.0), most.map(|it| it.0))
    }

    fn bound(&mut self, typed: &Spanned<BoundValue>, kind: MeasureKind) -> Option<Bound> {
        let hertz = self.capacity.hertz;
        let read = match (kind, typed.get_ref()) {
            (MeasureKind::Throughput, BoundValue::Text(text)) => rate(text),
            (MeasureKind::Throughput, BoundValue::Integer(_)) => Err(
                "a throughput has a unit; write for example `\"1.4Mpps\"` or `\"1Gbps\"`".into(),
            ),
            (MeasureKind::Latency, BoundValue::Text(text)) => text
                .parse::<Time>()
                .map(|time| Bound::Other(nanoseconds(time, hertz))),
            (MeasureKind::Latency, BoundValue::Integer(_)) => {
                Err("a latency has a unit; write for example `\"10us\"`".into())
            }
            (MeasureKind::Time, BoundValue::Text(text)) => text
                .parse::<Time>()
                .map(|time| Bound::Other(time.cycles(hertz))),
            (_, BoundValue::Integer(number)) => u64::try_from(*number)
                .map(Bound::Other)
                .map_err(|_| "a count cannot be negative".into()),
            (_, BoundValue::Text(text)) => {
                Err(format!("`{}` is a whole number, not `{text}`", kind.name()))
            }
        };
        read.map_err(|message: String| self.fail(typed.span(), message, "", ""))
            .ok()
    }

    fn measure(
        &mut self,
        section: &GoalSection,
        kind: MeasureKind,
        frames: bool,
        file: &ProjectFile,
    ) -> Option<Measure> {
        Some(match kind {
            MeasureKind::Throughput if frames => Measure::FrameRate,
            MeasureKind::Throughput => Measure::BitRate,
            MeasureKind::Latency => Measure::Latency(
                section
                    .of
                    .as_ref()
                    .map(|of| *of.get_ref())
                    .unwrap_or_default(),
            ),
            MeasureKind::Drops => Measure::Drops,
            MeasureKind::Reordered => Measure::Reordered,
            MeasureKind::Races => Measure::Races,
            MeasureKind::Memory => return self.memory_goal(section, file),
            MeasureKind::Time => Measure::Time,
            MeasureKind::Cycles => Measure::Cycles(self.stage_goal(section)?),
            MeasureKind::Instructions => Measure::Instructions(self.stage_goal(section)?),
            MeasureKind::Words => Measure::Words(self.stage_goal(section)?),
            MeasureKind::Commands => {
                let Some(unit) = &section.unit else {
                    self.report_missing_key(section, "unit", "`unit = \"sram\"`");
                    return None;
                };
                Measure::Commands(*unit.get_ref())
            }
            MeasureKind::Microengines => Measure::Microengines,
            MeasureKind::Contexts => Measure::Contexts,
            MeasureKind::Held => {
                let Some(lock) = &section.lock else {
                    self.report_missing_key(section, "lock", "the name of a [[lock]]");
                    return None;
                };
                let known = file.lock.iter().map(|lock| lock.name.get_ref().as_str());
                if !known.clone().any(|other| other == lock.get_ref()) {
                    let message = format!("there is no lock `{}`", lock.get_ref());
                    let help = suggestion(lock.get_ref(), known, "[[lock]]");
                    self.fail(lock.span(), message, "", &help);
                    return None;
                }
                Measure::Held(lock.get_ref().clone())
            }
        })
    }

    fn report_missing_key(&mut self, section: &GoalSection, key: &str, what: &str) {
        let kind = section.measure.get_ref().name();
        let message = format!("a goal for `{kind}` needs `{key}`");
        self.fail(section.measure.span(), message, "", &format!("give {what}"));
    }

    fn memory_goal(&mut self, section: &GoalSection, file: &ProjectFile) -> Option<Measure> {
        let Some(name) = &section.memory else {
            self.report_missing_key(
                section,
                "memory",
                "the name of a [[memory]] or a [[counter]]",
            );
            return None;
        };
        let wanted = name.get_ref();
        let counters = file.counter.iter().map(|it| it.name.get_ref().as_str());
        let memories = file.memory.iter().map(|it| it.name.get_ref().as_str());
        let known = memories.chain(counters.clone());
        if !known.clone().any(|other| other == wanted) {
            let message = format!("there is no memory or counter `{wanted}`");
            let help = suggestion(wanted, known, "[[memory]] or [[counter]]");
            self.fail(name.span(), message, "", &help);
            return None;
        }
        let is_counter = counters.clone().any(|other| other == wanted);
        let size = if is_counter {
            4
        } else {
            // If the memory has no place, it is itself wrong, which has been reported.
            let named = *self.memories.get(wanted)?;
            named.size
        };
        let offset = section.offset.as_ref().map_or(0, |it| *it.get_ref());
        if !offset.is_multiple_of(4) || u64::from(offset) >= size {
            let span = section.offset.as_ref().map_or(name.span(), Spanned::span);
            let message = format!("`{wanted}` has no longword at offset {offset}");
            let help = format!("use a multiple of 4 below {size}");
            self.fail(span, message, "", &help);
            return None;
        }
        Some(Measure::Memory {
            name: wanted.clone(),
            offset,
        })
    }

    /// Returns the microengines of a goal's stage; an inner `None` means all of them.
    #[expect(clippy::option_option, reason = "not found, all, some")]
    fn stage_goal(&mut self, section: &GoalSection) -> Option<Option<Vec<u8>>> {
        let Some(stage) = &section.stage else {
            return Some(None);
        };
        let found = self.stages.iter().find(|(name, _)| name == stage.get_ref());
        if let Some((_, microengines)) = found {
            return Some(Some(microengines.clone()));
        }
        let known = self.stages.iter().map(|(name, _)| name.as_str());
        let help = suggestion(stage.get_ref(), known, "[[me]] with a name");
        let message = format!("there is no stage `{}`", stage.get_ref());
        self.fail(stage.span(), message, "", &help);
        None
    }
}

/// Parses a rate in frames or bits a second.
fn rate(text: &str) -> Result<Bound, String> {
    let shape = || format!("`{text}` is not a throughput; write for example `1.4Mpps` or `1Gbps`");
    match text.strip_suffix("pps") {
        // Prefixes and digits are the same as in a bit rate.
        Some(number) => parse_rate(&format!("{number}bps"))
            .map(Bound::Frames)
            .map_err(|_| shape()),
        None => parse_rate(text).map(Bound::Other).map_err(|_| shape()),
    }
}

/// Converts a time to nanoseconds, rounded down like latencies.
fn nanoseconds(time: Time, hertz: u64) -> u64 {
    match time {
        Time::Picoseconds(ps) => ps / 1000,
        Time::Cycles(cycles) => {
            let ns = u128::from(cycles) * (PICOSECONDS_IN_SECOND / 1000) / u128::from(hertz.max(1));
            u64::try_from(ns).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::goals::{Goal, LatencyOf, Measure, UnitKind};
    use super::super::tests::{ME, bad, good};

    const SUM: &str = "[[memory]]\nname = \"SUM\"\nspace = \"scratch\"\nsize = 8\n";

    fn goal(text: &str) -> Goal {
        let named = format!("{ME}{SUM}[[goal]]\nname = \"g\"\n{text}\n");
        good(&named).goals.remove(0)
    }

    #[test]
    fn goal_bounds_use_the_unit_of_their_measure() {
        let bounds = |text: &str| {
            let goal = goal(text);
            (goal.measure, goal.least, goal.most)
        };
        assert_eq!(
            bounds("measure = \"throughput\"\nat_least = \"1.4Mpps\""),
            (Measure::FrameRate, Some(1_400_000), None)
        );
        assert_eq!(
            bounds("measure = \"throughput\"\nat_least = \"2.5Gbps\"\nat_most = \"3Gbps\""),
            (Measure::BitRate, Some(2_500_000_000), Some(3_000_000_000))
        );
        assert_eq!(
            bounds("measure = \"latency\"\nof = \"p99\"\nat_most = \"10us\""),
            (Measure::Latency(LatencyOf::P99), None, Some(10_000))
        );
        assert_eq!(
            bounds("measure = \"latency\"\nat_most = \"600\"").2,
            Some(1000),
            "600 cycles of 600 MHz"
        );
        assert_eq!(bounds("measure = \"time\"\nat_most = \"1us\"").2, Some(600));
        assert_eq!(bounds("measure = \"time\"\nat_most = 700").2, Some(700));
        assert_eq!(
            bounds("measure = \"memory\"\nmemory = \"SUM\"\noffset = 4\nequals = 800"),
            (
                Measure::Memory {
                    name: "SUM".into(),
                    offset: 4
                },
                Some(800),
                Some(800)
            )
        );
        assert_eq!(
            bounds("measure = \"commands\"\nunit = \"sram\"\nat_most = 3").0,
            Measure::Commands(UnitKind::Sram)
        );
        let goal = goal("measure = \"races\"\nequals = 0\nhint = \"lock it\"");
        assert_eq!((goal.is_met(0), goal.is_met(1)), (true, false));
        assert_eq!(goal.hint, "lock it");
        assert_eq!(&goal.place.text[goal.place.span.clone()], "\"g\"");
    }

    #[test]
    fn invalid_goals_are_refused_with_advice() {
        for (text, expected) in [
            ("measure = \"races\"", "has no bound"),
            (
                "measure = \"races\"\nequals = 0\nat_most = 1",
                "no other bound",
            ),
            ("measure = \"races\"\nequals = -1", "negative"),
            ("measure = \"races\"\nequals = \"1us\"", "whole number"),
            (
                "measure = \"drops\"\nat_least = 2\nat_most = 1",
                "swap the bounds",
            ),
            ("measure = \"throughput\"\nat_least = 5", "has a unit"),
            (
                "measure = \"throughput\"\nequals = \"5pps\"",
                "never met exactly",
            ),
            (
                "measure = \"throughput\"\nat_least = \"5pps\"\nat_most = \"5Gbps\"",
                "both in bits",
            ),
            (
                "measure = \"throughput\"\nat_least = \"fast\"",
                "`fast` is not a throughput",
            ),
            ("measure = \"latency\"\nat_most = 5", "has a unit"),
            (
                "measure = \"latency\"\nat_most = \"5m\"",
                "not a unit of time",
            ),
            ("measure = \"memory\"\nequals = 1", "needs `memory`"),
            (
                "measure = \"memory\"\nmemory = \"SUN\"\nequals = 1",
                "did you mean `SUM`?",
            ),
            (
                "measure = \"memory\"\nmemory = \"SUM\"\noffset = 8\nequals = 1",
                "use a multiple of 4 below 8",
            ),
            (
                "measure = \"cycles\"\nstage = \"x\"\nat_most = 1",
                "there is no stage `x`",
            ),
            ("measure = \"commands\"\nat_most = 1", "needs `unit`"),
            ("measure = \"held\"\nat_most = 1", "needs `lock`"),
            (
                "measure = \"held\"\nlock = \"L\"\nat_most = 1",
                "there is no lock `L`",
            ),
            (
                "measure = \"races\"\nequals = 0\nof = \"p99\"",
                "`of` does not apply to `races`",
            ),
        ] {
            let message = bad(&format!("{ME}{SUM}[[goal]]\nname = \"g\"\n{text}\n"), 1);
            assert!(message.contains(expected), "{text}: {message}");
        }
        let twice = "[[goal]]\nname = \"g\"\nmeasure = \"races\"\nequals = 0\n".repeat(2);
        assert!(bad(&format!("{ME}{twice}"), 1).contains("given twice"));
    }
}
