//! A text with everything that can be derived from it without assembling. Each part is computed on
//! first use and then kept, since a version of a text is queried many times.

use std::cell::OnceCell;
use std::ops::{Deref, Range};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use npsim_asm::front::text::{TextLine, lines, without_comments};

use super::definitions::{Definitions, definitions};
use super::position::{LineIndex, Place};

/// One version of a text.
#[derive(Clone, Debug)]
pub struct Text {
    index: Arc<LineIndex>,
    lines: OnceCell<Vec<TextLine>>,
    code: OnceCell<String>,
    code_lines: OnceCell<Vec<TextLine>>,
    definitions: OnceCell<Rc<Definitions>>,
}

impl Text {
    /// A text of which no line has been read yet.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self {
            index: Arc::new(LineIndex::new(text)),
            lines: OnceCell::new(),
            code: OnceCell::new(),
            code_lines: OnceCell::new(),
            definitions: OnceCell::new(),
        }
    }

    /// The characters and lines only, for another thread.
    #[must_use]
    pub const fn index(&self) -> &Arc<LineIndex> {
        &self.index
    }

    /// A part of the text as a place in its file.
    #[must_use]
    pub fn place(&self, path: &Path, range: Range<usize>) -> Place {
        Place::new(path, &self.index, range)
    }

    /// The lines that are not empty.
    #[must_use]
    pub(crate) fn lines(&self) -> &[TextLine] {
        self.lines.get_or_init(|| lines(self))
    }

    /// The text with comments replaced by spaces; every byte keeps its offset.
    #[must_use]
    pub fn code(&self) -> &str {
        self.code.get_or_init(|| without_comments(self))
    }

    /// The lines of [`Self::code`].
    #[must_use]
    pub(crate) fn code_lines(&self) -> &[TextLine] {
        self.code_lines.get_or_init(|| lines(self.code()))
    }

    /// The macros and names that the text defines.
    #[must_use]
    pub(crate) fn definitions(&self) -> &Rc<Definitions> {
        self.definitions
            .get_or_init(|| Rc::new(definitions(self, self.lines())))
    }
}

impl Deref for Text {
    type Target = LineIndex;

    fn deref(&self) -> &LineIndex {
        &self.index
    }
}
