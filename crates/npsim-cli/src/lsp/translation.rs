//! Results of the analysis, converted to the types of the protocol.

use std::collections::HashMap;

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, CodeAction,
    CodeActionKind, CodeActionOrCommand, CodeLens, Command, CompletionItem, CompletionItemKind,
    CompletionResponse, CompletionTextEdit, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, DocumentHighlight, DocumentHighlightKind, DocumentLink, DocumentSymbol,
    Documentation, FoldingRange, FoldingRangeKind, Hover, HoverContents, InlayHint, InlayHintKind,
    InlayHintLabel, Location, MarkupContent, MarkupKind, NumberOrString, ParameterInformation,
    ParameterLabel, SignatureHelp, SignatureInformation, SymbolInformation, SymbolKind, TextEdit,
    Uri, WorkspaceEdit,
};
use npsim::analysis::{
    self, Action, Call, CallItem, Completion, Edit, Fold, Hint, Item, ItemKind, Lens, LineIndex,
    Link, NameKind, OutlineItem, Place, Severity, Signature, Symbol, Use,
};

use super::editor::Editor;
use super::position::{position, range};
use super::uris::to_uri;

/// A part of a file; `None` if its path is not valid Unicode.
#[must_use]
pub fn location(place: &Place) -> Option<Location> {
    Some(Location {
        uri: to_uri(&place.path)?,
        range: range(&place.text, &place.range),
    })
}

/// Parts of files.
#[must_use]
pub fn locations(places: &[Place]) -> Vec<Location> {
    places.iter().filter_map(location).collect()
}

/// An edit, relative to its own file.
#[must_use]
pub fn text_edit(edit: &Edit) -> TextEdit {
    let Edit { place, text } = edit;
    TextEdit::new(range(&place.text, &place.range), text.clone())
}

/// Edits of several files, under the editor's URIs for them.
///
/// # Errors
/// Returns an error if the path of a file is not valid Unicode.
#[expect(clippy::mutable_key_type, reason = "the protocol's own type")]
pub fn workspace_edit(editor: &Editor, edits: &[Edit]) -> Result<WorkspaceEdit, String> {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for edit in edits {
        let path = &edit.place.path;
        let uri = editor.uri(path);
        let uri = uri.ok_or_else(|| format!("`{}` has no URI", path.display()))?;
        changes.entry(uri).or_default().push(text_edit(edit));
    }
    Ok(WorkspaceEdit::new(changes))
}

/// A diagnostic, relative to its own file.
#[must_use]
pub fn diagnostic(found: &analysis::Diagnostic) -> Diagnostic {
    let related: Vec<_> = { found.related.iter() }
        .filter_map(|(place, message)| {
            Some(DiagnosticRelatedInformation {
                location: location(place)?,
                message: message.clone(),
            })
        })
        .collect();
    Diagnostic {
        range: range(&found.place.text, &found.place.range),
        severity: Some(match found.severity {
            _ if found.repeated => DiagnosticSeverity::HINT,
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: found.code.map(|it| NumberOrString::String(it.to_owned())),
        source: Some("npsim".to_owned()),
        message: found.message.clone(),
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

/// A code action for a diagnostic; `None` if one of its files has no URI.
#[must_use]
pub fn action(editor: &Editor, action: Action) -> Option<CodeActionOrCommand> {
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        edit: Some(workspace_edit(editor, &action.edits).ok()?),
        title: action.title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic(&action.diagnostic)]),
        is_preferred: Some(action.preferred),
        ..CodeAction::default()
    }))
}

const fn markdown(value: String) -> MarkupContent {
    MarkupContent {
        kind: MarkupKind::Markdown,
        value,
    }
}

/// The documentation of a word.
#[must_use]
pub fn hover(text: &LineIndex, hover: analysis::Hover) -> Hover {
    Hover {
        contents: HoverContents::Markup(markdown(hover.text)),
        range: Some(range(text, &hover.range)),
    }
}

/// Completions at a place in a text.
#[must_use]
pub fn completion(text: &LineIndex, completion: Completion) -> CompletionResponse {
    let typed = range(text, &completion.typed);
    let item = |item: Item| CompletionItem {
        label: item.label,
        kind: Some(match item.kind {
            ItemKind::Keyword => CompletionItemKind::KEYWORD,
            ItemKind::Function => CompletionItemKind::FUNCTION,
            ItemKind::Macro | ItemKind::Section => CompletionItemKind::MODULE,
            ItemKind::Constant | ItemKind::Name(NameKind::Import) => CompletionItemKind::CONSTANT,
            ItemKind::Member => CompletionItemKind::ENUM_MEMBER,
            ItemKind::Operator => CompletionItemKind::OPERATOR,
            ItemKind::Name(NameKind::Register | NameKind::Synonym) => CompletionItemKind::VARIABLE,
            ItemKind::Name(NameKind::Signal) => CompletionItemKind::EVENT,
            ItemKind::Name(NameKind::Label) => CompletionItemKind::REFERENCE,
            ItemKind::Key => CompletionItemKind::PROPERTY,
            ItemKind::Value => CompletionItemKind::VALUE,
        }),
        detail: item.detail,
        documentation: item.doc.map(markdown).map(Documentation::MarkupContent),
        filter_text: item.filter,
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(typed, item.text))),
        ..CompletionItem::default()
    };
    CompletionResponse::Array(completion.items.into_iter().map(item).collect())
}

/// Help for the operands being written between brackets.
#[must_use]
pub fn signature(signature: Signature) -> SignatureHelp {
    let operand = Some(signature.operand as u32);
    let form = |form: analysis::Form| {
        let units = |at: usize| form.text[..at].encode_utf16().count() as u32;
        let parameters = form.operands.iter().map(|at| ParameterInformation {
            label: ParameterLabel::LabelOffsets([units(at.start), units(at.end)]),
            documentation: None,
        });
        let doc = Some(form.doc).filter(|doc| !doc.is_empty());
        SignatureInformation {
            parameters: Some(parameters.collect()),
            label: form.text,
            documentation: doc.map(markdown).map(Documentation::MarkupContent),
            active_parameter: operand,
        }
    };
    SignatureHelp {
        signatures: signature.forms.into_iter().map(form).collect(),
        active_signature: Some(signature.active as u32),
        active_parameter: operand,
    }
}

/// A place where a name is used.
#[must_use]
pub fn highlight(text: &LineIndex, used: &Use) -> DocumentHighlight {
    DocumentHighlight {
        range: range(text, &used.range),
        kind: Some(if used.declares {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    }
}

/// A link to an included file; `None` if its path is not valid Unicode.
#[must_use]
pub fn link(text: &LineIndex, link: &Link) -> Option<DocumentLink> {
    Some(DocumentLink {
        range: range(text, &link.range),
        target: Some(to_uri(&link.target)?),
        tooltip: None,
        data: None,
    })
}

const fn symbol_kind(kind: analysis::SymbolKind) -> SymbolKind {
    match kind {
        analysis::SymbolKind::Macro => SymbolKind::FUNCTION,
        analysis::SymbolKind::Define | analysis::SymbolKind::Name(NameKind::Import) => {
            SymbolKind::CONSTANT
        }
        analysis::SymbolKind::Block => SymbolKind::NAMESPACE,
        analysis::SymbolKind::Name(NameKind::Register | NameKind::Synonym) => SymbolKind::VARIABLE,
        analysis::SymbolKind::Name(NameKind::Signal) => SymbolKind::EVENT,
        analysis::SymbolKind::Name(NameKind::Label) => SymbolKind::KEY,
    }
}

/// A definition in a text, with the definitions nested in it.
#[must_use]
pub fn outline_item(text: &LineIndex, item: OutlineItem) -> DocumentSymbol {
    let children = item.children.into_iter();
    let children: Vec<_> = children.map(|it| outline_item(text, it)).collect();
    #[expect(deprecated, reason = "the structure has no other constructor")]
    DocumentSymbol {
        name: item.name,
        detail: Some(item.detail),
        kind: symbol_kind(item.kind),
        tags: None,
        deprecated: None,
        range: range(text, &item.whole),
        selection_range: range(text, &item.place),
        children: (!children.is_empty()).then_some(children),
    }
}

/// A name of a project; `None` if the path of its file is not valid Unicode.
#[must_use]
pub fn symbol(symbol: Symbol) -> Option<SymbolInformation> {
    let file = symbol.place.path.file_name();
    #[expect(deprecated, reason = "the structure has no other constructor")]
    Some(SymbolInformation {
        name: symbol.name,
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        location: location(&symbol.place)?,
        container_name: file.map(|name| name.to_string_lossy().into_owned()),
    })
}

/// A foldable range of lines.
#[must_use]
pub fn fold(fold: &Fold) -> FoldingRange {
    FoldingRange {
        start_line: *fold.lines.start() as u32,
        end_line: *fold.lines.end() as u32,
        kind: fold.comment.then_some(FoldingRangeKind::Comment),
        ..FoldingRange::default()
    }
}

/// An inlay hint.
#[must_use]
pub fn hint(text: &LineIndex, hint: Hint) -> InlayHint {
    InlayHint {
        position: position(text, hint.offset),
        label: InlayHintLabel::String(hint.label),
        kind: hint.of_name.then_some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: Some(false),
        data: None,
    }
}

/// A code lens above a line, without a command.
#[must_use]
pub fn lens(text: &LineIndex, lens: Lens) -> CodeLens {
    CodeLens {
        range: range(text, &lens.range),
        command: Some(Command {
            title: lens.title,
            command: String::new(),
            arguments: None,
        }),
        data: None,
    }
}

/// A macro or a source; `None` if the path of its file is not valid Unicode.
#[must_use]
pub fn call_item(item: CallItem) -> Option<CallHierarchyItem> {
    let Location { uri, range: whole } = location(&item.place)?;
    Some(CallHierarchyItem {
        kind: match item.name {
            Some(_) => SymbolKind::FUNCTION,
            None => SymbolKind::FILE,
        },
        name: item.title,
        tags: None,
        detail: item.detail,
        uri,
        range: whole,
        selection_range: range(&item.place.text, &item.selection),
        data: item.name.map(serde_json::Value::String),
    })
}

fn ranges(places: &[Place]) -> Vec<lsp_types::Range> {
    let places = places.iter();
    places.map(|it| range(&it.text, &it.range)).collect()
}

/// Uses of a macro by another, or by a source.
#[must_use]
pub fn incoming(call: Call) -> Option<CallHierarchyIncomingCall> {
    Some(CallHierarchyIncomingCall {
        from: call_item(call.item)?,
        from_ranges: ranges(&call.uses),
    })
}

/// Uses of another macro.
#[must_use]
pub fn outgoing(call: Call) -> Option<CallHierarchyOutgoingCall> {
    Some(CallHierarchyOutgoingCall {
        to: call_item(call.item)?,
        from_ranges: ranges(&call.uses),
    })
}
