//! Which signals an instruction may raise in other contexts, and which instructions a
//! context may still come to.

use std::mem;
use std::ops::RangeInclusive;
use std::sync::Arc;

use npsim_image::{ContextMode, Image};
use npsim_isa::{
    CapAccess, Command, CommandOp, Completion, CtxArb, Flow, Instruction, Operand, OperandRole,
    cap_csr, csr,
};

use super::ALL_SIGNALS;
use crate::microengine::attention::csr_polls;
use crate::profile::Profile;

/// Signals that may reach contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Raise {
    /// Index of the microengine; any if it is not known.
    pub me: Option<u8>,
    /// Bit c: context c.
    pub contexts: u8,
    /// Bit s: signal s.
    pub signals: u16,
    /// Contexts that are disabled or have given up for good may go on, from anywhere.
    pub revives: bool,
}

impl Raise {
    /// Whether it is not known whom it means or which signal.
    pub fn is_computed(self) -> bool {
        self.me.is_none() || self.contexts.count_ones() > 1 || self.signals.count_ones() > 1
    }
}

/// Anything anywhere.
const ANYTHING: Raise = Raise {
    me: None,
    contexts: 0xff,
    signals: ALL_SIGNALS,
    revives: false,
};

/// Who executes an instruction, and where.
#[derive(Clone, Copy)]
pub(super) struct Among<'a> {
    pub profile: &'a Profile,
    pub me: u8,
    pub context: u8,
    /// Contexts have put others on a freelist, so that a write to the media interface may
    /// wake somebody else in the end.
    pub lists_others: bool,
    /// Commands have given their signals to other contexts than their own.
    pub signals_others: bool,
}

/// A program, decoded.
pub(super) struct Code {
    pub image: Arc<Image>,
    instructions: Vec<Option<Instruction>>,
}

impl Code {
    pub fn of(image: &Arc<Image>) -> Self {
        let all = 0..image.words.len() as u16;
        Self {
            instructions: all.map(|at| image.instruction(at)).collect(),
            image: image.clone(),
        }
    }

    /// The instruction at an address, if one is there.
    pub fn instruction(&self, at: u16) -> Option<Instruction> {
        *self.instructions.get(usize::from(at))?
    }

    /// All addresses.
    pub fn addresses(&self) -> impl Iterator<Item = u16> + use<> {
        0..self.instructions.len() as u16
    }
}

/// What the instruction at an address may raise in another context.
pub(super) fn of_instruction(code: &Code, at: u16, among: Among<'_>) -> Option<Raise> {
    match code.instruction(at)? {
        Instruction::LocalCsrWrite { csr, src } => of_csr(code, csr, src, among),
        Instruction::CapFastWrite { csr, data, .. } if csr == cap_csr::INTERTHREAD_SIGNAL => {
            of_interthread(u32::from(data), among.profile)
        }
        Instruction::CapCsr(access) => {
            let writes = !matches!(access.access, CapAccess::Read);
            (writes && access.csr == cap_csr::INTERTHREAD_SIGNAL).then_some(ANYTHING)
        }
        Instruction::Command(command) => of_command(&command, among),
        _ => None,
    }
}

fn of_csr(code: &Code, csr: u16, src: Operand, among: Among<'_>) -> Option<Raise> {
    let own = Some(among.me);
    let me = match csr {
        csr::SAME_ME_SIGNAL => own,
        csr::NEXT_NEIGHBOR_SIGNAL => among.me.checked_add(1),
        csr::PREV_NEIGHBOR_SIGNAL => among.me.checked_sub(1),
        // They change what others have or wait for, or arm timers of others.
        csr::CTX_ENABLES
        | csr::INDIRECT_CTX_STS
        | csr::INDIRECT_CTX_SIG_EVENTS
        | csr::INDIRECT_CTX_WAKEUP_EVENTS
        | csr::INDIRECT_CTX_FUTURE_COUNT
        | csr::INDIRECT_FUTURE_COUNT_SIGNAL => {
            let arms = [
                csr::INDIRECT_CTX_FUTURE_COUNT,
                csr::INDIRECT_FUTURE_COUNT_SIGNAL,
            ];
            return Some(Raise {
                me: own,
                revives: !arms.contains(&csr),
                ..ANYTHING
            });
        }
        _ => return None,
    };
    // A neighbour that is not there hears nothing.
    let me = me.filter(|&me| me < among.profile.microengines())?;
    let Some(value) = value_of(code, src) else {
        return Some(Raise {
            me: Some(me),
            ..ANYTHING
        });
    };
    let signals = 1u16 << (value >> 3 & 15) & ALL_SIGNALS;
    let contexts = if value & 0x80 == 0 {
        1 << (value & 7)
    } else {
        let step = if code.image.contexts == ContextMode::Four {
            2
        } else {
            1
        };
        1 << ((among.context + step) & 7)
    };
    Some(Raise {
        me: Some(me),
        contexts,
        signals,
        revives: false,
    })
}

fn of_interthread(value: u32, profile: &Profile) -> Option<Raise> {
    let me = profile.index_of((value >> 7 & 31) as u8)?;
    Some(Raise {
        me: Some(me),
        contexts: 1 << (value >> 4 & 7),
        signals: 1u16 << (value & 15) & ALL_SIGNALS,
        revives: false,
    })
}

fn of_command(command: &Command, among: Among<'_>) -> Option<Raise> {
    match command.op {
        // An address that is computed may be that of the signal register.
        CommandOp::CapWrite | CommandOp::CapReflectWrite | CommandOp::CapReflectRead => {
            Some(ANYTHING)
        }
        CommandOp::MsfWrite | CommandOp::MsfWrite64 | CommandOp::MsfFastWr
            if among.lists_others =>
        {
            Some(ANYTHING)
        }
        _ if command.indirect && among.signals_others => {
            let signal = match command.completion {
                Completion::Silent => return None,
                Completion::SigDone(signal) | Completion::CtxSwap { signal, .. } => signal,
            };
            // The override may name another context, and there may be a pair of signals.
            Some(Raise {
                signals: (1u16 << signal | 1u16 << (signal | 1)) & ALL_SIGNALS,
                ..ANYTHING
            })
        }
        _ => None,
    }
}

/// The value of an operand, if it is the same wherever the program runs.
fn value_of(code: &Code, operand: Operand) -> Option<u32> {
    if let Operand::Constant(value) = operand {
        return Some(u32::from(value));
    }
    operand.bank()?;
    // Whoever has no initial value of it is given one before it is read, or there is a
    // fault.
    let initial = code.image.initial_values.iter();
    let mut initial = initial.filter(|it| it.register == operand);
    let mut value = initial.next().map(|it| it.value);
    if initial.any(|it| Some(it.value) != value) {
        return None;
    }
    for at in code.addresses() {
        let Some(instruction) = code.instruction(at) else {
            continue;
        };
        let mut written = instruction.register_operands();
        if !written.any(|it| it == (OperandRole::Dest, operand)) {
            continue;
        }
        let reads_csr = at.checked_sub(1).is_some_and(|before| {
            let before = code.instruction(before);
            matches!(before, Some(Instruction::LocalCsrRead { .. }))
        });
        let Instruction::Immed {
            value: new,
            shift: npsim_isa::ImmedShift::None,
            invert: false,
            ..
        } = instruction
        else {
            return None;
        };
        if reads_csr || value.is_some_and(|value| value != u32::from(new)) {
            return None;
        }
        value = Some(u32::from(new));
    }
    value
}

/// The addresses that a context may come to from some on, ascending.
pub(super) fn reachable(code: &Code, context: u8, from: RangeInclusive<u16>) -> Vec<u16> {
    reachable_by(code, context, from, |_| true)
}

/// The same by way of instructions of a kind alone; a computed jump may lead anywhere.
pub(super) fn reachable_by(
    code: &Code,
    context: u8,
    from: RangeInclusive<u16>,
    kind: impl Fn(&Instruction) -> bool,
) -> Vec<u16> {
    let mut seen = vec![false; code.instructions.len()];
    // Executed with the instruction before them, they lead nowhere themselves.
    let mut slots = Vec::new();
    let mut open: Vec<u16> = from.collect();
    while let Some(at) = open.pop() {
        let Some(instruction) = code.instruction(at) else {
            continue;
        };
        if !kind(&instruction) || mem::replace(&mut seen[usize::from(at)], true) {
            continue;
        }
        let next = at + 1;
        let behind = next + u16::from(instruction.defer());
        let own_branch = match instruction {
            Instruction::BranchCtx {
                equal,
                context: number,
                ..
            } => Some(equal == (number == context)),
            _ => None,
        };
        match instruction.form().flow {
            Flow::Next | Flow::Command => open.push(next),
            Flow::State if own_branch == Some(false) => open.push(next),
            Flow::State if own_branch == Some(true) => {
                slots.extend(next..behind);
                open.extend(instruction.target());
            }
            Flow::Codes | Flow::Bit | Flow::State => {
                open.push(next);
                open.extend(instruction.target());
            }
            Flow::Branch => {
                slots.extend(next..behind);
                open.extend(instruction.target());
            }
            Flow::Jump => {
                let all = code.addresses();
                let known = |at: &u16| code.instruction(*at).is_some_and(|it| kind(&it));
                return all.filter(known).collect();
            }
            Flow::Arbitration => {
                slots.extend(next..behind);
                if let Instruction::CtxArb(arb) = instruction
                    && !arb.breakpoint
                    && !gives_up(&arb)
                {
                    open.push(arb.resume.unwrap_or(behind));
                }
            }
        }
    }
    for at in slots {
        if let Some(seen) = seen.get_mut(usize::from(at)) {
            *seen = true;
        }
    }
    let all = code.addresses();
    all.filter(|at| seen[usize::from(*at)]).collect()
}

/// Whether a `ctx_arb` gives up for good.
fn gives_up(arb: &CtxArb) -> bool {
    arb.any && arb.mask == 0 && !arb.keep_mask
}

/// Whether a context that executes it is not held to be in an endless loop: it gives up
/// the pipeline or may, or reads what changes without it.
pub(super) fn looks(instruction: &Instruction) -> bool {
    match *instruction {
        Instruction::LocalCsrRead { csr } => {
            let clocks = [csr::TIMESTAMP_LOW, csr::TIMESTAMP_HIGH, csr::PROFILE_COUNT];
            clocks.contains(&csr) || csr_polls(csr, false)
        }
        Instruction::LocalCsrWrite { csr, .. } => csr_polls(csr, true),
        Instruction::CapFastWrite { .. } | Instruction::CapCsr(_) => true,
        Instruction::BranchCtx { .. } => false,
        _ => {
            let nn =
                |operand| matches!(operand, Operand::Nn(_) | Operand::NnPeek | Operand::NnRing);
            matches!(
                instruction.form().flow,
                Flow::Command | Flow::Arbitration | Flow::State
            ) || instruction
                .register_operands()
                .any(|(_, operand)| nn(operand))
        }
    }
}
