//! Live-range splitting. The writes and reads of a name are partitioned into webs: a read belongs
//! to the web of every write that may reach it. Webs of a name are independent, so each becomes a
//! variable of its own and may get another register, in another bank.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::middle::bit_set::BitSet;
use crate::middle::flow::FlowGraph;
use crate::middle::liveness::{ShortList, backward};
use crate::middle::program::{Item, OperandValue, Side, VariableId, cell};
use crate::middle::scope::{RegisterFile, Symbols};
use crate::middle::worklist::Worklist;

/// A write of a variable; the first ones stand for the values at the start.
#[derive(Clone, Copy)]
struct VariableWrite {
    variable: VariableId,
}

/// An occurrence of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VariableUse {
    /// Item and slot of an instruction.
    Slot(usize, usize),
    /// Item and cell of a hint.
    Hint(usize, usize),
}

/// How an occurrence accesses the variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// Occurrences, each with the write it makes or one that reaches it.
type Occurrences = Vec<(VariableUse, usize)>;

struct Webs {
    parent: Vec<usize>,
}

impl Webs {
    fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, one: usize, two: usize) {
        let (one, two) = (self.find(one), self.find(two));
        // The smaller number becomes the root, so that the initial web keeps its name.
        self.parent[one.max(two)] = one.min(two);
    }
}

/// Splits the names of context-relative general-purpose registers.
pub fn split(items: &mut [Item], flow: &FlowGraph, symbols: &mut Symbols) {
    let splittable = |id: VariableId| {
        let variable = &symbols.variables[id];
        variable.space == RegisterFile::Gpr
            && !variable.private
            && variable.fixed.is_none()
            && variable.used
    };
    let eligible: Vec<bool> = (0..symbols.variables.len()).map(splittable).collect();
    let mut writes: Vec<VariableWrite> = (0..eligible.len())
        .map(|variable| VariableWrite { variable })
        .collect();
    let mut made: Vec<ShortList> = vec![ShortList::new(); items.len()];
    let mut read: Vec<ShortList> = vec![ShortList::new(); items.len()];
    // Writes, by the slot or cell that makes them.
    let mut writer: Occurrences = Vec::new();
    for (i, item) in items.iter().enumerate() {
        for_each_use(item, i, |at, variable, does| {
            if !eligible[variable] {
                return;
            }
            match does {
                Access::Read => read[i].push(variable),
                Access::Write => {
                    made[i].push(writes.len());
                    writer.push((at, writes.len()));
                    writes.push(VariableWrite { variable });
                }
            }
        });
    }
    let places = WritePlaces::new(&writes, eligible.len());
    // Variables that are no longer read need not be tracked.
    let written = |i: usize| made[i].iter().map(|&write| writes[write].variable);
    let wanted = backward(flow, |i| &read[i], written);
    let reaching = reaching(flow, &writes, &made, &places, &wanted);
    let mut webs = Webs {
        parent: (0..writes.len()).collect(),
    };
    let mut seen: Occurrences = Vec::new();
    for (i, item) in items.iter().enumerate() {
        for_each_use(item, i, |at, variable, does| {
            if does == Access::Write || !eligible[variable] {
                return;
            }
            let mut first = None;
            for place in reaching[i].iter_range(places.of(variable)) {
                let write = places.writes[place];
                match first {
                    None => first = Some(write),
                    Some(known) => webs.join(known, write),
                }
            }
            // An item that no write reaches is never executed.
            seen.push((at, first.unwrap_or(variable)));
        });
    }
    writer.sort_unstable();
    seen.sort_unstable();
    // A value modified in place stays in its register.
    for (at, write) in &writer {
        if let Ok(read) = seen.binary_search_by_key(at, |it| it.0) {
            webs.join(seen[read].1, *write);
        }
    }
    rename(items, symbols, &eligible, (&writer, &seen), &mut webs);
}

/// Calls `see` for each occurrence of a variable in an item.
fn for_each_use(item: &Item, i: usize, mut see: impl FnMut(VariableUse, VariableId, Access)) {
    match item {
        Item::Micro(micro) => {
            for (s, slot) in micro.slots.iter().enumerate() {
                let OperandValue::Register(id) = slot.value else {
                    continue;
                };
                if slot.reads {
                    see(VariableUse::Slot(i, s), id, Access::Read);
                }
                if slot.writes {
                    see(VariableUse::Slot(i, s), id, Access::Write);
                }
            }
        }
        Item::Hint(hint) => {
            for (s, &set) in hint.sets.iter().enumerate() {
                see(VariableUse::Hint(i, s), set / 2, Access::Write);
            }
            // Numbered after the cells that are set.
            for (s, &used) in hint.uses.iter().enumerate() {
                see(
                    VariableUse::Hint(i, hint.sets.len() + s),
                    used / 2,
                    Access::Read,
                );
            }
        }
    }
}

/// Positions of writes in bit sets: the writes of a variable are contiguous, in order, so that they
/// can be queried together.
struct WritePlaces {
    /// The write at each position.
    writes: Vec<usize>,
    /// The position of each write.
    place: Vec<usize>,
    /// The first position of each variable, and the end.
    first: Vec<usize>,
}

impl WritePlaces {
    fn new(writes: &[VariableWrite], variables: usize) -> Self {
        let mut sorted: Vec<usize> = (0..writes.len()).collect();
        sorted.sort_by_key(|&write| writes[write].variable);
        let mut place = vec![0; writes.len()];
        let mut first = vec![0; variables + 1];
        for (at, &write) in sorted.iter().enumerate() {
            place[write] = at;
            // Positions ascend with the variable, so the last one seen marks its end.
            first[writes[write].variable + 1] = at + 1;
        }
        Self {
            writes: sorted,
            place,
            first,
        }
    }

    fn of(&self, variable: VariableId) -> Range<usize> {
        self.first[variable]..self.first[variable + 1]
    }
}

/// Returns the writes that may reach the start of each node, by position, for the variables that
/// are wanted there.
fn reaching(
    flow: &FlowGraph,
    writes: &[VariableWrite],
    made: &[ShortList],
    places: &WritePlaces,
    wanted: &[BitSet],
) -> Vec<BitSet> {
    let mut before = vec![BitSet::default(); flow.nodes()];
    if let (Some(start), Some(wanted)) = (before.first_mut(), wanted.first()) {
        for variable in wanted.iter() {
            start.insert(places.place[variable]);
        }
    }
    let mut open = Worklist::forward(flow);
    let mut state = BitSet::default();
    let mut passed = BitSet::default();
    while let Some(i) = open.take() {
        state.clone_from(&before[i]);
        let own = made.get(i).map(ShortList::as_slice).unwrap_or_default();
        for &write in own {
            state.remove_range(places.of(writes[write].variable));
        }
        // Two writes of a name in one instruction are both its last write.
        for &write in own {
            state.insert(places.place[write]);
        }
        for edge in &flow.successors[i] {
            passed.clear();
            for variable in wanted[edge.to].iter() {
                passed.add_range(&state, places.of(variable));
            }
            if before[edge.to].union_with(&passed) {
                open.add(edge.to);
            }
        }
    }
    before
}

fn rename(
    items: &mut [Item],
    symbols: &mut Symbols,
    eligible: &[bool],
    (writer, seen): (&Occurrences, &Occurrences),
    webs: &mut Webs,
) {
    let mut variable_of: FxHashMap<usize, VariableId> = FxHashMap::default();
    let mut taken = vec![false; eligible.len()];
    // If the initial value of a name is read somewhere, or set by the loader, its web keeps the
    // variable that the loader refers to.
    let uses: Occurrences = seen.iter().chain(writer).copied().collect();
    for &(_, write) in &uses {
        let web = webs.find(write);
        if web < eligible.len() {
            variable_of.insert(web, web);
            taken[web] = true;
        }
    }
    for (id, variable) in symbols.variables.iter().enumerate() {
        if variable.initialised && eligible[id] {
            variable_of.insert(webs.find(id), id);
            taken[id] = true;
        }
    }
    let mut order = uses;
    // The input consists of two sorted runs, which this sort exploits.
    order.sort();
    for (at, write) in order {
        let web = webs.find(write);
        let (VariableUse::Slot(i, s) | VariableUse::Hint(i, s)) = at;
        let old = match (&items[i], at) {
            (Item::Micro(micro), _) => match micro.slots[s].value {
                OperandValue::Register(id) => id,
                _ => continue,
            },
            (Item::Hint(hint), _) => {
                let cells = hint.sets.len();
                let cell = if s < cells {
                    hint.sets[s]
                } else {
                    hint.uses[s - cells]
                };
                cell / 2
            }
        };
        // An occurrence that both reads and writes appears twice, with the same web.
        let known = variable_of.get(&web).copied();
        let id = known.unwrap_or_else(|| {
            let id = if std::mem::replace(&mut taken[old], true) {
                let copy = symbols.variables[old].clone();
                symbols.variables.push(copy);
                let id = symbols.variables.len() - 1;
                symbols.variables[id].initialised = false;
                taken.push(true);
                id
            } else {
                old
            };
            variable_of.insert(web, id);
            id
        });
        match &mut items[i] {
            Item::Micro(micro) => micro.slots[s].value = OperandValue::Register(id),
            Item::Hint(hint) => {
                let cells = hint.sets.len();
                let place = if s < cells {
                    &mut hint.sets[s]
                } else {
                    &mut hint.uses[s - cells]
                };
                *place = cell(id, Side::In);
            }
        }
    }
}

#[cfg(test)]
mod tests;
