//! Requests and notifications: from the protocol to the workspace and back.

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{RecvError, Sender, channel};

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{Request as _, Shutdown};
use lsp_types::{InitializeParams, PublishDiagnosticsParams, Uri};

use super::assembler::{self, Done, Job};
use super::documents::Document;
use super::inbox::Inbox;
use super::requests::{self, path_of};
use super::settings::Settings;
use super::text::Text;
use super::workspace::Workspace;
use super::{paths, publish};

/// Serves one editor until it says that it leaves.
///
/// # Errors
/// The connection breaks, or the editor does not follow the protocol.
pub fn serve(connection: &Connection) -> Sent {
    let capabilities = serde_json::to_value(requests::capabilities())?;
    let parameters = connection.initialize(capabilities)?;
    let parameters: InitializeParams = serde_json::from_value(parameters)?;
    let folders = folders(&parameters);
    let folder = folders.first().cloned();
    let sent = parameters.initialization_options.unwrap_or_default();
    let settings = Settings::read(&sent, folder.as_deref());
    let (events, receiver) = channel();
    let jobs = assembler::start(events.clone());
    listen(connection, events);
    let mut server = Server {
        connection,
        workspace: Workspace::new(folders, settings),
        folder,
        published: BTreeMap::new(),
        inbox: Inbox::default(),
        jobs,
        busy: false,
        leaving: false,
    };
    loop {
        let waiting = receiver.try_iter().collect::<Vec<_>>();
        for event in waiting {
            server.take(event)?;
        }
        if let Some(message) = server.inbox.pop() {
            if server.handle(message)?.is_break() {
                return Ok(());
            }
            continue;
        }
        // Edits in a row make one program, and answers come before it is assembled.
        server.assemble()?;
        server.publish()?;
        match receiver.recv() {
            Ok(event) => server.take(event)?,
            Err(RecvError) => return Ok(()),
        }
    }
}

/// What the server hears of.
enum Event {
    Message(Message),
    Assembled(Box<Done>),
}

impl From<Done> for Event {
    fn from(done: Done) -> Self {
        Self::Assembled(Box::new(done))
    }
}

/// Hands messages on as they come, so that the server sees all that wait.
fn listen(connection: &Connection, events: Sender<Event>) {
    let messages = connection.receiver.clone();
    std::thread::spawn(move || {
        for message in messages {
            if events.send(Event::Message(message)).is_err() {
                return;
            }
        }
        // An editor that has gone without a word wants no more than one that leaves. The
        // message is lost if the server has gone too.
        let leave = Notification::new(Exit::METHOD.to_owned(), ());
        let _ = events.send(Event::Message(leave.into()));
    });
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
    inbox: Inbox,
    jobs: Sender<Job>,
    /// A job is in progress.
    busy: bool,
    /// The editor has said that it leaves.
    leaving: bool,
}

type Failure = Box<dyn Error + Send + Sync>;
type Sent = Result<(), Failure>;

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
                            text: Rc::new(Text::new(document.text)),
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
                    self.workspace.leave(&path);
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

    /// Takes in an event; nothing is answered yet but that a request was taken back.
    fn take(&mut self, event: Event) -> Sent {
        match event {
            Event::Message(message) => {
                if let Some(id) = self.inbox.push(message) {
                    self.refuse(id, ErrorCode::RequestCanceled, "the request was taken back")?;
                }
                Ok(())
            }
            Event::Assembled(done) => {
                self.busy = false;
                self.workspace.complete(*done);
                self.answer_due()
            }
        }
    }

    /// Answers what was put off until now.
    fn answer_due(&mut self) -> Sent {
        let workspace = &self.workspace;
        let due = self.inbox.due(|it| !requests::must_wait(workspace, it));
        for request in due {
            let response = requests::answer(&mut self.workspace, request);
            self.send(response)?;
        }
        Ok(())
    }

    /// Gives the assembler the next program, if it has nothing to do.
    fn assemble(&mut self) -> Sent {
        self.workspace.refresh();
        // Who waits for a program that is no more is answered without it.
        self.answer_due()?;
        if !self.busy
            && let Some(job) = self.workspace.job()
        {
            self.busy = self.jobs.send(job).is_ok();
        }
        Ok(())
    }

    fn handle(&mut self, message: Message) -> Result<ControlFlow<()>, Failure> {
        match message {
            Message::Notification(it) if it.method == Exit::METHOD => {
                return Ok(ControlFlow::Break(()));
            }
            Message::Request(request) if self.leaving => {
                self.refuse(
                    request.id,
                    ErrorCode::InvalidRequest,
                    "the server shuts down",
                )?;
            }
            Message::Request(request) if request.method == Shutdown::METHOD => {
                self.leaving = true;
                self.send(Response::new_ok(request.id, ()))?;
            }
            Message::Request(request) => self.request(request)?,
            Message::Notification(notification) => {
                if matches!(
                    notification.method.as_str(),
                    DidChangeTextDocument::METHOD | DidCloseTextDocument::METHOD
                ) {
                    // Their places are those of a text that is no more.
                    for request in self.inbox.due(|_| true) {
                        self.refuse(
                            request.id,
                            ErrorCode::ContentModified,
                            "the text has changed",
                        )?;
                    }
                }
                self.notification(notification);
            }
            Message::Response(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, why: &str) -> Sent {
        self.send(Response::new_err(id, code as i32, why.to_owned()))
    }

    fn request(&mut self, request: Request) -> Sent {
        self.workspace.refresh();
        if requests::must_wait(&self.workspace, &request) {
            self.inbox.put_off(request);
            return Ok(());
        }
        let response = requests::answer(&mut self.workspace, request);
        self.send(response)
    }

    /// Sends what has changed since the last time, once all of it is known.
    fn publish(&mut self) -> Sent {
        if !self.workspace.is_complete() || !self.workspace.take_changed() {
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
