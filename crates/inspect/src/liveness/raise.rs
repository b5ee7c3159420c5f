//! The signals that an instruction may raise for other contexts.

use npsim_isa::{
    CapAccess, Command, CommandOp, Completion, Context, ContextSet, Instruction, Operand,
    OperandRole, cap_csr, csr,
};
use npsim_profile::Profile;

use super::program::FlowProgram;

/// Signals 1 to 15.
pub(super) const ALL_SIGNALS: u16 = 0xfffe;

/// Signals that may reach contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Raise {
    /// Index of the microengine; `None` if unknown, which means any.
    pub me: Option<u8>,
    pub contexts: ContextSet,
    /// Bit s: signal s.
    pub signals: u16,
    /// Whether contexts that are disabled or have exited may resume, at any address.
    pub revives: bool,
}

impl Raise {
    /// Whether the signals may reach a context.
    pub fn reaches(self, me: u8, context: u8) -> bool {
        self.me.is_none_or(|it| it == me) && self.contexts.contains(Context::wrapping(context))
    }

    /// Whether its receiver or its signal is computed at run time.
    pub fn is_computed(self) -> bool {
        self.me.is_none() || self.contexts.len() > 1 || self.signals.count_ones() > 1
    }
}

/// Any signal to any context.
const ANYTHING: Raise = Raise {
    me: None,
    contexts: ContextSet::ALL,
    signals: ALL_SIGNALS,
    revives: false,
};

/// The context that executes an instruction, and what the chip's contexts have done.
#[derive(Clone, Copy)]
pub(super) struct Issuer<'a> {
    pub profile: &'a Profile,
    pub me: u8,
    pub context: u8,
    /// Whether contexts have put others on a freelist, so that a write to the media interface may
    /// eventually wake another context.
    pub lists_others: bool,
    /// Whether commands have given their signals to contexts other than their own.
    pub signals_others: bool,
}

/// What the instruction at an address may raise for another context.
pub(super) fn raise_at(program: &FlowProgram, at: u16, issuer: Issuer<'_>) -> Option<Raise> {
    match *program.flow.instruction(at)? {
        Instruction::LocalCsrWrite { csr, src } => of_csr(program, csr, src, issuer),
        Instruction::CapFastWrite { csr, data, .. } if csr == cap_csr::INTERTHREAD_SIGNAL => {
            of_interthread(u32::from(data), issuer.profile)
        }
        Instruction::CapCsr(access) => {
            let writes = !matches!(access.access, CapAccess::Read);
            (writes && access.csr == cap_csr::INTERTHREAD_SIGNAL).then_some(ANYTHING)
        }
        Instruction::Command(command) => of_command(&command, issuer),
        _ => None,
    }
}

fn of_csr(program: &FlowProgram, csr: u16, src: Operand, issuer: Issuer<'_>) -> Option<Raise> {
    let own = Some(issuer.me);
    let me = match csr {
        csr::SAME_ME_SIGNAL => own,
        csr::NEXT_NEIGHBOR_SIGNAL => issuer.me.checked_add(1),
        csr::PREV_NEIGHBOR_SIGNAL => issuer.me.checked_sub(1),
        // These CSRs change the signals or the wait of other contexts, or arm their timers.
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
    // Signals to a neighbour that does not exist are lost.
    let me = me.filter(|&me| me < issuer.profile.microengines())?;
    let Some(value) = value_of(program, src) else {
        return Some(Raise {
            me: Some(me),
            ..ANYTHING
        });
    };
    let signals = 1u16 << (value >> 3 & 15) & ALL_SIGNALS;
    let context = if value & 0x80 == 0 {
        Context::wrapping(value as u8)
    } else {
        program
            .image
            .contexts
            .next(Context::wrapping(issuer.context))
    };
    Some(Raise {
        me: Some(me),
        contexts: context.into(),
        signals,
        revives: false,
    })
}

fn of_interthread(value: u32, profile: &Profile) -> Option<Raise> {
    let me = profile.index_of((value >> 7 & 31) as u8)?;
    Some(Raise {
        me: Some(me),
        contexts: Context::wrapping((value >> 4) as u8).into(),
        signals: 1u16 << (value & 15) & ALL_SIGNALS,
        revives: false,
    })
}

fn of_command(command: &Command, issuer: Issuer<'_>) -> Option<Raise> {
    match command.op {
        // A computed address may be that of the signal register.
        CommandOp::CapWrite | CommandOp::CapReflectWrite | CommandOp::CapReflectRead => {
            Some(ANYTHING)
        }
        CommandOp::MsfWrite | CommandOp::MsfWrite64 | CommandOp::MsfFastWr
            if issuer.lists_others =>
        {
            Some(ANYTHING)
        }
        _ if command.indirect && issuer.signals_others => {
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

/// The value of an operand, if it is the same throughout the program: a constant, or a
/// general-purpose register whose initial values and `immed` instructions all agree. Anything else
/// that writes the register makes it unknown.
///
/// An `immed` directly after a `local_csr_rd` loads the CSR, not its constant
/// (`isa/mnemonics.toml`), so one of these makes the register unknown too.
fn value_of(program: &FlowProgram, operand: Operand) -> Option<u32> {
    if let Operand::Constant(value) = operand {
        return Some(u32::from(value));
    }
    operand.bank()?;
    // A context without an initial value for it writes it before reading it, or else there is a
    // fault.
    let initial = program.image.initial_values.iter();
    let mut initial = initial.filter(|it| it.register == operand);
    let mut value = initial.next().map(|it| it.value);
    if initial.any(|it| Some(it.value) != value) {
        return None;
    }
    for at in program.flow.addresses() {
        let Some(instruction) = program.flow.instruction(at) else {
            continue;
        };
        let mut written = instruction.register_operands();
        if !written.any(|it| it == (OperandRole::Dest, operand)) {
            continue;
        }
        let reads_csr = at.checked_sub(1).is_some_and(|before| {
            let before = program.flow.instruction(before);
            matches!(before, Some(Instruction::LocalCsrRead { .. }))
        });
        let Instruction::Immed {
            value: new,
            shift: npsim_isa::ImmedShift::None,
            invert: false,
            ..
        } = *instruction
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
