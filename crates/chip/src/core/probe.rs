//! What a core shows of its state to a debugger or a report. None of it
//! changes anything, and a core that is not asked pays nothing.

use npsim_image::TransferDirection;
use npsim_isa::{CommandOp, Operand, Words};

use crate::Cycle;
use crate::kernel::fabric::{Fabric, TransferKind};

/// The owner of transfer registers: a command that will fill or empty them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferOwner {
    /// The command that will fill or empty them, or that put their thread on a receive freelist;
    /// `None` where another microengine did that. The fields below say nothing then.
    pub op: Option<CommandOp>,
    /// The context that issued it.
    pub context: u8,
    /// The instruction that issued it.
    pub pc: u16,
    /// The cycle at which it was issued.
    pub issued: Cycle,
    /// Which registers.
    pub kind: TransferKind,
    /// The IN side, which it fills; else the OUT side.
    pub incoming: bool,
    /// The first of them, 0 to 127.
    pub first: u8,
    /// How many it has.
    pub words: u8,
}

impl TransferOwner {
    /// Whether the command put their thread on a receive freelist, and the media interface
    /// fills them.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        let fills = |op: CommandOp| op.info().push_words != Words::Zero;
        self.incoming && self.op.is_some_and(|op| !fills(op))
    }
}

/// A register of a microengine whose writes by `local_csr_wr` take effect late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexName {
    /// `ACTIVE_LM_ADDR_0` or `_1`, in longwords.
    LocalMemory(u8),
    /// `T_INDEX`, a register's number.
    Transfer,
    /// `BYTE_INDEX`
    Byte,
}

/// A write on its way to such a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexWrite {
    /// Where it goes.
    pub index: IndexName,
    /// What is written.
    pub value: u32,
    /// The cycle of the instruction that writes.
    pub issued: Cycle,
    /// The first cycle at which an instruction sees it.
    pub effective: Cycle,
}

/// Defer slots that are being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferSlots {
    /// The instruction whose slots they are.
    pub of: u16,
    /// How many are still to come, the next instruction included.
    pub left: u8,
    /// Where the context goes on after the last: behind a branch at once, after a
    /// `ctx_arb` when it runs again. None where it then goes on behind the slots.
    pub then: Option<u16>,
    /// The context yields after the last slot.
    pub swaps: bool,
}

/// What a core shows of its state. Registers are given as an instruction of a context
/// names them, with the side of a transfer register: `Read` for IN, `Write` for OUT.
pub trait CoreProbe {
    /// The number of a register among the 128 of its file, for a context; `None` for
    /// an operand that is no register.
    fn number(&self, register: Operand, context: u8) -> Option<u8>;

    /// Whether anything has ever been written to a register.
    fn initialised(&self, register: Operand, side: TransferDirection, context: u8) -> bool;

    /// The present owner of a transfer register.
    fn owner(
        &self,
        register: Operand,
        side: TransferDirection,
        context: u8,
    ) -> Option<TransferOwner>;

    /// The local memory pointers of a context, in longwords, without writes on their
    /// way.
    fn pointers(&self, context: u8) -> [u32; 2];

    /// `T_INDEX`, as a register's number.
    fn transfer_index(&self) -> u8;

    /// Writes of index registers on their way, in the order in which they were issued.
    fn index_writes(&self) -> Vec<IndexWrite>;

    /// A local CSR by its address, as an instruction of the context would read it at a cycle;
    /// `None` where there is none.
    fn local_csr(&self, csr: u16, context: u8, now: Cycle, fabric: &Fabric) -> Option<u32>;

    /// The signal of a context's timer and the cycle at which it comes, if it is armed.
    fn timer(&self, context: u8) -> Option<(u8, Cycle)>;

    /// The context that had the pipeline last, or has it.
    fn last(&self) -> u8;

    /// The defer slots that are being executed.
    fn defer_slots(&self) -> Option<DeferSlots>;
}
