//! `extends`: lets a project file build on other files.
//!
//! The files are merged into one text, which is then read like any project file. Tables are merged
//! key by key. List entries are matched by name, routes by prefix; ports and flows, which have
//! neither, are taken over as a whole or not at all. `docs/src/project.md` has the rules for users.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use npsim_asm::spelling::closest;
use toml_edit::{ArrayOfTables, Document, DocumentMut, Item, Table, Value};

use super::project_text::ProjectText;
use super::source_map::{KeyPath, KeyStep, SourceMap};
use super::{FILE_NAME, folder_of};
use crate::files::{FileKind, Files, join, simplify_path};
use crate::problem::{Excerpt, Problem};

/// The key.
pub(super) const KEY: &str = "extends";
/// Greatest nesting depth of extended files.
const MAX_DEPTH: usize = 32;
/// Lists whose entries are identified only by their position.
const WHOLE_LISTS: &[&str] = &["port", "flow"];

/// A file that was read.
struct MergedFile {
    /// The path as shown to the user.
    path: String,
    text: Arc<str>,
    document: DocumentMut,
    /// Paths that were rewritten to be relative to the project's folder.
    rewritten: BTreeMap<KeyPath, String>,
}

/// Reads the files in the order in which they are merged.
struct ExtendsReader<'a> {
    source: &'a dyn Files,
    /// The folder of the project.
    folder: &'a Path,
    parts: Vec<MergedFile>,
    /// The canonical path of every file that was read.
    seen: Vec<PathBuf>,
    files: Vec<PathBuf>,
    /// The files currently being read, outermost first.
    open: Vec<(PathBuf, String)>,
}

/// Merges a text with everything that it extends. A text that extends nothing, or is not TOML, is
/// returned unchanged: the reader of project files then reports what is wrong.
///
/// Parts are merged in the order in which they were read, extended files before the files that
/// extend them, so that a later part overrides. For messages, the source map records which file
/// each key of the merged text comes from.
///
/// # Errors
/// Returns an error if an extended file cannot be read, is not TOML, or extends itself.
pub(super) fn merged(source: &dyn Files, text: ProjectText) -> Result<ProjectText, Problem> {
    let Ok(document) = Document::parse(&*text.text) else {
        return Ok(text);
    };
    if !document.contains_key(KEY) {
        return Ok(text);
    }
    let own = PathBuf::from(&text.path);
    let mut reader = ExtendsReader {
        source,
        folder: &text.folder,
        parts: Vec::new(),
        seen: Vec::new(),
        files: Vec::new(),
        open: vec![(real(source, &own), text.path.clone())],
    };
    reader.take(&text.path, &text.text, Path::new(""))?;
    reader.files.push(own);
    let files = reader.files;
    let mut whole = DocumentMut::new();
    let mut source_map = SourceMap::default();
    for part in reader.parts {
        let number = source_map.add(part.path, part.text, part.rewritten);
        let mut merge = Merge {
            source_map: &mut source_map,
            part: number,
        };
        merge.table(whole.as_table_mut(), part.document.as_table(), &[], &[]);
    }
    in_order(whole.as_table_mut());
    Ok(ProjectText {
        text: whole.to_string().into(),
        files,
        source_map: Some(Arc::new(source_map)),
        ..text
    })
}

/// Returns the canonical path of a file, which is the same however the file was reached.
fn real(source: &dyn Files, path: &Path) -> PathBuf {
    source
        .canonical(path)
        .unwrap_or_else(|_| path.to_path_buf())
}

impl ExtendsReader<'_> {
    /// Reads the files that a text extends, then adds the text. Its paths are relative to `prefix`,
    /// which is relative to the project's folder.
    fn take(&mut self, path: &str, text: &Arc<str>, prefix: &Path) -> Result<(), Problem> {
        let at = |span, label: &str| Excerpt {
            path: path.to_owned(),
            text: text.clone(),
            span,
            label: label.to_owned(),
        };
        let document = Document::parse(&**text).map_err(|error| {
            let problem = Problem::new(error.message().trim().to_owned())
                .at(at(error.span().unwrap_or(0..0), ""));
            problem.note(self.chain())
        })?;
        if let Some(item) = document.get(KEY) {
            let wrong = || {
                Problem::new(format!("`{KEY}` is a file, or a list of files"))
                    .at(at(item.span().unwrap_or(0..0), ""))
                    .help(format!(
                        "write for example `{KEY} = \"../router/{FILE_NAME}\"`"
                    ))
            };
            let values: Vec<&Value> = match item {
                Item::Value(Value::Array(values)) => values.iter().collect(),
                Item::Value(value) => vec![value],
                _ => return Err(wrong()),
            };
            for value in values {
                let name = value.as_str().ok_or_else(wrong)?;
                self.extended(name, prefix)
                    .map_err(|problem| match problem.excerpt {
                        None => problem.at(at(value.span().unwrap_or(0..0), "")),
                        Some(_) => problem,
                    })?;
            }
        }
        let mut document = document.into_mut();
        document.remove(KEY);
        normal(document.as_table_mut());
        let rewritten = self.rewrite(&mut document, prefix);
        self.parts.push(MergedFile {
            path: path.to_owned(),
            text: text.clone(),
            document,
            rewritten,
        });
        Ok(())
    }

    /// Reads a file by the name used in another file; `prefix` is the folder of that other file,
    /// relative to the project's folder.
    ///
    /// `open` holds the files from the project down to this one: a file that is already in it
    /// extends itself, and the error shows the chain. `seen` holds all files read: a file that two
    /// others extend is read once, at its first occurrence. Both compare canonical paths, so that
    /// symbolic links cannot evade the checks. On failure `open` is left as it is, for the message.
    fn extended(&mut self, name: &str, prefix: &Path) -> Result<(), Problem> {
        let mut from_here = prefix.join(name);
        let there = self.source.kind(&join(self.folder, &from_here));
        if there.is_ok_and(|kind| kind == FileKind::Folder) {
            from_here.push(FILE_NAME);
        }
        let from_here = simplify_path(self.source, self.folder, &from_here);
        let path = join(self.folder, &from_here);
        let path = simplify_path(self.source, Path::new("."), &path);
        let shown = path.display().to_string();
        let file = real(self.source, &path);
        if self.open.iter().any(|(open, _)| *open == file) {
            self.open.push((file, shown.clone()));
            return Err(Problem::new(format!("`{shown}` extends itself"))
                .note(self.chain())
                .help(format!("remove one of these `{KEY}`")));
        }
        if self.seen.contains(&file) {
            return Ok(());
        }
        if self.open.len() > MAX_DEPTH {
            return Err(Problem::new(format!(
                "more than {MAX_DEPTH} files extend one another"
            )));
        }
        let bytes = self
            .source
            .read(&path)
            .map_err(|error| Problem::io("read", &path, &error))?;
        let text =
            String::from_utf8(bytes).map_err(|_| Problem::new(format!("`{shown}` is not text")))?;
        self.seen.push(file.clone());
        self.files.push(path);
        self.open.push((file, shown.clone()));
        self.take(&shown, &text.into(), &folder_within(&from_here))?;
        self.open.pop();
        Ok(())
    }

    fn chain(&self) -> String {
        let names: Vec<_> = self
            .open
            .iter()
            .map(|(_, shown)| format!("`{shown}`"))
            .collect();
        names.join(" extends ")
    }

    /// Rewrites the paths in a file to be relative to the project's folder.
    fn rewrite(&self, document: &mut DocumentMut, prefix: &Path) -> BTreeMap<KeyPath, String> {
        let mut rewritten = BTreeMap::new();
        if prefix.as_os_str().is_empty() {
            return rewritten;
        }
        let key = |name: &str| KeyStep::Key(name.to_owned());
        let mut change = |value: &mut Value, steps: KeyPath| {
            let Some(path) = value.as_str() else { return };
            let text = simplify_path(self.source, self.folder, &prefix.join(path))
                .display()
                .to_string();
            let decor = value.decor().clone();
            *value = Value::from(text.clone());
            *value.decor_mut() = decor;
            rewritten.insert(steps, text);
        };
        if let Some(Item::Value(Value::Array(folders))) = document.get_mut("include") {
            for (place, value) in folders.iter_mut().enumerate() {
                change(value, vec![key("include"), KeyStep::Place(place)]);
            }
        }
        if let Some(Item::ArrayOfTables(list)) = document.get_mut("me") {
            for (place, entry) in list.iter_mut().enumerate() {
                if let Some(Item::Value(value)) = entry.get_mut("source") {
                    change(value, vec![key("me"), KeyStep::Place(place), key("source")]);
                }
            }
        }
        if let Some(Item::Table(routes)) = document.get_mut("routes")
            && let Some(Item::Value(value)) = routes.get_mut("changes")
        {
            change(value, vec![key("routes"), key("changes")]);
        }
        let gpp = document.get_mut("gpp").and_then(Item::as_table_like_mut);
        if let Some(program) = gpp.and_then(|gpp| gpp.get_mut("program")) {
            let mut steps = vec![key("gpp"), key("program")];
            if let Item::Value(value) = program
                && value.is_str()
            {
                change(value, steps);
            } else if let Some(Item::Value(value)) =
                { program.as_table_like_mut() }.and_then(|it| it.get_mut("elf"))
            {
                steps.push(key("elf"));
                change(value, steps);
            }
        }
        if let Some(Item::Table(chip)) = document.get_mut("chip") {
            for name in ["profile", "board"] {
                if let Some(Item::Value(value)) = chip.get_mut(name)
                    && value.as_str().is_some_and(is_file)
                {
                    change(value, vec![key("chip"), key(name)]);
                }
            }
        }
        rewritten
    }
}

/// Whether a chip or a board is given by its file.
fn is_file(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|ending| ending == "toml")
}

/// Returns the folder of a path, empty for a bare name.
fn folder_within(path: &Path) -> PathBuf {
    let folder = folder_of(path);
    if folder == Path::new(".") {
        PathBuf::new()
    } else {
        folder
    }
}

/// Converts every table to the form with a header, including lists of tables.
fn normal(table: &mut Table) {
    for (_, item) in table.iter_mut() {
        let tables_only = item
            .as_array()
            .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_inline_table));
        if item.is_inline_table() {
            *item = match std::mem::take(item).into_table() {
                Ok(table) => Item::Table(table),
                Err(item) => item,
            };
        } else if tables_only {
            *item = match std::mem::take(item).into_array_of_tables() {
                Ok(list) => Item::ArrayOfTables(list),
                Err(item) => item,
            };
        }
        match item {
            Item::Table(inner) => {
                inner.set_dotted(false);
                normal(inner);
            }
            Item::ArrayOfTables(list) => list.iter_mut().for_each(normal),
            Item::Value(_) | Item::None => {}
        }
    }
}

/// Clears the recorded positions of tables, so that they are written in their new order.
fn in_order(table: &mut Table) {
    table.set_position(None);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => in_order(inner),
            Item::ArrayOfTables(list) => list.iter_mut().for_each(in_order),
            Item::Value(_) | Item::None => {}
        }
    }
}

/// Merges one file into the result of the files before it.
struct Merge<'a> {
    source_map: &'a mut SourceMap,
    part: usize,
}

impl Merge<'_> {
    fn take(&mut self, here: &[KeyStep], there: &[KeyStep]) {
        self.source_map.take(here, self.part, there.to_vec());
    }

    /// Merges the file's table at `there` into the one at `here`.
    fn table(&mut self, base: &mut Table, over: &Table, here: &[KeyStep], there: &[KeyStep]) {
        for (name, item) in over {
            let here = below(here, KeyStep::Key(name.to_owned()));
            let there = below(there, KeyStep::Key(name.to_owned()));
            match base.get_mut(name) {
                None | Some(Item::None) => {
                    self.take(&here, &there);
                    match over.key(name) {
                        Some(key) => base.insert_formatted(key, item.clone()),
                        None => base.insert(name, item.clone()),
                    };
                }
                Some(slot) => self.item(slot, item, &here, &there, name),
            }
        }
    }

    fn item(
        &mut self,
        slot: &mut Item,
        item: &Item,
        here: &[KeyStep],
        there: &[KeyStep],
        name: &str,
    ) {
        let top = here.len() == 1;
        match (slot, item) {
            (Item::Table(base), Item::Table(over)) => self.table(base, over, here, there),
            (Item::ArrayOfTables(base), Item::ArrayOfTables(over))
                if top && !WHOLE_LISTS.contains(&name) =>
            {
                self.list(base, over, here, there, name);
            }
            (Item::Value(Value::Array(base)), Item::Value(Value::Array(over)))
                if top && name == "include" =>
            {
                for (place, value) in over.iter().enumerate() {
                    if base.iter().any(|known| known.as_str() == value.as_str()) {
                        continue;
                    }
                    self.take(
                        &below(here, KeyStep::Place(base.len())),
                        &below(there, KeyStep::Place(place)),
                    );
                    base.push(value.as_str().map_or_else(|| value.clone(), Value::from));
                }
            }
            (slot, item) => {
                self.take(here, there);
                *slot = item.clone();
            }
        }
    }

    /// Merges entries with equal names and appends the others. A name that a file contains twice is
    /// left for the reader of projects to report.
    fn list(
        &mut self,
        base: &mut ArrayOfTables,
        over: &ArrayOfTables,
        here: &[KeyStep],
        there: &[KeyStep],
        name: &str,
    ) {
        let by = if name == "route" { "prefix" } else { "name" };
        let called = |entry: &Table| entry.get(by).and_then(Item::as_str).map(str::to_owned);
        let mut free: Vec<Option<String>> = base.iter().map(called).collect();
        let before = free.clone();
        for (place, entry) in over.iter().enumerate() {
            let there = below(there, KeyStep::Place(place));
            let wanted = called(entry);
            let known = free
                .iter()
                .position(|known| wanted.is_some() && *known == wanted);
            let slot = known.and_then(|at| Some((at, base.get_mut(at)?)));
            if let Some((at, slot)) = slot {
                free[at] = None;
                self.table(slot, entry, &below(here, KeyStep::Place(at)), &there);
            } else {
                let here = below(here, KeyStep::Place(base.len()));
                self.take(&here, &there);
                let others = before.iter().flatten().map(String::as_str);
                if let Some(near) = wanted.and_then(|wanted| closest(&wanted, others)) {
                    self.source_map.resembles(here, near.to_owned());
                }
                base.push(entry.clone());
            }
        }
    }
}

fn below(steps: &[KeyStep], step: KeyStep) -> KeyPath {
    let mut longer = steps.to_vec();
    longer.push(step);
    longer
}

#[cfg(test)]
mod tests;
