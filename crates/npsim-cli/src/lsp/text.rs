//! A text with what can be read off it without assembling. Each of these is read when it
//! is first asked for and then kept: a version of a text is asked about many times.

use std::cell::OnceCell;
use std::ops::{Deref, Range};
use std::rc::Rc;
use std::sync::Arc;

use lsp_types::Position;
use npsim_asm::front::text::{TextLine, lines, without_comments};

use super::definitions::{Definitions, definitions};
use super::position::Lines;

/// One version of a text.
#[derive(Clone, Debug)]
pub struct Text {
    whole: Arc<str>,
    lines: OnceCell<Vec<TextLine>>,
    code: OnceCell<String>,
    code_lines: OnceCell<Vec<TextLine>>,
    starts: OnceCell<Lines>,
    definitions: OnceCell<Rc<Definitions>>,
}

impl Text {
    /// Nothing of it is read yet.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self {
            whole: text.into(),
            lines: OnceCell::new(),
            code: OnceCell::new(),
            code_lines: OnceCell::new(),
            starts: OnceCell::new(),
            definitions: OnceCell::new(),
        }
    }

    /// The letters alone, for another thread.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.whole)
    }

    /// Its lines that have anything on them.
    #[must_use]
    pub fn lines(&self) -> &[TextLine] {
        self.lines.get_or_init(|| lines(&self.whole))
    }

    /// The text with comments turned into spaces; every byte keeps its place.
    #[must_use]
    pub fn code(&self) -> &str {
        self.code.get_or_init(|| without_comments(&self.whole))
    }

    /// The lines of [`Self::code`].
    #[must_use]
    pub fn code_lines(&self) -> &[TextLine] {
        self.code_lines.get_or_init(|| lines(self.code()))
    }

    /// The macros and names that it defines.
    #[must_use]
    pub fn definitions(&self) -> &Rc<Definitions> {
        self.definitions
            .get_or_init(|| Rc::new(definitions(&self.whole, self.lines())))
    }

    fn starts(&self) -> &Lines {
        self.starts.get_or_init(|| Lines::of(&self.whole))
    }

    /// The position of a byte.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        self.starts().position(&self.whole, offset)
    }

    /// The range of bytes.
    #[must_use]
    pub fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        self.starts().range(&self.whole, bytes)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.whole
    }
}
