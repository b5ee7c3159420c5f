//! The registers that matter where a context stands, by their names in the program: those read by
//! the instruction there, then all other named registers that hold a live value.

use npsim_chip::chip::Chip;
use npsim_chip::core::Core;
use npsim_chip::kernel::fabric::TransferKind;
use npsim_image::{Image, ProgramPoint, RegisterUse, TransferDirection};
use npsim_isa::{Context, Operand};
use serde::Serialize;

/// Maximum number of registers shown.
const MAX_SHOWN: usize = 16;

/// A register and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterValue {
    /// The name in the source, or the register's number if it has none.
    pub name: String,
    /// The value.
    pub value: u32,
}

/// The registers that matter for a context at an instruction, at most `MAX_SHOWN`, each name once. Those
/// read by the instruction come first, so that the limit never cuts them off. A transfer name
/// stands for an IN and an OUT register; both are listed if both are live.
#[must_use]
pub fn relevant_registers(chip: &Chip, me: u8, context: u8, pc: u16) -> Vec<RegisterValue> {
    let Some(core) = chip.microengines().get(usize::from(me)) else {
        return Vec::new();
    };
    let image = core.program().image();
    let mut found: Vec<RegisterValue> = Vec::new();
    let mut add = |name: String, operand: Operand, side: TransferDirection| {
        if found.len() < MAX_SHOWN && found.iter().all(|it| it.name != name) {
            let value = value_of(core.as_ref(), context, operand, side);
            found.push(RegisterValue { name, value });
        }
    };
    // Registers that it writes are not written yet.
    let read = |used: &RegisterUse| !used.point.after;
    for used in image.registers_used(pc).into_iter().filter(read) {
        add(name_of(image, used), used.operand, used.side);
    }
    if !image.has_live_ranges() {
        return found;
    }
    for side in [TransferDirection::Read, TransferDirection::Write] {
        for symbol in &image.registers {
            let transfer = matches!(
                symbol.operand,
                Operand::STransfer(_) | Operand::DTransfer(_)
            );
            let here = { symbol.live_on(side).iter() }
                .any(|range| range.contains(ProgramPoint::before(pc)));
            if here && (transfer || side == TransferDirection::Read) {
                add(symbol.name.clone(), symbol.operand, side);
            }
        }
    }
    found
}

/// The registers as text: `length = 0x00000040 (64)`.
#[must_use]
pub fn as_text(registers: &[RegisterValue]) -> Vec<String> {
    let width = { registers.iter() }
        .map(|it| it.name.len())
        .max()
        .unwrap_or(0);
    let line =
        |it: &RegisterValue| format!("  {:width$} = 0x{:08x} ({})", it.name, it.value, it.value);
    registers.iter().map(line).collect()
}

fn name_of(image: &Image, used: RegisterUse) -> String {
    let mut names: Vec<_> = image.register_at(used).map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [name] => name.to_owned(),
        _ => used.operand.to_string(),
    }
}

fn value_of(core: &dyn Core, context: u8, operand: Operand, side: TransferDirection) -> u32 {
    let (kind, number) = match operand {
        Operand::STransfer(number) => (TransferKind::S, number),
        Operand::DTransfer(number) => (TransferKind::D, number),
        other => return core.read_register(other, context),
    };
    if side == TransferDirection::Write {
        core.read_out_register(kind, Context::wrapping(context).absolute_register(number))
    } else {
        core.read_register(operand, context)
    }
}
