//! Live-range splitting: the writes and reads of one name fall into webs, sets
//! in which each read can see one of the writes. Webs have nothing to do with
//! each other but their name, so each becomes a variable of its own and may
//! get another register, in another bank.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::middle::bit_set::BitSet;
use crate::middle::flow::Flow;
use crate::middle::program::{Item, Side, Value, VariableId, cell};
use crate::middle::scope::{Space, Symbols};

/// A write of a variable; the first ones stand for what it holds at the start.
#[derive(Clone, Copy)]
struct Write {
    variable: VariableId,
}

/// Where a variable is named.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// Slot of an instruction.
    Slot(usize, usize),
    /// Cell of a `.use`.
    Hint(usize, usize),
}

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
        // The smaller number stays, so that the web of the start keeps its name.
        self.parent[one.max(two)] = one.min(two);
    }
}

/// Splits the context-relative general-purpose names of a program.
pub fn split(items: &mut [Item], flow: &Flow, symbols: &mut Symbols) {
    let splittable = |id: VariableId| {
        let variable = &symbols.variables[id];
        variable.space == Space::Gpr
            && !variable.private
            && variable.fixed.is_none()
            && variable.used
    };
    let eligible: Vec<bool> = (0..symbols.variables.len()).map(splittable).collect();
    let mut writes: Vec<Write> = (0..eligible.len())
        .map(|variable| Write { variable })
        .collect();
    let mut made: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    // Writes by the slot or cell that makes them.
    let mut writer: BTreeMap<Use, usize> = BTreeMap::new();
    for (i, item) in items.iter().enumerate() {
        let mut add = |at: Use, variable: VariableId| {
            if eligible[variable] {
                made[i].push(writes.len());
                writer.insert(at, writes.len());
                writes.push(Write { variable });
            }
        };
        match item {
            Item::Micro(micro) => {
                for (s, slot) in micro.slots.iter().enumerate() {
                    if let (Value::Register(id), true) = (&slot.value, slot.writes) {
                        add(Use::Slot(i, s), *id);
                    }
                }
            }
            Item::Hint(hint) => {
                for (s, &set) in hint.sets.iter().enumerate() {
                    add(Use::Hint(i, s), set / 2);
                }
            }
        }
    }
    let places = WritePlaces::new(&writes, eligible.len());
    let reaching = reaching(items.len(), flow, &eligible, &writes, &made, &places);
    let mut webs = Webs {
        parent: (0..writes.len()).collect(),
    };
    let mut seen: BTreeMap<Use, usize> = BTreeMap::new();
    for (i, item) in items.iter().enumerate() {
        let mut read = |at: Use, variable: VariableId| {
            if !eligible[variable] {
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
            // Where no write comes, the item is never reached.
            seen.insert(at, first.unwrap_or(variable));
        };
        match item {
            Item::Micro(micro) => {
                for (s, slot) in micro.slots.iter().enumerate() {
                    if let (Value::Register(id), true) = (&slot.value, slot.reads) {
                        read(Use::Slot(i, s), *id);
                    }
                }
            }
            Item::Hint(hint) => {
                // Numbered after the cells that are set.
                for (s, &used) in hint.uses.iter().enumerate() {
                    read(Use::Hint(i, hint.sets.len() + s), used / 2);
                }
            }
        }
    }
    // What is changed in place stays in its register.
    for (at, &write) in &writer {
        if let Some(&read) = seen.get(at) {
            webs.join(read, write);
        }
    }
    rename(items, symbols, &eligible, &writer, &seen, &mut webs);
}

/// The places of writes in sets of them: those of one variable side by side, in
/// their order, so that a set is asked about all of them at once.
struct WritePlaces {
    /// The write at each place.
    writes: Vec<usize>,
    /// The place of each write.
    place: Vec<usize>,
    /// The first place of each variable, and the end.
    first: Vec<usize>,
}

impl WritePlaces {
    fn new(writes: &[Write], variables: usize) -> Self {
        let mut sorted: Vec<usize> = (0..writes.len()).collect();
        sorted.sort_by_key(|&write| writes[write].variable);
        let mut place = vec![0; writes.len()];
        let mut first = vec![0; variables + 1];
        for (at, &write) in sorted.iter().enumerate() {
            place[write] = at;
            // Places ascend with the variable, so the last one seen ends it.
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

/// Writes that may be the last ones at the start of each item, by their places.
fn reaching(
    count: usize,
    flow: &Flow,
    eligible: &[bool],
    writes: &[Write],
    made: &[Vec<usize>],
    places: &WritePlaces,
) -> Vec<BitSet> {
    let mut before = vec![BitSet::new(writes.len()); count];
    if let Some(start) = before.first_mut() {
        for (variable, eligible) in eligible.iter().enumerate() {
            if *eligible {
                start.insert(places.place[variable]);
            }
        }
    }
    let mut open: Vec<usize> = (0..count).rev().collect();
    let mut waiting = vec![true; count];
    let mut state = BitSet::default();
    while let Some(i) = open.pop() {
        waiting[i] = false;
        state.clone_from(&before[i]);
        for &write in &made[i] {
            state.remove_range(places.of(writes[write].variable));
        }
        // Two writes of one name in one instruction are both its last one.
        for &write in &made[i] {
            state.insert(places.place[write]);
        }
        for edge in &flow.successors[i] {
            if let Some(next) = before.get_mut(edge.to)
                && next.union_with(&state)
                && !std::mem::replace(&mut waiting[edge.to], true)
            {
                open.push(edge.to);
            }
        }
    }
    before
}

fn rename(
    items: &mut [Item],
    symbols: &mut Symbols,
    eligible: &[bool],
    writer: &BTreeMap<Use, usize>,
    seen: &BTreeMap<Use, usize>,
    webs: &mut Webs,
) {
    let mut variable_of: BTreeMap<usize, VariableId> = BTreeMap::new();
    let mut taken = vec![false; eligible.len()];
    // What a name holds at the start is read somewhere, or the loader sets it:
    // then that web keeps the variable that the loader knows.
    let uses: Vec<(Use, usize)> = seen.iter().chain(writer).map(|(at, w)| (*at, *w)).collect();
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
    order.sort_unstable();
    for (at, write) in order {
        let web = webs.find(write);
        let (Use::Slot(i, s) | Use::Hint(i, s)) = at;
        let old = match (&items[i], at) {
            (Item::Micro(micro), _) => match micro.slots[s].value {
                Value::Register(id) => id,
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
        // An occurrence that both reads and writes comes twice, with the same web.
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
            Item::Micro(micro) => micro.slots[s].value = Value::Register(id),
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
