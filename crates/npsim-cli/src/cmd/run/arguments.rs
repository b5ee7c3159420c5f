//! The arguments of `npsim run`.

use std::path::{Path, PathBuf};

use clap::Args;
use npsim::memory_dump;
use npsim::quantity::Time;
use npsim_net::egress::Position;

use super::observers::ObserverOptions;
use super::routers::HopsOptions;
use super::system::SystemArguments;
use crate::cmd::checkpoint_options::CheckpointOptions;
use crate::cmd::format::Format;
use crate::cmd::saved_command::Resumable;
use crate::cmd::value::{folder, parser};

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

/// Run a project, or a single source, on the simulated chip
///
/// TARGET is a project file, the folder of an `npsim.toml`, a single `.uc`, or
/// assembled firmware: an image, or words in a `.hex` or `.bin`. A single source
/// runs in a default project (one microengine, three gigabit ports, 512 packet
/// buffers, four rings), which --explain shows and `npsim new` writes out.
///
/// With --trace the frames of a capture arrive at the ports, and the run ends when
/// all of them have arrived and the media interface has been idle for the drain
/// time. With --load or --rate, or a rate in the project's [load], frames are
/// generated (`npsim docs traffic`) for --time, 1 ms by default, and the run ends in
/// the same way. Without traffic the run continues until --until, or until no events
/// are pending; a program that still runs after 100 ms of simulated time needs
/// --until.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    // Their output starts at the beginning of the run, and is not part of a checkpoint.
    mut_group("saved", |saved| saved.conflicts_with_all([
        "report", "profile", "flame", "flame_waits", "timeline", "packets", "packet",
    ])),
    mut_arg("checkpoint_every", |every| every.alias("every")),
)]
pub struct Arguments {
    /// Project file, its folder, one `.uc`, or assembled firmware
    #[arg(required_unless_present = "resume")]
    pub(super) target: Option<PathBuf>,
    #[command(flatten)]
    pub system: SystemArguments,
    /// Write the frames that leave as a capture; `-` is standard output, as for most output files
    ///
    /// A .pcapng has an interface for each port; a .pcap does not distinguish ports.
    /// Any output file is compressed if its name ends in `.gz` or `.zst`; a name that
    /// does not match the format of the file is refused.
    #[arg(short, long, value_name = "OUT.pcap")]
    pub(super) out: Option<PathBuf>,
    /// Add a comment to each captured frame with its packet number and transit time; needs a .pcapng
    #[arg(long, requires = "out")]
    pub(super) comments: bool,
    /// Write all counts as JSON (`npsim docs stats`); the same inputs give the same bytes
    #[arg(long, value_name = "FILE.json")]
    pub(super) stats: Option<PathBuf>,
    /// Write the run as one page, DIR/index.html, and print what limits it (`npsim docs report`)
    ///
    /// The page needs no network and no other file: figures over time, where frames
    /// were lost, how busy each unit is, the bottleneck in words, and a close-up of
    /// the most interesting moment. The same inputs give the same bytes.
    #[arg(long, value_name = "DIR", value_parser = folder())]
    pub(super) report: Option<PathBuf>,
    /// Write the final contents of a [[memory]] or [[counter]] of the project as hexadecimal longwords; may be repeated
    ///
    /// Each line has four longwords, preceded by the byte address of the first; lines of zeros are
    /// left out.
    #[arg(long, value_name = "NAME=FILE", value_parser = parser::<memory_dump::DumpRequest>())]
    pub(super) dump: Vec<memory_dump::DumpRequest>,
    /// Write what the core's program sent through its UART
    #[arg(long, value_name = "FILE")]
    pub(super) uart: Option<PathBuf>,
    #[command(flatten)]
    pub(super) saving: CheckpointOptions<Time>,
    /// Print everything implicit: the default project, memory map, names; without traffic or --until, nothing is run
    #[arg(long)]
    pub(super) explain: bool,
    /// Print no summary
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    // Kept last: these groups have headings of their own, under which later options would appear.
    #[command(flatten)]
    pub(super) observers: ObserverOptions,
    #[command(flatten)]
    pub(super) chain: HopsOptions,
}

impl Resumable for Arguments {
    const SUBCOMMAND: &'static str = "run";
    const TARGET: &'static str = "a target";
    const ALSO_OVERRIDABLE: &'static [&'static str] = &["dump", "uart", "message_format"];
    type Outputs = Option<Position>;

    fn resume(&self) -> Option<&Path> {
        self.saving.resume.as_deref()
    }

    fn overlay(&mut self, later: &Self) {
        let system = &mut self.system;
        system.until = later.system.until.or(system.until);
        system.messages.take_format(&later.system.messages);
        if later.stats.is_some() {
            self.stats.clone_from(&later.stats);
        }
        if later.uart.is_some() {
            self.uart.clone_from(&later.uart);
        }
        if !later.dump.is_empty() {
            self.dump.clone_from(&later.dump);
        }
        self.quiet |= later.quiet;
        self.format = later.format;
        self.saving.overlay(&later.saving);
    }
}
