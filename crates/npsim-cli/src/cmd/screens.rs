//! Whether a screen can be drawn, and its colours.

use std::env;
use std::io::{self, IsTerminal};

use npsim_terminal::Theme;

/// Whether both input and output are a terminal that can position the cursor.
pub fn has_screen() -> bool {
    let dumb = env::var_os("TERM").is_some_and(|it| it == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !dumb
}

/// The theme, with colours unless the user has disabled them.
pub fn theme() -> Theme {
    let no_colour = env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    Theme { colour: !no_colour }
}
