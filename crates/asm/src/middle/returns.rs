//! Possible targets of a `rtn`: the labels whose addresses were loaded into its register,
//! restricted, inside a `.subroutine`, to those whose callers called that subroutine.

use npsim_isa::{Condition, Instruction, Operand, OperandRole};
use rustc_hash::FxHashSet;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::token::Token;
use crate::middle::program::{
    Item, LateKind, Micro, OperandValue, SubroutineMark, SymbolReference,
};

/// What the directives of a program say about calls.
pub struct Subroutines {
    /// Items of each subroutine: the first, and one past the last.
    ranges: Vec<(usize, usize)>,
    /// Items marked by `.reentry`.
    pub reentries: Vec<usize>,
}

/// The calls and returns that are evident from the program.
pub struct Returns<'a> {
    items: &'a [Item],
    subroutines: &'a Subroutines,
    /// Target item of the label operand of each instruction, by item.
    targets: &'a [Option<usize>],
    /// The instruction whose defer slots contain each item.
    owner: Vec<Option<usize>>,
    /// The first item after each one that changes control flow, or that control can also reach from
    /// elsewhere.
    next_turn: Vec<Option<usize>>,
    /// Whether an item can be reached from elsewhere than its predecessor.
    entered: &'a [bool],
    /// The targets of the returns so far, by register and subroutine: a program may have thousands
    /// of returns, and of address loads.
    known: Vec<(OperandValue, Option<usize>, Option<Vec<usize>>)>,
}

/// An instruction that loads a label's address into a register.
struct AddressLoad {
    label: Option<usize>,
    /// The call for which it loads the address, if this is evident.
    call: Option<usize>,
}

impl Subroutines {
    /// Finds subroutines; mismatched directives are reported.
    pub fn new(items: &[Item], diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut ranges = Vec::new();
        let mut reentries = Vec::new();
        let mut open = None;
        for (i, item) in items.iter().enumerate() {
            let Item::Hint(hint) = item else { continue };
            match (hint.mark, open) {
                (None, _) => {}
                (Some(SubroutineMark::Reentry), _) => reentries.push(i),
                (Some(SubroutineMark::Begin(place)), None) => open = Some((i, place)),
                (Some(SubroutineMark::End(_)), Some((first, _))) => {
                    ranges.push((first, i));
                    open = None;
                }
                (Some(SubroutineMark::Begin(place)), Some((_, outer))) => diagnostics.push(
                    place
                        .error(codes::UNBALANCED_SCOPE, "`.subroutine` inside a subroutine")
                        .also(outer.span, outer.expansion, "this one is still open")
                        .help("close the first one with `.endsub`"),
                ),
                (Some(SubroutineMark::End(place)), None) => diagnostics.push(
                    place
                        .error(codes::UNBALANCED_SCOPE, "`.endsub` without `.subroutine`")
                        .label("no subroutine is open here"),
                ),
            }
        }
        if let Some((_, place)) = open {
            diagnostics.push(
                place
                    .error(codes::UNBALANCED_SCOPE, "`.subroutine` without `.endsub`")
                    .label("opened here and never closed")
                    .help("add `.endsub`"),
            );
        }
        Self { ranges, reentries }
    }
}

impl<'a> Returns<'a> {
    /// Finds the calls of a program.
    pub fn new(
        items: &'a [Item],
        subroutines: &'a Subroutines,
        targets: &'a [Option<usize>],
        entered: &'a [bool],
    ) -> Self {
        let mut owner = vec![None; items.len()];
        for (i, item) in items.iter().enumerate() {
            let slots = item.micro().map_or(0, |m| m.template.defer());
            let inside = (i + 1..items.len())
                .filter(|&at| items[at].micro().is_some())
                .take(slots as usize);
            for at in inside {
                owner[at] = Some(i);
            }
        }
        let mut next_turn = vec![None; items.len()];
        let mut turn = None;
        for (i, item) in items.iter().enumerate().rev() {
            next_turn[i] = turn;
            let turns = |micro: &Micro| micro.template.is_control_flow();
            if entered[i] || item.micro().is_some_and(turns) {
                turn = Some(i);
            }
        }
        Self {
            items,
            subroutines,
            targets,
            owner,
            next_turn,
            entered,
            known: Vec::new(),
        }
    }

    /// Returns the items that the `rtn` at `item` may lead to, if they can be determined.
    pub fn of(
        &mut self,
        item: usize,
        resolve: impl FnMut(&Token, usize) -> Option<usize>,
    ) -> Option<&[usize]> {
        let items = self.items;
        let register = items[item]
            .micro()?
            .slots
            .iter()
            .find(|slot| slot.role == OperandRole::Src)
            .map(|slot| &slot.value)?;
        if !matches!(
            register,
            OperandValue::Register(_)
                | OperandValue::Physical(Operand::Gpr(..) | Operand::GprAbsolute(..))
        ) {
            return None;
        }
        let mut ranges = self.subroutines.ranges.iter();
        let inside = ranges.position(|(first, end)| (*first..*end).contains(&item));
        let mut known = self.known.iter();
        let known = known.position(|(of, within, _)| of == register && *within == inside);
        let known = known.unwrap_or_else(|| {
            let found = self.find(register, inside, resolve);
            self.known.push((register.clone(), inside, found));
            self.known.len() - 1
        });
        self.known[known].2.as_deref()
    }

    /// Determines the targets of the returns through a register in a subroutine.
    fn find(
        &self,
        register: &OperandValue,
        inside: Option<usize>,
        mut resolve: impl FnMut(&Token, usize) -> Option<usize>,
    ) -> Option<Vec<usize>> {
        let mut loads = Vec::new();
        for (i, other) in self.items.iter().enumerate() {
            match other {
                Item::Micro(micro) => {
                    let writes = micro
                        .slots
                        .iter()
                        .any(|slot| slot.writes && slot.value == *register);
                    if writes {
                        let label = loaded_label(micro)?;
                        loads.push(AddressLoad {
                            label: resolve(label, micro.scope),
                            call: self.call_of(i),
                        });
                    }
                }
                Item::Hint(hint) => {
                    let named = |&cell: &usize| matches!(register, OperandValue::Register(id) if *id == cell / 2);
                    if hint.sets.iter().any(named) {
                        return None;
                    }
                }
            }
        }
        if loads.is_empty() {
            return None;
        }
        let inside = inside.map(|at| self.subroutines.ranges[at]);
        let selective = inside.filter(|&range| self.only_called(range, &loads));
        let mut found: Vec<usize> = loads
            .iter()
            .filter(|load| {
                let Some((first, end)) = selective else {
                    return true;
                };
                let target = load.call.and_then(|call| self.targets[call]);
                target.is_none_or(|target| (first..end).contains(&target))
            })
            .filter_map(|load| load.label)
            .chain(self.subroutines.reentries.iter().copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Returns the unconditional branch that follows the load of a return address.
    fn call_of(&self, load: usize) -> Option<usize> {
        let call = if let Some(branch) = self.owner[load] {
            branch
        } else {
            self.next_turn[load].filter(|&next| !self.entered[next])?
        };
        is_br(self.items[call].micro()?).then_some(call)
    }

    /// Whether control enters the range only through calls.
    fn only_called(&self, (first, end): (usize, usize), loads: &[AddressLoad]) -> bool {
        let calls: FxHashSet<usize> = loads.iter().filter_map(|load| load.call).collect();
        let inside = |at: usize| (first..end).contains(&at);
        let branches_in = (0..self.items.len())
            .any(|at| !inside(at) && self.targets[at].is_some_and(inside) && !calls.contains(&at));
        let mut before = (0..first).rev();
        let before = before.find(|&at| self.items[at].micro().is_some());
        let falls_in = before.is_some_and(|at| {
            let leaving = self.owner[at].unwrap_or(at);
            !self.items[leaving].micro().is_some_and(is_final)
        });
        !branches_in && !falls_in
    }
}

fn is_br(micro: &Micro) -> bool {
    matches!(
        micro.template,
        Instruction::Branch {
            condition: Condition::Always,
            ..
        }
    )
}

/// Whether control never continues after the instruction and its defer slots.
fn is_final(micro: &Micro) -> bool {
    is_br(micro)
        || match &micro.template {
            Instruction::Jump { .. } => true,
            Instruction::CtxArb(arb) => {
                arb.resume.is_some() || (arb.any && arb.mask == 0 && micro.waits.is_empty())
            }
            _ => false,
        }
}

/// Returns the label whose address the instruction loads into a register.
fn loaded_label(micro: &Micro) -> Option<&Token> {
    let late = micro.late.as_ref()?;
    if late.kind != LateKind::Immed || late.expression.tokens.len() != 1 {
        return None;
    }
    match late.expression.references.as_slice() {
        [(_, SymbolReference::Label(token))] => Some(token),
        _ => None,
    }
}
