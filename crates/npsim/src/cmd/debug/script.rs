//! Commands from a file or from standard input, answered in plain text.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use npsim::problem::Problem;
use npsim_debug::console::{Sources, execute, stop_text};
use npsim_debug::{Complaint, Debugger, Reason, Stop};

use crate::output;

/// Before a command that is repeated in the output.
const PROMPT: &str = "> ";

/// Where the run stands at first.
fn greet(debugger: &Debugger<'_>, sources: Sources<'_>) -> anyhow::Result<()> {
    let stop = Stop {
        reason: Reason::Entry,
        thread: debugger.thread(),
        said: Vec::new(),
    };
    tell(&stop_text(debugger, &stop, sources))
}

fn tell(lines: &[String]) -> anyhow::Result<()> {
    let mut text = lines.join("\n");
    if !lines.is_empty() {
        text.push('\n');
    }
    output::print(&text)
}

fn problem(complaint: Complaint, place: &str) -> Problem {
    let problem = Problem::new(format!("{place}: {}", complaint.message));
    match complaint.help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Does the lines of a script; whether one of them ends the debugger.
fn script(
    debugger: &mut Debugger<'_>,
    sources: Sources<'_>,
    lines: impl Iterator<Item = io::Result<String>>,
    name: &str,
) -> anyhow::Result<bool> {
    greet(debugger, sources)?;
    for (number, line) in (1..).zip(lines) {
        let line = line?;
        let line = line.trim();
        if line.is_empty() || line.starts_with(';') {
            continue;
        }
        tell(&[format!("{PROMPT}{line}")])?;
        let place = format!("line {number} of {name}");
        let answer = execute(debugger, sources, line).map_err(|it| problem(it, &place))?;
        tell(&answer.lines)?;
        if answer.quits {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does the commands of a file; whether one of them ends the debugger.
pub fn file(
    debugger: &mut Debugger<'_>,
    sources: Sources<'_>,
    path: &Path,
) -> anyhow::Result<bool> {
    let text = std::fs::read_to_string(path).map_err(|error| Problem::io("read", path, &error))?;
    let lines = text.lines().map(|line| Ok(line.to_owned()));
    script(debugger, sources, lines, &path.display().to_string())
}

/// Does the commands of standard input as those of a script.
pub fn standard_input(debugger: &mut Debugger<'_>, sources: Sources<'_>) -> anyhow::Result<()> {
    script(
        debugger,
        sources,
        io::stdin().lock().lines(),
        "standard input",
    )?;
    Ok(())
}

/// Answers commands until there are no more. A mistake is told, and the next command is
/// waited for; an empty line repeats the last one.
pub fn console(debugger: &mut Debugger<'_>, sources: Sources<'_>) -> anyhow::Result<()> {
    let asks = io::stdin().is_terminal();
    let mut last = String::new();
    greet(debugger, sources)?;
    loop {
        if asks {
            output::print(PROMPT)?;
            io::stdout().flush()?;
        }
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(());
        }
        let line = line.trim();
        if !line.is_empty() {
            line.clone_into(&mut last);
        }
        match execute(debugger, sources, &last) {
            Ok(answer) if answer.quits => return Ok(()),
            Ok(answer) => tell(&answer.lines)?,
            Err(complaint) => tell(&[complaint.to_string()])?,
        }
    }
}
