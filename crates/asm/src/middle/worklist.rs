//! The nodes of a flow graph that an analysis still has to visit.

use crate::middle::flow::FlowGraph;

/// A list of nodes to visit, each at most once at a time.
///
/// Junctions come last: an analysis visits one when all items that lead to it have settled, not
/// after each of them, and so visits its many neighbours a few times instead of once per item.
pub struct Worklist {
    items: Vec<usize>,
    junctions: Vec<usize>,
    waiting: Vec<bool>,
    first_junction: usize,
}

impl Worklist {
    /// All nodes, the first item first.
    pub fn forward(flow: &FlowGraph) -> Self {
        Self::new(flow, (0..flow.items()).rev().collect())
    }

    /// All nodes, the last item first.
    pub fn backward(flow: &FlowGraph) -> Self {
        Self::new(flow, (0..flow.items()).collect())
    }

    fn new(flow: &FlowGraph, items: Vec<usize>) -> Self {
        Self {
            items,
            junctions: (flow.items()..flow.nodes()).collect(),
            waiting: vec![true; flow.nodes()],
            first_junction: flow.items(),
        }
    }

    /// Adds a node unless it is on the list.
    pub fn add(&mut self, node: usize) {
        if std::mem::replace(&mut self.waiting[node], true) {
            return;
        }
        if node < self.first_junction {
            self.items.push(node);
        } else {
            self.junctions.push(node);
        }
    }

    /// Takes the node to visit next.
    pub fn take(&mut self) -> Option<usize> {
        let node = self.items.pop().or_else(|| self.junctions.pop())?;
        self.waiting[node] = false;
        Some(node)
    }
}
