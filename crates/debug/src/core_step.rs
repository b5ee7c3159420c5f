//! Steps of the core's program by lines, as conditions of a search.
//!
//! What the program does is looked at instruction by instruction. Functions that a line calls are left out where the step goes over
//! them: forward from the instruction at which a function begins with the link register behind the one before, to where that
//! leads; backward from where a function returns to, to the call before that. Interrupts are left out in any case.

use std::ops::Range;
use std::sync::Arc;

use npsim_arm::status::T;
use npsim_chip::chip::Chip;
use npsim_xscale::{Frame, LineRow, Noted, Pass, Probe, Setup};

use crate::core::CoreView;
use crate::search::{Candidate, Condition, STEP};
use crate::timeline::TimePoint;

/// The bits of the status that say the mode.
const MODE: u32 = 0x1f;

/// An instruction that the program makes.
#[derive(Clone, Copy, Debug)]
struct Made {
    /// When; of the one at which the step begins it does not matter.
    moment: Option<TimePoint>,
    address: u32,
    frame: Frame,
}

impl Made {
    /// Bytes of an instruction in the state that the processor is in here. BL of Thumb is two instructions.
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
    /// Where the step begins.
    from: Made,
    /// The instruction that was looked at last.
    last: Made,
    /// Instructions up to one of which others are left out, and the stack pointer there.
    until: Option<(Range<u32>, u32)>,
    /// What a stretch had, in order.
    seen: Vec<Made>,
}

impl CoreLines {
    /// From where the core stands; into functions that are called or over them.
    pub fn new(core: &CoreView<'_>, into: bool, back: bool) -> Self {
        let cpu = core.cpu();
        let from = Made {
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

    /// Whether there are lines to step by.
    pub fn has_lines(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The line that an instruction belongs to.
    fn line(&self, made: Made) -> Option<(&str, u32)> {
        let behind = self.rows.partition_point(|it| it.address <= made.address);
        let row = self.rows[..behind].last()?;
        (made.address - row.address < row.bytes).then_some((row.file.as_str(), row.line))
    }

    /// Whether an instruction is within a function that is left out.
    fn is_within(&mut self, made: Made) -> bool {
        let Some((ends, stack)) = &self.until else {
            return false;
        };
        if ends.contains(&made.address) && made.frame.stack == *stack {
            self.until = None;
        }
        self.until.is_some()
    }

    /// Looks at the next instruction, forward.
    fn forward(&mut self, made: Made, candidates: &mut Vec<Candidate>) {
        if self.is_within(made) {
            return;
        }
        let before = std::mem::replace(&mut self.last, made);
        let behind = before.address.wrapping_add(before.bytes());
        let program = &self.setup.program;
        if !self.into && made.frame.link & !1 == behind && program.begins_function(made.address) {
            // The switch helpers of Thumb compilers return to a case of their caller, not behind the call.
            let caller = program.span(before.address);
            let ends = if caller.contains(&made.address) {
                behind..behind.saturating_add(1)
            } else {
                caller
            };
            self.until = Some((ends, before.frame.stack));
            return;
        }
        // Code without lines is passed through.
        let line = self.line(made);
        if line.is_some() && line != self.line(self.from) {
            candidates.extend(candidate(made));
        }
    }

    /// Looks at the instruction before, backward.
    fn backward(&mut self, made: Made, candidates: &mut Vec<Candidate>) {
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

fn candidate(made: Made) -> Option<Candidate> {
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

    fn pass(&mut self, pass: &Pass, candidates: &mut Vec<Candidate>) {
        let Noted::Instruction(address) = pass.what else {
            return;
        };
        let made = Made {
            moment: Some(TimePoint::of_core(pass.cycle, pass.number)),
            address,
            frame: pass.frame,
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
