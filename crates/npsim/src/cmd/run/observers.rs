//! The options of a run that observe it, and what comes of them.

use std::path::{Path, PathBuf};

use clap::Args;
use npsim::assemble::Program;
use npsim::flame::{self, Flame};
use npsim::observe::profile::{self, Profile};
use npsim::observe::set::{Seen, Wanted};
use npsim::observe::timeline::Window;
use npsim::problem::Problem;
use npsim::profile_text::{self, Shown};
use npsim::whole_file::write_whole;
use npsim_chip::Cycle;

use super::routers::Router;
use crate::cmd::value::parser;
use crate::output;

/// Ways to observe a run. The run is the same with any of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watching")]
pub struct ObserverOptions {
    /// Tell where the cycles went, by source line, macro and microengine (docs/src/profile.md); with =FILE.json also write it
    #[arg(long, value_name = "FILE.json", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "not given, given, given with a file")]
    profile: Option<Option<PathBuf>>,
    /// How many lines --profile shows: a number, or `all` for the whole sources with their cycles
    #[arg(long, value_name = "N", default_value = "10", requires = "profile", value_parser = parser::<Shown>())]
    profile_lines: Shown,
    /// Write a flame graph of the microengines' cycles: a picture for .svg, else folded stacks for any flame graph tool; may be repeated
    #[arg(long, value_name = "FILE")]
    flame: Vec<PathBuf>,
    /// The same of what the contexts waited for; may be repeated
    #[arg(long, value_name = "FILE")]
    flame_waits: Vec<PathBuf>,
    /// Write what happened when as Chrome trace events, for the Perfetto viewer (docs/src/timeline.md); compressed for .json.gz
    #[arg(long, value_name = "FILE.json[.gz]")]
    timeline: Option<PathBuf>,
    /// Look for more than the checks do that are always in force: `races`, memory that two contexts update with nothing that keeps them apart (docs/src/troubleshooting.md)
    #[arg(long, value_name = "WHAT", value_parser = ["races"])]
    check: Vec<String>,
    /// What part of the run --timeline shows: `100us..120us`; without an end 200 us of it, without a beginning from the start
    #[arg(long, value_name = "FROM..UNTIL", requires = "timeline", value_parser = parser::<Window>())]
    window: Option<Window>,
}

impl ObserverOptions {
    /// The files that will be written and the options that name them.
    pub fn outputs(&self) -> Vec<(&'static str, &PathBuf)> {
        let profile = self.profile.iter().flatten();
        profile
            .map(|path| ("--profile", path))
            .chain(self.timeline.iter().map(|path| ("--timeline", path)))
            .chain(self.flame.iter().map(|path| ("--flame", path)))
            .chain(self.flame_waits.iter().map(|path| ("--flame-waits", path)))
            .collect()
    }

    /// What is to be observed for these options.
    pub fn wanted(&self, router: Router) -> Wanted {
        let window = self.window.unwrap_or_default();
        Wanted {
            profile: self.profile.is_some()
                || !self.flame.is_empty()
                || !self.flame_waits.is_empty(),
            races: !self.check.is_empty(),
            timeline: { self.timeline.as_deref() }.map(|path| (router.file(path), window)),
            ..Wanted::default()
        }
    }

    /// The first cycle that --timeline shows, if it is written.
    pub fn shown_from(&self, hertz: u64) -> Option<Cycle> {
        let window = self.timeline.is_some().then_some(self.window)?;
        Some(window.unwrap_or_default().cycles(hertz).0)
    }

    /// Writes the files and prints the profile of a run that has come to its end.
    pub fn show(
        &self,
        seen: Seen,
        router: Router,
        programs: &[Program],
        quiet: bool,
    ) -> anyhow::Result<()> {
        if let (Some(written), Some(path)) = (seen.timeline, &self.timeline) {
            written.map_err(|error| Problem::io("write", &router.file(path), &error))?;
        }
        let Some(profile) = seen.profile else {
            return Ok(());
        };
        if self.profile.is_some() && !quiet {
            let text = profile_text::overview(&profile, programs, self.profile_lines);
            output::print(&format!("\n{}{text}", router.prefix()))?;
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

fn graph(profile: &Profile, what: Flame, path: &Path) -> String {
    let picture = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    if picture {
        flame::svg(profile, what)
    } else {
        flame::folded(profile, what)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    write_whole(path, text.as_bytes()).map_err(|error| Problem::io("write", path, &error))
}
