//! Maps the keys of a project merged from several files to their origins.
//!
//! The merged text is the one that is parsed and checked. An error in it is shown in the original
//! file: the place in the merged text is converted to a path of keys, and that path leads to a file
//! and a place there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml_edit::{Document, Item, Table, Value};

use crate::problem::Excerpt;

/// One step on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyStep {
    /// The key of a table.
    Key(String),
    /// The index of a list entry, from 0.
    Place(usize),
}

/// The path to a value from the top of a file.
pub(super) type KeyPath = Vec<KeyStep>;

/// An original file.
#[derive(Clone, Debug)]
struct TypedFile {
    path: String,
    text: Arc<str>,
    /// Values that differ in the merged text: paths, which there are relative to another folder.
    rewritten: BTreeMap<KeyPath, String>,
}

/// Origins of the keys of a merged text.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    parts: Vec<TypedFile>,
    /// For the top of everything that was taken over as a whole: the file and the path in it.
    /// Anything below it is below that path in the file.
    taken: BTreeMap<KeyPath, (usize, KeyPath)>,
    /// Entries that were added to a list although an earlier one has a similar name, with that
    /// name.
    similar: BTreeMap<KeyPath, String>,
}

impl SourceMap {
    /// Adds a file; returns its index.
    pub(super) fn add(
        &mut self,
        path: String,
        text: Arc<str>,
        rewritten: BTreeMap<KeyPath, String>,
    ) -> usize {
        self.parts.push(TypedFile {
            path,
            text,
            rewritten,
        });
        self.parts.len() - 1
    }

    /// Records that the value at `steps` of the merged text comes from a file.
    pub(super) fn take(&mut self, steps: &[KeyStep], part: usize, there: KeyPath) {
        self.taken.retain(|known, _| !known.starts_with(steps));
        self.taken.insert(steps.to_vec(), (part, there));
    }

    /// Records that the entry at `steps` of the merged text is new, and that an earlier one has a
    /// similar name, `name`.
    pub(super) fn resembles(&mut self, steps: KeyPath, name: String) {
        self.similar.insert(steps, name);
    }

    /// Returns the name that the list entry around a span was perhaps meant to have.
    pub(super) fn similar(&self, merged: &str, span: &Range<usize>) -> Option<&str> {
        let document = Document::parse(merged).ok()?;
        let hit = smallest(document.as_table(), span)?;
        let mut entries = self.similar.iter();
        let found = entries.find(|(steps, _)| hit.steps.starts_with(steps));
        found.map(|(_, name)| name.as_str())
    }

    /// Returns the original place of a span of the merged text. If there is none, as for the value
    /// of a setting, the merged text is shown.
    pub(super) fn excerpt(
        &self,
        merged: &Arc<str>,
        shown: &str,
        span: Range<usize>,
        label: String,
    ) -> Excerpt {
        let found = self.place(merged, &span);
        match found {
            Some((part, span)) => Excerpt {
                path: self.parts[part].path.clone(),
                text: self.parts[part].text.clone(),
                span,
                label,
            },
            None => Excerpt {
                path: shown.to_owned(),
                text: merged.clone(),
                span,
                label,
            },
        }
    }

    fn place(&self, merged: &str, span: &Range<usize>) -> Option<(usize, Range<usize>)> {
        if span.is_empty() && span.start == 0 {
            return self.parts.len().checked_sub(1).map(|own| (own, 0..0));
        }
        let document = Document::parse(merged).ok()?;
        let hit = smallest(document.as_table(), span)?;
        let (part, there) = self.origin(&hit.steps)?;
        let from = self.parts.get(part)?;
        let typed = Document::parse(&*from.text).ok()?;
        let (key, item) = find(typed.as_table(), &there)?;
        if hit.is_key {
            return Some((part, key?));
        }
        let whole = item.span()?;
        let now = merged.get(hit.span.clone())?;
        let then = from.text.get(whole.clone())?;
        if now == then {
            let start = whole.start + (span.start - hit.span.start);
            return Some((part, start..start + span.len()));
        }
        let same_path = from.rewritten.get(&there).is_some_and(|text| {
            now.parse::<Value>()
                .is_ok_and(|now| now.as_str() == Some(text))
        });
        (same_path || !item.is_value() || hit.is_table).then_some((part, whole))
    }

    /// Returns the file, and the path in it, of the value at `steps` of the merged text.
    fn origin(&self, steps: &[KeyStep]) -> Option<(usize, KeyPath)> {
        (0..=steps.len()).rev().find_map(|length| {
            let (part, there) = self.taken.get(&steps[..length])?;
            let mut there = there.clone();
            there.extend_from_slice(&steps[length..]);
            Some((*part, there))
        })
    }
}

/// A key or a value found in a text.
struct SourceHit {
    steps: KeyPath,
    span: Range<usize>,
    is_key: bool,
    is_table: bool,
}

/// Returns the smallest key or value that contains all of a span.
fn smallest(root: &Table, span: &Range<usize>) -> Option<SourceHit> {
    let mut hits = Vec::new();
    collect_table(root, &mut Vec::new(), &mut hits);
    hits.into_iter()
        .filter(|hit| hit.span.start <= span.start && span.end <= hit.span.end)
        .min_by_key(|hit| hit.span.len())
}

fn collect_table(table: &Table, steps: &mut KeyPath, hits: &mut Vec<SourceHit>) {
    for (name, item) in table {
        steps.push(KeyStep::Key(name.to_owned()));
        if let Some(span) = table.key(name).and_then(toml_edit::Key::span) {
            hits.push(SourceHit {
                steps: steps.clone(),
                span,
                is_key: true,
                is_table: false,
            });
        }
        collect(item, steps, hits);
        steps.pop();
    }
}

fn collect(item: &Item, steps: &mut KeyPath, hits: &mut Vec<SourceHit>) {
    if let Some(span) = item.span() {
        hits.push(SourceHit {
            steps: steps.clone(),
            span,
            is_key: false,
            is_table: !item.is_value(),
        });
    }
    match item {
        Item::Table(table) => collect_table(table, steps, hits),
        Item::ArrayOfTables(list) => {
            for (place, table) in list.iter().enumerate() {
                steps.push(KeyStep::Place(place));
                if let Some(span) = table.span() {
                    hits.push(SourceHit {
                        steps: steps.clone(),
                        span,
                        is_key: false,
                        is_table: true,
                    });
                }
                collect_table(table, steps, hits);
                steps.pop();
            }
        }
        Item::Value(value) => collect_below(value, steps, hits),
        Item::None => {}
    }
}

/// Collects the keys and values within a value.
fn collect_below(value: &Value, steps: &mut KeyPath, hits: &mut Vec<SourceHit>) {
    let mut add = |value: &Value, step: KeyStep, key: Option<Range<usize>>| {
        steps.push(step);
        let spans = [(key, true), (value.span(), false)];
        hits.extend(spans.into_iter().filter_map(|(span, is_key)| {
            Some(SourceHit {
                steps: steps.clone(),
                span: span?,
                is_key,
                is_table: false,
            })
        }));
        collect_below(value, steps, hits);
        steps.pop();
    };
    match value {
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                add(value, KeyStep::Place(place), None);
            }
        }
        Value::InlineTable(table) => {
            for (name, value) in table {
                let key = table.key(name).and_then(toml_edit::Key::span);
                add(value, KeyStep::Key(name.to_owned()), key);
            }
        }
        _ => {}
    }
}

/// Returns the item at the end of a path, with the span of the last key on it.
fn find(root: &Table, steps: &[KeyStep]) -> Option<(Option<Range<usize>>, Item)> {
    let mut key = None;
    let mut item = Item::Table(root.clone());
    for step in steps {
        let next = match step {
            KeyStep::Key(name) => {
                let table = item.as_table_like()?;
                key = table.key(name).and_then(toml_edit::Key::span);
                table.get(name)?.clone()
            }
            KeyStep::Place(place) => match &item {
                Item::ArrayOfTables(list) => Item::Table(list.get(*place)?.clone()),
                Item::Value(Value::Array(values)) => Item::Value(values.get(*place)?.clone()),
                _ => return None,
            },
        };
        item = next;
    }
    Some((key, item))
}
