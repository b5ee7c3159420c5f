//! Where programs take signals: by waiting for them, or with a branch that tests them.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_image::{FlowGraph, Image};
use npsim_isa::{Completion, Instruction};

/// Where a program takes signals.
#[derive(Clone, Debug, Default)]
pub struct SignalTakers {
    flow: FlowGraph,
    tests: BTreeMap<u16, u16>,
}

impl SignalTakers {
    pub fn of(image: &Image) -> Self {
        let flow = FlowGraph::of(image);
        let tests = flow.addresses().filter_map(|at| {
            let Some(Instruction::BranchSignal { signal, .. }) = flow.instruction(at) else {
                return None;
            };
            Some((at, 1 << (signal & 15)))
        });
        Self {
            tests: tests.collect(),
            flow,
        }
    }

    /// Whether it tests signals with branches.
    pub fn has_tests(&self) -> bool {
        !self.tests.is_empty()
    }

    /// The cycles, counted from that of the first, at which instructions in line test signals,
    /// and which.
    pub fn tests(&self, first: u16, count: u16) -> impl Iterator<Item = (Cycle, u16)> {
        let tests = self.tests.range(first..first.saturating_add(count));
        tests.map(move |(at, signals)| (Cycle::from(at - first), *signals))
    }

    /// The signals that a context waits for behind the instruction with which it gave up the
    /// pipeline.
    pub fn awaited(&self, pc: u16) -> u16 {
        let Some(instruction) = self.flow.instruction(pc) else {
            return u16::MAX;
        };
        match (instruction, instruction.completion()) {
            // A mask that a CSR holds is not known.
            (Instruction::CtxArb(arb), _) if arb.keep_mask => u16::MAX,
            (Instruction::CtxArb(arb), _) => arb.mask,
            (_, Some(Completion::CtxSwap { signal, .. })) => 1 << (signal & 15),
            _ => u16::MAX,
        }
    }
}
