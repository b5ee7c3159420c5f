//! The observer that writes a timeline.

mod functions;
mod media;

use npsim_isa::{CONTEXTS, context_index};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use crate::context_span::ContextSpan;
use crate::packets::DropFinder;
use crate::series::OccupancyProbe;
use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::gpp::boot::CounterSetup;
use npsim_chip::kernel::fabric::{BusCommand, CommandId};
use npsim_chip::kernel::fault_injection::Stall;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::target::CommandTarget;
use npsim_chip::kernel::trace_event::{
    Cause, ContextState, EventKinds, Holder, Level, LockStep, RingName, TraceEvent, TraceEventKind,
};
use npsim_chip::watch::Sampler;
use npsim_image::Image;

use self::functions::ProgramLane;
use super::journeys::Journeys;
use super::tracks::{Track, TrackGroup};
use super::writer::{ChipPart, Titles, Writer, quoted};
use crate::names;

/// What has happened to a context in its present state.
#[derive(Clone, Copy, Debug, Default)]
struct StateProgress {
    /// Instructions issued.
    issued: u64,
    /// The cycle after the last of them.
    issued_to: Cycle,
    /// The cause of the last signal.
    came: Option<Cause>,
}

/// What is known about a microengine.
#[derive(Debug)]
struct MicroengineTrack {
    places: OriginTexts,
    waits: Waits,
    contexts: [ContextSpan<StateProgress>; CONTEXTS as usize],
}

/// The source locations of a program's words, quoted once as they are written repeatedly.
#[derive(Debug)]
struct OriginTexts {
    image: Arc<Image>,
    /// The texts; `None` if not yet requested.
    known: Vec<Option<Box<[u8]>>>,
}

impl OriginTexts {
    fn of(&mut self, pc: u16) -> &[u8] {
        let at = usize::from(pc);
        if at >= self.known.len() {
            self.known.resize(at + 1, None);
        }
        let image = &self.image;
        self.known[at].get_or_insert_with(|| quoted(&image.place(pc)))
    }
}

/// Descriptions of what contexts of a program wait for, by signals, whether any one of them is
/// enough, and the waiting instruction.
#[derive(Debug)]
struct Waits {
    image: Arc<Image>,
    known: BTreeMap<(u16, bool, u16), String>,
}

impl Waits {
    fn of(&mut self, signals: u16, any: bool, pc: u16) -> &str {
        let image = &self.image;
        let name = || format!("waits for {}", names::signals(image, signals, any, pc));
        self.known.entry((signals, any, pc)).or_insert_with(name)
    }
}

/// What is known about a lock.
#[derive(Clone, Copy, Debug, Default)]
struct LockNow {
    /// The cycle at which it was taken or released, if observed.
    since: Option<Cycle>,
    /// The holder; `None` while the lock is free.
    holder: Option<Holder>,
}

/// An observer that writes the events in a window of time.
#[derive(Debug)]
pub struct Recorder<W> {
    writer: Writer<W>,
    journeys: Journeys,
    microengines: Vec<MicroengineTrack>,
    locks: Vec<LockNow>,
    /// The names of the core's tasks.
    tasks: Vec<&'static str>,
    /// Programs of the core.
    programs: Vec<ProgramLane>,
    /// Commands that wait at their units, with the first cycle of the wait.
    waiting: Vec<Option<(CommandTarget, Cycle)>>,
    /// The number of waiting commands by target, and the name of that counter.
    depths: Vec<(i64, String)>,
    rbuf: u64,
    tbuf: u64,
    /// The project's names of its rings and queues.
    rings: Vec<OccupancyProbe>,
    /// The names of those seen so far.
    ring_names: BTreeMap<RingName, String>,
    /// Contexts that are deliberately stalled, by time.
    stalls: Vec<Stall>,
    /// Identifies packets dropped by microcode.
    drops: DropFinder,
    /// The project's counters.
    counters: Vec<CounterSetup>,
    /// Whether the window is over.
    past: bool,
}

impl<W: Write> Recorder<W> {
    /// A recorder of a chip from now on, within the window of cycles. `name` is
    /// the title of the run.
    #[must_use]
    pub fn new(out: W, name: &str, chip: &Chip, window: (Cycle, Cycle)) -> Self {
        let now = chip.now();
        let mut locks: Vec<_> = chip.locks().collect();
        locks.sort_by_key(|lock| lock.index);
        let locks: Vec<_> = locks.into_iter().map(|lock| lock.name.clone()).collect();
        let microengines = chip
            .microengines()
            .iter()
            .map(|me| {
                // Viewers cut long names in the middle; the folder matters least.
                let name = &me.program().image().name;
                let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
                format!("microengine {} {file}", me.index())
            })
            .collect();
        let hertz = chip.profile().me_mhz() * 1_000_000;
        let programs = ProgramLane::all(chip.gpp().tasks(), now);
        let disturbances = chip.disturbances();
        let mut stalls = disturbances.stalls.clone();
        stalls.sort_by_key(|stall| stall.from);
        Self {
            locks: vec![LockNow::default(); locks.len()],
            tasks: chip.gpp().tasks().iter().map(|task| task.name()).collect(),
            writer: Writer::new(
                out,
                name,
                hertz,
                window,
                Titles {
                    microengines,
                    locks,
                    tasks: chip.gpp().tasks().iter().map(|task| task.name()).collect(),
                    programs: programs.iter().map(|it| (it.task, it.title())).collect(),
                    flows: Vec::new(),
                    disturbed: (!disturbances.is_none()).then(|| disturbances.lines().join("; ")),
                },
            ),
            journeys: Journeys::default(),
            microengines: chip
                .microengines()
                .iter()
                .map(|me| MicroengineTrack {
                    places: OriginTexts {
                        image: Arc::clone(me.program().image()),
                        known: Vec::new(),
                    },
                    waits: Waits {
                        image: Arc::clone(me.program().image()),
                        known: BTreeMap::new(),
                    },
                    contexts: ContextSpan::all(&**me, now),
                })
                .collect(),
            programs,
            waiting: Vec::new(),
            depths: Vec::new(),
            rbuf: 0,
            tbuf: 0,
            rings: Vec::new(),
            ring_names: BTreeMap::new(),
            past: false,
            stalls,
            drops: DropFinder::new(chip),
            counters: chip.gpp().counters().to_vec(),
        }
    }

    /// Makes this the recorder of one chip among several, which writes a part of a timeline.
    pub(super) fn of_part(mut self, part: ChipPart) -> Self {
        self.writer = self.writer.into_part(part);
        self
    }

    /// Flushes the text written so far and returns the output.
    pub(super) fn handed_on(&mut self) -> &mut W {
        self.writer.handed_on()
    }

    /// Shows the project's names of rings and queues, followed by the chip's
    /// own.
    #[must_use]
    pub fn with_ring_names(mut self, places: &[OccupancyProbe]) -> Self {
        self.rings = places.to_vec();
        self
    }

    /// The events that are needed after the window: those that end something
    /// that began in it. Everything else is neither shown nor part of what is
    /// shown.
    fn still_wanted(&self) -> EventKinds {
        let until = self.writer.until();
        // Frames stay in flight for long, some of them forever.
        let mut wanted = EventKinds::of(&[
            TraceEventKind::Arrives,
            TraceEventKind::Departed,
            TraceEventKind::Dropped,
        ]);
        for it in self.microengines.iter().flat_map(|it| &it.contexts) {
            if it.since >= until {
                continue;
            }
            wanted = wanted.and(match it.doing {
                ContextState::Inactive => EventKinds::NONE,
                ContextState::Ready | ContextState::Killed => {
                    EventKinds::of(&[TraceEventKind::Context])
                }
                ContextState::Executing => EventKinds::of(&[
                    TraceEventKind::Context,
                    TraceEventKind::Issued,
                    TraceEventKind::Stalled,
                ]),
                ContextState::Waiting { .. } => {
                    EventKinds::of(&[TraceEventKind::Context, TraceEventKind::Signal])
                }
            });
        }
        let programs = &mut self.programs.iter();
        if programs.any(|it| it.began_before(until)) {
            wanted = wanted.and(EventKinds::of(&[TraceEventKind::Function]));
        }
        let locks = &mut self.locks.iter();
        if locks.any(|it| it.since.is_some_and(|since| since < until)) {
            wanted = wanted.and(EventKinds::of(&[TraceEventKind::Lock]));
        }
        wanted
    }

    /// Writes what is still in progress at the end of the run, and returns the
    /// output.
    ///
    /// # Errors
    /// Returns the first error from writing.
    pub fn finish(mut self, end: Cycle) -> io::Result<W> {
        self.close(end);
        self.writer.finish()
    }

    /// Writes what is still in progress.
    fn close(&mut self, end: Cycle) {
        self.writer.cut(end);
        for me in 0..self.microengines.len() as u8 {
            for context in 0..CONTEXTS {
                self.context_ends(me, context, end, None);
            }
        }
        for program in 0..self.programs.len() {
            self.function_ends(program, end);
        }
        for lock in 0..self.locks.len() as u16 {
            self.lock_held(lock, end, None);
        }
        for stall in &self.stalls {
            let track = Track::Stalls(stall.me, stall.context % CONTEXTS);
            let time = (stall.from, stall.until);
            self.writer.slice(track, "stalled on purpose", time, |all| {
                all.number("from cycle", stall.from);
                all.number("until cycle", stall.until);
            });
        }
        if !self.past {
            for drop in self.drops.finish() {
                self.microcode_drops(&drop);
            }
        }
        std::mem::take(&mut self.journeys).finish(&mut self.writer);
    }

    /// Writes a context's present state, which ends at a cycle.
    fn context_ends(&mut self, me: u8, context: u8, until: Cycle, yielded_at: Option<u16>) {
        let Some(seen) = self.microengines.get_mut(usize::from(me)) else {
            return;
        };
        let it = seen.contexts[context_index(context)];
        if it.since >= until || !self.writer.overlaps(it.since, until) {
            return;
        }
        let places = &mut seen.places;
        let name = match it.doing {
            ContextState::Inactive => return,
            ContextState::Ready => "ready",
            ContextState::Executing => "executing",
            ContextState::Waiting { signals, any } => seen.waits.of(signals, any, it.pc),
            ContextState::Killed => "exited",
        };
        let track = Track::Context(me, context);
        let time = (it.since, until);
        self.writer.slice(track, name, time, |all| {
            all.number("pc", it.pc);
            all.quoted("at", places.of(it.pc));
            if it.doing == ContextState::Executing {
                // The last event may extend beyond the end of the run.
                let beyond = it.collected.issued_to.saturating_sub(until);
                all.number("instructions", it.collected.issued - beyond);
                if let Some(pc) = yielded_at {
                    all.quoted("yielded at", places.of(pc));
                }
            }
            if let (ContextState::Waiting { .. }, Some(cause)) = (it.doing, it.collected.came) {
                all.text("ended by", &names::cause(cause));
                if let Cause::Command { me: by, pc, .. } = cause
                    && by == me
                {
                    all.quoted("of the command at", places.of(pc));
                }
            }
            all.number("cycles", until - it.since);
        });
    }

    fn context_changes(&mut self, me: u8, context: u8, at: Cycle, doing: ContextState, pc: u16) {
        let yielded_at = (doing != ContextState::Executing).then_some(pc);
        self.context_ends(me, context, at, yielded_at);
        if let Some(seen) = self.microengines.get_mut(usize::from(me)) {
            seen.contexts[context_index(context)].change(at, doing, pc);
        }
    }

    fn stalled(&mut self, me: u8, context: u8, pc: u16, from: Cycle, until: Cycle) {
        self.context_ends(me, context, from, None);
        let Some(seen) = self.microengines.get_mut(usize::from(me)) else {
            return;
        };
        let it = &mut seen.contexts[context_index(context)];
        (it.since, it.pc, it.collected.issued) = (until, pc, 0);
        let places = &mut seen.places;
        let track = Track::Context(me, context);
        let name = "stalled on the command FIFO";
        self.writer.slice(track, name, (from, until), |all| {
            all.number("pc", pc);
            all.quoted("at", places.of(pc));
            all.number("cycles", until - from);
        });
    }

    fn queued(&mut self, target: CommandTarget, slot: CommandId, at: Cycle) {
        let place = slot.0 as usize;
        if self.waiting.len() <= place {
            self.waiting.resize(place + 1, None);
        }
        self.waiting[place] = Some((target, at));
        self.depth_changes(target, at, true);
    }

    /// Returns the cycle since which the command waited.
    fn leaves_queue(&mut self, slot: CommandId, at: Cycle) -> Option<Cycle> {
        let (target, since) = self.waiting.get_mut(slot.0 as usize)?.take()?;
        self.depth_changes(target, at, false);
        Some(since)
    }

    fn depth_changes(&mut self, target: CommandTarget, at: Cycle, more: bool) {
        let place = target.index();
        if self.depths.len() <= place {
            self.depths.resize_with(place + 1, Default::default);
        }
        let (depth, name) = &mut self.depths[place];
        *depth = if more {
            *depth + 1
        } else {
            (*depth - 1).max(0)
        };
        if self.writer.shows(at) {
            if name.is_empty() {
                *name = format!("{} queue", target.name());
            }
            self.writer.counter(TrackGroup::Units, name, at, *depth);
        }
    }

    fn served(
        &mut self,
        track: Track,
        (slot, command): (CommandId, &BusCommand),
        at: Cycle,
        (from, until): (Cycle, Cycle),
    ) {
        let since = self.leaves_queue(slot, at);
        if !self.writer.overlaps(from, until.max(from + 1)) {
            return;
        }
        let mut of = self.microengines.get_mut(usize::from(command.me));
        let name = command.op.info().name;
        self.writer.slice(track, name, (from, until), |all| {
            all.number("microengine", command.me);
            all.number("context", command.context);
            if let Some(seen) = &mut of {
                all.quoted("at", seen.places.of(command.pc));
            }
            all.text("address", &format!("0x{:x}", command.address));
            all.number("count", command.count);
            if let Some(since) = since {
                all.number("waited cycles", from.saturating_sub(since));
            }
        });
    }

    fn ring(&mut self, at: Cycle, ring: RingName, fill: u32) {
        if self.writer.shows(at) {
            let name = self.ring_names.entry(ring);
            let name = name.or_insert_with(|| names::ring_label(&self.rings, ring));
            self.writer
                .counter(TrackGroup::Rings, name, at, i64::from(fill));
        }
    }

    fn level(&mut self, at: Cycle, task: u16, group: u16, level: Level, value: i64) {
        if self.writer.shows(at) {
            let of = self.tasks.get(usize::from(task)).map_or("task", |it| it);
            let name = match group {
                0 => format!("{of}: {level}"),
                group => format!("{of} {group}: {level}"),
            };
            self.writer.counter(TrackGroup::Core, &name, at, value);
        }
    }

    fn lock(&mut self, at: Cycle, lock: u16, step: LockStep) {
        let now = match step {
            LockStep::Taken { by, handed_over } => {
                let before = self.locks.get(usize::from(lock));
                if let (true, Some(since)) = (handed_over, before.and_then(|it| it.since)) {
                    let track = Track::Lock(lock);
                    self.writer.slice(track, "handed over", (since, at), |all| {
                        all.number("cycles", at - since);
                    });
                }
                LockNow {
                    since: Some(at),
                    holder: Some(by),
                }
            }
            LockStep::Released { failed } => {
                self.lock_held(lock, at, Some(failed));
                LockNow {
                    since: Some(at),
                    holder: None,
                }
            }
        };
        if let Some(known) = self.locks.get_mut(usize::from(lock)) {
            *known = now;
        }
    }

    /// Writes the time for which a lock has been held, if it is held.
    fn lock_held(&mut self, lock: u16, until: Cycle, failed: Option<u64>) {
        let Some(&LockNow {
            since: Some(since),
            holder: Some(holder),
        }) = self.locks.get(usize::from(lock))
        else {
            return;
        };
        let name = match holder {
            Some((me, context)) => format!("held by microengine {me}, context {context}"),
            None => "held by the general-purpose core".to_owned(),
        };
        self.writer
            .slice(Track::Lock(lock), &name, (since, until), |all| {
                all.number("cycles", until - since);
                if let Some(failed) = failed {
                    all.number("failed tries", failed);
                }
            });
    }
}

impl Recorder<Vec<u8>> {
    /// Writes what is still in progress in a part, and returns the remaining text.
    pub(super) fn end(&mut self, end: Cycle) -> Vec<u8> {
        self.close(end);
        std::mem::take(self.writer.handed_on())
    }
}

impl<W: Write> Sampler for Recorder<W> {}

impl<W: Write> Observer for Recorder<W> {
    fn wants(&self) -> EventKinds {
        if !self.past {
            return EventKinds::all_except(&[
                TraceEventKind::Aborted,
                TraceEventKind::Held,
                TraceEventKind::LocalMemory,
                TraceEventKind::Pushed,
                TraceEventKind::Written,
                TraceEventKind::Exception,
            ]);
        }
        self.still_wanted()
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        if self.writer.shows(at) {
            return false;
        }
        state.time(&mut self.writer.from());
        for context in self.microengines.iter_mut().flat_map(|it| &mut it.contexts) {
            state.time(&mut context.since);
            state.value(u64::from(context.pc));
            state.count(&mut context.collected.issued);
            state.time(&mut context.collected.issued_to);
        }
        self.programs
            .iter_mut()
            .for_each(|it| it.visit_state(state));
        for lock in &mut self.locks {
            state.value(u64::from(lock.since.is_some()) << 1 | u64::from(lock.holder.is_some()));
            lock.since.iter_mut().for_each(|it| state.time(it));
        }
        for waiting in &mut self.waiting {
            state.value(u64::from(waiting.is_some()));
            for (_, since) in waiting.iter_mut() {
                state.time(since);
            }
        }
        for (depth, _) in &self.depths {
            state.value(depth.cast_unsigned());
        }
        state.value(self.rbuf);
        state.value(self.tbuf);
        state.value(u64::from(self.past));
        self.drops.visit_state(state);
        true
    }

    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        // No event with an earlier cycle follows.
        self.past |= at >= self.writer.until();
        if !self.past {
            for drop in self.drops.see(at, what) {
                self.microcode_drops(&drop);
            }
        }
        match *what {
            TraceEvent::Issued {
                me, context, count, ..
            } => {
                if let Some(seen) = self.microengines.get_mut(usize::from(me)) {
                    let context = &mut seen.contexts[context_index(context)].collected;
                    context.issued += u64::from(count);
                    context.issued_to = at + Cycle::from(count);
                }
            }
            TraceEvent::Context {
                me,
                context,
                doing,
                pc,
            } => self.context_changes(me, context, at, doing, pc),
            TraceEvent::Stalled {
                me,
                context,
                pc,
                from,
            } => self.stalled(me, context, pc, from, at),
            TraceEvent::Signal {
                me, context, cause, ..
            } => {
                if let Some(seen) = self.microengines.get_mut(usize::from(me)) {
                    seen.contexts[context_index(context)].collected.came = Some(cause);
                }
            }
            TraceEvent::Queued { target, slot, .. } => self.queued(target, slot, at),
            TraceEvent::Served {
                target,
                lane,
                slot,
                command,
                from,
                until,
            } => self.served(
                Track::Unit(target, lane),
                (slot, &command),
                at,
                (from, until),
            ),
            TraceEvent::Done { slot, .. } => {
                self.leaves_queue(slot, at);
            }
            TraceEvent::Bus { bus, from, until } => {
                self.writer
                    .slice(Track::Bus(bus), "taken", (from, until), |_| ());
            }
            TraceEvent::Ring { ring, fill } => self.ring(at, ring, fill),
            TraceEvent::Arrives {
                port,
                frame,
                bytes,
                until,
            } => self.arrives((at, until), port, frame, bytes),
            TraceEvent::Dropped {
                port,
                frame,
                reason,
            } => self.dropped(at, port, frame, reason),
            TraceEvent::Departed {
                port,
                frame,
                bytes,
                from,
            } => self.departed((from, at), port, frame, bytes),
            TraceEvent::Rbuf { frame, step, .. } => self.rbuf(at, frame, step),
            TraceEvent::Tbuf { frame, step, .. } => self.tbuf(at, frame, step),
            TraceEvent::Touched { frame, me, context } => {
                self.journeys.touch(frame, at, me, context);
            }
            TraceEvent::Gpp { task, step, until } => {
                self.writer
                    .slice(Track::Core(task), step, (at, until), |_| ());
            }
            TraceEvent::Level {
                task,
                group,
                level,
                value,
            } => self.level(at, task, group, level, value),
            TraceEvent::Function {
                task,
                doing,
                depth,
                function,
            } => self.function_changes(at, task, doing, (depth, function)),
            TraceEvent::Lock { lock, step } => self.lock(at, lock, step),
            TraceEvent::Aborted { .. }
            | TraceEvent::Held { .. }
            | TraceEvent::Command { .. }
            | TraceEvent::Stored { .. }
            | TraceEvent::BufferMoved { .. }
            | TraceEvent::Exception { .. }
            | TraceEvent::LocalMemory { .. }
            | TraceEvent::Pushed { .. }
            | TraceEvent::Written { .. } => {}
        }
    }
}
