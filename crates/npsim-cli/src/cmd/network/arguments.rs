//! The arguments of `npsim network`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{ArgGroup, Args};
use npsim::observe::timeline::TimeWindow;
use npsim::project::Setting;
use npsim::quantity;
use npsim::session::MAX_ROUTERS;
use npsim_network_file::checkpoint::Outputs;

use super::chain::ChainTarget;
use crate::cmd::checkpoint_options::CheckpointOptions;
use crate::cmd::format::Format;
use crate::cmd::machine_options::CoreOption;
use crate::cmd::saved_command::Resumable;
use crate::cmd::value;

const EXAMPLES: &str = "\
Examples:
  npsim network traces/networks/dumbbell.toml    a line for each flow and each watched link
  npsim network dumbbell.toml --seed 2 --until 60s
  npsim network dumbbell.toml --set link.bottleneck.queue.limit=0.5bdp --set flow.tcp.step=15s
  npsim network dumbbell.toml --series dumbbell.csv --sample-every 100ms
  npsim network dumbbell.toml --capture bottleneck=bottleneck.pcap
  npsim network dumbbell.toml --stats - --quiet | jq .jain
  npsim network dumbbell.toml --stats out.json --checkpoint dumbbell.ckpt    saved twenty times
  npsim network --resume dumbbell.ckpt           go on after a crash, to the same results
  npsim network traces/live/three-routers.toml --recorded lab.pcapng --out again.pcapng
  npsim network microcode/forward/arp.toml --hops 3 --recorded lab.pcapng --out again.pcapng

Exit codes: 0 done; 1 a mistake in what was given; 3 the microcode of a router went wrong;
130 ended by Ctrl-C, with what had happened until then.";

/// Run a network of hosts, links and routers
///
/// FILE describes the hosts, how they are connected, and what they send to each other with which
/// protocols (TCP, XCP, RCP, Quick-Start...); see `npsim docs networks`. Times and rates in all
/// output are those of the file, whatever its scale.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    group = ArgGroup::new("sampled").args(["series", "report"]).multiple(true),
    // Their output starts at the beginning of the run, and is not part of a checkpoint.
    mut_group("saved", |saved| saved.conflicts_with_all(["report", "timeline", "recorded"])),
)]
pub struct Arguments {
    /// Network file
    #[arg(required_unless_present = "resume")]
    pub(super) file: Option<PathBuf>,
    /// Stop at this time instead of the file's, such as `60s`
    #[arg(long, value_name = "TIME", value_parser = value::parser::<FileTime>())]
    pub(super) until: Option<FileTime>,
    /// Set a key of the file for this run only, such as `router.r1.xcp.capacity=12Mbps`, `host.s.count=8` or
    /// `link.bottleneck.queue.kind=red`; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = value::parser::<Setting>())]
    pub(super) set: Vec<Setting>,
    /// Begin random sequences from this seed instead of the file's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Write all results as JSON; `-` is standard output, as for most output files
    #[arg(long, value_name = "FILE")]
    pub(super) stats: Option<PathBuf>,
    /// Write windows, rates and queues over time as CSV
    #[arg(long, value_name = "FILE")]
    pub(super) series: Option<PathBuf>,
    /// Write the run as one page, DIR/index.html, with queues, windows and rates over time
    #[arg(long, value_name = "DIR", value_parser = value::folder())]
    pub(super) report: Option<PathBuf>,
    /// Time between samples of --series and --report [default: a thousandth of the run]
    #[arg(long = "sample-every", alias = "every", value_name = "TIME", requires = "sampled", value_parser = value::parser::<FileTime>())]
    pub(super) every: Option<FileTime>,
    /// Write the packets of a link in both directions, with made-up Ethernet addresses; FILE is a
    /// .pcap, or a .pcapng, which has an interface for each end of each link captured in it, and
    /// includes drops and losses with comments; may be repeated
    #[arg(long, value_name = "LINK=FILE", value_parser = value::parser::<LinkCapture>())]
    pub(super) capture: Vec<LinkCapture>,
    /// Write the activity of senders over the run, and of chips in a window of it, as a Chrome trace
    /// for the Perfetto viewer (`npsim docs timeline`); compressed for .json.gz
    #[arg(long, value_name = "FILE.json[.gz]")]
    pub(super) timeline: Option<PathBuf>,
    /// What part of the run --timeline shows of chips: `100ms..101ms`; without an end, 200 us of their
    /// own time; without a beginning, from the start
    #[arg(long, value_name = "FROM..UNTIL", requires = "timeline", value_parser = value::parser::<TimeWindow>())]
    pub(super) window: Option<TimeWindow>,
    /// How many chips run in parallel; results do not depend on it [default: one per core]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Replay a recording of this network by `npsim live` at its open ends, up to the end of the recorded run
    ///
    /// Each frame arrives at its recorded picosecond, so the output is identical byte for byte.
    /// The recording's seed is used unless `--seed` is given.
    #[arg(long, value_name = "FILE.pcapng")]
    pub(super) recorded: Option<PathBuf>,
    /// Put N routers of the project FILE in series, like `npsim live --hops N`; `--set` then sets keys of the project
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, requires = "recorded", value_parser = clap::value_parser!(u16).range(1..=MAX_ROUTERS as i64))]
    hops: u16,
    /// Write the frames that leave at open ends as a capture; `-` is standard output
    #[arg(short, long, value_name = "OUT.pcapng", requires = "recorded")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) core: CoreOption,
    #[command(flatten)]
    pub(super) saving: CheckpointOptions<FileTime>,
    /// Print no summary
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

impl Arguments {
    /// The target as a chain, if it is one.
    pub(super) fn chain<'a>(&self, target: &'a Path) -> Option<ChainTarget<'a>> {
        ChainTarget::of(target, self.hops)
    }
}

impl Resumable for Arguments {
    const SUBCOMMAND: &'static str = "network";
    const TARGET: &'static str = "a file";
    const ALSO_OVERRIDABLE: &'static [&'static str] = &["threads"];
    type Outputs = Outputs;

    fn resume(&self) -> Option<&Path> {
        self.saving.resume.as_deref()
    }

    fn overlay(&mut self, later: &Self) {
        self.until = later.until.or(self.until);
        self.threads = later.threads.or(self.threads);
        if later.stats.is_some() {
            self.stats.clone_from(&later.stats);
        }
        self.quiet |= later.quiet;
        self.format = later.format;
        self.saving.overlay(&later.saving);
    }
}

/// A time in the network file, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct FileTime(pub(super) u64);

impl FromStr for FileTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse()? {
            quantity::Time::Picoseconds(time) if time > 0 => Ok(Self(time)),
            _ => Err(format!(
                "`{text}` is not a time of a network; write for example `60s`"
            )),
        }
    }
}

/// `LINK=FILE`.
#[derive(Clone, Debug)]
pub struct LinkCapture {
    pub(super) link: String,
    pub(super) file: PathBuf,
}

impl FromStr for LinkCapture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((link, file)) if !link.is_empty() && !file.is_empty() => Ok(Self {
                link: link.to_owned(),
                file: file.into(),
            }),
            _ => Err(format!(
                "`{text}` is not LINK=FILE, such as `bottleneck=out.pcap`"
            )),
        }
    }
}
