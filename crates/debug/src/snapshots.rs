//! Snapshots of the past within a memory budget.

use npsim_chip::Cycle;
use npsim_session::node::NodeCopy;

/// Minimum size of a state besides its memories, in bytes.
const MIN_STATE_BYTES: usize = 256 << 10;

/// A state to start from.
#[derive(Debug)]
pub(crate) struct ReplicaState {
    pub node: NodeCopy,
    /// Whether the state cannot be reproduced by running from an earlier one.
    pub pinned: bool,
    /// Bytes that the state takes in addition to the previous one.
    bytes: usize,
}

impl ReplicaState {
    /// The cycle before which everything has happened.
    pub fn cycle(&self) -> Cycle {
        self.node.handled()
    }
}

/// Snapshots by their cycle, the first at cycle 0.
#[derive(Debug)]
pub(crate) struct Snapshots {
    kept: Vec<ReplicaState>,
    budget: usize,
    /// Size of a state without its memories, in bytes.
    body: usize,
    bytes: usize,
}

/// The budget is smaller than the minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{budget} bytes do not hold two states of this chip, which take {needed} bytes at the start"
)]
pub struct BudgetTooSmall {
    /// The given budget in bytes.
    pub budget: usize,
    /// The minimum in bytes.
    pub needed: usize,
}

impl Snapshots {
    /// The snapshots of a run, starting with one at cycle 0.
    pub fn new(node: NodeCopy, budget: usize) -> Result<Self, BudgetTooSmall> {
        let memories = node.chip().host_bytes(None);
        let saved = node.chip().save().map_or(0, |bytes| bytes.len());
        let body = saved.saturating_sub(memories).max(MIN_STATE_BYTES);
        let mut snapshots = Self {
            kept: Vec::new(),
            budget,
            body,
            bytes: 0,
        };
        snapshots.add_snapshot(node, true, 0);
        let needed = 2 * snapshots.bytes;
        if budget < needed {
            return Err(BudgetTooSmall { budget, needed });
        }
        Ok(snapshots)
    }

    /// Total size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of snapshots.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// The latest snapshot at or before a cycle; the first is always there.
    pub fn at_or_before(&self, cycle: Cycle) -> &ReplicaState {
        let after = self.kept.partition_point(|it| it.cycle() <= cycle);
        &self.kept[after.saturating_sub(1)]
    }

    /// The first snapshot after a cycle that cannot be reproduced from an earlier one.
    pub fn next_pinned(&self, cycle: Cycle) -> Option<&ReplicaState> {
        let after = self.kept.partition_point(|it| it.cycle() <= cycle);
        self.kept[after..].iter().find(|it| it.pinned)
    }

    /// Adds a snapshot, or replaces the one at its cycle. While they exceed the budget, the one
    /// least needed near `focus` is dropped.
    pub fn add_snapshot(&mut self, node: NodeCopy, pinned: bool, focus: Cycle) {
        let cycle = node.handled();
        let place = self.kept.partition_point(|it| it.cycle() < cycle);
        if self.kept.get(place).is_some_and(|it| it.cycle() == cycle) {
            self.bytes -= self.kept.remove(place).bytes;
        }
        let snapshot = ReplicaState {
            node,
            pinned,
            bytes: 0,
        };
        self.kept.insert(place, snapshot);
        self.weigh(place);
        self.weigh(place + 1);
        while self.bytes > self.budget {
            let Some(least) = self.least_needed(focus) else {
                break;
            };
            self.bytes -= self.kept.remove(least).bytes;
            self.weigh(least);
        }
    }

    /// Forgets all snapshots after a cycle.
    pub fn forget_after(&mut self, cycle: Cycle) {
        let keep = self.kept.partition_point(|it| it.cycle() <= cycle);
        for gone in self.kept.drain(keep.max(1)..) {
            self.bytes -= gone.bytes;
        }
    }

    /// Changes all remaining snapshots, once later ones have been forgotten.
    pub fn change_all(&mut self, mut change: impl FnMut(&mut NodeCopy)) {
        for snapshot in &mut self.kept {
            change(&mut snapshot.node);
        }
    }

    /// Recomputes what a snapshot takes in addition to the previous one.
    fn weigh(&mut self, place: usize) {
        let Some(snapshot) = self.kept.get(place) else {
            return;
        };
        let before = place.checked_sub(1).map(|at| self.kept[at].node.chip());
        let bytes = self.body + snapshot.node.chip().host_bytes(before);
        self.bytes = self.bytes - snapshot.bytes + bytes;
        self.kept[place].bytes = bytes;
    }

    /// The snapshot whose removal leaves the smallest gap relative to its
    /// distance from `focus`: gaps grow in proportion to the distance.
    fn least_needed(&self, focus: Cycle) -> Option<usize> {
        let inner = 1..self.kept.len().checked_sub(1)?;
        let free = inner.filter(|&at| !self.kept[at].pinned);
        let cost = |at: usize| {
            let gap = self.kept[at + 1].cycle() - self.kept[at - 1].cycle();
            let far = self.kept[at].cycle().abs_diff(focus) + 1;
            (gap, far)
        };
        free.min_by(|&a, &b| {
            let ((gap_a, far_a), (gap_b, far_b)) = (cost(a), cost(b));
            (u128::from(gap_a) * u128::from(far_b)).cmp(&(u128::from(gap_b) * u128::from(far_a)))
        })
    }
}
