//! The debugger's console.

use npsim::debug::console::{self, CommandGroup, completions, execute};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::opening::OpenRun;
use crate::travel::Moved;

/// The output of a command, and the state of the run after it.
#[derive(Debug, Serialize)]
pub struct CommandAnswer {
    lines: Vec<String>,
    moved: bool,
    breakpoints: bool,
    #[serde(flatten)]
    at: Moved,
}

/// Executes a command of the console.
///
/// # Errors
/// Returns an error if there is no such command, or it refers to something that does not exist.
pub fn command(files: &FileStore, run: &mut OpenRun, line: &str) -> Result<CommandAnswer, Failure> {
    let sources = |file: &str| files.text(file.as_ref());
    let reply = execute(&mut run.debugger, &sources, line)?;
    let at = match &reply.stop {
        Some(stop) => Moved::of(files, run, stop),
        None => Moved::here(files, run),
    };
    Ok(CommandAnswer {
        lines: reply.lines,
        moved: reply.stop.is_some(),
        breakpoints: reply.breakpoints,
        at,
    })
}

/// The output lines of a command that is executed with another context selected temporarily.
///
/// # Errors
/// Returns an error if the context does not run, or the command fails.
pub fn lines(
    files: &FileStore,
    run: &mut OpenRun,
    (me, context): (Option<u8>, Option<u8>),
    line: &str,
) -> Result<Value, Failure> {
    let before = run.debugger.thread();
    let mut thread = before;
    thread.me = me.unwrap_or(thread.me);
    thread.context = context.unwrap_or(thread.context);
    run.debugger.select(thread)?;
    let sources = |file: &str| files.text(file.as_ref());
    let reply = execute(&mut run.debugger, &sources, line);
    if thread != before {
        run.debugger.select(before)?;
    }
    Ok(json!({ "lines": reply?.lines }))
}

/// The possible completions of a line.
pub fn complete(run: &OpenRun, line: &str) -> Value {
    let (from, words) = completions(&run.debugger, line);
    let from = line[..from].encode_utf16().count();
    json!({ "from": from, "words": words })
}

/// All commands, by group.
pub fn commands() -> Value {
    let groups = CommandGroup::ALL.map(|group| {
        let commands = console::commands(false).filter(|it| it.group == group);
        let commands = commands.map(|it| {
            json!({
                "name": it.name,
                "aliases": it.aliases,
                "arguments": it.arguments,
                "help": it.help,
                "example": it.example,
            })
        });
        json!({ "title": group.title(), "commands": commands.collect::<Vec<_>>() })
    });
    json!({ "groups": groups })
}
