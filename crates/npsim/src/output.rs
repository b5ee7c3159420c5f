//! Standard output and standard error: styles only where they are wanted, and
//! a reader that goes away early is no error.

use std::io::{self, Write};

use anyhow::Context as _;

/// Writes text to standard output.
///
/// # Errors
/// It cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
}

/// Writes a message and an empty line to standard error. A message that nobody
/// can read is dropped.
pub fn message(text: &str) {
    let mut out = anstream::stderr().lock();
    let _ = writeln!(out, "{}\n", text.trim_end());
}

/// Writes one line to standard error.
pub fn line(text: &str) {
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
