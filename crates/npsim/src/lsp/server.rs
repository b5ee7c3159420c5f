//! Requests and notifications: from the protocol to the workspace and back.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use lsp_server::{Connection, ErrorCode, ExtractError, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest, PrepareRenameRequest,
    References, Rename, Request as _,
};
use lsp_types::{
    CompletionOptions, HoverProviderCapability, InitializeParams, OneOf, PublishDiagnosticsParams,
    RenameOptions, SaveOptions, ServerCapabilities, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkDoneProgressOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::documents::Document;
use super::workspace::{Spot, Workspace};
use super::{completion, definition, hover, outline, paths, publish, rename};

/// Serves one editor until it says that it leaves.
///
/// # Errors
/// The connection breaks, or the editor does not follow the protocol.
pub fn serve(connection: &Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let capabilities = serde_json::to_value(capabilities())?;
    let parameters = connection.initialize(capabilities)?;
    let parameters: InitializeParams = serde_json::from_value(parameters)?;
    let mut server = Server {
        connection,
        workspace: Workspace::new(folders(&parameters)),
        published: BTreeMap::new(),
    };
    server.publish()?;
    while let Ok(message) = connection.receiver.recv() {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    break;
                }
                server.request(request)?;
            }
            Message::Notification(notification) => server.notification(notification),
            Message::Response(_) => {}
        }
        // Texts change faster than they can be checked: only the last counts.
        if connection.receiver.is_empty() {
            server.publish()?;
        }
    }
    Ok(())
}

fn capabilities() -> ServerCapabilities {
    let letters = [".", "#", "$", "@", "[", "&"];
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
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        ..ServerCapabilities::default()
    }
}

fn folders(parameters: &InitializeParams) -> Vec<PathBuf> {
    let several = parameters.workspace_folders.iter().flatten();
    let mut folders: Vec<PathBuf> = several
        .filter_map(|folder| paths::from_uri(&folder.uri))
        .collect();
    #[expect(
        deprecated,
        reason = "older editors name their folder in this way only"
    )]
    if folders.is_empty()
        && let Some(path) = parameters.root_uri.as_ref().and_then(paths::from_uri)
    {
        folders.push(path);
    }
    folders.iter().map(|path| paths::canonical(path)).collect()
}

struct Server<'a> {
    connection: &'a Connection,
    workspace: Workspace,
    /// What the editor shows, by file.
    published: BTreeMap<PathBuf, (Uri, Vec<lsp_types::Diagnostic>)>,
}

type Sent = Result<(), Box<dyn Error + Send + Sync>>;

impl Server<'_> {
    fn send(&self, message: impl Into<Message>) -> Sent {
        self.connection.sender.send(message.into())?;
        Ok(())
    }

    fn notification(&mut self, notification: Notification) {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Some(parameters) = of::<DidOpenTextDocument>(notification) {
                    let document = parameters.text_document;
                    let path = path_of(&document.uri);
                    self.workspace.documents.open(
                        path.clone(),
                        Document {
                            uri: document.uri,
                            version: document.version,
                            text: document.text,
                        },
                    );
                    self.workspace.reach(&path);
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Some(parameters) = of::<DidChangeTextDocument>(notification) {
                    let document = parameters.text_document;
                    let path = path_of(&document.uri);
                    self.workspace.documents.change(
                        &path,
                        document.version,
                        parameters.content_changes,
                    );
                    self.workspace.touch(&path);
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Some(parameters) = of::<DidCloseTextDocument>(notification) {
                    let path = path_of(&parameters.text_document.uri);
                    self.workspace.documents.close(&path);
                    self.workspace.touch(&path);
                }
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => self.workspace.search(),
            _ => {}
        }
    }

    fn request(&mut self, request: Request) -> Sent {
        self.workspace.refresh();
        let method = request.method.clone();
        let response = match method.as_str() {
            HoverRequest::METHOD => {
                self.answer::<HoverRequest, _>(request, |server, parameters| {
                    Ok(server
                        .spot(&parameters.text_document_position_params)
                        .and_then(|spot| hover::hover(&server.workspace, &spot)))
                })
            }
            GotoDefinition::METHOD => {
                self.answer::<GotoDefinition, _>(request, |server, parameters| {
                    Ok(server
                        .spot(&parameters.text_document_position_params)
                        .map(|spot| definition::definition(&server.workspace, &spot)))
                })
            }
            References::METHOD => self.answer::<References, _>(request, |server, parameters| {
                Ok(server
                    .spot(&parameters.text_document_position)
                    .map(|spot| definition::references(&server.workspace, &spot)))
            }),
            Completion::METHOD => self.answer::<Completion, _>(request, |server, parameters| {
                Ok(server
                    .spot(&parameters.text_document_position)
                    .map(|spot| completion::completion(&server.workspace, &spot)))
            }),
            DocumentSymbolRequest::METHOD => {
                self.answer::<DocumentSymbolRequest, _>(request, |server, parameters| {
                    let path = path_of(&parameters.text_document.uri);
                    Ok(outline::outline(&server.workspace, &path))
                })
            }
            PrepareRenameRequest::METHOD => {
                self.answer::<PrepareRenameRequest, _>(request, |server, parameters| {
                    match server.spot(&parameters) {
                        Some(spot) => rename::prepare(&server.workspace, &spot).map(Some),
                        None => Ok(None),
                    }
                })
            }
            Rename::METHOD => self.answer::<Rename, _>(request, |server, parameters| match server
                .spot(&parameters.text_document_position)
            {
                Some(spot) => {
                    rename::rename(&server.workspace, &spot, &parameters.new_name).map(Some)
                }
                None => Ok(None),
            }),
            _ => Response::new_err(
                request.id,
                ErrorCode::MethodNotFound as i32,
                format!("npsim does not answer `{method}`"),
            ),
        };
        self.send(response)
    }

    /// Reads a request, answers it, and turns a refusal into an error.
    fn answer<R, T>(
        &self,
        request: Request,
        answer: impl FnOnce(&Self, R::Params) -> Result<T, String>,
    ) -> Response
    where
        R: lsp_types::request::Request,
        R::Params: DeserializeOwned,
        T: Serialize,
    {
        let id = request.id.clone();
        match request.extract::<R::Params>(R::METHOD) {
            Ok((id, parameters)) => match answer(self, parameters) {
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

    fn spot(&self, place: &TextDocumentPositionParams) -> Option<Spot> {
        self.workspace
            .spot(&path_of(&place.text_document.uri), place.position)
    }

    /// Sends what has changed since the last time.
    fn publish(&mut self) -> Sent {
        self.workspace.refresh();
        if !self.workspace.take_changed() {
            return Ok(());
        }
        let mut next = publish::diagnostics(&self.workspace);
        let gone: Vec<PathBuf> = self
            .published
            .keys()
            .filter(|path| !next.contains_key(*path))
            .cloned()
            .collect();
        for path in gone {
            if let Some((uri, _)) = self.published.remove(&path) {
                self.send_diagnostics(uri, Vec::new(), None)?;
            }
        }
        while let Some((path, list)) = next.pop_first() {
            let document = self.workspace.documents.get(&path);
            let version = document.map(|document| document.version);
            let uri = match document {
                Some(document) => Some(document.uri.clone()),
                None => paths::to_uri(&path),
            };
            let Some(uri) = uri else { continue };
            let same = self
                .published
                .get(&path)
                .is_some_and(|(_, shown)| *shown == list);
            // An open text hears of every version, so that tools can wait for it.
            if !same || version.is_some() {
                self.send_diagnostics(uri.clone(), list.clone(), version)?;
            }
            self.published.insert(path, (uri, list));
        }
        Ok(())
    }

    fn send_diagnostics(
        &self,
        uri: Uri,
        diagnostics: Vec<lsp_types::Diagnostic>,
        version: Option<i32>,
    ) -> Sent {
        self.send(Notification::new(
            PublishDiagnostics::METHOD.to_owned(),
            PublishDiagnosticsParams {
                uri,
                diagnostics,
                version,
            },
        ))
    }
}

fn of<N>(notification: Notification) -> Option<N::Params>
where
    N: lsp_types::notification::Notification,
{
    notification.extract(N::METHOD).ok()
}

/// The canonical path of a text. One that is no file goes by its URI.
fn path_of(uri: &Uri) -> PathBuf {
    paths::from_uri(uri).map_or_else(
        || PathBuf::from(uri.as_str()),
        |path| paths::canonical(&path),
    )
}
