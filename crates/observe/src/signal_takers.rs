//! Where programs take signals: by waiting for them, with a branch that tests them, or by reading
//! the CSR that contains the signals that have arrived.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_image::{FlowGraph, Image};
use npsim_isa::{Completion, Instruction, csr};

/// Where a program takes signals.
#[derive(Clone, Debug, Default)]
pub struct SignalTakers {
    flow: FlowGraph,
    tests: BTreeMap<u16, u16>,
    reads_of_others: bool,
}

impl SignalTakers {
    pub fn of(image: &Image) -> Self {
        let flow = FlowGraph::of(image);
        let tests = flow
            .addresses()
            .filter_map(|at| match *flow.instruction(at)? {
                Instruction::BranchSignal { signal, .. } => Some((at, 1 << (signal & 15))),
                Instruction::LocalCsrRead { csr } if csr == csr::ACTIVE_CTX_SIG_EVENTS => {
                    Some((at, u16::MAX))
                }
                _ => None,
            });
        let indirect = Instruction::LocalCsrRead {
            csr: csr::INDIRECT_CTX_SIG_EVENTS,
        };
        let mut addresses = flow.addresses();
        Self {
            tests: tests.collect(),
            reads_of_others: addresses.any(|at| flow.instruction(at) == Some(&indirect)),
            flow,
        }
    }

    /// Whether it tests signals.
    pub fn has_tests(&self) -> bool {
        !self.tests.is_empty()
    }

    /// The tests in a straight line of instructions: the cycle, counted from that of the first
    /// instruction, and the signals.
    pub fn tests(&self, first: u16, count: u16) -> impl Iterator<Item = (Cycle, u16)> {
        let tests = self.tests.range(first..first.saturating_add(count));
        tests.map(move |(at, signals)| (Cycle::from(at - first), *signals))
    }

    /// Whether it reads signals through the CSR that can refer to another context.
    pub fn reads_of_others(&self) -> bool {
        self.reads_of_others
    }

    /// The signals that a context waits for at the instruction with which it gave up the pipeline.
    pub fn awaited(&self, pc: u16) -> u16 {
        let Some(instruction) = self.flow.instruction(pc) else {
            return u16::MAX;
        };
        match (instruction, instruction.completion()) {
            // A mask held in a CSR is unknown.
            (Instruction::CtxArb(arb), _) if arb.keep_mask => u16::MAX,
            (Instruction::CtxArb(arb), _) => arb.mask,
            (_, Some(Completion::CtxSwap { signal, .. })) => 1 << (signal & 15),
            _ => u16::MAX,
        }
    }
}
