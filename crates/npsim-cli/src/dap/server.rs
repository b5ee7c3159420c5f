//! The protocol connection: requests in, responses and events out.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use npsim_debug::{DebugError, Debugger};
use serde_json::{Map, Value, json};

use super::wire::{Incoming, Request};
use crate::framing;

/// A launch request.
pub struct Launch {
    /// The arguments.
    pub arguments: Map<String, Value>,
    request: Request,
}

/// The server's end of a connection to an editor.
pub struct Server {
    input: Receiver<io::Result<Incoming>>,
    output: Box<dyn Write>,
    seq: i64,
    /// Set when a request arrives that interrupts the current command.
    stop: Arc<AtomicBool>,
    /// Set when the client has closed its end.
    gone: Arc<AtomicBool>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Server")
            .field("seq", &self.seq)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Launch")
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Creates a server on these streams. A separate thread reads the input, so that a pause can
    /// interrupt a search in progress.
    #[must_use]
    pub fn new(mut input: impl BufRead + Send + 'static, output: impl Write + 'static) -> Self {
        let (sender, receiver) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let gone = Arc::new(AtomicBool::new(false));
        let (flag, hung_up) = (Arc::clone(&stop), Arc::clone(&gone));
        thread::spawn(move || {
            loop {
                let message = match framing::read(&mut input) {
                    Ok(Some(bytes)) => Ok(Incoming::of(&bytes)),
                    Ok(None) => break,
                    Err(error) => Err(error),
                };
                let ends = message.is_err();
                let breaks = matches!(
                    &message,
                    Ok(Incoming::Request(it)) if matches!(
                        it.command.as_str(),
                        "pause" | "cancel" | "disconnect" | "terminate"
                    )
                );
                if breaks {
                    flag.store(true, Ordering::Relaxed);
                }
                if sender.send(message).is_err() || ends {
                    break;
                }
            }
            // The client no longer waits for a search.
            hung_up.store(true, Ordering::Relaxed);
        });
        Self {
            input: receiver,
            output: Box::new(output),
            seq: 0,
            stop,
            gone,
        }
    }

    /// The next request; `None` when the client has disconnected. Unreadable messages are reported
    /// to the client.
    pub(super) fn next(&mut self) -> io::Result<Option<Request>> {
        loop {
            match self.input.recv() {
                Ok(Ok(Incoming::Request(request))) => return Ok(Some(request)),
                Ok(Ok(Incoming::Unreadable(why))) => self.event(
                    "output",
                    Some(json!({ "category": "stderr", "output": format!("{why}\n") })),
                )?,
                Ok(Err(error)) => return Err(error),
                Err(_) => return Ok(None),
            }
        }
    }

    fn send(&mut self, mut message: Value) -> io::Result<()> {
        self.seq += 1;
        message["seq"] = self.seq.into();
        framing::write(&mut self.output, &message.to_string())
    }

    pub(super) fn respond(&mut self, request: &Request, body: Option<Value>) -> io::Result<()> {
        let mut message = json!({
            "type": "response",
            "request_seq": request.seq,
            "success": true,
            "command": request.command,
        });
        if let Some(body) = body {
            message["body"] = body;
        }
        self.send(message)
    }

    pub(super) fn refuse(&mut self, request: &Request, why: &DebugError) -> io::Result<()> {
        self.send(json!({
            "type": "response",
            "request_seq": request.seq,
            "success": false,
            "command": request.command,
            "message": why.message,
            "body": { "error": { "id": 1, "format": why.to_string().replace('{', "(").replace('}', ")"), "showUser": true } },
        }))
    }

    pub(super) fn event(&mut self, event: &str, body: Option<Value>) -> io::Result<()> {
        let mut message = json!({ "type": "event", "event": event });
        if let Some(body) = body {
            message["body"] = body;
        }
        self.send(message)
    }

    /// Answers requests until the client launches something; `None` if it disconnects first.
    ///
    /// # Errors
    /// Returns an error if the streams break, or the input violates the protocol.
    pub fn launch(&mut self) -> io::Result<Option<Launch>> {
        while let Some(request) = self.next()? {
            match request.command.as_str() {
                "initialize" => self.respond(&request, Some(capabilities()))?,
                "launch" => {
                    let arguments = request.arguments.as_object().cloned();
                    return Ok(Some(Launch {
                        arguments: arguments.unwrap_or_default(),
                        request,
                    }));
                }
                "disconnect" | "terminate" => {
                    self.respond(&request, None)?;
                    return Ok(None);
                }
                "attach" => {
                    let why = DebugError::new("there is no running program to attach to")
                        .help("use a launch configuration");
                    self.refuse(&request, &why)?;
                }
                _ => {
                    let why = DebugError::new("nothing is launched yet");
                    self.refuse(&request, &why)?;
                }
            }
        }
        Ok(None)
    }

    /// Reports to the client that its launch request failed.
    ///
    /// # Errors
    /// Returns an error if the streams break.
    pub fn refuse_launch(&mut self, launch: &Launch, why: &str) -> io::Result<()> {
        self.event(
            "output",
            Some(json!({ "category": "stderr", "output": format!("{why}\n") })),
        )?;
        let first = why.lines().next().unwrap_or_default();
        self.refuse(&launch.request, &DebugError::new(first))?;
        self.event("terminated", None)
    }

    /// Begins to debug what the client launched. The debugger polls the interruption flags.
    pub(super) fn begin(
        &mut self,
        launch: &Launch,
        mut debugger: Debugger,
    ) -> io::Result<Debugger> {
        let (stop, gone) = (Arc::clone(&self.stop), Arc::clone(&self.gone));
        stop.store(false, Ordering::Relaxed);
        debugger.set_interrupt_check(move |_| {
            stop.load(Ordering::Relaxed) || gone.load(Ordering::Relaxed)
        });
        self.respond(&launch.request, None)?;
        self.event("initialized", None)?;
        Ok(debugger)
    }

    /// Clears the interruption flag.
    pub(super) fn clear_interrupt(&self) {
        self.stop.store(false, Ordering::Relaxed);
    }
}

/// The capabilities of the debugger.
fn capabilities() -> Value {
    let filters: Vec<_> = npsim_chip::kernel::check::Check::ALL
        .iter()
        .map(|check| {
            json!({
                "filter": check.name(),
                "label": check.name(),
                "description": check.explanation(),
                "default": true,
            })
        })
        .collect();
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSetVariable": true,
        "supportsGotoTargetsRequest": true,
        "supportsCompletionsRequest": true,
        "completionTriggerCharacters": [" ", "$", "@", "(", "["],
        "supportsDelayedStackTraceLoading": true,
        "supportsExceptionInfoRequest": true,
        "exceptionBreakpointFilters": filters,
        "supportsDataBreakpoints": true,
        "supportsDataBreakpointBytes": true,
        "supportsInstructionBreakpoints": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsSteppingGranularity": true,
        "supportsCancelRequest": true,
        "supportsTerminateRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsValueFormattingOptions": true,
    })
}
