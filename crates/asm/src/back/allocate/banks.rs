//! Assignment of general-purpose registers to banks.
//!
//! An instruction reads at most one register of each bank. The relation "read together" forms a
//! graph that must be coloured with two colours; two extra nodes, one for each bank, stand for
//! registers with a given bank.

use std::collections::VecDeque;

use npsim_isa::{Bank, Operand};

use super::{AllocationProblem, bank_name};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::middle::program::{Item, OperandValue, Side, VariableId, cell};
use crate::middle::scope::RegisterFile;

/// An edge to a node that must be in the other bank, and the item that requires it.
#[derive(Clone, Copy, Debug)]
struct Constraint {
    other: usize,
    item: Option<usize>,
}

/// Returns the node that stands for a bank.
fn anchor(variables: usize, bank: Bank) -> usize {
    variables + usize::from(bank == Bank::B)
}

/// A spanning forest of the graph, and the constraints that it violates.
struct BankSearch {
    polarity: Vec<Option<bool>>,
    parent: Vec<Option<(usize, Option<usize>)>>,
    components: Vec<Vec<usize>>,
    failed: Vec<(usize, Constraint)>,
}

fn search(count: usize, graph: &[Vec<Constraint>]) -> BankSearch {
    let mut found = BankSearch {
        polarity: vec![None; count + 2],
        parent: vec![None; count + 2],
        components: Vec::new(),
        failed: Vec::new(),
    };
    // The bank nodes come first, so that their component gets the right polarity.
    let roots = [anchor(count, Bank::A)].into_iter().chain(0..count);
    for root in roots {
        if found.polarity[root].is_some() {
            continue;
        }
        found.polarity[root] = Some(false);
        let mut members = vec![root];
        let mut open = VecDeque::from([root]);
        while let Some(node) = open.pop_front() {
            for constraint in &graph[node] {
                let other = constraint.other;
                let wanted = found.polarity[node].map(|side| !side);
                if found.polarity[other].is_none() {
                    found.polarity[other] = wanted;
                    found.parent[other] = Some((node, constraint.item));
                    members.push(other);
                    open.push_back(other);
                } else if found.polarity[other] != wanted && node < other {
                    found.failed.push((node, *constraint));
                }
            }
        }
        found.components.push(members);
    }
    found
}

/// Assigns a bank to every variable; only those of general-purpose registers are meaningful.
pub fn assign(problem: &AllocationProblem<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Bank> {
    let graph = constraints(problem, |diagnostic, _| diagnostics.push(diagnostic));
    let found = search(problem.symbols.variables.len(), &graph);
    for &(node, constraint) in &found.failed {
        diagnostics.push(conflict(problem, &found.parent, node, constraint));
    }
    orient(problem, &found.components, &found.polarity)
}

/// Returns, for each conflict, the items that cause it; the conflict is resolved if one of them
/// reads a copy.
pub fn disagreements(problem: &AllocationProblem<'_>) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    let graph = constraints(problem, |_, item| all.push(vec![item]));
    let found = search(problem.symbols.variables.len(), &graph);
    for &(node, failed) in &found.failed {
        let cycle = cycle(&found.parent, node, failed);
        let items = failed
            .item
            .into_iter()
            .chain(cycle.into_iter().map(|(_, _, item)| item));
        all.push(items.collect());
    }
    all
}

fn constraints(
    problem: &AllocationProblem<'_>,
    mut twice: impl FnMut(Diagnostic, usize),
) -> Vec<Vec<Constraint>> {
    let count = problem.symbols.variables.len();
    let mut graph: Vec<Vec<Constraint>> = vec![Vec::new(); count + 2];
    let mut differ = |left: usize, right: usize, item: Option<usize>| {
        if graph[left].iter().any(|known| known.other == right) {
            return;
        }
        graph[left].push(Constraint { other: right, item });
        graph[right].push(Constraint { other: left, item });
    };
    differ(anchor(count, Bank::A), anchor(count, Bank::B), None);
    for (id, variable) in problem.symbols.variables.iter().enumerate() {
        if let Some((Some(bank), _)) = variable.fixed {
            let opposite = match bank {
                Bank::A => Bank::B,
                Bank::B => Bank::A,
            };
            differ(id, anchor(count, opposite), None);
        }
    }
    for (i, item) in problem.items.iter().enumerate() {
        let Some(micro) = item.micro() else { continue };
        let nodes: Vec<(usize, crate::front::statement::SourcePlace)> = micro
            .ports()
            .filter_map(|slot| {
                let node = match slot.value {
                    OperandValue::Register(id) => matches!(
                        problem.symbols.variables[id].space,
                        RegisterFile::Gpr | RegisterFile::Absolute
                    )
                    .then_some(id)?,
                    OperandValue::Physical(
                        Operand::Gpr(bank, _) | Operand::GprAbsolute(bank, _),
                    ) => anchor(count, bank),
                    _ => return None,
                };
                Some((node, slot.place))
            })
            .collect();
        if let [(left, at), (right, also)] = nodes[..] {
            if left != right {
                differ(left, right, Some(i));
            } else if left < count {
                let name = &problem.symbols.variables[left].name;
                twice(
                    also.error(
                        codes::BANK_CONFLICT,
                        format!("`{name}` is read through both ports of one instruction"),
                    )
                    .label("second read")
                    .also(at.span, at.expansion, "first read")
                    .note("A register lives in one bank, and an instruction reads one register of each bank.")
                    .help("copy it to another register first, or shift it with `alu_shf` instead"),
                    i,
                );
            }
        }
    }
    graph
}

/// Follows the two paths from a violated constraint to their meeting point and returns the
/// conflicting items along them.
///
/// `parent[n]` is the node from which the search reached n, with the item that reads both; `None`
/// for the node where it started, and no item between the two anchors. The result covers the cycle
/// once: from `node` up to the common ancestor and down to `failed.other`, as triples of two nodes
/// and the item that keeps them in different banks.
fn cycle(
    parent: &[Option<(usize, Option<usize>)>],
    node: usize,
    failed: Constraint,
) -> Vec<(usize, usize, usize)> {
    let way = |start: usize| {
        let mut nodes = vec![(start, None)];
        let mut at = start;
        while let Some((up, item)) = parent[at] {
            nodes.push((up, item));
            at = up;
        }
        nodes
    };
    let (left, right) = (way(node), way(failed.other));
    // Drop the common end of both paths.
    let mut common = 0;
    while common + 1 < left.len()
        && common + 1 < right.len()
        && left[left.len() - 2 - common].0 == right[right.len() - 2 - common].0
    {
        common += 1;
    }
    let steps = |way: &[(usize, Option<usize>)]| {
        let kept = way.len() - common;
        (1..kept)
            .filter_map(|i| way[i].1.map(|item| (way[i - 1].0, way[i].0, item)))
            .collect::<Vec<_>>()
    };
    let mut cycle = steps(&left);
    cycle.reverse();
    cycle.extend(steps(&right));
    cycle
}

fn conflict(
    problem: &AllocationProblem<'_>,
    parent: &[Option<(usize, Option<usize>)>],
    node: usize,
    failed: Constraint,
) -> Diagnostic {
    let cycle = cycle(parent, node, failed);
    let name = |node: usize| match problem.symbols.variables.get(node) {
        Some(variable) => format!("`{}`", variable.name),
        None if node == anchor(problem.symbols.variables.len(), Bank::A) => {
            "a bank A register".to_owned()
        }
        None => "a bank B register".to_owned(),
    };
    let place_of = |item: usize| problem.items[item].micro().map(|micro| micro.place);
    let primary = failed
        .item
        .or_else(|| cycle.first().map(|(_, _, item)| *item))
        .and_then(place_of)
        .or_else(|| {
            problem
                .symbols
                .variables
                .get(node)
                .map(|variable| variable.place)
        });
    let Some(place) = primary else {
        // Both nodes are banks, which differ by definition; no program can cause this.
        return Diagnostic::error(
            codes::BANK_CONFLICT,
            "no assignment of banks suits the program",
            crate::source::Span {
                file: crate::source::FileId(0),
                lo: 0,
                hi: 0,
            },
            crate::source::ExpansionId::ROOT,
        );
    };
    let mut diagnostic = place
        .error(
            codes::BANK_CONFLICT,
            format!(
                "{} and {} would have to be in the same bank",
                name(node),
                name(failed.other)
            ),
        )
        .label("reads both, so they must be in different banks");
    for &(one, two, item) in cycle.iter().take(6) {
        if Some(item) == failed.item {
            continue;
        }
        if let Some(place) = place_of(item) {
            diagnostic = diagnostic.also(
                place.span,
                place.expansion,
                format!(
                    "{} and {} must also be in different banks",
                    name(one),
                    name(two)
                ),
            );
        }
    }
    diagnostic
        .note("An instruction reads at most one register of bank A and one of bank B.")
        .help(format!(
            "copy {} to a new register and read the copy in one of these instructions",
            name(if node < problem.symbols.variables.len() {
                node
            } else {
                failed.other
            })
        ))
}

/// Chooses the polarity of each component so that both banks fill evenly at every point.
fn orient(
    problem: &AllocationProblem<'_>,
    components: &[Vec<usize>],
    polarity: &[Option<bool>],
) -> Vec<Bank> {
    let count = problem.symbols.variables.len();
    let points: Vec<Vec<usize>> = problem
        .points()
        .map(|point| {
            point
                .iter()
                .filter(|cell| cell % 2 == 0)
                .map(|cell| cell / 2)
                .filter(|&id| problem.symbols.variables[id].space == RegisterFile::Gpr)
                .collect()
        })
        .collect();
    let mut component_of = vec![0; count + 2];
    for (i, members) in components.iter().enumerate() {
        for &member in members {
            component_of[member] = i;
        }
    }
    // Points where each component is live: (point, members of each side).
    let mut weights: Vec<Vec<(usize, [i64; 2])>> = vec![Vec::new(); components.len()];
    for (p, point) in points.iter().enumerate() {
        for &id in point {
            let side = usize::from(polarity[id] == Some(true));
            let list = &mut weights[component_of[id]];
            match list.last_mut() {
                Some((last, sides)) if *last == p => sides[side] += 1,
                _ => {
                    let mut sides = [0; 2];
                    sides[side] = 1;
                    list.push((p, sides));
                }
            }
        }
    }
    let mut load = vec![[0i64; 2]; points.len()];
    let mut private = [0i64; 2];
    let mut banks = vec![Bank::A; count];
    let anchored = component_of[anchor(count, Bank::A)];
    let mut order: Vec<usize> = (0..components.len()).collect();
    order.sort_by_key(|&i| (i != anchored, std::cmp::Reverse(components[i].len()), i));
    for i in order {
        let mut privates = [0i64; 2];
        for &member in &components[i] {
            if member < count {
                let variable = &problem.symbols.variables[member];
                let relevant = matches!(variable.space, RegisterFile::Gpr | RegisterFile::Absolute);
                if relevant && variable.used && variable.private {
                    privates[usize::from(polarity[member] == Some(true))] += 1;
                }
            }
        }
        let cost = |flip: usize| {
            let spread: i64 = weights[i]
                .iter()
                .map(|&(p, sides)| {
                    let a = load[p][0] + private[0] + sides[flip];
                    let b = load[p][1] + private[1] + sides[1 - flip];
                    a * a + b * b
                })
                .sum();
            let a = private[0] + privates[flip];
            let b = private[1] + privates[1 - flip];
            (spread, a * a + b * b)
        };
        let flip = usize::from(i != anchored && cost(1) < cost(0));
        for &(p, sides) in &weights[i] {
            load[p][0] += sides[flip];
            load[p][1] += sides[1 - flip];
        }
        private[0] += privates[flip];
        private[1] += privates[1 - flip];
        for &member in &components[i] {
            if member < count {
                let second = usize::from(polarity[member] == Some(true)) != flip;
                banks[member] = if second { Bank::B } else { Bank::A };
            }
        }
    }
    banks
}

/// Returns the point at which most names occupy a bank, with those names.
pub fn worst_point(
    problem: &AllocationProblem<'_>,
    banks: &[Bank],
    bank: Bank,
) -> Option<(usize, Vec<VariableId>)> {
    let mut worst: Option<(usize, Vec<VariableId>)> = None;
    for (p, point) in problem.points().enumerate() {
        let mut names: Vec<VariableId> = problem
            .variables(RegisterFile::Gpr)
            .filter(|&id| {
                banks[id] == bank
                    && (problem.symbols.variables[id].private || point.contains(cell(id, Side::In)))
            })
            .collect();
        names.dedup();
        if worst
            .as_ref()
            .is_none_or(|(_, known)| names.len() > known.len())
        {
            worst = Some((p, names));
        }
    }
    worst
}

/// Makes the diagnostic for a bank with too few registers.
pub fn too_many(
    problem: &AllocationProblem<'_>,
    banks: &[Bank],
    bank: Bank,
    available: usize,
    failed: VariableId,
) -> Diagnostic {
    let variable = &problem.symbols.variables[failed];
    let worst = worst_point(problem, banks, bank);
    let place = worst
        .as_ref()
        .and_then(|(p, _)| {
            problem
                .items
                .get(AllocationProblem::item_of_point(*p))
                .and_then(Item::micro)
        })
        .map_or(variable.place, |micro| micro.place);
    let names = worst.map(|(_, names)| names).unwrap_or_default();
    let mut needed: Vec<&str> = names
        .iter()
        .map(|&id| problem.symbols.variables[id].name.as_str())
        .collect();
    needed.sort_unstable();
    let mut diagnostic = place
        .error(
            codes::TOO_MANY_REGISTERS,
            format!(
                "too many general-purpose registers are needed at once in bank {}",
                bank_name(bank)
            ),
        )
        .label(format!(
            "{} names hold a value here; {available} registers are free for them",
            names.len()
        ))
        .also(
            variable.place.span,
            variable.place.expansion,
            "no register is left for this one",
        )
        .note(format!(
            "Needed here: {}.",
            super::list(needed.into_iter(), 40)
        ));
    if names.len() > available {
        diagnostic = diagnostic.note(format!("That is {} too many.", names.len() - available));
    }
    diagnostic.help("keep values in local memory, or set them closer to where they are used")
}
