//! Steps of the core's program by lines, as search conditions.
//!
//! The execution of the program is examined instruction by instruction. When stepping over calls,
//! the called functions are skipped: forward, from the instruction at which a function begins with
//! the link register just after the previous instruction, to the return; backward, from the return
//! of a function to the instruction before the call. Interrupts are always skipped.

use std::ops::Range;
use std::sync::Arc;

use npsim_arm::status::T;
use npsim_chip::chip::Chip;
use npsim_xscale::{Frame, LineRow, Probe, ProbeEvent, ProbeHit, Setup};

use crate::core::CoreView;
use crate::search::{Candidate, Condition, STEP};
use crate::timeline::TimePoint;

/// The mode bits of the status register.
const MODE: u32 = 0x1f;

/// An executed instruction of the program.
#[derive(Clone, Copy, Debug)]
struct ExecutedInstruction {
    /// The point in time; not needed for the instruction at which the step begins.
    moment: Option<TimePoint>,
    address: u32,
    frame: Frame,
}

impl ExecutedInstruction {
    /// The size of an instruction in the processor's present state, in bytes. A Thumb BL is two
    /// instructions.
    const fn bytes(self) -> u32 {
        if self.frame.status & T == 0 { 4 } else { 2 }
    }
}

/// Looks for the beginning of a line.
pub(crate) struct CoreLines {
    setup: Arc<Setup>,
    rows: Vec<LineRow>,
    into: bool,
    back: bool,
    /// The instruction at which the step begins.
    from: ExecutedInstruction,
    /// The last examined instruction.
    last: ExecutedInstruction,
    /// The end of the skipped function: instructions of which one ends it, and the stack pointer
    /// there.
    until: Option<(Range<u32>, u32)>,
    /// The instructions of a stretch, in order.
    seen: Vec<ExecutedInstruction>,
}

impl CoreLines {
    /// A step from the present position of the core, into called functions or over them.
    pub fn new(core: &CoreView<'_>, into: bool, back: bool) -> Self {
        let cpu = core.cpu();
        let from = ExecutedInstruction {
            moment: None,
            address: cpu.pc(),
            frame: Frame::of(cpu),
        };
        Self {
            setup: core.setup(),
            rows: core.rows(),
            into,
            back,
            from,
            last: from,
            until: None,
            seen: Vec::new(),
        }
    }

    /// Whether there is any line information to step by.
    pub fn has_lines(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The line that an instruction belongs to.
    fn line(&self, made: ExecutedInstruction) -> Option<(&str, u32)> {
        let behind = self.rows.partition_point(|it| it.address <= made.address);
        let row = self.rows[..behind].last()?;
        (made.address - row.address < row.bytes).then_some((row.file.as_str(), row.line))
    }

    /// Whether an instruction lies within a skipped function.
    fn is_within(&mut self, made: ExecutedInstruction) -> bool {
        let Some((ends, stack)) = &self.until else {
            return false;
        };
        if ends.contains(&made.address) && made.frame.stack == *stack {
            self.until = None;
        }
        self.until.is_some()
    }

    /// Examines the next instruction, forward.
    fn forward(&mut self, made: ExecutedInstruction, candidates: &mut Vec<Candidate>) {
        if self.is_within(made) {
            return;
        }
        let before = std::mem::replace(&mut self.last, made);
        let behind = before.address.wrapping_add(before.bytes());
        let program = &self.setup.program;
        if !self.into && made.frame.link & !1 == behind && program.begins_function(made.address) {
            // The switch helpers of Thumb compilers return to a case of their caller, not to the
            // instruction after the call.
            let caller = program.span(before.address);
            let ends = if caller.contains(&made.address) {
                behind..behind.saturating_add(1)
            } else {
                caller
            };
            self.until = Some((ends, before.frame.stack));
            return;
        }
        // Code without line information is passed through.
        let line = self.line(made);
        if line.is_some() && line != self.line(self.from) {
            candidates.extend(candidate(made));
        }
    }

    /// Examines the previous instruction, backward.
    fn backward(&mut self, made: ExecutedInstruction, candidates: &mut Vec<Candidate>) {
        if self.is_within(made) {
            return;
        }
        let later = self.last;
        let program = &self.setup.program;
        let returns = program.function(made.address) != program.function(later.address)
            && !program.begins_function(later.address);
        if !self.into && returns {
            self.until = Some((program.span(later.address), later.frame.stack));
            return;
        }
        let line = self.line(later);
        if line.is_some() && line != self.line(made) {
            candidates.extend(candidate(later));
        }
        self.last = made;
    }
}

fn candidate(made: ExecutedInstruction) -> Option<Candidate> {
    Some(Candidate {
        moment: made.moment?,
        mark: STEP,
        place: None,
    })
}

impl Condition for CoreLines {
    fn probes(&self, _: &Chip) -> Option<Probe> {
        Some(Probe {
            every: true,
            ..Probe::default()
        })
    }

    fn probe_hit(&mut self, hit: &ProbeHit, candidates: &mut Vec<Candidate>) {
        let ProbeEvent::Instruction(address) = hit.what else {
            return;
        };
        let made = ExecutedInstruction {
            moment: Some(TimePoint::of_core(hit.cycle, hit.number)),
            address,
            frame: hit.frame,
        };
        if (made.frame.status ^ self.from.frame.status) & MODE != 0 {
            return;
        }
        if self.back {
            self.seen.push(made);
        } else {
            self.forward(made, candidates);
        }
    }

    fn covered(&mut self, from: TimePoint, _: TimePoint, candidates: &mut Vec<Candidate>) {
        for made in std::mem::take(&mut self.seen).into_iter().rev() {
            self.backward(made, candidates);
        }
        if from == TimePoint::default() && self.back {
            candidates.extend(candidate(self.last));
        }
    }
}
