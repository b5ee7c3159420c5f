//! `npsim trace gen`: writes generated traffic as a capture.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim::project::{Overrides, Project};
use npsim::quantity::{grouped, parse_rate, show_rate};
use npsim_net::egress::{CaptureFormat, CapturePort, TraceSink};
use npsim_net::ethernet::line_bytes;
use npsim_net::load::{Generator, LoadPort};
use serde::Serialize;

use crate::cmd::destinations::{self, OutputOption};
use crate::cmd::file_forms::CAPTURE;
use crate::cmd::format::{self, Format};
use crate::cmd::load_options::LoadOptions;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim trace gen --load 0.5 --size imix --time 2ms -o half.pcap
  npsim trace gen --rate 3Mpps --port-count 3 --arrivals poisson --seed 7 -o poisson.pcapng.gz
  npsim trace gen --project microcode/forward --load 0.3 -o in.pcapng
  npsim run microcode/forward --trace in.pcapng --pace trace     what --load 0.3 would give";

/// Write generated traffic as a capture
///
/// The capture has the frames that `npsim run` would generate with the same options,
/// at the same times: `npsim run --trace FILE --pace trace` gives the same run, if
/// the ports are the same. Timestamps have nanosecond resolution and start at 0. The
/// extension selects the format: `.pcap` or `.pcapng`, optionally with `.gz` or `.zst`.
/// Several ports need pcapng, with an interface per port; without such an extension,
/// the number of ports selects the format.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Write the capture to FILE; `-` is standard output (pcap for one port, pcapng for several)
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// The project whose ports, routes and [load] to use
    #[arg(long, value_name = "PROJECT", conflicts_with_all = ["ports", "line"])]
    project: Option<PathBuf>,
    /// Number of ports
    #[arg(long = "port-count", alias = "ports", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    ports: u8,
    /// Line rate of each port
    #[arg(long, value_name = "RATE", default_value = "1Gbps", value_parser = parse_rate)]
    line: u64,
    /// Begin the random numbers with seed N; another seed gives other traffic of the same kind [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    traffic: LoadOptions,
    /// Print no summary
    #[arg(short, long)]
    quiet: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// The capture that was written, as JSON.
#[derive(Serialize)]
struct CaptureOutput {
    file: String,
    format: &'static str,
    ports: usize,
    load: String,
    seed: u64,
    time_ns: u64,
    frames: u64,
    bytes: u64,
    line_bits: u64,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let project = match &arguments.project {
        Some(path) => Some(Project::load(
            path,
            &Overrides::default(),
            &npsim::registry(),
        )?),
        None => None,
    };
    let ports = match &project {
        Some(project) => npsim::load::ports(project),
        None => (1..=arguments.ports)
            .map(|number| LoadPort {
                bits_per_second: arguments.line,
                mac: [2, 0, 0, 0, number, 0],
            })
            .collect(),
    };
    let own = project.as_ref().and_then(|project| project.load.as_ref());
    let mut load = arguments
        .traffic
        .merged_with(own, arguments.seed)
        .ok_or_else(|| {
            Problem::new("no traffic is asked for")
                .help("say how much, such as `--load 0.5` or `--rate 1Mpps`")
        })?;
    if let Some(project) = &project {
        load = npsim::load::resolved(load, project);
    }
    load.flows = load.flows.max(ports.len() as u32);
    let generator = match &project {
        Some(project) => npsim::load::generator(&load, project)?,
        None => Generator::new(&load, &ports)
            .map_err(|error| Problem::new(format!("this traffic cannot be made: {error}")))?,
    };
    load.flows = generator.flow_slots();
    let out = &arguments.out;
    let mut outputs = vec![OutputOption::new("--out", out, &CAPTURE)];
    outputs.extend(OutputOption::results(arguments.format, arguments.quiet));
    destinations::claim(&["trace", "gen"], &outputs)?;
    let inputs = { project.iter() }.flat_map(|it| destinations::files_of(it, &[]));
    destinations::check_overwrites(&inputs.collect::<Vec<_>>(), &outputs)?;
    let form = CaptureFormat::of_name(out).unwrap_or(match ports.len() {
        1 => CaptureFormat::Pcap,
        _ => CaptureFormat::PcapNg,
    });
    if form == CaptureFormat::Pcap && ports.len() > 1 {
        return Err(Problem::new(format!(
            "a classic pcap cannot distinguish {} ports",
            ports.len()
        ))
        .help("let the name end in .pcapng")
        .into());
    }
    let failed = |error| Problem::io("write", out, &error);
    let lines: Vec<_> = { ports.iter().enumerate() }
        .map(|(number, port)| CapturePort::port(number, port.bits_per_second))
        .collect();
    let mut sink = TraceSink::create(out, form, &lines).map_err(failed)?;
    let (mut frames, mut bytes, mut bits) = (0u64, 0u64, 0u64);
    for frame in generator {
        frames += 1;
        bytes += frame.bytes.len() as u64;
        bits += line_bytes(frame.bytes.len()) * 8;
        sink.write(frame.port, (frame.start_ps / 1000) as u64, &frame.bytes)
            .map_err(failed)?;
    }
    sink.finish().map_err(failed)?;
    if !arguments.quiet && arguments.format.is_json() {
        format::json(&CaptureOutput {
            file: out.display().to_string(),
            format: match form {
                CaptureFormat::Pcap => "pcap",
                CaptureFormat::PcapNg => "pcapng",
            },
            ports: ports.len(),
            load: load.to_string(),
            seed: load.seed,
            time_ns: load.time.picoseconds() / 1000,
            frames,
            bytes,
            line_bits: bits,
        })?;
    } else if !arguments.quiet {
        let seconds = load.time.picoseconds() as f64 / 1e12;
        output::line(&format!(
            "{}: {load}, for {}\n{} frames, {} bytes, {} of line time",
            out.display(),
            load.time,
            grouped(frames),
            grouped(bytes),
            show_rate(bits as f64 / seconds),
        ));
    }
    Ok(ExitCode::SUCCESS)
}
