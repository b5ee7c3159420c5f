//! Completion: what can be written at a place.

use std::collections::BTreeSet;
use std::ops::Range;

use npsim_asm::Span;
use npsim_asm::directives::DirectiveName;
use npsim_asm::name_index::{NameKind, Symbol};
use npsim_asm::source::ExpansionId;
use npsim_isa::{
    CommandOp, CsrInfo, ENUMERATIONS, InputState, Unit, cap_csr, csr, mnemonic, mnemonics, msf_csr,
};

use super::hover::mnemonic_text;
use super::items::{Completion, Item, ItemKind};
use super::project;
use super::scan::{Context, context_at};
use super::vocabulary::{self, Word};
use super::workspace::{Spot, Workspace};

impl Workspace {
    /// The completions at a place in a source or a project file.
    #[must_use]
    pub fn completion(&self, spot: &Spot) -> Completion {
        if project::is_project(self, spot) {
            project::completion(self, spot)
        } else {
            completion(self, spot)
        }
    }
}

fn completion(workspace: &Workspace, spot: &Spot) -> Completion {
    let code = spot.text.code();
    let typed = typed(code, spot.offset);
    let context = context_at(&spot.text, typed.start);
    let mut list = List {
        items: Vec::new(),
        known: BTreeSet::new(),
    };
    let word = &code[typed.clone()];
    let line_start = code[..typed.start].rfind('\n').map_or(0, |at| at + 1);
    let before = code[line_start..typed.start].trim();
    if word.starts_with('#') && before.is_empty() {
        list.words(vocabulary::PREPROCESSOR, ItemKind::Keyword);
    } else if before.starts_with("#include") {
        // The name of a file: no completion.
    } else if before.starts_with('#') {
        list.words(vocabulary::FUNCTIONS, ItemKind::Function);
        list.defines(workspace, spot);
    } else if context.depth > 0 {
        operand_completions(workspace, spot, &context, &mut list);
    } else if context.closed {
        list.words(vocabulary::OPTIONS, ItemKind::Keyword);
    } else if before.is_empty() || before.ends_with("#:") {
        if word.starts_with('.') {
            list.words(vocabulary::directives(), ItemKind::Keyword);
        } else {
            statements(workspace, spot, &mut list);
        }
    } else if before.starts_with('.') {
        list.symbols(workspace, spot, true);
        list.defines(workspace, spot);
    }
    Completion {
        typed,
        items: list.items,
    }
}

/// The word that is being typed, with its sigil.
fn typed(code: &str, offset: usize) -> Range<usize> {
    let bytes = code.as_bytes();
    let offset = offset.min(bytes.len());
    let mut start = offset;
    while start > 0
        && (bytes[start - 1].is_ascii_alphanumeric() || b"_$@.!=".contains(&bytes[start - 1]))
    {
        start -= 1;
    }
    let line_start = code[..start].rfind('\n').map_or(0, |at| at + 1);
    if code[line_start..start].trim() == "#" {
        start = line_start + code[line_start..start].find('#').unwrap_or(0);
    }
    start..offset
}

fn statements(workspace: &Workspace, spot: &Spot, list: &mut List) {
    // A file shared by several programs may be for several chips; mnemonics of any of them are
    // offered.
    let generation = workspace
        .analyses_of(&spot.path)
        .map(|analysis| analysis.root.options.generation)
        .max()
        .unwrap_or_default();
    let known = mnemonics()
        .iter()
        .filter(|info| generation.check(info).is_ok());
    for info in known {
        for name in std::iter::once(&info.name).chain(info.aliases) {
            list.add(
                name,
                ItemKind::Function,
                info.syntax.to_owned(),
                Some(mnemonic_text(info)),
            );
        }
    }
    for (_, found) in workspace.definitions(&spot.path, &spot.text) {
        for known in &found.macros {
            let comment =
                (!known.comment.is_empty()).then(|| format!("```text\n{}\n```", known.comment));
            list.add(&known.name, ItemKind::Macro, known.signature(), comment);
        }
    }
    list.words(vocabulary::directives(), ItemKind::Keyword);
}

/// The completions of an operand.
fn operand_completions(workspace: &Workspace, spot: &Spot, context: &Context, list: &mut List) {
    let first = context.depth == 1 && !context.closed;
    if context.inner == "inp_state" {
        list.states();
        return;
    }
    if first {
        let row = mnemonic(&context.head);
        let form = row.and_then(|row| row.forms.first());
        let operand = form.and_then(|form| form.operands.get(context.operand));
        match (context.head.as_str(), operand.map(|it| it.info.name)) {
            (_, Some("input")) => {
                list.states();
                list.defines(workspace, spot);
                return;
            }
            (unit, Some("command")) => {
                if let Some(unit) = Unit::by_name(unit) {
                    list.commands(unit);
                    return;
                }
            }
            (head, Some("op")) => {
                list.codes(if head == "alu" { "AluOp" } else { "ShfOp" });
                return;
            }
            (_, Some("kind")) => {
                list.codes("CrcKind");
                return;
            }
            ("cap", _) => list.registers(cap_csr::all()),
            ("msf", _) => list.registers(msf_csr::all()),
            (_, Some("csr")) => {
                list.registers(csr::all());
                return;
            }
            _ => {}
        }
    }
    let directive = DirectiveName::parse(&context.head);
    if matches!(directive, Some((DirectiveName::Structured(name), _)) if name.has_condition()) {
        list.words(vocabulary::CONDITIONS, ItemKind::Function);
    }
    let signals_only = matches!(
        context.inner.as_str(),
        "ctx_swap" | "sig_done" | "ctx_arb" | "br_signal" | "br_!signal" | "signal"
    ) && context.operand == 0;
    list.symbols(workspace, spot, !signals_only);
    if !signals_only {
        list.defines(workspace, spot);
        if context.head.starts_with("immed") {
            list.registers(msf_csr::all());
        }
    }
}

struct List {
    items: Vec<Item>,
    known: BTreeSet<String>,
}

impl List {
    fn add(&mut self, name: &str, kind: ItemKind, detail: String, doc: Option<String>) {
        if !self.known.insert(name.to_owned()) {
            return;
        }
        self.items.push(Item {
            label: name.to_owned(),
            kind,
            detail: Some(detail),
            doc,
            text: name.to_owned(),
            filter: None,
        });
    }

    fn words(&mut self, words: impl IntoIterator<Item = &'static Word>, kind: ItemKind) {
        for word in words {
            self.add(
                word.name,
                kind,
                word.syntax.to_owned(),
                Some(word.doc.to_owned()),
            );
        }
    }

    fn registers(&mut self, table: &[CsrInfo]) {
        for row in table {
            let detail = format!("{:#x}", row.address);
            let doc = Some(row.doc.to_owned());
            self.add(row.name, ItemKind::Constant, detail, doc);
        }
    }

    fn states(&mut self) {
        for info in InputState::ALL.map(InputState::info) {
            let doc = Some(info.doc.to_owned());
            self.add(
                info.text,
                ItemKind::Member,
                format!("state {}", info.code),
                doc,
            );
        }
    }

    fn codes(&mut self, enumeration: &str) {
        for list in ENUMERATIONS.iter().filter(|list| list.name == enumeration) {
            for value in list.values {
                self.add(value.text, ItemKind::Operator, value.doc.to_owned(), None);
            }
        }
    }

    fn commands(&mut self, unit: Unit) {
        for info in CommandOp::ALL.map(CommandOp::info) {
            if info.unit == unit {
                let doc = info.doc.to_owned();
                self.add(info.name, ItemKind::Member, doc, None);
            }
        }
    }

    /// Adds the names that can be used at the place: signals, and all others if `all`.
    fn symbols(&mut self, workspace: &Workspace, spot: &Spot, all: bool) {
        for analysis in workspace.analyses_of(&spot.path) {
            let scopes: BTreeSet<usize> = analysis
                .files(&spot.path)
                .map(|file| {
                    analysis.index.scope_at(Span {
                        file,
                        lo: spot.offset as u32,
                        hi: spot.offset as u32,
                    })
                })
                .collect();
            for scope in scopes {
                for symbol in analysis.index.visible(scope) {
                    if symbol.kind == NameKind::Signal || all {
                        self.symbol(symbol);
                    }
                }
            }
            if all {
                for symbol in &analysis.index.symbols {
                    if symbol.kind == NameKind::Label && symbol.expansion == ExpansionId::ROOT {
                        self.symbol(symbol);
                    }
                }
            }
        }
    }

    fn symbol(&mut self, symbol: &Symbol) {
        let kind = ItemKind::Name(symbol.kind);
        self.add(&symbol.name, kind, symbol.declaration.clone(), None);
    }

    fn defines(&mut self, workspace: &Workspace, spot: &Spot) {
        for (_, found) in workspace.definitions(&spot.path, &spot.text) {
            for known in &found.defines {
                let doc = (!known.comment.is_empty()).then(|| known.comment.clone());
                let value = known.value.clone();
                self.add(&known.name, ItemKind::Constant, value, doc);
            }
        }
        for analysis in workspace.analyses_of(&spot.path) {
            for (name, value) in &analysis.root.options.defines {
                let doc = Some("Defined by the project.".to_owned());
                self.add(name, ItemKind::Constant, value.clone(), doc);
            }
        }
    }
}
