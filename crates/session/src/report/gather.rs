//! Assembles a report from the counts of lines, chips and sessions.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::fault_injection::Perturbations;
use npsim_inspect::stats::Stats;
use npsim_project::Project;
use npsim_project::assemble::Program;

use super::{
    Drop, FaultReport, HaltReport, LatencySummary, NodeDrop, NodeReport, Packets, PlaceReport,
    Rates, Report, SCHEMA,
};
use crate::histogram::Histogram;
use crate::links::Traffic;
use crate::node::Node;
use crate::registers;
use crate::session::{Session, project_of, seed_of};
use crate::simulation::Ending;

impl Report {
    /// Assembles the counts of a session's nodes so far.
    pub(crate) fn of(session: &Session) -> Self {
        let project = session.project();
        let nodes = session.nodes().iter().enumerate().map(|(at, node)| {
            let seed = session.seed().map(|seed| seed_of(seed, at));
            let own = project_of(project, at);
            let mut report = NodeReport::of(node, &own, session.programs(), seed);
            report.node = at + 1;
            report.latency_since_entry = latency(node.since_entry(), report.chip.mhz);
            report
        });
        let nodes: Vec<_> = nodes.collect();
        let mut report = Self::over(project.name.clone(), nodes);
        report.link_cycles = session.link_cycles();
        report.seed = session.seed();
        report.settings = project.settings.iter().map(ToString::to_string).collect();
        report.profile_changes.clone_from(&project.profile_changes);
        report.disturbances.clone_from(&project.boot.disturbances);
        report.load = session.load().cloned();
        if let Some((_, ending)) = session.ending() {
            report.ending = ending.name();
        }
        let last = session.nodes().last();
        let traced = last.map_or(0, |node| node.since_entry().count());
        report.packets.untraced = report.packets.sent.saturating_sub(traced);
        report
    }

    /// Combines the reports of the nodes of a chain.
    #[must_use]
    pub fn over(project: String, nodes: Vec<NodeReport>) -> Self {
        let mut report = Self {
            schema: SCHEMA,
            npsim: env!("CARGO_PKG_VERSION"),
            project,
            link_cycles: 0,
            seed: None,
            settings: Vec::new(),
            profile_changes: Vec::new(),
            disturbances: Perturbations::default(),
            load: None,
            ending: nodes.first().map_or(RUNNING, |first| first.ending),
            packets: packets(&nodes),
            drops: lost(&nodes, |node| &node.drops),
            exceptions: lost(&nodes, |node| &node.exceptions),
            rates: Rates::default(),
            latency: None,
            nodes,
        };
        if let (Some(first), Some(last)) = (report.nodes.first(), report.nodes.last()) {
            report.latency = last.latency_since_entry;
            report.rates = Rates {
                offered_nanoseconds: first.rates.offered_nanoseconds,
                offered_packets_per_second: first.rates.offered_packets_per_second,
                offered_bits_per_second: first.rates.offered_bits_per_second,
                ..last.rates
            };
        }
        report
    }
}

/// The ending of a run that has not ended.
const RUNNING: &str = "running";

impl NodeReport {
    /// Assembles the counts of a node's lines and chip, with what only the chip itself shows.
    /// `project` and `programs` are those that the node was built from, `seed` seeds its
    /// pseudo-random numbers.
    #[must_use]
    pub fn of(node: &Node, project: &Project, programs: &[Program], seed: Option<u64>) -> Self {
        let (ending, chip) = (node.ending(), node.chip());
        let place = place(ending, programs);
        let mut report = Self::new(ending, place, node.traffic(), node.stats());
        if let (Some(report), Some(Ending::Fault(fault))) = (&mut report.fault, ending) {
            report.locate(fault, chip);
        }
        // Contexts sleep forever at the time limit, while frames are still in flight.
        if matches!(ending, Some(Ending::Fault(_))) && chip.fault().is_none() {
            report.packets.lost = 0;
        }
        report.halts = halts(chip);
        name_levels(&mut report.chip, project);
        report.seed = seed;
        report.disturbances.clone_from(&project.boot.disturbances);
        report
    }

    /// Assembles the counts of the lines and the chip of a single node; it is still running if
    /// there is no `ending`. `place` is where the microcode stood when a fault stopped it.
    #[must_use]
    pub fn new(
        ending: Option<&Ending>,
        place: Option<String>,
        traffic: &Traffic,
        chip: Stats,
    ) -> Self {
        let drops = drops(traffic, &chip);
        let exceptions: Vec<_> = chip
            .gpp
            .reasons
            .iter()
            .filter(|reason| reason.frames > 0)
            .map(|reason| Drop {
                by: "slow-path",
                port: None,
                counter: None,
                reason: reason.reason.clone(),
                frames: reason.frames,
            })
            .collect();
        let total = |by: &str| {
            drops
                .iter()
                .filter(|drop| drop.by == by)
                .map(|drop| drop.frames)
                .sum::<u64>()
        };
        let (dropped_media, dropped_microcode) = (total("media"), total("microcode"));
        let gone = traffic.sent_frames + dropped_media + dropped_microcode + chip.gpp.exceptions;
        let packets = Packets {
            offered: traffic.offered_frames,
            offered_bytes: traffic.offered_bytes,
            sent: traffic.sent_frames,
            sent_bytes: traffic.sent_bytes,
            untraced: traffic.untraced_frames,
            dropped_media,
            dropped_microcode,
            exceptions: chip.gpp.exceptions,
            made: chip.gpp.made,
            on_links: 0,
            unaccounted: (traffic.offered_frames + chip.gpp.made) as i64 - gone as i64,
            lost: 0,
        };
        let packets = Packets {
            lost: if is_at_rest(ending) {
                packets.unaccounted.max(0).unsigned_abs()
            } else {
                0
            },
            ..packets
        };
        let latency = latency(&traffic.latencies, chip.mhz);
        Self {
            node: 1,
            seed: None,
            disturbances: Perturbations::default(),
            ending: ending.map_or(RUNNING, Ending::name),
            fault: if let Some(Ending::Fault(fault)) = ending {
                Some(fault_report(fault, place))
            } else {
                None
            },
            halts: Vec::new(),
            packets,
            drops,
            exceptions,
            rates: rates(traffic, chip.cycles, chip.mhz),
            latency,
            latency_since_entry: latency,
            chip,
        }
    }
}

impl FaultReport {
    /// Adds what only the chip knows: where the other places are, and the contents of the
    /// registers.
    fn locate(&mut self, fault: &Fault, chip: &Chip) {
        self.also = { fault.also.iter() }
            .map(|also| PlaceReport {
                me: also.me,
                context: also.context,
                pc: also.pc,
                place: place_on(chip, also.me, also.pc),
                what: also.what.clone(),
            })
            .collect();
        if let (Some(me), Some(context), Some(pc)) = (fault.me, fault.context, fault.pc) {
            // A command's fault is found at its unit, after its issuer has moved on: names and
            // values must be from the same cycle.
            let core = chip.microengines().get(usize::from(me));
            let now = core.map_or(pc, |core| core.context(context).place());
            self.registers = registers::relevant_registers(chip, me, context, now);
            self.registers_at = (now != pc).then(|| place_on(chip, me, now));
        }
    }
}

/// Gives rings and queues their names from the project.
fn name_levels(chip: &mut Stats, project: &Project) {
    for ring in &mut chip.rings {
        ring.name = project.name_at("scratch", ring.address as u32);
    }
    for queue in &mut chip.queues {
        let setups = project.boot.queues.iter();
        let setup = { setups }.find(|it| {
            (u64::from(it.channel), u64::from(it.entry)) == (queue.channel, queue.entry)
        });
        queue.name =
            setup.and_then(|it| project.name_at(&format!("sram{}", it.channel), it.descriptor));
    }
}

fn place_on(chip: &Chip, me: u8, pc: u16) -> String {
    let core = chip.microengines().get(usize::from(me));
    core.map_or_else(String::new, |core| core.program().image().place(pc))
}

/// The microengines stopped by a breakpoint.
fn halts(chip: &Chip) -> Vec<HaltReport> {
    let cores = (0..).zip(chip.microengines());
    let halted = cores.filter_map(|(me, core)| {
        let context = core.halted()?;
        let it = core.context(context);
        Some(HaltReport {
            me,
            context,
            cycle: it.since,
            pc: it.pc,
            place: place_on(chip, me, it.pc),
            registers: registers::relevant_registers(chip, me, context, it.pc),
        })
    });
    halted.collect()
}

/// Whether no frame that came in will leave any more.
fn is_at_rest(ending: Option<&Ending>) -> bool {
    match ending {
        Some(Ending::Drained | Ending::NoEvents) => true,
        Some(Ending::Fault(fault)) => fault.check.is_some_and(Check::is_end_of_run_check),
        _ => false,
    }
}

/// The position of the microcode that stopped a node.
fn place(ending: Option<&Ending>, programs: &[Program]) -> Option<String> {
    let Some(Ending::Fault(fault)) = ending else {
        return None;
    };
    let program = programs.iter().find(|p| Some(p.me) == fault.me)?;
    Some(program.image.place(fault.pc?))
}

fn lost(nodes: &[NodeReport], part: fn(&NodeReport) -> &Vec<Drop>) -> Vec<NodeDrop> {
    let of_node = |report: &NodeReport| {
        let node = report.node;
        let drops = part(report).clone().into_iter();
        drops.map(move |drop| NodeDrop { node, drop })
    };
    nodes.iter().flat_map(of_node).collect()
}

/// Counts of frames into the first node, out of the last one, and lost at all of them.
fn packets(nodes: &[NodeReport]) -> Packets {
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
        return Packets::default();
    };
    let mut sum = Packets {
        offered: first.packets.offered,
        offered_bytes: first.packets.offered_bytes,
        ..last.packets
    };
    let total = |part: fn(&Packets) -> u64| nodes.iter().map(|node| part(&node.packets)).sum();
    sum.dropped_media = total(|packets| packets.dropped_media);
    sum.dropped_microcode = total(|packets| packets.dropped_microcode);
    sum.exceptions = total(|packets| packets.exceptions);
    sum.made = total(|packets| packets.made);
    sum.lost = total(|packets| packets.lost);
    sum.unaccounted = nodes.iter().map(|node| node.packets.unaccounted).sum();
    let pairs = nodes.iter().zip(nodes.iter().skip(1));
    let between = pairs.map(|(from, to)| from.packets.sent.saturating_sub(to.packets.offered));
    sum.on_links = between.sum();
    sum
}

fn fault_report(fault: &Fault, place: Option<String>) -> FaultReport {
    FaultReport {
        check: fault.check.map(Check::name),
        message: fault.message.clone(),
        cycle: fault.cycle,
        me: fault.me,
        context: fault.context,
        pc: fault.pc,
        place,
        notes: fault.notes.clone(),
        also: Vec::new(),
        registers: Vec::new(),
        registers_at: None,
    }
}

fn drops(traffic: &Traffic, chip: &Stats) -> Vec<Drop> {
    let media = traffic.drops.iter().map(|(&(port, reason), &frames)| Drop {
        by: "media",
        port: Some(port),
        counter: None,
        reason: reason.text().to_string(),
        frames,
    });
    let microcode = chip
        .counters
        .iter()
        .filter(|counter| counter.drop && counter.value > 0)
        .map(|counter| Drop {
            by: "microcode",
            port: None,
            counter: Some(counter.name.clone()),
            reason: if counter.text.is_empty() {
                counter.name.clone()
            } else {
                counter.text.clone()
            },
            frames: counter.value,
        });
    media.chain(microcode).collect()
}

/// The rates up to the end of the run, which may fall in the middle of a frame.
fn rates(traffic: &Traffic, end: Cycle, mhz: u64) -> Rates {
    let begin = traffic.first_arrival.unwrap_or(0);
    let arrivals = traffic.last_arrival.saturating_sub(begin);
    // If most of the frames arrive after the end of the run, there is no offered rate.
    let seen = end.saturating_sub(begin);
    let offered = if seen < arrivals / 2 { 0 } else { arrivals };
    let sent = traffic
        .last_departure
        .saturating_sub(traffic.first_departure.unwrap_or(0));
    let per_second = |count: u64, cycles: u64| {
        let scaled = u128::from(count) * u128::from(mhz) * 1_000_000;
        scaled.checked_div(u128::from(cycles)).unwrap_or(0) as u64
    };
    Rates {
        offered_nanoseconds: nanoseconds(offered, mhz),
        offered_packets_per_second: per_second(traffic.offered_frames, offered),
        offered_bits_per_second: per_second(traffic.offered_bytes * 8, offered),
        sent_nanoseconds: nanoseconds(sent, mhz),
        sent_packets_per_second: per_second(traffic.sent_frames, sent),
        sent_bits_per_second: per_second(traffic.sent_bytes * 8, sent),
    }
}

/// The summary of latencies in cycles; `None` if there are none.
fn latency(cycles: &Histogram, mhz: u64) -> Option<LatencySummary> {
    let rank = |permille| Some(nanoseconds(cycles.permille(permille)?, mhz));
    Some(LatencySummary {
        packets: cycles.count(),
        min_ns: nanoseconds(cycles.least()?, mhz),
        mean_ns: nanoseconds(cycles.mean()?, mhz),
        p50_ns: rank(500)?,
        p90_ns: rank(900)?,
        p99_ns: rank(990)?,
        max_ns: nanoseconds(cycles.most()?, mhz),
    })
}

fn nanoseconds(cycles: u64, mhz: u64) -> u64 {
    (u128::from(cycles) * 1000)
        .checked_div(u128::from(mhz))
        .unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::{NodeReport, latency};
    use crate::histogram::Histogram;
    use crate::links::Traffic;
    use crate::simulation::Ending;
    use npsim_chip::kernel::port_io::MediaDrop;
    use npsim_inspect::stats::{CounterStats, DropStats, Stats};

    #[test]
    fn percentiles_are_nearest_rank() {
        let figures = latency(&(1..=100).rev().map(|n| n * 600).collect(), 600).unwrap();
        assert_eq!((figures.min_ns, figures.max_ns), (1000, 100_000));
        for (told, exact) in [
            (figures.p50_ns, 50_000u64),
            (figures.p90_ns, 90_000),
            (figures.p99_ns, 99_000),
        ] {
            assert!(told.abs_diff(exact) <= exact / 4096, "{told}");
        }
        assert_eq!((figures.mean_ns, figures.packets), (50_500, 100));
        let one = latency(&[6].into_iter().collect(), 600).unwrap();
        assert_eq!((one.p50_ns, one.p99_ns), (10, 10));
        assert_eq!(latency(&Histogram::default(), 600), None);
    }

    #[test]
    fn every_packet_is_accounted_for() {
        let mut traffic = Traffic {
            offered_frames: 10,
            sent_frames: 4,
            sent_bytes: 256,
            first_departure: Some(600),
            last_departure: 1200,
            ..Traffic::default()
        };
        traffic.drops.insert((1, MediaDrop::ReceiveFifoFull), 2);
        let mut chip = Stats {
            mhz: 600,
            cycles: 5000,
            ..Stats::default()
        };
        let counter = |name: &str, value, drop| CounterStats {
            name: name.into(),
            value,
            drop,
            text: String::new(),
        };
        chip.counters = vec![
            counter("BAD", 1, true),
            counter("SEEN", 7, false),
            counter("NONE", 0, true),
        ];
        chip.gpp.exceptions = 2;
        chip.gpp.reasons = vec![DropStats {
            reason: "ttl".into(),
            frames: 2,
        }];
        let report = NodeReport::new(Some(&Ending::Drained), None, &traffic, chip);
        assert_eq!((report.packets.unaccounted, report.packets.lost), (1, 1));
        assert_eq!(
            (
                report.packets.dropped_media,
                report.packets.dropped_microcode
            ),
            (2, 1)
        );
        let reasons: Vec<_> = report.drops.iter().map(|d| (d.by, d.frames)).collect();
        assert_eq!(reasons, [("media", 2), ("microcode", 1)]);
        assert_eq!(report.exceptions.len(), 1);
        assert_eq!(report.rates.sent_nanoseconds, 1000);
        assert_eq!(report.rates.sent_packets_per_second, 4_000_000);
        assert_eq!(report.rates.sent_bits_per_second, 2_048_000_000);
    }
}
