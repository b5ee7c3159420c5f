//! The options that observe a run, and their outputs.

use std::path::{Path, PathBuf};

use clap::Args;
use npsim::assemble::Program;
use npsim::atomic_file::write_atomically;
use npsim::flame::{self, Flame};
use npsim::flow_tap::FlowTap;
use npsim::links::Tap;
use npsim::observe::packets::Flows;
use npsim::observe::profile::{self, Profile};
use npsim::observe::set::{FollowedPacket, Observations, ObserverConfig};
use npsim::observe::timeline::TimeWindow;
use npsim::problem::Problem;
use npsim::profile_text::{self, LineLimit};
use npsim_chip::Cycle;
use npsim_net::compression::without_extension;
use npsim_session::text_table::TextTable;

use super::routers::RunRouter;
use crate::cmd::destinations::OutputOption;
use crate::cmd::file_forms::{CSV, FLAME, JSON};
use crate::cmd::value::parser;
use crate::output;

/// Ways to observe a run. The run is the same with any of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watching")]
pub struct ObserverOptions {
    /// Print where the cycles went, by source line, macro and microengine (`npsim docs profile`); =FILE.json also writes it
    #[arg(long, value_name = "FILE.json", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "not given, given, given with a file")]
    profile: Option<Option<PathBuf>>,
    /// How many lines --profile prints: a number, or `all` for complete sources with their cycles
    #[arg(long, value_name = "N", default_value = "10", requires = "profile", value_parser = parser::<LineLimit>())]
    profile_lines: LineLimit,
    /// Write a flame graph of the microengines' cycles: an image for .svg, otherwise folded stacks for flame graph tools; may be repeated
    #[arg(long, value_name = "FILE")]
    flame: Vec<PathBuf>,
    /// Write a flame graph of what contexts waited for, in the formats of --flame; may be repeated
    #[arg(long, value_name = "FILE")]
    flame_waits: Vec<PathBuf>,
    /// Write the events of the run as a Chrome trace for the Perfetto viewer (`npsim docs timeline`); compressed for .json.gz or .json.zst
    #[arg(long, value_name = "FILE.json[.gz]")]
    timeline: Option<PathBuf>,
    /// Look for what the standard checks do not: `races`, memory that two contexts update without synchronisation (`npsim docs troubleshooting`)
    #[arg(long = "look-for", alias = "check", value_name = "WHAT", value_parser = ["races"])]
    check: Vec<String>,
    /// What part of the run --timeline shows: `100us..120us`; without an end, 200 us; without a beginning, from the start
    #[arg(long, value_name = "FROM..UNTIL", requires = "timeline", value_parser = parser::<TimeWindow>())]
    window: Option<TimeWindow>,
    /// Write the fate of each packet as CSV, one row each in order of arrival (`npsim docs packets`); compressed for .csv.gz or .csv.zst
    ///
    /// A row gives arrival, departure, ports, length, delay and reordering within the
    /// flow, or where the packet was dropped: by the media interface, or by which line
    /// of microcode. Rows are written during the run.
    #[arg(long, value_name = "FILE.csv[.gz]")]
    packets: Option<PathBuf>,
    /// Print everything that happened to packet N, counted from 0 in order of arrival; may be repeated (`npsim docs packets`)
    #[arg(long, value_name = "N")]
    packet: Vec<u64>,
}

impl ObserverOptions {
    /// The files to write.
    pub fn outputs(&self) -> impl Iterator<Item = OutputOption> {
        let timeline = self.timeline.iter();
        let timeline = timeline.map(|path| OutputOption::new("--timeline", path, &JSON));
        let packets = self.packets.iter();
        let packets = packets.map(|path| OutputOption::new("--packets", path, &CSV));
        let profile = self.profile.iter().flatten();
        let profile = profile.map(|path| OutputOption::new("--profile", path, &JSON));
        let flame = self.flame.iter();
        let flame = flame.map(|path| OutputOption::new("--flame", path, &FLAME));
        let waits = self.flame_waits.iter();
        let waits = waits.map(|path| OutputOption::new("--flame-waits", path, &FLAME));
        let late = profile.chain(flame).chain(waits);
        timeline
            .chain(packets)
            .chain(late.map(OutputOption::written_late))
    }

    /// The tap that identifies each frame's flow for the packet table, if that is requested.
    pub fn flow_tap(&self, flows: &Flows) -> Option<Box<dyn Tap + Send>> {
        let tap = || Box::new(FlowTap::new(flows)) as Box<dyn Tap + Send>;
        self.packets.is_some().then(tap)
    }

    /// The observers that these options need. `flows` are the flows of the frames that arrive at the first router.
    pub fn wanted(&self, router: RunRouter, flows: &Flows) -> ObserverConfig {
        let packets = self.packets.as_ref().map(|path| {
            // After the first router, frames are numbered anew.
            let flows = if router.number == 1 {
                flows.clone()
            } else {
                Flows::default()
            };
            (router.file(path), flows)
        });
        let window = self.window.unwrap_or_default();
        ObserverConfig {
            packets,
            follow: self.packet.clone(),
            profile: self.profile.is_some()
                || !self.flame.is_empty()
                || !self.flame_waits.is_empty(),
            races: !self.check.is_empty(),
            timeline: { self.timeline.as_deref() }.map(|path| (router.file(path), window)),
            ..ObserverConfig::default()
        }
    }

    /// The first cycle that --timeline shows, if that is requested.
    pub fn timeline_start(&self, hertz: u64) -> Option<Cycle> {
        let window = self.timeline.is_some().then_some(self.window)?;
        Some(window.unwrap_or_default().cycles(hertz).0)
    }

    /// Writes the files and prints the profile of a completed run.
    pub fn show(
        &self,
        seen: Observations,
        router: RunRouter,
        programs: &[Program],
        quiet: bool,
    ) -> anyhow::Result<()> {
        if let (Some(written), Some(path)) = (seen.timeline, &self.timeline) {
            written.map_err(|error| Problem::io("write", &router.file(path), &error))?;
        }
        if let (Some(written), Some(path)) = (seen.packets, &self.packets) {
            written.map_err(|error| Problem::io("write", &router.file(path), &error))?;
        }
        for followed in &seen.followed {
            print_packet(followed, router)?;
        }
        let Some(profile) = seen.profile else {
            return Ok(());
        };
        if self.profile.is_some() && !quiet {
            let text =
                profile_text::overview(&profile, programs, self.profile_lines, output::width());
            output::show(&format!("\n{}{text}", router.prefix()))?;
        }
        for path in self.profile.iter().flatten() {
            write(&router.file(path), &profile::to_json(&profile)?)?;
        }
        for path in &self.flame {
            write(&router.file(path), &graph(&profile, Flame::Pipeline, path))?;
        }
        for path in &self.flame_waits {
            write(&router.file(path), &graph(&profile, Flame::Waits, path))?;
        }
        Ok(())
    }
}

/// Prints the events of a packet, with the cycles since the previous one.
fn print_packet(followed: &FollowedPacket, router: RunRouter) -> anyhow::Result<()> {
    let number = followed.number;
    if followed.events.is_empty() {
        return Err(Problem::new(format!(
            "{}packet {number} did not arrive: there were {}",
            router.prefix(),
            followed.arrival_count
        ))
        .help("packets are counted from 0 in the order in which they arrive")
        .into());
    }
    let heads = ["cycle", "since", "by", "what"];
    let mut table = TextTable::with_numbers(&heads, 0..2);
    let mut before = None;
    for event in &followed.events {
        let since = event.at - before.unwrap_or(event.at);
        before = Some(event.at);
        let by = event.by.map_or_else(String::new, |(me, context)| {
            format!("ME {me} context {context}")
        });
        let mut what = event.what.clone();
        if let Some(place) = &event.place {
            what = format!("{what}, at {place}");
        }
        table.add_row([event.at.to_string(), format!("+{since}"), by, what]);
    }
    let table = table.fitted(output::width());
    output::print_text(&format!(
        "\n{}packet {number}\n\n{table}\n",
        router.prefix()
    ))
}

fn graph(profile: &Profile, what: Flame, path: &Path) -> String {
    let picture = without_extension(path)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    if picture {
        flame::svg(profile, what)
    } else {
        flame::folded(profile, what)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    write_atomically(path, text.as_bytes()).map_err(|error| Problem::io("write", path, &error))
}
