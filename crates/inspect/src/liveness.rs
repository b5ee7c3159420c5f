//! Contexts that wait for a signal that nothing can raise any more.
//!
//! A context that waits for a signal goes on if something in flight raises it (a command, a timer,
//! a frame that may arrive), or another context that can still go on. So the search marks as live
//! the contexts that are awake and those that wait for something in flight, and then, until nothing
//! changes, those that wait for a signal raised by an instruction that a live context may still
//! reach. The others are deadlocked, however busy the rest of the chip is.
//!
//! Whatever is unknown counts as possible: the value of a register, the direction of a branch, the
//! target of a computed jump. So a reported context is certainly deadlocked, while one that is not
//! reported may be. If a run has come to rest, two conclusions are drawn from what has happened in
//! it: a command gives its signals to another context by `indirect_ref`, and a context puts another
//! one on a freelist, only if some have done so in the run. If the run is interrupted, both count
//! as possible too.

mod program;
mod raise;
mod request;
mod search;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::signal_name_at;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::fault_injection::list_contexts;

use program::FlowProgram;
use raise::ALL_SIGNALS;
use request::requests;
pub(crate) use search::Senders;
pub use search::{Outlook, SignalSender};
use search::{Search, threads};

/// Maximum number of places in a message.
const PLACES_SHOWN: usize = 4;

/// Contexts of a microengine that wait at the same instruction for the same signals, which nothing
/// raises any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockedContexts {
    /// Index of the microengine.
    pub me: u8,
    /// The contexts, ascending.
    pub contexts: Vec<u8>,
    /// The cycle since which all of them have been waiting.
    pub since: Cycle,
    /// Address of the instruction that waits.
    pub at: u16,
    /// The source location.
    pub place: String,
    /// Bit s: signal s is missing and nothing raises it.
    pub signals: u16,
    /// Whether any one of the signals would wake them.
    pub any: bool,
    /// The names of the signals in the program.
    pub names: Vec<String>,
}

impl DeadlockedContexts {
    /// `8 contexts of microengine 0 have been waiting since cycle 900 for signal 3 (`police`)`
    #[must_use]
    pub fn sentence(&self) -> String {
        let joint = if self.any { " or " } else { " and " };
        let (who, waits) = match self.contexts[..] {
            [one] => (format!("context {one}"), "has been waiting"),
            _ => (
                format!("{} contexts", self.contexts.len()),
                "have been waiting",
            ),
        };
        format!(
            "{who} of microengine {} {waits} since cycle {} for {}",
            self.me,
            self.since,
            self.names.join(joint)
        )
    }
}

/// The deadlocked contexts of a chip, by microengine and place. This searches the programs, so it
/// is meant for the end of a run.
#[must_use]
pub fn deadlocked(chip: &Chip, outlook: Outlook) -> Vec<DeadlockedContexts> {
    search_for_deadlocked(chip, outlook).map_or_else(Vec::new, |(_, groups)| groups)
}

/// The deadlocked contexts with the search that found them; `None` if no search was necessary.
fn search_for_deadlocked(
    chip: &Chip,
    outlook: Outlook,
) -> Option<(Search<'_>, Vec<DeadlockedContexts>)> {
    if chip.gpp().tasks().iter().any(|task| task.signals_threads()) {
        return None;
    }
    let mut threads = threads(chip);
    if !threads.iter().any(|it| it.is_open()) {
        return None;
    }
    let search = Search::new(chip, outlook);
    search.mark_live(&mut threads);
    let mut groups: Vec<DeadlockedContexts> = Vec::new();
    for thread in threads.iter().filter(|it| it.is_deadlocked()) {
        let view = chip.microengines()[usize::from(thread.me)].context(thread.context);
        let image = &search.program(thread.me).image;
        let signals = thread.missing & !thread.possible;
        let like = |group: &&mut DeadlockedContexts| {
            (group.me, group.at, group.signals, group.any)
                == (thread.me, view.yielded_at, signals, thread.any)
        };
        if let Some(group) = groups.iter_mut().find(like) {
            group.contexts.push(thread.context);
            group.since = group.since.max(view.since);
            continue;
        }
        groups.push(DeadlockedContexts {
            me: thread.me,
            contexts: vec![thread.context],
            since: view.since,
            at: view.yielded_at,
            place: image.place(view.yielded_at),
            signals,
            any: thread.any,
            names: (1..16)
                .filter(|signal| signals >> signal & 1 == 1)
                .map(|signal| signal_name_at(image, signal, view.yielded_at))
                .collect(),
        });
    }
    Some((search, groups))
}

/// The deadlocked contexts as a [`Check::NeverWoken`] fault at the present cycle; `None` if there
/// are none.
#[must_use]
pub fn never_woken_fault(chip: &Chip, outlook: Outlook) -> Option<Fault> {
    let (search, groups) = search_for_deadlocked(chip, outlook)?;
    let first = groups.iter().max_by_key(|group| {
        let earlier = std::cmp::Reverse((group.since, group.me, group.at));
        (group.contexts.len(), earlier)
    })?;
    let mut notes = vec![raisers_note(
        &search,
        first.me,
        &first.contexts,
        first.signals,
    )];
    for group in groups.iter().filter(|group| *group != first) {
        notes.push(format!("{}, at {}", group.sentence(), group.place));
    }
    let which = list_contexts(&first.contexts);
    if first.contexts.len() > 1 {
        notes.push(format!("deadlocked: {which} of microengine {}", first.me));
    }
    Some(Fault {
        check: Some(Check::NeverWoken),
        cycle: chip.now(),
        me: Some(first.me),
        context: first.contexts.first().copied(),
        pc: Some(first.at),
        message: format!(
            "{}, which nothing raises any more",
            first.sentence()
        ),
        notes,
        help: Some(
            "raise the signal on every path: a turn has to be passed on even where a packet is dropped; a context that has nothing more to do exits with ctx_arb[kill]"
                .to_owned(),
        ),
        also: Vec::new(),
    })
}

/// Raises [`Check::NeverWoken`] for deadlocked contexts, at the end of a run that has come to rest.
pub fn raise_never_woken(chip: &mut Chip) {
    if let Some(fault) = never_woken_fault(chip, Outlook::AtRest) {
        chip.raise(fault);
    }
}

/// If every context of a chip sleeps ([`Check::Deadlock`]), adds to its fault the places at which
/// programs raise what the context waits for. Returns the chip's fault; `None` if there is none.
/// Other faults are left unchanged, and the note is not added twice.
pub fn explain_deadlock(chip: &mut Chip) -> Option<&Fault> {
    let note = chip.fault().and_then(|fault| deadlock_note(chip, fault));
    if let (Some(note), Some(fault)) = (note, chip.fault_mut())
        && fault.notes.first() != Some(&note)
    {
        fault.notes.insert(0, note);
    }
    chip.fault()
}

fn deadlock_note(chip: &Chip, fault: &Fault) -> Option<String> {
    if fault.check != Some(Check::Deadlock) {
        return None;
    }
    let (me, context) = (fault.me?, fault.context?);
    let wait = chip.microengines().get(usize::from(me))?.waiting(context)?;
    let missing = wait.signals & !wait.arrived & ALL_SIGNALS;
    let search = Search::new(chip, Outlook::AtRest);
    Some(raisers_note(&search, me, &[context], missing))
}

/// Describes the places at which programs have an instruction that raises what these contexts wait
/// for.
fn raisers_note(search: &Search<'_>, me: u8, contexts: &[u8], signals: u16) -> String {
    let mut places = search.raising_places(me, contexts, signals);
    let raised = !places.is_empty();
    places.extend(requests(search.program(me), signals, raised));
    match &shorten(places)[..] {
        [] if signals.is_power_of_two() => "no instruction of any program raises it".to_owned(),
        [] => "no instruction of any program raises them".to_owned(),
        some => format!(
            "raised at {}, which no context reaches, or only contexts that sleep forever themselves",
            some.join("; ")
        ),
    }
}

/// The places at which the program of a microengine requests signals that nothing else raises.
pub(crate) fn request_places(chip: &Chip, me: u8, signals: u16) -> Vec<String> {
    let program = FlowProgram::of(chip.microengines()[usize::from(me)].as_ref());
    shorten(requests(&program, signals, false))
}

/// Sorts and deduplicates places, and limits them to what fits a message.
fn shorten(mut places: Vec<String>) -> Vec<String> {
    places.sort_unstable();
    places.dedup();
    let more = places.len().saturating_sub(PLACES_SHOWN);
    places.truncate(PLACES_SHOWN);
    if more > 0 {
        places.push(format!("{more} more places"));
    }
    places
}
