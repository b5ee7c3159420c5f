//! Colours. Everything that a colour shows is also shown by a sign or a word.

use npsim_observe::lanes::Activity;
use ratatui::style::{Color, Modifier, Style};

/// With colours or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether there are colours; bold, dim and reversed text remain.
    pub colour: bool,
}

impl Theme {
    /// The first line of the screen, and what was looked for.
    pub(crate) const BAR: Style = Style::new().add_modifier(Modifier::REVERSED);
    /// What is less important.
    pub(crate) const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
    /// What is more important.
    pub(crate) const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
    /// What is chosen in the pane that has the keys.
    pub(crate) const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

    fn in_colour(self, colour: Color) -> Style {
        if self.colour {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    /// The heading of a pane.
    pub(crate) fn heading(self, focused: bool) -> Style {
        if focused {
            self.in_colour(Color::Cyan).add_modifier(Modifier::BOLD)
        } else {
            Self::FAINT
        }
    }

    /// The line at which the context is.
    pub(crate) fn current(self) -> Style {
        self.in_colour(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// Breakpoints, losses, mistakes.
    pub(crate) fn alarm(self) -> Style {
        self.in_colour(Color::Red)
    }

    /// The style of holders, and of names.
    pub(crate) fn name(self) -> Style {
        self.in_colour(Color::Green)
    }

    /// What a context does.
    pub(crate) fn activity(self, activity: Activity) -> Style {
        match activity {
            Activity::Executing => self.in_colour(Color::Green),
            Activity::Aborted => self.in_colour(Color::Yellow),
            Activity::Stalled => self.in_colour(Color::Red),
            Activity::Ready => self.in_colour(Color::Cyan),
            Activity::Waiting | Activity::Inactive => Self::FAINT,
        }
    }
}
