//! Graph colouring with forbidden and preset colours.

use std::collections::BTreeSet;

/// A colouring problem on nodes 0, 1, ...
pub struct Graph {
    /// Neighbours of each node, ascending.
    pub neighbours: Vec<Vec<usize>>,
    /// Colours allowed for each node, one bit each.
    pub allowed: Vec<u32>,
}

impl Graph {
    /// Colours every node with the lowest possible colour.
    ///
    /// # Errors
    /// Returns the first node for which no colour is left.
    pub fn colour(&self) -> Result<Vec<u8>, usize> {
        let count = self.neighbours.len();
        let mut degree: Vec<usize> = self.neighbours.iter().map(Vec::len).collect();
        let mut removed = vec![false; count];
        let mut order = Vec::with_capacity(count);
        // Nodes that always find a colour are removed first, and so coloured last, in descending
        // order of number; of the others, the one with the most colours and neighbours goes next. A
        // free node stays free, since its degree only falls.
        let room = |node: usize| self.allowed[node].count_ones();
        let (mut free, mut tight) = (BTreeSet::new(), BTreeSet::new());
        for (node, &degree) in degree.iter().enumerate() {
            if degree < room(node) as usize {
                free.insert(node);
            } else {
                tight.insert((room(node), degree, node));
            }
        }
        while let Some(next) = free
            .pop_last()
            .or_else(|| tight.pop_last().map(|(_, _, node)| node))
        {
            removed[next] = true;
            order.push(next);
            for &other in &self.neighbours[next] {
                if !removed[other] && tight.remove(&(room(other), degree[other], other)) {
                    let left = degree[other].saturating_sub(1);
                    if left < room(other) as usize {
                        free.insert(other);
                    } else {
                        tight.insert((room(other), left, other));
                    }
                }
                degree[other] = degree[other].saturating_sub(1);
            }
        }
        let mut colours: Vec<Option<u8>> = vec![None; count];
        for &node in order.iter().rev() {
            let taken = self.neighbours[node]
                .iter()
                .filter_map(|&other| colours[other])
                .fold(0u32, |mask, colour| mask | 1 << colour);
            let left = self.allowed[node] & !taken;
            if left == 0 {
                return Err(node);
            }
            colours[node] = Some(left.trailing_zeros() as u8);
        }
        Ok(colours
            .into_iter()
            .map(|colour| colour.unwrap_or(0))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Graph;

    fn ring(nodes: usize, allowed: u32) -> Graph {
        Graph {
            neighbours: (0..nodes)
                .map(|i| {
                    let mut both = vec![(i + 1) % nodes, (i + nodes - 1) % nodes];
                    both.sort_unstable();
                    both
                })
                .collect(),
            allowed: vec![allowed; nodes],
        }
    }

    #[test]
    fn odd_ring_needs_three_colours() {
        assert!(ring(5, 0b11).colour().is_err());
        let colours = ring(5, 0b111).colour().unwrap();
        for i in 0..5 {
            assert_ne!(colours[i], colours[(i + 1) % 5]);
        }
    }

    #[test]
    fn even_ring_needs_two_colours() {
        assert!(ring(6, 0b1010).colour().is_ok());
    }

    #[test]
    fn fixed_colours_are_kept() {
        let mut graph = ring(4, 0b11);
        graph.allowed[2] = 0b10;
        assert_eq!(graph.colour().unwrap(), [1, 0, 1, 0]);
    }
}
