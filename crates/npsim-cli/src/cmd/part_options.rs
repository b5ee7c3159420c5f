//! Options of `npsim sweep`, `npsim reproduce` and `npsim sensitivity` for schedulers: parts of the points, the merge,
//! and a script that starts both.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use npsim::problem::{Problem, Problems};
use npsim_lab::campaign::Campaign;
use npsim_lab::part::{self, Part, Shard};
use npsim_lab::points::Point;
use npsim_lab::results::{CachedPoint, Results};
use npsim_lab::task::Task;
use serde::Serialize;

use super::batch_script::{self, BatchScript};
use super::format::{self, Format};
use super::interrupt::INTERRUPTED;
use super::lab_options::{LabOptions, LabProgress, report_faults, tally};
use super::value::parser;
use crate::output;

/// The default number of shards of a script.
const SHARDS: usize = 16;

/// `--point`, `--shard`, `--merge`, `--script`, `--shards`.
#[derive(Debug, Args)]
pub struct PartOptions {
    /// Run only this point, given by its number or its key, and write no tables
    #[arg(long, value_name = "N", conflicts_with_all = ["shard", "merge", "script"])]
    point: Option<String>,
    /// Run the K-th of N parts of about equal cost, and write no tables
    ///
    /// All machines assign points to parts identically; points measured in one run of a network
    /// stay together. Points already saved in the folder of results are skipped. In a Slurm job
    /// array K/N may be omitted: the task determines K, the number of tasks is N.
    #[arg(long, value_name = "K/N", num_args = 0..=1, default_missing_value = "array", value_parser = parser::<ShardArgument>(), conflicts_with_all = ["merge", "script"])]
    shard: Option<ShardArgument>,
    /// Run nothing; write tables and figures from saved results, or report what is missing and why
    #[arg(long, conflicts_with = "script")]
    merge: bool,
    /// Print a script that runs everything on a cluster, and run nothing
    ///
    /// The script submits a job array with a task for each shard, and a dependent job that
    /// merges the results. All nodes need access to the folder of results and the systems.
    #[arg(long, value_name = "SCHEDULER", value_enum)]
    script: Option<Scheduler>,
    /// Number of shards for `--script` or `--list --format json` [default of `--script`: 16, or the number of runs if that is less]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=part::MAX_SHARDS as i64), conflicts_with_all = ["point", "shard", "merge"])]
    shards: Option<u32>,
}

/// A shard as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShardArgument {
    Given(Shard),
    /// The shard of the current task of a job array.
    FromArray,
}

impl std::str::FromStr for ShardArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "array" => Ok(Self::FromArray),
            text => text.parse().map(Self::Given),
        }
    }
}

/// A scheduler for which there is a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scheduler {
    /// A job array and a dependent job
    Slurm,
}

/// What a command does with its points.
pub enum Job<'a> {
    /// Runs those of a part, without making tables.
    Part(Task),
    /// Runs all of them and makes tables.
    Whole(Task),
    /// Makes tables from saved results.
    Merge,
    /// Prints a script.
    Script(&'a PartOptions),
}

impl PartOptions {
    /// The requested job.
    ///
    /// # Errors
    /// Returns an error if `--shard` has no value and there is no job array to take it from, or if `--shards` does not
    /// apply.
    pub fn job(&self) -> anyhow::Result<Job<'_>> {
        if self.script.is_some() {
            return Ok(Job::Script(self));
        }
        self.refuse_shards()?;
        if self.merge {
            return Ok(Job::Merge);
        }
        let task = |part| Task {
            part,
            by: process(),
        };
        Ok(match (&self.point, self.shard) {
            (Some(point), _) => Job::Part(task(Part::Point(point.clone()))),
            (None, Some(ShardArgument::Given(shard))) => Job::Part(task(Part::Shard(shard))),
            (None, Some(ShardArgument::FromArray)) => {
                Job::Part(task(Part::Shard(shard_of_array()?)))
            }
            (None, None) => Job::Whole(task(Part::Whole)),
        })
    }

    /// Checks the options for `--list` in the given format.
    ///
    /// # Errors
    /// Returns an error if `--shards` does not apply.
    pub fn check_list(&self, format: Format) -> anyhow::Result<()> {
        match format {
            Format::Json => Ok(()),
            Format::Text => self.refuse_shards(),
        }
    }

    fn refuse_shards(&self) -> anyhow::Result<()> {
        if self.shards.is_none() {
            return Ok(());
        }
        Err(Problem::new("`--shards` has no effect here")
            .help("it goes with `--script` and with `--list --format json`; one shard runs with `--shard K/N`")
            .into())
    }

    /// The points, for `--list --format json`.
    pub fn listed<'a>(&self, points: &'a [CachedPoint]) -> Vec<ListedPoint<'a>> {
        let shards = self
            .shards
            .map(|shards| part::assign_shards(points, shards as usize));
        let listed = points.iter().enumerate();
        let listed = listed.map(|(at, cached)| ListedPoint {
            point: cached.point.number,
            sweep: &cached.point.sweep,
            key: &cached.key,
            at: serde_json::json!(cached.point.coordinates),
            settings: cached.point.shown_settings(),
            cost: cached.cycles,
            run: cached.run_name(),
            shard: shards.as_ref().and_then(|dealt| dealt.get(at).copied()),
        });
        listed.collect()
    }

    /// Prints the script that runs the points on a cluster.
    ///
    /// # Errors
    /// Returns an error if a point cannot be prepared, or standard output cannot be written.
    pub fn print_script(
        &self,
        campaign: &Campaign,
        points: Vec<Point>,
        jobs_given: bool,
    ) -> anyhow::Result<ExitCode> {
        let runs = part::runs(&campaign.cached(points)?).max(1);
        let shards = self.shards.map_or(SHARDS.min(runs), |asked| asked as usize);
        let script = BatchScript {
            name: &campaign.study.name,
            results: campaign.results,
            shards,
            jobs_given,
            arguments: batch_script::arguments(std::env::args_os().skip(1)),
        };
        output::print(&script.slurm()?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A point, as JSON.
#[derive(Serialize)]
pub struct ListedPoint<'a> {
    point: usize,
    sweep: &'a str,
    key: &'a str,
    at: serde_json::Value,
    settings: Vec<String>,
    cost: u64,
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<usize>,
}

/// The result of a part, as JSON.
#[derive(Serialize)]
struct PartDocument {
    part: String,
    points: usize,
    run_now: usize,
    from_before: usize,
    /// Faults of points that a check stopped.
    stopped: Vec<String>,
}

/// Runs a part of the points.
///
/// # Errors
/// As for [`Campaign::run_task`].
pub fn run_part(
    campaign: &Campaign,
    points: Vec<Point>,
    task: &Task,
    stop: &AtomicBool,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let results = run_task(campaign, points, task, stop)?;
    if results.interrupted {
        return Ok(interrupted(&results));
    }
    if format == Format::Json {
        let faults = results.faults();
        format::json(&PartDocument {
            part: task.part.to_string(),
            points: results.points.len(),
            run_now: results.ran,
            from_before: results.outcomes.len() - results.ran,
            stopped: faults
                .map(|(cached, fault)| format!("{}: {fault}", cached.point.shown()))
                .collect(),
        })?;
    }
    report_faults(&results);
    output::line(&format!("{}: {}", task.part, tally(&results)));
    Ok(ExitCode::SUCCESS)
}

/// The outcome of a command that runs points: the results of all requested points, for the command to show, or its exit
/// code.
pub enum PointsOutcome {
    /// The results of all points.
    Whole(Results),
    /// Something else was done and reported.
    Done(ExitCode),
}

impl PartOptions {
    /// Does the requested job with the points.
    ///
    /// # Errors
    /// As for [`Campaign::run_task`] and [`Campaign::merge`].
    pub fn run(
        &self,
        campaign: &Campaign,
        points: Vec<Point>,
        (lab, format): (&LabOptions, Format),
        stop: &AtomicBool,
    ) -> anyhow::Result<PointsOutcome> {
        let results = match self.job()? {
            Job::Script(part) => {
                let code = part.print_script(campaign, points, lab.jobs_given())?;
                return Ok(PointsOutcome::Done(code));
            }
            Job::Part(task) => {
                return run_part(campaign, points, &task, stop, format).map(PointsOutcome::Done);
            }
            Job::Merge => campaign.merge(points, stop)?,
            Job::Whole(task) => run_task(campaign, points, &task, stop)?,
        };
        Ok(if results.interrupted {
            PointsOutcome::Done(interrupted(&results))
        } else {
            PointsOutcome::Whole(results)
        })
    }
}

/// Runs a task's points, with a progress bar.
///
/// # Errors
/// As for [`Campaign::run_task`].
pub fn run_task(
    campaign: &Campaign,
    points: Vec<Point>,
    task: &Task,
    stop: &AtomicBool,
) -> Result<Results, Problems> {
    let bar = LabProgress::default();
    let results = campaign.run_task(points, task, stop, &bar);
    bar.finish();
    results
}

/// Reports that a campaign was interrupted.
pub fn interrupted(results: &Results) -> ExitCode {
    output::line(&format!("{}; start it again to go on", tally(results)));
    ExitCode::from(INTERRUPTED)
}

/// The shard of a task of a job array. Task numbers may begin anywhere, and may have a step.
fn shard_of_array() -> anyhow::Result<Shard> {
    array_shard(&|name| std::env::var(name).ok()).map_err(|why| {
        Problem::new(format!("`--shard` has no value, and {why}"))
            .help("give K/N, such as `--shard 2/8` for the second of eight parts")
            .into()
    })
}

fn array_shard(variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let text = |name: &str| variable(name);
    if text("SLURM_ARRAY_TASK_ID").is_none() {
        return Err("this process is not a task of a Slurm job array".to_owned());
    }
    let number = |name: &str| -> Result<usize, String> {
        let text = text(name).ok_or_else(|| format!("`{name}` is not set"))?;
        let number = text.parse();
        number.map_err(|_| format!("`{name}` is `{text}`, which is not a number"))
    };
    let (id, first) = (
        number("SLURM_ARRAY_TASK_ID")?,
        number("SLURM_ARRAY_TASK_MIN")?,
    );
    let count = number("SLURM_ARRAY_TASK_COUNT")?;
    let step = number("SLURM_ARRAY_TASK_STEP").unwrap_or(1).max(1);
    let gaps = || {
        format!(
            "the task numbers of the job array have gaps: it has {count} tasks, one of them with the number {id}"
        )
    };
    let from_first = id.checked_sub(first).ok_or_else(gaps)?;
    if from_first % step != 0 {
        return Err(gaps());
    }
    Shard::new(from_first / step + 1, count).map_err(|_| gaps())
}

/// A description of this process: its cluster job, if any, and its host.
fn process() -> String {
    if crate::bundle::is_guest() {
        return "the command of a bundle".to_owned();
    }
    let variable = |name: &str| std::env::var(name).ok();
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    // Windows has the host name in `COMPUTERNAME`.
    let host = { variable("SLURMD_NODENAME").or_else(host) }
        .or_else(|| variable("COMPUTERNAME"))
        .or_else(|| variable("HOSTNAME"));
    let on = host.map_or(String::new(), |host| format!(" on {}", host.trim()));
    let array = variable("SLURM_ARRAY_JOB_ID").zip(variable("SLURM_ARRAY_TASK_ID"));
    match (array, variable("SLURM_JOB_ID")) {
        (Some((job, task)), _) => format!("Slurm job {job}_{task}{on}"),
        (None, Some(job)) => format!("Slurm job {job}{on}"),
        (None, None) => format!("process {}{on}", std::process::id()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Shard, array_shard};

    fn shard(id: &str, min: &str, count: &str, step: &str) -> Result<Shard, String> {
        array_shard(&|name| {
            let value = match name {
                "SLURM_ARRAY_TASK_ID" => id,
                "SLURM_ARRAY_TASK_MIN" => min,
                "SLURM_ARRAY_TASK_COUNT" => count,
                "SLURM_ARRAY_TASK_STEP" => step,
                _ => "",
            };
            (!value.is_empty()).then(|| value.to_owned())
        })
    }

    #[test]
    fn array_task_ids_map_to_shards() {
        assert_eq!(shard("0", "0", "4", "1"), Shard::new(1, 4));
        assert_eq!(shard("4", "1", "4", ""), Shard::new(4, 4));
        assert_eq!(shard("10", "2", "5", "4"), Shard::new(3, 5));
        assert!(shard("", "1", "4", "1").unwrap_err().contains("not a task"));
        assert!(
            shard("1", "", "4", "1")
                .unwrap_err()
                .contains("TASK_MIN` is not set")
        );
        assert!(
            shard("1", "1", "x", "1")
                .unwrap_err()
                .contains("not a number")
        );
        assert!(shard("9", "1", "2", "1").unwrap_err().contains("gaps"));
        assert!(shard("4", "1", "4", "2").unwrap_err().contains("gaps"));
    }
}
