//! Transfer registers that must have consecutive numbers.

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::middle::program::{Item, VariableId, words};
use crate::middle::scope::Symbols;
use crate::middle::select::TransferOrder;

/// The chains formed by `.xfer_order`; every variable is in exactly one.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The variables of each chain, from the lowest number upwards.
    pub members: Vec<Vec<VariableId>>,
    /// Chain and position of each variable.
    pub position: Vec<(usize, usize)>,
}

impl Groups {
    /// Joins the orders into chains; contradictions are reported.
    pub fn new(
        symbols: &Symbols,
        orders: &[TransferOrder],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let count = symbols.variables.len();
        let mut next: Vec<Option<VariableId>> = vec![None; count];
        let mut previous: Vec<Option<VariableId>> = vec![None; count];
        for order in orders {
            for pair in order.variables.windows(2) {
                let (left, right) = (pair[0], pair[1]);
                if next[left] == Some(right) {
                    continue;
                }
                let mut end = right;
                while let Some(further) = next[end] {
                    end = further;
                }
                if next[left].is_some() || previous[right].is_some() || end == left {
                    diagnostics.push(
                        order
                            .place
                            .error(
                                codes::TRANSFER_ORDER,
                                format!(
                                    "`{}` cannot come right after `{}`",
                                    symbols.variables[right].name, symbols.variables[left].name
                                ),
                            )
                            .label("contradicts an earlier order")
                            .note("A transfer register has one number, so one neighbour on each side.")
                            .help("use separate registers for separate blocks"),
                    );
                    continue;
                }
                next[left] = Some(right);
                previous[right] = Some(left);
            }
        }
        let mut groups = Self {
            members: Vec::new(),
            position: vec![(0, 0); count],
        };
        for first in (0..count).filter(|&id| previous[id].is_none()) {
            let chain: Vec<VariableId> =
                std::iter::successors(Some(first), |&id| next[id]).collect();
            for (i, &id) in chain.iter().enumerate() {
                groups.position[id] = (groups.members.len(), i);
            }
            groups.members.push(chain);
        }
        groups
    }

    /// Returns the variables of the `words` registers from `id` upwards, within
    /// the chain; the whole rest of the chain if the number of words is open.
    #[must_use]
    pub fn reach(&self, id: VariableId, words: u8, open: bool) -> &[VariableId] {
        let (group, position) = self.position[id];
        let rest = &self.members[group][position..];
        if open {
            rest
        } else {
            &rest[..rest.len().min(words as usize)]
        }
    }

    /// Reports commands that move more words than their chain provides.
    pub fn check(&self, items: &[Item], symbols: &Symbols, diagnostics: &mut Vec<Diagnostic>) {
        for micro in items.iter().filter_map(Item::micro) {
            let Some(transfer) = micro.transfer else {
                continue;
            };
            if micro.open_count {
                continue;
            }
            let (pull, push) = words(&micro.template);
            for (id, words) in [(transfer.write, pull), (transfer.read, push)] {
                let Some(id) = id else { continue };
                let reached = self.reach(id, words, false).len();
                if reached >= words as usize {
                    continue;
                }
                let variable = &symbols.variables[id];
                let place = transfer.place;
                diagnostics.push(
                    place
                        .error(
                            codes::TRANSFER_GROUP_TOO_SHORT,
                            format!(
                                "this command moves {words} transfer registers, but only {reached} follow from `{}` in order",
                                variable.name
                            ),
                        )
                        .also(variable.place.span, variable.place.expansion, "declared here")
                        .note("The registers after the named one are used too, and must be known to be neighbours.")
                        .help("put all of them into one `.xfer_order`"),
                );
                break;
            }
        }
    }
}
