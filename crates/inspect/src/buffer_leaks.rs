//! Packet buffers that are lost: not on their free list, with no handle left anywhere.
//!
//! A buffer that is not on its free list when a run has come to rest may be kept on purpose: on
//! another queue, on a ring, by a task of the core, in memory that microcode reads, or in a
//! register whose value a context may still use. So all of these are searched, and a buffer found
//! in none of them is lost. A handle left behind in a register does not count if the program only
//! overwrites or tests the register from there on.
//!
//! Microcode may also keep a list of its own, linked through any memory, with any form of the
//! handle. It fills such a list before packets arrive, so buffers taken at that time are not
//! reported.

mod uses;

use std::collections::{BTreeMap, BTreeSet};

use npsim_image::FlowGraph;
use npsim_isa::{Bank, CONTEXTS, Context, Instruction, Operand};

use npsim_chip::chip::Chip;
use npsim_chip::core::Core;
use npsim_chip::kernel::buffers::{BufferTrail, Buffers};
use npsim_chip::kernel::check::{Check, Fault, RelatedPlace};
use npsim_chip::kernel::fabric::TransferKind;
use npsim_chip::kernel::trace_event::ContextState;

use uses::{Register, is_used};

/// Maximum number of groups of lost buffers in a message.
const GROUPS_SHOWN: usize = 5;

/// Describes where [`lost_buffers`] searches, and where it does not.
const SEARCHED: &str = "searched were rings, queues, scratch, local memory, commands in flight, tasks and programs of the core and registers that are still used; tables in SRAM and DRAM were not";

/// The number of packet buffers, and how many are on their free list; `None` unless the boot plan
/// has buffers and their free list is in the Q-array.
#[must_use]
pub fn free_buffers(chip: &Chip) -> Option<(u32, u32)> {
    let setup = chip.fabric().buffers.as_ref()?.setup();
    let free = chip.units().sram.chain(setup.channel, setup.entry)?;
    Some((setup.count, free.len() as u32))
}

/// The lost buffers, in order of their numbers, at the end of a run that has come to rest.
///
/// Each place that can hold a handle marks its buffers in `kept`, by number. A place that this
/// function does not know makes it report a buffer that is not lost, so a new unit, device or task
/// that keeps handles needs a line here. `mark_handle` treats a word as a whole handle, `mark_references` also as
/// a value that microcode derived from one.
#[must_use]
pub fn lost_buffers(chip: &Chip) -> Vec<BufferTrail> {
    let Some(buffers) = &chip.fabric().buffers else {
        return Vec::new();
    };
    let setup = buffers.setup();
    let Some(free) = chip.units().sram.chain(setup.channel, setup.entry) else {
        return Vec::new();
    };
    let mut kept = vec![false; buffers.ways().len()];
    for handle in free {
        mark_handle(&mut kept, buffers, handle);
    }
    if kept.iter().all(|kept| *kept) {
        return Vec::new();
    }
    let is_buffer = |word| buffers.number_of(word).is_some();
    for word in chip.units().sram.queued_words(is_buffer) {
        mark_handle(&mut kept, buffers, word);
    }
    for word in chip.units().scratch.unconsumed_words() {
        mark_handle(&mut kept, buffers, word);
    }
    for handle in chip.gpp().buffers_held_by_tasks() {
        mark_handle(&mut kept, buffers, handle);
    }
    let memories = chip.gpp().tasks().iter().flat_map(|task| task.memory());
    for address in memories.flat_map(|memory| memory.clone().step_by(4)) {
        if let Some(word) = chip.units().dram.read_word(address) {
            mark_handle(&mut kept, buffers, word);
        }
    }
    for flight in chip.fabric().flights() {
        mark_handle(&mut kept, buffers, flight.command.address);
        for &word in &flight.data {
            mark_handle(&mut kept, buffers, word);
        }
    }
    for core in chip.microengines() {
        for &word in core.local_memory() {
            mark_references(&mut kept, buffers, word);
        }
        let flow = FlowGraph::of(core.program().image());
        for context in 0..CONTEXTS {
            let is_buffers = |value| numbers_of(buffers, value).next().is_some();
            for value in values_in_use(core.as_ref(), &flow, context, &is_buffers) {
                mark_references(&mut kept, buffers, value);
            }
        }
    }
    let ways = buffers.ways().iter().zip(kept);
    ways.filter(|(way, kept)| !kept && way.taken.place().is_some())
        .map(|(way, _)| *way)
        .collect()
}

/// Raises [`Check::BufferLeak`] for lost buffers, at the end of a run that has
/// come to rest.
pub fn raise_buffer_leaks(chip: &mut Chip) {
    let lost = lost_buffers(chip);
    let mut groups: BTreeMap<_, u32> = BTreeMap::new();
    for way in &lost {
        let (Some(taken), last) = (way.taken.place(), way.last.place()) else {
            continue;
        };
        // The places matter, not the contexts.
        let last = last.map(|(me, _, pc)| (me, pc));
        *groups.entry(((taken.0, taken.2), last)).or_default() += 1;
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let Some(&(((me, pc), seen), _)) = groups.first() else {
        return;
    };
    let of_group = |way: &&BufferTrail| {
        let taken = way.taken.place().map(|it| (it.0, it.2));
        taken == Some((me, pc)) && way.last.place().map(|it| (it.0, it.2)) == seen
    };
    let example = lost.iter().find(of_group);
    let place = |me: u8, pc: u16| {
        chip.microengines()[usize::from(me)]
            .program()
            .image()
            .place(pc)
    };
    let notes = groups
        .iter()
        .take(GROUPS_SHOWN)
        .map(|&(((me, pc), last), count)| {
            let taken = format!(
                "{count} were taken by microengine {me} at {}",
                place(me, pc)
            );
            match last {
                Some(last) if last != (me, pc) => format!(
                    "{taken}; their handles were last seen in the command of microengine {} at {}",
                    last.0,
                    place(last.0, last.1)
                ),
                _ => format!("{taken}; no ring and no queue has seen their handles since"),
            }
        });
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    let rest = (more > 0).then(|| format!("and {more} more ways"));
    let searched = Some(SEARCHED.to_owned());
    let notes: Vec<_> = notes.chain(rest).chain(searched).collect();
    let also = example.and_then(|way| way.last.place());
    let also = also.filter(|it| (it.0, it.2) != (me, pc));
    let count = chip
        .fabric()
        .buffers
        .as_ref()
        .map_or(0, |buffers| buffers.ways().len());
    let fault = Fault {
        check: Some(Check::BufferLeak),
        cycle: chip.now(),
        me: Some(me),
        context: example.and_then(|way| way.taken.place()).map(|it| it.1),
        pc: Some(pc),
        message: format!(
            "{} of {count} packet buffers never came back to their freelist, and no handle that could still be used was found",
            lost.len()
        ),
        notes,
        help: Some(
            "give the buffer back on every path on which its packet ends: where it is sent, where it is dropped, and where it cannot be handed on"
                .to_owned(),
        ),
        also: also
            .map(|(me, context, pc)| RelatedPlace {
                me,
                context,
                pc,
                what: "their handles were last seen here".to_owned(),
            })
            .into_iter()
            .collect(),
    };
    chip.raise(fault);
}

/// Marks the buffer of a handle.
fn mark_handle(kept: &mut [bool], buffers: &Buffers, word: u32) {
    if let Some(number) = buffers.number_of(word) {
        kept[number] = true;
    }
}

/// The numbers of the buffers that a value may refer to: as a handle, or as an address in the
/// buffer's DRAM.
fn numbers_of(buffers: &Buffers, value: u32) -> impl Iterator<Item = usize> {
    let setup = buffers.setup();
    let stride = setup.descriptor_longwords.max(1);
    let offset = (value >> setup.shift).wrapping_sub(setup.first_descriptor);
    let addressed = (offset / stride) as usize;
    let addressed = (addressed < buffers.ways().len()).then_some(addressed);
    buffers.number_of(value).into_iter().chain(addressed)
}

/// Marks the buffers that a value may refer to.
fn mark_references(kept: &mut [bool], buffers: &Buffers, value: u32) {
    for number in numbers_of(buffers, value) {
        kept[number] = true;
    }
}

/// The values in a context's registers that refer to a buffer and may still be used.
fn values_in_use(
    core: &dyn Core,
    flow: &FlowGraph,
    context: u8,
    is_buffers: &dyn Fn(u32) -> bool,
) -> Vec<u32> {
    let view = core.context(context);
    let gone = matches!(view.state(), ContextState::Inactive | ContextState::Killed);
    if gone || core.program().image().words.is_empty() {
        return Vec::new();
    }
    let registers = 0..core.program().image().contexts.registers();
    let general = registers.clone().flat_map(|n| {
        [(Bank::A, false), (Bank::B, true)].map(|(bank, b)| {
            let value = core.read_register(Operand::Gpr(bank, n), context);
            (Register::General(b, n), value)
        })
    });
    let transfer = registers.flat_map(|n| {
        let absolute = Context::wrapping(context).absolute_register(n);
        let [s, d] = [
            (Operand::STransfer(n), TransferKind::S, false),
            (Operand::DTransfer(n), TransferKind::D, true),
        ]
        .map(|(operand, kind, wide)| {
            [
                (Register::In(wide, n), core.read_register(operand, context)),
                (
                    Register::Out(wide, n),
                    core.read_out_register(kind, absolute),
                ),
            ]
        });
        s.into_iter().chain(d)
    });
    let own = { general.chain(transfer) }
        .filter(|&(register, value)| is_buffers(value) && is_used(flow, context, view.pc, register))
        .map(|(_, value)| value);
    // Registers shared by all contexts, wherever one of them may read them.
    let count = core.program().image().contexts.registers();
    let shared = shared_registers(flow, count).into_iter();
    let shared = shared.map(|operand| core.read_register(operand, context));
    own.chain(shared).collect()
}

/// The registers of a microengine that its program reads for all contexts: absolute ones, and those
/// of the next-neighbour ring, of which each context has `count`.
fn shared_registers(flow: &FlowGraph, count: u8) -> BTreeSet<Operand> {
    let instructions = flow.addresses().filter_map(|at| flow.instruction(at));
    let operands = instructions.flat_map(|it| {
        let command = match it {
            Instruction::Command(command) => [command.a, command.b],
            _ => [Operand::None; 2],
        };
        it.register_operands()
            .map(|(_, operand)| operand)
            .chain(command)
            .collect::<Vec<_>>()
    });
    let mut found = BTreeSet::new();
    for operand in operands {
        match operand {
            Operand::GprAbsolute(..) | Operand::Nn(_) => {
                found.insert(operand);
            }
            Operand::NnPeek | Operand::NnRing => found.extend((0..count).map(Operand::Nn)),
            _ => {}
        }
    }
    found
}
