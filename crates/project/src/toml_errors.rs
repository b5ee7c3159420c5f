//! Errors in the keys and values of a file: a project file, a network file or a study.
//!
//! [`KeyError`] is the error type with which [`crate::toml_reader`] deserializes. It keeps the
//! mismatch as data, with the path to the key; `KeyError::explain` describes it in terms of the
//! file, not of the types of this program ("expected u16").

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use npsim_asm::spelling::closest;
use serde::de::{Error, Expected, Unexpected};

use super::source_map::{KeyPath, KeyStep};
use crate::problem::{Excerpt, Problem};

/// Prefix in the expectations of serde's derived struct visitors: `struct RingSection`.
const SECTION: &str = "struct ";

/// An invalid or missing part of a file, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    reason: KeyErrorReason,
    /// Its byte range; `None` for the file as a whole.
    span: Option<Range<usize>>,
    /// The path to the key from the top of the file; for a missing key, to its table.
    steps: KeyPath,
}

/// The kind of mismatch.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KeyErrorReason {
    /// The text is not TOML; holds the parser's message.
    Syntax(String),
    /// A key is given a second time.
    KeyTwice(String),
    /// A table lacks a key.
    MissingKey(&'static str),
    /// A table has a key that is not one of the known ones.
    UnknownKey {
        key: String,
        known: Vec<&'static str>,
    },
    /// A word is not one of the known ones.
    UnknownWord {
        word: String,
        known: Vec<&'static str>,
    },
    /// A value has a type other than the expected one (as described by a serde visitor), or is
    /// outside its range.
    Value { found: FoundValue, expected: String },
    /// A list has an unexpected length.
    Length { found: usize, expected: String },
    /// A type of this program rejects a value; holds its message.
    Refused(String),
}

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FoundValue {
    Integer(String),
    Text(String),
    List,
    Section,
    /// The value as displayed.
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

    /// Converts an error of the TOML parser.
    pub(crate) fn syntax(error: &toml::de::Error, text: &str) -> Self {
        let span = error.span();
        let reason = match error.message().trim() {
            // The parser has no other indication of it; `tests/mistakes.rs` checks its wording.
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

    /// Sets the error's place, unless it has one already.
    pub(crate) fn at(mut self, span: Option<Range<usize>>) -> Self {
        self.span = self.span.or(span);
        self
    }

    /// Prepends a step to the error's path.
    pub(crate) fn below(mut self, step: KeyStep) -> Self {
        self.steps.insert(0, step);
        self
    }

    /// Adds more known keys to an error about an unknown key in this section; `section` is the path
    /// to it.
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

    /// Returns the place as a byte range of the text; `0..0` for the file as a whole.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone().unwrap_or(0..0)
    }

    /// Whether a table lacks a key.
    pub(crate) fn is_missing_key(&self) -> bool {
        matches!(self.reason, KeyErrorReason::MissingKey(_))
    }

    /// Returns the unknown key, with the keys that the table can have.
    pub(crate) fn unknown_key(&self) -> Option<(&str, &[&'static str])> {
        match &self.reason {
            KeyErrorReason::UnknownKey { key, known } => Some((key, known)),
            _ => None,
        }
    }

    /// Explains the error in the terms of a kind of file.
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
                        None => format!("choose one of {}", all.join(", ")),
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
            // A type with several forms lists them, such as "a string or an integer".
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

    /// Explains a value of the wrong type.
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

/// An explained error, with a suggested remedy.
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

/// A kind of file, in whose terms errors are explained.
#[derive(Clone, Copy, Debug)]
pub struct FileKind<'a> {
    /// What such a file describes, as in "a project file".
    pub noun: &'a str,
    /// The form of certain keys' values where it is more specific than their type: text in quotes.
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

/// A time on a chip.
const TIME_OR_CYCLES: &str = "a time in quotes, such as \"2ms\", or \"60000\" for cycles";

/// Names of value types in serde and for the user.
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

/// Returns the problem for an error in a file, explained in the file's terms, with its place.
/// `path` is the path as shown to the user.
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

/// Up to this many values are listed in the message, more of them in the help.
const FEW: usize = 5;

/// Explains a word that a key cannot have.
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
            help: near.or_else(|| Some(format!("choose one of {}", all.join(", ")))),
        },
    }
}

/// Returns the last key of a path, for messages.
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

/// Returns a section as written in the file: `[[ring]]`, `[gpp.exceptions]`.
fn section(steps: &[KeyStep], kind: FileKind<'_>) -> String {
    match steps {
        [] => format!("the {} file", kind.noun),
        [.., KeyStep::Place(_)] => format!("[[{}]]", path(steps)),
        _ => format!("[{}]", path(steps)),
    }
}

/// Returns the keys of a path joined by dots.
fn path(steps: &[KeyStep]) -> String {
    let keys = steps.iter().filter_map(|step| match step {
        KeyStep::Key(key) => Some(key.as_str()),
        KeyStep::Place(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

/// Describes what a key's value must be.
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
