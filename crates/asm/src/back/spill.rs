//! Copies that resolve bank conflicts: an instruction that reads two registers which must be in the
//! same bank reads a copy of one of them instead.
//!
//! The copy is made by `ld_field_w_clr`, which leaves the condition codes unchanged and whose
//! operands are always in different banks.

use npsim_isa::{Instruction, Operand, OperandRole, Shift};

use crate::back::allocate::{AllocationProblem, banks};
use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::middle::program::{Item, Micro, OperandSlot, OperandValue};
use crate::middle::scope::{RegisterFile, Symbols, Variable};
use crate::middle::select::SelectedProgram;
use npsim_image::TransferDirection;

/// A planned copy.
pub struct Copy {
    item: usize,
    slot: usize,
}

/// Plans copies for the conflicts of a program, at most one per instruction.
#[must_use]
pub fn plan(problem: &AllocationProblem<'_>) -> Vec<Copy> {
    let mut shadows = vec![false; problem.items.len()];
    for (i, item) in problem.items.iter().enumerate() {
        let slots = item.micro().map_or(0, |m| m.template.defer());
        let inside = (i + 1..problem.items.len())
            .filter(|&at| problem.items[at].micro().is_some())
            .take(slots as usize);
        inside.for_each(|at| shadows[at] = true);
    }
    let mut copies: Vec<Copy> = Vec::new();
    for items in banks::disagreements(problem) {
        // One copy may resolve several conflicts; the next round handles the rest.
        if items
            .iter()
            .any(|item| copies.iter().any(|c| c.item == *item))
        {
            continue;
        }
        let copy = items.into_iter().find_map(|item| {
            let micro = problem.items[item].micro()?;
            if shadows[item] || !may_follow_copy(&micro.template) {
                return None;
            }
            let slot = micro.slots.iter().position(|slot| {
                slot.role != OperandRole::Dest && slot.reads && is_relative(slot, problem.symbols)
            })?;
            Some(Copy { item, slot })
        });
        copies.extend(copy);
    }
    copies.sort_by_key(|copy| copy.item);
    copies
}

/// Whether a word may be inserted directly before an instruction.
fn may_follow_copy(instruction: &Instruction) -> bool {
    instruction.takes().is_none() && instruction.form().sequence.is_none()
}

fn is_relative(slot: &OperandSlot, symbols: &Symbols) -> bool {
    match slot.value {
        OperandValue::Register(id) => symbols.variables[id].space == RegisterFile::Gpr,
        OperandValue::Physical(operand) => matches!(operand, Operand::Gpr(..)),
        OperandValue::Constant(_) => false,
    }
}

/// Inserts the copies into the program.
pub fn insert(
    copies: &[Copy],
    selection: &mut SelectedProgram,
    symbols: &mut Symbols,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for copy in copies.iter().rev() {
        let number = symbols.variables.len();
        let Item::Micro(micro) = &mut selection.items[copy.item] else {
            continue;
        };
        let slot = &mut micro.slots[copy.slot];
        let source = slot.value.clone();
        slot.value = OperandValue::Register(number);
        let place = slot.place;
        let role = slot.role;
        if let (OperandValue::Physical(_), Some(operand)) =
            (&source, micro.template.operand_mut(role))
        {
            *operand = Operand::None;
        }
        let name = format!("_copy_{number}");
        let text = match &source {
            OperandValue::Register(id) => symbols.variables[*id].name.clone(),
            OperandValue::Physical(operand) => operand.to_string(),
            OperandValue::Constant(_) => String::new(),
        };
        symbols.variables.push(Variable {
            name: name.clone(),
            scope: micro.scope,
            space: RegisterFile::Gpr,
            direction: TransferDirection::Both,
            private: false,
            shared: false,
            fixed: None,
            implied_by: None,
            place,
            used: true,
            initialised: false,
        });
        let port = |role, value, reads| OperandSlot {
            role,
            value,
            reads,
            writes: !reads,
            place,
        };
        let made = Micro {
            template: Instruction::LdField {
                dest: Operand::None,
                mask: 0b1111,
                src: match source {
                    OperandValue::Physical(operand) => operand,
                    _ => Operand::None,
                },
                shift: Shift::None,
                clear: true,
                load_cc: false,
            },
            slots: vec![
                port(OperandRole::Dest, OperandValue::Register(number), false),
                port(OperandRole::Src, source, true),
            ],
            mnemonic: "ld_field_w_clr".to_owned(),
            place: micro.place,
            scope: micro.scope,
            generated: true,
            statement: micro.statement,
            ..Micro::nop(micro.place, micro.scope)
        };
        diagnostics.push(Diagnostic {
            level: Severity::Note,
            ..place
                .warning(
                    codes::SPILL_MOVE,
                    format!("`{text}` is copied to the other bank for this instruction"),
                )
                .label(format!("reads `{name}` instead"))
                .note(format!(
                    "Inserted in front: `ld_field_w_clr[{name}, 1111, {text}]`."
                ))
                .help("write the copy into the source to choose its place yourself")
        });
        selection
            .items
            .insert(copy.item, Item::Micro(Box::new(made)));
        for label in &mut selection.labels {
            // A jump to a label must execute the copy too.
            label.item += usize::from(label.item > copy.item);
        }
    }
}
