//! Time windows in the run of a network or of the fluid model: `10s..20s`.

use std::ops::Range;

use npsim_project::quantity::Time;

/// The setting that gives a point's measurement window.
pub(crate) const KEY: &str = "window";

/// Parses a time in picoseconds.
pub(crate) fn picoseconds(text: &str) -> Result<u64, String> {
    match text.trim().parse()? {
        Time::Picoseconds(time) => Ok(time),
        Time::Cycles(0) => Ok(0),
        Time::Cycles(_) => Err(format!(
            "`{text}` is not a time of a network, which has no cycles; write for example `500ms`"
        )),
    }
}

/// Parses a window in picoseconds.
pub(crate) fn window(text: &str) -> Result<Range<u64>, String> {
    let Some((from, until)) = text.split_once("..") else {
        return Err(format!(
            "`{text}` is not a window; write for example `10s..20s`"
        ));
    };
    let window = picoseconds(from)?..picoseconds(until)?;
    if window.is_empty() {
        return Err(format!("nothing can be measured in the window `{text}`"));
    }
    Ok(window)
}
