//! A line editor.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The maximum number of lines in the history.
const REMEMBERED: usize = 1000;

/// A line with a cursor, and the history of earlier lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEditor {
    text: String,
    /// The position in bytes.
    cursor: usize,
    before: Vec<String>,
    /// The entry of the history that is shown, and the text that it replaced.
    shown: Option<(usize, String)>,
}

impl LineEditor {
    /// The current text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The cursor position, in bytes.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Sets the text, with the cursor at its end.
    pub fn set(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.cursor = self.text.len();
        self.shown = None;
    }

    /// Takes the line, and adds it to the history.
    pub fn take(&mut self) -> String {
        let line = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.shown = None;
        if !line.trim().is_empty() && self.before.last() != Some(&line) {
            if self.before.len() == REMEMBERED {
                self.before.remove(0);
            }
            self.before.push(line.clone());
        }
        line
    }

    /// The last line of the history.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.before.last().map(String::as_str)
    }

    /// Replaces the text from a byte position up to the cursor.
    pub fn replace(&mut self, from: usize, text: &str) {
        self.text.replace_range(from..self.cursor, text);
        self.cursor = from + text.len();
    }

    /// Edits the line; returns whether the key was handled.
    pub fn key(&mut self, event: &KeyEvent) -> bool {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Char('u') if control => self.replace(0, ""),
            KeyCode::Char('k') if control => self.text.truncate(self.cursor),
            KeyCode::Char('w') if control => {
                let before = self.text[..self.cursor].trim_end();
                let from = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.replace(from, "");
            }
            KeyCode::Char(c) if !control && !event.modifiers.contains(KeyModifiers::ALT) => {
                self.text.insert(self.cursor, c);
                self.cursor += c.len_utf8();
            }
            KeyCode::Backspace => {
                let from = self.left();
                self.replace(from, "");
            }
            KeyCode::Delete => {
                let right = self.right();
                self.text.replace_range(self.cursor..right, "");
            }
            KeyCode::Left => self.cursor = self.left(),
            KeyCode::Right => self.cursor = self.right(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            KeyCode::Up => self.older(),
            KeyCode::Down => self.newer(),
            _ => return false,
        }
        true
    }

    fn left(&self) -> usize {
        let before = self.text[..self.cursor].chars().next_back();
        self.cursor - before.map_or(0, char::len_utf8)
    }

    fn right(&self) -> usize {
        let behind = self.text[self.cursor..].chars().next();
        self.cursor + behind.map_or(0, char::len_utf8)
    }

    fn older(&mut self) {
        let (at, typed) = match self.shown.take() {
            Some((at, typed)) => (at.saturating_sub(1), typed),
            None if self.before.is_empty() => return,
            None => (self.before.len() - 1, self.text.clone()),
        };
        self.set(self.before[at].clone());
        self.shown = Some((at, typed));
    }

    fn newer(&mut self) {
        let Some((at, typed)) = self.shown.take() else {
            return;
        };
        match self.before.get(at + 1) {
            Some(line) => {
                self.set(line.clone());
                self.shown = Some((at + 1, typed));
            }
            None => self.set(typed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LineEditor;
    use ratatui::crossterm::event::{KeyCode, KeyEvent};

    fn press(input: &mut LineEditor, codes: &[KeyCode]) {
        for code in codes {
            assert!(input.key(&KeyEvent::from(*code)));
        }
    }

    #[test]
    fn history_is_recalled_and_keeps_the_typed_line() {
        let mut input = LineEditor::default();
        for line in ["next", "where", "where"] {
            input.set(line);
            input.take();
        }
        input.set("br");
        press(&mut input, &[KeyCode::Up]);
        assert_eq!(input.text(), "where");
        press(&mut input, &[KeyCode::Up, KeyCode::Up]);
        assert_eq!(input.text(), "next");
        press(&mut input, &[KeyCode::Down, KeyCode::Down]);
        assert_eq!(input.text(), "br");
    }

    #[test]
    fn multibyte_letters_are_edited_whole() {
        let mut input = LineEditor::default();
        input.set("aéb");
        press(&mut input, &[KeyCode::Left, KeyCode::Backspace]);
        assert_eq!((input.text(), input.cursor()), ("ab", 1));
        press(
            &mut input,
            &[KeyCode::Char('ü'), KeyCode::Left, KeyCode::Delete],
        );
        assert_eq!((input.text(), input.cursor()), ("ab", 1));
    }
}
