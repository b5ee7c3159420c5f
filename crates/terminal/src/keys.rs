//! What keys do: one table for the program, the last line of the screen and the help.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::layout::Pane;

/// A way through the lines of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// One up.
    Up,
    /// One down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first.
    First,
    /// To the last.
    Last,
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A command of the console.
    Do(&'static str),
    /// Begins a command, whose rest is typed.
    Begin(&'static str),
    /// A breakpoint on the chosen line, or away with it.
    Breakpoint,
    /// Asks for a text to look for in the source.
    Search,
    /// To the next line with that text, or the one before.
    Match(bool),
    /// Shows macros in place, or the program alone.
    Fold,
    /// Fewer cycles in a column, or more.
    Zoom(bool),
    /// The next pane, or the one before.
    Focus(bool),
    /// Go to a pane.
    Pane(Pane),
    /// The next context, or the one before.
    Context(bool),
    /// To where one stood before a jump, or forth again.
    Return(bool),
    /// One pane on the whole screen, or all.
    Alone,
    /// Back to where the context is.
    Here,
    /// What can be done with what is chosen.
    Choose,
    /// Out of what was chosen.
    Leave,
    /// Through the lines of the pane.
    Move(Motion),
    /// To the console.
    Type,
    /// The help.
    Help,
    /// Ends.
    Quit,
}

/// Keys that belong together.
#[derive(Clone, Copy, Debug)]
pub struct KeyGroup {
    /// Each with what it does; a step stands before its reverse.
    pub keys: &'static [(KeyCode, Action)],
    /// In a word.
    pub short: &'static str,
    /// In a sentence.
    pub help: &'static str,
    /// Whether the last line of the screen has them.
    pub footer: bool,
}

use Action::{Begin, Context, Do, Focus, Match, Move, Zoom};
use KeyCode::Char;

const fn key(
    keys: &'static [(KeyCode, Action)],
    short: &'static str,
    help: &'static str,
    footer: bool,
) -> KeyGroup {
    KeyGroup {
        keys,
        short,
        help,
        footer,
    }
}

/// All keys but those of a line that is typed, in the order in which they are shown.
pub const KEYS: &[KeyGroup] = &[
    key(
        &[(Char('n'), Do("next")), (Char('N'), Do("back next"))],
        "line",
        "To the next line of the context, over macros; back",
        true,
    ),
    key(
        &[(Char('s'), Do("step")), (Char('S'), Do("back step"))],
        "into",
        "Into the macro or to the next line; back",
        true,
    ),
    key(
        &[(Char('o'), Do("out")), (Char('O'), Do("back out"))],
        "out",
        "Out of the macro; back to where it was used",
        true,
    ),
    key(
        &[
            (Char('c'), Do("continue")),
            (Char('C'), Do("back continue")),
        ],
        "continue",
        "On to the next breakpoint, fault or the end; back to the last one",
        true,
    ),
    key(
        &[(Char(' '), Action::Breakpoint)],
        "break",
        "A breakpoint on the chosen line, or away with it",
        true,
    ),
    key(
        &[(Char('g'), Begin("goto "))],
        "goto",
        "To a cycle, a time, `+100`, `start`, `end`, `packet 3`",
        true,
    ),
    key(
        &[(Char('w'), Do("why"))],
        "why",
        "Why the context does not go on",
        true,
    ),
    key(
        &[(Char('?'), Action::Help)],
        "help",
        "Keys and commands",
        true,
    ),
    key(&[(Char('q'), Action::Quit)], "quit", "Ends", true),
    key(
        &[
            (KeyCode::Tab, Focus(true)),
            (KeyCode::BackTab, Focus(false)),
        ],
        "pane",
        "Gives the keys to the next pane; to the one before",
        true,
    ),
    key(
        &[(Char(':'), Action::Type)],
        "command",
        "A command of the console; Tab completes it, Up and Down have those before",
        true,
    ),
    key(
        &[(Char('f'), Action::Fold)],
        "fold",
        "Shows macros that were stepped into in place, or only the program",
        true,
    ),
    key(
        &[(Char('/'), Action::Search)],
        "search",
        "Looks for a text in the source",
        true,
    ),
    key(
        &[(Char('>'), Match(true)), (Char('<'), Match(false))],
        "match",
        "To the next line with the text; to the one before",
        false,
    ),
    key(
        &[
            (Char('i'), Do("instruction")),
            (Char('I'), Do("back instruction")),
        ],
        "instruction",
        "To the next instruction of the context; back",
        true,
    ),
    key(
        &[(Char('u'), Do("run")), (Char('U'), Do("back run"))],
        "turn",
        "To when the context gets the pipeline again; back",
        true,
    ),
    key(
        &[(Char('a'), Do("any")), (Char('A'), Do("back any"))],
        "any",
        "To when any context of the microengine gets the pipeline; back",
        true,
    ),
    key(
        &[(Char(']'), Context(true)), (Char('['), Context(false))],
        "context",
        "Looks at the next context; at the one before",
        true,
    ),
    key(
        &[(Char('+'), Zoom(true)), (Char('-'), Zoom(false))],
        "zoom",
        "Fewer cycles in a column of the contexts; more",
        true,
    ),
    key(
        &[(Char('k'), Do("wake"))],
        "wake",
        "Ahead to what wakes the context",
        false,
    ),
    key(
        &[
            (Char('b'), Action::Return(false)),
            (Char('B'), Action::Return(true)),
        ],
        "jumped",
        "To where one stood before `goto`, `continue` and the like; forth again",
        true,
    ),
    key(
        &[(Char('z'), Action::Alone)],
        "alone",
        "The pane on the whole screen; all panes again",
        true,
    ),
    key(
        &[(Char('.'), Action::Here)],
        "here",
        "Shows the line of the context again",
        false,
    ),
    key(
        &[(KeyCode::Enter, Action::Choose)],
        "choose",
        "Names: who wrote it. Rings: what is on it. Units: the context that asked. Packets: the stations, then the time of one",
        false,
    ),
    key(
        &[(KeyCode::Esc, Action::Leave)],
        "leave",
        "Out of a packet, a search, a pane that is alone",
        false,
    ),
    key(
        &[
            (Char('1'), Action::Pane(Pane::Source)),
            (Char('2'), Action::Pane(Pane::Names)),
            (Char('3'), Action::Pane(Pane::Rings)),
            (Char('4'), Action::Pane(Pane::Units)),
            (Char('5'), Action::Pane(Pane::Packets)),
            (Char('6'), Action::Pane(Pane::Contexts)),
            (Char('7'), Action::Pane(Pane::Console)),
        ],
        "panes",
        "Source, names, rings, units, packets, contexts, console",
        false,
    ),
    key(
        &[
            (KeyCode::Up, Move(Motion::Up)),
            (KeyCode::Down, Move(Motion::Down)),
            (KeyCode::PageUp, Move(Motion::PageUp)),
            (KeyCode::PageDown, Move(Motion::PageDown)),
            (KeyCode::Home, Move(Motion::First)),
            (KeyCode::End, Move(Motion::Last)),
        ],
        "move",
        "Through the lines of the pane; in the contexts they choose one",
        false,
    ),
];

impl KeyGroup {
    /// The keys as they are shown: `n/N`.
    #[must_use]
    pub fn label(&self) -> String {
        let labels: Vec<_> = self.keys.iter().map(|it| name(it.0)).collect();
        labels.join("/")
    }
}

fn name(code: KeyCode) -> String {
    match code {
        Char(' ') => "Space".to_owned(),
        Char(c) => c.to_string(),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        KeyCode::PageUp => "PgUp".to_owned(),
        KeyCode::PageDown => "PgDn".to_owned(),
        other => other.to_string(),
    }
}

/// What a key does while no line is typed.
pub(crate) fn action(event: &KeyEvent) -> Option<Action> {
    let held = event.modifiers & !KeyModifiers::SHIFT;
    if !held.is_empty() {
        return None;
    }
    let mut all = KEYS.iter().flat_map(|it| it.keys);
    all.find(|it| it.0 == event.code).map(|it| it.1)
}

/// Whether a key is Ctrl-C.
pub(crate) fn interrupts(event: &KeyEvent) -> bool {
    event.code == Char('c') && event.modifiers.contains(KeyModifiers::CONTROL)
}

#[cfg(test)]
mod tests {
    use super::{Action, KEYS};
    use std::collections::HashSet;

    #[test]
    fn a_key_does_one_thing_and_a_step_has_its_reverse_beside_it() {
        let all: Vec<_> = KEYS.iter().flat_map(|it| it.keys).collect();
        let codes: HashSet<_> = all.iter().map(|it| it.0).collect();
        assert_eq!(codes.len(), all.len());
        for key in KEYS {
            if let [(_, Action::Do(on)), rest @ ..] = key.keys {
                let questions = ["why", "wake"].contains(on);
                let back = format!("back {on}");
                let reversed = matches!(rest, [(_, Action::Do(it))] if *it == back);
                assert!(questions || reversed, "{on}");
            }
        }
    }
}
