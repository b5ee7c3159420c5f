//! The report page of a network's run: queues, windows and rates over time, and the results of flows,
//! links and routers. The HTML is self-contained, and the same run gives the same bytes.

use npsim_network_file::results::{FlowResult, LineResult, Results, RouterResult};
use npsim_network_file::series::{Sample, SampleSubject};
use npsim_network_file::transfer_results::TransferResult;
use npsim_project::quantity::{grouped, percent, show_nanoseconds, show_rate};
use serde::Serialize;

use crate::chart::time::{Stroke, TimeChart, TimeCurve};
use crate::chart::{NARROW, WIDE};
use crate::page::parts::{self, LegendEntry, NO_VALUE, ResponsiveChart, Tile};

/// Maximum points per curve; more could not be distinguished.
const POINTS: usize = 220;
/// Maximum number of flows whose curves are drawn.
const MAX_FLOWS: usize = 8;
/// Maximum number of links whose curves are drawn.
const MAX_LINKS: usize = 6;
/// Style-sheet classes of the curves of flows.
const COLOURS: [&str; MAX_FLOWS] = [
    "of-0", "of-1", "of-2", "of-3", "of-4", "of-5", "of-6", "of-7",
];
/// Style-sheet classes of their legend entries, in the same order.
const FILLS: [&str; MAX_FLOWS] = [
    "fill-0", "fill-1", "fill-2", "fill-3", "fill-4", "fill-5", "fill-6", "fill-7",
];

/// One quantity of a flow or link over time.
#[derive(Clone, Debug)]
struct Track {
    of: SampleSubject,
    name: String,
    quantity: &'static str,
    /// Seconds and values, ordered by time.
    points: Vec<(f64, f64)>,
}

/// The samples of a run, kept in memory.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    list: Vec<Track>,
    /// The likely index of the next sample's track: samples come in the same order each time.
    next: usize,
}

impl Tracks {
    /// Adds a sample.
    pub fn add(&mut self, sample: &Sample<'_>) {
        let is = |track: &Track| {
            track.of == sample.of && track.quantity == sample.quantity && track.name == sample.name
        };
        let place = match self.list.get(self.next) {
            Some(track) if is(track) => self.next,
            _ => self.list.iter().position(is).unwrap_or_else(|| {
                self.list.push(Track {
                    of: sample.of,
                    name: sample.name.to_owned(),
                    quantity: sample.quantity,
                    points: Vec::new(),
                });
                self.list.len() - 1
            }),
        };
        self.list[place].points.push((sample.seconds, sample.value));
        self.next = (place + 1) % self.list.len();
    }

    fn names(&self, of: SampleSubject, quantity: &str) -> Vec<&str> {
        { self.list.iter() }
            .filter(|track| track.of == of && track.quantity == quantity)
            .map(|track| track.name.as_str())
            .collect()
    }

    fn track(&self, of: SampleSubject, name: &str, quantity: &str) -> Option<&Track> {
        { self.list.iter() }
            .find(|track| track.of == of && track.name == name && track.quantity == quantity)
    }
}

/// A chart in a wide and a narrow version, with its legend.
#[derive(Serialize)]
struct Chart {
    title: String,
    note: &'static str,
    keys: Vec<LegendEntry>,
    drawn: ResponsiveChart,
}

#[derive(Serialize)]
struct FlowRow {
    name: String,
    transport: String,
    cells: Vec<String>,
}

#[derive(Serialize)]
struct TransferRow {
    name: String,
    state: &'static str,
    cells: Vec<String>,
}

#[derive(Serialize)]
struct LineRow {
    name: String,
    from: String,
    cells: Vec<String>,
}

#[derive(Serialize)]
struct RouterRow {
    name: String,
    project: String,
    cells: Vec<String>,
    microengines: String,
}

/// All variables of the template.
#[derive(Serialize)]
struct NetworkContent<'a> {
    style: &'static str,
    script: &'static str,
    version: &'static str,
    network: &'a str,
    lead: String,
    tiles: Vec<Tile>,
    links: Vec<Vec<Chart>>,
    flows: Vec<Chart>,
    unseen: String,
    flow_rows: Vec<FlowRow>,
    transfer_rows: Vec<TransferRow>,
    line_rows: Vec<LineRow>,
    routers: Vec<RouterRow>,
    own_time: String,
}

/// Renders the page.
///
/// # Errors
/// Returns an error only if the template does not fit the data, which a test excludes.
pub fn render(results: &Results, tracks: &Tracks) -> Result<String, minijinja::Error> {
    parts::render(
        include_str!("network_page/network_page.html"),
        content(results, tracks),
    )
}

fn content<'a>(results: &'a Results, tracks: &Tracks) -> NetworkContent<'a> {
    let flows = tracks.names(SampleSubject::Flow, "goodput_bps");
    let unseen = match flows.len().saturating_sub(MAX_FLOWS) {
        0 => String::new(),
        more => format!("The first {MAX_FLOWS} flows; {more} more are in the table."),
    };
    let rounded = |seconds: f64| (seconds * 1e6).round() / 1e6;
    NetworkContent {
        style: concat!(
            include_str!("page/page.css"),
            include_str!("network_page/network_page.css")
        ),
        script: include_str!("page/page.js"),
        version: env!("CARGO_PKG_VERSION"),
        network: &results.network,
        lead: format!(
            "{} flows; figures are those from {} s to {} s, seed {}.",
            results.flows.len(),
            rounded(results.from_s),
            rounded(results.until_s),
            results.seed
        ),
        tiles: tiles(results),
        links: { tracks.names(SampleSubject::Link, "queue_bytes").into_iter() }
            .take(MAX_LINKS)
            .map(|name| link_charts(tracks, name))
            .collect(),
        flows: flow_charts(tracks, &flows),
        unseen,
        flow_rows: results.flows.iter().map(flow_row).collect(),
        transfer_rows: results.transfers.iter().map(transfer_row).collect(),
        line_rows: { results.lines.iter() }
            .filter(|line| line.watched)
            .map(line_row)
            .collect(),
        routers: results.routers.iter().map(router_row).collect(),
        own_time: match results.scale {
            1 => String::new(),
            scale => format!(", which runs {scale} times as fast as the file's"),
        },
    }
}

/// Splits `3.2 MB` into number and unit.
fn parts(text: &str) -> (String, String) {
    match text.split_once(' ') {
        Some((value, unit)) => (value.to_owned(), unit.to_owned()),
        None => (text.to_owned(), String::new()),
    }
}

fn tile(name: &str, value: &str, note: String, alarming: bool) -> Tile {
    let (value, unit) = parts(value);
    Tile {
        name: name.to_owned(),
        value,
        unit,
        note,
        alarming,
    }
}

fn kilobytes(bytes: f64) -> String {
    format!("{:.1} KB", bytes / 1e3)
}

fn tiles(results: &Results) -> Vec<Tile> {
    let goodput: f64 = results.flows.iter().map(|flow| flow.goodput_bps).sum();
    let drops: u64 = results.lines.iter().map(|line| line.drops).sum();
    let lost: u64 = results.lines.iter().map(|line| line.lost).sum();
    let mut tiles = vec![
        tile(
            "Delivered",
            &show_rate(goodput),
            "what all receivers got, without headers and repetitions".to_owned(),
            false,
        ),
        tile(
            "Fairness",
            &results
                .jain
                .map_or_else(|| NO_VALUE.to_owned(), |jain| format!("{jain:.3}")),
            match results.jain {
                Some(_) => "Jain's index of the flows".to_owned(),
                None => "nothing was delivered".to_owned(),
            },
            false,
        ),
    ];
    let watched = results.lines.iter().filter(|line| line.watched);
    if let Some(line) = watched.max_by(|a, b| a.utilisation.total_cmp(&b.utilisation)) {
        tiles.push(tile(
            "Fullest link",
            &format!("{:.1} %", line.utilisation * 100.0),
            format!("{} from {}", line.link, line.from),
            false,
        ));
        tiles.push(tile(
            "Its queue",
            &kilobytes(line.mean_queue_bytes),
            format!(
                "on average; {} at most",
                kilobytes(line.longest_queue_bytes as f64)
            ),
            false,
        ));
    }
    tiles.push(tile(
        "Dropped",
        &grouped(drops),
        format!("packets by queues, {} lost on lines", grouped(lost)),
        false,
    ));
    tiles
}

/// How to draw a set of tracks.
struct Plot {
    title: String,
    note: &'static str,
    unit: &'static str,
    /// The factor that values are multiplied by.
    factor: f64,
    height: f64,
    stroke: Stroke,
}

fn chart(plot: &Plot, tracks: &[(&Track, &'static str, &'static str)]) -> Option<Chart> {
    // Flows that start late have no earlier values.
    let times = { tracks.iter() }
        .map(|(track, ..)| track.points.iter().map(|point| point.0))
        .max_by_key(ExactSizeIterator::len)?
        .collect::<Vec<_>>();
    let group = times.len().div_ceil(POINTS).max(1);
    let ends: Vec<f64> = times
        .chunks(group)
        .filter_map(<[f64]>::last)
        .copied()
        .collect();
    let curves = tracks.iter().map(|(track, class, _)| {
        let mut points = track.points.iter().peekable();
        let values = ends.iter().map(|end| {
            let (mut sum, mut count) = (0.0, 0.0);
            while let Some((_, value)) = points.next_if(|point| point.0 <= *end) {
                sum += value;
                count += 1.0;
            }
            if count > 0.0 {
                sum / count * plot.factor
            } else {
                0.0
            }
        });
        TimeCurve {
            name: track.name.clone(),
            class,
            stroke: plot.stroke,
            values: values.collect(),
        }
    });
    let drawing = TimeChart {
        label: plot.title.clone(),
        unit: plot.unit.to_owned(),
        curves: curves.collect(),
        times: ends.iter().map(|seconds| seconds * 1e9).collect(),
        level: None,
        whole: false,
    };
    Some(Chart {
        title: plot.title.clone(),
        note: plot.note,
        keys: { tracks.iter() }
            .map(|(track, _, fill)| LegendEntry::new(fill, &track.name))
            .collect(),
        drawn: ResponsiveChart {
            wide: drawing.draw(WIDE, plot.height),
            narrow: drawing.draw(NARROW, plot.height.min(180.0)),
        },
    })
}

fn link_charts(tracks: &Tracks, name: &str) -> Vec<Chart> {
    let plots = [
        (
            "queue_bytes",
            Plot {
                title: format!("{name}: queue"),
                note: "What waits, without the packet on the line.",
                unit: "KB",
                factor: 1e-3,
                height: 200.0,
                stroke: Stroke::Area,
            },
        ),
        (
            "utilisation",
            Plot {
                title: format!("{name}: utilisation"),
                note: "Share of the time in which the line sends.",
                unit: "%",
                factor: 100.0,
                height: 140.0,
                stroke: Stroke::Line,
            },
        ),
    ];
    let drawn = plots.iter().filter_map(|(quantity, plot)| {
        let track = tracks.track(SampleSubject::Link, name, quantity)?;
        // A queue that is always empty needs no chart.
        if !track.points.iter().any(|point| point.1 > 0.0) {
            return None;
        }
        chart(plot, &[(track, "of-depth", "fill-sent")])
    });
    drawn.collect()
}

fn flow_charts(tracks: &Tracks, flows: &[&str]) -> Vec<Chart> {
    let plot = |title: &str, note, unit, factor| Plot {
        title: title.to_owned(),
        note,
        unit,
        factor,
        height: 240.0,
        stroke: Stroke::Line,
    };
    let plots = [
        (
            "goodput_bps",
            plot(
                "Goodput",
                "What the receiver got, without headers and repetitions.",
                "b/s",
                1.0,
            ),
        ),
        (
            "window_bytes",
            plot(
                "Congestion window",
                "What the sender lets be in flight.",
                "KB",
                1e-3,
            ),
        ),
        (
            "rtt_s",
            plot(
                "Round-trip time",
                "As the sender estimates it, smoothed.",
                "ms",
                1e3,
            ),
        ),
    ];
    let drawn = plots.iter().filter_map(|(quantity, plot)| {
        let places = COLOURS.iter().zip(FILLS);
        let list: Vec<_> = { flows.iter().zip(places) }
            .filter_map(|(name, (class, fill))| {
                Some((
                    tracks.track(SampleSubject::Flow, name, quantity)?,
                    *class,
                    fill,
                ))
            })
            .collect();
        chart(plot, &list)
    });
    drawn.collect()
}

fn flow_row(flow: &FlowResult) -> FlowRow {
    FlowRow {
        name: flow.name.clone(),
        transport: flow.transport.to_owned(),
        cells: flow_cells(flow, NO_VALUE).to_vec(),
    }
}

/// The table cells of a flow: goodput, share, lost, resent, timeouts, round-trip time, completion.
/// `none` is the text for a missing value.
#[must_use]
pub fn flow_cells(flow: &FlowResult, none: &str) -> [String; 7] {
    let time = |seconds: Option<f64>| {
        seconds.map_or_else(|| none.to_owned(), |it| show_nanoseconds(it * 1e9))
    };
    [
        show_rate(flow.goodput_bps),
        { flow.share }.map_or_else(|| none.to_owned(), |share| format!("{:.1}%", share * 100.0)),
        grouped(flow.lost),
        grouped(flow.retransmitted),
        grouped(flow.timeouts),
        time(flow.rtt_s),
        time(flow.completion_s),
    ]
}

fn transfer_row(transfer: &TransferResult) -> TransferRow {
    TransferRow {
        name: transfer.name.clone(),
        state: transfer.outcome.name(),
        cells: transfer_cells(transfer, NO_VALUE).to_vec(),
    }
}

/// The table cells of a transfer: requests answered, goodput, bytes of requests and of responses
/// received, corrupted bytes, completion. `none` is the text for a missing value.
#[must_use]
pub fn transfer_cells(transfer: &TransferResult, none: &str) -> [String; 6] {
    let (request, response) = (&transfer.request, &transfer.response);
    let completion = transfer.completion_s;
    [
        format!(
            "{} of {}",
            grouped(transfer.answered),
            grouped(transfer.requests)
        ),
        show_rate(transfer.goodput_bps),
        grouped(request.delivered),
        grouped(response.delivered),
        grouped(request.wrong + response.wrong),
        completion.map_or_else(|| none.to_owned(), |it| show_nanoseconds(it * 1e9)),
    ]
}

fn line_row(line: &LineResult) -> LineRow {
    let mut cells = vec![show_rate(line.rate_bps)];
    cells.extend(line_cells(line));
    LineRow {
        name: line.link.clone(),
        from: line.from.clone(),
        cells,
    }
}

/// The table cells of a line: utilisation, mean and longest queue, drops, lost.
#[must_use]
pub fn line_cells(line: &LineResult) -> [String; 5] {
    [
        format!("{:.1}%", line.utilisation * 100.0),
        kilobytes(line.mean_queue_bytes),
        kilobytes(line.longest_queue_bytes as f64),
        grouped(line.drops),
        grouped(line.lost),
    ]
}

fn router_row(router: &RouterResult) -> RouterRow {
    let node = &router.node;
    let packets = &node.packets;
    let time = |of: fn(&npsim_session::report::LatencySummary) -> u64| {
        let latency = node.latency.as_ref();
        latency.map_or_else(|| NO_VALUE.to_owned(), |it| show_nanoseconds(of(it) as f64))
    };
    let at_work = node
        .chip
        .microengines
        .iter()
        .filter(|me| me.instructions > 0);
    let at_work: Vec<_> = at_work
        .map(|me| {
            let busy = me.executing + me.aborted + me.stalled;
            format!("{} {}", me.index, percent(busy, node.chip.cycles, NO_VALUE))
        })
        .collect();
    RouterRow {
        name: router.name.clone(),
        project: router.project.clone(),
        cells: vec![
            grouped(packets.offered),
            grouped(packets.sent),
            grouped(packets.dropped_media + packets.dropped_microcode),
            time(|it| it.p50_ns),
            time(|it| it.p99_ns),
        ],
        microengines: at_work.join(", "),
    }
}
