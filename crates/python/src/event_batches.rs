//! A Python observer, which receives trace events in batches as tables.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use npsim::chip::Cycle;
use npsim::chip::kernel::observer::Observer;
use npsim::chip::kernel::recurring_state::RecurringState;
use npsim::chip::kernel::trace_event::{
    ContextState, EventKinds, LockStep, RingName, TraceEvent, TraceEventKind as Kind,
};
use pyo3::prelude::*;

use crate::column_data::{ColumnData, Number};
use crate::detached::raise;
use crate::error::mistake;
use crate::table::Table;
use crate::table_data::{MakeColumn, TableData};

/// Events per batch: enough to make the cost of a call into Python negligible.
const BATCH: usize = 10_000;

/// The kinds of events that can be requested, by name.
const KINDS: [(&str, Kind); 14] = [
    ("arrives", Kind::Arrives),
    ("departed", Kind::Departed),
    ("dropped", Kind::Dropped),
    ("exception", Kind::Exception),
    ("issued", Kind::Issued),
    ("aborted", Kind::Aborted),
    ("stalled", Kind::Stalled),
    ("context", Kind::Context),
    ("ring", Kind::Ring),
    ("lock", Kind::Lock),
    ("written", Kind::Written),
    ("touched", Kind::Touched),
    ("level", Kind::Level),
    ("core", Kind::Gpp),
];

/// An event as a row. Fields that do not apply to its kind are missing.
#[derive(Debug, Default)]
struct EventRow {
    cycle: Cycle,
    kind: &'static str,
    me: Option<u8>,
    context: Option<u8>,
    pc: Option<u32>,
    port: Option<u8>,
    frame: Option<u64>,
    bytes: Option<u32>,
    /// For events with a duration: the cycle in which it began or will end.
    other_cycle: Option<Cycle>,
    address: Option<u32>,
    value: Option<f64>,
    name: Option<Cow<'static, str>>,
}

fn ring_name(ring: RingName) -> Cow<'static, str> {
    Cow::Owned(match ring {
        RingName::Scratch(number) => format!("scratch ring {number}"),
        RingName::Neighbour(me) => format!("next-neighbour ring of microengine {me}"),
        RingName::Sram { channel, entry } => format!("sram{channel} entry {entry}"),
    })
}

fn state_name(state: ContextState) -> &'static str {
    match state {
        ContextState::Inactive => "inactive",
        ContextState::Ready => "ready",
        ContextState::Executing => "executing",
        ContextState::Waiting { .. } => "waiting",
        ContextState::Killed => "exited",
    }
}

impl EventRow {
    fn of(cycle: Cycle, event: &TraceEvent) -> Self {
        let kind = event.kind();
        let known = KINDS.iter().find(|(_, known)| *known == kind);
        let row = || Self {
            cycle,
            kind: known.map_or("", |(name, _)| *name),
            ..Self::default()
        };
        let of = |me: u8, context: u8, pc: u16| Self {
            me: Some(me),
            context: Some(context),
            pc: Some(pc.into()),
            ..row()
        };
        match *event {
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => Self {
                value: Some(count.into()),
                ..of(me, context, pc)
            },
            TraceEvent::Aborted {
                me,
                context,
                pc,
                slots,
            } => Self {
                value: Some(slots as f64),
                ..of(me, context, pc)
            },
            TraceEvent::Stalled {
                me,
                context,
                pc,
                from,
            } => Self {
                other_cycle: Some(from),
                ..of(me, context, pc)
            },
            TraceEvent::Context {
                me,
                context,
                doing,
                pc,
            } => Self {
                name: Some(state_name(doing).into()),
                ..of(me, context, pc)
            },
            TraceEvent::Ring { ring, fill } => Self {
                name: Some(ring_name(ring)),
                value: Some(fill.into()),
                ..row()
            },
            TraceEvent::Arrives {
                port,
                frame,
                bytes,
                until,
            } => Self {
                port: Some(port),
                frame: Some(frame),
                bytes: Some(bytes),
                other_cycle: Some(until),
                ..row()
            },
            TraceEvent::Departed {
                port,
                frame,
                bytes,
                from,
            } => Self {
                port: Some(port),
                frame,
                bytes: Some(bytes),
                other_cycle: Some(from),
                ..row()
            },
            TraceEvent::Dropped {
                port,
                frame,
                reason,
            } => Self {
                port: Some(port),
                frame,
                name: Some(reason.text().into()),
                ..row()
            },
            TraceEvent::Exception { handle, reason } => Self {
                address: Some(handle),
                value: Some(reason.into()),
                ..row()
            },
            TraceEvent::Lock { lock, step } => {
                let (name, by) = match step {
                    LockStep::Taken { by, .. } => ("taken", by),
                    LockStep::Released { .. } => ("released", None),
                };
                Self {
                    me: by.map(|by| by.0),
                    context: by.map(|by| by.1),
                    value: Some(lock.into()),
                    name: Some(name.into()),
                    ..row()
                }
            }
            TraceEvent::Written {
                memory,
                address,
                words,
                ..
            } => Self {
                address: Some(address),
                value: Some(words.into()),
                name: Some(format!("{memory:?}").to_lowercase().into()),
                ..row()
            },
            TraceEvent::Touched { frame, me, context } => Self {
                frame: Some(frame),
                me: Some(me),
                context: Some(context),
                ..row()
            },
            TraceEvent::Level { level, value, .. } => Self {
                name: Some(level.name.into()),
                value: Some(value as f64),
                ..row()
            },
            TraceEvent::Gpp { step, until, .. } => Self {
                name: Some(step.into()),
                other_cycle: Some(until),
                ..row()
            },
            _ => row(),
        }
    }
}

/// The events of a batch, and their rows, which are computed when a column is first used.
#[derive(Debug, Default)]
struct EventTable {
    events: Vec<(Cycle, TraceEvent)>,
    rows: OnceLock<Vec<EventRow>>,
}

impl EventTable {
    fn rows(&self) -> &[EventRow] {
        self.rows.get_or_init(|| {
            let events = self.events.iter();
            events.map(|(at, event)| EventRow::of(*at, event)).collect()
        })
    }
}

/// Makes a column of numbers.
fn numbers<T: Number>(
    table: &Arc<EventTable>,
    cell: impl Fn(&EventRow) -> Option<T> + Clone + Send + Sync + 'static,
) -> MakeColumn {
    let table = Arc::clone(table);
    Box::new(move || ColumnData::numbers_of(table.rows().iter().map(cell.clone())))
}

/// Makes a column of texts.
fn texts(
    table: &Arc<EventTable>,
    cell: impl Fn(&EventRow) -> Option<&str> + Clone + Send + Sync + 'static,
) -> MakeColumn {
    let table = Arc::clone(table);
    Box::new(move || ColumnData::texts_of(table.rows().iter().map(cell.clone())))
}

/// Makes a table of one router's events.
fn table(router: u8, events: Vec<(Cycle, TraceEvent)>) -> TableData {
    let rows = events.len();
    let table = Arc::new(EventTable {
        events,
        rows: OnceLock::new(),
    });
    let of = &table;
    TableData::made_when_needed(
        rows,
        [
            ("router", numbers(of, move |_| Some(router))),
            ("cycle", numbers(of, |it| Some(it.cycle))),
            ("kind", texts(of, |it| Some(it.kind))),
            ("me", numbers(of, |it| it.me)),
            ("context", numbers(of, |it| it.context)),
            ("pc", numbers(of, |it| it.pc)),
            ("port", numbers(of, |it| it.port)),
            ("frame", numbers(of, |it| it.frame)),
            ("bytes", numbers(of, |it| it.bytes)),
            ("other_cycle", numbers(of, |it| it.other_cycle)),
            ("address", numbers(of, |it| it.address)),
            ("value", numbers(of, |it| it.value)),
            ("name", texts(of, |it| it.name.as_deref())),
        ],
    )
}

/// A Python object with `wants`, the names of kinds of events, and `see_batch`.
#[derive(Debug)]
pub struct EventObserver {
    object: Arc<Py<PyAny>>,
    wants: EventKinds,
}

/// Collects the events of a router in batches and passes each to the object's method
/// `see_batch`.
#[derive(Debug)]
pub struct EventBatches {
    object: Arc<Py<PyAny>>,
    wants: EventKinds,
    /// Number of the router, from 1.
    router: u8,
    /// Number of requested events seen.
    seen: u64,
    events: Vec<(Cycle, TraceEvent)>,
    failed: bool,
}

impl EventObserver {
    /// Wraps such an object.
    pub fn new(observer: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut wants = EventKinds::NONE;
        let asked = observer.getattr("wants")?;
        let names: Vec<String> = match asked.extract() {
            Ok(one) => vec![one],
            Err(_) => asked
                .try_iter()?
                .map(|it| it?.extract())
                .collect::<PyResult<_>>()?,
        };
        for name in names {
            let found = KINDS.iter().find(|(known, _)| *known == name);
            let (_, kind) = found.ok_or_else(|| {
                let names = KINDS.map(|(name, _)| name).join(", ");
                mistake(
                    format!("there is no kind of events `{name}`"),
                    &format!("the observer's `wants` can have {names}"),
                )
            })?;
            wants = wants.and(EventKinds::of(&[*kind]));
        }
        if wants.is_empty() {
            return Err(mistake(
                "the observer's `wants` is empty, so that it would see nothing",
                "",
            ));
        }
        observer.getattr("see_batch")?;
        Ok(Self {
            object: Arc::new(observer.clone().unbind()),
            wants,
        })
    }

    /// Creates the collector for a router, numbered from 1.
    pub fn batches(&self, router: usize) -> EventBatches {
        EventBatches {
            object: Arc::clone(&self.object),
            wants: self.wants,
            router: u8::try_from(router).unwrap_or(u8::MAX),
            seen: 0,
            events: Vec::with_capacity(BATCH),
            failed: false,
        }
    }
}

impl EventBatches {
    fn give(&mut self) {
        if self.events.is_empty() || self.failed {
            return;
        }
        let events = std::mem::replace(&mut self.events, Vec::with_capacity(BATCH));
        let table = table(self.router, events);
        Python::attach(|py| {
            let table = Table(table.into());
            let called = self.object.call_method1(py, "see_batch", (table,));
            if let Err(raised) = called {
                self.failed = true;
                raise(py, raised);
            }
        });
    }

    /// Passes the last batch.
    pub fn finish(mut self) {
        self.give();
    }
}

impl Observer for EventBatches {
    fn wants(&self) -> EventKinds {
        self.wants
    }

    /// Time in which no requested event occurs may be skipped.
    fn visit_state(&mut self, _: Cycle, state: &mut RecurringState<'_>) -> bool {
        state.value(self.seen);
        true
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        if self.failed || !self.wants.has(event.kind()) {
            return;
        }
        self.events.push((at, *event));
        self.seen += 1;
        if self.events.len() == BATCH {
            self.give();
        }
    }
}
