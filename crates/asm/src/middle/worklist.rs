//! The nodes of a flow graph that an analysis still has to visit.

use std::collections::VecDeque;

use crate::middle::flow::FlowGraph;

/// A list of nodes to visit, each at most once at a time.
///
/// Junctions wait until no item is left, and are then visited in turn. Otherwise each of thousands
/// of items around a junction would cause a visit of all its neighbours.
pub struct Worklist {
    items: Vec<usize>,
    /// The end of the program and junctions.
    later: VecDeque<usize>,
    waiting: Vec<bool>,
    first_later: usize,
}

impl Worklist {
    /// All nodes, the first item first.
    pub fn forward(flow: &FlowGraph) -> Self {
        Self {
            items: (0..flow.items()).rev().collect(),
            later: (flow.items()..flow.nodes()).collect(),
            waiting: vec![true; flow.nodes()],
            first_later: flow.items(),
        }
    }

    /// All nodes, the last item first.
    pub fn backward(flow: &FlowGraph) -> Self {
        let mut list = Self::forward(flow);
        list.items.reverse();
        list.later.make_contiguous().reverse();
        list
    }

    /// Adds a node unless it is on the list.
    pub fn add(&mut self, node: usize) {
        if std::mem::replace(&mut self.waiting[node], true) {
            return;
        }
        if node < self.first_later {
            self.items.push(node);
        } else {
            self.later.push_back(node);
        }
    }

    /// Takes the node to visit next.
    pub fn take(&mut self) -> Option<usize> {
        let node = self.items.pop().or_else(|| self.later.pop_front())?;
        self.waiting[node] = false;
        Some(node)
    }
}
