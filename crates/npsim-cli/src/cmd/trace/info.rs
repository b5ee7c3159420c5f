//! `npsim trace info`: summarises captures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use npsim::advisories::times;
use npsim::quantity::{grouped, show_nanoseconds, show_rate};
use npsim_net::capture::{CaptureError, CaptureReader, LinkTypes};
use npsim_net::census::{Census, Oddities, SIZE_CLASSES};
use serde::Serialize;

use crate::cmd::format::{self, Format};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim trace info traces/mixed.pcap
  npsim trace info traces/*.pcap*
  npsim trace info --format json in.pcapng | jq '.[0].oddities'";

/// Summarise captures: format, frames, rates, sizes, protocols, ports, oddities
///
/// Byte counts exclude the FCS, size classes include it. A damaged file is an error;
/// the text reports of the files before it are still printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The captures (pcap or pcapng, also compressed)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Put made-up Ethernet headers before packets captured without them, as `npsim run --link` does
    #[arg(long)]
    link: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// A capture, as JSON.
#[derive(Debug, Serialize)]
struct Info {
    file: String,
    format: String,
    frames: u64,
    bytes: u64,
    shortest: u64,
    longest: u64,
    /// The time of the first frame, in nanoseconds since 1970.
    first_timestamp_ns: i128,
    /// The time from the first to the last frame.
    duration_ns: u64,
    packets_per_second: u64,
    bits_per_second: u64,
    sizes: Vec<SizeClass>,
    protocols: BTreeMap<String, u64>,
    interfaces: Vec<Interface>,
    flows: u64,
    /// Whether there are more flows than could be counted.
    more_flows: bool,
    /// Frames with a slightly earlier time than a preceding frame.
    out_of_order: u64,
    /// The number of times that a clock was set back, and below the total.
    clock_steps: u64,
    stepped_back_ns: u64,
    /// Frames with more bytes in the capture than on the wire.
    overlong: u64,
    /// Options of pcapng that violate the format.
    odd_options: u64,
    /// Frames lost when the capture was made, by its own count.
    lost_before: u64,
    /// Bytes after the end of the compressed data.
    bytes_behind: u64,
    /// Frames whose subsecond part of the time is a second or more.
    overflowing_times: u64,
    /// Frames with a made-up Ethernet header.
    framed: u64,
    /// Packets without an Ethernet header whose protocol is unknown.
    left_out: u64,
    oddities: Oddities,
}

/// Frames of `from` to `to` bytes with FCS; without `to` there is no upper limit.
#[derive(Debug, Serialize)]
struct SizeClass {
    from: u64,
    to: Option<u64>,
    frames: u64,
}

#[derive(Debug, Serialize)]
struct Interface {
    name: String,
    frames: u64,
    bytes: u64,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut infos = Vec::new();
    for (place, path) in arguments.files.iter().enumerate() {
        let info = read_info(path, arguments.link)?;
        if arguments.format == Format::Text {
            let gap = if place > 0 { "\n" } else { "" };
            output::print_text(&format!("{gap}{}", text(&info)))?;
        }
        infos.push(info);
    }
    if arguments.format == Format::Json {
        format::json(&infos)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read_info(path: &Path, link: bool) -> Result<Info, CaptureError> {
    let links = if link {
        LinkTypes::Framed
    } else {
        LinkTypes::Ethernet
    };
    let mut reader = CaptureReader::open_with(path, links)?;
    let mut census = Census::default();
    for frame in reader.by_ref() {
        census.add(&frame?);
    }
    let bounds = SIZE_CLASSES.iter().map(|&bound| Some(bound)).chain([None]);
    let mut from = SIZE_CLASSES[0];
    let mut sizes = Vec::new();
    for (to, &frames) in bounds.zip(&census.sizes) {
        sizes.push(SizeClass { from, to, frames });
        from = to.map_or(from, |to| to + 1);
    }
    let interfaces = reader.interfaces().iter().enumerate().map(|(port, name)| {
        let counts = census.ports.get(port).copied().unwrap_or_default();
        Interface {
            name: name.clone(),
            frames: counts.frames,
            bytes: counts.bytes,
        }
    });
    let per_second = |count: u64| {
        let scaled = u128::from(count) * 1_000_000_000;
        let rate = scaled.checked_div(u128::from(census.duration_ns));
        rate.map_or(0, |rate| u64::try_from(rate).unwrap_or(u64::MAX))
    };
    let notes = reader.notes();
    Ok(Info {
        file: path.display().to_string(),
        format: reader.format(),
        frames: census.frames,
        bytes: census.bytes,
        shortest: census.shortest,
        longest: census.longest,
        first_timestamp_ns: reader.first_timestamp_ns(),
        duration_ns: census.duration_ns,
        packets_per_second: per_second(census.frames),
        bits_per_second: per_second(census.bytes.saturating_mul(8)),
        sizes,
        interfaces: interfaces.collect(),
        flows: census.flows(),
        more_flows: census.flow_limit_reached(),
        out_of_order: notes.reordered,
        clock_steps: notes.clock_steps,
        stepped_back_ns: notes.stepped_back_ns,
        overlong: notes.overlong_frames,
        odd_options: notes.odd_options,
        lost_before: notes.lost_before,
        bytes_behind: notes.bytes_behind,
        overflowing_times: notes.overflowing_times,
        framed: notes.framed,
        left_out: notes.left_out,
        oddities: census.oddities,
        protocols: census.protocols,
    })
}

fn text(info: &Info) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_text(&mut out, info);
    out
}

fn write_text(out: &mut String, info: &Info) -> std::fmt::Result {
    writeln!(out, "{}: {}", info.file, info.format)?;
    writeln!(
        out,
        "frames       {}, {} bytes, {} to {} long without FCS",
        grouped(info.frames),
        grouped(info.bytes),
        grouped(info.shortest),
        grouped(info.longest)
    )?;
    if info.frames == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "time         {} from {}.{:09} s {} 1970",
        show_nanoseconds(info.duration_ns as f64),
        info.first_timestamp_ns.abs() / 1_000_000_000,
        info.first_timestamp_ns.abs() % 1_000_000_000,
        if info.first_timestamp_ns < 0 {
            "before"
        } else {
            "after"
        }
    )?;
    if info.duration_ns > 0 {
        writeln!(
            out,
            "rate         {} packets/s, {}",
            grouped(info.packets_per_second),
            show_rate(info.bits_per_second as f64)
        )?;
    }
    let sizes = info.sizes.iter().filter(|class| class.frames > 0);
    let sizes = sizes.map(|class| {
        let range = match class.to {
            Some(to) if to == class.from => to.to_string(),
            Some(to) => format!("{}-{to}", class.from),
            None => format!("over {}", class.from - 1),
        };
        format!("{range}: {}", grouped(class.frames))
    });
    list(out, "sizes", sizes)?;
    let protocols = info.protocols.iter();
    let protocols = protocols.map(|(name, frames)| format!("{name}: {}", grouped(*frames)));
    list(out, "protocols", protocols)?;
    let more = if info.more_flows { "more than " } else { "" };
    writeln!(out, "flows        {more}{}", grouped(info.flows))?;
    let interfaces = info.interfaces.iter();
    let interfaces = interfaces.map(|port| {
        format!(
            "{}: {} frames, {} bytes",
            port.name,
            grouped(port.frames),
            grouped(port.bytes)
        )
    });
    list(out, "interfaces", interfaces)?;
    let Oddities {
        fragments,
        options,
        expired,
        bad_header_checksums,
        bad_payload_checksums,
        group_addressed,
        tagged,
        truncated,
        unreadable,
    } = info.oddities;
    let oddities = [
        ("fragments", fragments),
        ("IPv4 options", options),
        ("time to live of at most 1", expired),
        ("wrong IPv4 header checksums", bad_header_checksums),
        ("wrong TCP, UDP or ICMP checksums", bad_payload_checksums),
        ("to broadcast or multicast MAC addresses", group_addressed),
        ("with VLAN tags", tagged),
        ("captured only in part", truncated),
        ("unreadable", unreadable),
        ("longer in the capture than on the wire", info.overlong),
        ("timestamps out of order", info.out_of_order),
        (
            "timestamps whose fraction is a second or more",
            info.overflowing_times,
        ),
        ("with made-up Ethernet headers", info.framed),
        (
            "left out, since nothing says what they carry",
            info.left_out,
        ),
    ];
    let oddities = oddities
        .into_iter()
        .filter(|(_, frames)| *frames > 0)
        .map(|(name, frames)| format!("{name}: {}", grouped(frames)));
    let beside = [
        (info.clock_steps > 0).then(|| {
            format!(
                "a clock was set back {}, by {} in all; duration and rates go on from the frame before",
                times(info.clock_steps),
                show_nanoseconds(info.stepped_back_ns as f64)
            )
        }),
        (info.odd_options > 0).then(|| {
            format!(
                "malformed pcapng options, ignored: {}",
                grouped(info.odd_options)
            )
        }),
        (info.lost_before > 0).then(|| {
            format!(
                "frames that were lost where it was captured, by its own count: {}",
                grouped(info.lost_before)
            )
        }),
        (info.bytes_behind > 0).then(|| {
            format!(
                "bytes behind the compressed data, not read: {}",
                grouped(info.bytes_behind)
            )
        }),
    ];
    list(
        out,
        "oddities",
        oddities.chain(beside.into_iter().flatten()),
    )
}

/// A list with one entry per line under a heading; nothing for an empty list.
fn list(
    out: &mut String,
    heading: &str,
    entries: impl Iterator<Item = String>,
) -> std::fmt::Result {
    for (place, entry) in entries.enumerate() {
        let heading = if place == 0 { heading } else { "" };
        writeln!(out, "{heading:12} {entry}")?;
    }
    Ok(())
}
