//! `npsim sensitivity`: finds the unmeasured parameters on which a comparison with published
//! figures depends.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use npsim_lab::places::SearchPath;
use npsim_lab::sensitivity::knobs::Knob;
use npsim_lab::sensitivity::{SensitivityOptions, SensitivityPlan};
use npsim_lab::studies;
use npsim_session::text_table::TextTable;
use serde::Serialize;

use super::format::{self, Format};
use super::interrupt::interrupt_flag;
use super::lab_options::{LabOptions, tally};
use super::part_options::{PartOptions, PointsOutcome};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim sensitivity baseline --list                what would be moved, and how many runs that takes
  npsim sensitivity baseline --quick               all of it with shorter windows and fewer points
  npsim sensitivity hauger H-23 H-35 --quick       two values, with the points that they need
  npsim sensitivity hauger H-35 --only LOCK_GAP,sram.read --samples 0
  npsim sensitivity zhang --script slurm           a script that runs it on Slurm, in parts

Runs are cached in DIR/points: an interrupted analysis resumes where it was, and a larger
one runs only the missing points.

Exit codes: 0 it ran, whatever it found; 1 a mistake in what was given; 130 ended by
Ctrl-C.";

/// Vary the numbers that a study's comparison depends on
///
/// Every constant chosen with published values in view and every assumed or calibrated
/// chip parameter is varied by 20 % down and up, or set to values that the study names, one
/// at a time; then all together, in random samples. The result gives for each published value
/// its range, what drives it, and whether it is still reproduced (`npsim docs sensitivity`).
///
/// The results folder gets `sensitivity.json`, `sensitivity.csv`, `sensitivity.md` and
/// `tornado.svg`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of a study, or a study's file
    study: String,
    /// Ids of published values; all by default
    ids: Vec<String>,
    /// Vary only these: constants, or parameters as `GROUP.NAME`, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Number of random samples with all varied together
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    samples: u16,
    /// Print what would be varied (in JSON also the points), and run nothing
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

/// The parameters that would be varied.
#[derive(Serialize)]
struct ListedKnobs<'a> {
    name: &'a str,
    value: &'a str,
    kind: &'a str,
    to: Vec<String>,
    what: &'a str,
}

impl<'a> ListedKnobs<'a> {
    fn of(knob: &'a Knob) -> Self {
        Self {
            name: &knob.name,
            value: &knob.value,
            kind: knob.kind,
            to: knob.moves().iter().map(|to| knob.moved(to)).collect(),
            what: &knob.what,
        }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let study = studies::find(&arguments.study)?;
    let file = studies::is_file_name(&arguments.study).then(|| Path::new(&arguments.study));
    let places = SearchPath::new(file, arguments.lab.root.as_deref());
    let folder = arguments
        .lab
        .results(&format!("{}-sensitivity", study.name));
    let campaign = arguments.lab.campaign(&study, &places, &folder);
    let question = SensitivityOptions {
        ids: arguments.ids.clone(),
        only: arguments.only.clone(),
        samples: usize::from(arguments.samples),
    };
    let plan = SensitivityPlan::new(&campaign, &question)?;
    if arguments.list {
        arguments.part.check_list(arguments.format)?;
        let cached = match arguments.format {
            Format::Json => campaign.cached(plan.points().to_vec())?,
            Format::Text => Vec::new(),
        };
        let points = arguments.part.listed(&cached);
        let listed: Vec<_> = plan.knobs().iter().map(ListedKnobs::of).collect();
        arguments.format.print(
            &serde_json::json!({ "runs": plan.runs(), "knobs": listed, "points": points }),
            || {
                let heads = ["what is moved", "value", "kind", "to", "meaning"];
                let mut table = TextTable::with_numbers(&heads, 1..2);
                for it in &listed {
                    let to = it.to.join(", ");
                    table.add_row([it.name, it.value, it.kind, &to, it.what]);
                }
                let table = table.fitted(output::width());
                format!("{table}\n\n{} runs\n", plan.runs())
            },
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = interrupt_flag();
    let points = plan.points().to_vec();
    let shown = (&arguments.lab, arguments.format);
    let ran = arguments.part.run(&campaign, points, shown, &stop)?;
    let results = match ran {
        PointsOutcome::Whole(results) => results,
        PointsOutcome::Done(code) => return Ok(code),
    };
    let report = plan.report(&campaign, &question, &results)?;
    let page = report.write(&folder)?;
    match arguments.format {
        Format::Json => format::json(&report)?,
        Format::Text => output::print_text(&format!("{}\n\n{}", report.title, report.markdown()))?,
    }
    for refused in &report.refused {
        output::line(&format!("note: not moved: {refused}"));
    }
    for fault in report.distinct_faults() {
        output::line(&format!("stopped: {fault}"));
    }
    output::line(&format!("{}; see {}", tally(&results), page.display()));
    Ok(ExitCode::SUCCESS)
}
