//! Packet buffers that are lost: off their freelist, with no handle left anywhere.
//!
//! A buffer that is not on its freelist when a run has come to rest may be kept on
//! purpose: on another queue, on a ring, by a task of the core, in memory that microcode
//! looks at, or in a register that a context will still read. So all of these are looked through, and what
//! is in none of them is lost. A register counts where a name of the program is alive in
//! it; what a buffer leaves behind in one that is free again counts for nothing.
//!
//! Microcode may also keep a list of its own, linked through any memory, by any form of
//! the handle. It fills it before packets come, so buffers that were taken then are not
//! asked for.

use std::collections::BTreeMap;

use npsim_image::{ProgramPoint, TransferDirection};
use npsim_isa::{Bank, CONTEXTS, Context, Operand};

use npsim_chip::chip::Chip;
use npsim_chip::core::Core;
use npsim_chip::kernel::buffers::{BufferTrail, Buffers};
use npsim_chip::kernel::check::{Also, Check, Fault};
use npsim_chip::kernel::fabric::TransferKind;
use npsim_chip::kernel::trace_event::ContextState;

/// Groups of lost buffers that a message names.
const GROUPS_SHOWN: usize = 5;

/// How many packet buffers there are, and how many are on their freelist, if the boot plan
/// has some and their freelist is in the Q-array.
#[must_use]
pub fn free_buffers(chip: &Chip) -> Option<(u32, u32)> {
    let setup = chip.fabric().buffers.as_ref()?.setup();
    let free = chip.units().sram.chain(setup.channel, setup.entry)?;
    Some((setup.count, free.len() as u32))
}

/// The buffers that are lost, in order of their numbers: for the end of a run at rest.
///
/// Each place where a handle can be marks what it has in `kept`, by number of the buffer. A
/// place that this function does not know makes it report a buffer that is not lost, so a new
/// unit, device or task that keeps handles needs a line here. `keep` takes a word as a whole
/// handle, `keep_any` also as a part of what microcode makes of one.
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
        keep(&mut kept, buffers, handle);
    }
    if kept.iter().all(|kept| *kept) {
        return Vec::new();
    }
    let is_buffer = |word| buffers.number_of(word).is_some();
    for word in chip.units().sram.queued_words(is_buffer) {
        keep(&mut kept, buffers, word);
    }
    for word in chip.units().scratch.words_kept() {
        keep(&mut kept, buffers, word);
    }
    for handle in chip.gpp().kept_buffers() {
        keep(&mut kept, buffers, handle);
    }
    for flight in chip.fabric().flights() {
        keep(&mut kept, buffers, flight.command.address);
        for &word in &flight.data {
            keep(&mut kept, buffers, word);
        }
    }
    for core in chip.microengines() {
        for &word in core.local_memory() {
            keep_any(&mut kept, buffers, word);
        }
        for context in 0..CONTEXTS {
            for value in values_alive(core.as_ref(), context) {
                keep_any(&mut kept, buffers, value);
            }
        }
    }
    let ways = buffers.ways().iter().zip(kept);
    ways.filter(|(way, kept)| !kept && way.taken.place().is_some())
        .map(|(way, _)| *way)
        .collect()
}

/// Raises [`Check::BufferLeak`] for buffers that are lost: for the end
/// of a run at rest.
pub fn raise_buffer_leaks(chip: &mut Chip) {
    let lost = lost_buffers(chip);
    let mut groups: BTreeMap<_, u32> = BTreeMap::new();
    for way in &lost {
        let (Some(taken), last) = (way.taken.place(), way.last.place()) else {
            continue;
        };
        // The places matter, not which context it was.
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
                    "{taken}; their handles were seen last in the command of microengine {} at {}",
                    last.0,
                    place(last.0, last.1)
                ),
                _ => format!("{taken}; no ring and no queue has seen their handles since"),
            }
        });
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    let rest = (more > 0).then(|| format!("and {more} more ways"));
    let notes: Vec<_> = notes.chain(rest).collect();
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
            "{} of {count} packet buffers never came back to their freelist, and nothing has their handles any more",
            lost.len()
        ),
        notes,
        help: Some(
            "give the buffer back on every path on which its packet ends: where it is sent, where it is dropped, and where it cannot be handed on"
                .to_owned(),
        ),
        also: also
            .map(|(me, context, pc)| Also {
                me,
                context,
                pc,
                what: "their handles were seen here last".to_owned(),
            })
            .into_iter()
            .collect(),
    };
    chip.raise(fault);
}

/// Marks the buffer of a handle.
fn keep(kept: &mut [bool], buffers: &Buffers, word: u32) {
    if let Some(number) = buffers.number_of(word) {
        kept[number] = true;
    }
}

/// Marks the buffer of a value that microcode may have made of a handle: an address in the
/// buffer's DRAM, or the handle as it is.
fn keep_any(kept: &mut [bool], buffers: &Buffers, value: u32) {
    keep(kept, buffers, value);
    let setup = buffers.setup();
    let stride = setup.descriptor_longwords.max(1);
    let offset = (value >> setup.shift).wrapping_sub(setup.first_descriptor);
    if let Some(kept) = kept.get_mut((offset / stride) as usize) {
        *kept = true;
    }
}

/// The values in registers that a context may still read.
fn values_alive(core: &dyn Core, context: u8) -> Vec<u32> {
    let view = core.context(context);
    let gone = matches!(view.state(), ContextState::Inactive | ContextState::Killed);
    if gone || core.program().image().words.is_empty() {
        return Vec::new();
    }
    let image = core.program().image();
    let registers = 0..image.contexts.registers();
    let neighbours = registers.clone().map(Operand::Nn);
    let mut values: Vec<_> = neighbours
        .map(|it| core.read_register(it, context))
        .collect();
    if !image.has_live_ranges() {
        let all = registers.flat_map(|n| {
            let banks = [Operand::Gpr(Bank::A, n), Operand::Gpr(Bank::B, n)];
            banks
                .into_iter()
                .chain([Operand::STransfer(n), Operand::DTransfer(n)])
        });
        values.extend(all.map(|it| core.read_register(it, context)));
        return values;
    }
    for symbol in &image.registers {
        let here = |side| {
            let mut live = symbol.live_on(side).iter();
            live.any(|range| range.contains(ProgramPoint::before(view.pc)))
        };
        if here(TransferDirection::Read) {
            values.push(core.read_register(symbol.operand, context));
        }
        let out = match symbol.operand {
            Operand::STransfer(n) => Some((TransferKind::S, n)),
            Operand::DTransfer(n) => Some((TransferKind::D, n)),
            _ => None,
        };
        if let Some((kind, n)) = out.filter(|_| here(TransferDirection::Write)) {
            values.push(
                core.read_out_register(kind, Context::wrapping(context).absolute_register(n)),
            );
        }
    }
    values
}
