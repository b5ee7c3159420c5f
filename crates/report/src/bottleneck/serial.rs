//! Saturated serial sections, which one context at a time passes through: turns, tokens of rings,
//! and locks that the project does not name.
//!
//! As with a [lock](super::locks), a section runs once per hold and handover, however many contexts
//! there are. Meanwhile the others sleep or retry, so the stage looks as if it waited for memory or
//! computed.

use npsim_chip::gpp::boot::{LockSetup, Space};
use npsim_chip::kernel::row::permille;
use npsim_observe::names;
use npsim_observe::sections::{ExclusiveResource, SerialSection};
use npsim_project::quantity::grouped;

use super::observed::{Observed, Stage};
use super::window::AnalysisWindow;
use super::wording::{capital, percent};

/// Thousandths of the time held or handed over at which a section is at its limit.
const SATURATED: u64 = 900;

/// Thousandths of the time that a turn waits for contexts at something else, above which this is its
/// main delay.
const MAIN_DELAY: u64 = 500;

/// A section that is always occupied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SectionLoad {
    pub section: SerialSection,
    /// The name of what is held, such as the turn with its name.
    pub name: String,
    /// Indices of the stages that pass through it.
    pub stages: Vec<usize>,
    /// The length of the window in cycles.
    cycles: u64,
}

/// The sections at their limit, most loaded first.
pub(super) fn saturated(observed: &Observed<'_>, window: &AnalysisWindow) -> Vec<SectionLoad> {
    let (from, to) = (window.before.cycle, window.after.cycle);
    let named: Vec<_> = observed.locks.iter().filter_map(address_of).collect();
    let sections = observed.sections.between(from, to).into_iter();
    let mut found: Vec<_> = sections
        .filter(|section| !named.contains(&section.held_resource))
        .map(|section| load(observed, window, section))
        .filter(|load| {
            load.is_wanted() && (load.permille() >= SATURATED || load.delayed().is_some())
        })
        .collect();
    found.sort_by_key(|load| std::cmp::Reverse(load.permille()));
    found
}

fn load(observed: &Observed<'_>, window: &AnalysisWindow, section: SerialSection) -> SectionLoad {
    let goes_through = |stage: &Stage| {
        let mut microengines = stage.microengines.iter();
        microengines.any(|me| section.microengines.contains(me))
    };
    let stages = observed.stages.iter().enumerate();
    SectionLoad {
        name: name(observed, &section),
        stages: stages
            .filter(|(_, stage)| goes_through(stage))
            .map(|(index, _)| index)
            .collect(),
        cycles: window.cycles(),
        section,
    }
}

/// The name of what is held, for sentences.
fn name(observed: &Observed<'_>, section: &SerialSection) -> String {
    match section.held_resource {
        ExclusiveResource::Turn { signal, .. } => match &section.signal {
            Some(name) => format!("the turn {name}"),
            None => format!("the turn of signal {signal}"),
        },
        ExclusiveResource::Token(ring) => {
            let places = observed.series.places();
            format!("the token of {}", names::ring_label(places, ring))
        }
        ExclusiveResource::Lock { sram, address } => {
            let unit = if sram { "sram" } else { "scratch" };
            match observed.flow.memory_at(sram, address) {
                Some(memory) => format!("the lock in {memory}"),
                None => format!("the lock at 0x{address:x} of {unit}"),
            }
        }
    }
}

/// The section observed for a lock that the project names.
pub(super) fn section_of_lock(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    index: u16,
) -> Option<SerialSection> {
    let own = address_of(observed.locks.get(usize::from(index))?)?;
    let (from, to) = (window.before.cycle, window.after.cycle);
    let mut sections = observed.sections.between(from, to).into_iter();
    sections.find(|section| section.held_resource == own)
}

/// The turn that waits for a section's contexts, with thousandths of the given cycles, if the
/// section is not saturated itself and that wait is long.
pub(super) fn delayed_turn(
    section: &SerialSection,
    (permille_used, cycles): (u64, u64),
) -> Option<(&str, u64)> {
    let (turn, waited) = section.delays.as_ref()?;
    let waited = permille(*waited, cycles).min(1000);
    (permille_used < SATURATED && waited >= MAIN_DELAY).then_some((turn.as_str(), waited))
}

/// Advice for contexts that acquire something in any order and continue in the order of a turn.
pub(super) fn order_advice(name: &str, turn: &str) -> String {
    format!(
        "Let contexts take {name} in the order of the turn {turn}, say in a turn of its own: those that got it early now wait behind it for those that get it late."
    )
}

/// The address of a project's lock, in the form used by commands.
fn address_of(lock: &LockSetup) -> Option<ExclusiveResource> {
    let (sram, base) = match lock.space {
        Space::Scratch => (false, 0),
        Space::Sram(channel) => (true, u32::from(channel) << 30),
        Space::Dram => return None,
    };
    Some(ExclusiveResource::Lock {
        sram,
        address: base | lock.address,
    })
}

impl SectionLoad {
    /// Thousandths of the time in which it was held or handed over.
    pub fn permille(&self) -> u64 {
        let used = self.section.held + self.section.handed_over;
        permille(used, self.cycles).min(1000)
    }

    /// The turn that waits for its contexts, and the share of time, if this is how the section
    /// limits.
    pub fn delayed(&self) -> Option<(&str, u64)> {
        delayed_turn(&self.section, (self.permille(), self.cycles))
    }

    /// Whether contexts wait for it. A turn always has one waiting.
    fn is_wanted(&self) -> bool {
        matches!(self.section.held_resource, ExclusiveResource::Turn { .. })
            || self.section.failed > 0
    }

    /// Whether waiting contexts sleep rather than retry.
    pub fn waiters_sleep(&self) -> bool {
        matches!(self.section.held_resource, ExclusiveResource::Turn { .. })
    }

    /// The evidence, one sentence each.
    pub fn evidence(&self, stages: &[Stage], window: &AnalysisWindow) -> Vec<String> {
        let section = &self.section;
        let each = |cycles: u64| cycles / section.sections.max(1);
        let (held, handed_over) = (each(section.held), each(section.handed_over));
        let share = |cycles| percent(permille(cycles, self.cycles).min(1000));
        let place = match &section.lines {
            Some((taken, given)) if taken == given => format!(" at {taken}"),
            Some((taken, given)) => format!(" from {taken} to {given}"),
            None => String::new(),
        };
        let hertz = u128::from(window.after.stats.mhz) * 1_000_000;
        let used = u128::from(section.held + section.handed_over).max(1);
        let most = (hertz * u128::from(section.sections) / used) as u64;
        let mut lines = vec![
            format!(
                "{} is held{place}, {} of the time, and handed over {}.",
                capital(&self.name),
                share(section.held),
                share(section.handed_over),
            ),
            format!(
                "A section takes {} cycles, {} held and {} handed over, so there are at most {} sections a second.",
                grouped(held + handed_over),
                grouped(held),
                grouped(handed_over),
                grouped(most),
            ),
        ];
        let titles: Vec<_> = self.stages.iter().map(|&it| stages[it].title()).collect();
        lines.push(format!(
            "{} contexts of {} go through it, one at a time{}.",
            section.contexts,
            titles.join(" and "),
            match section.failed {
                0 => String::new(),
                failed => format!(", and {} tries failed", grouped(failed)),
            }
        ));
        lines
    }

    /// Suggested improvements, one sentence each.
    pub fn advice(&self) -> Vec<String> {
        let (name, section) = (&self.name, &self.section);
        let place = match &section.lines {
            Some((taken, given)) if taken == given => format!(" at {taken}"),
            Some((taken, given)) => format!(" between {taken} and {given}"),
            None => String::new(),
        };
        let mut advice = vec![
            format!(
                "A shorter section helps directly: of what is done{place}, keep only what must not overlap, above all no wait for memory that could end before {name} is taken or begin after it is given on."
            ),
            "What is looked up there can be looked up before, by all contexts at a time, and once more inside only where that found nothing.".to_owned(),
        ];
        advice.extend(self.delayed().map(|(turn, _)| order_advice(name, turn)));
        advice.push(match section.held_resource {
            ExclusiveResource::Turn { .. } if section.microengines.len() == 1 => "More microengines do not help: they would wait for the same turn, and a turn passed within one microengine keeps no order between several.".to_owned(),
            ExclusiveResource::Turn { .. } => "More microengines do not help: they wait for the same turn.".to_owned(),
            ExclusiveResource::Token(_) => format!("More microengines do not help: they wait for {name} as well."),
            ExclusiveResource::Lock { .. } => format!("More microengines do not help: they wait for {name} as well, and their tries keep the unit from its holder. `[[lock]]` in the project file shows more of it."),
        });
        advice
    }
}
