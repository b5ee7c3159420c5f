//! Runs debugger commands from a file or from standard input, with plain-text output.

use std::io::{self, BufRead, IsTerminal, Write};
use std::iter;
use std::path::Path;

use npsim::problem::Problem;
use npsim_debug::console::{Sources, execute, stop_text};
use npsim_debug::{DebugError, Debugger, Stop, StopCause};
use npsim_net::inputs;

use crate::cmd::interrupt::Interrupt;
use crate::output;

/// The prefix of commands repeated in the output.
const PROMPT: &str = "> ";

/// Prints the initial state of the run.
fn greet(debugger: &Debugger, sources: Sources<'_>) -> anyhow::Result<()> {
    let stop = Stop {
        reason: StopCause::Entry,
        thread: debugger.thread(),
        said: Vec::new(),
    };
    print_lines(&stop_text(debugger, &stop, sources))
}

fn print_lines(lines: &[String]) -> anyhow::Result<()> {
    let mut text = lines.join("\n");
    if !lines.is_empty() {
        text.push('\n');
    }
    output::print(&text)
}

fn problem(complaint: DebugError, place: &str) -> Problem {
    let problem = Problem::new(format!("{place}: {}", complaint.message));
    match complaint.help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptEnd {
    /// All commands were executed.
    Done,
    /// A command ended the debugger.
    Quit,
    /// Ctrl-C interrupted a command; the rest was not executed.
    Interrupted,
}

/// Executes the lines of a script.
fn script(
    debugger: &mut Debugger,
    sources: Sources<'_>,
    lines: impl Iterator<Item = io::Result<String>>,
    name: &str,
) -> anyhow::Result<ScriptEnd> {
    greet(debugger, sources)?;
    for (number, line) in (1..).zip(lines) {
        let line = line.map_err(|error| unreadable(&error, number, name))?;
        let line = line.trim();
        if line.is_empty() || line.starts_with(';') {
            continue;
        }
        print_lines(&[format!("{PROMPT}{line}")])?;
        let place = format!("line {number} of {name}");
        let answer = execute(debugger, sources, line).map_err(|it| problem(it, &place))?;
        print_lines(&answer.lines)?;
        if answer.quits {
            return Ok(ScriptEnd::Quit);
        }
        if *debugger.reason() == StopCause::Interrupted {
            return Ok(ScriptEnd::Interrupted);
        }
    }
    Ok(ScriptEnd::Done)
}

/// The error for an unreadable line.
fn unreadable(error: &io::Error, number: usize, name: &str) -> Problem {
    if error.kind() == io::ErrorKind::InvalidData {
        Problem::new(format!("line {number} of {name} is not text"))
            .help("commands are text in UTF-8; save the file in that encoding")
    } else {
        Problem::new(format!("line {number} of {name} cannot be read: {error}"))
    }
}

/// Executes the commands of a file.
pub fn file(
    debugger: &mut Debugger,
    sources: Sources<'_>,
    path: &Path,
) -> anyhow::Result<ScriptEnd> {
    npsim_net::inputs::note_read(path);
    let bytes = std::fs::read(path).map_err(|error| Problem::io("read", path, &error))?;
    let name = path.display().to_string();
    // The whole script is checked before any of it is executed.
    if let Err(error) = std::str::from_utf8(&bytes) {
        let before = &bytes[..error.valid_up_to()];
        let line = before.split(|it| *it == b'\n').count();
        return Err(unreadable(&io::ErrorKind::InvalidData.into(), line, &name).into());
    }
    let lines = bytes.lines();
    script(debugger, sources, lines, &name)
}

/// Executes the commands from standard input as a script.
pub fn standard_input(
    debugger: &mut Debugger,
    sources: Sources<'_>,
    interrupt: &Interrupt,
) -> anyhow::Result<ScriptEnd> {
    inputs::note_standard_input();
    let mut lines = io::stdin().lock().lines();
    let lines = iter::from_fn(|| interrupt.wait(|| lines.next()));
    script(debugger, sources, lines, "standard input")
}

/// Executes commands until there are no more. An error is shown, and does not end the session; an
/// empty line repeats the last command.
pub fn console(
    debugger: &mut Debugger,
    sources: Sources<'_>,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    inputs::note_standard_input();
    let asks = io::stdin().is_terminal();
    let mut last = String::new();
    greet(debugger, sources)?;
    loop {
        if asks {
            output::print(PROMPT)?;
            io::stdout().flush()?;
        }
        let mut line = String::new();
        match interrupt.wait(|| io::stdin().lock().read_line(&mut line)) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                print_lines(&["this line is not UTF-8 text".to_owned()])?;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        let line = line.trim();
        if !line.is_empty() {
            line.clone_into(&mut last);
        }
        match execute(debugger, sources, &last) {
            Ok(answer) if answer.quits => return Ok(()),
            Ok(answer) => print_lines(&answer.lines)?,
            Err(complaint) => print_lines(&[complaint.to_string()])?,
        }
    }
}
