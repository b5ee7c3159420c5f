//! Core state exposed to debuggers and reports. Reading it changes nothing, and costs a core
//! nothing while it is not read.

use npsim_image::TransferDirection;
use npsim_isa::{CommandOp, Operand, Words};

use crate::Cycle;
use crate::kernel::fabric::{Fabric, TransferKind};

/// The owner of transfer registers: a command that will fill or empty them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferOwner {
    /// The command that will fill or empty them, or that put their thread on a receive freelist;
    /// `None` if another microengine did that, in which case the fields below have no meaning.
    pub op: Option<CommandOp>,
    /// The context that issued the command.
    pub context: u8,
    /// Address of the instruction that issued the command.
    pub pc: u16,
    /// The cycle at which the command was issued.
    pub issued: Cycle,
    /// The kind of transfer registers.
    pub kind: TransferKind,
    /// Whether the command fills registers of the IN side, rather than reading the OUT side.
    pub incoming: bool,
    /// The first register, 0 to 127.
    pub first: u8,
    /// The number of registers.
    pub words: u8,
}

impl TransferOwner {
    /// Whether the command put their thread on a receive freelist, so that the media interface
    /// fills them.
    #[must_use]
    pub fn is_on_freelist(&self) -> bool {
        let fills = |op: CommandOp| op.info().push_words != Words::Zero;
        self.incoming && self.op.is_some_and(|op| !fills(op))
    }
}

/// A microengine register whose writes by `local_csr_wr` take effect late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexName {
    /// `ACTIVE_LM_ADDR_0` or `_1`, in longwords.
    LocalMemory(u8),
    /// `T_INDEX`, as a register number.
    Transfer,
    /// `BYTE_INDEX`
    Byte,
}

/// A pending write to such a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexWrite {
    /// The register that is written.
    pub index: IndexName,
    /// The value written.
    pub value: u32,
    /// The cycle of the writing instruction.
    pub issued: Cycle,
    /// The first cycle at which an instruction sees the value.
    pub effective: Cycle,
}

/// Defer slots being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferSlots {
    /// Address of the instruction that the slots belong to.
    pub of: u16,
    /// The number of slots still to be executed, including the next instruction.
    pub left: u8,
    /// Address where the context continues after the last slot: immediately for a branch, or when
    /// it runs again for a `ctx_arb`. `None` if it continues after the slots.
    pub then: Option<u16>,
    /// Whether the context yields after the last slot.
    pub swaps: bool,
}

/// State that a core exposes. Registers are given as an instruction of a context names them,
/// together with the side of a transfer register: `Read` for IN, `Write` for OUT.
pub trait CoreProbe {
    /// The index of a context's register among the 128 of its file; `None` if the operand is not a
    /// register.
    fn number(&self, register: Operand, context: u8) -> Option<u8>;

    /// Whether a register has ever been written.
    fn initialised(&self, register: Operand, side: TransferDirection, context: u8) -> bool;

    /// The present owner of a transfer register.
    fn owner(
        &self,
        register: Operand,
        side: TransferDirection,
        context: u8,
    ) -> Option<TransferOwner>;

    /// The local memory pointers of a context, in longwords, without pending writes.
    fn pointers(&self, context: u8) -> [u32; 2];

    /// `T_INDEX`, as a register number.
    fn transfer_index(&self) -> u8;

    /// Pending writes of index registers, in issue order.
    fn index_writes(&self) -> Vec<IndexWrite>;

    /// The value that an instruction of the context would read from a local CSR, given by its
    /// address, at a cycle; `None` if there is no such CSR.
    fn local_csr(&self, csr: u16, context: u8, now: Cycle, fabric: &Fabric) -> Option<u32>;

    /// The signal of a context's timer and the cycle at which it fires, if the timer is armed.
    fn timer(&self, context: u8) -> Option<(u8, Cycle)>;

    /// The context that has the pipeline, or had it last.
    fn last(&self) -> u8;

    /// The defer slots being executed, if any.
    fn defer_slots(&self) -> Option<DeferSlots>;
}
