//! What a run of a chain came to, as plain data. Nothing in it depends on the host
//! or on how many routers ran at a time.

use npsim_chip::kernel::disturb::Disturbances;
use npsim_net::load::Load;
use serde::Serialize;

use super::{Hop, project_of};
use crate::report::{Drop, Latency, Rates, Report, latency};
use crate::simulation::Ending;
use npsim_project::assemble::Program;
use npsim_project::{ProfileChange, Project};

/// The format's name; it changes when a field changes its meaning or goes.
pub const SCHEMA: &str = "npsim-hops-1";

/// A run of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChainReport {
    /// Name and version of the format.
    pub schema: &'static str,
    /// Version of npsim.
    pub npsim: &'static str,
    /// The project.
    pub project: String,
    /// How many routers there are.
    pub hops: usize,
    /// Cycles from a bit's way out of one router to its way into the next.
    pub link_cycles: u64,
    /// The seed of the first router's pseudo-random numbers, if one was given.
    pub seed: Option<u64>,
    /// Settings over the project file, `PATH=VALUE` each.
    pub settings: Vec<String>,
    /// What settings changed in the chip profile.
    pub profile_changes: Vec<ProfileChange>,
    /// What disturbs the routers on purpose, the random numbers as those of the first
    /// one; absent for a plain run.
    #[serde(skip_serializing_if = "Disturbances::is_none")]
    pub disturbances: Disturbances,
    /// The traffic that was made, with all its defaults; absent for a capture.
    pub load: Option<Load>,
    /// The worst of the routers' endings: `fault`, `output-failed`, `input-failed`,
    /// `interrupted`, `reached`, `drained`, `quiet`.
    pub ending: &'static str,
    /// Frames into the first router, out of the last one, and lost in between.
    pub packets: ChainPackets,
    /// Why frames were lost, router by router.
    pub drops: Vec<HopDrop>,
    /// Packets that ended on the slow path, router by router.
    pub exceptions: Vec<HopDrop>,
    /// Rates into the first router and out of the last one.
    pub rates: Rates,
    /// Last bit into the first router to last bit out of the last one; absent if
    /// nothing could be traced.
    pub latency: Option<Latency>,
    /// The routers in their order.
    pub routers: Vec<HopReport>,
}

/// Frames of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChainPackets {
    /// Put on the lines of the first router.
    pub offered: u64,
    /// Their bytes without preamble, gap and check sequence.
    pub offered_bytes: u64,
    /// Left the last router.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Left the last router and could be traced to no frame of the first one.
    pub untraced: u64,
    /// Lost at the media interfaces of all routers.
    pub dropped_media: u64,
    /// Counted by the drop counters of all routers.
    pub dropped_microcode: u64,
    /// Ended on the slow path of any router.
    pub exceptions: u64,
    /// Left a router and had not begun to come to the next one in the end.
    pub on_links: u64,
    /// Offered less all of the above but `untraced`.
    pub unaccounted: i64,
}

/// Frames lost at a router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopDrop {
    /// The router, from 1.
    pub hop: usize,
    /// Which and why.
    #[serde(flatten)]
    pub drop: Drop,
}

/// One router of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopReport {
    /// The router, from 1.
    pub hop: usize,
    /// Last bit into the first router to last bit out of this one; absent if
    /// nothing could be traced.
    pub latency_since_entry: Option<Latency>,
    /// The router's own run, as the stats file of a run without a chain has it.
    pub run: Report,
}

/// How bad an ending is.
fn rank(ending: &Ending) -> usize {
    match ending {
        Ending::Quiet => 0,
        Ending::Drained => 1,
        Ending::Reached => 2,
        Ending::Interrupted => 3,
        Ending::InputFailed => 4,
        Ending::OutputFailed => 5,
        Ending::Fault(_) => 6,
    }
}

/// The worst ending of all routers, and which of them came to it first.
#[must_use]
pub fn worst(hops: &[Hop]) -> Option<(usize, &Ending)> {
    let endings = (1..).zip(hops.iter().map(|hop| &hop.ending));
    endings.reduce(|worst, next| {
        if rank(next.1) > rank(worst.1) {
            next
        } else {
            worst
        }
    })
}

impl ChainReport {
    /// Puts together what the routers came to.
    #[must_use]
    pub fn new(
        project: &Project,
        programs: &[Program],
        seed: Option<u64>,
        load: Option<&Load>,
        hops: &[Hop],
    ) -> Self {
        let mut routers = Vec::with_capacity(hops.len());
        for (number, hop) in (1..).zip(hops) {
            let mut run = Report::new(
                &project.name,
                &hop.ending,
                place(&hop.ending, programs),
                &hop.counts.traffic,
                hop.counts.stats.clone(),
            );
            run.note_settings(&project_of(project, number - 1));
            run.seed = seed.map(|seed| super::seed_of(seed, number - 1));
            run.load = load.filter(|_| number == 1).cloned();
            let mhz = run.chip.mhz;
            routers.push(HopReport {
                hop: number,
                latency_since_entry: latency(&hop.since_entry, mhz),
                run,
            });
        }
        let mut report = Self {
            schema: SCHEMA,
            npsim: env!("CARGO_PKG_VERSION"),
            project: project.name.clone(),
            hops: hops.len(),
            link_cycles: project.link_delay.cycles(project.capacity.hertz),
            seed,
            settings: Vec::new(),
            profile_changes: project.profile_changes.clone(),
            disturbances: project.boot.disturbances.clone(),
            load: load.cloned(),
            ending: worst(hops).map_or("quiet", |(_, ending)| ending.name()),
            packets: packets(&routers, hops),
            drops: lost(&routers, |run| &run.drops),
            exceptions: lost(&routers, |run| &run.exceptions),
            rates: Rates::default(),
            latency: None,
            routers,
        };
        if let (Some(first), Some(last)) = (report.routers.first(), report.routers.last()) {
            report.settings.clone_from(&first.run.settings);
            report.latency = last.latency_since_entry;
            let (into, out) = (first.run.rates, last.run.rates);
            report.rates = Rates {
                offered_nanoseconds: into.offered_nanoseconds,
                offered_packets_per_second: into.offered_packets_per_second,
                offered_bits_per_second: into.offered_bits_per_second,
                ..out
            };
        }
        report
    }
}

/// Where the microcode stood that stopped a router.
fn place(ending: &Ending, programs: &[Program]) -> Option<String> {
    let Ending::Fault(fault) = ending else {
        return None;
    };
    let program = programs.iter().find(|p| Some(p.me) == fault.me)?;
    Some(program.image.place(fault.pc?))
}

fn lost(routers: &[HopReport], part: fn(&Report) -> &Vec<Drop>) -> Vec<HopDrop> {
    let of_router = |router: &HopReport| {
        let hop = router.hop;
        let drops = part(&router.run).clone().into_iter();
        drops.map(move |drop| HopDrop { hop, drop })
    };
    routers.iter().flat_map(of_router).collect()
}

fn packets(routers: &[HopReport], hops: &[Hop]) -> ChainPackets {
    let mut sum = ChainPackets::default();
    let (Some(first), Some(last)) = (routers.first(), routers.last()) else {
        return sum;
    };
    sum.offered = first.run.packets.offered;
    sum.offered_bytes = first.run.packets.offered_bytes;
    sum.sent = last.run.packets.sent;
    sum.sent_bytes = last.run.packets.sent_bytes;
    let traced = hops.last().map_or(0, |hop| hop.since_entry.count());
    sum.untraced = sum.sent.saturating_sub(traced);
    for router in routers {
        let own = router.run.packets;
        sum.dropped_media += own.dropped_media;
        sum.dropped_microcode += own.dropped_microcode;
        sum.exceptions += own.exceptions;
        sum.unaccounted += own.unaccounted;
    }
    let pairs = routers.iter().zip(routers.iter().skip(1));
    sum.on_links = pairs
        .map(|(from, to)| from.run.packets.sent - to.run.packets.offered)
        .sum();
    sum
}
