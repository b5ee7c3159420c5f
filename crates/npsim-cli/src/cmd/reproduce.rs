//! `npsim reproduce`: published figures beside what this simulator measures.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::Args;
use npsim_lab::campaign::Campaign;
use npsim_lab::class::RowClass;
use npsim_lab::document::document;
use npsim_lab::grid::grids;
use npsim_lab::places::SearchPath;
use npsim_lab::points::{Point, points};
use npsim_lab::tables::{comparison, reproduced};
use npsim_lab::verdict::Comparison;
use npsim_lab::{output as files, profiles, studies, verdict};
use npsim_session::text_table::TextTable;
use serde::Serialize;

use super::format::{self, Format};
use super::interrupt::{INTERRUPTED, interrupt_flag};
use super::lab_options::{LabOptions, LabProgress, tally, tell_faults, tell_gaps, tell_unsettled};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim reproduce                       the studies there are
  npsim reproduce baseline --quick      a quick run of one
  npsim reproduce baseline H-20 H-30    two of its values, with the points they need
  npsim reproduce hauger figure-5       the values that belong to a figure
  npsim reproduce baseline --out results --format json
  npsim reproduce my/study.toml         a study of your own

An interrupted study resumes where it was when it is started again; only points
whose inputs changed are run anew.

Exit codes: 0 it ran, whatever it found; 1 a mistake in what was given, or with
--strict a value that was not reproduced; 130 ended by Ctrl-C.";

/// Run a study and compare what it measures with what was published
///
/// A study says which systems run under which loads, what is measured, and what
/// was published about it (`npsim docs experiments`). Systems are looked for from
/// the current folder upwards, so start it in the folder with `microcode/`.
///
/// The results folder gets `index.html`, `results.json`, `rows.csv`, `points.csv`,
/// `tables/` and `figures/`. They are always of the whole study: with IDs they are
/// written only if its other points were run before.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of a study, or a study's file; without it the studies are listed
    study: Option<String>,
    /// Published values by their id, or those of a figure by its name; all if left out
    ids: Vec<String>,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// End with exit code 1 if a value was not reproduced
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    lab: LabOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Some(name) = &arguments.study else {
        return list(arguments.format);
    };
    let study = studies::find(name)?;
    let wanted = verdict::select(&study, &arguments.ids)?;
    let quick = arguments.lab.quick;
    let all = points(&study, quick)?;
    let part = !arguments.ids.is_empty();
    let mut points = all.clone();
    if part {
        points.retain(|point| wanted.iter().any(|row| verdict::needs(&study, row, point)));
    }
    let file = studies::is_file_name(name).then(|| Path::new(name));
    let places = SearchPath::new(file, arguments.lab.root.as_deref());
    let folder = arguments.lab.results(&study.name);
    let campaign = arguments.lab.campaign(&study, &places, &folder);
    let stop = interrupt_flag();
    let bar = LabProgress::default();
    let results = campaign.run(points, &stop, &bar);
    bar.finish();
    let results = results?;
    if results.interrupted {
        output::line(&format!("{}; start it again to go on", tally(&results)));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let mut rows = verdict::rows(&study, &results, &wanted);
    if !part {
        rows.push(profiles::row(&results));
    }
    let page = if part {
        whole_page(&campaign, all, &stop)?
    } else {
        Some(files::write(&folder, &study, &results, &rows, quick)?)
    };
    match arguments.format {
        Format::Json => {
            let document = document(&study, &results, &rows, quick);
            format::json(&document)?;
        }
        Format::Text => {
            let mut parts = vec![study.title.clone(), comparison(&rows, output::width())];
            if !part {
                parts.extend(
                    grids(&study, &results)
                        .iter()
                        .map(|grid| grid.terminal(output::width())),
                );
            }
            parts.push(reproduced(&rows));
            output::tell(&(parts.join("\n\n") + "\n"))?;
        }
    }
    tell_faults(&results);
    tell_unsettled(&results);
    let asked = part.then(|| verdict::asked(&study, &wanted));
    tell_gaps(&study, &results, asked.as_ref());
    output::line(&match page {
        Some(page) => format!("{}; see {}", tally(&results), page.display()),
        None => format!(
            "{}; {} stays as it is until the whole study was run",
            tally(&results),
            folder.display()
        ),
    });
    let counts = |row: &&Comparison| row.class != RowClass::Arithmetic;
    let missed = rows.iter().filter(counts).any(|row| !row.verdict.is_hit());
    if arguments.strict && missed {
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// A study, as JSON.
#[derive(Serialize)]
struct ListedStudy {
    name: String,
    title: String,
    /// How many values were published.
    published: usize,
}

/// The studies that there are.
fn list(format: Format) -> anyhow::Result<ExitCode> {
    let studies = studies::all()?.into_iter().map(|study| ListedStudy {
        published: study.published.len(),
        name: study.name,
        title: study.title,
    });
    let studies: Vec<_> = studies.collect();
    format.print(&studies, || {
        let mut table = TextTable::list();
        for ListedStudy {
            name,
            title,
            published,
        } in &studies
        {
            table.add_row([
                name.clone(),
                format!("{title} ({published} published values)"),
            ]);
        }
        table.fitted(output::width()) + "\n"
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The page of the whole study after a part of it was run, from points that are
/// saved. None if some are not, or if the folder has what a quick run came to and
/// this was none, or the other way round: what is there would be lost.
fn whole_page(
    campaign: &Campaign,
    all: Vec<Point>,
    stop: &AtomicBool,
) -> anyhow::Result<Option<PathBuf>> {
    if files::is_quick(campaign.results).is_some_and(|quick| quick != campaign.quick) {
        return Ok(None);
    }
    let Ok(results) = campaign.merge(all, stop) else {
        return Ok(None);
    };
    let (folder, study) = (campaign.results, campaign.study);
    let mut rows = verdict::rows(study, &results, &verdict::select(study, &[])?);
    rows.push(profiles::row(&results));
    let page = files::write(folder, study, &results, &rows, campaign.quick)?;
    Ok(Some(page))
}
