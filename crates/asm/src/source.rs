//! Source texts, positions in them, and the chain of macro expansions that led
//! to a token.

/// Index of a file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// Index of an expansion in a [`SourceMap`]; [`ExpansionId::ROOT`] stands for
/// text outside of macros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// The root, outside of any macro.
    pub const ROOT: Self = Self(0);
}

/// A byte range in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

impl Span {
    /// Returns the smallest span that covers both, if they are in the same
    /// file; otherwise `self`.
    #[must_use]
    pub(crate) fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self {
            file: self.file,
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }
}

/// A source text that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path shown to the user.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The place of the `#include`.
    pub included_from: Option<Span>,
    line_starts: Vec<u32>,
    line_marks: Vec<LineMark>,
}

/// The effect of a `#line` on the lines after it.
#[derive(Clone, Debug)]
struct LineMark {
    /// First physical line (from 1) that the mark applies to.
    physical: u32,
    /// The number that this line is shown with.
    presumed_location: u32,
    /// The path to show instead of the file's own.
    path: Option<String>,
}

/// One use of a macro.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// Name of the macro.
    pub name: String,
    /// The place of the invocation.
    pub call: Span,
    /// The expansion that contains the invocation.
    pub parent: ExpansionId,
    /// The name and argument text of each parameter.
    pub arguments: Vec<(String, String)>,
}

/// All source texts and expansions of an assembler run.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

impl SourceMap {
    /// Adds a text.
    pub fn add_file(&mut self, path: String, text: String, included_from: Option<Span>) -> FileId {
        let line_starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32 + 1))
            .collect();
        self.files.push(SourceFile {
            path,
            text,
            included_from,
            line_starts,
            line_marks: Vec::new(),
        });
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds an expansion.
    pub fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32)
    }

    /// Returns the files, in the order in which they were read.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Returns a file.
    #[must_use]
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Returns an expansion; `None` for [`ExpansionId::ROOT`].
    #[must_use]
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        (id.0 as usize).checked_sub(1).map(|i| &self.expansions[i])
    }

    /// Returns all expansions; entry n belongs to [`ExpansionId`] n + 1.
    #[must_use]
    pub fn expansions(&self) -> &[Expansion] {
        &self.expansions
    }

    /// Returns the chain of expansions, from the innermost outwards.
    pub fn expansion_chain(&self, id: ExpansionId) -> impl Iterator<Item = &Expansion> {
        std::iter::successors(self.expansion(id), |e| self.expansion(e.parent))
    }

    /// Returns the text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.lo as usize..span.hi as usize]
    }

    /// Returns line and column (both from 1, the column in bytes) of a span's
    /// start.
    #[must_use]
    pub fn line_column(&self, span: Span) -> (u32, u32) {
        let starts = &self.file(span.file).line_starts;
        let line = starts.partition_point(|&s| s <= span.lo);
        (line as u32, span.lo - starts[line - 1] + 1)
    }

    /// Records that the lines after `directive` are shown as `line` and
    /// following, of the file `path` if given.
    pub(crate) fn mark_line(&mut self, directive: Span, line: u32, path: Option<String>) {
        let (physical, _) = self.line_column(Span {
            lo: directive.hi,
            ..directive
        });
        let file = &mut self.files[directive.file.0 as usize];
        // A directive in a loop or macro body is processed repeatedly, with the
        // same effect.
        let at = file
            .line_marks
            .partition_point(|m| m.physical < physical + 1);
        if file
            .line_marks
            .get(at)
            .is_some_and(|m| m.physical == physical + 1)
        {
            return;
        }
        let before = at.checked_sub(1).map(|i| &file.line_marks[i]);
        let path = path.or_else(|| before.and_then(|m| m.path.clone()));
        file.line_marks.insert(
            at,
            LineMark {
                physical: physical + 1,
                presumed_location: line,
                path,
            },
        );
    }

    /// Returns path, line and column (both from 1) of a span's start, as
    /// `#line` directives want them shown.
    #[must_use]
    pub fn presumed_location(&self, span: Span) -> (&str, u32, u32) {
        let (line, column) = self.line_column(span);
        let file = self.file(span.file);
        let after = file.line_marks.partition_point(|m| m.physical <= line);
        match after.checked_sub(1).map(|i| &file.line_marks[i]) {
            Some(mark) => (
                mark.path.as_deref().unwrap_or(&file.path),
                mark.presumed_location.saturating_add(line - mark.physical),
                column,
            ),
            None => (&file.path, line, column),
        }
    }
}
