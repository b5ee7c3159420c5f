//! Standard output and standard error: styled only where appropriate, with lines as wide as the
//! terminal, and without an error when the reader closes the pipe early.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fold::folded;
use anyhow::Context as _;
use npsim::messages::DiagnosticMessage;
use npsim::problem::Problem;
use npsim_session::text_table::WIDTH;
use terminal_size::{Width, terminal_size_of};

/// Whether standard output carries data that an option writes there.
static STDOUT_IS_DATA: AtomicBool = AtomicBool::new(false);

/// Whether messages are printed as JSON objects, for programs.
static JSON_MESSAGES: AtomicBool = AtomicBool::new(false);

/// The narrowest width, in columns, in which a table is readable.
const MIN_WIDTH: usize = 40;

/// The width of text on standard output, in columns: `COLUMNS` if set, else the width of the
/// terminal, else the default page width.
pub fn width() -> usize {
    let terminal = || terminal_size_of(io::stdout()).map(columns);
    env_columns()
        .or_else(terminal)
        .unwrap_or(WIDTH)
        .max(MIN_WIDTH)
}

/// The width of messages; `None` if standard error is not a terminal, where a message is one log
/// line.
fn message_width() -> Option<usize> {
    let terminal = || {
        let error = io::stderr();
        error.is_terminal().then(|| terminal_size_of(error))?
    };
    let columns = env_columns().or_else(|| terminal().map(columns))?;
    Some(columns.max(MIN_WIDTH))
}

fn columns((Width(columns), _): (Width, terminal_size::Height)) -> usize {
    usize::from(columns)
}

/// The width given by the environment.
fn env_columns() -> Option<usize> {
    let columns = env::var("COLUMNS").ok()?.parse().ok()?;
    (columns > 0).then_some(columns)
}

/// Writes data to standard output, unmodified.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}

/// Switches messages to the form for programs.
pub fn enable_json_messages() {
    JSON_MESSAGES.store(true, Ordering::Relaxed);
}

/// Whether messages are in the form for programs, regardless of the command's own option.
pub fn messages_as_json() -> bool {
    JSON_MESSAGES.load(Ordering::Relaxed)
}

/// Reserves standard output for data: from now on, text for people goes to standard error.
pub fn reserve_stdout() {
    STDOUT_IS_DATA.store(true, Ordering::Relaxed);
}

/// Writes text for people, folded to the terminal's width: to standard output, unless that carries
/// data.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    show(&folded(text, width()))
}

/// Writes text for people without folding it, such as source code.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn show(text: &str) -> anyhow::Result<()> {
    if !STDOUT_IS_DATA.load(Ordering::Relaxed) {
        return print(text);
    }
    // Errors are ignored, as for messages: a reader of the data need not read this text.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
    Ok(())
}

/// Writes a message and an empty line to standard error. A message that cannot be written is
/// dropped.
pub fn message(text: &str) {
    if messages_as_json() {
        return object("error", text);
    }
    let mut out = anstream::stderr().lock();
    let _ = writeln!(out, "{}\n", text.trim_end());
}

/// Writes one line for programs to standard error, unmodified.
pub fn record(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Writes a message to standard error as a JSON object.
fn object(level: &'static str, text: &str) {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    if first.is_empty() {
        return;
    }
    let plain = anstream::adapter::strip_str(first).to_string();
    let message = plain.split_once(": ").map_or(&*plain, |(mark, rest)| {
        // The level has its own field.
        if mark == "note" || mark.starts_with("error") {
            rest
        } else {
            &plain
        }
    });
    let message = DiagnosticMessage {
        level,
        ..DiagnosticMessage::of_problem(&Problem::new(message), text)
    };
    record(&message.to_json());
}

/// Writes one line to standard error.
pub fn line(text: &str) {
    if messages_as_json() {
        return object("note", text);
    }
    let folded = message_width().map(|width| folded(text, width));
    let text = folded.as_deref().unwrap_or(text);
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Whether the error is a broken pipe, because the reader of the output has gone away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        let problem = cause.downcast_ref::<Problem>();
        io.is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe)
            || problem.is_some_and(|it| it.broken_pipe)
    })
}
