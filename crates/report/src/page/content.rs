//! The content of the page: numbers as text and charts.

use std::fmt::Write as _;

use npsim_observe::series::{Fill, OccupancyProbe, ProbeKind, Sample};
use npsim_project::quantity::{grouped, percent};
use npsim_session::report::NodeReport;
use npsim_session::summary::frames_lost;
use serde::Serialize;

use super::Run;
use super::parts::{LegendEntry, NO_VALUE, ResponsiveChart, Tile};
use super::tables::{
    ChipRow, DropRow, LockRow, MicroengineRow, ProgramRow, UnitRow, drops, locks, microengines,
    profile, programs, units,
};
use crate::bottleneck::{Analysis, LimitKind, LoadKind, ResourceLoad};
use crate::chart::latency::LatencyChart;
use crate::chart::scale::{short_number, time_unit};
use crate::chart::share_bars::{self, ShareBar};
use crate::chart::time::{Stroke, TimeChart, TimeCurve};
use crate::chart::{HALF_WIDTH, NARROW, WIDE, lanes as lanes_chart};
use npsim_observe::lanes::Activity;

/// Maximum points per curve; more could not be distinguished.
const POINTS: usize = 110;

#[derive(Serialize)]
struct DepthChart {
    name: String,
    note: String,
    svg: String,
}

#[derive(Serialize)]
struct LaneChart {
    figure: ResponsiveChart,
    why: String,
    narrow_why: String,
    keys: Vec<LegendEntry>,
}

/// All variables of the template.
#[derive(Serialize)]
pub(super) struct PageContent<'a> {
    style: &'static str,
    script: &'static str,
    project: &'a str,
    chip: String,
    ending: String,
    fault: Option<String>,
    version: &'static str,
    tiles: Vec<Tile>,
    analysis: &'a Analysis,
    limited: bool,
    /// Whether there were any frames.
    frames: bool,
    /// Whether the limit is among the bars of microengines, and among those of units.
    limit_in: [bool; 2],
    rates: Option<ResponsiveChart>,
    rate_keys: Vec<LegendEntry>,
    drops: Vec<DropRow>,
    exceptions: Vec<DropRow>,
    latency: Option<ResponsiveChart>,
    latencies: Vec<(&'static str, String)>,
    latency_packets: String,
    microengine_bars: ResponsiveChart,
    microengine_keys: Vec<LegendEntry>,
    unit_bars: Option<ResponsiveChart>,
    depths: Vec<DepthChart>,
    still: String,
    lanes: Option<LaneChart>,
    microengines: Vec<MicroengineRow>,
    units: Vec<UnitRow>,
    locks: Vec<LockRow>,
    settings: &'a [(String, String)],
    programs: Vec<ProgramRow>,
    profile: ChipRow,
    project_path: &'a str,
    project_text: &'a str,
    interval: String,
}

pub(super) fn content<'a>(run: &Run<'a>) -> PageContent<'a> {
    let (report, chip) = (run.report, &run.report.chip);
    let binned = bins_of(run);
    let (depths, still) = depths(run, &binned);
    let latency = report.latency.and_then(|latency| {
        let chart = LatencyChart::of(run.latencies, chip.mhz, 48)?;
        let marks = [
            ("50%", latency.p50_ns),
            ("90%", latency.p90_ns),
            ("99%", latency.p99_ns),
        ];
        Some(ResponsiveChart {
            wide: chart.draw(WIDE, 260.0, &marks),
            narrow: chart.draw(NARROW, 240.0, &marks),
        })
    });
    let microengine_shares = microengine_shares(run);
    let unit_shares = unit_shares(run);
    let marks = |bars: &[ShareBar]| bars.iter().any(|bar| bar.limits);
    PageContent {
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        project: &run.project.name,
        chip: format!(
            "{}; board {}",
            run.project.profile.title(),
            run.project.profile.board().name
        ),
        ending: ending(report),
        fault: fault(report),
        version: env!("CARGO_PKG_VERSION"),
        tiles: tiles(report),
        analysis: run.analysis,
        limited: !run.analysis.limits.is_empty() || report.fault.is_some(),
        frames: has_frames(report),
        limit_in: [marks(&microengine_shares), marks(&unit_shares)],
        rates: rates(run, &binned),
        rate_keys: vec![
            LegendEntry::new("fill-offered", "offered"),
            LegendEntry::new("fill-sent", "sent"),
            LegendEntry::new("fill-lost", "lost"),
        ],
        drops: drops(report, &report.drops),
        exceptions: drops(report, &report.exceptions),
        latency,
        latencies: latencies(report),
        latency_packets: report
            .latency
            .map_or_else(String::new, |latency| grouped(latency.packets)),
        microengine_bars: bars(
            &microengine_shares,
            "what every microengine does with its time",
        ),
        microengine_keys: [Activity::Executing, Activity::Aborted, Activity::Stalled]
            .map(|activity| LegendEntry::new(lanes_chart::class(activity), activity.name()))
            .into_iter()
            .chain([LegendEntry::new("fill-idle", "idle")])
            .collect(),
        unit_bars: (!unit_shares.is_empty())
            .then(|| bars(&unit_shares, "how busy units, buses and lines are")),
        depths,
        still,
        lanes: lanes(run),
        microengines: microengines(run),
        units: units(run),
        locks: locks(run),
        settings: run.settings,
        programs: programs(run),
        profile: profile(run),
        project_path: &run.project.text.path,
        project_text: &run.project.text.text,
        interval: duration(nanoseconds(run, run.series.interval())),
    }
}

/// Whether any frames arrived or left.
fn has_frames(report: &NodeReport) -> bool {
    report.packets.offered > 0 || report.packets.sent > 0
}

fn nanoseconds(run: &Run<'_>, cycles: u64) -> f64 {
    cycles as f64 * 1000.0 / run.report.chip.mhz.max(1) as f64
}

/// Formats nanoseconds as `5 µs`.
fn duration(ns: f64) -> String {
    let (unit, scale) = time_unit(ns);
    format!("{} {unit}", short_number(ns / scale))
}

fn ending(report: &NodeReport) -> String {
    if let Some(lost) = frames_lost(&report.packets) {
        return lost;
    }
    match report.ending {
        "drained" => "all traffic was handled",
        "quiet" => "nothing could happen any more",
        "reached" => "the time was up",
        "fault" => "stopped by a fault",
        "interrupted" => "interrupted",
        "input-failed" => "the frames could not be read to their end",
        _ => "the output could not be written",
    }
    .to_owned()
}

fn fault(report: &NodeReport) -> Option<String> {
    let fault = report.fault.as_ref()?;
    let mut text = format!("At cycle {}: {}", grouped(fault.cycle), fault.message);
    if let Some(place) = &fault.place {
        let _ = write!(text, " ({place})");
    }
    Some(text)
}

fn tiles(report: &NodeReport) -> Vec<Tile> {
    let packets = &report.packets;
    let rates = &report.rates;
    let mut tiles = Vec::new();
    let mut tile = |name: &str, value: (String, String), note: String, alarming: bool| {
        tiles.push(Tile {
            name: name.into(),
            value: value.0,
            unit: value.1,
            note,
            alarming,
        });
    };
    let scaled = |text: String, unit: &str| match text.split_once(' ') {
        Some((value, prefix)) => (value.to_owned(), format!("{prefix}{unit}")),
        None => (text, unit.to_owned()),
    };
    let time = |ns: u64| {
        let (unit, scale) = time_unit(ns as f64);
        (short_number(ns as f64 / scale), unit.to_owned())
    };
    if has_frames(report) {
        let rate = |bits: u64| scaled(short_number(bits as f64), "b/s");
        tile(
            "Offered",
            rate(rates.offered_bits_per_second),
            format!(
                "{} packets, {} a second",
                grouped(packets.offered),
                grouped(rates.offered_packets_per_second)
            ),
            false,
        );
        tile(
            "Sent",
            rate(rates.sent_bits_per_second),
            format!(
                "{} packets, {} a second",
                grouped(packets.sent),
                grouped(rates.sent_packets_per_second)
            ),
            false,
        );
        let lost = packets.dropped_media + packets.dropped_microcode;
        tile(
            "Lost",
            (grouped(lost), String::new()),
            format!(
                "packets, {} of those offered",
                percent(lost, packets.offered, NO_VALUE)
            ),
            lost > 0,
        );
    }
    if let Some(latency) = &report.latency {
        tile(
            "Latency",
            time(latency.p50_ns),
            {
                let (value, unit) = time(latency.p99_ns);
                format!("median; 99% within {value} {unit}")
            },
            false,
        );
    }
    let instructions: u64 = report
        .chip
        .microengines
        .iter()
        .map(|me| me.instructions)
        .sum();
    tile(
        "Simulated",
        time(report.chip.nanoseconds),
        format!(
            "{} cycles, {} instructions",
            grouped(report.chip.cycles),
            grouped(instructions)
        ),
        false,
    );
    tiles
}

/// Adjacent samples joined, so that a curve has few enough points.
struct Bins {
    /// Ends of the bins in nanoseconds.
    times: Vec<f64>,
    /// The last sample of each bin.
    ends: Vec<Sample>,
    /// The fill of each place in each bin.
    fills: Vec<Vec<Fill>>,
}

fn bins_of(run: &Run<'_>) -> Bins {
    let samples = run.series.samples();
    let group = samples.len().div_ceil(POINTS).max(1);
    let mut bins = Bins {
        times: Vec::new(),
        ends: Vec::new(),
        fills: Vec::new(),
    };
    for chunk in samples.chunks(group) {
        let Some(last) = chunk.last() else { continue };
        let fills = (0..run.series.places().len()).map(|place| {
            let found = chunk.iter().filter_map(|sample| sample.fills.get(place));
            found.fold(Fill::default(), |sum, fill| sum.join(*fill))
        });
        bins.times.push(nanoseconds(run, last.cycle));
        bins.fills.push(fills.collect());
        bins.ends.push(last.clone());
    }
    bins
}

fn rates(run: &Run<'_>, bins: &Bins) -> Option<ResponsiveChart> {
    if !has_frames(run.report) {
        return None;
    }
    let rate = |count: &dyn Fn(&Sample) -> u64| -> Vec<f64> {
        let mut before = (0, 0.0);
        let ends = bins.ends.iter().zip(&bins.times);
        ends.map(|(sample, &time)| {
            let now = (count(sample), time);
            let rate = (now.0 - before.0) as f64 * 1e9 / (now.1 - before.1).max(1.0);
            before = now;
            rate
        })
        .collect()
    };
    let curve = |name: &str, class, stroke, count: &dyn Fn(&Sample) -> u64| TimeCurve {
        name: name.to_owned(),
        class,
        stroke,
        values: rate(count),
    };
    let lost = |sample: &Sample| {
        let (media, microcode) = sample.dropped();
        media + microcode
    };
    let chart = TimeChart {
        label: "frames offered, sent and lost over time".into(),
        unit: "frames per second".into(),
        times: bins.times.clone(),
        curves: vec![
            curve("offered", "of-offered", Stroke::Area, &|s| s.frames().0),
            curve("sent", "of-sent", Stroke::Line, &|s| s.frames().1),
            curve("lost", "of-lost", Stroke::Line, &lost),
        ],
        level: None,
        whole: false,
    };
    Some(ResponsiveChart {
        wide: chart.draw(WIDE, 260.0),
        narrow: chart.draw(NARROW, 220.0),
    })
}

fn latencies(report: &NodeReport) -> Vec<(&'static str, String)> {
    let Some(latency) = &report.latency else {
        return Vec::new();
    };
    [
        ("least", latency.min_ns),
        ("50%", latency.p50_ns),
        ("mean", latency.mean_ns),
        ("90%", latency.p90_ns),
        ("99%", latency.p99_ns),
        ("most", latency.max_ns),
    ]
    .map(|(name, ns)| (name, format!("{} ns", grouped(ns))))
    .to_vec()
}

fn microengine_shares(run: &Run<'_>) -> Vec<ShareBar> {
    let limit = run.analysis.limits.first();
    let limits = |me: u64| {
        let own = limit.filter(|it| matches!(it.kind, LimitKind::Compute | LimitKind::Latency));
        let stage = own.and_then(|limit| run.stages.get(limit.stage?));
        stage.is_some_and(|stage| stage.microengines.iter().any(|&it| u64::from(it) == me))
    };
    let all = run.report.chip.microengines.iter();
    all.filter(|me| me.instructions > 0)
        .filter_map(|me| {
            run.analysis
                .shares
                .iter()
                .find(|share| share.index == me.index)
        })
        .map(|share| ShareBar {
            name: format!("{} {}", share.index, run.source(share.index)),
            limits: limits(share.index),
            parts: vec![
                ("fill-executing", "executing", share.executing),
                ("fill-aborted", "aborted", share.aborted),
                ("fill-stalled", "stalled", share.stalled),
                ("fill-idle", "idle", 1000),
            ],
            total: share.executing + share.aborted + share.stalled,
        })
        .collect()
}

/// The bars of units, buses and lines, preceded by the limit if it is a turn or a lock.
fn unit_shares(run: &Run<'_>) -> Vec<ShareBar> {
    let limit = run.analysis.limits.first();
    let bar = |name: &str, limits, permille| ShareBar {
        name: name.to_owned(),
        limits,
        parts: vec![("fill-busy", "busy", permille), ("fill-idle", "idle", 1000)],
        total: permille,
    };
    let held = limit.filter(|it| matches!(it.kind, LimitKind::Lock(_) | LimitKind::Serial(_)));
    let held = held.map(|limit| bar(&limit.name.replace('`', ""), true, limit.permille));
    let limits = |load: &ResourceLoad| {
        limit.is_some_and(|limit| match limit.kind {
            LimitKind::Line(port) => load.kind == LoadKind::LineOut(port),
            LimitKind::Unit => load.name == limit.name,
            LimitKind::SlowPath => load.kind == LoadKind::Core,
            _ => false,
        })
    };
    let loads = run.analysis.loads.iter();
    let others = loads.filter(|load| !matches!(load.kind, LoadKind::Microengine(_)));
    { held.into_iter() }
        .chain(others.map(|load| bar(&load.name, limits(load), load.permille)))
        .collect()
}

fn bars(bars: &[ShareBar], label: &str) -> ResponsiveChart {
    ResponsiveChart {
        wide: share_bars::draw(bars, WIDE, label),
        narrow: share_bars::draw(bars, NARROW, label),
    }
}

/// A chart for each place that was ever occupied, and the names of the others.
fn depths(run: &Run<'_>, bins: &Bins) -> (Vec<DepthChart>, String) {
    let mut charts = Vec::new();
    let mut still = Vec::new();
    for (index, place) in run.series.places().iter().enumerate() {
        let found = bins.fills.iter().map(|fills| fills[index]);
        let all = found.fold(Fill::default(), Fill::join);
        if all.most == 0 {
            still.push(place.name.clone());
        } else {
            charts.push(depth(bins, index, place, all));
        }
    }
    (charts, still.join(", "))
}

fn depth(bins: &Bins, index: usize, place: &OccupancyProbe, all: Fill) -> DepthChart {
    let mean = |fill: &Fill| fill.sum as f64 / fill.samples.max(1) as f64;
    let curve = |name: &str, class, stroke, value: &dyn Fn(&Fill) -> f64| TimeCurve {
        name: name.to_owned(),
        class,
        stroke,
        values: bins
            .fills
            .iter()
            .map(|fills| value(&fills[index]))
            .collect(),
    };
    let chart = TimeChart {
        label: format!("{} over time", place.name),
        unit: place.unit.to_owned(),
        times: bins.times.clone(),
        curves: vec![
            curve("mean", "of-depth", Stroke::Area, &mean),
            curve("most", "of-depth", Stroke::Line, &|fill| fill.most as f64),
        ],
        level: place
            .capacity
            .map(|capacity| (capacity as f64, format!("room for {}", grouped(capacity)))),
        whole: true,
    };
    let of = match (place.capacity, place.kind) {
        (Some(_), ProbeKind::ReceiveFifo { .. }) | (None, _) => String::new(),
        (Some(capacity), _) => format!(" of {}", grouped(capacity)),
    };
    DepthChart {
        name: place.name.clone(),
        note: format!(
            "most {}{of}, mean {:.1} {}",
            grouped(all.most),
            mean(&all),
            place.unit
        ),
        svg: chart.draw(HALF_WIDTH, 150.0),
    }
}

fn lanes(run: &Run<'_>) -> Option<LaneChart> {
    let (lanes, why) = run.lanes?;
    let used = run
        .report
        .chip
        .microengines
        .iter()
        .filter(|me| me.instructions > 0);
    let microengines: Vec<_> = used
        .map(|me| {
            let index = me.index as u8;
            (
                index,
                format!("microengine {index}, {}", run.source(me.index)),
            )
        })
        .collect();
    let (from, until) = (lanes.from(), lanes.until());
    let third = ((until - from) / 3).max(1);
    let (start, end) = (from + third, until - third);
    let span = |from: u64, until: u64| {
        format!(
            "cycles {} to {}, {} from {} on",
            grouped(from),
            grouped(until),
            duration(nanoseconds(run, until - from)),
            duration(nanoseconds(run, from)),
        )
    };
    (until > from && end > start).then(|| LaneChart {
        figure: ResponsiveChart {
            wide: lanes_chart::draw(lanes, &microengines, from, until, WIDE),
            narrow: lanes_chart::draw(lanes, &microengines, start, end, NARROW),
        },
        why: format!("{why}: {}", span(from, until)),
        narrow_why: format!("{why}: {}", span(start, end)),
        keys: Activity::ALL
            .into_iter()
            .filter(|activity| *activity != Activity::Inactive)
            .map(|activity| LegendEntry::new(lanes_chart::class(activity), activity.name()))
            .collect(),
    })
}
