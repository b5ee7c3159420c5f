//! Possible targets of a `rtn`: the labels whose addresses were loaded into its register,
//! restricted, inside a `.subroutine`, to those whose callers called that subroutine.

use npsim_isa::{Condition, Instruction, Operand, OperandRole};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::token::Token;
use crate::middle::program::{
    Item, LateKind, Micro, OperandValue, SubroutineMark, SymbolReference,
};

/// The calls and returns that are evident from the program.
pub struct Returns {
    /// Items of each subroutine: the first, and one past the last.
    subroutines: Vec<(usize, usize)>,
    /// Items marked by `.reentry`.
    pub reentries: Vec<usize>,
    /// The instruction whose defer slots contain each item.
    owner: Vec<Option<usize>>,
}

/// An instruction that loads a label's address into a register.
struct AddressLoad {
    item: usize,
    label: Option<usize>,
}

impl Returns {
    /// Finds subroutines; mismatched directives are reported.
    pub fn new(items: &[Item], diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut subroutines = Vec::new();
        let mut reentries = Vec::new();
        let mut open = None;
        for (i, item) in items.iter().enumerate() {
            let Item::Hint(hint) = item else { continue };
            match (hint.mark, open) {
                (None, _) => {}
                (Some(SubroutineMark::Reentry), _) => reentries.push(i),
                (Some(SubroutineMark::Begin(place)), None) => open = Some((i, place)),
                (Some(SubroutineMark::End(_)), Some((first, _))) => {
                    subroutines.push((first, i));
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
        Self {
            subroutines,
            reentries,
            owner,
        }
    }

    /// Returns the items that the `rtn` at `item` may lead to, if they can be determined.
    pub fn of(
        &self,
        items: &[Item],
        item: usize,
        targets: &[Option<usize>],
        entered: &[bool],
        mut resolve: impl FnMut(&Token, usize) -> Option<usize>,
    ) -> Option<Vec<usize>> {
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
        let mut loads = Vec::new();
        for (i, other) in items.iter().enumerate() {
            match other {
                Item::Micro(micro) => {
                    let writes = micro
                        .slots
                        .iter()
                        .any(|slot| slot.writes && slot.value == *register);
                    if writes {
                        let label = loaded_label(micro)?;
                        loads.push(AddressLoad {
                            item: i,
                            label: resolve(label, micro.scope),
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
        let inside = self
            .subroutines
            .iter()
            .find(|(first, end)| (*first..*end).contains(&item));
        let calls: Vec<Option<usize>> = loads
            .iter()
            .map(|load| self.call_of(items, load.item, entered))
            .collect();
        let selective =
            inside.is_some_and(|&range| self.only_called(items, range, targets, &calls));
        let mut found: Vec<usize> = loads
            .iter()
            .zip(&calls)
            .filter(|(_, call)| {
                let (Some(&(first, end)), true) = (inside, selective) else {
                    return true;
                };
                let target = call.and_then(|call| targets[call]);
                target.is_none_or(|target| (first..end).contains(&target))
            })
            .filter_map(|(load, _)| load.label)
            .chain(self.reentries.iter().copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Returns the unconditional branch that follows the load of a return address.
    fn call_of(&self, items: &[Item], load: usize, entered: &[bool]) -> Option<usize> {
        let call = if let Some(branch) = self.owner[load] {
            branch
        } else {
            let next = (load + 1..items.len()).find(|&at| {
                entered[at]
                    || items[at]
                        .micro()
                        .is_some_and(|m| m.template.is_control_flow())
            })?;
            if entered[next] {
                return None;
            }
            next
        };
        is_br(items[call].micro()?).then_some(call)
    }

    /// Whether control enters the range only through calls.
    fn only_called(
        &self,
        items: &[Item],
        (first, end): (usize, usize),
        targets: &[Option<usize>],
        calls: &[Option<usize>],
    ) -> bool {
        let inside = |at: usize| (first..end).contains(&at);
        let branches_in = (0..items.len())
            .any(|at| !inside(at) && targets[at].is_some_and(inside) && !calls.contains(&Some(at)));
        let before = (0..first).rev().find(|&at| items[at].micro().is_some());
        let falls_in = before.is_some_and(|at| {
            let leaving = self.owner[at].unwrap_or(at);
            !items[leaving].micro().is_some_and(is_final)
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
