//! Editor queries about sources and project files, answered by the same analysis that the language server uses.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use npsim::analysis::{
    Action, Diagnostic, ItemKind, NameKind, OutlineItem, Place, Settings, Spot, SymbolKind, Text,
    WordKind, Workspace,
};
use npsim::files::Overlay;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::message::{Message, TextEdit, range_of};
use crate::position::{TextRange, offset, position};
use crate::request::PlaceRequest;

/// The maximum number of texts kept open. After a change, the programs of every open text are read again.
const MAX_OPEN_FILES: usize = 4;

/// The analysis of the files of a page.
#[derive(Debug)]
pub struct Language {
    files: FileStore,
    workspace: Workspace,
    /// The texts queried most recently, the newest last.
    open: VecDeque<PathBuf>,
    /// Whether files that are not open have changed.
    is_stale: bool,
    /// The project that applies to all files.
    project: Option<PathBuf>,
}

fn path_of(files: &FileStore, path: &str) -> PathBuf {
    files.path(path).into()
}

impl Language {
    /// The analysis of these files.
    pub fn new(files: &FileStore) -> Self {
        let overlay = Overlay::over(Arc::new(files.clone()));
        Self {
            files: files.clone(),
            workspace: Workspace::over(overlay, Vec::new(), Settings::default()),
            open: VecDeque::new(),
            is_stale: false,
            project: None,
        }
    }

    /// Handles a file that was stored or removed.
    pub fn changed(&mut self, path: &Path) {
        let path = PathBuf::from(self.files.path(path));
        if !self.open.contains(&path) {
            self.is_stale = true;
            return;
        }
        if let Some(text) = self.files.text(&path) {
            self.workspace.change(&path, text);
        } else {
            self.close(&path);
        }
    }

    /// Handles a file or folder that was removed.
    pub fn removed(&mut self, path: &Path) {
        let path = PathBuf::from(self.files.path(path));
        let gone: Vec<_> = { self.open.iter() }
            .filter(|it| it.starts_with(&path))
            .cloned()
            .collect();
        for path in gone {
            self.close(&path);
        }
        self.is_stale = true;
    }

    fn close(&mut self, path: &Path) {
        self.workspace.close(path);
        self.open.retain(|it| it != path);
    }

    /// Sets the open project, whose programs determine the context of the files that they read.
    pub fn set_project(&mut self, target: &str) {
        let is_toml = Path::new(target).extension().is_some_and(|it| it == "toml");
        let project = is_toml.then(|| path_of(&self.files, target));
        if self.project != project {
            self.project.clone_from(&project);
            self.workspace.set(Settings {
                project,
                ..Settings::default()
            });
            self.is_stale = false;
        }
    }

    /// Opens a file for a query.
    fn open(&mut self, path: &str) -> Result<(PathBuf, Rc<Text>), Failure> {
        let path = path_of(&self.files, path);
        if self.is_stale {
            self.workspace.search();
            self.is_stale = false;
        }
        if self.open.back() != Some(&path) {
            if self.open.contains(&path) {
                self.open.retain(|it| *it != path);
            } else {
                let text = self.files.text(&path).ok_or_else(|| {
                    Failure::new(format!("there is no file `{}`", path.display()))
                })?;
                self.workspace.open(&path, text);
            }
            self.open.push_back(path.clone());
            if self.open.len() > MAX_OPEN_FILES
                && let Some(oldest) = self.open.pop_front()
            {
                self.workspace.close(&oldest);
            }
        }
        self.workspace.refresh();
        let text = self.workspace.text(&path);
        text.map(|text| (path.clone(), text))
            .ok_or_else(|| Failure::new(format!("there is no file `{}`", path.display())))
    }

    /// Like [`Self::open`], and also runs the assembler.
    fn assembled(&mut self, path: &str) -> Result<(PathBuf, Rc<Text>), Failure> {
        let opened = self.open(path)?;
        while !self.workspace.is_assembled(&opened.0) {
            let Some(job) = self.workspace.job() else {
                break;
            };
            self.workspace.complete(job.run());
        }
        Ok(opened)
    }

    fn spot(&mut self, asked: &PlaceRequest, assembled: bool) -> Result<Spot, Failure> {
        let (path, text) = if assembled {
            self.assembled(&asked.path)?
        } else {
            self.open(&asked.path)?
        };
        let at = offset(&text, asked.line, asked.column);
        let spot = self.workspace.spot(&path, at);
        spot.ok_or_else(|| Failure::new(format!("there is no file `{}`", path.display())))
    }

    /// The diagnostics of the programs that contain a file, with fixes, and the lenses above its lines.
    pub fn check(&mut self, path: &str) -> Result<Value, Failure> {
        let (path, text) = self.assembled(path)?;
        let found = self.workspace.diagnostics_about(&path);
        let messages: Vec<_> = { found.iter() }
            .map(|it| Message::of_analysis(it, &self.fixes(it)))
            .collect();
        let lenses = self.workspace.lenses(&path).unwrap_or_default();
        let lenses = lenses.iter().map(|it| {
            let (line, _) = position(&text, it.range.end);
            json!({ "line": line, "title": it.title })
        });
        Ok(json!({ "messages": messages, "lenses": lenses.collect::<Vec<_>>() }))
    }

    fn fixes(&self, message: &Diagnostic) -> Vec<Action> {
        let Place { path, range, .. } = &message.place;
        let all = self.workspace.actions(path, range).into_iter();
        all.filter(|it| it.diagnostic == *message).collect()
    }

    /// The documentation of the word at a place.
    pub fn hover(&mut self, asked: &PlaceRequest) -> Result<Value, Failure> {
        let spot = self.spot(asked, true)?;
        let found = self.workspace.hover(&spot).map(
            |it| json!({ "range": TextRange::of(&spot.text, &it.range), "markdown": it.text }),
        );
        Ok(json!({ "hover": found }))
    }

    /// The completions at a place.
    pub fn completion(&mut self, asked: &PlaceRequest) -> Result<Value, Failure> {
        let spot = self.spot(asked, false)?;
        let found = self.workspace.completion(&spot);
        let items = found.items.iter().map(|it| {
            json!({
                "label": it.label,
                "kind": item_kind(it.kind),
                "detail": it.detail,
                "doc": it.doc,
                "text": it.text,
                "filter": it.filter,
            })
        });
        let items: Vec<_> = items.collect();
        Ok(json!({ "range": TextRange::of(&spot.text, &found.typed), "items": items }))
    }

    /// The operand forms of what is being written between brackets.
    pub fn signature(&mut self, asked: &PlaceRequest) -> Result<Value, Failure> {
        let spot = self.spot(asked, false)?;
        let found = self.workspace.signature(&spot).map(|it| {
            let forms = it.forms.iter().map(|form| {
                let units = |at: usize| form.text[..at].encode_utf16().count();
                let operands = form
                    .operands
                    .iter()
                    .map(|at| [units(at.start), units(at.end)]);
                let operands: Vec<_> = operands.collect();
                json!({ "text": form.text, "doc": form.doc, "operands": operands })
            });
            let forms: Vec<_> = forms.collect();
            json!({ "active": it.active, "operand": it.operand, "forms": forms })
        });
        Ok(json!({ "signature": found }))
    }

    /// The definition, or the uses, of the name at a place.
    pub fn places(&mut self, asked: &PlaceRequest, uses: bool) -> Result<Value, Failure> {
        let spot = self.spot(asked, false)?;
        let found = if uses {
            self.workspace.references(&spot)
        } else {
            self.workspace.definition(&spot)
        };
        let places = found
            .iter()
            .map(|it| json!({ "path": it.path.display().to_string(), "range": range_of(it) }));
        Ok(json!({ "places": places.collect::<Vec<_>>() }))
    }

    /// The uses of a name in its own file.
    pub fn highlights(&mut self, asked: &PlaceRequest) -> Result<Value, Failure> {
        let spot = self.spot(asked, false)?;
        let uses = self.workspace.uses(&spot).into_iter().map(
            |it| json!({ "range": TextRange::of(&spot.text, &it.range), "declares": it.declares }),
        );
        Ok(json!({ "uses": uses.collect::<Vec<_>>() }))
    }

    /// The name at a place, if it can be renamed.
    pub fn renameable(&mut self, asked: &PlaceRequest) -> Result<Value, Failure> {
        let spot = self.spot(asked, false)?;
        let bytes = self.workspace.renameable(&spot).map_err(Failure::new)?;
        let name = &spot.text.code()[bytes.clone()];
        Ok(json!({ "range": TextRange::of(&spot.text, &bytes), "name": name }))
    }

    /// The edits that rename the name at a place.
    pub fn rename(&mut self, asked: &PlaceRequest, name: &str) -> Result<Value, Failure> {
        let spot = self.spot(asked, false)?;
        let edits = self.workspace.rename(&spot, name).map_err(Failure::new)?;
        let edits: Vec<_> = edits.iter().map(TextEdit::of).collect();
        Ok(json!({ "edits": edits }))
    }

    /// The edits that format a file, or a part of it.
    pub fn format(
        &mut self,
        path: &str,
        part: Option<(u32, u32, u32, u32)>,
    ) -> Result<Value, Failure> {
        let (path, text) = self.open(path)?;
        let bytes = part.map(|(line, column, end_line, end_column)| {
            let start = offset(&text, line, column);
            start..offset(&text, end_line, end_column).max(start)
        });
        let edits = self.workspace.layout(&path, bytes.as_ref());
        let edits = edits.unwrap_or_default();
        let edits: Vec<_> = edits.iter().map(TextEdit::of).collect();
        Ok(json!({ "edits": edits }))
    }

    /// The kind of each word of a file.
    pub fn tokens(&mut self, path: &str) -> Result<Value, Failure> {
        let (path, text) = self.open(path)?;
        let words = self.workspace.words(&path).unwrap_or_default();
        let tokens = words.iter().filter_map(|word| {
            let TextRange(line, column, end_line, end_column) = TextRange::of(&text, &word.range);
            // A word continued over several lines by a backslash cannot be encoded.
            (line == end_line && column < end_column).then(|| {
                let flags = u32::from(word.declares) | u32::from(word.shared) << 1;
                json!([
                    line,
                    column,
                    end_column - column,
                    word_kind(word.kind),
                    flags
                ])
            })
        });
        Ok(json!({ "tokens": tokens.collect::<Vec<_>>() }))
    }

    /// The definitions in a file.
    pub fn outline(&mut self, path: &str) -> Result<Value, Failure> {
        let (path, text) = self.open(path)?;
        let items = self.workspace.outline(&path).unwrap_or_default();
        let items: Vec<_> = items.iter().map(|it| outline_item(&text, it)).collect();
        Ok(json!({ "items": items }))
    }

    /// The foldable ranges of lines.
    pub fn folds(&mut self, path: &str) -> Result<Value, Failure> {
        let (path, _) = self.open(path)?;
        let folds = self.workspace.folds(&path).unwrap_or_default();
        let folds = folds
            .iter()
            .map(|it| [it.lines.start() + 1, it.lines.end() + 1]);
        Ok(json!({ "folds": folds.collect::<Vec<_>>() }))
    }

    /// The inlay hints of a file.
    pub fn hints(&mut self, path: &str) -> Result<Value, Failure> {
        let (path, text) = self.assembled(path)?;
        let hints = self.workspace.hints(&path, &(0..text.len()));
        let hints = hints.unwrap_or_default().into_iter().map(|it| {
            let (line, column) = position(&text, it.offset);
            json!({ "line": line, "column": column, "label": it.label })
        });
        Ok(json!({ "hints": hints.collect::<Vec<_>>() }))
    }

    /// The full expansion of the macro use at a place.
    pub fn expand(&mut self, asked: &PlaceRequest) -> Result<Value, Failure> {
        let spot = self.spot(asked, false)?;
        let found = self.workspace.expansion(&spot);
        let name = found.as_ref().map(|it| it.name.clone());
        Ok(json!({ "name": name, "expanded": found.map(|it| it.expansion) }))
    }
}

const fn name_kind(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Register | NameKind::Synonym => "register",
        NameKind::Signal => "signal",
        NameKind::Label => "label",
        NameKind::Import => "import",
    }
}

const fn item_kind(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Keyword => "keyword",
        ItemKind::Function => "function",
        ItemKind::Macro => "macro",
        ItemKind::Constant => "constant",
        ItemKind::Member => "member",
        ItemKind::Operator => "operator",
        ItemKind::Name(kind) => name_kind(kind),
        ItemKind::Section => "section",
        ItemKind::Key => "key",
        ItemKind::Value => "value",
    }
}

const fn word_kind(kind: WordKind) -> &'static str {
    match kind {
        WordKind::Instruction => "instruction",
        WordKind::Directive => "directive",
        WordKind::Macro => "macro",
        WordKind::Parameter => "parameter",
        WordKind::Define => "define",
        WordKind::Register => "register",
        WordKind::Transfer => "transfer",
        WordKind::Signal => "signal",
        WordKind::Label => "label",
        WordKind::Import => "import",
        WordKind::Inactive => "left-out",
    }
}

fn outline_item(text: &Text, item: &OutlineItem) -> Value {
    let kind = match item.kind {
        SymbolKind::Macro => "macro",
        SymbolKind::Define => "define",
        SymbolKind::Block => "block",
        SymbolKind::Name(kind) => name_kind(kind),
    };
    let children = item.children.iter().map(|it| outline_item(text, it));
    json!({
        "name": item.name,
        "detail": item.detail,
        "kind": kind,
        "range": TextRange::of(text, &item.whole),
        "children": children.collect::<Vec<_>>(),
    })
}
