//! Breakpoints and watchpoints.

use npsim::debug::breakpoints::{Access, Breakpoint};
use npsim::debug::console::BreakpointText;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::opening::OpenRun;
use crate::request::BreakRequest;

fn as_json(files: &FileStore, point: &Breakpoint) -> Value {
    let line = point.line.as_ref();
    json!({
        "number": point.id,
        "title": point.title,
        "path": line.map(|it| files.path(&it.0)),
        "line": line.map(|it| it.1),
        "enabled": point.enabled,
        "condition": point.condition.as_ref().map(ToString::to_string),
        "log": point.log.is_some(),
    })
}

/// Lists all breakpoints.
pub fn list(files: &FileStore, run: &OpenRun) -> Value {
    let points = run.debugger.breakpoints().iter();
    let points: Vec<_> = points.map(|it| as_json(files, it)).collect();
    json!({ "breakpoints": points })
}

fn add_breakpoint(
    files: &FileStore,
    run: &mut OpenRun,
    point: Breakpoint,
) -> Result<Value, Failure> {
    let number = run.debugger.add(point)?;
    let mut points = run.debugger.breakpoints().iter();
    let point = points.find(|it| it.id == number);
    point
        .map(|it| as_json(files, it))
        .ok_or_else(|| Failure::new("the breakpoint is gone"))
}

/// Sets a breakpoint, or a log point, on the next line that has words.
///
/// # Errors
/// Returns an error if no program has words there, or the condition is invalid.
pub fn set(files: &FileStore, run: &mut OpenRun, asked: &BreakRequest) -> Result<Value, Failure> {
    // Images name files in the same way as the sources.
    let mut known = run.debugger.files().into_iter();
    let file = known.find(|it| files.path(it) == files.path(&asked.path));
    let file = file.unwrap_or_else(|| asked.path.clone());
    let mut text = format!("{file}:{}", asked.line);
    if let Some(condition) = asked
        .condition
        .as_deref()
        .filter(|it| !it.trim().is_empty())
    {
        text += " if ";
        text += condition;
    }
    let place: BreakpointText = text.parse()?;
    let say = asked.log.as_deref().filter(|it| !it.is_empty());
    let point = place.breakpoint(&run.debugger, say)?;
    add_breakpoint(files, run, point)
}

/// Sets a watchpoint on a value.
///
/// # Errors
/// Returns an error if `what` denotes nothing here.
pub fn watch(files: &FileStore, run: &mut OpenRun, what: &str) -> Result<Value, Failure> {
    let text = BreakpointText::of(what, true)?;
    let point = text.watchpoint(&run.debugger, Access::Change)?;
    add_breakpoint(files, run, point)
}

/// Removes a breakpoint, or all of them.
///
/// # Errors
/// Returns an error if there is none with this number.
pub fn remove(run: &mut OpenRun, number: &Value) -> Result<(), Failure> {
    let numbers: Vec<u32> = if number == "all" {
        run.debugger.breakpoints().iter().map(|it| it.id).collect()
    } else {
        let number = number.as_u64().and_then(|it| u32::try_from(it).ok());
        let number = number.ok_or_else(|| Failure::new("`number` is a number, or \"all\""))?;
        vec![number]
    };
    for number in numbers {
        run.debugger.remove(number)?;
    }
    Ok(())
}
