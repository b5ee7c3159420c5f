//! `npsim man`: shows manual pages.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{self, ExitCode, Stdio};

use clap::{Args, Command};
use npsim::problem::Problem;
use npsim_asm::spelling::closest;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim man run                            the page of `npsim run`
  npsim man trace order                    that of a subcommand of a subcommand
  npsim man ~/.local/share/man/man1        writes all of them, then `man npsim-run`";

/// Show the manual page of a command, or write those of all
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A command, or a folder for the pages of all commands, created if it does not exist
    ///
    /// Write `./NAME` for a folder that has the name of a command.
    #[arg(required = true, value_name = "COMMAND|DIR")]
    topic: Vec<String>,
}

/// Shows a page of `command`, which is the whole of `npsim`, or writes all pages.
pub fn run(arguments: &Arguments, mut command: Command) -> anyhow::Result<ExitCode> {
    command.build();
    if let Some(found) = subcommand(&command, &arguments.topic) {
        show(found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let [folder] = arguments.topic.as_slice() else {
        let name = arguments.topic.join(" ");
        return Err(Problem::new(format!("there is no command `npsim {name}`"))
            .help("`npsim --help` lists them; `npsim man DIR` writes the pages of all")
            .into());
    };
    let near = closest(folder, command.get_subcommands().map(Command::get_name));
    if let Some(near) = near.filter(|_| !folder.contains('/') && !Path::new(folder).exists()) {
        return Err(
            Problem::new(format!("there is no command `npsim {folder}`"))
                .help(format!(
                    "did you mean `npsim man {near}`? A folder of that name is `./{folder}`"
                ))
                .into(),
        );
    }
    if folder == "-" {
        return Err(
            Problem::new("the output is a folder, which standard output cannot be")
                .help("`npsim man run` shows the page of `npsim run`")
                .into(),
        );
    }
    write_all(command, Path::new(folder))?;
    Ok(ExitCode::SUCCESS)
}

/// The subcommand with these words as its path.
fn subcommand<'a>(command: &'a Command, words: &[String]) -> Option<&'a Command> {
    words
        .iter()
        .try_fold(command, |command, word| command.find_subcommand(word))
}

/// Shows a page with `man` on a terminal, if that program is available, and as plain text
/// otherwise.
fn show(command: &Command) -> anyhow::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    if std::io::stdout().is_terminal() {
        let reader = process::Command::new("man")
            .args(["-l", "-"])
            .stdin(Stdio::piped())
            .spawn();
        if let Ok(mut reader) = reader {
            if let Some(mut input) = reader.stdin.take() {
                let mut bytes = Vec::new();
                page.render(&mut bytes)?;
                // The reader may be quit before it has read everything.
                let _ = input.write_all(&bytes);
            }
            if reader.wait()?.success() {
                return Ok(());
            }
        }
    }
    output::print(&command.clone().render_long_help().to_string())
}

fn write_all(command: Command, folder: &Path) -> Result<(), Problem> {
    std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
    clap_mangen::generate_to(command, folder).map_err(|error| Problem::io("write", folder, &error))
}
