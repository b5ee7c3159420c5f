//! Mistakes in the keys and values of a file: a project file, a network file or a study.
//!
//! [`KeyError`] is the error with which [`crate::toml_reader`] deserializes. It keeps what does
//! not fit as data, with the way to the key; `KeyError::explain` says it in the terms of the
//! file, not of the types of this program ("expected u16").

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use npsim_asm::spelling::closest;
use serde::de::{Error, Expected, Unexpected};

use super::source_map::{KeyPath, KeyStep};
use crate::problem::{Excerpt, Problem};

/// How serde's visitors of derived structs say what they expect: `struct RingSection`.
const SECTION: &str = "struct ";

/// What a file has that it cannot have, or has not, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    reason: KeyErrorReason,
    /// Where it is typed; none for the file as a whole.
    span: Option<Range<usize>>,
    /// The way to the key from the top of the file; to the table for a key that is missing.
    steps: KeyPath,
}

/// What does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KeyErrorReason {
    /// The text is not TOML, in the words of the parser.
    Syntax(String),
    /// A key is given a second time.
    KeyTwice(String),
    /// A table lacks a key.
    MissingKey(&'static str),
    /// A table has a key that is none of these.
    UnknownKey {
        key: String,
        known: Vec<&'static str>,
    },
    /// A word is none of these.
    UnknownWord {
        word: String,
        known: Vec<&'static str>,
    },
    /// A value is of another type than is expected (in the words of a visitor of serde's), or
    /// out of the range of that.
    Value { found: FoundValue, expected: String },
    /// A list has another length than is expected.
    Length { found: usize, expected: String },
    /// What a type of this program says of a value.
    Refused(String),
}

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FoundValue {
    Integer(String),
    Text(String),
    List,
    Section,
    /// As it is shown.
    Other(String),
}

impl From<Unexpected<'_>> for FoundValue {
    fn from(found: Unexpected<'_>) -> Self {
        match found {
            Unexpected::Bool(value) => Self::Other(value.to_string()),
            Unexpected::Unsigned(number) => Self::Integer(number.to_string()),
            Unexpected::Signed(number) => Self::Integer(number.to_string()),
            Unexpected::Float(number) => Self::Other(format!("{number:?}")),
            Unexpected::Str(text) => Self::Text(text.to_owned()),
            Unexpected::Seq => Self::List,
            Unexpected::Map => Self::Section,
            other => Self::Other(other.to_string()),
        }
    }
}

impl fmt::Display for FoundValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(shown) | Self::Other(shown) => f.write_str(shown),
            Self::Text(text) => write!(f, "the text {text:?}"),
            Self::List => f.write_str("a list"),
            Self::Section => f.write_str("a section"),
        }
    }
}

impl KeyError {
    fn new(reason: KeyErrorReason) -> Self {
        Self {
            reason,
            span: None,
            steps: KeyPath::new(),
        }
    }

    /// What the parser of TOML says of a text.
    pub(crate) fn syntax(error: &toml::de::Error, text: &str) -> Self {
        let span = error.span();
        let reason = match error.message().trim() {
            // The parser has no other sign of it; `tests/mistakes.rs` holds its words.
            "duplicate key" => {
                let key = span.clone().and_then(|span| text.get(span));
                KeyErrorReason::KeyTwice(key.unwrap_or_default().to_owned())
            }
            message => KeyErrorReason::Syntax(message.to_owned()),
        };
        Self {
            span,
            ..Self::new(reason)
        }
    }

    /// The error at a place, unless it has one already.
    pub(crate) fn at(mut self, span: Option<Range<usize>>) -> Self {
        self.span = self.span.or(span);
        self
    }

    /// The error of what lies behind a step.
    pub(crate) fn below(mut self, step: KeyStep) -> Self {
        self.steps.insert(0, step);
        self
    }

    /// The error with more keys that a section could have, if it is of an unknown key there;
    /// `section` is the way to it.
    pub(crate) fn with_known(
        mut self,
        section: &[&str],
        more: impl Iterator<Item = &'static str>,
    ) -> Self {
        let above = self.steps.split_last().map_or(&[][..], |(_, above)| above);
        let is_there = above.len() == section.len()
            && (above.iter().zip(section))
                .all(|(step, key)| matches!(step, KeyStep::Key(own) if own == key));
        if let KeyErrorReason::UnknownKey { known, .. } = &mut self.reason
            && is_there
        {
            known.extend(more);
        }
        self
    }

    /// Where it is, in bytes of the text; `0..0` for the file as a whole.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone().unwrap_or(0..0)
    }

    /// Whether a table lacks a key.
    pub(crate) fn is_missing_key(&self) -> bool {
        matches!(self.reason, KeyErrorReason::MissingKey(_))
    }

    /// The key that no such table has, with those that it can have.
    pub(crate) fn unknown_key(&self) -> Option<(&str, &[&'static str])> {
        match &self.reason {
            KeyErrorReason::UnknownKey { key, known } => Some((key, known)),
            _ => None,
        }
    }

    /// The mistake in the terms of a kind of file.
    pub(crate) fn explain(&self, kind: FileKind<'_>) -> KeyExplanation {
        let name = last_key(&self.steps);
        match &self.reason {
            KeyErrorReason::KeyTwice(key) => format!("`{key}` is given twice").into(),
            KeyErrorReason::MissingKey(key) => {
                let section = section(&self.steps, kind);
                format!("the key `{key}` is missing in {section}").into()
            }
            KeyErrorReason::UnknownKey { key, known } => {
                let above = self.steps.split_last().map_or(&[][..], |(_, above)| above);
                let all: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
                KeyExplanation {
                    message: format!("there is no key `{key}` in {}", section(above, kind)),
                    help: Some(match closest(key, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("there are {}", all.join(", ")),
                    }),
                }
            }
            KeyErrorReason::UnknownWord { word, known } => unknown_word(&name, word, known),
            KeyErrorReason::Value { found, expected } => {
                self.wrong_value(&name, found, expected, kind)
            }
            KeyErrorReason::Length { found, expected } => {
                let wanted = wanted(expected, &self.steps, kind);
                format!("{name} must be {wanted}, not of {found}").into()
            }
            // A type of several forms says what they are, such as "a string or an integer".
            KeyErrorReason::Refused(forms)
                if (forms.starts_with("a ") || forms.starts_with("an "))
                    && forms.contains(" or ")
                    && !forms.contains(':') =>
            {
                format!("{name} must be {forms}").into()
            }
            KeyErrorReason::Syntax(message) | KeyErrorReason::Refused(message) => {
                message.clone().into()
            }
        }
    }

    /// A value of another type than its key has.
    fn wrong_value(
        &self,
        name: &str,
        found: &FoundValue,
        expected: &str,
        kind: FileKind<'_>,
    ) -> KeyExplanation {
        let wanted = wanted(expected, &self.steps, kind);
        let help = match (self.steps.as_slice(), found) {
            ([.., KeyStep::Key(key)], FoundValue::Integer(number)) if wanted == TIME_OR_CYCLES => {
                Some(format!("write {key} = \"{number}\""))
            }
            ([KeyStep::Key(key)], FoundValue::Section) => Some(format!("write [[{key}]]")),
            ([.., KeyStep::Key(_)], FoundValue::List) if expected.starts_with(SECTION) => {
                Some(format!("write [{}]", path(&self.steps)))
            }
            _ => None,
        };
        KeyExplanation {
            message: format!("{name} must be {wanted}, not {found}"),
            help,
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(TOML).message)
    }
}

impl std::error::Error for KeyError {}

impl Error for KeyError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(KeyErrorReason::Refused(
            message.to_string().trim().to_owned(),
        ))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(KeyErrorReason::Value {
            found: found.into(),
            expected: expected.to_string(),
        })
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        Self::new(KeyErrorReason::Length {
            found,
            expected: expected.to_string(),
        })
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::new(KeyErrorReason::UnknownWord {
            word: word.to_owned(),
            known: known.to_vec(),
        })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(KeyErrorReason::UnknownKey {
            key: key.to_owned(),
            known: known.to_vec(),
        })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(KeyErrorReason::MissingKey(key))
    }
}

/// A mistake in words, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyExplanation {
    pub message: String,
    pub help: Option<String>,
}

impl From<String> for KeyExplanation {
    fn from(message: String) -> Self {
        Self {
            message,
            help: None,
        }
    }
}

/// A kind of file, in whose terms mistakes are explained.
#[derive(Clone, Copy, Debug)]
pub struct FileKind<'a> {
    /// What such a file describes, as in "a project file".
    pub noun: &'a str,
    /// What keys of some names have, where that is more than a type says: text in quotes.
    pub forms: &'a [(&'a [&'a str], &'a str)],
}

/// Project files.
pub(super) const PROJECT: FileKind<'_> = FileKind {
    noun: "project",
    forms: &[
        (
            &[
                "at", "delay", "for", "from", "grace", "period", "sample", "time", "window",
            ],
            TIME_OR_CYCLES,
        ),
        (&["rate", "capacity"], "a rate in quotes, such as \"1Gbps\""),
        (
            &["mac"],
            "an address in quotes, such as \"02:00:00:00:01:00\"",
        ),
        (
            &["prefix", "add", "change", "remove"],
            "a prefix in quotes, such as \"10.0.0.0/8\"",
        ),
    ],
};

/// Any file.
const TOML: FileKind<'_> = FileKind {
    noun: "TOML",
    forms: &[],
};

/// A time of a chip.
const TIME_OR_CYCLES: &str = "a time in quotes, such as \"2ms\", or \"60000\" for cycles";

/// What serde calls the types of values, and what a user calls them.
const TYPES: &[(&str, &str)] = &[
    ("a string", "text in quotes"),
    ("a boolean", "`true` or `false`"),
    ("a sequence", "a list in brackets"),
    ("a map", "a section with keys of its own"),
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number from 0 on"),
    ("i64", "a whole number"),
    ("usize", "a whole number from 0 on"),
    ("f64", "a number"),
];

/// A mistake in a file with its place, in the file's terms. `path` is how the file is shown.
#[must_use]
pub fn problem(error: &KeyError, kind: FileKind<'_>, path: &str, text: &Arc<str>) -> Problem {
    let KeyExplanation { message, help } = error.explain(kind);
    let problem = Problem::new(message).at(Excerpt {
        path: path.to_owned(),
        text: Arc::clone(text),
        span: error.span(),
        label: String::new(),
    });
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Of so many values a message names each, and of more the help.
const FEW: usize = 5;

/// A word that a key cannot have.
fn unknown_word(name: &str, word: &str, known: &[&'static str]) -> KeyExplanation {
    let all: Vec<_> = known.iter().map(|word| format!("\"{word}\"")).collect();
    let near = closest(word, known.iter().copied());
    let near = near.map(|near| format!("did you mean \"{near}\"?"));
    match all.split_last() {
        Some((last, rest)) if (1..FEW).contains(&rest.len()) => {
            let all = format!("{} or {last}", rest.join(", "));
            KeyExplanation {
                message: format!("{name} must be {all}, not \"{word}\""),
                help: near,
            }
        }
        _ => KeyExplanation {
            message: format!("{name} cannot be \"{word}\""),
            help: near.or_else(|| Some(format!("there are {}", all.join(", ")))),
        },
    }
}

/// The key at the end of a path.
fn last_key(steps: &[KeyStep]) -> String {
    let key = steps.iter().rev().find_map(|step| match step {
        KeyStep::Key(key) => Some(key),
        KeyStep::Place(_) => None,
    });
    let entry = matches!(steps, [.., KeyStep::Key(_), KeyStep::Place(_)]);
    match key {
        Some(key) if entry => format!("an entry of `{key}`"),
        Some(key) => format!("`{key}`"),
        None => "this".to_owned(),
    }
}

/// A section as it is typed: `[[ring]]`, `[gpp.exceptions]`.
fn section(steps: &[KeyStep], kind: FileKind<'_>) -> String {
    match steps {
        [] => format!("the {} file", kind.noun),
        [.., KeyStep::Place(_)] => format!("[[{}]]", path(steps)),
        _ => format!("[{}]", path(steps)),
    }
}

/// Keys with dots between them.
fn path(steps: &[KeyStep]) -> String {
    let keys = steps.iter().filter_map(|step| match step {
        KeyStep::Key(key) => Some(key.as_str()),
        KeyStep::Place(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

/// What a key must be.
fn wanted(expected: &str, steps: &[KeyStep], kind: FileKind<'_>) -> String {
    let keys = steps.iter().rev().find_map(|step| match step {
        KeyStep::Key(key) => Some(key.as_str()),
        KeyStep::Place(_) => None,
    });
    let form = { kind.forms.iter() }
        .find(|(names, _)| expected == "a string" && keys.is_some_and(|key| names.contains(&key)));
    if let Some((_, form)) = form {
        return (*form).to_owned();
    }
    if expected.starts_with(SECTION) {
        return "a section with keys of its own".to_owned();
    }
    if let Some(length) = expected.strip_prefix("an array of length ") {
        return format!("a list of {length} values");
    }
    let known = TYPES.iter().find(|(name, _)| *name == expected);
    known.map_or(expected, |(_, words)| words).to_owned()
}
