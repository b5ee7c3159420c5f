//! What of an instruction keeps its operation from the interpreter's loop, or lets it wait.

use npsim_isa::{Instruction, Operand, csr};

use super::operation::Special;
use super::predecode::Maker;

/// Reads or writes of a local CSR that must happen in global order: others
/// write the register, or its write reaches others or the event queue. Those that
/// [only send](super::sender::only_sends) need not where they send to a later cycle.
pub(crate) fn csr_polls(address: u16, write: bool) -> bool {
    match address {
        csr::INDIRECT_CTX_STS
        | csr::INDIRECT_CTX_SIG_EVENTS
        | csr::ACTIVE_CTX_SIG_EVENTS
        | csr::INDIRECT_CTX_WAKEUP_EVENTS
        | csr::ACTIVE_CTX_WAKEUP_EVENTS
        | csr::NN_PUT
        | csr::NN_GET => true,
        csr::CTX_ENABLES
        | csr::INDIRECT_CTX_FUTURE_COUNT
        | csr::ACTIVE_CTX_FUTURE_COUNT
        | csr::INDIRECT_FUTURE_COUNT_SIGNAL
        | csr::ACTIVE_FUTURE_COUNT_SIGNAL
        | csr::TIMESTAMP_LOW
        | csr::TIMESTAMP_HIGH
        | csr::NEXT_NEIGHBOR_SIGNAL
        | csr::PREV_NEIGHBOR_SIGNAL
        | csr::SAME_ME_SIGNAL => write,
        _ => false,
    }
}

impl Maker<'_> {
    /// Whether there are transfer registers among its operands.
    pub(super) fn has_transfers(&self) -> bool {
        let mut registers = self.side.reads.iter().chain([&self.side.dest]);
        registers.any(|it| matches!(it, Operand::STransfer(_) | Operand::DTransfer(_)))
    }

    /// Whether its special operands are all in local memory or there are transfer registers
    /// among them, and nothing else about it is special.
    pub(super) fn is_guarded(&mut self, instruction: &Instruction) -> bool {
        let transfers = self.has_transfers();
        let side = &mut self.side;
        let specials = [side.special_a, side.special_b, side.special_d];
        let indirect =
            matches!(instruction, Instruction::LdField { .. }) && instruction.shifts_indirectly();
        side.local = specials.iter().any(|it| *it != Special::None);
        side.steps = specials
            .iter()
            .any(|it| matches!(it, Special::LocalStep { .. }));
        (side.local || transfers)
            && specials.iter().all(|it| {
                matches!(
                    it,
                    Special::None | Special::Local { .. } | Special::LocalStep { .. }
                )
            })
            && !side.polls
            && !indirect
            && instruction.indexes_written().is_empty()
            && (self.op.kind.is_of_datapath() || self.op.kind.branches() && !side.local)
    }

    /// Whether its special operands are all on next-neighbour rings, and nothing else about it
    /// is special.
    pub(super) fn is_of_rings(&self, instruction: &Instruction) -> bool {
        let side = &self.side;
        let specials = [side.special_a, side.special_b, side.special_d];
        let registers = side.reads.iter().chain([&side.dest]);
        side.local
            && specials
                .iter()
                .all(|it| matches!(it, Special::None | Special::Ring { .. }))
            && !self.has_transfers()
            && !registers.clone().any(|it| matches!(it, Operand::Nn(_)))
            && !side.merges
            && !matches!(instruction, Instruction::LdField { .. })
            && instruction.indexes_written().is_empty()
            && self.op.kind.is_of_datapath()
    }
}
