//! Circles: sets of files that import names from each other, directly or
//! indirectly.

use std::collections::BTreeMap;

use crate::imports::Imports;

/// Returns the sets of files that reach each other, each of at least two files,
/// in order.
#[must_use]
pub fn circles(imports: &Imports) -> Vec<Vec<usize>> {
    let mut arrows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(from, to) in imports.keys() {
        arrows.entry(from).or_default().push(to);
        arrows.entry(to).or_default();
    }
    let mut search = Search {
        arrows: &arrows,
        order: BTreeMap::new(),
        lowest: BTreeMap::new(),
        open: Vec::new(),
        found: Vec::new(),
    };
    for &file in arrows.keys() {
        if !search.order.contains_key(&file) {
            search.visit(file);
        }
    }
    let mut found = search.found;
    found.sort();
    found
}

/// Tarjan's search for strongly connected components.
struct Search<'a> {
    arrows: &'a BTreeMap<usize, Vec<usize>>,
    order: BTreeMap<usize, usize>,
    lowest: BTreeMap<usize, usize>,
    open: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, file: usize) {
        let number = self.order.len();
        self.order.insert(file, number);
        self.open.push(file);
        let mut lowest = number;
        for &next in &self.arrows[&file] {
            if !self.order.contains_key(&next) {
                self.visit(next);
                lowest = lowest.min(self.lowest[&next]);
            } else if self.open.contains(&next) {
                lowest = lowest.min(self.order[&next]);
            }
        }
        self.lowest.insert(file, lowest);
        if lowest == number {
            let first = self
                .open
                .iter()
                .position(|&open| open == file)
                .expect("the file is open");
            let mut circle = self.open.split_off(first);
            if circle.len() > 1 {
                circle.sort_unstable();
                self.found.push(circle);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrows: &[(usize, usize)]) -> Vec<Vec<usize>> {
        circles(
            &arrows
                .iter()
                .map(|&arrow| (arrow, std::collections::BTreeSet::new()))
                .collect(),
        )
    }

    #[test]
    fn cycles_are_found_and_chains_are_not() {
        assert_eq!(of(&[(0, 1), (1, 2)]), Vec::<Vec<usize>>::new());
        assert_eq!(
            of(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)]),
            [vec![0, 1, 2], vec![3, 4]]
        );
    }
}
