//! Where outputs go: to files, whose places are tried before anything runs, or with `-` to
//! standard output, which one of them may have.

use std::io::{self, IsTerminal};
use std::path::Path;

use clap::CommandFactory;
use clap::error::ErrorKind;
use npsim::problem::Problem;
use npsim::whole_file::{is_standard_output, try_place};

use crate::{output, usage};

/// What an option writes.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// The option, with its dashes.
    pub option: &'static str,
    /// Its file, or `-`.
    pub path: &'a Path,
    /// Whether it is nothing that a terminal can show.
    pub binary: bool,
}

impl<'a> Output<'a> {
    /// An output that people and terminals can read; compressed if its name says so.
    pub fn text(option: &'static str, path: &'a Path) -> Self {
        let binary = path.extension().is_some_and(|it| it == "gz");
        Self {
            option,
            path,
            binary,
        }
    }

    /// An output for programs alone.
    pub fn binary(option: &'static str, path: &'a Path) -> Self {
        Self {
            option,
            path,
            binary: true,
        }
    }
}

/// Gives standard output to the one that asks for it; what people read goes to standard error
/// then. That two of them ask for it is a usage error of `subcommand`, which ends the process.
///
/// # Errors
/// What is to be written means nothing to a terminal.
pub fn claim(subcommand: &[&str], outputs: &[Output<'_>]) -> Result<(), Problem> {
    let mut asking = outputs.iter().filter(|it| is_standard_output(it.path));
    let Some(first) = asking.next() else {
        return Ok(());
    };
    if let Some(second) = asking.next() {
        let message = if first.option == second.option {
            format!("{} asks for standard output twice", first.option)
        } else {
            format!(
                "{} and {} both ask for standard output",
                first.option, second.option
            )
        };
        usage_error(subcommand, &message);
    }
    if first.binary && io::stdout().is_terminal() {
        return Err(Problem::new(format!(
            "{} writes a binary format, which a terminal cannot show",
            first.option
        ))
        .help("name a file, or send standard output to another program or a file"));
    }
    output::give_to_data();
    Ok(())
}

/// Ends the process as wrong usage of a subcommand.
fn usage_error(subcommand: &[&str], message: &str) -> ! {
    let mut command = crate::arguments::Arguments::command();
    command.build();
    let mut names = subcommand.iter();
    let found = names.try_fold(&command, |command, name| command.find_subcommand(name));
    let mut found = found.unwrap_or(&command).clone();
    usage::end(&found.error(ErrorKind::ArgumentConflict, message))
}

/// Finds out now whether what is written at the end can be written, so that nothing is lost then.
///
/// # Errors
/// A file cannot be made there.
pub fn try_places<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Problem> {
    for path in paths {
        if !is_standard_output(path) {
            try_place(path).map_err(|error| Problem::io("write", path, &error))?;
        }
    }
    Ok(())
}
