//! Requests and notifications: from the protocol to the analysis and back.

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{RecvError, Sender, channel};

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{Request as _, Shutdown};
use lsp_types::{InitializeParams, PublishDiagnosticsParams, Uri};
use npsim::analysis::paths::canonical;
use npsim::analysis::{Assembled, Job, Workspace};

use super::editor::Editor;
use super::inbox::Inbox;
use super::settings::settings;
use super::{requests, translation, uris};

/// Serves one editor until it exits.
///
/// # Errors
/// Returns an error if the connection breaks, or the editor violates the protocol.
pub fn serve(connection: &Connection) -> Sent {
    let capabilities = serde_json::to_value(requests::capabilities())?;
    let parameters = connection.initialize(capabilities)?;
    let parameters: InitializeParams = serde_json::from_value(parameters)?;
    let folders = folders(&parameters);
    let folder = folders.first().cloned();
    let sent = parameters.initialization_options.unwrap_or_default();
    let settings = settings(&sent, folder.as_deref());
    let (events, receiver) = channel();
    let jobs = assembler(events.clone());
    listen(connection, events);
    let mut server = Server {
        connection,
        editor: Editor {
            workspace: Workspace::new(folders, settings),
            open: BTreeMap::new(),
        },
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
        // Consecutive edits are assembled together, after pending requests have been answered.
        server.assemble()?;
        server.publish()?;
        match receiver.recv() {
            Ok(event) => server.take(event)?,
            Err(RecvError) => return Ok(()),
        }
    }
}

/// An event for the server's main loop.
enum Event {
    Message(Message),
    Assembled(Box<Assembled>),
}

/// Starts a thread that assembles programs one after the other, until the server exits.
fn assembler(events: Sender<Event>) -> Sender<Job> {
    let (jobs, receiver) = channel::<Job>();
    std::thread::spawn(move || {
        for job in receiver {
            if events.send(Event::Assembled(Box::new(job.run()))).is_err() {
                break;
            }
        }
    });
    jobs
}

/// Forwards messages as they arrive, so that the server sees all that are waiting.
fn listen(connection: &Connection, events: Sender<Event>) {
    let messages = connection.receiver.clone();
    std::thread::spawn(move || {
        for message in messages {
            if events.send(Event::Message(message)).is_err() {
                return;
            }
        }
        // An editor that disconnects without notice is handled like one that exits. The message is
        // lost if the server has exited too.
        let leave = Notification::new(Exit::METHOD.to_owned(), ());
        let _ = events.send(Event::Message(leave.into()));
    });
}

fn folders(parameters: &InitializeParams) -> Vec<PathBuf> {
    let several = parameters.workspace_folders.iter().flatten();
    let mut folders: Vec<PathBuf> = several
        .filter_map(|folder| uris::from_uri(&folder.uri))
        .collect();
    #[expect(
        deprecated,
        reason = "older editors name their folder in this way only"
    )]
    if folders.is_empty()
        && let Some(path) = parameters.root_uri.as_ref().and_then(uris::from_uri)
    {
        folders.push(path);
    }
    folders.iter().map(|path| canonical(path)).collect()
}

struct Server<'a> {
    connection: &'a Connection,
    editor: Editor,
    /// The folder that relative paths in settings are based on.
    folder: Option<PathBuf>,
    /// The diagnostics last sent to the editor, by file.
    published: BTreeMap<PathBuf, (Uri, Vec<lsp_types::Diagnostic>)>,
    inbox: Inbox,
    jobs: Sender<Job>,
    /// Whether a job is in progress.
    busy: bool,
    /// Whether the editor has requested shutdown.
    leaving: bool,
}

/// The reason why a server ends early.
pub type Failure = Box<dyn Error + Send + Sync>;
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
                    self.editor.open(parameters.text_document);
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Some(parameters) = of::<DidChangeTextDocument>(notification) {
                    let changes = parameters.content_changes;
                    self.editor.change(&parameters.text_document, changes);
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Some(parameters) = of::<DidCloseTextDocument>(notification) {
                    self.editor.close(&parameters.text_document.uri);
                }
            }
            DidChangeConfiguration::METHOD => {
                if let Some(parameters) = of::<DidChangeConfiguration>(notification) {
                    // Editors with pull-based configuration send null here.
                    if !parameters.settings.is_null() {
                        let settings = settings(&parameters.settings, self.folder.as_deref());
                        self.editor.workspace.set(settings);
                    }
                }
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => {
                self.editor.workspace.search();
            }
            _ => {}
        }
    }

    /// Takes in an event. The only message answered right away is the cancellation of a request.
    fn take(&mut self, event: Event) -> Sent {
        match event {
            Event::Message(message) => {
                if let Some(id) = self.inbox.push(message) {
                    self.refuse(id, ErrorCode::RequestCanceled, "the request was cancelled")?;
                }
                Ok(())
            }
            Event::Assembled(assembled) => {
                self.busy = false;
                self.editor.workspace.complete(*assembled);
                self.answer_deferred()
            }
        }
    }

    /// Answers the deferred requests that are now due.
    fn answer_deferred(&mut self) -> Sent {
        let editor = &self.editor;
        let due = self.inbox.due(|it| !requests::must_defer(editor, it));
        for request in due {
            let response = requests::answer(&mut self.editor, request);
            self.send(response)?;
        }
        Ok(())
    }

    /// Hands the next program to the assembler, if that is idle.
    fn assemble(&mut self) -> Sent {
        self.editor.workspace.refresh();
        // Requests for a program that no longer exists are answered without it.
        self.answer_deferred()?;
        if !self.busy
            && let Some(job) = self.editor.workspace.job()
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
                    // The positions in these requests refer to a text that no longer exists.
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
        self.editor.workspace.refresh();
        if requests::must_defer(&self.editor, &request) {
            self.inbox.put_off(request);
            return Ok(());
        }
        let response = requests::answer(&mut self.editor, request);
        self.send(response)
    }

    /// Sends the diagnostics that have changed since the last time, once all of them are known.
    fn publish(&mut self) -> Sent {
        let workspace = &mut self.editor.workspace;
        if !workspace.is_complete() || !workspace.take_changed_flag() {
            return Ok(());
        }
        // An open text without diagnostics has an empty list.
        let open = self
            .editor
            .open
            .keys()
            .map(|path| (path.clone(), Vec::new()));
        let mut next: BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>> = open.collect();
        for found in workspace.diagnostics() {
            let shown = translation::diagnostic(&found);
            next.entry(found.place.path).or_default().push(shown);
        }
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
            let version = self.editor.open.get(&path).map(|document| document.version);
            let Some(uri) = self.editor.uri(&path) else {
                continue;
            };
            let same = self
                .published
                .get(&path)
                .is_some_and(|(_, shown)| *shown == list);
            // Diagnostics of an open text are sent for every version, so that tools can wait for
            // them.
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
