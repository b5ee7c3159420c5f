//! The questions that the server answers, each with the room that knows the answer, and
//! what the server tells an editor of them.

use std::path::PathBuf;
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
    CallHierarchyServerCapability, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, DocumentLinkOptions, FoldingRangeProviderCapability,
    HoverProviderCapability, OneOf, RenameOptions, SaveOptions, SemanticTokens,
    SemanticTokensFullOptions, SemanticTokensOptions, SemanticTokensResult, ServerCapabilities,
    SignatureHelpOptions, TextDocumentIdentifier, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkDoneProgressOptions, WorkspaceSymbolResponse,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::expand::{ExpandMacro, expand};
use super::workspace::{Spot, Workspace};
use super::{
    actions, calls, completion, definition, folding, highlights, hints, hover, layout, lenses,
    outline, paths, project, rename, signature, symbols, tokens,
};

/// What the server can do.
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

type Answer = fn(&mut Workspace, Request) -> Response;

/// Each request and who answers it.
const REQUESTS: &[(&str, Answer)] = &[
    (HoverRequest::METHOD, |workspace, request| {
        reply::<HoverRequest, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked.text_document_position_params);
            Ok(spot.and_then(|spot| {
                if of_project(workspace, &spot) {
                    project::hover(&spot)
                } else {
                    hover::hover(workspace, &spot)
                }
            }))
        })
    }),
    (GotoDefinition::METHOD, |workspace, request| {
        reply::<GotoDefinition, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked.text_document_position_params);
            Ok(spot.map(|spot| definition::definition(workspace, &spot)))
        })
    }),
    (References::METHOD, |workspace, request| {
        reply::<References, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked.text_document_position);
            Ok(spot.map(|spot| definition::references(workspace, &spot)))
        })
    }),
    (DocumentHighlightRequest::METHOD, |workspace, request| {
        reply::<DocumentHighlightRequest, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked.text_document_position_params);
            Ok(spot.map(|spot| highlights::highlights(workspace, &spot)))
        })
    }),
    (DocumentLinkRequest::METHOD, |workspace, request| {
        reply::<DocumentLinkRequest, _>(workspace, request, |workspace, asked| {
            Ok(highlights::links(workspace, &file(&asked.text_document)))
        })
    }),
    (Completion::METHOD, |workspace, request| {
        reply::<Completion, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked.text_document_position);
            Ok(spot.map(|spot| {
                if of_project(workspace, &spot) {
                    project::completion(workspace, &spot)
                } else {
                    completion::completion(workspace, &spot)
                }
            }))
        })
    }),
    (SignatureHelpRequest::METHOD, |workspace, request| {
        reply::<SignatureHelpRequest, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked.text_document_position_params);
            Ok(spot.and_then(|spot| signature::signature(workspace, &spot)))
        })
    }),
    (DocumentSymbolRequest::METHOD, |workspace, request| {
        reply::<DocumentSymbolRequest, _>(workspace, request, |workspace, asked| {
            Ok(outline::outline(workspace, &file(&asked.text_document)))
        })
    }),
    (WorkspaceSymbolRequest::METHOD, |workspace, request| {
        reply::<WorkspaceSymbolRequest, _>(workspace, request, |workspace, asked| {
            let found = symbols::symbols(workspace, &asked.query);
            Ok(WorkspaceSymbolResponse::Flat(found))
        })
    }),
    (FoldingRangeRequest::METHOD, |workspace, request| {
        reply::<FoldingRangeRequest, _>(workspace, request, |workspace, asked| {
            Ok(folding::folding(workspace, &file(&asked.text_document)))
        })
    }),
    (Formatting::METHOD, |workspace, request| {
        reply::<Formatting, _>(workspace, request, |workspace, asked| {
            Ok(layout::layout(workspace, &file(&asked.text_document), None))
        })
    }),
    (RangeFormatting::METHOD, |workspace, request| {
        reply::<RangeFormatting, _>(workspace, request, |workspace, asked| {
            let path = file(&asked.text_document);
            Ok(layout::layout(workspace, &path, Some(asked.range)))
        })
    }),
    (CodeActionRequest::METHOD, |workspace, request| {
        reply::<CodeActionRequest, _>(workspace, request, |workspace, asked| {
            let path = file(&asked.text_document);
            Ok(actions::actions(workspace, &path, asked.range))
        })
    }),
    (CodeLensRequest::METHOD, |workspace, request| {
        reply::<CodeLensRequest, _>(workspace, request, |workspace, asked| {
            Ok(lenses::lenses(workspace, &file(&asked.text_document)))
        })
    }),
    (InlayHintRequest::METHOD, |workspace, request| {
        reply::<InlayHintRequest, _>(workspace, request, |workspace, asked| {
            let path = file(&asked.text_document);
            Ok(hints::hints(workspace, &path, asked.range))
        })
    }),
    (SemanticTokensFullRequest::METHOD, |workspace, request| {
        reply::<SemanticTokensFullRequest, _>(workspace, request, |workspace, asked| {
            let data = tokens::tokens(workspace, &file(&asked.text_document));
            let whole = |data| SemanticTokens {
                result_id: None,
                data,
            };
            Ok(data.map(|data| SemanticTokensResult::Tokens(whole(data))))
        })
    }),
    (CallHierarchyPrepare::METHOD, |workspace, request| {
        reply::<CallHierarchyPrepare, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked.text_document_position_params);
            Ok(spot.map(|spot| calls::prepare(workspace, &spot)))
        })
    }),
    (CallHierarchyIncomingCalls::METHOD, |workspace, request| {
        reply::<CallHierarchyIncomingCalls, _>(workspace, request, |workspace, asked| {
            Ok(Some(calls::incoming(workspace, &asked.item)))
        })
    }),
    (CallHierarchyOutgoingCalls::METHOD, |workspace, request| {
        reply::<CallHierarchyOutgoingCalls, _>(workspace, request, |workspace, asked| {
            Ok(Some(calls::outgoing(workspace, &asked.item)))
        })
    }),
    (PrepareRenameRequest::METHOD, |workspace, request| {
        reply::<PrepareRenameRequest, _>(workspace, request, |workspace, asked| {
            match spot(workspace, &asked) {
                Some(spot) => rename::prepare(workspace, &spot).map(Some),
                None => Ok(None),
            }
        })
    }),
    (Rename::METHOD, |workspace, request| {
        reply::<Rename, _>(workspace, request, |workspace, asked| {
            match spot(workspace, &asked.text_document_position) {
                Some(spot) => rename::rename(workspace, &spot, &asked.new_name).map(Some),
                None => Ok(None),
            }
        })
    }),
    (ExpandMacro::METHOD, |workspace, request| {
        reply::<ExpandMacro, _>(workspace, request, |workspace, asked| {
            let spot = spot(workspace, &asked);
            Ok(spot.and_then(|spot| expand(workspace, &spot)))
        })
    }),
];

/// Requests for what only the whole assembler knows.
const ASSEMBLED: &[&str] = &[
    HoverRequest::METHOD,
    CodeActionRequest::METHOD,
    CodeLensRequest::METHOD,
    InlayHintRequest::METHOD,
];

/// Whether the assembler has yet to say what a request is about.
#[must_use]
pub fn must_wait(workspace: &Workspace, request: &Request) -> bool {
    if !ASSEMBLED.contains(&request.method.as_str()) {
        return false;
    }
    let uri = request.params["textDocument"]["uri"].as_str();
    let path = uri.and_then(|uri| Uri::from_str(uri).ok());
    let path = path.map(|uri| path_of(&uri));
    path.is_some_and(|path| workspace.about(&path).any(|it| !it.is_complete()))
}

/// Answers a request, with an error if there is no answer to it.
pub fn answer(workspace: &mut Workspace, request: Request) -> Response {
    match REQUESTS
        .iter()
        .find(|(method, _)| *method == request.method)
    {
        Some((_, answer)) => answer(workspace, request),
        None => Response::new_err(
            request.id,
            ErrorCode::MethodNotFound as i32,
            format!("npsim does not answer `{}`", request.method),
        ),
    }
}

/// Reads a request, answers it, and turns a refusal into an error.
fn reply<R, T>(
    workspace: &mut Workspace,
    request: Request,
    answer: impl FnOnce(&mut Workspace, R::Params) -> Result<T, String>,
) -> Response
where
    R: lsp_types::request::Request,
    R::Params: DeserializeOwned,
    T: Serialize,
{
    let id = request.id.clone();
    match request.extract::<R::Params>(R::METHOD) {
        Ok((id, parameters)) => match answer(workspace, parameters) {
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

fn spot(workspace: &Workspace, place: &TextDocumentPositionParams) -> Option<Spot> {
    workspace.spot(&file(&place.text_document), place.position)
}

/// Whether a place is in a project file.
fn of_project(workspace: &Workspace, spot: &Spot) -> bool {
    project::is_project(workspace, &spot.path, &spot.text)
}

fn file(document: &TextDocumentIdentifier) -> PathBuf {
    path_of(&document.uri)
}

/// The canonical path of a text. One that is no file goes by its URI.
#[must_use]
pub fn path_of(uri: &Uri) -> PathBuf {
    paths::from_uri(uri).map_or_else(
        || PathBuf::from(uri.as_str()),
        |path| paths::canonical(&path),
    )
}
