//! Effects of the atomic operations on a longword of SRAM.

use npsim_isa::CommandOp;

/// An atomic operation as the controller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atomic {
    /// Whether it takes an operand, pulled or carried in the command.
    pub operand: bool,
    /// Whether the old value is returned.
    pub returns: bool,
}

/// The shape of an operation; `None` if it is not atomic.
pub(super) const fn shape(op: CommandOp) -> Option<Atomic> {
    use CommandOp as Op;
    let (operand, returns) = match op {
        Op::SramSwap | Op::SramTestAndSet | Op::SramTestAndClr | Op::SramTestAndAdd => (true, true),
        Op::SramSet | Op::SramClr | Op::SramAdd => (true, false),
        Op::SramTestAndIncr | Op::SramTestAndDecr => (false, true),
        Op::SramIncr | Op::SramDecr => (false, false),
        _ => return None,
    };
    Some(Atomic { operand, returns })
}

/// The new value of the longword.
pub(super) const fn apply(op: CommandOp, old: u32, operand: u32) -> u32 {
    use CommandOp as Op;
    match op {
        Op::SramSwap => operand,
        Op::SramSet | Op::SramTestAndSet => old | operand,
        Op::SramClr | Op::SramTestAndClr => old & !operand,
        Op::SramAdd | Op::SramTestAndAdd => old.wrapping_add(operand),
        Op::SramIncr | Op::SramTestAndIncr => old.wrapping_add(1),
        Op::SramDecr | Op::SramTestAndDecr => old.wrapping_sub(1),
        _ => old,
    }
}
