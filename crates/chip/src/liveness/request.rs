//! Where a program asks for what raises a signal of its own context.

use npsim_isa::{Command, CommandOp, Completion, Instruction, Operand, csr, msf_csr};

use super::raise::Code;

/// The instructions that ask for one of some signals: commands that name it. Where there are
/// none and nobody `else_raises` it, those for which the number of a signal is data: writes that
/// set a timer's signal, and writes to the media interface that may put the context on a freelist.
pub(super) fn requests(code: &Code, signals: u16, else_raises: bool) -> Vec<u16> {
    let all = |asks: &dyn Fn(Instruction) -> bool| -> Vec<u16> {
        let addresses = code.addresses();
        let found = addresses.filter(|at| code.instruction(*at).is_some_and(asks));
        found.collect()
    };
    let named = all(&|instruction| match instruction {
        Instruction::Command(command) => names(&command) & signals != 0,
        _ => false,
    });
    if else_raises || !named.is_empty() {
        return named;
    }
    all(&|instruction| match instruction {
        Instruction::Command(command) => may_enlist(&command),
        Instruction::LocalCsrWrite { csr, .. } => csr == csr::ACTIVE_FUTURE_COUNT_SIGNAL,
        _ => false,
    })
}

/// The signals of which a command raises one or both: some raise a pair.
fn names(command: &Command) -> u16 {
    match command.completion {
        Completion::Silent => 0,
        Completion::SigDone(signal) | Completion::CtxSwap { signal, .. } => {
            1 << signal | 1 << (signal | 1)
        }
    }
}

/// Whether it may write one of `RX_THREAD_FREELIST_0` to `_2`: no operand says that it is
/// another register.
fn may_enlist(command: &Command) -> bool {
    let writes = matches!(
        command.op,
        CommandOp::MsfWrite | CommandOp::MsfWrite64 | CommandOp::MsfFastWr
    );
    let freelists = msf_csr::RX_THREAD_FREELIST_0..=msf_csr::RX_THREAD_FREELIST_2;
    let elsewhere = |operand| match operand {
        Operand::Constant(0) => false,
        Operand::Constant(value) => !freelists.contains(&(value as u16)),
        _ => false,
    };
    writes && !elsewhere(command.a) && !elsewhere(command.b)
}
