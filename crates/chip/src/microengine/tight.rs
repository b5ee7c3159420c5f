//! The tight loop.
//!
//! Every operation leaves condition codes, its A operand and its result behind
//! for a later one to read. Where the next word in line overwrites all of that
//! unread, the operation is run in its quick form, which stores the destination
//! and nothing else. An operand that is the result of the word before is then
//! taken from hand, as the hardware's bypass does, since a store and a load of
//! the same register would cost more than the operation itself.
//!
//! Finding what to do costs as much as doing it, so what often follows one another is
//! one action: two quick operations of which the second takes the first's result, and
//! an operation that sets the codes with the branch behind it that reads them. Whoever
//! comes to the second word of such a pair finds its own action there.
//!
//! A line that branches back to its own start is one action too, with a loop of its own
//! ([`super::rounds`]).
//!
//! The loop ends at any operation that is no register operation, and the one
//! before is never quick, so whoever looks after it finds everything as if there
//! were no quick forms.

use super::Microengine;
use super::action::{Action, with_actions};
use super::datapath::{Datapath, result};
use super::operation::{Kind, Op};
use crate::kernel::journal::Journal;
use crate::kernel::trace_event;

/// Runs the quick form of an operation; gives its result.
#[inline(always)]
#[allow(clippy::inline_always)] // As above.
fn quick(datapath: &mut Datapath, kind: Kind, op: &Op, x: u32, y: u32) -> u32 {
    let result = result(kind, (op.n, op.x), x, y, datapath.get(op.y));
    datapath.put(op.d, result);
    result
}

macro_rules! tight_loop {
    (
        operations { $($kind:ident $whole:ident $with_a:ident $with_b:ident;)* }
        branches { $($branch:ident)* }
        joined { $($first:ident $second:ident
            $pair:ident $pair_at_hand:ident $same:ident $same_at_hand:ident;)* }
        decided { $($test:ident $way:ident $decided:ident;)* }
    ) => {
        impl Microengine {
            /// The tight loop: operations that need no attention, along lines and the
            /// branches that join them. It ends before the first other one, and gives its
            /// marks, or at a branch from which the limit is not far. Whoever calls it has made
            /// sure that the program's length in cycles lies before the limit, and that of all
            /// reasons for the attentive path none holds but writes of local memory's pointers
            /// that are on their way.
            #[inline(never)]
            pub(super) fn tight<const OBSERVED: bool>(&mut self, journal: &mut Journal) -> Option<u8> {
                let Self {
                    program, lanes, datapath, memory, claims, thrown, line, stats, slow: pending, ..
                } = self;
                let who = (self.index, datapath.context);
                let lane = &lanes[usize::from(who.1) & 7];
                let ops = lane.ops();
                let mut pc = self.pc as usize;
                line.begin(pc, self.cycle);
                let calm = self.calm;
                // Where the first takes an operand from hand.
                let mut last = datapath.get(ops[pc.saturating_sub(1)].d);
                let mut rest = ops[pc..].iter();
                let stop = 'line: loop {
                    let Some(op) = rest.next() else {
                        pc = ops.len();
                        break None;
                    };
                    // Of a quick operation, or the second of a pair, where its result goes. All of
                    // them end in the same place, and taken branches in another.
                    let branch = 'taken: {
                        let (op, value) = match op.action {
                            Action::Stop => break 'line Some(op.marks),
                            Action::OwnedA | Action::OwnedB | Action::OwnedD | Action::Owned => {
                                let owned = match op.action {
                                    Action::OwnedA => claims.owns(op.a),
                                    Action::OwnedB => claims.owns(op.b),
                                    Action::OwnedD => claims.owns(op.d),
                                    _ => claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d),
                                };
                                if owned {
                                    break 'line Some(op.marks);
                                }
                                datapath.operate(op);
                                continue 'line;
                            }
                            Action::Datapath => {
                                datapath.operate_apart(op);
                                continue 'line;
                            }
                            Action::Rounds => {
                                let at = ops.len() - rest.len() - 1;
                                // Whoever watches is told of each line.
                                let ended = if OBSERVED {
                                    None
                                } else {
                                    lane.go_round(at, datapath, line, thrown, calm)
                                };
                                let Some(ended) = ended else {
                                    datapath.operate_apart(op);
                                    continue 'line;
                                };
                                pc = ended;
                                if pc == at {
                                    break 'line None;
                                }
                                rest = ops[pc..].iter();
                                continue 'line;
                            }
                            Action::Local => {
                                if OBSERVED && journal.wants(trace_event::Kind::LocalMemory) {
                                    break 'line Some(op.marks);
                                }
                                let at = ops.len() - rest.len() - 1;
                                if *pending != 0 {
                                    memory.settle(line.cycle_of(at), &mut datapath.byte_index);
                                    if memory.has_pending() {
                                        break 'line Some(op.marks);
                                    }
                                    *pending = 0;
                                }
                                let owned = claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d);
                                let side = &program.sides[at];
                                if owned || Self::local_step(datapath, memory, op, side).is_none() {
                                    break 'line Some(op.marks);
                                }
                                continue 'line;
                            }
                            Action::OwnedBranch => {
                                // The other fields of a branch are no slots.
                                if claims.owns(op.b) {
                                    break 'line Some(op.marks);
                                }
                                if !datapath.condition(op) {
                                    continue 'line;
                                }
                                break 'taken op;
                            }
                            $(
                                Action::$whole => {
                                    datapath.operate_as(Kind::$kind, op);
                                    continue 'line;
                                }
                                Action::$kind => {
                                    let (x, y) = (datapath.get(op.a), datapath.get(op.b));
                                    (op, result(Kind::$kind, (op.n, op.x), x, y, datapath.get(op.y)))
                                }
                                Action::$with_a => {
                                    let y = datapath.get(op.b);
                                    (op, result(Kind::$kind, (op.n, op.x), last, y, datapath.get(op.y)))
                                }
                                Action::$with_b => {
                                    let x = datapath.get(op.a);
                                    (op, result(Kind::$kind, (op.n, op.x), x, last, datapath.get(op.y)))
                                }
                            )*
                            $(
                                Action::$pair => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let (x, y) = (datapath.get(op.a), datapath.get(op.b));
                                    let first = quick(datapath, Kind::$first, op, x, y);
                                    let x = datapath.get(second.a);
                                    (second, result(Kind::$second, (second.n, second.x), x, first, datapath.get(second.y)))
                                }
                                Action::$same => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let (x, y) = (datapath.get(op.a), datapath.get(op.b));
                                    let first = quick(datapath, Kind::$first, op, x, y);
                                    (second, result(Kind::$second, (second.n, second.x), y, first, datapath.get(second.y)))
                                }
                                Action::$pair_at_hand => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let x = datapath.get(op.a);
                                    let first = quick(datapath, Kind::$first, op, x, last);
                                    let x = datapath.get(second.a);
                                    (second, result(Kind::$second, (second.n, second.x), x, first, datapath.get(second.y)))
                                }
                                Action::$same_at_hand => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let x = datapath.get(op.a);
                                    let first = quick(datapath, Kind::$first, op, x, last);
                                    (second, result(Kind::$second, (second.n, second.x), last, first, datapath.get(second.y)))
                                }
                            )*
                            $(
                                Action::$branch => {
                                    if !datapath.decides(Kind::$branch, op) {
                                        continue 'line;
                                    }
                                    break 'taken op;
                                }
                            )*
                            $(
                                Action::$decided => {
                                    let Some(branch) = rest.next() else { break 'line Some(op.marks) };
                                    datapath.operate_as(Kind::$test, op);
                                    if !datapath.decides(Kind::$way, branch) {
                                        continue 'line;
                                    }
                                    break 'taken branch;
                                }
                            )*
                        };
                        last = value;
                        datapath.put(op.d, last);
                        continue 'line;
                    };
                    let at = ops.len() - rest.len() - 1;
                    if !OBSERVED && branch.n == 0 {
                        line.branch((branch, at), (0, false), thrown);
                    } else if !line.branch_with::<OBSERVED>(datapath, (ops, at), who, (journal, thrown)) {
                        break Some(branch.marks);
                    }
                    rest = ops[usize::from(branch.d)..].iter();
                    if line.arrived >= calm {
                        pc = branch.d as usize;
                        break None;
                    }
                };
                if stop.is_some() {
                    pc = ops.len() - rest.len() - 1;
                }
                if OBSERVED {
                    line.tell(who, pc, journal);
                }
                let cycle = line.cycle_of(pc);
                if *pending != 0 {
                    memory.settle(line.before(pc), &mut datapath.byte_index);
                    if !memory.has_pending() {
                        *pending = 0;
                    }
                }
                stats.aborted += line.aborted;
                stats.instructions += cycle - self.cycle - line.aborted;
                self.pc = pc as u16;
                self.cycle = cycle;
                stop
            }
        }
    };
}

with_actions!(tight_loop);
