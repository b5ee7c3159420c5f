//! The places at which a program requests something that raises a signal of its own context.

use npsim_isa::{Command, CommandOp, Completion, Instruction, Operand, csr, msf_csr};

use super::program::FlowProgram;

/// The places of instructions that request one of some signals: commands that name it. If there are
/// none and nothing `else_raises` it, instructions with the signal's number as data: writes that
/// set a timer's signal, and writes to the media interface that may put the context on a freelist.
pub(super) fn requests(program: &FlowProgram, signals: u16, else_raises: bool) -> Vec<String> {
    let places = |asks: &dyn Fn(&Instruction) -> bool| -> Vec<String> {
        let flow = &program.flow;
        let found = { flow.addresses() }.filter(|at| flow.instruction(*at).is_some_and(asks));
        found.map(|at| program.image.place(at)).collect()
    };
    let named = places(&|instruction| match instruction {
        Instruction::Command(command) => names(command) & signals != 0,
        _ => false,
    });
    if else_raises || !named.is_empty() {
        return named;
    }
    places(&|instruction| match instruction {
        Instruction::Command(command) => may_enlist(command),
        Instruction::LocalCsrWrite { csr, .. } => *csr == csr::ACTIVE_FUTURE_COUNT_SIGNAL,
        _ => false,
    })
}

/// The signals of which a command raises one or both: some commands raise a pair.
fn names(command: &Command) -> u16 {
    match command.completion {
        Completion::Silent => 0,
        Completion::SigDone(signal) | Completion::CtxSwap { signal, .. } => {
            1 << signal | 1 << (signal | 1)
        }
    }
}

/// Whether it may write one of `RX_THREAD_FREELIST_0` to `_2`: no operand shows that it is another
/// register.
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
