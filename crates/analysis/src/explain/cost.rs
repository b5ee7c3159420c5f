//! The cost of instructions on a chip.

use std::fmt::Write as _;

use npsim_image::{DeferSlot, FlowGraph};
use npsim_isa::{CapAccess, CommandOp, FlowClass, Instruction, TransferKind, Unit};
use npsim_profile::Profile;
use serde::Serialize;

/// The cost of an instruction in its microengine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Issue slots: one per instruction.
    pub cycles: u64,
    /// Slots that are discarded when it is taken, without defer slots.
    pub penalty: Option<u64>,
    /// Defer slots that it uses.
    pub defer: u8,
    /// Defer slots that it could use.
    pub defer_limit: u8,
    /// Number of its defer slots that hold a `nop`.
    pub nops: u8,
    /// Slots that are discarded, given its defer slots.
    pub aborted: u64,
    /// Whether the context yields the microengine.
    pub swaps: bool,
    /// Whether it sets the condition codes.
    pub sets_codes: bool,
    /// The cost as a sentence.
    pub text: String,
}

/// A command and its cost on an idle chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandCost {
    /// Unit.
    pub unit: &'static str,
    /// Command.
    pub name: &'static str,
    /// Longwords taken from OUT transfer registers.
    pub pulled: u32,
    /// Longwords put into IN transfer registers.
    pub pushed: u32,
    /// Cycles from issue to its last signal for the minimum amount of data, on
    /// an idle chip; absent if the chip has no such figure.
    pub idle_cycles: Option<u64>,
    /// Its meaning.
    pub meaning: &'static str,
}

/// The cost of each instruction of a program; a word that is not a valid
/// instruction costs nothing. A branch on condition codes is assumed to be
/// reached from the previous word.
#[must_use]
pub fn costs(program: &FlowGraph, profile: &Profile) -> Vec<Cost> {
    let addresses = program.addresses();
    addresses.map(|at| cost(program, profile, at)).collect()
}

pub(super) fn cost(program: &FlowGraph, profile: &Profile, at: u16) -> Cost {
    let Some(instruction) = program.instruction(at) else {
        return Cost::default();
    };
    let swaps = instruction.swaps();
    let before = at.checked_sub(1).and_then(|at| program.instruction(at));
    let penalty = match instruction.form().flow {
        FlowClass::Branch => Some(profile.branch_penalty()),
        FlowClass::Codes if before.is_some_and(Instruction::sets_codes) => {
            Some(profile.conditional_branch_penalty())
        }
        FlowClass::Codes => Some(profile.settled_branch_penalty()),
        FlowClass::Bit => Some(profile.bit_branch_penalty()),
        FlowClass::State => Some(profile.state_branch_penalty()),
        FlowClass::Jump => Some(profile.jump_penalty()),
        FlowClass::Next | FlowClass::Arbitration | FlowClass::Command => {
            swaps.then(|| profile.context_swap_penalty())
        }
    };
    let slots = instruction.defer();
    let in_slots = (1..=u16::from(slots)).map(|slot| program.instruction(at + slot));
    let nops = in_slots
        .filter(|it| matches!(it, Some(Instruction::Nop)))
        .count() as u8;
    let mut cost = Cost {
        cycles: 1,
        penalty,
        defer: slots,
        defer_limit: instruction.defer_limit(),
        nops,
        aborted: penalty.map_or(0, |penalty| penalty.saturating_sub(u64::from(slots))),
        swaps,
        sets_codes: instruction.sets_codes(),
        text: String::new(),
    };
    cost.text = text(&cost, instruction);
    if let Some(DeferSlot { owner, slot }) = program.defer_slot(at) {
        let branch = program.instruction(owner).map_or("branch", word_of);
        let _ = write!(
            cost.text,
            " It is in defer slot {slot} of the {branch} at {owner} and is executed before that takes effect.",
        );
    }
    cost
}

/// The name of an instruction's kind, for a remark.
fn word_of(instruction: &Instruction) -> &'static str {
    match instruction.form().flow {
        _ if instruction.swaps() => "context swap",
        FlowClass::Jump => "jump",
        _ => "branch",
    }
}

fn text(cost: &Cost, instruction: &Instruction) -> String {
    let Some(penalty) = cost.penalty else {
        return "1 cycle.".into();
    };
    let slots = |n: u64| format!("{n} slot{}", if n == 1 { "" } else { "s" });
    let always = matches!(instruction.form().flow, FlowClass::Jump | FlowClass::Branch);
    let when = if cost.swaps || always {
        ""
    } else {
        " if taken"
    };
    let mut text = if cost.aborted == 0 {
        format!("1 cycle, and no aborted slot{when}.")
    } else {
        format!("1 cycle, and {} aborted{when}.", slots(cost.aborted))
    };
    let useful = penalty.min(u64::from(cost.defer_limit));
    let free = useful.saturating_sub(u64::from(cost.defer));
    let used = u64::from(cost.defer);
    if used > 0 {
        let held = match cost.nops {
            0 => "filled".to_owned(),
            n if u64::from(n) == used => "with nothing but nop".to_owned(),
            n => format!("{n} of them nop"),
        };
        let _ = write!(text, " {} of defer, {held}.", slots(used));
    }
    if free > 0 {
        let _ = write!(text, " defer could save {} more.", slots(free));
    }
    if cost.swaps {
        text += " The context yields the microengine.";
    }
    text
}

/// The command that an instruction sends.
pub(super) fn command(profile: &Profile, instruction: &Instruction) -> Option<CommandCost> {
    match instruction {
        Instruction::Command(command) => {
            let info = command.op.info();
            let count = u32::from(command.count);
            Some(CommandCost {
                unit: info.unit.info().name,
                name: info.name,
                pulled: info.pull_words.of(count),
                pushed: info.push_words.of(count),
                idle_cycles: idle_cycles(profile, command.op),
                meaning: info.doc,
            })
        }
        Instruction::CapFastWrite { .. } => Some(CommandCost {
            unit: "cap",
            name: "fast_wr",
            pulled: 0,
            pushed: 0,
            idle_cycles: Some(profile.cap_fast_write()),
            meaning: "writes a chip-wide register with a constant of the word",
        }),
        Instruction::CapCsr(access) => {
            let words = u32::from(access.count);
            let (name, pulled, pushed, cycles, meaning) = match access.access {
                CapAccess::Read => (
                    "read",
                    0,
                    words,
                    profile.cap_read(),
                    "reads chip-wide registers",
                ),
                CapAccess::Write => (
                    "write",
                    words,
                    0,
                    profile.cap_write(),
                    "writes chip-wide registers",
                ),
                CapAccess::FastWriteAlu => (
                    "fast_wr",
                    0,
                    0,
                    profile.cap_fast_write(),
                    "writes a chip-wide register with the last ALU result",
                ),
            };
            Some(CommandCost {
                unit: "cap",
                name,
                pulled,
                pushed,
                idle_cycles: Some(cycles),
                meaning,
            })
        }
        _ => None,
    }
}

/// The profile's idle latency of a command with the minimum amount of data.
fn idle_cycles(profile: &Profile, op: CommandOp) -> Option<u64> {
    use CommandOp as Op;
    let info = op.info();
    let cycles = match op {
        Op::ScratchGet => profile.scratch_ring_get(),
        Op::ScratchPut => profile.scratch_ring_put(),
        Op::ScratchRead => profile.scratch_read(),
        Op::ScratchWrite => profile.scratch_write(),
        Op::SramGet => profile.sram_ring_get(),
        Op::SramPut => profile.sram_ring_put(),
        Op::SramRead => profile.sram_read(),
        Op::SramWrite | Op::SramJournal => profile.sram_write(),
        Op::SramDequeue => profile.sram_dequeue(),
        Op::DramRead => profile.dram_read(),
        Op::DramWrite => profile.dram_write(),
        Op::DramRbufRd => profile.dram_rbuf_rd(),
        Op::DramTbufWr => profile.dram_tbuf_wr(),
        Op::MsfRead => profile.msf_read(),
        Op::MsfWrite => profile.msf_write(),
        Op::MsfFastWr => profile.msf_fast_write(),
        _ => match info.unit {
            Unit::Hash => profile.hash_one(),
            Unit::Scratch if info.pushes => profile.scratch_atomic(),
            Unit::Sram if info.pushes && info.default_transfer == TransferKind::S => {
                if info.name.starts_with("csr") {
                    profile.sram_csr()
                } else {
                    profile.sram_atomic()
                }
            }
            Unit::Cap if info.pushes || info.pulls => profile.cap_reflect(),
            // Commands that return nothing, and those without a latency in the profile.
            Unit::Scratch | Unit::Sram | Unit::Dram | Unit::Msf | Unit::Pci | Unit::Cap => {
                return None;
            }
        },
    };
    Some(cycles)
}
