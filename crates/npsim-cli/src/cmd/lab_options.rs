//! What `npsim reproduce` and `npsim sweep` have in common: options, progress, Ctrl-C.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use npsim_chip::Cycle;
use npsim_lab::campaign::{Campaign, Progress};
use npsim_lab::observed::Observe;
use npsim_lab::places::SearchPath;
use npsim_lab::points::Point;
use npsim_lab::replicates::equal_runs;
use npsim_lab::results::Results;
use npsim_lab::store::PointOutcome;
use npsim_lab::study::Study;
use npsim_lab::tables::{comparison, missing_values, wide_comparison};
use npsim_lab::verdict::Comparison;

use super::value::{folder, parser, threads};
use crate::output;

/// `--quick`, `--out`, `--jobs`, `--observe`, `--root`.
#[derive(Debug, Args)]
pub struct LabOptions {
    /// Use the fewer points and shorter windows that the file has for quick runs
    #[arg(long)]
    pub quick: bool,
    /// Write the results, and the data for continuing later, into DIR [default: npsim-results/NAME]
    #[arg(short, long, value_name = "DIR", value_parser = folder())]
    out: Option<PathBuf>,
    /// How many points run in parallel [default: one per core of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    jobs: Option<u16>,
    /// Also write these observations of each point: `profile`, `flame`, `timeline` (`npsim docs experiments`)
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = parser::<Observe>())]
    observe: Vec<Observe>,
    /// Folder that contains the systems, such as the one with `microcode/`
    ///
    /// Without it, the current folder and those above it are searched, after the
    /// folder of the file itself.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Show published values with difference, tolerance and full texts, in a wide table
    #[arg(long)]
    wide: bool,
}

impl LabOptions {
    /// The results folder.
    pub fn results(&self, name: &str) -> PathBuf {
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("npsim-results").join(name))
    }

    /// The results folder of a study; changed settings or systems have a folder of their own.
    pub fn results_of(&self, study: &Study) -> PathBuf {
        let mut name = study.name.clone();
        for change in study.changes() {
            name = format!("{name}+{change}");
        }
        self.results(&name.replace(['/', '\\', ':', '*', '"'], "_"))
    }

    /// A table of published and measured values, in the requested width.
    pub fn comparison(&self, rows: &[Comparison]) -> String {
        if self.wide {
            wide_comparison(rows, output::width())
        } else {
            comparison(rows, output::width())
        }
    }

    /// Whether `--jobs` was given.
    pub fn jobs_given(&self) -> bool {
        self.jobs.is_some()
    }

    /// A campaign for a study, with its systems, its results folder and these options.
    pub fn campaign<'a>(
        &'a self,
        study: &'a Study,
        places: &'a SearchPath,
        results: &'a Path,
    ) -> Campaign<'a> {
        Campaign {
            study,
            quick: self.quick,
            places,
            results,
            jobs: threads(self.jobs),
            observe: &self.observe,
        }
    }
}

/// How long points may be examined before a progress bar appears.
const BAR_DELAY: Duration = Duration::from_millis(300);
/// The interval at which the progress bar is redrawn.
const TICK: Duration = Duration::from_millis(200);

/// A progress bar on standard error, if that is a terminal. Its length is simulated time, so that it also advances
/// within a point and its estimate of the remaining time is realistic. It does not appear if all points were run
/// before.
#[derive(Default)]
pub struct LabProgress {
    examination: OnceLock<Examination>,
    running: OnceLock<BarState>,
}

/// The phase in which points are examined, to find which of them have to run.
struct Examination {
    bar: ProgressBar,
    since: Instant,
}

struct BarState {
    bar: ProgressBar,
    points: usize,
    done: AtomicUsize,
}

impl Progress for LabProgress {
    fn preparing(&self, points: usize) {
        if points == 0 || !std::io::stderr().is_terminal() {
            return;
        }
        self.examination.get_or_init(|| {
            let bar =
                ProgressBar::with_draw_target(Some(points as u64), ProgressDrawTarget::hidden());
            if let Ok(style) =
                ProgressStyle::with_template("{bar:40} {elapsed}  {pos} of {len} points are known")
            {
                bar.set_style(style);
            }
            let since = Instant::now();
            Examination { bar, since }
        });
    }

    fn prepared(&self) {
        let Some(Examination { bar, since }) = self.examination.get() else {
            return;
        };
        if bar.is_hidden() && since.elapsed() > BAR_DELAY {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.inc(1);
    }

    fn starting(&self, to_run: usize, cycles: Cycle, _: usize) {
        if let Some(examination) = self.examination.get() {
            examination.bar.finish_and_clear();
        }
        if to_run == 0 || !std::io::stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::new(cycles);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:40} {elapsed}, {eta} to go  {wide_msg}")
        {
            bar.set_style(style);
        }
        bar.set_message(format!("0 of {to_run} points"));
        bar.enable_steady_tick(TICK);
        self.running.get_or_init(|| BarState {
            bar,
            points: to_run,
            done: AtomicUsize::new(0),
        });
    }

    fn advanced(&self, cycles: Cycle) {
        if let Some(drawn) = self.running.get() {
            drawn.bar.inc(cycles);
        }
    }

    fn finished(&self, point: &Point, _: &PointOutcome) {
        if let Some(drawn) = self.running.get() {
            let done = drawn.done.fetch_add(1, Ordering::Relaxed) + 1;
            let (all, shown) = (drawn.points, point.shown());
            drawn
                .bar
                .set_message(format!("{done} of {all} points, last {shown}"));
        }
    }
}

impl LabProgress {
    /// Removes the progress bar.
    pub fn finish(&self) {
        if let Some(examination) = self.examination.get() {
            examination.bar.finish_and_clear();
        }
        if let Some(drawn) = self.running.get() {
            drawn.bar.finish_and_clear();
        }
    }
}

/// Reports the points that a check stopped, on standard error.
pub fn report_faults(results: &Results) {
    for (cached, fault) in results.faults() {
        output::line(&format!(
            "point {}, {}, was stopped: {fault}",
            cached.point.number,
            cached.point.shown()
        ));
    }
}

/// Reports why metrics have no value, on standard error; if `asked` is given, only for these curves.
pub fn report_gaps(study: &Study, results: &Results, asked: Option<&BTreeSet<String>>) {
    for gap in missing_values(study, results, asked) {
        output::line(&format!("note: {gap}"));
    }
}

/// Reports where all runs of points are equal, so that means have no interval, on standard error.
pub fn report_equal_runs(study: &Study, results: &Results) {
    for line in equal_runs(study, results) {
        output::line(&format!("note: {line}"));
    }
}

/// Reports how many points had not settled when their windows began, on standard error.
pub fn report_unsettled(results: &Results) {
    let mut open = results.unsettled();
    let Some(first) = open.next() else {
        return;
    };
    let more = open.count();
    let where_ = first.point.shown();
    output::line(&match more {
        0 => format!("note: one point had not settled when its longest warm-up was over: {where_}"),
        more => format!(
            "note: {} points had not settled when their longest warm-up was over, first {where_}",
            more + 1
        ),
    });
}

/// `5 points: 3 run now, 1 from before, 1 the same as another`; interrupted and lost points are counted separately,
/// so that the numbers add up.
pub fn tally(results: &Results) -> String {
    let all = results.points.len();
    if all == 0 && results.interrupted {
        return "interrupted before a point was run".to_owned();
    }
    let word = if all == 1 { "point" } else { "points" };
    let keys: BTreeSet<&str> = results.points.iter().map(|point| &*point.key).collect();
    let mut parts = vec![
        format!("{} run now", results.ran),
        format!("{} from before", results.outcomes.len() - results.ran),
    ];
    let same = all - keys.len();
    if same > 0 {
        parts.push(format!("{same} the same as another"));
    }
    let left = keys.len() - results.outcomes.len();
    if left > 0 {
        parts.push(format!("{left} not run yet"));
    }
    format!("{all} {word}: {}", parts.join(", "))
}
