//! The rows of the page's tables.

use npsim_project::quantity::{grouped, percent};
use npsim_session::report::NodeReport;
use serde::Serialize;

use super::Run;
use super::fingerprint::fingerprint;
use super::parts::NO_VALUE;

#[derive(Serialize)]
pub(super) struct DropRow {
    place: String,
    reason: String,
    frames: String,
    share: String,
}

#[derive(Serialize)]
pub(super) struct ContextRow {
    context: u64,
    executing: String,
    ready: String,
    waiting: String,
    inactive: String,
}

#[derive(Serialize)]
pub(super) struct MicroengineRow {
    index: u64,
    source: String,
    instructions: String,
    executing: String,
    aborted: String,
    stalled: String,
    idle: String,
    swaps: String,
    commands: String,
    per_frame: String,
    contexts: Vec<ContextRow>,
}

#[derive(Serialize)]
pub(super) struct UnitRow {
    name: String,
    commands: String,
    words: String,
    busy: String,
    queue: String,
    wait: String,
    operations: String,
}

#[derive(Serialize)]
pub(super) struct LockRow {
    name: String,
    taken: String,
    held: String,
    longest: String,
    share: String,
    handover: String,
    failed: String,
}

#[derive(Serialize)]
pub(super) struct ProgramRow {
    me: u8,
    source: String,
    words: usize,
    fingerprint: String,
}

#[derive(Serialize)]
pub(super) struct ChipRow {
    name: String,
    title: String,
    board: String,
    fingerprint: String,
    parameters: usize,
    foundations: String,
}

pub(super) fn drops(report: &NodeReport, list: &[npsim_session::report::Drop]) -> Vec<DropRow> {
    let row = |drop: &npsim_session::report::Drop| DropRow {
        place: match (drop.port, &drop.counter) {
            (Some(port), _) => format!("port {port}"),
            (None, Some(counter)) => format!("microcode, {counter}"),
            (None, None) => drop.by.replace('-', " "),
        },
        reason: drop.reason.clone(),
        frames: grouped(drop.frames),
        share: percent(drop.frames, report.packets.offered, NO_VALUE),
    };
    list.iter().map(row).collect()
}

pub(super) fn microengines(run: &Run<'_>) -> Vec<MicroengineRow> {
    let cycles = run.report.chip.cycles;
    let packets = run.report.packets.sent;
    let used = run
        .report
        .chip
        .microengines
        .iter()
        .filter(|me| me.instructions > 0);
    let share = |part| percent(part, cycles, NO_VALUE);
    used.map(|me| MicroengineRow {
        index: me.index,
        source: run.source(me.index),
        instructions: grouped(me.instructions),
        executing: share(me.executing),
        aborted: share(me.aborted),
        stalled: share(me.stalled),
        idle: share(me.idle),
        swaps: grouped(me.swaps),
        commands: grouped(me.commands),
        per_frame: me
            .instructions
            .checked_div(packets)
            .map_or_else(|| NO_VALUE.into(), grouped),
        contexts: me
            .contexts
            .iter()
            .map(|context| ContextRow {
                context: context.context,
                executing: share(context.executing),
                ready: share(context.ready),
                waiting: share(context.waiting),
                inactive: share(context.inactive),
            })
            .collect(),
    })
    .collect()
}

pub(super) fn units(run: &Run<'_>) -> Vec<UnitRow> {
    let chip = &run.report.chip;
    let commands = |unit: &npsim_inspect::stats::UnitStats| -> u64 {
        unit.commands.iter().map(|operation| operation.count).sum()
    };
    let used = chip.units.iter().filter(|unit| commands(unit) > 0);
    used.map(|unit| {
        let operations = unit.commands.iter();
        let operations: Vec<_> = operations
            .map(|operation| format!("{} {}", operation.operation, grouped(operation.count)))
            .collect();
        UnitRow {
            name: unit.name.clone(),
            commands: grouped(commands(unit)),
            words: grouped(unit.words),
            busy: percent(unit.busy, chip.cycles, NO_VALUE),
            queue: grouped(unit.queue_peak),
            wait: format!("{:.1}", unit.waiting as f64 / commands(unit) as f64),
            operations: operations.join(", "),
        }
    })
    .collect()
}

pub(super) fn locks(run: &Run<'_>) -> Vec<LockRow> {
    let chip = &run.report.chip;
    let mean = |sum: u64, count: u64| {
        if count == 0 {
            NO_VALUE.into()
        } else {
            format!("{:.1}", sum as f64 / count as f64)
        }
    };
    let row = |lock: &npsim_inspect::stats::LockStats| LockRow {
        name: lock.name.clone(),
        taken: grouped(lock.acquired),
        held: mean(lock.held_cycles, lock.acquired),
        longest: grouped(lock.held_longest),
        share: percent(lock.held_cycles, chip.cycles, NO_VALUE),
        handover: mean(lock.handover_cycles, lock.handovers),
        failed: mean(lock.failed, lock.acquired),
    };
    chip.locks.iter().map(row).collect()
}

pub(super) fn programs(run: &Run<'_>) -> Vec<ProgramRow> {
    let row = |program: &npsim_project::assemble::Program| ProgramRow {
        me: program.me,
        source: program.source.display().to_string(),
        words: program.image.words.len(),
        fingerprint: fingerprint(
            program
                .image
                .words
                .iter()
                .flat_map(|word| word.to_be_bytes()),
        ),
    };
    run.programs.iter().map(row).collect()
}

pub(super) fn profile(run: &Run<'_>) -> ChipRow {
    let profile = &run.project.profile;
    let counts: Vec<_> = profile
        .foundations()
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(foundation, count)| format!("{count} {foundation}"))
        .collect();
    ChipRow {
        name: profile.name().to_owned(),
        title: profile.title().to_owned(),
        board: format!("{}: {}", profile.board().name, profile.board().title),
        fingerprint: profile.fingerprint(),
        parameters: profile.parameters().count(),
        foundations: counts.join(", "),
    }
}
