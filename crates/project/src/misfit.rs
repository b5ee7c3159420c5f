//! What does not fit a key of a project file, of a network file or of a study, in the words of
//! whoever typed it.
//!
//! The reader of TOML speaks of the types of this program ("invalid type: string "big",
//! expected u16"). Its sentences have a few fixed forms, which are taken apart here and
//! said with the key that the place belongs to.

use std::ops::Range;
use std::sync::Arc;

use npsim_asm::spelling::closest;
use toml_edit::{Document, Table};

use super::origins::{Step, Steps, find, smallest};
use crate::problem::{Excerpt, Problem};

/// What the reader calls a section that is there once.
pub(super) const SECTION: &str = "struct";

/// A mistake and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    pub message: String,
    pub help: Option<String>,
}

impl From<String> for Misfit {
    fn from(message: String) -> Self {
        Self {
            message,
            help: None,
        }
    }
}

/// A kind of file, in the words of which mistakes are told.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    /// What such a file describes, as in "a project file".
    pub noun: &'a str,
    /// What keys of some names have, where that is more than a type says: text in quotes.
    pub forms: &'a [(&'a [&'a str], &'a str)],
}

/// Project files.
pub(super) const PROJECT: Kind<'_> = Kind {
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

/// A time of a chip.
const TIME_OR_CYCLES: &str = "a time in quotes, such as \"2ms\", or \"60000\" for cycles";

/// What the reader's types are.
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

/// What the reader of TOML said of a file, at its place and in the file's words. `path` is how the
/// file is shown.
#[must_use]
pub fn problem(error: &toml::de::Error, kind: Kind<'_>, path: &str, text: &Arc<str>) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let told = told(text, error.message().trim(), &span, kind);
    let problem = Problem::new(told.message).at(Excerpt {
        path: path.to_owned(),
        text: Arc::clone(text),
        span,
        label: String::new(),
    });
    match told.help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// What the reader said of a place in a text.
pub(super) fn told(text: &str, said: &str, span: &Range<usize>, kind: Kind<'_>) -> Misfit {
    if said.starts_with("duplicate key") {
        // Such a text cannot be read as keys and values.
        let key = text.get(span.clone()).unwrap_or_default();
        return format!("`{key}` is given twice").into();
    }
    let mut document = Document::parse(text.to_owned());
    if let (Err(_), Some(text)) = (&document, without_number(text, span)) {
        // The number is larger than any that this reader has.
        document = Document::parse(text);
    }
    let Ok(document) = document else {
        return said.to_owned().into();
    };
    // What is missing in the whole file is missing before its first key.
    let hit = smallest(document.as_table(), span).filter(|_| !span.is_empty());
    let steps = hit.map(|hit| hit.steps).unwrap_or_default();
    in_words(said, &steps, Some(document.as_table()), kind)
}

/// A text with quotes in the place of the number at a span, and as long.
fn without_number(text: &str, span: &Range<usize>) -> Option<String> {
    let number = text.get(span.clone())?;
    let digits = number.trim_start_matches(['-', '+']);
    let is_number = { digits.bytes() }.all(|byte| byte.is_ascii_digit() || byte == b'_');
    let blank = " ".repeat(number.len().checked_sub(2)?);
    let (before, behind) = (&text[..span.start], &text[span.end..]);
    is_number.then(|| format!("{before}'{blank}'{behind}"))
}

/// Of so many values a message names each, and of more the help.
const FEW: usize = 5;

/// What the reader said of the key, or the section, to which these steps lead from the root, if
/// there is a text.
fn in_words(said: &str, steps: &[Step], root: Option<&Table>, kind: Kind<'_>) -> Misfit {
    let name = last_key(steps);
    if let Some(missing) = quoted_after(said, "missing field ") {
        let section = section(steps, root, kind);
        let message = format!("the key `{missing}` is missing in {section}");
        return message.into();
    }
    if let Some(unknown) = quoted_after(said, "unknown field ") {
        let known = all_quoted(said).skip(1);
        let above = steps.split_last().map_or(steps, |(_, above)| above);
        let section = section(above, root, kind);
        let message = format!("there is no key `{unknown}` in {section}");
        let all: Vec<_> = known.clone().map(|key| format!("`{key}`")).collect();
        let help = match closest(unknown, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", all.join(", ")),
        };
        let help = Some(help);
        return Misfit { message, help };
    }
    if let Some(unknown) = quoted_after(said, "unknown variant ") {
        let known: Vec<_> = all_quoted(said).skip(1).collect();
        let all: Vec<_> = known.iter().map(|word| format!("\"{word}\"")).collect();
        let near = closest(unknown, known.iter().copied());
        let near = near.map(|near| format!("did you mean \"{near}\"?"));
        let (message, help) = match all.split_last() {
            Some((last, rest)) if (1..FEW).contains(&rest.len()) => {
                let all = format!("{} or {last}", rest.join(", "));
                (format!("{name} must be {all}, not \"{unknown}\""), near)
            }
            _ => {
                let all = || format!("there are {}", all.join(", "));
                let message = format!("{name} cannot be \"{unknown}\"");
                (message, near.or_else(|| Some(all())))
            }
        };
        return Misfit { message, help };
    }
    let wrong = ["invalid type: ", "invalid value: "];
    let rest = wrong.iter().find_map(|form| said.strip_prefix(form));
    if let Some((found, expected)) = rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        let wanted = wanted(expected, steps, kind);
        let message = format!("{name} must be {wanted}, not {}", thing(found));
        let help = match (steps, found) {
            ([.., Step::Key(key)], _)
                if wanted == TIME_OR_CYCLES && found.starts_with("integer") =>
            {
                Some(format!("write {key} = \"{}\"", thing(found)))
            }
            ([Step::Key(key)], "map") => Some(format!("write [[{key}]]")),
            ([.., Step::Key(_)], "sequence") if expected.starts_with(SECTION) => {
                Some(format!("write [{}]", path(steps)))
            }
            _ => None,
        };
        return Misfit { message, help };
    }
    if let Some(length) = said.strip_prefix("invalid length ")
        && let Some((found, expected)) = length.split_once(", expected an array of length ")
    {
        return format!("{name} must be a list of {expected} values, not of {found}").into();
    }
    if said == "wanted string or table" {
        return format!("{name} must be a word in quotes").into();
    }
    // What a type of its own expects is said alone, such as "a string or an integer".
    let alone = said.starts_with("a ") || said.starts_with("an ");
    if alone && said.contains(" or ") && !said.contains(':') {
        return format!("{name} must be {said}").into();
    }
    said.to_owned().into()
}

/// The name behind the beginning of a sentence.
fn quoted_after<'a>(said: &'a str, begin: &str) -> Option<&'a str> {
    said.strip_prefix(begin)?.split('`').nth(1)
}

fn all_quoted(said: &str) -> impl Iterator<Item = &str> + Clone {
    said.split('`').skip(1).step_by(2)
}

/// The key at the end of a path.
fn last_key(steps: &[Step]) -> String {
    let key = steps.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key),
        Step::Place(_) => None,
    });
    let entry = matches!(steps, [.., Step::Key(_), Step::Place(_)]);
    match key {
        Some(key) if entry => format!("an entry of `{key}`"),
        Some(key) => format!("`{key}`"),
        None => "this".to_owned(),
    }
}

/// A section as it is typed: `[[ring]]`, `[gpp.exceptions]`.
fn section(steps: &[Step], root: Option<&Table>, kind: Kind<'_>) -> String {
    let item = root.and_then(|root| find(root, steps));
    let is_list = item.is_some_and(|(_, item)| item.is_array_of_tables());
    match steps {
        [] => format!("the {} file", kind.noun),
        [.., Step::Place(_)] => format!("[[{}]]", path(steps)),
        _ if is_list => format!("[[{}]]", path(steps)),
        _ => format!("[{}]", path(steps)),
    }
}

/// Keys with dots between them.
fn path(steps: &[Step]) -> String {
    let keys = steps.iter().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Place(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

/// What a key must be.
fn wanted(expected: &str, steps: &[Step], kind: Kind<'_>) -> String {
    let keys = steps.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Place(_) => None,
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

/// What stands there, as the reader calls it.
fn thing(found: &str) -> String {
    let value = || all_quoted(found).next().unwrap_or(found).to_owned();
    match found.split([' ', '`']).next().unwrap_or_default() {
        "string" => format!("the text {}", found.trim_start_matches("string ")),
        "integer" | "boolean" | "floating" => value(),
        "sequence" => "a list".to_owned(),
        "map" => "a section".to_owned(),
        _ => found.to_owned(),
    }
}

/// The same for a value that was set to a path of keys.
pub(super) fn of_setting(said: &str, keys: &[String], kind: Kind<'_>) -> Misfit {
    let steps: Steps = keys.iter().cloned().map(Step::Key).collect();
    in_words(said, &steps, None, kind)
}
