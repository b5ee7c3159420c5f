//! The control-flow graph.

use std::cell::LazyCell;

use npsim_isa::{CtxArb, FlowClass as Kind, Instruction};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::middle::labels::Labels;
use crate::middle::program::{Item, Micro, SignalRef, SymbolReference};
use crate::middle::returns::{Returns, Subroutines};

/// An edge from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The following node.
    pub to: usize,
    /// Signals that have arrived when this edge is taken.
    pub awaited: Vec<SignalRef>,
}

impl Edge {
    /// An edge on which no signal has arrived for certain.
    fn without_signals(to: usize) -> Self {
        Self {
            to,
            awaited: Vec::new(),
        }
    }
}

/// The control-flow graph of a program.
///
/// Its nodes are the items, the end of the program, and *junctions*: all indirect jumps with the
/// same list of two or more possible targets lead to one junction, and only the junction has an
/// edge to each target. Otherwise a program of many returns and many labels would have an edge for
/// each pair.
#[derive(Clone, Debug)]
pub struct FlowGraph {
    /// Outgoing edges of each node.
    pub successors: Vec<Vec<Edge>>,
    /// Target item of the label operand of each instruction, by item.
    pub targets: Vec<Option<usize>>,
    /// Whether an item can be reached from elsewhere than its predecessor.
    pub entered: Vec<bool>,
}

impl FlowGraph {
    /// Number of items, which are the first nodes.
    #[must_use]
    pub fn items(&self) -> usize {
        self.targets.len()
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.successors.len()
    }

    /// The node that stands for the end of the program, after the items and before the junctions.
    #[must_use]
    pub fn end(&self) -> usize {
        self.items()
    }

    /// Returns which nodes are reachable from the start.
    #[must_use]
    pub fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.nodes()];
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                open.extend(self.successors[node].iter().map(|edge| edge.to));
            }
        }
        seen
    }
}

/// The junctions of a graph, by their targets.
#[derive(Default)]
struct Junctions {
    known: FxHashMap<Vec<usize>, usize>,
}

impl Junctions {
    /// Returns the edges of an indirect jump, and adds its junction to the graph if it is new.
    fn edges_to(&mut self, targets: &[usize], successors: &mut Vec<Vec<Edge>>) -> Vec<Edge> {
        let edges = |targets: &[usize]| -> Vec<Edge> {
            targets.iter().copied().map(Edge::without_signals).collect()
        };
        if targets.len() < 2 {
            return edges(targets);
        }
        let junction = self.known.get(targets).copied().unwrap_or_else(|| {
            successors.push(edges(targets));
            let junction = successors.len() - 1;
            self.known.insert(targets.to_vec(), junction);
            junction
        });
        edges(&[junction])
    }
}

/// The exits of an instruction after its defer slots.
struct Exit {
    /// Possible targets, with the signals that have then arrived.
    taken: Vec<Edge>,
    /// Signals that have arrived when control falls through; `None` if it does not.
    falls: Option<Vec<SignalRef>>,
}

/// Builds the graph; undefined labels and invalid defer slots are reported.
pub fn build(items: &[Item], labels: &Labels<'_>, diagnostics: &mut Vec<Diagnostic>) -> FlowGraph {
    let mut flow = FlowGraph {
        successors: (0..items.len())
            .map(|i| vec![Edge::without_signals(i + 1)])
            .chain([Vec::new()])
            .collect(),
        targets: vec![None; items.len()],
        entered: vec![false; items.len() + 1],
    };
    for label in labels.distinct() {
        flow.entered[label.item] = true;
    }
    let resolve = |token, scope, diagnostics: &mut Vec<Diagnostic>| {
        labels
            .item(token, scope)
            .map_err(|diagnostic| diagnostics.push(diagnostic))
            .ok()
    };
    // Items that a return address may point to.
    let mut returns: Vec<usize> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let Some(micro) = item.micro() else { continue };
        if let Some(token) = &micro.target {
            flow.targets[i] = if micro.raw.is_some() {
                // A raw word may branch anywhere; out of the program counts as its end.
                let within = labels.item(token, micro.scope);
                Some(within.unwrap_or(items.len()))
            } else {
                resolve(token, micro.scope, diagnostics)
            };
        }
        for reference in references(micro) {
            if let SymbolReference::Label(token) = reference {
                returns.extend(resolve(token, micro.scope, diagnostics));
            }
        }
    }
    let subroutines = Subroutines::new(items, diagnostics);
    returns.extend(&subroutines.reentries);
    returns.sort_unstable();
    returns.dedup();
    let everywhere = LazyCell::new(|| {
        let mut all: Vec<usize> = labels.distinct().map(|label| label.item).collect();
        all.sort_unstable();
        all.dedup();
        all
    });
    for target in flow.targets.iter().flatten().chain(&returns) {
        flow.entered[*target] = true;
    }
    let mut calls = Returns::new(items, &subroutines, &flow.targets, &flow.entered);
    let mut junctions = Junctions::default();
    for (i, item) in items.iter().enumerate() {
        let Some(micro) = item.micro() else { continue };
        let shadow = shadow(items, i, micro, diagnostics);
        let last = shadow.last().copied().unwrap_or(i);
        let target = flow.targets[i];
        let Some(exit) = exit_of(micro, target, || {
            let listed: Vec<usize>;
            let targets = if micro.target.is_none() {
                let known = calls.of(i, |token, scope| labels.item(token, scope).ok());
                known.unwrap_or(if returns.is_empty() {
                    &everywhere
                } else {
                    &returns
                })
            } else if micro.targets.is_empty() {
                &everywhere
            } else {
                listed = micro
                    .targets
                    .iter()
                    .filter_map(|token| resolve(token, micro.scope, diagnostics))
                    .collect();
                &listed
            };
            junctions.edges_to(targets, &mut flow.successors)
        }) else {
            continue;
        };
        // Control that enters the defer slots in the middle falls through.
        let entered = shadow.iter().any(|&slot| flow.entered[slot]);
        let mut edges = exit.taken;
        match (exit.falls, entered) {
            (Some(awaited), false) => edges.push(Edge {
                to: last + 1,
                awaited,
            }),
            (_, true) => edges.push(Edge::without_signals(last + 1)),
            (None, false) => {}
        }
        flow.successors[last] = edges;
    }
    flow
}

/// Returns the references of the late constants of an instruction.
pub fn references(micro: &Micro) -> impl Iterator<Item = &SymbolReference> {
    let slots = micro.slots.iter().filter_map(|slot| match &slot.value {
        crate::middle::program::OperandValue::Constant(expression) => Some(expression),
        _ => None,
    });
    slots
        .chain(micro.late.iter().map(|late| &late.expression))
        .flat_map(|expression| expression.references.iter().map(|(_, reference)| reference))
}

fn shadow(
    items: &[Item],
    at: usize,
    micro: &Micro,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    let wanted = micro.template.defer() as usize;
    let slots: Vec<usize> = (at + 1..items.len())
        .filter(|&i| items[i].micro().is_some())
        .take(wanted)
        .collect();
    let place = micro.place_of(npsim_isa::OperandRole::Defer);
    if slots.len() < wanted && micro.raw.is_none() {
        diagnostics.push(
            place
                .error(
                    codes::DEFER_PAST_END,
                    format!(
                        "`defer[{wanted}]` reaches past the end: {} instructions follow",
                        slots.len()
                    ),
                )
                .help("add `nop` instructions after it, or defer fewer"),
        );
    }
    for &slot in &slots {
        let Some(inner) = items[slot].micro() else {
            continue;
        };
        if inner.template.is_control_flow() && micro.raw.is_none() {
            diagnostics.push(
                inner
                    .place
                    .error(
                        codes::BRANCH_IN_DEFER,
                        format!("`{}` is in a defer slot", inner.mnemonic),
                    )
                    .label("changes the flow of control")
                    .also(place.span, place.expansion, "the defer slots begin here")
                    .note("Control is already on its way elsewhere when a defer slot runs.")
                    .help("move it out of the defer slots or defer fewer instructions"),
            );
        }
    }
    slots
}

fn exit_of(
    micro: &Micro,
    target: Option<usize>,
    indirect: impl FnOnce() -> Vec<Edge>,
) -> Option<Exit> {
    let to = |awaited: Vec<SignalRef>| target.map(|to| Edge { to, awaited }).into_iter().collect();
    let tested: Vec<SignalRef> = micro.tested.iter().map(|used| used.signal).collect();
    let template = &micro.template;
    Some(match template.form().flow {
        Kind::Next => return None,
        Kind::Branch => Exit {
            taken: to(Vec::new()),
            falls: None,
        },
        Kind::Codes | Kind::Bit | Kind::State => {
            // The signal has arrived on the edge where the test succeeds.
            let (taken, falls) = match template {
                Instruction::BranchSignal { set: true, .. } => (tested, Vec::new()),
                _ => (Vec::new(), tested),
            };
            Exit {
                taken: to(taken),
                falls: Some(falls),
            }
        }
        Kind::Jump => Exit {
            taken: indirect(),
            falls: None,
        },
        Kind::Arbitration => match template {
            Instruction::CtxArb(arb) => arbitration(arb, micro, target),
            _ => return None,
        },
        Kind::Command => match micro.completion {
            Some(used) if template.swaps() => Exit {
                taken: Vec::new(),
                falls: Some(vec![used.signal]),
            },
            _ => return None,
        },
    })
}

fn arbitration(arb: &CtxArb, micro: &Micro, target: Option<usize>) -> Exit {
    let killed = arb.any && arb.mask == 0 && micro.waits.is_empty() && !arb.breakpoint;
    // With "any", it is unknown which of several signals has arrived.
    let awaited: Vec<SignalRef> = if arb.any && micro.waits.len() > 1 {
        Vec::new()
    } else {
        micro.waits.iter().map(|used| used.signal).collect()
    };
    if killed {
        return Exit {
            taken: Vec::new(),
            falls: None,
        };
    }
    if arb.resume.is_some() {
        return Exit {
            taken: target.map(|to| Edge { to, awaited }).into_iter().collect(),
            falls: None,
        };
    }
    Exit {
        taken: Vec::new(),
        falls: Some(awaited),
    }
}
