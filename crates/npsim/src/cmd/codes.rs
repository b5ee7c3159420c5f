//! `npsim codes`: what the names of messages mean.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim_asm::codes;
use npsim_asm::spelling::closest;
use npsim_chip::kernel::check::Check;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim codes                 all names
  npsim codes bank-conflict   one of them";

/// Explain the names of the assembler's messages, such as `bank-conflict`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The name in the brackets of a message
    name: Option<String>,
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
            let near = closest(name, codes::all().iter().map(|code| code.name));
            let help = near.map_or_else(
                || "`npsim codes` lists them".into(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(problem.help(help).into());
        };
        writeln!(text, "{name}: {explanation}")?;
    } else {
        for code in codes::all() {
            writeln!(text, "{:26} {}", code.name, code.explanation)?;
        }
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
