//! Key bindings: one table for the program, the last line of the screen and the help.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::layout::Pane;

/// A movement within the lines of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    First,
    /// To the last line.
    Last,
}

/// The action bound to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Runs a command of the console.
    Do(&'static str),
    /// Begins a command, which the user completes.
    Begin(&'static str),
    /// Sets or removes a breakpoint on the chosen line.
    Breakpoint,
    /// Prompts for a text to search for in the source.
    Search,
    /// Moves to the next match, or the previous one.
    Match(bool),
    /// Shows macros in place, or the program alone.
    Fold,
    /// Shows fewer cycles per column, or more.
    Zoom(bool),
    /// Moves the focus to the next pane, or the previous one.
    Focus(bool),
    /// Moves the focus to a pane.
    Pane(Pane),
    /// Selects the next context, or the previous one.
    Context(bool),
    /// Returns to the position before a jump, or forward again.
    Return(bool),
    /// Shows one pane on the whole screen, or all panes.
    Alone,
    /// Returns to the position of the context.
    Here,
    /// Runs the action of the chosen entry.
    Choose,
    /// Cancels the choice.
    Leave,
    /// Moves within the lines of the pane.
    Move(Motion),
    /// Moves to the console.
    Type,
    /// Shows the help.
    Help,
    /// Quits.
    Quit,
}

/// Keys with related actions.
#[derive(Clone, Copy, Debug)]
pub struct KeyGroup {
    /// The keys with their actions; a step comes before its reverse.
    pub keys: &'static [(KeyCode, Action)],
    /// A label of a word or two.
    pub short: &'static str,
    /// A description in a sentence.
    pub help: &'static str,
    /// Whether the last line of the screen shows them.
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

/// All keys except those for editing a line, in display order.
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
        "Names: who wrote it. Rings: what is on it. Units: the context that asked. Packets: the events, then the time of one",
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
    /// The keys as they are displayed: `n/N`.
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

/// The action of a key while no line is being edited.
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
    fn keys_are_unique_and_steps_have_a_reverse() {
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
