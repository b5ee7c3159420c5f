//! Writes the results of a study into its folder: tables, figures and one page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use npsim_project::atomic_file::write_atomically;
use npsim_project::problem::Problem;
use serde::Serialize;

use crate::class::RowClass;
use crate::document::{MetricInfo, about, document};
use crate::drawing::{draw, figures};
use crate::format::{shown_class, shown_difference, shown_estimate, shown_figure, shown_measured};
use crate::grid::{Grid, grids};
use crate::profiles;
use crate::replicates::{equal_runs, estimate, replicates, single_runs};
use crate::results::Results;
use crate::study::{ChosenConstant, ModelChoice, Study, SubjectKind};
use crate::tables::{means_csv, points_csv, reproduced, rows_csv};
use crate::verdict::{Comparison, Verdict};

const PAGE: &str = include_str!("page.html");

#[derive(Serialize)]
struct DrawnFigure {
    name: String,
    title: String,
    svg: String,
}

/// The data of the page template.
#[derive(Serialize)]
struct PageContent<'a> {
    name: &'a str,
    title: &'a str,
    about: Vec<&'a str>,
    quick: bool,
    version: &'static str,
    warm_up: Option<&'a String>,
    measure: Option<&'a String>,
    reproduced: String,
    /// The ids of the selected published values, if not all are selected.
    part: Option<String>,
    /// Settings that override the study's.
    overrides: Vec<String>,
    points: usize,
    chosen: Vec<ChosenConstant<'a>>,
    profile: String,
    one_profile: bool,
    grids: Vec<PageGrid>,
    rows: Vec<PageRow<'a>>,
    figures: &'a [DrawnFigure],
    sweeps: Vec<PageSweep>,
    /// Whether points have several runs.
    has_runs: bool,
    /// Notes on points whose runs are all equal.
    equal_runs: Vec<String>,
    metrics: Vec<MetricInfo>,
}

#[derive(Serialize)]
struct PageRow<'a> {
    id: &'a str,
    what: &'a str,
    unit: &'a str,
    published: String,
    stated: Option<&'a str>,
    measured: String,
    difference: String,
    tolerance: &'a str,
    verdict: &'static str,
    hit: bool,
    class: String,
    is_counted: bool,
    evidence: &'static str,
    source: &'a str,
}

#[derive(Serialize)]
struct PageGrid {
    #[serde(flatten)]
    grid: Grid,
    /// The class of each cell, row by row.
    classes: Vec<Vec<&'static str>>,
}

#[derive(Serialize)]
struct PageSweep {
    title: String,
    system: String,
    settings: Vec<String>,
    single_runs: Option<String>,
    axes: Vec<String>,
    metrics: Vec<String>,
    points: Vec<Vec<String>>,
}

/// Writes `results.json`, `rows.csv` (if there are published values), `points.csv`,
/// `means.csv`, `tables/*.csv`, `tables/*.md`, `figures/*.svg` and `index.html`; returns the
/// page's path.
///
/// # Errors
/// Returns an error if a file cannot be written or a figure cannot be drawn.
pub fn write(
    folder: &Path,
    study: &Study,
    results: &Results,
    rows: &[Comparison],
    quick: bool,
) -> Result<PathBuf, Problem> {
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        write_atomically(&path, text.as_bytes())
            .map_err(|error| Problem::io("write", &path, &error))
    };
    std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
    let json = serde_json::to_string_pretty(&document(study, results, rows, quick))
        .map_err(|error| Problem::new(error.to_string()))?;
    put("results.json", &(json + "\n"))?;
    if !rows.is_empty() {
        put("rows.csv", &rows_csv(rows))?;
    }
    put("points.csv", &points_csv(study, results))?;
    put("means.csv", &means_csv(study, results))?;
    let grids = shown_grids(study, results, rows);
    if !grids.is_empty() {
        let path = folder.join("tables");
        std::fs::create_dir_all(&path).map_err(|error| Problem::io("make", &path, &error))?;
    }
    for grid in &grids {
        put(&format!("tables/{}.csv", grid.name), &grid.csv())?;
        put(&format!("tables/{}.md", grid.name), &grid.markdown())?;
    }
    let drawn = drawings(study, results);
    if !drawn.is_empty() {
        let path = folder.join("figures");
        std::fs::create_dir_all(&path).map_err(|error| Problem::io("make", &path, &error))?;
    }
    for figure in &drawn {
        put(&format!("figures/{}.svg", figure.name), &figure.svg)?;
    }
    put("index.html", &page(study, results, rows, quick, &drawn)?)?;
    Ok(folder.join("index.html"))
}

/// Whether the results in a folder are those of a quick run; `None` if there are none.
#[must_use]
pub fn is_quick(folder: &Path) -> Option<bool> {
    #[derive(serde::Deserialize)]
    struct WrittenFile {
        quick: bool,
    }
    let text = std::fs::read_to_string(folder.join("results.json")).ok()?;
    let written: WrittenFile = serde_json::from_str(&text).ok()?;
    Some(written.quick)
}

/// Whether only some of the published values were evaluated.
fn is_part(study: &Study, rows: &[Comparison]) -> bool {
    let published = rows.iter().filter(|row| !row.own_check).count();
    published < study.published.len()
}

/// The tables to show: all of them, or for a part of a study only those with a measured cell.
fn shown_grids(study: &Study, results: &Results, rows: &[Comparison]) -> Vec<Grid> {
    let mut grids = grids(study, results);
    if is_part(study, rows) {
        let is_measured = |grid: &Grid| {
            let mut cells = grid.rows.iter().flat_map(|row| &row.cells);
            cells.any(|cell| cell.measured.is_some())
        };
        grids.retain(is_measured);
    }
    grids
}

fn drawings(study: &Study, results: &Results) -> Vec<DrawnFigure> {
    let mut drawn = Vec::new();
    for figure in figures(study) {
        let svg = draw(study, results, &figure);
        if let Some(svg) = svg {
            drawn.push(DrawnFigure {
                name: figure.name,
                title: figure.title,
                svg,
            });
        }
    }
    drawn
}

fn page(
    study: &Study,
    results: &Results,
    rows: &[Comparison],
    quick: bool,
    figures: &[DrawnFigure],
) -> Result<String, Problem> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let counted = reproduced(rows);
    let part = is_part(study, rows).then(|| {
        let ids: BTreeSet<&str> = { rows.iter().filter(|row| !row.own_check) }
            .map(|row| row.id.as_str())
            .collect();
        ids.into_iter().collect::<Vec<_>>().join(", ")
    });
    let all = rows;
    let rows: Vec<PageRow<'_>> = rows
        .iter()
        .map(|row| PageRow {
            id: &row.id,
            what: &row.what,
            unit: &row.unit,
            published: shown_figure(&row.published),
            stated: row
                .stated
                .as_deref()
                .filter(|_| !row.verdict.name().starts_with("shape")),
            measured: match &row.measured {
                Some(_) => shown_measured(row),
                None => row.why.clone().unwrap_or_default(),
            },
            difference: shown_difference(row),
            tolerance: row.tolerance.as_deref().unwrap_or_default(),
            verdict: row.verdict.name(),
            hit: row.verdict.is_hit(),
            class: shown_class(row),
            is_counted: row.class != RowClass::Arithmetic,
            evidence: row.evidence.name(),
            source: &row.source,
        })
        .collect();
    let sweeps: Vec<PageSweep> = study
        .sweep
        .iter()
        .filter_map(|(name, sweep)| page_sweep(study, results, name, sweep))
        .collect();
    let windows = study.quick.as_ref().filter(|_| quick);
    let warm_up = windows
        .and_then(|w| w.warm_up.as_ref())
        .or(study.window.warm_up.as_ref());
    let measure = windows
        .and_then(|w| w.measure.as_ref())
        .or(study.window.measure.as_ref());
    let about_paragraphs: Vec<_> = study
        .about
        .split("\n\n")
        .map(str::trim)
        .filter(|p| !p.is_empty())
        .collect();
    let used = profiles::used(study, results);
    let grids = shown_grids(study, results, all).into_iter();
    let grids = grids.map(page_grid).collect();
    let page = PageContent {
        name: &study.name,
        title: &study.title,
        about: about_paragraphs,
        quick,
        version: env!("CARGO_PKG_VERSION"),
        warm_up,
        measure,
        reproduced: counted,
        part,
        overrides: study.changes().collect(),
        points: results.points.len(),
        chosen: study.chosen.iter().map(ModelChoice::shown).collect(),
        profile: profiles::shown(&used),
        one_profile: profiles::is_single_profile(&used),
        grids,
        rows,
        figures,
        sweeps,
        has_runs: results.points.iter().any(|cached| cached.point.run > 0),
        equal_runs: equal_runs(study, results),
        metrics: about(study),
    };
    environment
        .render_str(PAGE, Serde(page))
        .map_err(|error| Problem::new(format!("the page cannot be made: {error}")))
}

fn page_grid(grid: Grid) -> PageGrid {
    let class = |verdict: Option<Verdict>| match verdict {
        None => "",
        Some(verdict) if verdict.is_hit() => "hit",
        Some(_) => "miss",
    };
    let rows = grid.rows.iter();
    let classes = rows.map(|row| row.cells.iter().map(|cell| class(cell.verdict)).collect());
    PageGrid {
        classes: classes.collect(),
        grid,
    }
}

fn page_sweep(
    study: &Study,
    results: &Results,
    name: &str,
    sweep: &crate::study::Sweep,
) -> Option<PageSweep> {
    let metrics = study.metrics_of(sweep);
    let mine = replicates(results, name);
    let has_runs = mine.iter().any(|runs| runs.len() > 1);
    let points: Vec<Vec<String>> = { mine.iter() }
        .filter_map(|runs| {
            let places = runs.first()?.point.coordinates.iter();
            let values = metrics.keys().map(|metric| {
                estimate(results, runs, metric).map_or_else(|why| why, |it| shown_estimate(&it))
            });
            let places = places.map(|place| place.label.clone());
            let runs = has_runs.then(|| runs.len().to_string());
            Some(places.chain(runs).chain(values).collect())
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    Some(PageSweep {
        title: sweep.title.clone().unwrap_or_else(|| name.to_owned()),
        system: match sweep.kind() {
            SubjectKind::Chip => sweep.system.clone(),
            SubjectKind::PetriNet => "the Petri net of a router".to_owned(),
            SubjectKind::Fluid => "the fluid model of XCP".to_owned(),
            SubjectKind::Network => sweep.network.clone(),
        },
        settings: sweep
            .set
            .iter()
            .map(|(path, value)| format!("{path} = {}", value.text()))
            .collect(),
        single_runs: single_runs(study, results, name),
        axes: { sweep.axis.iter() }
            .map(crate::study::Axis::shown)
            .chain(has_runs.then(|| "runs".to_owned()))
            .collect(),
        metrics: metrics
            .values()
            .map(|metric| match metric.unit() {
                "" => metric.shown(),
                unit => format!("{} [{unit}]", metric.shown()),
            })
            .collect(),
        points,
    })
}
