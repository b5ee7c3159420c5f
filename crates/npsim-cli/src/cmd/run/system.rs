//! The system to run, its traffic and its duration; common to all commands that run one.

use std::path::{Path, PathBuf};

use clap::Args;
use npsim::advisories;
use npsim::assemble::Program;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::project::disturb::StallOption;
use npsim::quantity::Time;
use npsim::recorded::{Recording, differences};
use npsim::run_limits::RunLimits;
use npsim::simulation::RunSettings;
use npsim::traffic::{CaptureTraffic, TrafficSource};
use npsim_net::Ratio;
use npsim_net::capture::{CaptureOptions, LinkTypes, Padding};
use npsim_net::pace::{Pace, PortAssignment};

use crate::cmd::load_options::LoadOptions;
use crate::cmd::machine_options::MachineOptions;
use crate::cmd::message_options::MessageOptions;
use crate::cmd::source_options::SourceOptions;
use crate::cmd::value::parser;
use crate::output;

/// The options of generated traffic, which exclude a capture.
const GENERATED_TRAFFIC: [&str; 10] = [
    "load",
    "rate",
    "size",
    "arrivals",
    "burst",
    "flows",
    "flow_packets",
    "interleave",
    "destinations",
    "time",
];

/// Which traffic comes, how the run goes, what is set over the project file.
#[derive(Debug, Args)]
pub struct SystemArguments {
    /// Capture whose frames arrive at the ports (pcap, pcapng or ERF, also compressed)
    #[arg(long, value_name = "IN.pcap", conflicts_with_all = GENERATED_TRAFFIC)]
    pub trace: Option<PathBuf>,
    /// Put made-up Ethernet headers before packets captured without them
    ///
    /// For captures of link types that carry IP: `LINUX_SLL` and `LINUX_SLL2` (the device
    /// `any`), NULL and LOOP, RAW, IPV4 and IPV6, PPP. The frames go from
    /// 02:00:00:00:00:01 to 02:00:00:00:00:02; a packet without a known Ethernet type is
    /// left out. A note gives the number of packets framed.
    #[arg(long, requires = "trace", conflicts_with_all = GENERATED_TRAFFIC)]
    pub link: bool,
    /// Pad truncated frames of the capture to their original length with zeros
    ///
    /// `--pad` leaves checksums as captured, so those of TCP, UDP and ICMP are wrong;
    /// `--pad=checksums` corrects them if the checksum field was captured. Without --pad
    /// such frames stay truncated. A note gives their number.
    #[arg(long, value_name = "HOW", requires = "trace", conflicts_with_all = GENERATED_TRAFFIC, num_args = 0..=1, require_equals = true, default_missing_value = "zeros", value_parser = parser::<Padding>())]
    pub pad: Option<Padding>,
    /// Microengines that run the source: `0`, `0-3`, `0-2,4`
    ///
    /// Only for a single source; a project with several assigns them to microengines
    /// in its file.
    #[arg(long, value_name = "RANGE")]
    pub me: Option<String>,
    /// When frames arrive: `trace` (times of the capture), `recorded` (cycles of a recording), `2x` (twice as fast), `line` (back to back), or a rate such as `200kpps`
    ///
    /// `recorded` replays a recording of `npsim live --record`: each frame arrives in its recorded
    /// cycle and at its recorded port, routes change and the run ends when they did, and the output
    /// is identical byte for byte. The recording's seed is used unless `--seed` is given.
    #[arg(long, value_name = "PACE", default_value = "trace", requires = "trace", conflicts_with_all = GENERATED_TRAFFIC, value_parser = parser::<Pace>())]
    pub pace: Pace,
    /// Play the capture X times as fast; same as `--pace Xx`
    #[arg(long, value_name = "X", requires = "trace", conflicts_with = "pace", conflicts_with_all = GENERATED_TRAFFIC, value_parser = parser::<Ratio>())]
    pub speed: Option<Ratio>,
    /// How frames are assigned to ports: `interface` (of the capture), `round-robin`, `flow`, or a port number
    #[arg(long, value_name = "HOW", default_value = "interface", requires = "trace", conflicts_with_all = GENERATED_TRAFFIC, value_parser = parser::<PortAssignment>())]
    pub ports: PortAssignment,
    /// Stop at this time: `2ms`, `500us`, or `100000` (cycles)
    #[arg(long, value_name = "TIME", value_parser = parser::<Time>())]
    pub until: Option<Time>,
    /// How long the media interface must be idle after the last frame before the run ends
    #[arg(long, value_name = "TIME", default_value = "100us", value_parser = parser::<Time>())]
    pub drain: Time,
    #[command(flatten)]
    pub machine: MachineOptions,
    /// Stall a context for some time: `0.3@100us+1ms` is context 3 of microengine 0; may be repeated
    ///
    /// Its signals and transfers still arrive. `0-2.0-7@1ms+50us` stalls all contexts of
    /// three microengines, `2:0.3@100us+1ms` only router 2 of --hops. The summary and the
    /// stats mark the run as disturbed. `--set disturb.dram=400` delays completions at
    /// random (`npsim docs project`).
    #[arg(long, value_name = "[ROUTER:]ME.CONTEXT@FROM+FOR", value_parser = parser::<StallOption>())]
    pub stall: Vec<StallOption>,
    #[command(flatten)]
    pub source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
    #[command(flatten)]
    pub traffic: LoadOptions,
}

impl SystemArguments {
    /// Loads the project of a target, with the overrides.
    pub fn project(&self, target: &Path) -> anyhow::Result<Project> {
        let recording = self.recording()?;
        let mut overrides = self.source.overrides(self.me.clone());
        overrides.stalls.clone_from(&self.stall);
        if let Some(recording) = &recording {
            recording.reserve(&mut overrides);
        }
        let mut project = Project::load(target, &overrides, &npsim::registry())?;
        if let Some(recording) = &recording {
            let mut remarks = recording.prepare(&mut project)?;
            remarks.extend(differences(recording.survey(), target, self.machine.seed));
            for remark in remarks {
                output::line(&format!("note: {remark}"));
            }
        }
        if let Some(remark) = advisories::of_ports(&project, self.source.board()) {
            output::line(&format!("note: {remark}"));
        }
        Ok(project)
    }

    /// The recording to repeat cycle by cycle, if any.
    fn recording(&self) -> Result<Option<Recording>, Problem> {
        let capture = self.capture();
        Ok(capture.as_ref().map(Recording::of).transpose()?.flatten())
    }

    /// The capture to replay, if any.
    pub fn capture(&self) -> Option<CaptureTraffic> {
        Some(CaptureTraffic {
            path: self.trace.clone()?,
            bytes: None,
            pace: (self.speed).map_or(self.pace, |speed| Pace::Trace { speed }),
            ports: self.ports,
            options: CaptureOptions {
                links: if self.link {
                    LinkTypes::Framed
                } else {
                    LinkTypes::Ethernet
                },
                padding: self.pad.unwrap_or_default(),
            },
        })
    }

    /// Assembles the programs and shows the assembler's messages; `None` if there were errors.
    pub fn programs(&self, project: &Project) -> Result<Option<Vec<Program>>, Problem> {
        self.messages.programs(project)
    }

    /// The limits of the run.
    pub fn limits(&self) -> RunLimits {
        RunLimits {
            until: self.until,
            drain: self.drain,
        }
    }

    /// The settings of the run: its limits, and the checks to ignore.
    pub fn settings(&self, hertz: u64, source: &TrafficSource<'_>) -> RunSettings {
        self.limits()
            .settings(self.machine.settings(), hertz, source)
    }
}
