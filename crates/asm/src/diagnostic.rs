//! Diagnostics of the assembler, as plain data. Rendering is up to the caller.

use crate::source::{ExpansionId, Span};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A remark only (`#info`).
    Note,
    /// The program assembles, but may not do what was intended.
    Warning,
    /// No image is produced.
    Error,
}

/// A place in the source with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The position.
    pub span: Span,
    /// The expansion that contains the place.
    pub expansion: ExpansionId,
    /// The remark; may be empty.
    pub text: String,
}

/// A replacement that would fix the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The text to replace; empty for an insertion.
    pub span: Span,
    /// The replacement text.
    pub replacement: String,
}

/// A diagnostic message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub level: Severity,
    /// Stable name, such as `bank-conflict`; see [`crate::codes`].
    pub code: &'static str,
    /// One line, in lower case, without a full stop.
    pub message: String,
    /// The place that the message is about.
    pub primary: Label,
    /// Further places.
    pub secondary: Vec<Label>,
    /// Reasons, one sentence each.
    pub notes: Vec<String>,
    /// The suggested remedy.
    pub help: Option<String>,
    /// Edits that carry out the suggestion.
    pub patches: Vec<Patch>,
}

impl Diagnostic {
    /// Creates an error at a place.
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

    /// Creates a warning at a place.
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

    /// Whether it prevents an image from being produced.
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

    /// Sets the suggested remedy.
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
