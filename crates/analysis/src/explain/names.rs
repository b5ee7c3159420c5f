//! Registers and signals by their names in the source.

use npsim_image::Image;
use serde::Serialize;

/// A name and its allocation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ExplainedName {
    /// The register or signal: `a5`, `$3`, `s7`.
    pub allocated: String,
    /// The name; several if neither the image nor the line determines which of
    /// them is live.
    pub names: Vec<String>,
    /// `read` or `written` if the word writes the register under another name
    /// than it reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<&'static str>,
}

/// The registers that a word names or transfers.
pub(super) fn registers(image: &Image, address: u16, source: &[&str]) -> Vec<ExplainedName> {
    let mut named: Vec<ExplainedName> = Vec::new();
    for used in image.registers_used(address) {
        let found = image.register_at(used);
        let names = names_on_line(found.map(|symbol| symbol.name.as_str()), source);
        let new = ExplainedName {
            allocated: used.operand.to_string(),
            names,
            access: Some(if used.point.after { "written" } else { "read" }),
        };
        let same =
            |other: &ExplainedName| other.allocated == new.allocated && other.names == new.names;
        if !new.names.is_empty() && !named.iter().any(same) {
            named.push(new);
        }
    }
    let several = |named: &[ExplainedName], allocated: &str| {
        let mut same = named.iter().filter(|other| other.allocated == allocated);
        same.nth(1).is_some()
    };
    for at in 0..named.len() {
        if !several(&named, &named[at].allocated) {
            named[at].access = None;
        }
    }
    named
}

/// The signals that a word names.
pub(super) fn signals(image: &Image, address: u16, source: &[&str]) -> Vec<ExplainedName> {
    let uses = image.signals_used(address).into_iter();
    uses.map(|used| {
        let signals = image.signal_at(used);
        // The odd signal of a pair has the name of the even one.
        let second = signals.iter().all(|signal| signal.number != used.number);
        let mut names = names_on_line(signals.iter().map(|signal| signal.name.as_str()), source);
        if second {
            for name in &mut names {
                name.push_str(", second of the pair");
            }
        }
        ExplainedName {
            allocated: format!("s{}", used.number),
            names,
            access: None,
        }
    })
    .collect()
}

/// The names that occur on the source line, or all of them if none does; each once.
fn names_on_line<'a>(names: impl Iterator<Item = &'a str>, source: &[&str]) -> Vec<String> {
    let mut all: Vec<&str> = names.collect();
    all.sort_unstable();
    all.dedup();
    let written: Vec<&str> = all
        .iter()
        .copied()
        .filter(|name| source.iter().any(|line| has_word(line, name)))
        .collect();
    let names_on_line = if written.is_empty() { all } else { written };
    names_on_line.into_iter().map(str::to_owned).collect()
}

/// Whether a line contains a name that is not part of a longer one.
fn has_word(line: &str, name: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::{has_word, names_on_line};

    #[test]
    fn names_match_whole_words_only() {
        assert!(has_word("alu[total, --, B, $$h4]", "total"));
        assert!(!has_word("alu[total2, --, B, $$h4]", "total"));
        assert!(!has_word("alu[--, --, B, $$h4]", "$h4"));
    }

    #[test]
    fn source_line_selects_among_names_sharing_a_register() {
        let names = ["hop", "sum", "hop"];
        assert_eq!(
            names_on_line(names.into_iter(), &["alu[--, --, B, hop]"]),
            ["hop"]
        );
        assert_eq!(names_on_line(names.into_iter(), &["nop"]), ["hop", "sum"]);
    }
}
