//! Reads the statistics out of a chip.

use super::{
    BusStats, CapStats, CheckStats, ContextStats, CounterStats, DropStats, GppStats, MediaStats,
    MicroengineStats, OperationStats, PortStats, Stats, UnitStats, permille,
};
use crate::Cycle;
use crate::chip::Chip;
use crate::gpp::Gpp;
use crate::me::MeStats;
use crate::msf::Msf;
use crate::scratch::Scratch;
use crate::unit_counters::UnitCounters;

impl Stats {
    /// What a chip has counted until now.
    #[must_use]
    pub fn collect(chip: &Chip) -> Self {
        let profile = &chip.fabric.profile;
        let (cycles, mhz) = (chip.fabric.now, profile.me_mhz());
        let mut units = vec![unit("scratch".to_owned(), &chip.scratch.counters, cycles)];
        units.extend(channels("sram", chip.sram.counters(), cycles));
        units.extend(channels("dram", chip.dram.counters(), cycles));
        units.push(unit("hash".to_owned(), &chip.hash.counters, cycles));
        units.push(unit("msf".to_owned(), &chip.msf.counters, cycles));
        let microengines = chip.microengines.iter().enumerate();
        Self {
            chip: profile.name().to_owned(),
            board: profile.board().name.clone(),
            profile_hash: profile.fingerprint(),
            mhz,
            cycles,
            nanoseconds: (u128::from(cycles) * 1000 / u128::from(mhz.max(1))) as u64,
            microengines: microengines
                .map(|(i, me)| microengine(i, &me.stats_at(cycles), cycles))
                .collect(),
            units,
            buses: buses(chip, cycles),
            ports: ports(&chip.msf),
            media: media(&chip.msf),
            counters: counters(&chip.gpp, &chip.scratch),
            gpp: gpp(&chip.gpp, chip.fabric.now),
            cap: CapStats {
                reads: chip.cap.reads,
                writes: chip.cap.writes,
                interthread_signals: chip.cap.interthread_signals,
                reflections: chip.cap.reflections,
            },
            checks_passed_over: chip
                .fabric
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

fn microengine(index: usize, stats: &MeStats, cycles: Cycle) -> MicroengineStats {
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
        commands: stats.commands,
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

fn unit(name: String, counters: &UnitCounters, cycles: Cycle) -> UnitStats {
    UnitStats {
        name,
        commands: operations(counters),
        words: counters.words,
        busy: counters.busy,
        busy_permille: permille(counters.busy, cycles),
        queue_peak: counters.queue_peak,
        waiting: counters.waiting,
    }
}

fn channels<'a>(
    name: &'a str,
    counters: impl Iterator<Item = &'a UnitCounters>,
    cycles: Cycle,
) -> impl Iterator<Item = UnitStats> {
    counters
        .enumerate()
        .map(move |(i, counters)| unit(format!("{name}{i}"), counters, cycles))
}

fn buses(chip: &Chip, cycles: Cycle) -> Vec<BusStats> {
    let clusters = u64::from(chip.fabric.profile.clusters());
    let busy = chip.fabric.buses.busy;
    let bus = |name: &str, busy, instances| BusStats {
        name: name.to_owned(),
        busy,
        busy_permille: permille(busy, cycles * instances),
    };
    vec![
        bus("command", busy.command, clusters),
        bus("s_push", busy.s_push, clusters),
        bus("s_pull", busy.s_pull, clusters),
        bus("d_push", busy.d_push, 1),
        bus("d_pull", busy.d_pull, 1),
    ]
}

fn ports(msf: &Msf) -> Vec<PortStats> {
    let ports = msf.ports().iter().enumerate();
    let one = |(number, port): (usize, &crate::msf::port::Port)| PortStats {
        port: number as u64,
        bits_per_second: port.bits_per_second,
        received_frames: port.counts.received_frames,
        received_bytes: port.counts.received_bytes,
        delivered_frames: port.counts.delivered_frames,
        overflow_frames: port.counts.overflow_frames,
        waiting_frames: port.incoming.len() as u64,
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
        commands: operations(&msf.counters),
        drops: drops
            .map(|(reason, frames)| DropStats {
                reason: reason.to_owned(),
                frames,
            })
            .collect(),
    }
}

fn counters(gpp: &Gpp, scratch: &Scratch) -> Vec<CounterStats> {
    let one = |setup: &crate::gpp::boot::CounterSetup| CounterStats {
        name: setup.name.clone(),
        value: scratch.read(setup.address).map_or(0, u64::from),
        drop: setup.drop,
        text: setup.text.clone(),
    };
    gpp.counters().iter().map(one).collect()
}

fn gpp(gpp: &Gpp, now: Cycle) -> GppStats {
    let tasks = gpp.exceptions();
    let reasons = tasks
        .iter()
        .flat_map(crate::gpp::exceptions::Exceptions::by_reason);
    let counts = gpp.exception_counts(now);
    GppStats {
        busy: counts.busy,
        route_words: gpp.route_words,
        polls: counts.polls,
        interrupts: gpp.interrupts,
        exceptions: counts.packets,
        reasons: reasons
            .map(|(reason, frames)| DropStats { reason, frames })
            .collect(),
    }
}
