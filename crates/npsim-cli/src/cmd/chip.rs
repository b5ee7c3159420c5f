//! `npsim chip`: shows the parameters of a chip and a board.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use npsim::measure::{bandwidth, latency};
use npsim::problem::Problem;
use npsim::project;
use npsim_engine::ENGINE;
use npsim_profile::{Board, Parameter, ParameterValue, Profile, Schema};
use npsim_session::text_table::TextTable;
use serde::Serialize;

use super::format::{self, Format};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim chip                the chips and boards there are
  npsim chip ixp2400        every number of a chip, on its plain board
  npsim chip enp-2611       what a board adds: memories, media clock, ports
  npsim chip enp-2611 --sources
                            and where each number comes from
  npsim chip ixp2400 --latencies
                            what operations take on the idle chip, measured by microcode
  npsim chip ixp2400 --bandwidths --format json
                            what memories and buses carry at most, measured by microcode";

/// List the chips and boards, or show the numbers of one with their sources
///
/// A number is `source` (read in a primary source), `likely` (two weak sources
/// agree), `derived` (computed from others), `calibrated` (fitted to one published
/// figure) or `assumed`. The fingerprint is a hash of all numbers of chip and board;
/// runs write it to their stats file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A chip or a board
    name: Option<String>,
    /// Also print where each number comes from
    #[arg(long, requires = "name")]
    sources: bool,
    /// Run microcode that times each kind of operation on the idle chip, and
    /// compare with the target latencies
    #[arg(long, requires = "name", conflicts_with_all = ["sources", "bandwidths"])]
    latencies: bool,
    /// Run microcode that saturates each memory and bus, and compare with its
    /// peak bandwidth
    #[arg(long, requires = "name", conflicts_with = "sources")]
    bandwidths: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let format = arguments.format;
    let Some(name) = &arguments.name else {
        let list = ChipList::new()?;
        format.print(&list, || list.text())?;
        return Ok(ExitCode::SUCCESS);
    };
    let profile = if Profile::names().any(|known| known == name) {
        project::profile(name, None)?
    } else if Board::names().any(|known| known == name) {
        project::board(name)?
    } else {
        return Err(unknown(name).into());
    };
    if arguments.latencies {
        let measured = latency::measure(ENGINE, &profile)?;
        format.print(&measured, || measured.table(output::width()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.bandwidths {
        let measured = bandwidth::measure(ENGINE, &profile)?;
        format.print(&measured, || measured.table(output::width()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if format.is_json() {
        format::json(&ChipNumbers::of(&profile, name))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = if profile.name() == name {
        chip(&profile, arguments.sources)?
    } else {
        board(&profile, arguments.sources)?
    };
    output::print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str) -> Problem {
    let (chips, boards): (Vec<_>, Vec<_>) = (Profile::names().collect(), Board::names().collect());
    Problem::new(format!("there is no chip or board `{name}`"))
        .note(format!("the chips are {}", chips.join(", ")))
        .note(format!("the boards are {}", boards.join(", ")))
        .suggest(name, chips.into_iter().chain(boards))
}

/// The available chips and boards.
#[derive(Serialize)]
struct ChipList {
    chips: Vec<NamedChip>,
    boards: Vec<NamedChip>,
}

/// A chip or a board.
#[derive(Serialize)]
struct NamedChip {
    name: &'static str,
    title: String,
}

impl ChipList {
    fn new() -> anyhow::Result<Self> {
        let chip = |name| {
            let title = project::profile(name, None)?.title().to_owned();
            anyhow::Ok(NamedChip { name, title })
        };
        let board = |name| {
            let title = project::board(name)?.board().title.clone();
            anyhow::Ok(NamedChip { name, title })
        };
        Ok(Self {
            chips: Profile::names().map(chip).collect::<Result<_, _>>()?,
            boards: Board::names().map(board).collect::<Result<_, _>>()?,
        })
    }

    fn text(&self) -> String {
        let part = |named: &[NamedChip]| {
            let mut table = TextTable::list();
            for it in named {
                table.add_row([format!("  {}", it.name), it.title.clone()]);
            }
            table.fitted(output::width())
        };
        let (chips, boards) = (part(&self.chips), part(&self.boards));
        format!("chips\n{chips}\n\nboards\n{boards}\n")
    }
}

/// The parameters of a chip on a board, as JSON.
#[derive(Serialize)]
struct ChipNumbers<'a> {
    name: &'a str,
    chip: &'a str,
    board: &'a str,
    title: &'a str,
    media: &'static str,
    fingerprint: String,
    parameters: Vec<ChipNumber<'a>>,
    ports: Vec<BoardPort<'a>>,
}

/// One parameter.
#[derive(Serialize)]
struct ChipNumber<'a> {
    name: String,
    value: ParameterValue,
    unit: String,
    provenance: String,
    meaning: &'a str,
    basis: &'a str,
}

/// A port on the board.
#[derive(Serialize)]
struct BoardPort<'a> {
    name: &'a str,
    bits_per_second: u64,
    provenance: String,
    basis: &'a str,
}

impl<'a> ChipNumbers<'a> {
    fn of(profile: &'a Profile, name: &'a str) -> Self {
        let board = profile.board();
        let title = if profile.name() == name {
            profile.title()
        } else {
            &board.title
        };
        Self {
            name,
            chip: profile.name(),
            board: &board.name,
            title,
            media: board.media.name(),
            fingerprint: profile.fingerprint().clone(),
            parameters: { profile.parameters() }
                .map(|it| ChipNumber {
                    name: format!("{}.{}", it.group, it.name),
                    value: it.value,
                    unit: it.unit.to_string(),
                    provenance: it.foundation.to_string(),
                    meaning: it.meaning.trim(),
                    basis: it.basis.trim(),
                })
                .collect(),
            ports: { board.ports.iter() }
                .map(|port| BoardPort {
                    name: &port.name,
                    bits_per_second: port.bits_per_second,
                    provenance: port.foundation.to_string(),
                    basis: &port.basis,
                })
                .collect(),
        }
    }
}

fn chip(profile: &Profile, sources: bool) -> anyhow::Result<String> {
    let mut text = format!("{}: {}\n\n", profile.name(), profile.title());
    let all: Vec<_> = profile.parameters().collect();
    table(&mut text, &all)?;
    counts(&mut text, profile)?;
    if sources {
        foundations(&mut text, &all)?;
    }
    Ok(text)
}

fn board(profile: &Profile, sources: bool) -> anyhow::Result<String> {
    let board = profile.board();
    let mut text = format!("{}: {}\n\n", board.name, board.title);
    let own: Vec<_> = profile
        .parameters()
        .filter(|p| Schema::of(p).is_some_and(Schema::is_board_parameter))
        .collect();
    table(&mut text, &own)?;
    writeln!(text, "\nmedia bus {}", board.media.name())?;
    if board.ports.is_empty() {
        writeln!(text, "ports     as the project says")?;
    }
    for (n, port) in board.ports.iter().enumerate() {
        let rate = npsim::quantity::show_rate(port.bits_per_second as f64);
        writeln!(
            text,
            "port {n}    {rate}  {}  {}",
            port.foundation, port.name
        )?;
    }
    let chip = profile.name();
    writeln!(
        text,
        "chip      {chip} (`npsim chip {chip}` prints its numbers)"
    )?;
    counts(&mut text, profile)?;
    if sources {
        foundations(&mut text, &own)?;
        for (n, port) in board.ports.iter().enumerate() {
            writeln!(text, "port {n} [{}]: {}", port.foundation, port.basis)?;
        }
    }
    Ok(text)
}

fn table(text: &mut String, parameters: &[&Parameter]) -> std::fmt::Result {
    let heads = ["parameter", "value", "unit", "provenance", "meaning"];
    let mut table = TextTable::with_numbers(&heads, 1..2);
    for parameter in parameters {
        table.add_row([
            format!("{}.{}", parameter.group, parameter.name),
            parameter.value.to_string(),
            parameter.unit.to_string(),
            parameter.foundation.to_string(),
            parameter.meaning.trim().to_string(),
        ]);
    }
    writeln!(text, "{}", table.fitted(output::width()))
}

/// The number of parameters from each kind of source, and the fingerprint of all of them.
fn counts(text: &mut String, profile: &Profile) -> std::fmt::Result {
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
    writeln!(
        text,
        "fingerprint of {} on {}: {}",
        profile.name(),
        profile.board().name,
        profile.fingerprint()
    )
}

fn foundations(text: &mut String, parameters: &[&Parameter]) -> std::fmt::Result {
    writeln!(text)?;
    for parameter in parameters {
        writeln!(
            text,
            "{}.{} [{}]: {}",
            parameter.group, parameter.name, parameter.foundation, parameter.basis
        )?;
    }
    Ok(())
}
