//! `npsim sweep`: a run again and again, each time with something changed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim_lab::campaign::Campaign;
use npsim_lab::document::document;
use npsim_lab::grid::grids;
use npsim_lab::places::SearchPath;
use npsim_lab::points::{Point, points};
use npsim_lab::results::Results;
use npsim_lab::study::Study;
use npsim_lab::tables::measurements;
use npsim_lab::{output as files, verdict};
use npsim_session::text_table::TextTable;

use super::format::{self, Format};
use super::interrupt::{INTERRUPTED, interrupt_flag};
use super::lab_options::{
    LabOptions, LabProgress, tally, tell_equal_runs, tell_faults, tell_gaps, tell_unsettled,
};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim sweep load.toml                     run it, as many points at a time as there are cores
  npsim sweep load.toml --list              its points, without running them
  npsim sweep load.toml --list --format json   the same with keys, for schedulers
  npsim sweep load.toml --out r --point 3   one point, as one job of a cluster
  npsim sweep load.toml --out r --merge     tables and figures of what was run

Each point is saved in DIR/points/KEY.json. The key is made from all that decides
what the point comes to: sources, project, profile, load, window, metrics, and the
simulator itself. Points that are there are not run again.

Exit codes: 0 done; 1 a mistake in what was given; 3 a check stopped a point;
130 ended by Ctrl-C.";

/// Run a system at many points and write tables and figures
///
/// FILE says which system runs, what changes from point to point (the load, any
/// key of the project file, defines, parameters of the chip), and what is
/// measured; `npsim docs experiments` describes it.
///
/// The results folder gets `index.html`, `results.json`, `points.csv` (every run),
/// `means.csv` (the runs of each point together) and `figures/`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The sweep's file
    file: PathBuf,
    /// Print the points with their settings and run nothing
    #[arg(long, conflicts_with_all = ["point", "merge"])]
    list: bool,
    /// Run this point only, by its number or its key, and write no tables
    #[arg(long, value_name = "N", conflicts_with = "merge")]
    point: Option<String>,
    /// Run nothing; write the tables and figures of what was run before
    #[arg(long)]
    merge: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    lab: LabOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let study = Study::load(&arguments.file)?;
    let quick = arguments.lab.quick;
    let mut points = points(&study, quick)?;
    let places = SearchPath::new(Some(&arguments.file), arguments.lab.root.as_deref());
    let folder = arguments.lab.results_of(&study);
    let campaign = arguments.lab.campaign(&study, &places, &folder);
    if arguments.list {
        return list(&campaign, points, arguments.format);
    }
    if let Some(wanted) = &arguments.point {
        points = vec![the_point(&campaign, points, wanted)?];
    }
    let stop = interrupt_flag();
    let results = if arguments.merge {
        campaign.merge(points, &stop)?
    } else {
        let bar = LabProgress::default();
        let results = campaign.run(points, &stop, &bar);
        bar.finish();
        results?
    };
    if results.interrupted {
        output::line(&format!("{}; start it again to go on", tally(&results)));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    write(arguments, &campaign, &results)
}

fn write(
    arguments: &Arguments,
    campaign: &Campaign,
    results: &Results,
) -> anyhow::Result<ExitCode> {
    let study = campaign.study;
    let wanted = verdict::select(study, &[])?;
    let rows = verdict::rows(study, results, &wanted);
    let page = match arguments.point {
        None => Some(files::write(
            campaign.results,
            study,
            results,
            &rows,
            campaign.quick,
        )?),
        Some(_) => None,
    };
    match arguments.format {
        Format::Json => {
            let document = document(study, results, &rows, campaign.quick);
            format::json(&document)?;
        }
        Format::Text => {
            output::tell(&(measurements(study, results, output::width()) + "\n"))?;
            for grid in grids(study, results).iter().filter(|_| page.is_some()) {
                output::tell(&format!("\n{}\n", grid.terminal(output::width())))?;
            }
            if !rows.is_empty() && page.is_some() {
                output::tell(&format!("\n{}\n", arguments.lab.comparison(&rows)))?;
            }
        }
    }
    tell_faults(results);
    tell_unsettled(results);
    tell_gaps(study, results, None);
    tell_equal_runs(study, results);
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

fn list(campaign: &Campaign, points: Vec<Point>, format: Format) -> anyhow::Result<ExitCode> {
    let cached = campaign.cached(points)?;
    if format == Format::Json {
        let lines: Vec<_> = cached
            .iter()
            .map(|cached| {
                serde_json::json!({
                    "point": cached.point.number,
                    "sweep": cached.point.sweep,
                    "key": cached.key,
                    "at": cached.point.coordinates,
                    "settings": cached.point.shown_settings(),
                })
            })
            .collect();
        format::json(&lines)?;
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
    output::tell(&(table.fitted(output::width()) + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The point that a number or a key names.
fn the_point(campaign: &Campaign, points: Vec<Point>, wanted: &str) -> anyhow::Result<Point> {
    let count = points.len();
    // A key can consist of digits, but has more of them than any number of points.
    let number = wanted.parse::<usize>().ok().filter(|_| wanted.len() < 9);
    let found = match number {
        Some(number) => points.into_iter().find(|point| point.number == number),
        None => campaign
            .cached(points)?
            .into_iter()
            .find(|cached| cached.key == wanted)
            .map(|cached| cached.point),
    };
    found.ok_or_else(|| {
        Problem::new(format!("there is no point `{wanted}`"))
            .help(format!(
                "there are 1 to {count}; `--list` shows them, and with `--format json` their keys"
            ))
            .into()
    })
}
