//! The arguments of `npsim network`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{ArgGroup, Args};
use npsim::observe::timeline::TimeWindow;
use npsim::project::Setting;
use npsim::quantity;
use npsim::session::MOST_NODES;
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
/// FILE says which hosts there are, how they are joined, and what they send to each other by
/// which rules (TCP, XCP, RCP, Quick-Start...); `npsim docs networks` describes it. Times and
/// rates in what is printed and written are those of the file, whatever its scale.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    group = ArgGroup::new("sampled").args(["series", "report"]).multiple(true),
    // Their output starts at the beginning of the run, and is not part of a checkpoint.
    mut_group("saved", |saved| saved.conflicts_with_all(["report", "timeline", "recorded"])),
)]
pub struct Arguments {
    /// The network's file
    #[arg(required_unless_present = "resume")]
    pub(super) file: Option<PathBuf>,
    /// Stop at this time instead of where the file says, such as `60s`
    #[arg(long, value_name = "TIME", value_parser = value::parser::<FileTime>())]
    pub(super) until: Option<FileTime>,
    /// Set a key of the file for this time, such as `router.r1.xcp.capacity=12Mbps`, `host.s.count=8` or
    /// `link.bottleneck.queue.kind=red`; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = value::parser::<Setting>())]
    pub(super) set: Vec<Setting>,
    /// Begin what is random with another seed than the file's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Write all results as JSON; `-` is standard output, here and wherever a file is written
    #[arg(long, value_name = "FILE")]
    pub(super) stats: Option<PathBuf>,
    /// Write windows, rates and queues over time as CSV
    #[arg(long, value_name = "FILE")]
    pub(super) series: Option<PathBuf>,
    /// Write the run as one page, DIR/index.html, with queues, windows and rates over time
    #[arg(long, value_name = "DIR", value_parser = value::folder())]
    pub(super) report: Option<PathBuf>,
    /// Time from one sample of series and report to the next; a thousandth of the run if left out
    #[arg(long = "sample-every", alias = "every", value_name = "TIME", requires = "sampled", value_parser = value::parser::<FileTime>())]
    pub(super) every: Option<FileTime>,
    /// Write what a link carries, both ways, with made-up Ethernet addresses; FILE ends in .pcap,
    /// or in .pcapng for an interface at each end of each link of this file and for drops and
    /// losses with comments; may be given several times
    #[arg(long, value_name = "LINK=FILE", value_parser = value::parser::<LinkCapture>())]
    pub(super) capture: Vec<LinkCapture>,
    /// Write what senders do over the run, and what chips do in a window of it, as Chrome trace events,
    /// for the Perfetto viewer (`npsim docs timeline`); compressed for .json.gz
    #[arg(long, value_name = "FILE.json[.gz]")]
    pub(super) timeline: Option<PathBuf>,
    /// What part of the run --timeline shows of chips: `100ms..101ms`; without an end 200 us of their
    /// own time, without a beginning from the start
    #[arg(long, value_name = "FROM..UNTIL", requires = "timeline", value_parser = value::parser::<TimeWindow>())]
    pub(super) window: Option<TimeWindow>,
    /// How many routers that are chips run at a time; the results are the same with any number
    /// [default: one for each core]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Let what `npsim live` has recorded of this network come in again at its open ends, until the recorded run ended
    ///
    /// Each frame comes in at its picosecond, so what leaves is the same in every byte. The
    /// recording's seed is used if `--seed` gives none.
    #[arg(long, value_name = "FILE.pcapng")]
    pub(super) recorded: Option<PathBuf>,
    /// Put N routers of the project FILE one behind the other, as `npsim live --hops N` has; `--set` is then for its keys
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, requires = "recorded", value_parser = clap::value_parser!(u16).range(1..=MOST_NODES as i64))]
    hops: u16,
    /// Write the frames that leave by open ends as a capture; `-` is standard output
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
    const ALSO_ANEW: &'static [&'static str] = &["threads"];
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
                "`{text}` is no time of a network; write for example `60s`"
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
