//! The options of a run that watch it, and what comes of them.

use std::path::{Path, PathBuf};

use clap::Args;
use npsim::assemble::Program;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::series::Series;
use npsim::simulation::Simulation;
use npsim::views::profile::{self, Collector, Flame, Profile, Shown};
use npsim::views::timeline::{Recorder, TimelineFile, Window};
use npsim::whole_file::write_whole;
use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::TraceEvent;

use crate::cmd::value::parser;
use crate::output;

/// Ways to watch a run. The run is the same with any of them.
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
    /// What part of the run --timeline shows: `100us..120us`; without an end 200 us of it, without a beginning from the start
    #[arg(long, value_name = "FROM..UNTIL", requires = "timeline", value_parser = parser::<Window>())]
    window: Option<Window>,
}

/// What watches a run.
pub struct Observers {
    profile: Option<Collector>,
    timeline: Option<Recorder<TimelineFile>>,
}

impl Observer for Observers {
    #[inline]
    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        self.profile.see(at, what);
        self.timeline.see(at, what);
    }
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

    /// The first of these options that is given, if any is.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            (self.profile.is_some(), "--profile"),
            (!self.flame.is_empty(), "--flame"),
            (!self.flame_waits.is_empty(), "--flame-waits"),
            (self.timeline.is_some(), "--timeline"),
        ];
        options
            .into_iter()
            .find_map(|(given, name)| given.then_some(name))
    }

    /// What these options need to watch a run; `None` if they ask for nothing.
    pub fn open(
        &self,
        simulation: &Simulation,
        project: &Project,
    ) -> Result<Option<Observers>, Problem> {
        let counted =
            self.profile.is_some() || !self.flame.is_empty() || !self.flame_waits.is_empty();
        let observers = Observers {
            profile: counted.then(|| Collector::new(simulation.chip())),
            timeline: match &self.timeline {
                Some(path) => {
                    let file = TimelineFile::create(path)
                        .map_err(|error| Problem::io("write", path, &error))?;
                    let window = self.window.unwrap_or_default();
                    let window = window.cycles(project.capacity.hertz);
                    let chip = simulation.chip();
                    let recorder = Recorder::new(file, &project.name, chip, window);
                    Some(recorder.calling(Series::new(project).places()))
                }
                None => None,
            },
        };
        Ok((observers.profile.is_some() || observers.timeline.is_some()).then_some(observers))
    }

    /// The first cycle that --timeline shows, if it is written.
    pub fn shown_from(&self, hertz: u64) -> Option<Cycle> {
        let window = self.timeline.is_some().then_some(self.window)?;
        Some(window.unwrap_or_default().cycles(hertz).0)
    }

    /// Writes the files and prints the profile of a run that has come to its end.
    pub fn show(
        &self,
        observers: Observers,
        simulation: &Simulation,
        programs: &[Program],
        quiet: bool,
    ) -> anyhow::Result<()> {
        if let (Some(recorder), Some(path)) = (observers.timeline, &self.timeline) {
            recorder
                .finish(simulation.now())
                .and_then(TimelineFile::commit)
                .map_err(|error| Problem::io("write", path, &error))?;
        }
        let Some(collector) = observers.profile else {
            return Ok(());
        };
        let profile = collector.finish(simulation.now());
        if self.profile.is_some() && !quiet {
            let text = profile::overview(&profile, programs, self.profile_lines);
            output::print(&format!("\n{text}"))?;
        }
        for path in self.profile.iter().flatten() {
            write(path, &profile::to_json(&profile)?)?;
        }
        for path in &self.flame {
            write(path, &flame(&profile, Flame::Pipeline, path))?;
        }
        for path in &self.flame_waits {
            write(path, &flame(&profile, Flame::Waits, path))?;
        }
        Ok(())
    }
}

fn flame(profile: &Profile, what: Flame, path: &Path) -> String {
    let picture = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    if picture {
        profile::svg(profile, what)
    } else {
        profile::folded(profile, what)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    write_whole(path, text.as_bytes()).map_err(|error| Problem::io("write", path, &error))
}
