//! `npsim chip`: the numbers behind a chip.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use npsim::measure::{bandwidth, latency};
use npsim_chip::profile::Profile;
use serde::Serialize;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim chip                the chips there are
  npsim chip ixp2400        every number of one, and where it comes from
  npsim chip ixp2400 --latencies
                            what operations take on the idle chip, measured by microcode
  npsim chip ixp2400 --bandwidths --format json
                            what memories and buses carry at most, measured by microcode";

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
    /// Run microcode that times each kind of operation on the idle chip, and
    /// compare with the numbers it should meet
    #[arg(long, requires = "name", conflicts_with_all = ["sources", "bandwidths"])]
    latencies: bool,
    /// Run microcode that saturates each memory and bus, and compare with the
    /// most that it can carry
    #[arg(long, requires = "name", conflicts_with = "sources")]
    bandwidths: bool,
    /// How measurements are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// How measurements are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    Table,
    /// One JSON object
    Json,
}

impl Format {
    fn print<T: Serialize>(self, measured: &T, table: String) -> anyhow::Result<ExitCode> {
        let text = match self {
            Self::Table => table,
            Self::Json => serde_json::to_string_pretty(measured)? + "\n",
        };
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
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
    if arguments.latencies {
        let measured = latency::measure(&profile)?;
        return arguments.format.print(&measured, measured.table());
    }
    if arguments.bandwidths {
        let measured = bandwidth::measure(&profile)?;
        return arguments.format.print(&measured, measured.table());
    }
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
