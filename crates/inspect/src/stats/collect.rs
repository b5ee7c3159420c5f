//! Collects the statistics of a chip.

use super::{
    BufferStats, BusInstanceStats, BusStats, CheckStats, ContextStats, CounterStats, DropStats,
    HoldStats, LockStats, MediaStats, MicroengineStats, OperationStats, PortStats, QueueStats,
    ReferenceStats, RingStats, Stats, UnitStats,
};
use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::{Core, MeStats};
use npsim_chip::gpp::Gpp;
use npsim_chip::kernel::bus::BusUse;
use npsim_chip::kernel::lock::Lock;
use npsim_chip::kernel::row::{Row, permille};
use npsim_chip::kernel::target::CommandTarget;
use npsim_chip::kernel::unit::Unit;
use npsim_chip::kernel::unit_counters::UnitCounters;
use npsim_chip::units::msf::Msf;
use npsim_chip::units::scratch::Scratch;

impl Stats {
    /// Collects the counts of a chip so far.
    #[must_use]
    pub fn collect(chip: &Chip) -> Self {
        let profile = &chip.fabric().profile;
        let (cycles, mhz) = (chip.counts_complete_until(), profile.me_mhz());
        let rows: Vec<_> = chip.units().counters().collect();
        let targets: Vec<_> = rows.iter().map(|row| row.0).collect();
        let microengines = chip.microengines().iter().enumerate();
        Self {
            chip: profile.name().to_owned(),
            board: profile.board().name.clone(),
            profile_hash: profile.fingerprint(),
            mhz,
            cycles,
            nanoseconds: (u128::from(cycles) * 1000 / u128::from(mhz.max(1))) as u64,
            microengines: microengines
                .map(|(i, me)| microengine(i, &counts(chip, &**me), cycles, &targets))
                .collect(),
            units: units(chip, &rows, cycles),
            buses: buses(chip, cycles),
            ports: ports(&chip.units().msf),
            media: media(&chip.units().msf),
            counters: counters(chip.gpp(), &chip.units().scratch),
            rings: rings(&chip.units().scratch),
            queues: queues(chip),
            buffers: buffers(chip),
            locks: locks(chip, cycles),
            gpp: super::slow_path::gpp(chip),
            cap: chip.units().cap.uses,
            devices: super::slow_path::devices(chip),
            checks_passed_over: chip
                .fabric()
                .checks
                .passed_over()
                .map(|(check, count)| CheckStats {
                    check: check.name().to_owned(),
                    count,
                })
                .collect(),
        }
    }
}

fn microengine(
    index: usize,
    stats: &MeStats,
    cycles: Cycle,
    targets: &[CommandTarget],
) -> MicroengineStats {
    let references = targets
        .iter()
        .filter(|_| stats.commands() > 0)
        .map(|target| ReferenceStats {
            name: target.name(),
            count: stats.references[target.index()],
        });
    let contexts = stats
        .contexts
        .iter()
        .enumerate()
        .map(|(context, times)| ContextStats {
            context: context as u64,
            executing: times.executing,
            ready: times.ready,
            waiting: times.sleeping,
            inactive: times.inactive,
        });
    MicroengineStats {
        index: index as u64,
        instructions: stats.instructions,
        // A cycle issues at most one instruction.
        executing: stats.instructions,
        aborted: stats.aborted,
        stalled: stats.stalled,
        idle: stats.idle,
        swaps: stats.swaps,
        commands: stats.commands(),
        references: references.collect(),
        executing_permille: permille(stats.instructions, cycles),
        contexts: contexts.collect(),
    }
}

fn operations(counters: &UnitCounters) -> Vec<OperationStats> {
    let named = |(op, count): (npsim_isa::CommandOp, u64)| OperationStats {
        operation: op.info().name.to_owned(),
        count,
    };
    counters.served().map(named).collect()
}

fn units(
    chip: &Chip,
    rows: &[(CommandTarget, &UnitCounters, Row)],
    cycles: Cycle,
) -> Vec<UnitStats> {
    let mut names: Vec<&'static str> = Vec::new();
    for name in rows.iter().flat_map(|(.., own)| own.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let one = |(target, counters, own): &(CommandTarget, &UnitCounters, Row)| {
        let pressure = chip.fabric().buses.pressure(*target);
        let all_names = |all: Row, name| all.with(name, own.get(name).unwrap_or(0));
        UnitStats {
            name: target.name(),
            commands: operations(counters),
            words: counters.words,
            busy: counters.busy(),
            busy_permille: permille(counters.busy(), cycles),
            busy_reading: counters.busy_reading,
            busy_writing: counters.busy_writing,
            own: names.iter().copied().fold(Row::default(), all_names),
            queue_peak: counters.queue_peak,
            queue_cycles: counters.queue_cycles_at(cycles),
            waiting: counters.waiting,
            held: pressure.held,
            stalled_microengines: pressure.stalled,
        }
    };
    rows.iter().map(one).collect()
}

fn buses(chip: &Chip, cycles: Cycle) -> Vec<BusStats> {
    let buses = &chip.fabric().buses;
    let by_cluster: Vec<_> = buses.cluster_uses(cycles).collect();
    let of = |kind: usize| -> Vec<_> { by_cluster.iter().map(|uses| uses[kind]).collect() };
    let [d_push, d_pull] = buses.d_uses(cycles);
    let mut all = vec![
        bus("command", &of(0), cycles),
        bus("s_push", &of(1), cycles),
        bus("s_pull", &of(2), cycles),
        bus("d_push", &[d_push], cycles),
        bus("d_pull", &[d_pull], cycles),
    ];
    all[0].stalled_microengines = buses.stalled_by_bus;
    all
}

fn bus(name: &str, uses: &[BusUse], cycles: Cycle) -> BusStats {
    let sum = |field: fn(&BusUse) -> u64| uses.iter().map(field).sum::<u64>();
    let busy = sum(|used| used.busy);
    BusStats {
        name: name.to_owned(),
        busy,
        busy_permille: permille(busy, cycles * uses.len() as u64),
        transfers: sum(|used| used.transfers),
        waiting: sum(|used| used.waiting),
        stalled_microengines: 0,
        instances: uses
            .iter()
            .map(|used| BusInstanceStats {
                busy: used.busy,
                busy_permille: permille(used.busy, cycles),
                transfers: used.transfers,
                waiting: used.waiting,
                queue_peak: used.queue_peak,
            })
            .collect(),
    }
}

fn ports(msf: &Msf) -> Vec<PortStats> {
    let ports = msf.ports().iter().enumerate();
    let one = |(number, port): (usize, &npsim_chip::units::msf::port::Port)| PortStats {
        port: number as u64,
        bits_per_second: port.bits_per_second,
        received_frames: port.counts.received_frames,
        received_bytes: port.counts.received_bytes,
        delivered_frames: port.counts.delivered_frames,
        overflow_frames: port.counts.overflow_frames,
        waiting_frames: port.incoming().len() as u64,
        receive_fifo_peak: port.counts.receive_fifo_peak,
        sent_frames: port.counts.sent_frames,
        sent_bytes: port.counts.sent_bytes,
        sending_frames: port.sending() as u64,
        transmit_fifo_peak: port.counts.transmit_fifo_peak,
    };
    ports.map(one).collect()
}

fn media(msf: &Msf) -> MediaStats {
    let (receive, transmit) = (&msf.receive, &msf.transmit);
    let overflow: u64 = msf.ports().iter().map(|p| p.counts.overflow_frames).sum();
    let lost = [
        ("receive: FIFO full", overflow),
        ("receive: no such port", receive.no_such_port),
    ];
    let drops = lost
        .into_iter()
        .chain(transmit.errors.by_reason())
        .filter(|(_, frames)| *frames > 0);
    MediaStats {
        element_bytes: u64::from(msf.element_bytes()),
        rbuf_closed: receive.rbuf.closed,
        rbuf_handed: receive.handed,
        rbuf_freed: receive.rbuf.freed,
        rbuf_free: receive.rbuf.free() as u64,
        rbuf_free_lowest: receive.rbuf.lowest,
        full_list_peak: receive.rbuf.full_peak,
        freelist_peak: receive.freelist_peak,
        null_pushes: receive.null_pushes,
        tbuf_sent: transmit.tbuf.sent,
        tbuf_skipped: transmit.tbuf.skipped,
        tbuf_valid: transmit.tbuf.valid() as u64,
        receive_bus_busy: receive.bus_busy(),
        transmit_bus_busy: transmit.bus_busy(),
        commands: msf.counters().flat_map(operations).collect(),
        drops: drops
            .map(|(reason, frames)| DropStats {
                reason: reason.to_owned(),
                frames,
            })
            .collect(),
    }
}

fn counters(gpp: &Gpp, scratch: &Scratch) -> Vec<CounterStats> {
    let one = |setup: &npsim_chip::gpp::boot::CounterSetup| CounterStats {
        name: setup.name.clone(),
        value: scratch.read(setup.address).map_or(0, u64::from),
        drop: setup.drop,
        text: setup.text.clone(),
    };
    gpp.counters().iter().map(one).collect()
}

/// The counts of a core. A run that comes to rest ends with its last instruction, which has
/// executed although its cycle is beyond the run's last: it counts in place of one of the slots
/// lost with it. If there is a fault, nothing in its cycle counts.
fn counts(chip: &Chip, core: &dyn Core) -> MeStats {
    let now = chip.counts_complete_until();
    let mut counts = core.stats_at(now);
    let rests = chip.fabric().events.is_empty() && chip.fault().is_none();
    if rests && counts.aborted > 0 {
        let last = core.stats_at(now + 1).instructions;
        let last = last.saturating_sub(counts.instructions).min(counts.aborted);
        counts.instructions += last;
        counts.aborted -= last;
    }
    counts
}

fn rings(scratch: &Scratch) -> Vec<RingStats> {
    let all = (0..16).map(|number| (number, scratch.ring(number)));
    let used = all.filter(|(_, ring)| ring.is_used());
    used.map(|(number, ring)| RingStats {
        name: None,
        ring: number.into(),
        address: ring.address().into(),
        size: ring.size().into(),
        level: ring.count().into(),
        peak: ring.peak().into(),
    })
    .collect()
}

fn queues(chip: &Chip) -> Vec<QueueStats> {
    let entries = chip.units().sram.entries_in_use();
    entries
        .map(|(channel, entry, level)| QueueStats {
            name: None,
            channel: channel.into(),
            entry: entry.into(),
            level: level.into(),
        })
        .collect()
}

fn buffers(chip: &Chip) -> Option<BufferStats> {
    let (count, free) = crate::buffer_leaks::free_buffers(chip)?;
    Some(BufferStats {
        count: count.into(),
        free: free.into(),
    })
}

fn locks(chip: &Chip, cycles: Cycle) -> Vec<LockStats> {
    let mut all: Vec<_> = chip.locks().collect();
    all.sort_by_key(|lock| lock.index);
    let one = |lock: &Lock| {
        let counts = lock.counts_at(cycles);
        LockStats {
            name: lock.name.clone(),
            tries: counts.tries,
            acquired: counts.acquired,
            failed: counts.tries - counts.acquired,
            released: counts.released,
            held_cycles: counts.held,
            held_longest: counts.held_longest,
            held_permille: permille(counts.held, cycles),
            handovers: counts.handovers,
            handover_cycles: counts.handover,
            handover_shortest: counts.handover_shortest,
            handover_longest: counts.handover_longest,
            held_at_end: lock.hold().map(|hold| HoldStats {
                microengine: hold.by.map(|(me, _)| me),
                context: hold.by.map(|(_, context)| context),
                since: hold.since,
                failed_since: hold.failed,
            }),
        }
    };
    all.into_iter().map(one).collect()
}
