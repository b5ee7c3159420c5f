//! Requests and notifications: from the protocol to the workspace and back.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use lsp_server::{Connection, Message, Notification, Request};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::{InitializeParams, PublishDiagnosticsParams, Uri};

use super::documents::Document;
use super::requests::{self, path_of};
use super::settings::Settings;
use super::workspace::Workspace;
use super::{paths, publish};

/// Serves one editor until it says that it leaves.
///
/// # Errors
/// The connection breaks, or the editor does not follow the protocol.
pub fn serve(connection: &Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let capabilities = serde_json::to_value(requests::capabilities())?;
    let parameters = connection.initialize(capabilities)?;
    let parameters: InitializeParams = serde_json::from_value(parameters)?;
    let folders = folders(&parameters);
    let folder = folders.first().cloned();
    let sent = parameters.initialization_options.unwrap_or_default();
    let settings = Settings::read(&sent, folder.as_deref());
    let mut server = Server {
        connection,
        workspace: Workspace::new(folders, settings),
        folder,
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
    /// The folder that relative settings are below.
    folder: Option<PathBuf>,
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
            DidChangeConfiguration::METHOD => {
                if let Some(parameters) = of::<DidChangeConfiguration>(notification) {
                    // An editor that wants to be asked sends nothing.
                    if !parameters.settings.is_null() {
                        let settings = Settings::read(&parameters.settings, self.folder.as_deref());
                        self.workspace.set(settings);
                    }
                }
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => self.workspace.search(),
            _ => {}
        }
    }

    fn request(&mut self, request: Request) -> Sent {
        self.workspace.refresh();
        let response = requests::answer(&mut self.workspace, request);
        self.send(response)
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
