//! The arguments of `npsim live`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use npsim::quantity;
use npsim::session::MAX_ROUTERS;
use npsim_live::clock::{DilationRule, HostTime};
use npsim_live::port_option::PortOption;

use crate::cmd::machine_options::MachineOptions;
use crate::cmd::message_options::MessageOptions;
use crate::cmd::network::chain::ChainTarget;
use crate::cmd::source_options::SourceOptions;
use crate::cmd::value::parser;

const EXAMPLES: &str = "\
Examples:
  npsim live microcode/forward/arp.toml --port 0=tap:np0@left --port 1=tap:np1@right
  npsim live microcode/forward/arp.toml --port 0=if:veth0 --record lab.pcapng --stats lab.json
  npsim live microcode/router --port 0=tap:np0 --dilate 20      rates of the chip, not of this machine
  npsim live microcode/router --port 0=tap:np0 --dilate auto    as fast as this machine can
  npsim live microcode/forward/arp.toml --port 0=tap:np0 --control lab.sock &
  npsim live microcode/forward/arp.toml --hops 3 --port 0=tap:np0@left --port 1=tap:np1@right
  npsim live --ask lab.sock route remove 10.2.0.0/16            while it runs
  npsim run microcode/forward/arp.toml --trace lab.pcapng --pace recorded    the same run again
  npsim debug microcode/forward/arp.toml --trace lab.pcapng --pace recorded  and backwards

Opening interfaces takes the capability CAP_NET_ADMIN (root has it), and CAP_SYS_ADMIN for
those in other network namespaces; both are given up before the first frame. `npsim docs live`
says what a rate that a host reports means.

Exit codes: 0 its time was up; 1 a mistake in what was given, or an interface vanished;
3 a check stopped the microcode; 130 ended by Ctrl-C, with all that came recorded.";

/// Let real hosts talk through a simulated chip
///
/// TARGET is as for `npsim run`, or a network file, whose open ends are then the ports. Each --port
/// connects a port to an interface of this host: a TAP, which leads to the host's own network stack,
/// or an existing interface. Simulated time follows the host's; when the simulator is late, simulated
/// time slips, and the slip is counted.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Project file, its folder, one `.uc`, assembled firmware, or network file
    #[arg(required_unless_present = "ask")]
    pub(super) target: Option<PathBuf>,
    /// Connect a port to an interface: `0=tap:NAME`, `1=if:NAME`, followed by `@NAMESPACE` for one in a network namespace; may be repeated
    ///
    /// A TAP that does not exist is created, and removed after the run. From an existing
    /// interface all frames are read, and checksums offloaded to it are completed; remove the
    /// interface's own addresses, or the host answers as well.
    #[arg(long = "port", value_name = "PORT=INTERFACE", value_parser = parser::<PortOption>())]
    pub(super) ports: Vec<PortOption>,
    /// How many times slower than host time simulated time runs, such as `20`, or `auto` for the smallest factor at which the simulator keeps up
    #[arg(long, value_name = "N", default_value = "1", value_parser = parser::<DilationRule>())]
    pub(super) dilate: DilationRule,
    /// How late the simulator may be, in host time; any excess is removed from simulated time (a slip)
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = parser::<WallTime>())]
    pub(super) max_late: WallTime,
    /// Record all input with picosecond simulated times, to replay the run with `npsim run --pace recorded`, or a network's with `npsim network --recorded`
    #[arg(long, value_name = "FILE.pcapng")]
    pub(super) record: Option<PathBuf>,
    /// Write the frames that leave as a capture with simulated times; `-` is standard output
    #[arg(short, long, value_name = "OUT.pcapng")]
    pub(super) out: Option<PathBuf>,
    /// Write all results as JSON: clocks, lateness, ports, and the counts of the chip or network
    #[arg(long, value_name = "FILE.json")]
    pub(super) stats: Option<PathBuf>,
    /// Stop after this host time, such as `60s`
    #[arg(long, value_name = "TIME", value_parser = parser::<WallTime>())]
    pub(super) until: Option<WallTime>,
    /// Answer requests at a Unix socket that only its owner can open; `npsim live --ask SOCKET help` lists them
    #[arg(long, value_name = "SOCKET")]
    pub(super) control: Option<PathBuf>,
    /// Send a request to the control socket of a live run, print the answer, and exit
    #[arg(long, value_name = "SOCKET REQUEST", num_args = 2.., conflicts_with_all = ["target", "ports", "control", "record", "out", "stats", "until", "screen"])]
    pub(super) ask: Vec<String>,
    /// Show ports, rings, drops, slow path, contexts and what limits the chip on the terminal during the run; `q` ends it
    #[arg(long, conflicts_with = "quiet")]
    pub(super) screen: bool,
    /// Put N routers in series, port 1 of each connected to port 0 of the next: `--port 0` connects the first, `--port 1` the last
    ///
    /// All routers run this project and keep its routes, except that routes through a port with
    /// another router behind it lead to that router. Where ports have addresses, each link between
    /// routers is a network of its own (`npsim docs live`).
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..=MAX_ROUTERS as i64))]
    hops: u16,
    /// Microengines that run the source: `0`, `0-3`, `0-2,4`
    #[arg(long, value_name = "RANGE")]
    pub(super) me: Option<String>,
    #[command(flatten)]
    pub(super) machine: MachineOptions,
    /// Print neither the status once a second nor a summary
    #[arg(short, long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
}

impl Arguments {
    /// The target as a chain, if it is one.
    pub(super) fn chain<'a>(&self, target: &'a Path) -> Option<ChainTarget<'a>> {
        ChainTarget::of(target, self.hops)
    }
}

/// A host time, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct WallTime(pub(super) HostTime);

impl FromStr for WallTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse()? {
            quantity::Time::Picoseconds(time) => Ok(Self(time / 1_000)),
            quantity::Time::Cycles(_) => Err(format!(
                "`{text}` is not a time of the host; write for example `60s` or `2ms`"
            )),
        }
    }
}
