//! A program as one context runs it: its operands resolved to the context's own
//! registers, and how far it goes without a check.

use super::operation::{Kind, Op};
use super::registers::{RELATIVE, resolve};

/// The operations of one context.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    ops: Vec<Op>,
    /// For each address, how many plain operations follow one another from
    /// there: none of them branches, leaves the datapath or needs attention.
    runs: Vec<u16>,
}

impl Lane {
    /// A program's operations for the context whose first register is `base`.
    pub fn new(ops: &[Op], base: u16) -> Self {
        let own = |slot: u16| {
            if slot & RELATIVE == 0 {
                slot
            } else {
                resolve(slot, base) as u16
            }
        };
        let ops: Vec<_> = ops
            .iter()
            .map(|&op| Op {
                d: own(op.d),
                a: own(op.a),
                b: own(op.b),
                y: own(op.y),
                ..op
            })
            .collect();
        let mut lane = Self {
            runs: vec![0; ops.len()],
            ops,
        };
        for at in (0..lane.ops.len()).rev() {
            lane.measure(at);
        }
        lane
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    pub fn runs(&self) -> &[u16] {
        &self.runs
    }

    /// Whether the tight loop may get past an address.
    #[inline]
    pub fn is_tight(&self, at: u16) -> bool {
        let at = usize::from(at);
        self.runs.get(at).is_some_and(|&run| run != 0)
            || self
                .ops
                .get(at)
                .is_some_and(|op| op.kind != Kind::Outside && op.attention & Op::WATCHED == 0)
    }

    /// The operation needs no attention from now on.
    pub fn relieve(&mut self, at: usize) {
        self.ops[at].attention &= !Op::WATCHED;
        for at in (0..=at).rev() {
            if !self.measure(at) {
                break;
            }
        }
    }

    /// Which operations need attention, bit `at % 8` of byte `at / 8`; nothing
    /// when the lane is not open.
    pub fn watched(&self) -> Vec<u8> {
        let mut bits = vec![0; self.ops.len().div_ceil(8)];
        for (at, op) in self.ops.iter().enumerate() {
            if op.attention & Op::WATCHED != 0 {
                bits[at / 8] |= 1 << (at % 8);
            }
        }
        bits
    }

    /// Relieves what was relieved in the lane that gave `watched`.
    pub fn relieve_as(&mut self, watched: &[u8]) {
        for at in 0..self.ops.len() {
            let kept = watched
                .get(at / 8)
                .is_some_and(|byte| byte & 1 << (at % 8) != 0);
            if !kept && self.ops[at].attention & Op::WATCHED != 0 {
                self.relieve(at);
            }
        }
    }

    /// Counts the plain operations from an address; whether there are any.
    fn measure(&mut self, at: usize) -> bool {
        let op = &self.ops[at];
        let plain = op.attention == 0 && op.kind.is_of_datapath();
        let rest = self.runs.get(at + 1).copied().unwrap_or(0);
        self.runs[at] = if plain { rest + 1 } else { 0 };
        plain
    }
}
