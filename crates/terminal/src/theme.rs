//! Colours. Everything shown by a colour is also shown by a symbol or a word.

use npsim_observe::lanes::Activity;
use ratatui::style::{Color, Modifier, Style};

/// A theme with or without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours are used; bold, dim and reversed text are always used.
    pub colour: bool,
}

impl Theme {
    /// The first line of the screen, and search matches.
    pub(crate) const BAR: Style = Style::new().add_modifier(Modifier::REVERSED);
    /// Less important text.
    pub(crate) const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
    /// More important text.
    pub(crate) const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
    /// The chosen entry in the focused pane.
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

    /// The context's current line.
    pub(crate) fn current(self) -> Style {
        self.in_colour(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// Breakpoints, losses and errors.
    pub(crate) fn alarm(self) -> Style {
        self.in_colour(Color::Red)
    }

    /// The style of holders, and of names.
    pub(crate) fn name(self) -> Style {
        self.in_colour(Color::Green)
    }

    /// The activity of a context.
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
