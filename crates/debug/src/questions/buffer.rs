//! Locates packet buffers and the holders of their handles.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::fabric::CommandId;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};
use npsim_inspect::Inspect;
use npsim_isa::CommandOp;
use npsim_observe::names;

use crate::debugger::Debugger;
use crate::names::{NamedRegister, Ring, live_at};
use crate::questions::AttributedEvent;
use crate::search::{Candidate, CodePoint, Condition, Direction, SearchResult};
use crate::timeline::TimePoint;

/// The bits of a handle that are the longword address of the buffer's descriptor.
const HANDLE: u32 = 0x00ff_ffff;

/// A holder of a buffer's handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandleHolder {
    /// A description of the holder.
    pub what: String,
    /// The context, if the handle is in a register.
    pub place: Option<CodePoint>,
}

/// A buffer and its holders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferView {
    /// The handle.
    pub handle: u32,
    /// The buffer's number, if the handle is that of a packet buffer.
    pub number: Option<usize>,
    /// The present holders of the handle.
    pub held: Vec<HandleHolder>,
    /// The last commands that carried the handle, latest first.
    pub carried: Vec<AttributedEvent>,
}

/// Commands that carry a handle to or from a ring or queue.
struct Carries {
    handle: u32,
    seen: Vec<(TimePoint, CommandOp)>,
}

impl Condition for Carries {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Done])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        use CommandOp as Op;
        let TraceEvent::Done { slot, command } = event else {
            return;
        };
        let carries = matches!(
            command.op,
            Op::SramEnqueue
                | Op::SramDequeue
                | Op::SramPut
                | Op::SramGet
                | Op::ScratchPut
                | Op::ScratchGet
        );
        if carries {
            // Before this cycle, the command and its data are still present.
            let moment = TimePoint::before(at);
            self.seen.push((moment, command.op));
            candidates.push(Candidate {
                moment,
                mark: slot.0 as usize,
                place: Some(CodePoint {
                    me: command.me,
                    context: command.context,
                    pc: command.pc,
                }),
            });
        }
    }

    fn must_judge(&self, _: &Candidate) -> bool {
        true
    }

    fn judge(&mut self, candidate: &Candidate, chip: Option<&Chip>) -> bool {
        let Some(chip) = chip else {
            return false;
        };
        let flight = chip.fabric().flight(CommandId(candidate.mark as u32));
        if flight.command.op == CommandOp::SramEnqueue {
            return flight.command.address & HANDLE == self.handle;
        }
        let words = &flight.data[..usize::from(flight.words).min(flight.data.len())];
        words.iter().any(|word| word & HANDLE == self.handle)
    }
}

impl Debugger {
    /// Finds the holders of a handle, and the last `most` commands that carried it.
    pub fn buffer(&mut self, handle: u32, most: usize) -> BufferView {
        let handle = handle & HANDLE;
        let buffers = self.chip().fabric().buffers.as_ref();
        let number = buffers.and_then(|it| it.number_of(handle));
        let held = self.held(handle);
        let start = self.timeline().moment();
        let mut carried = Vec::new();
        let mut carries = Carries {
            handle,
            seen: Vec::new(),
        };
        while carried.len() < most {
            let SearchResult::Hit(hits) = self.find(&mut carries, Direction::Back, None) else {
                break;
            };
            let hit = hits[hits.len() - 1];
            let op = carries.seen.iter().rev().find(|it| it.0 == hit.moment);
            let what = op.map_or_else(String::new, |it| names::operation(it.1));
            carries.seen.clear();
            carried.push(AttributedEvent {
                cycle: hit.moment.cycle,
                moment: hit.moment,
                place: hit.place,
                what,
                value: None,
            });
        }
        self.timeline_mut().goto_point(start);
        BufferView {
            handle,
            number,
            held,
            carried,
        }
    }

    fn held(&self, handle: u32) -> Vec<HandleHolder> {
        let inspect = Inspect::new(self.chip());
        let is = |word: &u32| word & HANDLE == handle;
        let mut held = Vec::new();
        let mut add = |what: String, place| held.push(HandleHolder { what, place });
        for ring in inspect.rings() {
            if let Some(at) = ring.words.iter().position(&is) {
                let name = self.names().ring_text(Ring::Scratch(ring.number));
                add(format!("on {name}, {at} longwords before it"), None);
            }
        }
        for queue in inspect.queues() {
            let (channel, entry) = (queue.channel, queue.entry);
            let name = self.names().ring_text(Ring::Queue { channel, entry });
            let buffers = queue.buffers.iter().flatten();
            if let Some(at) = buffers.into_iter().position(is) {
                add(format!("on {name}, {at} buffers before it"), None);
            }
        }
        for flight in inspect.flights() {
            let enqueue = flight.command.op == CommandOp::SramEnqueue;
            let address = enqueue && flight.command.address & HANDLE == handle;
            if address || flight.data.iter().any(is) {
                let command = &flight.command;
                let place = CodePoint {
                    me: command.me,
                    context: command.context,
                    pc: command.pc,
                };
                let what = names::operation(command.op);
                add(format!("{what}, {}", flight.location_text()), Some(place));
            }
        }
        for it in self.threads() {
            let Some(image) = self.image(it.thread.me) else {
                continue;
            };
            let scope = self.scope(it.thread);
            for named in live_at(image, scope.point) {
                if let NamedRegister::Register(symbol, side) = named
                    && let Ok(value) = scope.register(symbol.operand, side)
                    && is(&value)
                {
                    let place = CodePoint {
                        me: it.thread.me,
                        context: it.thread.context,
                        pc: it.pc,
                    };
                    add(format!("in `{}`", symbol.name), Some(place));
                }
            }
        }
        held
    }
}
