//! The writers of a register or a longword, or the raisers of a signal: the last one, and those before.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::fabric::{BusCommand, TransferKind};
use npsim_chip::kernel::trace_event::{Kinds, TraceEvent, TraceEventKind};
use npsim_image::{Image, ProgramPoint, TransferDirection as Side};
use npsim_isa::{Bank, CONTEXTS, Context, Operand};
use npsim_observe::names;

use crate::access::{may_write_elsewhere, touches};
use crate::debugger::Debugger;
use crate::error::DebugError;
use crate::expression::{EvaluationScope, Expression, Lvalue};
use crate::names::{Memory, ProjectNames};
use crate::search::{Candidate, CodePoint, Condition, Direction, SearchResult};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// An event, and the context that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The cycle in which it was done.
    pub cycle: Cycle,
    /// A moment to go to: before the instruction, or after what a unit did.
    pub moment: TimePoint,
    /// The context that caused it, if one did.
    pub place: Option<CodePoint>,
    /// What was done: `sram.write`, `instruction`, `mpacket`.
    pub what: String,
    /// The value after it, if there is one.
    pub value: Option<u64>,
}

/// A register as the hardware numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PhysicalRegister {
    Gpr(Bank, u8),
    Transfer(TransferKind, Side, u8),
    Neighbour(u8),
}

impl PhysicalRegister {
    fn of(operand: Operand, side: Side, context: u8) -> Option<Self> {
        let own = |number: u8| Context::wrapping(context).absolute_register(number);
        Some(match operand {
            Operand::Gpr(bank, number) => Self::Gpr(bank, own(number)),
            Operand::GprAbsolute(bank, number) => Self::Gpr(bank, number),
            Operand::STransfer(number) => Self::Transfer(TransferKind::S, side, own(number)),
            Operand::DTransfer(number) => Self::Transfer(TransferKind::D, side, own(number)),
            Operand::Nn(number) => Self::Neighbour(number),
            _ => return None,
        })
    }
}

/// The mark of what was done; the two others look at a longword before and after.
const DONE: usize = 0;
const BEFORE: usize = 1;
const AFTER: usize = 2;

/// Writes of one place.
struct Deeds<'n> {
    location: Lvalue,
    thread: Thread,
    names: &'n ProjectNames,
    physical: Option<PhysicalRegister>,
    /// By context and address: the instruction writes the register.
    writers: Vec<Vec<bool>>,
    /// What was seen, by moment.
    what: Vec<(TimePoint, String)>,
    before: Option<u32>,
}

impl<'n> Deeds<'n> {
    fn new(location: Lvalue, thread: Thread, image: &Image, names: &'n ProjectNames) -> Self {
        let physical = match location {
            Lvalue::Register(operand, side) => PhysicalRegister::of(operand, side, thread.context),
            _ => None,
        };
        let writes = |context: u8, pc: u16| {
            let uses = image.registers_used(pc);
            let mut written = uses.iter().filter(|it| it.point.after && !it.implied);
            // What a command brings is written when it comes.
            written.any(|it| {
                let own = PhysicalRegister::of(it.operand, it.side, context);
                own.is_some() && own == physical && it.side != Side::Read
            })
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
            names,
            physical,
            writers,
            what: Vec::new(),
            before: None,
        }
    }

    fn word(&self) -> Option<(Memory, u32)> {
        match self.location {
            Lvalue::Word(memory, address) => Some((memory, address)),
            _ => None,
        }
    }

    fn push(
        &mut self,
        moment: TimePoint,
        mark: usize,
        place: Option<CodePoint>,
        what: String,
        candidates: &mut Vec<Candidate>,
    ) {
        self.what.push((moment, what));
        candidates.push(Candidate {
            moment,
            mark,
            place,
        });
    }

    fn done(&mut self, at: Cycle, command: &BusCommand, candidates: &mut Vec<Candidate>) {
        let place = Some(CodePoint {
            me: command.me,
            context: command.context,
            pc: command.pc,
        });
        let what = || names::operation(command.op);
        if let Some((memory, address)) = self.word() {
            let writes = touches(command, memory, address).is_some_and(|it| it.writes);
            if writes {
                self.push(TimePoint::before(at + 1), DONE, place, what(), candidates);
            } else if may_write_elsewhere(command, memory) {
                self.push(
                    TimePoint::before(at),
                    BEFORE,
                    None,
                    String::new(),
                    candidates,
                );
                self.push(TimePoint::before(at + 1), AFTER, place, what(), candidates);
            }
        }
        if let Some(PhysicalRegister::Transfer(kind, Side::Read | Side::Both, number)) =
            self.physical
        {
            // The registers of a command wrap around to the beginning of their file.
            let words = command.op.info().push_words.of(u32::from(command.count));
            let within = u32::from(number.wrapping_sub(command.transfer) & 127) < words;
            if within && (command.transfer_me, command.transfer_kind) == (self.thread.me, kind) {
                self.push(TimePoint::before(at + 1), DONE, place, what(), candidates);
            }
        }
    }
}

impl Condition for Deeds<'_> {
    fn wants(&self) -> Kinds {
        match self.location {
            Lvalue::Signal(_) => Kinds::of(&[TraceEventKind::Signal]),
            Lvalue::Word(Memory::Local, _) => Kinds::of(&[TraceEventKind::LocalMemory]),
            Lvalue::Word(..) => Kinds::of(&[TraceEventKind::Done]),
            Lvalue::Register(..) => Kinds::of(&[TraceEventKind::Issued, TraceEventKind::Done]),
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
                    let what = names::cause(cause);
                    self.push(TimePoint::before(at + 1), DONE, place, what, candidates);
                }
            }
            TraceEvent::LocalMemory {
                me,
                context,
                pc,
                word,
                write: true,
            } => {
                if let Some((Memory::Local, address)) = self.word()
                    && me == self.thread.me
                    && u32::from(word) == address / 4
                {
                    let place = Some(CodePoint { me, context, pc });
                    let what = "instruction".to_owned();
                    self.push(TimePoint::of(at, me), DONE, place, what, candidates);
                }
            }
            TraceEvent::Done { ref command, .. } => self.done(at, command, candidates),
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } if me == self.thread.me => {
                for n in 0..count {
                    let pc = pc + n;
                    let writers = self.writers.get(usize::from(context));
                    if writers.and_then(|it| it.get(usize::from(pc))) == Some(&true) {
                        let place = Some(CodePoint { me, context, pc });
                        let moment = TimePoint::of(at + Cycle::from(n), me);
                        self.push(moment, DONE, place, "instruction".to_owned(), candidates);
                    }
                }
            }
            _ => {}
        }
    }

    fn must_judge(&self, candidate: &Candidate) -> bool {
        candidate.mark != DONE
    }

    fn judge(&mut self, candidate: &Candidate, chip: Option<&Chip>) -> bool {
        let (Some((memory, address)), Some(chip)) = (self.word(), chip) else {
            return candidate.mark == DONE;
        };
        let scope = EvaluationScope {
            chip,
            names: self.names,
            cycle: candidate.moment.cycle,
            me: self.thread.me,
            context: self.thread.context,
            point: ProgramPoint::before(0),
        };
        let now = scope.word(memory, address).ok();
        if candidate.mark == BEFORE {
            self.before = now;
            return false;
        }
        now != self.before
    }
}

impl Debugger {
    /// The commands that wrote the location of an expression, or raised the signal: at most `most`, the
    /// last before this moment first.
    ///
    /// # Errors
    /// The expression names nothing that is written.
    pub fn who(
        &mut self,
        text: &str,
        thread: Thread,
        most: usize,
    ) -> Result<Vec<Deed>, DebugError> {
        let expression: Expression = text.parse()?;
        let scope = self.scope(thread);
        let location = expression.location(&scope)?;
        let bound = expression.bound(&scope)?;
        let image = self.image(thread.me).cloned().unwrap_or_default();
        let names = self.names().clone();
        let mut deeds = Deeds::new(location, thread, &image, &names);
        let is_signal = matches!(deeds.location, Lvalue::Signal(_));
        let start = self.timeline().moment();
        let mut found = Vec::new();
        while found.len() < most {
            let SearchResult::Hit(hits) = self.find(&mut deeds, Direction::Back, None) else {
                break;
            };
            let hit = hits[hits.len() - 1];
            let what = deeds
                .what
                .iter()
                .rev()
                .find(|it| it.0 == hit.moment && !it.1.is_empty());
            let what = what.map(|it| it.1.clone()).unwrap_or_default();
            deeds.what.clear();
            let instruction = hit.moment.rank > 0;
            let after = hit.moment.cycle + u64::from(instruction);
            let value = if is_signal {
                None
            } else {
                self.timeline_mut().goto(after);
                bound.value(&self.scope(thread)).ok()
            };
            self.timeline_mut().goto_point(hit.moment);
            found.push(Deed {
                cycle: hit.moment.cycle - u64::from(!instruction),
                moment: hit.moment,
                place: hit.place,
                what,
                value,
            });
        }
        self.timeline_mut().goto_point(start);
        Ok(found)
    }
}
