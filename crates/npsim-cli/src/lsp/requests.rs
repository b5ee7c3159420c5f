//! The requests that the server answers, each mapped to a query of the analysis, and the
//! capabilities that the server announces.

use std::path::Path;
use std::str::FromStr as _;

use lsp_server::{ErrorCode, ExtractError, Request, Response};
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare,
    CodeActionRequest, CodeLensRequest, Completion, DocumentHighlightRequest, DocumentLinkRequest,
    DocumentSymbolRequest, FoldingRangeRequest, Formatting, GotoDefinition, HoverRequest,
    InlayHintRequest, PrepareRenameRequest, RangeFormatting, References, Rename, Request as _,
    SemanticTokensFullRequest, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use lsp_types::{
    CallHierarchyItem, CallHierarchyServerCapability, CodeActionKind, CodeActionOptions,
    CodeActionProviderCapability, CodeLensOptions, CompletionOptions, DocumentLinkOptions,
    DocumentSymbolResponse, FoldingRangeProviderCapability, GotoDefinitionResponse,
    HoverProviderCapability, OneOf, PrepareRenameResponse, RenameOptions, SaveOptions,
    SemanticTokens, SemanticTokensFullOptions, SemanticTokensOptions, SemanticTokensResult,
    ServerCapabilities, SignatureHelpOptions, TextDocumentIdentifier, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, TextEdit, Uri, WorkDoneProgressOptions, WorkspaceSymbolResponse,
};
use npsim::analysis::{Expanded, Text};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::editor::Editor;
use super::uris::path_of;
use super::{position, tokens, translation as to};

/// The capabilities of the server.
#[must_use]
pub fn capabilities() -> ServerCapabilities {
    let letters = [".", "#", "$", "@", "[", "&", "\""];
    let work_done_progress_options = WorkDoneProgressOptions::default();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                    include_text: Some(false),
                })),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(letters.map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(["[", "(", ","].map(str::to_owned).to_vec()),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options,
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: tokens::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options,
        })),
        experimental: Some(serde_json::json!({ "expandMacro": true })),
        ..ServerCapabilities::default()
    }
}

/// `npsim/expandMacro`: the fully expanded macro use under the cursor.
#[derive(Debug)]
enum ExpandMacro {}

impl lsp_types::request::Request for ExpandMacro {
    type Params = TextDocumentPositionParams;
    type Result = Option<Expanded>;
    const METHOD: &'static str = "npsim/expandMacro";
}

type Answer = fn(&mut Editor, Request) -> Response;

/// A list of request methods and their handlers.
macro_rules! answers {
    ($(($request:ty, $answer:expr)),* $(,)?) => {
        &[$((<$request>::METHOD, |editor, request| reply::<$request, _>(editor, request, $answer))),*]
    };
}

/// Each request and the function that answers it.
const REQUESTS: &[(&str, Answer)] = answers![
    (HoverRequest, |editor, asked| {
        let spot = editor.spot(&asked.text_document_position_params)?;
        Some(to::hover(&spot.text, editor.workspace.hover(&spot)?))
    }),
    (GotoDefinition, |editor, asked| {
        let spot = editor.spot(&asked.text_document_position_params)?;
        let found = editor.workspace.definition(&spot);
        Some(GotoDefinitionResponse::Array(to::locations(&found)))
    }),
    (References, |editor, asked| {
        let spot = editor.spot(&asked.text_document_position)?;
        Some(to::locations(&editor.workspace.references(&spot)))
    }),
    (DocumentHighlightRequest, |editor, asked| {
        let spot = editor.spot(&asked.text_document_position_params)?;
        let uses = editor.workspace.uses(&spot);
        let shown = uses.iter().map(|it| to::highlight(&spot.text, it));
        Some(shown.collect())
    }),
    (DocumentLinkRequest, |editor, asked| {
        of_text(editor, &asked.text_document, |path, text| {
            let links = editor.workspace.links(path)?;
            let shown = links.iter().filter_map(|it| to::link(text, it));
            Some(shown.collect())
        })
    }),
    (Completion, |editor, asked| {
        let spot = editor.spot(&asked.text_document_position)?;
        let found = editor.workspace.completion(&spot);
        Some(to::completion(&spot.text, found))
    }),
    (SignatureHelpRequest, |editor, asked| {
        let spot = editor.spot(&asked.text_document_position_params)?;
        Some(to::signature(editor.workspace.signature(&spot)?))
    }),
    (DocumentSymbolRequest, |editor, asked| {
        of_text(editor, &asked.text_document, |path, text| {
            let found = editor.workspace.outline(path)?.into_iter();
            let shown = found.map(|it| to::outline_item(text, it));
            Some(DocumentSymbolResponse::Nested(shown.collect()))
        })
    }),
    (WorkspaceSymbolRequest, |editor, asked| {
        let found = editor.workspace.symbols(&asked.query).into_iter();
        let shown = found.filter_map(to::symbol);
        Some(WorkspaceSymbolResponse::Flat(shown.collect()))
    }),
    (FoldingRangeRequest, |editor, asked| {
        let path = path_of(&asked.text_document.uri);
        let folds = editor.workspace.folds(&path)?;
        Some(folds.iter().map(to::fold).collect())
    }),
    (Formatting, |editor, asked| {
        layout(editor, &asked.text_document, None)
    }),
    (RangeFormatting, |editor, asked| {
        layout(editor, &asked.text_document, Some(asked.range))
    }),
    (CodeActionRequest, |editor, asked| {
        of_text(editor, &asked.text_document, |path, text| {
            let bytes = position::bytes(text, asked.range);
            let found = editor.workspace.actions(path, &bytes).into_iter();
            let shown = found.filter_map(|it| to::action(editor, it));
            Some(shown.collect())
        })
    }),
    (CodeLensRequest, |editor, asked| {
        of_text(editor, &asked.text_document, |path, text| {
            let found = editor.workspace.lenses(path)?.into_iter();
            Some(found.map(|it| to::lens(text, it)).collect())
        })
    }),
    (InlayHintRequest, |editor, asked| {
        of_text(editor, &asked.text_document, |path, text| {
            let bytes = position::bytes(text, asked.range);
            let found = editor.workspace.hints(path, &bytes)?.into_iter();
            Some(found.map(|it| to::hint(text, it)).collect())
        })
    }),
    (SemanticTokensFullRequest, |editor, asked| {
        of_text(editor, &asked.text_document, |path, text| {
            let data = tokens::packed(text, &editor.workspace.words(path)?);
            Some(SemanticTokensResult::Tokens(SemanticTokens {
                result_id: None,
                data,
            }))
        })
    }),
    (CallHierarchyPrepare, |editor, asked| {
        let spot = editor.spot(&asked.text_document_position_params)?;
        let found = editor.workspace.macros_at(&spot).into_iter();
        Some(found.filter_map(to::call_item).collect())
    }),
    (CallHierarchyIncomingCalls, |editor, asked| {
        let name = macro_of(&asked.item);
        let calls = editor.workspace.callers(&path_of(&asked.item.uri), name);
        Some(calls.into_iter().filter_map(to::incoming).collect())
    }),
    (CallHierarchyOutgoingCalls, |editor, asked| {
        let name = macro_of(&asked.item);
        let calls = editor.workspace.callees(&path_of(&asked.item.uri), name);
        Some(calls.into_iter().filter_map(to::outgoing).collect())
    }),
    (PrepareRenameRequest, |editor, asked| {
        let Some(spot) = editor.spot(&asked) else {
            return Ok(None);
        };
        let bytes = editor.workspace.renameable(&spot)?;
        Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
            range: position::range(&spot.text, &bytes),
            placeholder: spot.text.code()[bytes].to_owned(),
        }))
    }),
    (Rename, |editor, asked| {
        let Some(spot) = editor.spot(&asked.text_document_position) else {
            return Ok(None);
        };
        let edits = editor.workspace.rename(&spot, &asked.new_name)?;
        to::workspace_edit(editor, &edits).map(Some)
    }),
    (ExpandMacro, |editor, asked| {
        editor.workspace.expansion(&editor.spot(&asked)?)
    }),
];

/// Queries a text; `None` if it is not available.
fn of_text<T>(
    editor: &Editor,
    document: &TextDocumentIdentifier,
    ask: impl FnOnce(&Path, &Text) -> Option<T>,
) -> Option<T> {
    let path = path_of(&document.uri);
    let text = editor.workspace.text(&path)?;
    ask(&path, &text)
}

fn layout(
    editor: &Editor,
    document: &TextDocumentIdentifier,
    range: Option<lsp_types::Range>,
) -> Option<Vec<TextEdit>> {
    of_text(editor, document, |path, text| {
        let bytes = range.map(|range| position::bytes(text, range));
        let edits = editor.workspace.layout(path, bytes.as_ref())?;
        Some(edits.iter().map(to::text_edit).collect())
    })
}

/// The name of the macro that an item of a call hierarchy stands for; empty for a source, which no
/// macro's name is.
fn macro_of(item: &CallHierarchyItem) -> &str {
    let data = item.data.as_ref();
    data.and_then(|data| data.as_str()).unwrap_or_default()
}

/// Requests that need the result of a complete assembly.
const ASSEMBLED: &[&str] = &[
    HoverRequest::METHOD,
    CodeActionRequest::METHOD,
    CodeLensRequest::METHOD,
    InlayHintRequest::METHOD,
];

/// Whether a request has to wait for the assembler.
#[must_use]
pub fn must_defer(editor: &Editor, request: &Request) -> bool {
    if !ASSEMBLED.contains(&request.method.as_str()) {
        return false;
    }
    let uri = request.params["textDocument"]["uri"].as_str();
    let path = uri.and_then(|uri| Uri::from_str(uri).ok());
    let path = path.map(|uri| path_of(&uri));
    path.is_some_and(|path| !editor.workspace.is_assembled(&path))
}

/// Answers a request, with an error if there is no handler for it.
pub fn answer(editor: &mut Editor, request: Request) -> Response {
    match REQUESTS
        .iter()
        .find(|(method, _)| *method == request.method)
    {
        Some((_, answer)) => answer(editor, request),
        None => Response::new_err(
            request.id,
            ErrorCode::MethodNotFound as i32,
            format!("npsim does not answer `{}`", request.method),
        ),
    }
}

/// The result of a request, which may be empty, or the reason why there is none.
trait Outcome<T> {
    fn outcome(self) -> Result<T, String>;
}

impl<T> Outcome<Self> for Option<T> {
    fn outcome(self) -> Result<Self, String> {
        Ok(self)
    }
}

impl<T> Outcome<T> for Result<T, String> {
    fn outcome(self) -> Self {
        self
    }
}

/// Parses a request, answers it, and turns a refusal into an error response.
fn reply<R, O>(
    editor: &mut Editor,
    request: Request,
    answer: impl FnOnce(&mut Editor, R::Params) -> O,
) -> Response
where
    R: lsp_types::request::Request,
    R::Params: DeserializeOwned,
    R::Result: Serialize,
    O: Outcome<R::Result>,
{
    let id = request.id.clone();
    match request.extract::<R::Params>(R::METHOD) {
        Ok((id, parameters)) => match answer(editor, parameters).outcome() {
            Ok(result) => Response::new_ok(id, result),
            Err(why) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
        },
        Err(ExtractError::JsonError { error, .. }) => {
            Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
        }
        Err(ExtractError::MethodMismatch(request)) => {
            Response::new_err(id, ErrorCode::MethodNotFound as i32, request.method)
        }
    }
}
