//! The visible state at a stop, as data: the terminal, the debug adapter and pages are rendered
//! from it, so that they cannot disagree.
//!
//! [`StopView`] contains all of it and can be serialized. Screens that show only a part can obtain
//! the parts separately.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::trace_event::ContextState;
use npsim_inspect::{BufferHolder, Inspect};
use npsim_session::simulation::Ending;
use serde::Serialize;

use crate::debugger::{Debugger, StopCause};
use crate::history::{Fate, History, PacketRecord};
use crate::names::{ProjectNames, Ring};
use crate::source::SourceFrame;
use crate::thread::Thread;

/// The state of a run at a stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StopView {
    /// The cycle before which everything has happened, in cycles of the microengines' clock.
    pub cycle: Cycle,
    /// Frequency of that clock in hertz.
    pub hertz: u64,
    /// Why the run stopped.
    pub reason: StopReason,
    /// The selected context.
    pub selected: Thread,
    /// The contexts that run or have exited, microengine by microengine.
    pub contexts: Vec<ContextAtStop>,
    /// Rings and queues, by the project's names, then next-neighbour rings in use.
    pub rings: Vec<RingAtStop>,
    /// Packets that arrived, left or were lost over the last cycles, or are in buffers of the media
    /// interface, by number.
    pub packets: Vec<PacketAtStop>,
    /// The activity of each of [`Self::contexts`] over the last cycles.
    pub lanes: Vec<Lane>,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum StopReason {
    /// The run has not begun.
    Entry,
    /// The run was moved back to its beginning.
    Beginning,
    /// A step is complete.
    Step,
    /// The user went here.
    Goto,
    /// The user interrupted a search.
    Interrupted,
    /// Breakpoints were hit.
    Breakpoint {
        /// The breakpoints, in the order of their numbers.
        hits: Vec<Hit>,
    },
    /// A check stopped the run.
    Fault {
        /// The check's name; `fault` for operations that no chip could perform.
        name: &'static str,
        /// What is wrong.
        message: String,
        /// Additional details.
        notes: Vec<String>,
        /// How to fix it.
        help: Option<String>,
    },
    /// The run ended.
    End {
        /// The reason in words.
        text: String,
    },
}

/// A breakpoint that was hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The breakpoint's number.
    pub number: u32,
    /// The breakpoint's title.
    pub title: String,
    /// The value before and after, for a watchpoint.
    pub change: Option<(u64, u64)>,
    /// Descriptions of the writers, for a watched longword.
    pub by: Vec<String>,
    /// Why its expression could not be evaluated, which also stops the run.
    pub failure: Option<String>,
}

/// A context, its position and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextAtStop {
    /// The context's number.
    pub thread: Thread,
    /// The project's name of its microengine's stage.
    pub stage: String,
    /// Its state.
    pub activity: ContextActivity,
    /// The cycle at which the state began.
    pub since: Cycle,
    /// The instruction at which it is, or with which it went to sleep.
    pub pc: u16,
    /// The source location, innermost macro first.
    pub frames: Vec<SourceFrame>,
}

/// The state of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ContextActivity {
    /// The context is not enabled.
    Inactive,
    /// The context is awake, and another one has the pipeline.
    Ready,
    /// The context has the pipeline.
    Executing,
    /// The context has exited (`ctx_arb[kill]`).
    Killed,
    /// The context sleeps.
    Waiting {
        /// Descriptions of the signals that have not arrived.
        missing: Vec<String>,
        /// Whether any one of them is enough.
        any: bool,
    },
}

impl ContextActivity {
    /// The state of a context of the chip; `None` if there is no such microengine.
    #[must_use]
    pub fn of(chip: &Chip, thread: Thread) -> Option<Self> {
        let core = chip.microengines().get(usize::from(thread.me))?;
        Some(match core.context(thread.context).state() {
            ContextState::Inactive => Self::Inactive,
            ContextState::Ready => Self::Ready,
            ContextState::Executing => Self::Executing,
            ContextState::Killed => Self::Killed,
            ContextState::Waiting { any, .. } => {
                let wait = core.waiting(thread.context);
                Self::Waiting {
                    missing: wait.map(|wait| wait.missing).unwrap_or_default(),
                    any,
                }
            }
        })
    }
}

/// The kind of a ring or queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RingKind {
    /// A scratch ring of the project.
    Scratch {
        /// Its capacity in longwords.
        size: u32,
    },
    /// A queue of the project.
    Queue,
    /// The next-neighbour ring to a microengine.
    Neighbour {
        /// Words that were put and cannot be read yet.
        in_flight: u32,
    },
}

/// A ring or queue with its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RingAtStop {
    /// The project's name for it, or `to ME` and the microengine.
    pub name: String,
    /// The kind.
    #[serde(flatten)]
    pub kind: RingKind,
    /// Longwords on a ring, entries on a queue.
    pub fill: u32,
    /// The longwords, oldest first; for a queue, the handles of its buffers.
    pub words: Vec<u32>,
}

/// A packet, its location and its fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PacketAtStop {
    /// The number.
    pub number: u64,
    /// The arrival and the fate.
    #[serde(flatten)]
    pub packet: PacketRecord,
    /// A description of the media interface buffers that hold parts of it.
    pub buffers: Option<String>,
}

/// The activity of one context over the last cycles, in order of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// The context.
    pub thread: Thread,
    /// First cycle, first cycle after it, and activity. Aborted and stalled stretches overlap the
    /// executing ones that they are part of.
    pub stretches: Vec<(Cycle, Cycle, &'static str)>,
}

impl StopView {
    /// The state at a debugger's position. `history` is that of the last cycles, for packets and
    /// lanes.
    #[must_use]
    pub fn of(debugger: &Debugger, history: &History) -> Self {
        let threads = debugger.threads();
        let lanes = threads.iter().map(|it| {
            let lane = history.lanes.lane(it.thread.me, it.thread.context).iter();
            let stretches = lane.map(|it| (it.from, it.until, it.activity.name()));
            Lane {
                thread: it.thread,
                stretches: stretches.collect(),
            }
        });
        Self {
            cycle: debugger.cycle(),
            hertz: debugger.timeline().hertz(),
            reason: reason(debugger, debugger.reason()),
            selected: debugger.thread(),
            lanes: lanes.collect(),
            contexts: contexts(debugger),
            rings: rings(debugger.chip(), debugger.names()),
            packets: packets(debugger, history),
        }
    }
}

/// Describes why a run ended.
#[must_use]
pub fn end_text(ending: &Ending) -> String {
    match ending {
        Ending::Drained => {
            "the run ends: all frames have come, and ports and core have rested since".to_owned()
        }
        Ending::NoEvents => "the run ends: nothing more can happen".to_owned(),
        Ending::Reached => "the run ends: its time is up".to_owned(),
        Ending::Fault(fault) => fault.message.clone(),
        Ending::OutputFailed => "the run ends: what left could not be written".to_owned(),
        Ending::InputFailed => "the run ends: the frames could not be read".to_owned(),
        Ending::Interrupted => "interrupted".to_owned(),
    }
}

/// Why the run stopped.
#[must_use]
pub fn reason(debugger: &Debugger, reason: &StopCause) -> StopReason {
    match reason {
        StopCause::Entry => StopReason::Entry,
        StopCause::Beginning => StopReason::Beginning,
        StopCause::Step => StopReason::Step,
        StopCause::Goto => StopReason::Goto,
        StopCause::Interrupted => StopReason::Interrupted,
        StopCause::Breakpoint(points) => {
            let hits = points.iter().map(|hit| {
                let mut points = debugger.breakpoints().iter();
                let point = points.find(|it| it.id == hit.number);
                let by = hit.by.iter().map(|it| debugger.author_text(*it));
                Hit {
                    number: hit.number,
                    title: point.map_or_else(String::new, |it| it.title.clone()),
                    change: hit.change,
                    by: by.collect(),
                    failure: hit.failure.clone(),
                }
            });
            StopReason::Breakpoint {
                hits: hits.collect(),
            }
        }
        StopCause::Fault(fault) => StopReason::Fault {
            name: fault.check.map_or("fault", Check::name),
            message: fault.message.clone(),
            notes: fault.notes.clone(),
            help: fault.help.clone(),
        },
        StopCause::End(ending) => StopReason::End {
            text: end_text(ending),
        },
    }
}

/// The contexts that run or have exited.
#[must_use]
pub fn contexts(debugger: &Debugger) -> Vec<ContextAtStop> {
    let threads = debugger.threads().into_iter();
    let contexts = threads.filter_map(|it| {
        Some(ContextAtStop {
            thread: it.thread,
            stage: it.stage,
            activity: ContextActivity::of(debugger.chip(), it.thread)?,
            since: it.view.since,
            pc: it.pc,
            frames: debugger.frames(it.thread),
        })
    });
    contexts.collect()
}

/// The rings and queues of the project, and next-neighbour rings that are not empty.
#[must_use]
pub fn rings(chip: &Chip, names: &ProjectNames) -> Vec<RingAtStop> {
    let inspect = Inspect::new(chip);
    let named = names.rings().iter();
    let named = named.filter_map(|(name, ring)| {
        let (kind, fill, words) = match *ring {
            Ring::Scratch(number) => {
                let ring = inspect.ring(number)?;
                let kind = RingKind::Scratch { size: ring.size };
                (kind, ring.words.len() as u32, ring.words)
            }
            Ring::Queue { channel, entry } => {
                let queue = inspect.queue(channel, entry);
                let fill = queue.as_ref().map_or(0, |it| it.count);
                let words = queue.map(|it| it.buffers.unwrap_or(it.words));
                (RingKind::Queue, fill, words.unwrap_or_default())
            }
        };
        Some(RingAtStop {
            name: name.clone(),
            kind,
            fill,
            words,
        })
    });
    let neighbours = inspect.microengines().filter_map(|view| {
        let ring = inspect.neighbour_ring(view.index())?;
        let in_flight = u32::from(ring.under_way);
        (!ring.words.is_empty() || in_flight > 0).then(|| RingAtStop {
            name: format!("to ME {}", view.index()),
            kind: RingKind::Neighbour { in_flight },
            fill: ring.words.len() as u32,
            words: ring.words,
        })
    });
    named.chain(neighbours).collect()
}

/// Packets of the last cycles and in buffers of the media interface, by number.
#[must_use]
pub fn packets(debugger: &Debugger, history: &History) -> Vec<PacketAtStop> {
    let mut all: std::collections::BTreeMap<u64, PacketAtStop> = { history.packets.iter() }
        .map(|(number, packet)| {
            let packet = PacketAtStop {
                number: *number,
                packet: packet.clone(),
                buffers: None,
            };
            (*number, packet)
        })
        .collect();
    let mut add = |number: u64, text: String| {
        let packet = all.entry(number).or_insert_with(|| PacketAtStop {
            number,
            packet: PacketRecord {
                came: None,
                fate: Fate::Inside,
            },
            buffers: None,
        });
        packet.buffers = Some(match packet.buffers.take() {
            Some(before) => format!("{before}, {text}"),
            None => text,
        });
    };
    let inspect = Inspect::new(debugger.chip());
    for it in inspect.rbuf() {
        let Some(frame) = it.frame else {
            continue;
        };
        let element = it.element;
        match it.holder {
            BufferHolder::Withheld | BufferHolder::Pool => {}
            BufferHolder::Filling => add(frame, format!("filling RBUF {element}")),
            BufferHolder::Full => add(frame, format!("RBUF {element} waits")),
            BufferHolder::Thread { me, context, .. } => {
                add(frame, format!("RBUF {element} of {me}.{context}"));
            }
        }
    }
    for it in inspect.tbuf() {
        if let (Some(frame), Some(_)) = (it.frame, it.valid_since) {
            add(frame, format!("TBUF {}", it.element));
        }
    }
    for (frame, ring) in on_rings(debugger) {
        let over = history.packets.get(&frame);
        if over.is_none_or(|it| it.fate == Fate::Inside) {
            add(frame, format!("on {ring}"));
        }
    }
    all.into_values().collect()
}

/// The frames whose packet buffers are on rings and queues, except for the list of free ones.
fn on_rings(debugger: &Debugger) -> Vec<(u64, String)> {
    let chip = debugger.chip();
    let Some(buffers) = &chip.fabric().buffers else {
        return Vec::new();
    };
    let setup = buffers.setup();
    let inspect = Inspect::new(chip);
    let frame = |word: u32| {
        let number = buffers.number_of(word)?;
        let address = setup.data(setup.descriptor(number as u32));
        chip.units().dram.frame_in(address, setup.size)
    };
    let names = debugger.names();
    let mut found = Vec::new();
    for ring in inspect.rings() {
        let name = names.ring_text(Ring::Scratch(ring.number));
        found.extend(
            ring.words
                .into_iter()
                .filter_map(frame)
                .map(|it| (it, name.clone())),
        );
    }
    for queue in inspect.queues() {
        let (channel, entry) = (queue.channel, queue.entry);
        if (channel, entry) == (setup.channel, setup.entry) {
            continue;
        }
        let name = names.ring_text(Ring::Queue { channel, entry });
        let words = queue.buffers.unwrap_or(queue.words);
        found.extend(
            words
                .into_iter()
                .filter_map(frame)
                .map(|it| (it, name.clone())),
        );
    }
    found.dedup();
    found
}
