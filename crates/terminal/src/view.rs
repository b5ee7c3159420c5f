//! How the debugger is looked at.

use npsim_debug::questions::Trail;
use npsim_debug::search::CodePoint;
use npsim_debug::timeline::TimePoint;

use crate::input::LineEditor;
use crate::layout::Pane;

/// Cycles in a column of the contexts.
pub(crate) const SCALES: [u64; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
/// Lines of the console that are kept.
const MOST_LINES: usize = 10_000;

/// What keys are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// What the table of keys says.
    Keys,
    /// A command.
    Command,
    /// A text to look for.
    Search,
    /// The help.
    Help,
}

/// What a line of the console is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConsoleLine {
    Command,
    Answer,
    Mistake,
}

/// What of the screen does not follow from the debugger.
#[derive(Clone, Debug)]
pub struct View {
    pub(crate) mode: Mode,
    pub(crate) focus: Pane,
    /// The pane beside the source that has to be seen.
    pub(crate) beside: Pane,
    pub(crate) alone: bool,
    pub(crate) folded: bool,
    /// The chosen line of the source; else the context's is shown.
    pub(crate) line: Option<usize>,
    /// The chosen entry of each pane.
    pub(crate) chosen: [usize; Pane::ALL.len()],
    /// Index into [`SCALES`].
    pub(crate) scale: usize,
    pub(crate) command: LineEditor,
    pub(crate) search: LineEditor,
    pub(crate) lines: Vec<(ConsoleLine, String)>,
    /// How many lines of the console or the help lie behind the last one that is shown.
    pub(crate) back: usize,
    /// The packet that is looked at.
    pub(crate) trail: Option<Trail>,
    /// Where one stood before jumps, and which of these one has come back to.
    pub(crate) places: Vec<(TimePoint, CodePoint)>,
    pub(crate) place: usize,
    /// Ctrl-C was pressed where nothing was in progress.
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
    pub(crate) fn cycles_a_column(&self) -> u64 {
        SCALES[self.scale.min(SCALES.len() - 1)]
    }

    /// Gives the keys to a pane.
    pub(crate) fn focus(&mut self, pane: Pane) {
        self.focus = pane;
        if pane.is_beside() {
            self.beside = pane;
        }
        self.back = 0;
    }

    pub(crate) fn chosen(&self, pane: Pane) -> usize {
        self.chosen[pane.index()]
    }

    /// Adds lines to the console.
    pub(crate) fn tell(&mut self, kind: ConsoleLine, lines: impl IntoIterator<Item = String>) {
        self.lines.extend(lines.into_iter().map(|it| (kind, it)));
        let over = self.lines.len().saturating_sub(MOST_LINES);
        self.lines.drain(..over);
        self.back = 0;
    }
}
