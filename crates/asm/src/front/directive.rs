//! The words that may stand after `#`.

/// The word after `#`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    Define,
    DefineEval,
    Undef,
    If,
    Ifdef,
    Ifndef,
    Elif,
    Else,
    Endif,
    Include,
    Macro,
    Endm,
    Exitm,
    While,
    For,
    Repeat,
    Endloop,
    Error,
    Warning,
    Info,
    Pragma,
    Line,
    /// A `#` alone on its line.
    Nothing,
    Unknown,
}

/// Spellings.
pub(crate) const NAMES: &[(&str, Directive)] = &[
    ("define", Directive::Define),
    ("define_eval", Directive::DefineEval),
    ("undef", Directive::Undef),
    ("if", Directive::If),
    ("ifdef", Directive::Ifdef),
    ("ifndef", Directive::Ifndef),
    ("elif", Directive::Elif),
    ("else", Directive::Else),
    ("endif", Directive::Endif),
    ("include", Directive::Include),
    ("macro", Directive::Macro),
    ("endm", Directive::Endm),
    ("exitm", Directive::Exitm),
    ("while", Directive::While),
    ("for", Directive::For),
    ("repeat", Directive::Repeat),
    ("endloop", Directive::Endloop),
    ("error", Directive::Error),
    ("warning", Directive::Warning),
    ("warn", Directive::Warning),
    ("info", Directive::Info),
    ("pragma", Directive::Pragma),
    ("line", Directive::Line),
];

impl Directive {
    /// The directive of this name in any letter case.
    pub fn named(name: &str) -> Self {
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map_or(Self::Unknown, |(_, directive)| *directive)
    }

    /// Whether it opens, divides or closes a conditional block.
    pub fn is_conditional(self) -> bool {
        matches!(
            self,
            Self::If | Self::Ifdef | Self::Ifndef | Self::Elif | Self::Else | Self::Endif
        )
    }

    /// Whether a loop's body follows it.
    pub fn opens_loop(self) -> bool {
        matches!(self, Self::While | Self::For | Self::Repeat)
    }
}
