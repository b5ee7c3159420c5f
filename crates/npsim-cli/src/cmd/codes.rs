//! `npsim codes`: explains the names of messages.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use npsim::diagnostics::render_diagnostic;
use npsim::problem::Problem;
use npsim_asm::{Includes, Options, assemble, codes};
use npsim_chip::kernel::check::Check;
use npsim_session::text_table::TextTable;
use serde::Serialize;

use super::format::{self, Format};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim codes                 all names
  npsim codes bank-conflict   one of them";

/// Explain the names of the assembler's messages, such as `bank-conflict`
///
/// For a name, print its meaning, an example that triggers it, and the assembler's
/// message about the example, with cause, place and remedy.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The name in brackets in a message
    name: Option<String>,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// A message, as JSON.
#[derive(Serialize)]
struct Explained<'a> {
    name: &'a str,
    explanation: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'a str>,
    /// The assembler's message about the example.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    if let Some(name) = &arguments.name {
        let Some(explanation) = codes::explain(name) else {
            let problem = Problem::new(format!("there is no message `{name}`"));
            if name.parse::<Check>().is_ok() {
                let help = format!("it is a check of a run: `npsim checks {name}` explains it");
                return Err(problem.help(help).into());
            }
            return Err(problem
                .help("`npsim codes` lists them")
                .suggest(name, codes::all().iter().map(|code| code.name))
                .into());
        };
        if arguments.format.is_json() {
            let example = codes::example(name);
            let said = example.and_then(|example| said(name, example));
            format::json(&Explained {
                name,
                explanation,
                example,
                said: said.map(|said| anstream::adapter::strip_str(&said).to_string()),
            })?;
            return Ok(ExitCode::SUCCESS);
        }
        writeln!(text, "{name}: {explanation}")?;
        if let Some(example) = codes::example(name) {
            text += &example_text(name, example);
        }
    } else if arguments.format.is_json() {
        let all = codes::all().iter().map(|code| Explained {
            name: code.name,
            explanation: code.explanation,
            example: None,
            said: None,
        });
        format::json(&all.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    } else {
        let mut table = TextTable::list();
        for code in codes::all() {
            table.add_row([code.name, code.explanation]);
        }
        text = table.fitted(output::width()) + "\n";
    }
    output::print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The file name of the example in messages.
const EXAMPLE: &str = "example.uc";

/// The example as the only source available; it may include itself.
struct LoneExample<'a>(&'a str);

impl Includes for LoneExample<'_> {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        if name == EXAMPLE {
            return Ok((name.to_owned(), self.0.to_owned()));
        }
        Err(format!("there is no `{name}` beside `{EXAMPLE}`"))
    }
}

/// The message that an example causes.
fn said(name: &str, example: &str) -> Option<String> {
    let options = Options {
        // The extra moves are only inserted, and reported, if this is set.
        spill_moves: name == codes::SPILL_MOVE,
        ..Options::default()
    };
    let assembly = assemble(EXAMPLE, &LoneExample(example), &options);
    let said = assembly.diagnostics.iter().find(|d| d.code == name)?;
    let text = render_diagnostic(said, &assembly.sources);
    Some(text.trim_end().to_owned())
}

/// An example, and the message that it causes.
fn example_text(name: &str, example: &str) -> String {
    let mut text = String::from("\nFor example:\n\n");
    for line in example.lines() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {line}");
    }
    if let Some(said) = said(name, example) {
        text += "\nThe assembler says:\n\n";
        text += &said;
        text += "\n";
    }
    text
}
