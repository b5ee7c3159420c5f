//! Hazards: the hardware does not wait for control registers or for data in flight, so a value used
//! too soon is an old one. Only straight-line code is checked, not what happens across branches and
//! context swaps.

use npsim_isa::{ByteOrder, Index, Instruction, Operand, TransferRegister, csr};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::statement::SourcePlace;
use crate::middle::flow::FlowGraph;
use crate::middle::groups::Groups;
use crate::middle::program::words;
use crate::middle::program::{Item, Micro, OperandValue, Side, SignalRef, VariableId};
use crate::middle::scope::Symbols;

/// Warns of values used too soon and of unreachable code.
pub fn check(
    items: &[Item],
    flow: &FlowGraph,
    symbols: &Symbols,
    groups: &Groups,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let micros: Vec<(usize, &Micro)> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| item.micro().map(|micro| (i, micro)))
        .collect();
    pointers(&micros, diagnostics);
    alignments(&micros, flow, diagnostics);
    transfers(items, flow, symbols, groups, diagnostics);
    unreachable(items, flow, diagnostics);
}

/// Returns the place where an instruction uses an index register.
fn index_use(micro: &Micro, index: Index) -> Option<SourcePlace> {
    if index == Index::Byte {
        return micro.template.uses_index(index).then_some(micro.place);
    }
    let goes_through = |value: &OperandValue| matches!(value, OperandValue::Physical(operand) if operand.index() == Some(index));
    let slot = micro.slots.iter().find(|slot| goes_through(&slot.value));
    slot.map(|slot| slot.place)
}

fn pointers(micros: &[(usize, &Micro)], diagnostics: &mut Vec<Diagnostic>) {
    for (position, (_, micro)) in micros.iter().enumerate() {
        for &index in micro.template.indexes_written() {
            let following = micros[position + 1..].iter().take(csr::INDEX_GAP.into());
            for (between, (_, next)) in following.enumerate() {
                if let Some(place) = index_use(next, index) {
                    let name = micro.template.csr_written().and_then(csr::name);
                    let name = name.unwrap_or_default();
                    diagnostics.push(early_use_warning(micro, name, place, between));
                    break;
                }
                if next.template.is_control_flow() {
                    break;
                }
            }
        }
    }
}

fn early_use_warning(micro: &Micro, name: &str, place: SourcePlace, between: usize) -> Diagnostic {
    let gap = usize::from(csr::INDEX_GAP);
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    place
        .warning(
            codes::POINTER_TOO_SOON,
            format!("this still uses the old value of {name}"),
        )
        .label(format!(
            "{between} instruction{} between, {gap} are needed",
            plural(between)
        ))
        .also(
            micro.place.span,
            micro.place.expansion,
            "the new value is written here",
        )
        .note(format!(
            "A write to this register takes effect in the {} instruction after it.",
            ["first", "second", "third", "fourth", "fifth"][gap]
        ))
        .help(format!(
            "put {} other instruction{} or `nop` between",
            gap - between,
            plural(gap - between)
        ))
}

fn alignment(micro: &Micro) -> Option<(ByteOrder, bool)> {
    match micro.template {
        Instruction::ByteAlign { order, .. } => {
            let kept = micro.slots.iter().any(|slot| {
                slot.writes && !matches!(slot.value, OperandValue::Physical(Operand::None))
            });
            Some((order, kept))
        }
        _ => None,
    }
}

fn alignments(micros: &[(usize, &Micro)], flow: &FlowGraph, diagnostics: &mut Vec<Diagnostic>) {
    for (position, &(item, micro)) in micros.iter().enumerate() {
        let Some((order, true)) = alignment(micro) else {
            continue;
        };
        let mut entered = flow.entered[item];
        let mut spoilt: Option<&Micro> = None;
        let mut found = false;
        for &(item, before) in micros[..position].iter().rev() {
            if entered {
                break;
            }
            if alignment(before).is_some_and(|(other, _)| other == order) {
                found = true;
                break;
            }
            if before.template.swaps() {
                spoilt = Some(before);
                break;
            }
            entered = flow.entered[item];
        }
        if found || entered {
            continue;
        }
        let mut diagnostic = micro
            .place
            .warning(
                codes::ALIGN_WITHOUT_PREDECESSOR,
                format!(
                    "no `{}` before this one supplies the other half",
                    micro.mnemonic
                ),
            )
            .note("An alignment joins its source with that of the alignment before it.")
            .help(format!("begin with `{}[--, first]`", micro.mnemonic));
        if let Some(swap) = spoilt {
            diagnostic = diagnostic.also(
                swap.place.span,
                swap.place.expansion,
                "other contexts may align something here",
            );
        }
        diagnostics.push(diagnostic);
    }
}

/// Returns the signal that a command raises, and whether the context sleeps until then.
fn completion(micro: &Micro) -> Option<(SignalRef, bool)> {
    let used = micro.completion?;
    micro.template.completion()?;
    Some((used.signal, micro.template.swaps()))
}

/// The transfer registers that a command uses on one side.
struct Reached<'g> {
    variables: &'g [VariableId],
    physical: Option<(bool, u8, u8)>,
}

impl Reached<'_> {
    fn includes(&self, value: &OperandValue) -> bool {
        match value {
            OperandValue::Register(id) => self.variables.contains(id),
            OperandValue::Physical(operand) => {
                let (dram, number) = match operand {
                    Operand::STransfer(n) => (false, *n),
                    Operand::DTransfer(n) => (true, *n),
                    _ => return false,
                };
                self.physical.is_some_and(|(kind, first, count)| {
                    kind == dram && (first..first.saturating_add(count)).contains(&number)
                })
            }
            OperandValue::Constant(_) => false,
        }
    }
}

fn reached<'g>(micro: &Micro, groups: &'g Groups, side: Side) -> Reached<'g> {
    let (pull, push) = words(&micro.template);
    let count = if side == Side::Out { pull } else { push };
    let symbol = micro.transfer.and_then(|transfer| match side {
        Side::In => transfer.read,
        Side::Out => transfer.write,
    });
    let transfer = match &micro.template {
        Instruction::Command(command) => command.transfer,
        Instruction::CapCsr(access) => access.transfer,
        _ => TransferRegister::None,
    };
    Reached {
        variables: match symbol {
            Some(id) if count > 0 => groups.reach(id, count, micro.open_count),
            _ => &[],
        },
        physical: match transfer {
            TransferRegister::None => None,
            TransferRegister::S(n) => Some((false, n, count)),
            TransferRegister::D(n) => Some((true, n, count)),
        },
    }
}

/// Warns of registers that a command in flight still reads or has yet to fill.
///
/// From each command, the instructions after it are scanned in source order until its signal is
/// awaited or the straight-line code ends: at the first item that control can also reach from
/// elsewhere (`entered` of `flow.rs`), or after a branch. Each command causes at most one warning.
fn transfers(
    items: &[Item],
    flow: &FlowGraph,
    symbols: &Symbols,
    groups: &Groups,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (i, item) in items.iter().enumerate() {
        let Some(command) = item.micro() else {
            continue;
        };
        let Some((signal, sleeps)) = completion(command) else {
            continue;
        };
        let pulled = reached(command, groups, Side::Out);
        let pushed = reached(command, groups, Side::In);
        // Number of words that may run before the signal: the defer slots if the context sleeps,
        // else all straight-line code.
        let mut left = if sleeps {
            command.template.defer() as usize
        } else {
            usize::MAX
        };
        for (at, next) in items.iter().enumerate().skip(i + 1) {
            if flow.entered[at] && !sleeps || left == 0 {
                break;
            }
            let micro = match next {
                Item::Hint(hint) => {
                    // `.io_completed` promises that the signal has arrived.
                    if hint.completed.contains(&signal) {
                        break;
                    }
                    continue;
                }
                Item::Micro(micro) => micro,
            };
            left -= 1;
            for slot in &micro.slots {
                let (hit, what) = if slot.writes && pulled.includes(&slot.value) {
                    (
                        true,
                        "is written while a command may still send its old value",
                    )
                } else if slot.reads && pushed.includes(&slot.value) {
                    (
                        true,
                        "is read before the command that fills it has finished",
                    )
                } else {
                    (false, "")
                };
                if !hit {
                    continue;
                }
                let name = match &slot.value {
                    OperandValue::Register(id) => symbols.variables[*id].name.clone(),
                    OperandValue::Physical(operand) => operand.to_string(),
                    OperandValue::Constant(_) => String::new(),
                };
                diagnostics.push(
                    slot.place
                        .warning(codes::TRANSFER_IN_FLIGHT, format!("`{name}` {what}"))
                        .also(
                            command.place.span,
                            command.place.expansion,
                            "the command is issued here",
                        )
                        .note("Its registers belong to the command until its signal has come.")
                        .help("wait for the signal of the command first"),
                );
                left = 0;
                break;
            }
            // A wait, or the end of the straight-line code.
            let waits = micro.waits.iter().chain(&micro.tested);
            if waits.clone().any(|used| used.signal == signal)
                || micro.template.is_control_flow() && (micro.template.defer() == 0 || !sleeps)
            {
                break;
            }
        }
    }
}

/// Warns at the first instruction of each unreachable stretch.
fn unreachable(items: &[Item], flow: &FlowGraph, diagnostics: &mut Vec<Diagnostic>) {
    let reached = flow.reachable();
    let mut inside = false;
    for (i, item) in items.iter().enumerate() {
        let Some(micro) = item.micro() else { continue };
        if reached[i] {
            inside = false;
            continue;
        }
        // Words added by the assembler are of no interest to the reader.
        if micro.generated || std::mem::replace(&mut inside, true) {
            continue;
        }
        diagnostics.push(
            micro
                .place
                .warning(codes::UNREACHABLE_CODE, "this instruction is never reached")
                .note("No branch, return or `.reentry` leads here.")
                .help("remove it, or mark it with `.reentry` if its address is computed"),
        );
    }
}
