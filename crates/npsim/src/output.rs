//! Standard output and standard error: styles only where they are wanted, lines
//! as wide as the terminal, and a reader that goes away early is no error.

use std::env;
use std::io::{self, IsTerminal, Write};

use anyhow::Context as _;
use npsim_session::text_table::WIDTH;
use terminal_size::{Width, terminal_size_of};

use crate::fold::folded;

/// Less than this no table can be read in.
const NARROWEST: usize = 40;

/// Columns of what people read on standard output: those that `COLUMNS` says, else
/// those of the terminal, else those of a page.
pub fn width() -> usize {
    let terminal = || terminal_size_of(io::stdout()).map(columns);
    told().or_else(terminal).unwrap_or(WIDTH).max(NARROWEST)
}

/// Columns of messages. Nobody's terminal has no end: a line of a log is a message.
fn message_width() -> Option<usize> {
    let terminal = || {
        let error = io::stderr();
        error.is_terminal().then(|| terminal_size_of(error))?
    };
    let columns = told().or_else(|| terminal().map(columns))?;
    Some(columns.max(NARROWEST))
}

fn columns((Width(columns), _): (Width, terminal_size::Height)) -> usize {
    usize::from(columns)
}

/// What the environment says.
fn told() -> Option<usize> {
    let columns = env::var("COLUMNS").ok()?.parse().ok()?;
    (columns > 0).then_some(columns)
}

/// Writes data to standard output, as it is.
///
/// # Errors
/// It cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}

/// Writes what people read to standard output, in lines that fit.
///
/// # Errors
/// It cannot be written.
pub fn tell(text: &str) -> anyhow::Result<()> {
    print(&folded(text, width()))
}

/// Writes a message and an empty line to standard error. A message that nobody
/// can read is dropped.
pub fn message(text: &str) {
    let mut out = anstream::stderr().lock();
    let _ = writeln!(out, "{}\n", text.trim_end());
}

/// Writes one line for programs to standard error, as it is.
pub fn record(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Writes one line to standard error.
pub fn line(text: &str) {
    let folded = message_width().map(|width| folded(text, width));
    let text = folded.as_deref().unwrap_or(text);
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Whether the reader of the output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
