//! `npsim reproduce`: compares published figures with what this simulator measures.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::Args;
use npsim::problem::Problem;
use npsim::project::Setting;
use npsim::project::atomic_file::write_atomically;
use npsim_lab::campaign::Campaign;
use npsim_lab::class::RowClass;
use npsim_lab::document::document;
use npsim_lab::grid::grids;
use npsim_lab::places::SearchPath;
use npsim_lab::points::{Point, points};
use npsim_lab::tables::reproduced;
use npsim_lab::verdict::Comparison;
use npsim_lab::{output as files, profiles, selection, studies, verdict};
use npsim_session::text_table::TextTable;
use serde::Serialize;

use super::format::{self, Format};
use super::interrupt::interrupt_flag;
use super::lab_options::{
    LabOptions, report_equal_runs, report_faults, report_gaps, report_unsettled, tally,
};
use super::part_options::{PartOptions, PointsOutcome};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim reproduce                       the studies there are
  npsim reproduce baseline --quick      a quick run of one
  npsim reproduce baseline H-20 H-30    two of its values, with the points they need
  npsim reproduce hauger figure-5       the values that belong to a figure
  npsim reproduce hauger --list         its ids, figures, tables and sweeps
  npsim reproduce baseline --set profile.sram.read=180   on a chip with another SRAM
  npsim reproduce hauger H-26 --system microcode/xcp/lock.toml=microcode/xcp/lock-c.toml
                                        a row with another system in the place of its own
  npsim reproduce baseline --export my   a copy of its file to change
  npsim reproduce baseline --out results --format json
  npsim reproduce my/study.toml         a study of your own
  npsim reproduce zhang --out r --shard 2/8   the second of eight parts, as one job of a cluster
  npsim reproduce zhang --script slurm  a script that runs all parts on Slurm

An interrupted study resumes where it was when it is started again; only points
whose inputs changed are run anew.

Exit codes: 0 it ran, whatever it found; 1 a mistake in what was given, or with
--strict a value that was not reproduced; 130 ended by Ctrl-C.";

/// Run a study and compare what it measures with what was published
///
/// A study defines which systems run under which loads, what is measured, and what
/// was published about it (`npsim docs experiments`). Systems are searched for from
/// the current folder upwards, so run it in the folder with `microcode/`.
///
/// The results folder gets `index.html`, `results.json`, `rows.csv`, `points.csv`,
/// `tables/` and `figures/`. They cover the whole study: with IDS, they are written
/// only if its other points were run before. `parts/IDS/` has the page, figures and
/// CSV files of those ids alone.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of a study, or a study's file; omit it to list the studies
    study: Option<String>,
    /// Ids of published values, or names of figures, tables or sweeps to select theirs; all by default
    ids: Vec<String>,
    /// Print the ids, figures, tables and sweeps of the study (in JSON also its points), and run nothing
    #[arg(long, requires = "study", conflicts_with_all = ["export", "point", "shard", "merge", "script"])]
    list: bool,
    /// Set a key of the study's systems or networks, such as `profile.sram.read=180`; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "study", value_parser = setting)]
    set: Vec<(String, String)>,
    /// Run the system OTHER in place of the study's system OWN; may be repeated
    #[arg(long, value_name = "OWN=OTHER", requires = "study", value_parser = systems)]
    system: Vec<(String, String)>,
    /// Write the study's file into DIR, to edit and run as `npsim reproduce DIR/study.toml`
    #[arg(long, value_name = "DIR", requires = "study", conflicts_with_all = ["ids", "set", "system"])]
    export: Option<PathBuf>,
    #[command(flatten)]
    part: PartOptions,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Exit with code 1 if a value was not reproduced
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    lab: LabOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Some(name) = &arguments.study else {
        return list(arguments.format);
    };
    if let Some(folder) = &arguments.export {
        return export(name, folder);
    }
    let mut study = studies::find(name)?;
    study.overrides.clone_from(&arguments.set);
    study.replace_systems(&arguments.system)?;
    let wanted = selection::select(&study, &arguments.ids)?;
    let quick = arguments.lab.quick;
    let all = points(&study, quick)?;
    let part = !arguments.ids.is_empty();
    let mut points = all.clone();
    if part {
        points.retain(|point| {
            wanted
                .iter()
                .any(|row| selection::needs(&study, row, point))
        });
    }
    let file = studies::is_file_name(name).then(|| Path::new(name));
    let places = SearchPath::new(file, arguments.lab.root.as_deref());
    let folder = arguments.lab.results_of(&study);
    let campaign = arguments.lab.campaign(&study, &places, &folder);
    if arguments.list {
        return list_parts(&campaign, points, arguments);
    }
    let stop = interrupt_flag();
    let shown = (&arguments.lab, arguments.format);
    let ran = arguments.part.run(&campaign, points, shown, &stop)?;
    let results = match ran {
        PointsOutcome::Whole(results) => results,
        PointsOutcome::Done(code) => return Ok(code),
    };
    let mut rows = verdict::rows(&study, &results, &wanted);
    rows.push(profiles::row(&study, &results));
    let of_part = part.then(|| {
        folder
            .join("parts")
            .join(arguments.ids.join("+").replace('/', "_"))
    });
    let page = files::write(
        of_part.as_ref().unwrap_or(&folder),
        &study,
        &results,
        &rows,
        quick,
    )?;
    let whole = if part {
        whole_page(&campaign, all, &stop)?
    } else {
        None
    };
    match arguments.format {
        Format::Json => {
            let document = document(&study, &results, &rows, quick);
            format::json(&document)?;
        }
        Format::Text => {
            let mut title = study.title.clone();
            for change in study.changes() {
                title = format!("{title}, with {change}");
            }
            let mut parts = vec![title, arguments.lab.comparison(&rows)];
            if !part {
                parts.extend(
                    grids(&study, &results)
                        .iter()
                        .map(|grid| grid.terminal(output::width())),
                );
            }
            parts.push(reproduced(&rows));
            output::print_text(&(parts.join("\n\n") + "\n"))?;
        }
    }
    report_faults(&results);
    report_unsettled(&results);
    let curves = part.then(|| selection::curves_behind(&study, &wanted));
    report_gaps(&study, &results, curves.as_ref());
    report_equal_runs(&study, &results);
    let tally = tally(&results);
    output::line(&match whole {
        _ if !part => format!("{tally}; see {}", page.display()),
        Some(whole) => format!("{tally}; see {} and {}", page.display(), whole.display()),
        None => format!(
            "{tally}; see {}; {} stays as it is until the whole study was run",
            page.display(),
            folder.display()
        ),
    });
    let counts = |row: &&Comparison| row.class != RowClass::Arithmetic;
    let missed = |row: &Comparison| !row.verdict.is_hit() || row.class == RowClass::Other;
    let missed = rows.iter().filter(counts).any(missed);
    if arguments.strict && missed {
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// Parses the value of `--set`.
fn setting(text: &str) -> Result<(String, String), String> {
    let setting: Setting = text.parse()?;
    let text = setting.to_string();
    let (key, value) = text.split_once('=').unwrap_or((&text, ""));
    Ok((key.to_owned(), value.to_owned()))
}

/// Parses the value of `--system`.
fn systems(text: &str) -> Result<(String, String), String> {
    let pair = text
        .split_once('=')
        .filter(|(own, other)| !own.is_empty() && !other.is_empty());
    let (own, other) =
        pair.ok_or("expected OWN=OTHER: a system of the study, and the one to run in its place")?;
    Ok((own.to_owned(), other.to_owned()))
}

/// Writes the file of a study into a folder, for the user to change.
fn export(name: &str, folder: &Path) -> anyhow::Result<ExitCode> {
    let text = studies::text(name)?;
    let path = folder.join("study.toml");
    if path.exists() {
        let problem = Problem::new(format!("`{}` already exists", path.display()));
        return Err(problem
            .help("give another folder, or remove the file")
            .into());
    }
    std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
    write_atomically(&path, text.as_bytes())
        .map_err(|error| Problem::io("write", &path, &error))?;
    output::line(&format!(
        "{0}: give it a `name` of its own and run `npsim reproduce {0}`; its systems are found below \
         the current folder, those above it, or `--root`",
        path.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// A selectable part of a study, as JSON.
#[derive(Serialize)]
struct ListedPart {
    name: String,
    kind: &'static str,
    what: String,
}

/// Lists the parts of a study: published values, figures, tables and sweeps; as JSON also the points
/// of the selected values.
fn list_parts(
    campaign: &Campaign,
    points: Vec<Point>,
    arguments: &Arguments,
) -> anyhow::Result<ExitCode> {
    let (study, format) = (campaign.study, arguments.format);
    arguments.part.check_list(format)?;
    let part = |name: &str, kind, what: &str| ListedPart {
        name: name.to_owned(),
        kind,
        what: what.to_owned(),
    };
    let values = { study.published.iter() }.map(|row| part(&row.id, "value", &row.what));
    let figures = { study.figure.iter() }.map(|it| part(&it.name, "figure", &it.title));
    let tables = { study.table.iter() }.map(|it| part(&it.name, "table", &it.title));
    let sweeps = { study.sweep.iter() }
        .map(|(name, sweep)| part(name, "sweep", sweep.title.as_deref().unwrap_or(name)));
    let parts: Vec<_> = values.chain(figures).chain(tables).chain(sweeps).collect();
    let cached = match format {
        Format::Json => campaign.cached(points)?,
        Format::Text => Vec::new(),
    };
    let points = arguments.part.listed(&cached);
    format.print(
        &serde_json::json!({ "parts": parts, "points": points }),
        || {
            let mut table = TextTable::with_numbers(&["name", "kind", "what"], 0..0);
            for ListedPart { name, kind, what } in &parts {
                table.add_row([name.as_str(), kind, what.as_str()]);
            }
            table.fitted(output::width()) + "\n"
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A study, as JSON.
#[derive(Serialize)]
struct ListedStudy {
    name: String,
    title: String,
    /// The number of published values.
    published: usize,
}

/// Lists the available studies.
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

/// Writes the page of the whole study after a part of it was run, from saved points. `None` if some
/// are not saved, or if the folder has the results of a quick run and this was none, or vice versa:
/// they would be lost.
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
    let mut rows = verdict::rows(study, &results, &selection::select(study, &[])?);
    rows.push(profiles::row(study, &results));
    let page = files::write(folder, study, &results, &rows, campaign.quick)?;
    Ok(Some(page))
}
