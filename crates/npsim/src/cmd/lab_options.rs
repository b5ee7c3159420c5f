//! What `npsim reproduce` and `npsim sweep` share: options, progress, Ctrl-C.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use npsim_lab::campaign::{Results, Watcher};
use npsim_lab::observed::Observe;
use npsim_lab::points::Point;
use npsim_lab::store::Outcome;
use npsim_lab::study::Study;
use npsim_lab::tables::gaps;

use super::value::parser;
use crate::output;

/// The form of results on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables
    #[default]
    Text,
    /// JSON
    Json,
}

/// `--quick`, `--out`, `--jobs`, `--observe`, `--root`.
#[derive(Debug, Args)]
pub struct LabOptions {
    /// Take the fewer points and shorter windows that the file has for a quick run
    #[arg(long)]
    pub quick: bool,
    /// Folder of results, and of what is saved to go on later [default: npsim-results/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many points run at a time [default: the cores of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    jobs: Option<u16>,
    /// Also write what each point looks like from within: `profile`, `flame`, `timeline` (docs/src/experiments.md)
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = parser::<Observe>())]
    pub observe: Vec<Observe>,
    /// The folder below which systems lie, such as that with `microcode/`
    ///
    /// Without it the current folder and those above it are looked through, after
    /// the folder of the file itself.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

impl LabOptions {
    /// The folder of results.
    pub fn results(&self, name: &str) -> PathBuf {
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("npsim-results").join(name))
    }

    /// How many points run at a time.
    pub fn jobs(&self) -> usize {
        self.jobs.map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            usize::from,
        )
    }
}

/// A bar on standard error, on a terminal only.
#[derive(Default)]
pub struct Bar(OnceLock<ProgressBar>);

impl Watcher for Bar {
    fn begins(&self, to_run: usize, _: usize) {
        if to_run == 0 || !std::io::stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::new(to_run as u64);
        if let Ok(style) = ProgressStyle::with_template(
            "{bar:40} {pos} of {len} points, {elapsed}, {eta} to go  {msg}",
        ) {
            bar.set_style(style);
        }
        bar.tick();
        self.0.get_or_init(|| bar);
    }

    fn finished(&self, point: &Point, _: &Outcome) {
        if let Some(bar) = self.0.get() {
            bar.set_message(point.shown());
            bar.inc(1);
        }
    }
}

impl Bar {
    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = self.0.get() {
            bar.finish_and_clear();
        }
    }
}

/// Says which points a check stopped, on standard error.
pub fn tell_faults(results: &Results) {
    for (keyed, fault) in results.faults() {
        output::line(&format!(
            "point {}, {}, was stopped: {fault}",
            keyed.point.number,
            keyed.point.shown()
        ));
    }
}

/// Says why metrics have no value, on standard error; with `asked` only of these
/// curves.
pub fn tell_gaps(study: &Study, results: &Results, asked: Option<&BTreeSet<String>>) {
    for gap in gaps(study, results, asked) {
        output::line(&format!("note: {gap}"));
    }
}

/// `4 points: 3 run, 1 from before`.
pub fn tally(results: &Results) -> String {
    let all = results.points.len();
    let word = if all == 1 { "point" } else { "points" };
    format!(
        "{all} {word}: {} run now, {} from before",
        results.ran,
        results.outcomes.len() - results.ran
    )
}
