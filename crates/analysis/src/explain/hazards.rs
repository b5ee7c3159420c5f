//! Hazards that the hardware does not interlock: control registers that take
//! effect late, results that another instruction must use at once, codes that
//! do not survive a context swap.

use npsim_isa::{Completion, FlowClass, Instruction, Leaves, Takes, TransferRegister, csr};

use super::DecodedProgram;

/// Maximum distance at which the origin of condition codes is searched, in words.
const REACH: usize = 24;

pub(super) fn hazards(code: &DecodedProgram<'_>, address: usize) -> Vec<String> {
    let Some(instruction) = code.at(address) else {
        return Vec::new();
    };
    let mut messages = Vec::new();
    late_register(code, address, instruction, &mut messages);
    early_use(code, address, &mut messages);
    immediate_use(code, address, instruction, &mut messages);
    codes(code, address, instruction, &mut messages);
    in_flight(instruction, &mut messages);
    messages
}

/// The local CSR that an instruction writes, and the number of instructions
/// that must lie between the write and its effect.
fn written(code: &DecodedProgram<'_>, instruction: &Instruction) -> Option<(&'static str, u8)> {
    let name = csr::name(instruction.csr_written()?)?;
    let gap = if name.contains("LM_ADDR") {
        code.profile.lm_addr_gap()
    } else {
        code.profile.csr_gap()
    };
    Some((name, gap))
}

fn late_register(
    code: &DecodedProgram<'_>,
    at: usize,
    instruction: &Instruction,
    messages: &mut Vec<String>,
) {
    let Some((name, gap)) = written(code, instruction) else {
        return;
    };
    let first = (at + 1..=at + usize::from(gap)).find(|&next| uses(code, next, instruction));
    messages.push(format!(
        "{name} has its new value from the {} instruction after this one on{}.",
        ordinal(gap + 1),
        match first {
            Some(next) => format!("; the one at {next} still uses the old value"),
            None => String::new(),
        }
    ));
}

/// Whether the instruction at an address uses an index that another one writes.
fn uses(code: &DecodedProgram<'_>, at: usize, writer: &Instruction) -> bool {
    let Some(instruction) = code.at(at) else {
        return false;
    };
    let mut indexes = writer.indexes_written().iter();
    indexes.any(|&index| instruction.uses_index(index))
}

fn early_use(code: &DecodedProgram<'_>, at: usize, messages: &mut Vec<String>) {
    for back in 1..=8 {
        if code.is_entered(at + 1 - back) && back > 1 {
            break;
        }
        let Some(before) = at.checked_sub(back) else {
            break;
        };
        let Some(instruction) = code.at(before) else {
            break;
        };
        if let Some((name, gap)) = written(code, instruction)
            && back <= usize::from(gap)
            && uses(code, at, instruction)
        {
            messages.push(format!(
                "It still uses the value that {name} had before the write at {before}: {} instructions are needed between, not {}.",
                gap,
                back - 1
            ));
        }
    }
}

fn immediate_use(
    code: &DecodedProgram<'_>,
    at: usize,
    instruction: &Instruction,
    messages: &mut Vec<String>,
) {
    let before = at.checked_sub(1).and_then(|before| code.at(before));
    let indirect = instruction.is_indirect();
    let takes_result = instruction.takes() == Some(Takes::Result);
    if indirect || takes_result {
        let what = if indirect {
            "indirect_ref takes the ALU result"
        } else {
            "fast_wr takes the ALU result"
        };
        messages.push(match before {
            Some(alu) if alu.form().leaves == Leaves::Result && !code.is_entered(at) => {
                format!("{what} of the instruction before it, `{alu}`; nothing may come between.")
            }
            Some(other) if code.is_entered(at) => format!(
                "{what} of whatever was executed before it: `{other}`, or the source of a branch to here."
            ),
            Some(other) => {
                format!("{what} of the instruction before it, but `{other}` makes none.")
            }
            None => format!("{what} of the instruction before it, and there is none."),
        });
    }
    if instruction.shifts_indirectly() {
        messages.push(format!(
            "The shift count is the A operand of the instruction before it{}.",
            before.map_or(String::new(), |before| format!(", `{before}`"))
        ));
    }
    if matches!(instruction, Instruction::LocalCsrRead { .. }) {
        messages.push(match code.at(at + 1) {
            Some(next @ Instruction::Immed { .. }) => {
                format!("The value arrives in the next instruction, `{next}`.")
            }
            Some(next) => format!("The value needs an immed right after it, but `{next}` follows."),
            None => "The value needs an immed right after it, and nothing follows.".into(),
        });
    }
}

/// Reports the origin of the condition codes that a branch tests or an addition uses.
fn codes(
    code: &DecodedProgram<'_>,
    at: usize,
    instruction: &Instruction,
    messages: &mut Vec<String>,
) {
    if instruction.form().flow != FlowClass::Codes {
        return;
    }
    for back in 1..=REACH.min(at) {
        let before = at - back;
        // Beyond a label, the codes may come from elsewhere.
        if code.is_entered(before + 1) {
            messages.push(format!(
                "Control can reach {} from elsewhere, so the condition codes may have been set there.",
                before + 1
            ));
            return;
        }
        let Some(earlier) = code.at(before) else {
            return;
        };
        if earlier.sets_codes() {
            messages.push(format!(
                "The condition codes are those of `{earlier}` at {before}."
            ));
            return;
        }
        if earlier.swaps() && usize::from(earlier.defer()) < back {
            messages.push(format!(
                "The context yields the microengine at {before}, after which the condition codes are those of other contexts; nothing sets them between."
            ));
            return;
        }
    }
}

/// Reports the registers that belong to a unit until a signal.
fn in_flight(instruction: &Instruction, messages: &mut Vec<String>) {
    let Instruction::Command(command) = instruction else {
        return;
    };
    let info = command.op.info();
    let count = u32::from(command.count);
    let (first, sign) = match command.transfer {
        TransferRegister::None => return,
        TransferRegister::S(first) => (first, "$"),
        TransferRegister::D(first) => (first, "$$"),
    };
    let range = |words: u32| {
        if words <= 1 {
            format!("{sign}{first}")
        } else {
            format!("{sign}{first} to {sign}{}", u32::from(first) + words - 1)
        }
    };
    let (pulled, pushed) = (info.pull_words.of(count), info.push_words.of(count));
    let until = match command.completion {
        Completion::Silent => {
            if pulled + pushed > 0 {
                messages.push(format!(
                    "Without a signal the program cannot know when the unit is done with {}.",
                    range(pulled.max(pushed))
                ));
            }
            return;
        }
        Completion::SigDone(signal) => format!("until s{signal} has come"),
        Completion::CtxSwap { .. } => "until the context wakes".to_owned(),
    };
    if pulled > 0 {
        messages.push(format!(
            "Do not write OUT register{} {} {until}: the unit reads there.",
            if pulled > 1 { "s" } else { "" },
            range(pulled)
        ));
    }
    if pushed > 0 {
        messages.push(format!(
            "IN register{} {} {} no value {until}.",
            if pushed > 1 { "s" } else { "" },
            range(pushed),
            if pushed > 1 { "have" } else { "has" }
        ));
    }
}

fn ordinal(n: u8) -> String {
    match n {
        1 => "first".into(),
        2 => "second".into(),
        3 => "third".into(),
        4 => "fourth".into(),
        5 => "fifth".into(),
        n => format!("{n}th"),
    }
}
