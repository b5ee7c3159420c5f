//! What `npsim run` is told on its command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use npsim::memory_dump;
use npsim::project::disturb::StallOption;
use npsim::quantity::Time;
use npsim_chip::core::CoreKind;
use npsim_chip::engine::ENGINE;
use npsim_chip::kernel::check::Check;
use npsim_net::Ratio;
use npsim_net::pace::{Pace, PortAssignment};
use npsim_reference::REFERENCE;

use super::checkpoints::Options;
use super::observers::ObserverOptions;
use super::routers::HopsOptions;
use crate::cmd::load_options::LoadOptions;
use crate::cmd::message_options::MessageOptions;
use crate::cmd::source_options::SourceOptions;
use crate::cmd::value::parser;

/// The options that make traffic, which comes instead of a capture.
const MADE: [&str; 10] = [
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

const EXAMPLES: &str = "\
Examples:
  npsim run microcode/forward --trace traces/mixed.pcap --out out.pcap --stats out.json
  npsim run microcode/forward --trace traces/mixed.pcap --pace line      as fast as the lines go
  npsim run microcode/forward --trace traces/mixed.pcap --pace 2.5Mpps --ports flow
  npsim run microcode/forward --load 0.33 --size imix    generated traffic, a third of the lines' rate
  npsim run microcode/forward --rate 1.2Mpps --arrivals poisson --time 5ms --stats out.json
  npsim run firmware.uc --until 500us --explain       one source without traffic, defaults shown
  npsim run firmware.uc --trace in.pcap --me 0-3      the same source on four microengines
  npsim run firmware.uc --trace in.pcap --allow uninitialised-read
  npsim run lab --until 1ms --dump TABLE=table.txt   the project's [[memory]] TABLE after the run
  npsim run lab --until 10s --checkpoint lab.ckpt    saved every 10 ms of simulated time
  npsim run --resume lab.ckpt                        go on after a crash, to the same results
  npsim run firmware.npi --until 1ms --import TABLE=0x400   an image of `npsim asm -o`
  npsim run microcode/forward --load 0.5 --set me.forward.id=0,2 --set profile.sram.read=120
  npsim run microcode/forward --load 0.3 --hops 10 --stats out.json   ten routers, one behind the other
  npsim run microcode/forward --load 0.5 --stall 0.3@100us+1ms --set disturb.dram=400   does it hold?
  npsim run microcode/forward --load 0.5 --core reference   the same run, executed in the plainest way
  npsim run microcode/forward --trace traces/mixed.pcap --profile --flame flame.svg
  npsim run microcode/forward --trace traces/mixed.pcap --timeline line.json.gz --window 1ms..1.2ms
  npsim run microcode/router --load 0.9 --packets packets.csv.gz --packet 17

Exit code 3 means that a check stopped the run; what was captured until then is saved.";

/// The cores that `--core` chooses among.
const CORES: [CoreKind; 2] = [ENGINE, REFERENCE];

/// A core by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core(pub(super) CoreKind);

impl FromStr for Core {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = CORES.into_iter().find(|core| core.name == name);
        found.map(Self).ok_or_else(|| {
            let names = CORES.map(|core| format!("`{}`", core.name)).join(" and ");
            format!("there is no core `{name}`; the cores are {names}")
        })
    }
}

/// Run a project, or a single source, on the simulated chip
///
/// TARGET is a project file, the folder of an `npsim.toml`, one `.uc`, or firmware
/// that is assembled already: an image, or words in a `.hex` or `.bin`. A single
/// source runs in a default project (one microengine, three gigabit ports, 512
/// packet buffers, four rings), which --explain shows and `npsim new` writes out.
///
/// With --trace the frames of a capture arrive at the ports, and the run ends when
/// all of them have arrived and the media interface has been idle for the drain
/// time. With --load or --rate, or a rate in the project's [load], frames are made
/// (docs/src/traffic.md): they come for --time, 1 ms if nothing is said, and the run
/// ends in the same way. Without either the run goes on until --until, or until
/// no events are pending; a program that still runs after 100 ms of simulated time
/// needs --until.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub struct Arguments {
    /// Project file, its folder, one `.uc`, or assembled firmware
    #[arg(required_unless_present = "resume")]
    pub(super) target: Option<PathBuf>,
    /// Capture whose frames arrive at the ports (pcap or pcapng, also gzipped)
    #[arg(long, value_name = "IN.pcap", conflicts_with_all = MADE)]
    pub(super) trace: Option<PathBuf>,
    /// Put made-up Ethernet headers before packets that were captured without
    ///
    /// For captures of link types that carry IP: `LINUX_SLL` and `LINUX_SLL2` (the device
    /// `any`), NULL and LOOP, RAW, IPV4 and IPV6, PPP. The frames go from
    /// 02:00:00:00:00:01 to 02:00:00:00:00:02; a packet of which nothing says what it
    /// carries is left out. A note says how many were framed.
    #[arg(long, requires = "trace")]
    pub(super) link: bool,
    /// Write the frames that leave as a capture
    #[arg(long, value_name = "OUT.pcap")]
    pub(super) out: Option<PathBuf>,
    /// Write all counts as JSON (docs/src/stats.md); the same inputs give the same bytes
    #[arg(long, value_name = "FILE.json")]
    pub(super) stats: Option<PathBuf>,
    /// Write the run as one page, DIR/index.html, and print what limits it (docs/src/report.md)
    ///
    /// The page needs no network and no other file: figures over time, where frames
    /// were lost, how busy everything is, the bottleneck in words, and a close look
    /// at the most interesting moment. The same inputs give the same bytes.
    #[arg(long, value_name = "DIR")]
    pub(super) report: Option<PathBuf>,
    /// Write a [[memory]] or [[counter]] of the project as it is after the run, as hexadecimal longwords; may be repeated
    ///
    /// One longword a line, its byte address before it.
    #[arg(long, value_name = "NAME=FILE", value_parser = parser::<memory_dump::Request>())]
    pub(super) dump: Vec<memory_dump::Request>,
    /// Microengines that run the source: `0`, `0-3`, `0-2,4`
    ///
    /// Only where there is one source; a project with several says in its file
    /// which runs where.
    #[arg(long, value_name = "RANGE")]
    pub(super) me: Option<String>,
    /// When frames arrive: `trace` (times of the capture), `2x` (twice as fast), `line` (back to back), or a rate such as `200kpps`
    #[arg(long, value_name = "PACE", default_value = "trace", requires = "trace", conflicts_with_all = MADE, value_parser = parser::<Pace>())]
    pub(super) pace: Pace,
    /// Play the capture X times as fast; the same as `--pace Xx`
    #[arg(long, value_name = "X", requires = "trace", conflicts_with = "pace", conflicts_with_all = MADE, value_parser = parser::<Ratio>())]
    pub(super) speed: Option<Ratio>,
    /// How frames are given to ports: `interface` (of the capture), `round-robin`, `flow`, or a port number
    #[arg(long, value_name = "HOW", default_value = "interface", requires = "trace", conflicts_with_all = MADE, value_parser = parser::<PortAssignment>())]
    pub(super) ports: PortAssignment,
    /// Stop at this time: `2ms`, `500us`, or `100000` (cycles)
    #[arg(long, value_name = "TIME", value_parser = parser::<Time>())]
    pub(super) until: Option<Time>,
    /// How long the media interface must be idle after the last frame
    #[arg(long, value_name = "TIME", default_value = "100us", value_parser = parser::<Time>())]
    pub(super) drain: Time,
    /// Go on where this check would stop the run (`npsim checks` lists them); may be repeated
    #[arg(long, value_name = "CHECK", value_parser = parser::<Check>())]
    pub(super) allow: Vec<Check>,
    /// Begin `PSEUDO_RANDOM_NUMBER` of each microengine with a value made from N, not with 1
    ///
    /// The same N gives the same run; another N gives firmware that draws random
    /// numbers other ones, and makes other traffic of the same kind.
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// What executes the microcode: `engine`, or `reference`, which is written to be read and gives the same bytes several times slower
    ///
    /// The reference executes one instruction at a time, at its own cycle, and shares
    /// no code with the engine. A run whose results differ between the two shows a
    /// mistake in one of them. A checkpoint goes on with the core that wrote it.
    #[arg(long, value_name = "NAME", default_value = "engine", value_parser = parser::<Core>())]
    pub(super) core: Core,
    /// Simulate also the time in which nothing happens but what has just happened
    ///
    /// When contexts poll and nothing comes, the state of the chip recurs, and the run
    /// goes to the next frame, timer or end in one step. The results are the same in
    /// every byte with and without it.
    #[arg(long)]
    pub(super) no_skip: bool,
    /// Do not run a context for a while, as if it hung: `0.3@100us+1ms` is context 3 of microengine 0; may be repeated
    ///
    /// Its signals and transfers arrive all the same. `0-2.0-7@1ms+50us` are all
    /// contexts of three microengines, `2:0.3@100us+1ms` is router 2 of --hops alone. The
    /// summary and the stats say that the run is disturbed. `--set disturb.dram=400` makes answers come late at random
    /// (docs/src/project.md).
    #[arg(long, value_name = "[ROUTER:]ME.CONTEXT@FROM+FOR", value_parser = parser::<StallOption>())]
    pub(super) stall: Vec<StallOption>,
    #[command(flatten)]
    pub(super) saving: Options,
    #[command(flatten)]
    pub(super) source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
    /// Print everything the run takes for granted: the default project, memory map, names; without --trace and --until nothing is run
    #[arg(long)]
    pub(super) explain: bool,
    /// Print no summary
    #[arg(short, long)]
    pub(super) quiet: bool,
    // These have headings of their own, under which all that follows would stand.
    #[command(flatten)]
    pub(super) traffic: LoadOptions,
    #[command(flatten)]
    pub(super) observers: ObserverOptions,
    #[command(flatten)]
    pub(super) chain: HopsOptions,
}
