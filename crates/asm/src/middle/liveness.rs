//! Liveness analysis: where registers and signals hold values that are needed.

use npsim_isa::Instruction;
use smallvec::SmallVec;

use crate::middle::bit_set::BitSet;
use crate::middle::flow::FlowGraph;
use crate::middle::groups::Groups;
use crate::middle::program::{Item, Micro, OperandValue, Side, SignalRef, cell, words};
use crate::middle::scope::Symbols;
use crate::middle::worklist::Worklist;

/// A short list of numbers, as items have them.
pub type ShortList = SmallVec<[usize; 4]>;

/// The effects of one item.
#[derive(Clone, Debug, Default)]
struct Effect {
    uses: ShortList,
    /// Cells that are certainly written.
    sets: ShortList,
    /// Cells that the hardware may still read or write after the item.
    held: ShortList,
    raises: Option<SignalRef>,
    waits: ShortList,
    /// Whether the item issues a command.
    issues: bool,
}

/// The results of the analysis, by item.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Cells whose value is needed at the start of each item.
    pub live_in: Vec<BitSet>,
    /// Cells that must not be reused right after each item.
    pub occupied: Vec<BitSet>,
    /// Signals that must not be reused right after each item.
    pub signals: Vec<BitSet>,
    /// Signals that are awaited without a prior command, at the start.
    pub signals_at_entry: BitSet,
    /// Signals that are still awaited after each item.
    pub signals_awaited: Vec<BitSet>,
}

fn effect(item: &Item, symbols: &Symbols, groups: &Groups) -> Effect {
    match item {
        Item::Hint(hint) => Effect {
            uses: hint.uses.iter().copied().collect(),
            sets: hint.sets.iter().copied().collect(),
            waits: hint
                .completed
                .iter()
                .filter_map(|signal| match signal {
                    SignalRef::Symbol(id) => Some(*id),
                    SignalRef::Physical(_) => None,
                })
                .collect(),
            ..Effect::default()
        },
        Item::Micro(micro) => micro_effect(micro, symbols, groups),
    }
}

fn micro_effect(micro: &Micro, symbols: &Symbols, groups: &Groups) -> Effect {
    let mut effect = Effect::default();
    for slot in &micro.slots {
        let OperandValue::Register(id) = slot.value else {
            continue;
        };
        let transfer = symbols.variables[id].space.is_transfer();
        if slot.reads {
            effect.uses.push(cell(id, Side::In));
        }
        if slot.writes {
            let side = if transfer { Side::Out } else { Side::In };
            effect.sets.push(cell(id, side));
        }
    }
    if let Some(transfer) = &micro.transfer {
        let (pull, push) = words(&micro.template);
        if let (Some(id), true) = (transfer.write, pull > 0) {
            let reached = groups.reach(id, pull, micro.open_count);
            let cells = reached.iter().map(|&id| cell(id, Side::Out));
            effect.uses.extend(cells.clone());
            effect.held.extend(cells);
        }
        if let (Some(id), true) = (transfer.read, push > 0) {
            let reached = groups.reach(id, push, micro.open_count);
            let cells = reached.iter().map(|&id| cell(id, Side::In));
            if !micro.open_count {
                effect.sets.extend(cells.clone());
            }
            effect.held.extend(cells);
        }
    }
    effect.issues = matches!(
        micro.template,
        Instruction::Command(_) | Instruction::CapCsr(_)
    );
    effect.raises = micro.completion.map(|used| used.signal);
    effect.waits = micro
        .waits
        .iter()
        .chain(&micro.tested)
        .filter_map(|used| match used.signal {
            SignalRef::Symbol(id) => Some(id),
            SignalRef::Physical(_) => None,
        })
        .collect();
    effect
}

/// Returns the cells that an item writes, or that a command it issues may write later.
#[must_use]
pub fn written(item: &Item, symbols: &Symbols, groups: &Groups) -> impl IntoIterator<Item = usize> {
    let Effect { mut sets, held, .. } = effect(item, symbols, groups);
    sets.extend(held);
    sets
}

/// Analyses a program.
#[must_use]
pub fn analyse(items: &[Item], flow: &FlowGraph, symbols: &Symbols, groups: &Groups) -> Liveness {
    let effects: Vec<Effect> = items
        .iter()
        .map(|item| effect(item, symbols, groups))
        .collect();
    let sets = |i: usize| effects[i].sets.iter().copied();
    let mut live_in = backward(flow, |i| &effects[i].uses, sets);
    let after = |i: usize, sets: &[BitSet]| {
        let mut following = flow.successors[i].iter().map(|edge| &sets[edge.to]);
        let mut out = following.next().cloned().unwrap_or_default();
        for set in following {
            out.union_with(set);
        }
        out
    };
    let pending = in_flight(items, flow, &effects);
    let issues: Vec<usize> = (0..items.len()).filter(|&i| effects[i].issues).collect();
    let mut occupied = Vec::with_capacity(items.len());
    for (i, effect) in effects.iter().enumerate() {
        let mut set = after(i, &live_in);
        for &cell in &effect.sets {
            set.insert(cell);
        }
        for issue in pending[i].iter() {
            for &cell in &effects[issues[issue]].held {
                set.insert(cell);
            }
        }
        occupied.push(set);
    }
    // A swapping command waits after it has issued, so its own wait is not visible before it.
    let raised = |i: usize| match effects[i].raises {
        Some(SignalRef::Symbol(id)) => Some(id),
        _ => None,
    };
    let signals_in = backward(flow, |i| &effects[i].waits, raised);
    let mut signals = Vec::with_capacity(items.len());
    let mut signals_awaited = Vec::with_capacity(items.len());
    for (i, unfinished) in pending.iter().enumerate() {
        let awaited = after(i, &signals_in);
        let mut set = awaited.clone();
        for issue in unfinished.iter() {
            if let Some(id) = raised(issues[issue]) {
                set.insert(id);
            }
        }
        signals.push(set);
        signals_awaited.push(awaited);
    }
    live_in.truncate(items.len());
    Liveness {
        signals_at_entry: signals_in.first().cloned().unwrap_or_default(),
        live_in,
        occupied,
        signals,
        signals_awaited,
    }
}

/// Returns what is used before it is killed from the start of each node, by backward iteration;
/// `uses` and `kills` are those of an item.
pub fn backward<'a, K: IntoIterator<Item = usize>>(
    flow: &FlowGraph,
    uses: impl Fn(usize) -> &'a [usize],
    kills: impl Fn(usize) -> K,
) -> Vec<BitSet> {
    let mut live = vec![BitSet::default(); flow.nodes()];
    let mut set = BitSet::default();
    let before = predecessors(flow);
    let mut open = Worklist::backward(flow);
    while let Some(i) = open.take() {
        set.clear();
        for edge in &flow.successors[i] {
            set.union_with(&live[edge.to]);
        }
        if i < flow.items() {
            for cell in kills(i) {
                set.remove(cell);
            }
            for &cell in uses(i) {
                set.insert(cell);
            }
        }
        if !live[i].union_with(&set) {
            continue;
        }
        for &earlier in &before[i] {
            open.add(earlier);
        }
    }
    live
}

/// Returns the predecessors of each node.
fn predecessors(flow: &FlowGraph) -> Vec<ShortList> {
    let mut before = vec![ShortList::new(); flow.nodes()];
    for (i, edges) in flow.successors.iter().enumerate() {
        for edge in edges {
            before[edge.to].push(i);
        }
    }
    before
}

/// Returns the commands that may not have finished right after each item, by their index among the
/// issuing items.
fn in_flight(items: &[Item], flow: &FlowGraph, effects: &[Effect]) -> Vec<BitSet> {
    let issues: Vec<usize> = (0..items.len()).filter(|&i| effects[i].issues).collect();
    let mut index = vec![None; items.len()];
    for (k, &i) in issues.iter().enumerate() {
        index[i] = Some(k);
    }
    let ended = |state: &mut BitSet, signals: &[SignalRef]| {
        if signals.is_empty() {
            return;
        }
        let finished: Vec<usize> = state
            .iter()
            .filter(|&k| {
                effects[issues[k]]
                    .raises
                    .is_some_and(|signal| signals.contains(&signal))
            })
            .collect();
        for k in finished {
            state.remove(k);
        }
    };
    let mut before = vec![BitSet::default(); flow.nodes()];
    let mut after = before.clone();
    let mut state = BitSet::default();
    let mut open = Worklist::forward(flow);
    while let Some(i) = open.take() {
        state.clone_from(&before[i]);
        if let Some(Item::Hint(hint)) = items.get(i) {
            ended(&mut state, &hint.completed);
        }
        if let Some(&Some(k)) = index.get(i) {
            // The signal is reused: whatever it announced before is finished or lost.
            state.insert(k);
        }
        after[i].union_with(&state);
        for edge in &flow.successors[i] {
            state.clone_from(&after[i]);
            ended(&mut state, &edge.awaited);
            if before[edge.to].union_with(&state) {
                open.add(edge.to);
            }
        }
    }
    after.truncate(items.len());
    after
}
