//! What the assembler has to say about a source, as plain data. Rendering is
//! the caller's business.

use crate::source::{ExpansionId, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Only a remark (`#info`).
    Note,
    /// The program assembles but may not do what was meant.
    Warning,
    /// No image is made.
    Error,
}

/// A place with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// The expansion in which it stands.
    pub expansion: ExpansionId,
    /// What is to be said of it; may be empty.
    pub text: String,
}

/// A replacement that would mend the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// By what.
    pub replacement: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub level: Severity,
    /// Stable name such as `bank-conflict`; see [`crate::codes`].
    pub code: &'static str,
    /// One line, lower case, no full stop.
    pub message: String,
    /// The place it is about.
    pub primary: Label,
    /// Further places.
    pub secondary: Vec<Label>,
    /// Reasons, one sentence each.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// How the text would look then.
    pub patches: Vec<Patch>,
}

impl Diagnostic {
    /// An error at a place.
    #[must_use]
    pub fn error(
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        expansion: ExpansionId,
    ) -> Self {
        Self {
            level: Severity::Error,
            code,
            message: message.into(),
            primary: Label {
                span,
                expansion,
                text: String::new(),
            },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            patches: Vec::new(),
        }
    }

    /// A warning at a place.
    #[must_use]
    pub fn warning(
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        expansion: ExpansionId,
    ) -> Self {
        Self {
            level: Severity::Warning,
            ..Self::error(code, message, span, expansion)
        }
    }

    /// Whether no image is made because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.level == Severity::Error
    }

    /// Sets the text under the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds a further place.
    #[must_use]
    pub(crate) fn also(
        mut self,
        span: Span,
        expansion: ExpansionId,
        text: impl Into<String>,
    ) -> Self {
        self.secondary.push(Label {
            span,
            expansion,
            text: text.into(),
        });
        self
    }

    /// Adds a reason.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds an edit to the help.
    #[must_use]
    pub fn patch(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.patches.push(Patch {
            span,
            replacement: replacement.into(),
        });
        self
    }
}
