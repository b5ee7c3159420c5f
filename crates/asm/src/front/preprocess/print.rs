//! Output of preprocessed lines as text that assembles to the same words.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    rc::Rc,
};

use crate::front::token::{LogicalLine, Token, TokenKind, spell, split_labels};
use crate::source::{ExpansionId, SourceMap, Span};

/// Prints the lines, with `#line` wherever the source position does not follow from the previous
/// line.
///
/// A label of a macro that is used more than once is renamed, since all labels of the printed text
/// share one scope. Preprocessing and printing the result again yields the same text.
#[must_use]
pub fn print_preprocessed(lines: &[LogicalLine], sources: &SourceMap) -> String {
    let names = unique_labels(lines);
    let mut text = String::new();
    let mut due: Option<(String, u32)> = None;
    for line in lines {
        let Some(first) = line.tokens.first() else {
            continue;
        };
        let (path, number, _) = sources.presumed_location(place(first, line.expansion, sources));
        let path = path.replace(['"', '\n', '\r'], "'");
        if due
            .as_ref()
            .is_none_or(|(file, next)| *file != path || *next != number)
        {
            let _ = writeln!(text, "#line {number} \"{path}\"");
        }
        due = Some((path, number.saturating_add(1)));
        if split_labels(&line.tokens).0.is_empty() {
            text.push_str("    ");
        }
        if names.is_empty() {
            text.push_str(&spell(&line.tokens));
        } else {
            let renamed: Vec<Token> = line
                .tokens
                .iter()
                .map(|token| rename(token, &names, sources))
                .collect();
            text.push_str(&spell(&renamed));
        }
        text.push('\n');
    }
    text
}

/// Returns the line's position in the body that contains it, even if its first token came from a
/// definition.
fn place(first: &Token, line: ExpansionId, sources: &SourceMap) -> Span {
    let mut span = first.span;
    let mut expansion = first.expansion;
    while expansion != line {
        let Some(used) = sources.expansion(expansion) else {
            return first.span;
        };
        span = used.call;
        expansion = used.parent;
    }
    span
}

/// New names of labels, by old name and defining expansion.
type LabelNames = BTreeMap<(Rc<str>, ExpansionId), Option<Rc<str>>>;

/// Finds labels that several expansions define, and renames all of them except those outside of
/// macros.
fn unique_labels(lines: &[LogicalLine]) -> LabelNames {
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut defined: BTreeMap<&Rc<str>, BTreeSet<ExpansionId>> = BTreeMap::new();
    for line in lines {
        for token in line.tokens.iter().filter(|t| t.kind == TokenKind::Label) {
            taken.insert(&token.text);
        }
        for label in split_labels(&line.tokens).0.iter().step_by(2) {
            defined
                .entry(&label.text)
                .or_default()
                .insert(label.expansion);
        }
    }
    let mut renamed = LabelNames::new();
    for (label, expansions) in defined {
        if expansions.len() < 2 {
            continue;
        }
        let stem = &label[..label.len() - 1];
        let mut number = 0;
        for expansion in expansions {
            let name = (expansion != ExpansionId::ROOT).then(|| {
                loop {
                    number += 1;
                    let name = format!("{stem}__{number}#");
                    if !taken.contains(&*name) {
                        break name.into();
                    }
                }
            });
            renamed.insert((label.clone(), expansion), name);
        }
    }
    renamed
}

/// Renames a label token according to the innermost enclosing expansion that defines the label.
fn rename(token: &Token, names: &LabelNames, sources: &SourceMap) -> Token {
    if token.kind == TokenKind::Label {
        let mut expansion = token.expansion;
        loop {
            if let Some(name) = names.get(&(token.text.clone(), expansion)) {
                return Token {
                    text: name.clone().unwrap_or_else(|| token.text.clone()),
                    ..token.clone()
                };
            }
            match sources.expansion(expansion) {
                Some(used) => expansion = used.parent,
                None => break,
            }
        }
    }
    token.clone()
}
