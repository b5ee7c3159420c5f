//! `npsim sweep`: runs a system repeatedly, with different settings.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim_lab::campaign::Campaign;
use npsim_lab::document::document;
use npsim_lab::grid::grids;
use npsim_lab::part::Part;
use npsim_lab::places::SearchPath;
use npsim_lab::points::{Point, points};
use npsim_lab::results::Results;
use npsim_lab::study::Study;
use npsim_lab::tables::measurements;
use npsim_lab::task::Task;
use npsim_lab::{output as files, selection, verdict};
use npsim_session::text_table::TextTable;

use super::format::{self, Format};
use super::interrupt::interrupt_flag;
use super::lab_options::{
    LabOptions, report_equal_runs, report_faults, report_gaps, report_unsettled, tally,
};
use super::part_options::{Job, PartOptions, interrupted, run_part, run_task};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim sweep load.toml                     run it, as many points at a time as there are cores
  npsim sweep load.toml --list              its points, without running them
  npsim sweep load.toml --list --format json   the same with keys and costs, for schedulers
  npsim sweep load.toml --out r --shard 2/8   the second of eight parts, as one job of a cluster
  npsim sweep load.toml --script slurm      a script that runs all parts on Slurm
  npsim sweep load.toml --out r --merge     tables and figures of what was run

Each point is saved in DIR/points/KEY.json. The key is made from all that decides
what the point comes to: sources, project, profile, load, window, metrics, and the
simulator itself. Points that are there are not run again.

Exit codes: 0 done; 1 a mistake in what was given; 3 a check stopped a point (not
with --shard, which is then done); 130 ended by Ctrl-C.";

/// Run a system at many points and write tables and figures
///
/// FILE defines which system runs, what changes from point to point (the load, any
/// key of the project file, defines, parameters of the chip), and what is
/// measured; `npsim docs experiments` describes it.
///
/// The results folder gets `index.html`, `results.json`, `points.csv` (every run),
/// `means.csv` (means over the runs of each point) and `figures/`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The sweep's file
    file: PathBuf,
    /// Print the points with their settings, and run nothing
    #[arg(long, conflicts_with_all = ["point", "shard", "merge", "script"])]
    list: bool,
    #[command(flatten)]
    part: PartOptions,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    lab: LabOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let study = Study::load(&arguments.file)?;
    let quick = arguments.lab.quick;
    let points = points(&study, quick)?;
    let places = SearchPath::new(Some(&arguments.file), arguments.lab.root.as_deref());
    let folder = arguments.lab.results_of(&study);
    let campaign = arguments.lab.campaign(&study, &places, &folder);
    if arguments.list {
        return list(&campaign, points, arguments);
    }
    let stop = interrupt_flag();
    let run = |task: &Task| run_task(&campaign, points.clone(), task, &stop);
    let (results, whole) = match arguments.part.job()? {
        Job::Script(part) => {
            return part.print_script(&campaign, points, arguments.lab.jobs_given());
        }
        Job::Part(task) if matches!(task.part, Part::Point(_)) => (run(&task)?, false),
        Job::Part(task) => {
            let code = run_part(&campaign, points, &task, &stop, arguments.format)?;
            return Ok(code);
        }
        Job::Whole(task) => (run(&task)?, true),
        Job::Merge => (campaign.merge(points, &stop)?, true),
    };
    if results.interrupted {
        return Ok(interrupted(&results));
    }
    write(arguments, &campaign, &results, whole)
}

fn write(
    arguments: &Arguments,
    campaign: &Campaign,
    results: &Results,
    whole: bool,
) -> anyhow::Result<ExitCode> {
    let study = campaign.study;
    let wanted = selection::select(study, &[])?;
    let rows = verdict::rows(study, results, &wanted);
    let page = if whole {
        let folder = campaign.results;
        Some(files::write(folder, study, results, &rows, campaign.quick)?)
    } else {
        None
    };
    match arguments.format {
        Format::Json => {
            let document = document(study, results, &rows, campaign.quick);
            format::json(&document)?;
        }
        Format::Text => {
            output::print_text(&(measurements(study, results, output::width()) + "\n"))?;
            for grid in grids(study, results).iter().filter(|_| page.is_some()) {
                output::print_text(&format!("\n{}\n", grid.terminal(output::width())))?;
            }
            if !rows.is_empty() && page.is_some() {
                output::print_text(&format!("\n{}\n", arguments.lab.comparison(&rows)))?;
            }
        }
    }
    report_faults(results);
    report_unsettled(results);
    report_gaps(study, results, None);
    report_equal_runs(study, results);
    let tally = tally(results);
    output::line(&match page {
        Some(page) => format!("{tally}; see {}", page.display()),
        None => tally,
    });
    if results.faults().next().is_some() {
        return Ok(ExitCode::from(3));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(
    campaign: &Campaign,
    points: Vec<Point>,
    arguments: &Arguments,
) -> anyhow::Result<ExitCode> {
    arguments.part.check_list(arguments.format)?;
    let cached = campaign.cached(points)?;
    if arguments.format == Format::Json {
        format::json(&arguments.part.listed(&cached))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = TextTable::with_numbers(&["point", "at", "settings"], 0..1);
    for cached in &cached {
        table.add_row([
            cached.point.number.to_string(),
            cached.point.shown(),
            cached.point.shown_settings().join(" "),
        ]);
    }
    output::print_text(&(table.fitted(output::width()) + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
