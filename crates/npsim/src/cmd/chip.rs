//! `npsim chip`: the numbers behind a chip.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use npsim_chip::profile::Profile;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim chip                the chips there are
  npsim chip ixp2400        every number of one, and where it comes from";

/// List the chips, or show the numbers of one with their sources
///
/// A number is `source` (read in a primary source), `likely` (two weak sources
/// agree), `derived` (computed from others), `calibrated` (fitted to one published
/// figure) or `assumed`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The chip
    name: Option<String>,
    /// Also print where each number comes from
    #[arg(long, requires = "name")]
    sources: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Some(name) = &arguments.name else {
        let mut text = String::new();
        for name in Profile::names() {
            writeln!(
                text,
                "{name}  {}",
                npsim::project::profile(name, None)?.title()
            )?;
        }
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    let profile = npsim::project::profile(name, None)?;
    let mut text = format!("{}: {}\n\n", profile.name(), profile.title());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["parameter", "value", "unit", "mark", "meaning"]);
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for parameter in profile.parameters() {
        table.add_row([
            format!("{}.{}", parameter.group, parameter.name),
            parameter.value.to_string(),
            parameter.unit.to_string(),
            parameter.foundation.to_string(),
            parameter.meaning.trim().to_string(),
        ]);
    }
    for line in table.to_string().lines() {
        writeln!(text, "{}", line.trim_end())?;
    }
    let counts: Vec<_> = profile
        .foundations()
        .iter()
        .map(|(foundation, count)| format!("{count} {foundation}"))
        .collect();
    writeln!(
        text,
        "\n{} parameters: {}",
        profile.parameters().count(),
        counts.join(", ")
    )?;
    if arguments.sources {
        writeln!(text)?;
        for parameter in profile.parameters() {
            writeln!(
                text,
                "{}.{} [{}]: {}",
                parameter.group, parameter.name, parameter.foundation, parameter.basis
            )?;
        }
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
