//! The state of the view on the debugger.

use npsim_debug::questions::PacketTrail;
use npsim_debug::search::CodePoint;
use npsim_debug::timeline::TimePoint;

use crate::input::LineEditor;
use crate::layout::Pane;

/// Choices of cycles per column in the contexts pane.
pub(crate) const SCALES: [u64; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
/// The maximum number of console lines kept.
const MAX_LINES: usize = 10_000;

/// The meaning of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Key bindings.
    Keys,
    /// Editing a command.
    Command,
    /// Editing a search text.
    Search,
    /// Showing the help.
    Help,
}

/// The kind of a console line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConsoleLine {
    Command,
    Answer,
    Error,
}

/// The part of the screen's state that does not follow from the debugger.
#[derive(Clone, Debug)]
pub struct View {
    pub(crate) mode: Mode,
    pub(crate) focus: Pane,
    /// The pane that must be visible beside the source.
    pub(crate) beside: Pane,
    pub(crate) alone: bool,
    pub(crate) folded: bool,
    /// The chosen line of the source; if none, the context's line is shown.
    pub(crate) line: Option<usize>,
    /// The chosen entry of each pane.
    pub(crate) chosen: [usize; Pane::ALL.len()],
    /// The index into [`SCALES`].
    pub(crate) scale: usize,
    pub(crate) command: LineEditor,
    pub(crate) search: LineEditor,
    pub(crate) lines: Vec<(ConsoleLine, String)>,
    /// The number of lines of the console or the help below the last visible one.
    pub(crate) back: usize,
    /// The packet being viewed.
    pub(crate) trail: Option<PacketTrail>,
    /// Positions before jumps, and the index of the one that the user has returned to.
    pub(crate) places: Vec<(TimePoint, CodePoint)>,
    pub(crate) place: usize,
    /// Whether Ctrl-C was pressed while nothing was in progress.
    pub(crate) leaving: bool,
}

impl Default for View {
    fn default() -> Self {
        Self {
            mode: Mode::Keys,
            focus: Pane::Source,
            beside: Pane::Names,
            alone: false,
            folded: false,
            line: None,
            chosen: [0; Pane::ALL.len()],
            scale: 3,
            command: LineEditor::default(),
            search: LineEditor::default(),
            lines: Vec::new(),
            back: 0,
            trail: None,
            places: Vec::new(),
            place: 0,
            leaving: false,
        }
    }
}

impl View {
    pub(crate) fn cycles_per_column(&self) -> u64 {
        SCALES[self.scale.min(SCALES.len() - 1)]
    }

    /// Moves the focus to a pane.
    pub(crate) fn focus(&mut self, pane: Pane) {
        self.focus = pane;
        if pane.is_side_pane() {
            self.beside = pane;
        }
        self.back = 0;
    }

    pub(crate) fn chosen(&self, pane: Pane) -> usize {
        self.chosen[pane.index()]
    }

    /// Adds lines to the console.
    pub(crate) fn append_lines(
        &mut self,
        kind: ConsoleLine,
        lines: impl IntoIterator<Item = String>,
    ) {
        self.lines.extend(lines.into_iter().map(|it| (kind, it)));
        let over = self.lines.len().saturating_sub(MAX_LINES);
        self.lines.drain(..over);
        self.back = 0;
    }
}
