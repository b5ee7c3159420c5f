//! Options of the commands that assemble: the format of messages, and the treatment of warnings.

use clap::Args;
use npsim::assemble::{Messages, Program, assemble_project_from};
use npsim::diagnostics::render_problem;
use npsim::files::Disk;
use npsim::messages::DiagnosticMessage;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim_asm::spelling::closest;
use npsim_asm::{LintLevel, codes};

use super::format::Format;
use super::source_options::show;
use crate::output;

/// `--message-format`, `--warn`, `--allow-warning`, `--deny-warning`.
#[derive(Clone, Debug, Args)]
pub struct MessageOptions {
    /// How messages are written to standard error; `json` is one object per line
    /// (`npsim docs messages`)
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    message_format: Format,
    /// Keep this a warning despite `--deny-warning all`; may be repeated
    #[arg(long, value_name = "NAME", value_parser = code)]
    warn: Vec<String>,
    /// Suppress this warning (`npsim codes` lists warnings); may be repeated
    #[arg(long, value_name = "NAME", value_parser = code)]
    allow_warning: Vec<String>,
    /// Treat this warning as an error; `all` for every warning that no option names; may be repeated
    #[arg(long, value_name = "NAME", value_parser = code_or_all)]
    deny_warning: Vec<String>,
}

impl MessageOptions {
    /// Whether messages are printed as JSON.
    pub fn json(&self) -> bool {
        self.message_format.is_json() || output::messages_as_json()
    }

    /// Takes over the message format of `other`.
    pub fn take_format(&mut self, other: &Self) {
        self.message_format = other.message_format;
    }

    /// The treatment of warnings. Options that name a warning override `--deny-warning all`; of
    /// several that name the same one, the strictest wins.
    pub fn lints(&self) -> Vec<(String, LintLevel)> {
        let (all, named): (Vec<_>, Vec<_>) =
            self.deny_warning.iter().partition(|name| *name == "all");
        let level = |names: Vec<&String>, level| {
            let pair = move |name: &String| (name.clone(), level);
            names.into_iter().map(pair).collect::<Vec<_>>()
        };
        // The last entry for a warning wins.
        [
            level(all, LintLevel::Deny),
            level(self.allow_warning.iter().collect(), LintLevel::Allow),
            level(self.warn.iter().collect(), LintLevel::Warn),
            level(named, LintLevel::Deny),
        ]
        .concat()
    }

    /// Assembles the programs of a project to run, and shows the assembler's messages; `None` if
    /// there were errors.
    ///
    /// # Errors
    /// Returns an error if there is no instruction.
    pub fn programs(&self, project: &Project) -> Result<Option<Vec<Program>>, Problem> {
        let (programs, messages) = assemble_project_from(&Disk, project, &self.lints());
        self.show(&messages);
        if programs.is_none() && messages.errors == 0 {
            return Err(
                Problem::new("there is nothing to run: no instruction was assembled")
                    .help("run a program that includes the macros"),
            );
        }
        Ok(programs)
    }

    /// Shows the assembler's messages in the selected format.
    pub fn show(&self, messages: &Messages) {
        if self.json() {
            for message in &messages.items {
                output::record(&message.to_json());
            }
        } else {
            show(messages);
        }
    }
}

/// Writes an error outside of sources as JSON.
pub fn problem_as_json(problem: &Problem) {
    let rendered = render_problem(problem);
    output::record(&DiagnosticMessage::of_problem(problem, &rendered).to_json());
}

fn code(name: &str) -> Result<String, String> {
    if codes::explain(name).is_some() {
        return Ok(name.to_owned());
    }
    let near = closest(name, codes::all().iter().map(|code| code.name));
    Err(near.map_or_else(
        || "there is no message of this name; `npsim codes` lists them".to_owned(),
        |near| format!("there is no message of this name; did you mean `{near}`?"),
    ))
}

fn code_or_all(name: &str) -> Result<String, String> {
    if name == "all" {
        return Ok(name.to_owned());
    }
    code(name)
}
