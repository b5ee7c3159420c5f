//! `npsim trace order`: measures the order in which the packets of flows left.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim_net::capture::{CaptureError, CaptureReader, LinkTypes};
use npsim_net::order::identify::{
    EnteredFrames, EnteredFramesBuilder, FlowId, TcpSegments, stamped_flow,
};
use npsim_net::order::{Sequences, THRESHOLD};

use super::order_report::{FlowReport, IdentifiedBy, OrderReport};
use super::order_text;
use crate::cmd::format::{self, Format};
use crate::cmd::value::parser;
use crate::output;

pub use chosen::ChosenFlow;

mod chosen;

const EXAMPLES: &str = "\
Examples:
  npsim trace order out.pcap                          generated traffic has its order in stamps
  npsim trace order out.pcap --flow 0/10 --each       flows 0, 10, 20 and so on, a line each
  npsim trace order out.pcap --against in.pcap        any traffic, by what it was when it entered
  npsim trace order out.pcap --format json | jq .order.duplicate_acks";

/// Measure the reordering of packets, flow by flow
///
/// FILE is a capture of what a chip sent. With a capture of what it received (--against),
/// frames are matched by the fields that routers do not change: addresses, ports,
/// protocol, IP identification and payload. Without --against, the stamps of generated
/// traffic give a packet's position in its flow, or else TCP sequence numbers do.
/// Loss does not count as reordering: packets that never left are excluded first
/// (`npsim docs order-metrics`).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The capture of the frames sent (pcap or pcapng, also compressed)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The capture of the frames received
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Put made-up Ethernet headers before packets captured without them, as `npsim run --link` does
    #[arg(long)]
    link: bool,
    /// Report only these flows: a number, `N/M` for N and every M-th after it, or part of a name, such as an address; may be repeated
    #[arg(long = "flow", value_name = "FLOW", value_parser = parser::<ChosenFlow>())]
    flows: Vec<ChosenFlow>,
    /// Also print a line for each flow
    #[arg(long)]
    each: bool,
    /// Displacement beyond which the reorder density counts a packet as lost
    #[arg(long, value_name = "PACKETS", default_value_t = THRESHOLD)]
    displacement: u64,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let links = if arguments.link {
        LinkTypes::Framed
    } else {
        LinkTypes::Ethernet
    };
    let against = arguments.against.as_deref();
    let entered = against.map(|path| enter(path, links)).transpose()?;
    let departed = read_departures((&arguments.file, links), entered)?;
    if departed.left.is_empty() {
        return Err(no_identifiable_frames(arguments, departed.frames).into());
    }
    let chosen = |flow: &FlowId| {
        arguments.flows.is_empty() || arguments.flows.iter().any(|c| c.selects(flow))
    };
    let threshold = arguments.displacement;
    let mut flows = Vec::new();
    let mut order = departed.left.total_where(threshold, |_| false);
    let mut any = false;
    for (flow, of_flow) in departed.left.by_flow(threshold) {
        if !chosen(flow) {
            continue;
        }
        any = true;
        order.add(&of_flow);
        if arguments.each {
            flows.push(FlowReport {
                number: flow.number,
                name: flow.to_string(),
                order: of_flow,
            });
        }
    }
    if !any {
        return Err(Problem::new(format!(
            "no flow of `{}` is chosen by `--flow`",
            arguments.file.display()
        ))
        .help("`--each` without `--flow` lists all flows with their numbers and names")
        .into());
    }
    let report = OrderReport {
        file: arguments.file.display().to_string(),
        format: departed.format,
        frames: departed.frames,
        by: departed.by,
        against: arguments.against.as_ref().map(|p| p.display().to_string()),
        left_out: departed.left_out,
        threshold,
        order,
        flows,
    };
    match arguments.format {
        Format::Text => output::print_text(&order_text::text(&report, output::width()))?,
        Format::Json => format::json(&report)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the frames that entered.
fn enter(path: &Path, links: LinkTypes) -> Result<EnteredFrames, CaptureError> {
    let mut entering = EnteredFramesBuilder::default();
    for frame in CaptureReader::open_with(path, links)? {
        entering.add(&frame?.bytes);
    }
    Ok(entering.finish())
}

/// The departures that a capture shows.
struct DepartedTraffic {
    format: String,
    frames: u64,
    by: IdentifiedBy,
    left_out: u64,
    left: Sequences<FlowId>,
}

fn read_departures(
    (path, links): (&Path, LinkTypes),
    entered: Option<EnteredFrames>,
) -> Result<DepartedTraffic, CaptureError> {
    let mut reader = CaptureReader::open_with(path, links)?;
    let (by, left, known) = match entered {
        Some(mut entered) => {
            let mut left = Sequences::counted();
            for (flow, packets) in entered.flows() {
                left.entered(flow.clone(), *packets);
            }
            let mut known = 0;
            for frame in reader.by_ref() {
                if let Some((flow, sequence)) = entered.next(&frame?.bytes) {
                    left.note(flow, sequence);
                    known += 1;
                }
            }
            // Flows that entered are listed even if none of their frames left; without any identified frame, drop them.
            if known == 0 {
                left = Sequences::counted();
            }
            (IdentifiedBy::Against, left, known)
        }
        None => identify_frames(&mut reader)?,
    };
    Ok(DepartedTraffic {
        format: reader.format(),
        frames: reader.frames(),
        by,
        left_out: reader.frames() - known,
        left,
    })
}

/// Identifies frames by stamps, or by TCP sequence numbers if no frame has a stamp. A capture may be a pipe that can be
/// read only once, so both are recorded.
fn identify_frames(
    reader: &mut CaptureReader,
) -> Result<(IdentifiedBy, Sequences<FlowId>, u64), CaptureError> {
    let (mut stamps, mut stamps_known) = (Sequences::counted(), 0);
    let (mut tcp, mut tcp_known) = (Sequences::ordered(), 0);
    let mut segments = TcpSegments::default();
    for frame in reader {
        let frame = frame?;
        if let Some((flow, sequence)) = stamped_flow(&frame.bytes) {
            stamps.note(flow, sequence);
            stamps_known += 1;
        } else if stamps_known == 0
            && let Some((flow, sequence)) = segments.next(&frame.bytes)
        {
            tcp.note(flow, sequence);
            tcp_known += 1;
        }
    }
    Ok(if stamps_known > 0 {
        (IdentifiedBy::Stamps, stamps, stamps_known)
    } else {
        (IdentifiedBy::Tcp, tcp, tcp_known)
    })
}

/// The error for a capture without identifiable frames.
fn no_identifiable_frames(arguments: &Arguments, frames: u64) -> Problem {
    let file = arguments.file.display();
    if frames == 0 {
        return Problem::new(format!("`{file}` has no frames"))
            .help("give a capture of what was sent, such as that of `npsim run --out`");
    }
    match &arguments.against {
        Some(against) => Problem::new(format!(
            "none of the {frames} frames of `{file}` is among those of `{}`",
            against.display()
        ))
        .note("a frame is found by IP addresses, protocol, identification and payload; nothing is found where these are changed")
        .help("give the capture of what entered with `--against`, and that of what left as FILE"),
        None => Problem::new(format!(
            "cannot identify the packets of the {frames} frames of `{file}`"
        ))
        .note("none has the stamp of generated traffic, and none is a TCP segment with data")
        .help("give the capture of what entered with `--against`"),
    }
}
