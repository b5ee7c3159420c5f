//! The writers of a register or a longword, or the raisers of a signal: the last one, and those
//! before.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::fabric::TransferKind;
use npsim_chip::kernel::trace_event::{Cause, EventKinds, TraceEvent, TraceEventKind, Writer};
use npsim_image::{Image, TransferDirection as Side};
use npsim_inspect::Inspect;
use npsim_isa::{CONTEXTS, Operand, OperandRole};
use npsim_observe::names;

use crate::access::{Author, writes};
use crate::breakpoints::Edit;
use crate::debugger::Debugger;
use crate::error::DebugError;
use crate::expression::{Expression, Lvalue};
use crate::names::Memory;
use crate::register::PhysicalRegister;
use crate::search::{Candidate, CodePoint, Condition, Direction, SearchResult};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// An event, and the context that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributedEvent {
    /// The cycle of the event.
    pub cycle: Cycle,
    /// The point to go to: before the instruction, or after the action of a unit.
    pub moment: TimePoint,
    /// The context that caused it, if one did.
    pub place: Option<CodePoint>,
    /// The kind of event: `sram.write`, `instruction`, `mpacket`.
    pub what: String,
    /// The value after it, if there is one.
    pub value: Option<u64>,
}

/// An observed event.
struct ObservedEvent {
    what: String,
    /// Whether an instruction of the microengine caused it. Otherwise the chip did: all its events
    /// of a cycle share a stop after the cycle.
    instruction: bool,
    /// Whether the instruction writes the transfer register selected by `T_INDEX` in this cycle.
    indexed: bool,
}

/// Whether an instruction writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    Never,
    Always,
    /// Only if `T_INDEX` selects it.
    Indexed,
}

/// The writes of one location.
struct WriterSearch {
    location: Lvalue,
    thread: Thread,
    physical: Option<PhysicalRegister>,
    /// By context and address: whether the instruction writes the register.
    writers: Vec<Vec<Writes>>,
    /// The names of the core's tasks.
    tasks: Vec<&'static str>,
    /// The observed events; a candidate's mark is an index into this list.
    seen: Vec<ObservedEvent>,
}

impl WriterSearch {
    fn new(location: Lvalue, thread: Thread, image: &Image, tasks: Vec<&'static str>) -> Self {
        let physical = match location {
            Lvalue::Register(operand, side) => PhysicalRegister::of(operand, side, thread.context),
            _ => None,
        };
        let writes = |context: u8, pc: u16| {
            let uses = image.registers_used(pc);
            let mut written = uses.iter().filter(|it| it.point.after && !it.implied);
            // Data of a command is written when it arrives.
            let always = written.any(|it| {
                let own = PhysicalRegister::of(it.operand, it.side, context);
                own.is_some() && own == physical && it.side != Side::Read
            });
            match physical {
                _ if always => Writes::Always,
                Some(PhysicalRegister::Transfer(file, Side::Write, _))
                    if indexed_destination(image, pc) == Some(file) =>
                {
                    Writes::Indexed
                }
                _ => Writes::Never,
            }
        };
        let words = image.words.len() as u16;
        let of_context = |context| (0..words).map(|pc| writes(context, pc)).collect();
        let writers = match physical {
            Some(_) => (0..CONTEXTS).map(of_context).collect(),
            None => Vec::new(),
        };
        Self {
            location,
            thread,
            physical,
            writers,
            tasks,
            seen: Vec::new(),
        }
    }

    fn instruction(
        &mut self,
        at: Cycle,
        place: CodePoint,
        indexed: bool,
        candidates: &mut Vec<Candidate>,
    ) {
        let seen = ObservedEvent {
            what: "instruction".to_owned(),
            instruction: true,
            indexed,
        };
        self.push(TimePoint::of(at, place.me), seen, Some(place), candidates);
    }

    /// Adds an event of the chip in a cycle. Its effect is visible after the cycle, and so at a
    /// stop there.
    fn chip(
        &mut self,
        at: Cycle,
        what: String,
        place: Option<CodePoint>,
        candidates: &mut Vec<Candidate>,
    ) {
        let moment = TimePoint {
            cycle: at,
            rank: u8::MAX,
            instruction: None,
        };
        let seen = ObservedEvent {
            what,
            instruction: false,
            indexed: false,
        };
        self.push(moment, seen, place, candidates);
    }

    fn push(
        &mut self,
        moment: TimePoint,
        seen: ObservedEvent,
        place: Option<CodePoint>,
        candidates: &mut Vec<Candidate>,
    ) {
        candidates.push(Candidate {
            moment,
            mark: self.seen.len(),
            place,
        });
        self.seen.push(seen);
    }
}

impl Condition for WriterSearch {
    fn wants(&self) -> EventKinds {
        match self.location {
            Lvalue::Signal(_) => EventKinds::of(&[TraceEventKind::Signal]),
            Lvalue::Word(Memory::Local, _) => EventKinds::of(&[TraceEventKind::LocalMemory]),
            Lvalue::Word(..) => EventKinds::of(&[TraceEventKind::Written]),
            Lvalue::Register(..) => {
                EventKinds::of(&[TraceEventKind::Issued, TraceEventKind::Pushed])
            }
        }
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        match *event {
            TraceEvent::Signal {
                me,
                context,
                signals,
                cause,
            } => {
                let mine = (Thread { me, context }) == self.thread;
                if let Lvalue::Signal(number) = self.location
                    && mine
                    && signals >> number & 1 == 1
                {
                    let place = cause.place();
                    let place = place.map(|(me, context, pc)| CodePoint { me, context, pc });
                    self.chip(at, names::cause(cause), place, candidates);
                }
            }
            TraceEvent::LocalMemory {
                me,
                context,
                pc,
                word,
                write: true,
            } => {
                if let Lvalue::Word(Memory::Local, address) = self.location
                    && me == self.thread.me
                    && u32::from(word) == address / 4
                {
                    self.instruction(at, CodePoint { me, context, pc }, false, candidates);
                }
            }
            TraceEvent::Written {
                memory,
                address,
                words,
                by,
            } => {
                if let Lvalue::Word(own, longword) = self.location
                    && writes((memory, address, words), own, longword)
                {
                    let what = writer_text(by, &self.tasks);
                    self.chip(at, what, Author::Chip(by).place(), candidates);
                }
            }
            TraceEvent::Pushed {
                me,
                kind,
                register,
                words,
                cause,
            } => {
                if let Some(PhysicalRegister::Transfer(own, Side::Read, number)) = self.physical
                    && (me, kind) == (self.thread.me, own)
                    // The registers wrap around to the beginning of their file.
                    && number.wrapping_sub(register) & 127 < words
                {
                    let what = match cause {
                        Cause::Command { op, .. } => names::operation(op),
                        cause => names::cause(cause),
                    };
                    let place = cause.place();
                    let place = place.map(|(me, context, pc)| CodePoint { me, context, pc });
                    self.chip(at, what, place, candidates);
                }
            }
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } if me == self.thread.me => {
                for n in 0..count {
                    let pc = pc + n;
                    let writers = self.writers.get(usize::from(context));
                    let writes = writers.and_then(|it| it.get(usize::from(pc)));
                    if let Some(writes) = writes.filter(|it| **it != Writes::Never) {
                        let indexed = *writes == Writes::Indexed;
                        let place = CodePoint { me, context, pc };
                        self.instruction(at + Cycle::from(n), place, indexed, candidates);
                    }
                }
            }
            _ => {}
        }
    }

    fn must_judge(&self, candidate: &Candidate) -> bool {
        self.seen[candidate.mark].indexed
    }

    fn judge(&mut self, candidate: &Candidate, chip: Option<&Chip>) -> bool {
        let Some(chip) = chip else {
            return true;
        };
        let Some(PhysicalRegister::Transfer(.., number)) = self.physical else {
            return false;
        };
        let inspect = Inspect::new(chip);
        let view = inspect.microengine(self.thread.me);
        view.is_some_and(|view| view.transfer_index_at(candidate.moment.cycle) == Some(number))
    }
}

/// The file of the transfer register that an instruction writes through `T_INDEX`, if it does.
fn indexed_destination(image: &Image, pc: u16) -> Option<TransferKind> {
    let instruction = image.instruction(pc)?;
    let mut operands = instruction.register_operands();
    operands.find_map(|(role, operand)| match operand {
        Operand::SIndexed(_) if role == OperandRole::Dest => Some(TransferKind::S),
        Operand::DIndexed(_) if role == OperandRole::Dest => Some(TransferKind::D),
        _ => None,
    })
}

/// Describes the writer of a memory.
fn writer_text(by: Writer, tasks: &[&'static str]) -> String {
    match by {
        Writer::Command { op, .. } => names::operation(op),
        Writer::Task(task) => match tasks.get(usize::from(task)) {
            Some(name) => format!("task `{name}` of the core"),
            None => "a task of the core".to_owned(),
        },
    }
}

/// Describes a manual change.
fn hand_text() -> String {
    "the user, in the debugger".to_owned()
}

impl Debugger {
    fn tasks(&self) -> Vec<&'static str> {
        let tasks = self.chip().gpp().tasks().iter();
        tasks.map(|task| task.name()).collect()
    }

    /// Describes the author of a write, with its place.
    #[must_use]
    pub fn author_text(&self, author: Author) -> String {
        let what = match author {
            Author::Chip(by) => writer_text(by, &self.tasks()),
            Author::UserRequest => hand_text(),
        };
        match author.place() {
            Some(place) => format!("{what} by {}", self.place_text(place)),
            None => what,
        }
    }

    /// Finds the last writers of the location that an expression names, or raisers of the signal,
    /// at most `most`, latest first. If there are none, it has not changed since the beginning of
    /// the run.
    ///
    /// # Errors
    /// Returns an error if the expression does not name anything that is written, or names
    /// something whose writes are not recorded; or if the search was interrupted before it found
    /// one.
    pub fn who(
        &mut self,
        text: &str,
        thread: Thread,
        most: usize,
    ) -> Result<Vec<AttributedEvent>, DebugError> {
        let expression: Expression = text.parse()?;
        let scope = self.scope(thread);
        let location = expression.location(&scope)?;
        let bound = expression.bound(&scope)?;
        let image = self.image(thread.me).cloned().unwrap_or_default();
        let mut attributed = WriterSearch::new(location, thread, &image, self.tasks());
        if matches!(attributed.physical, Some(PhysicalRegister::Neighbour(_))) {
            return Err(DebugError::new(format!(
                "`{text}` is a next-neighbour register: what writes it is not recorded"
            ))
            .help("the microengine before this one writes it; set a breakpoint where it does"));
        }
        let is_signal = matches!(location, Lvalue::Signal(_));
        let start = self.timeline().moment();
        let edits = self.edits().iter();
        let edits = edits.filter(|it| it.is_of(location, thread) && it.cycle <= start.cycle);
        let edits: Vec<Edit> = edits.copied().collect();
        let mut by_hand = edits.clone();
        let mut found = Vec::new();
        let mut broken_off = None;
        while found.len() < most {
            let hits = match self.find(&mut attributed, Direction::Back, None) {
                SearchResult::Hit(hits) => hits,
                SearchResult::Nothing => break,
                SearchResult::Interrupted => {
                    broken_off = Some(self.timeline().moment().cycle);
                    break;
                }
            };
            let moment = hits[0].moment;
            let visible = moment.cycle + 1;
            while let Some(edit) = by_hand.pop_if(|it| it.cycle >= visible) {
                found.push(manual_event(&edit));
            }
            let value = if is_signal {
                None
            } else if let Some(edit) = edits.iter().find(|it| it.cycle == visible) {
                Some(edit.before.into())
            } else {
                self.timeline_mut().goto(visible);
                bound.value(&self.scope(thread)).ok()
            };
            for (nth, hit) in hits.iter().rev().enumerate() {
                let seen = &attributed.seen[hit.mark];
                found.push(AttributedEvent {
                    cycle: moment.cycle,
                    moment: if seen.instruction {
                        moment
                    } else {
                        TimePoint::before(visible)
                    },
                    place: hit.place,
                    what: seen.what.clone(),
                    // Of several writes in one cycle, only the last one's value is visible.
                    value: value.filter(|_| nth == 0),
                });
            }
            attributed.seen.clear();
            self.timeline_mut().goto_point(moment);
        }
        // After an interruption, only manual changes from the cycle that the search has reached are
        // reported.
        let known = broken_off.unwrap_or(0);
        let later = by_hand.iter().rev().filter(|it| it.cycle >= known);
        found.extend(later.map(manual_event));
        found.truncate(most);
        self.timeline_mut().goto_point(start);
        match broken_off {
            Some(cycle) if found.is_empty() => Err(DebugError::new(format!(
                "interrupted: from cycle {cycle} on nothing wrote or raised `{text}`; what was before is not known"
            ))),
            _ => Ok(found),
        }
    }
}

fn manual_event(edit: &Edit) -> AttributedEvent {
    AttributedEvent {
        cycle: edit.cycle,
        moment: TimePoint::before(edit.cycle),
        place: None,
        what: hand_text(),
        value: Some(edit.value.into()),
    }
}
