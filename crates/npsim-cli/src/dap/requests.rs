//! Requests handled while a program is being debugged.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use npsim::files::readable_source;
use npsim_chip::kernel::check::Check;
use npsim_debug::console::{completions, execute, time_text};
use npsim_debug::expression::{Expression, Lvalue};
use npsim_debug::view::{self, StopReason};
use npsim_debug::{DebugError, Debugger, Direction, Step, Stop, StopCause, Thread};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::address;
use super::arguments::{
    Completions, Disassemble, Evaluate, ReadMemory, Scopes, SourceText, StackTrace,
    ThreadArguments, WriteMemory,
};
use super::server::{Launch, Server};
use super::session::Session;
use super::variables;
use super::wire::Request;

/// The maximum number of instructions disassembled per request.
const MAX_WORDS: i64 = 100_000;
/// The maximum distance of requested instructions from their reference.
const MAX_INSTRUCTION_OFFSET: u64 = 1 << 32;
/// The maximum number of bytes of memory read per request.
const MAX_BYTES: i64 = 1 << 20;

/// The action that follows a response.
enum FollowUp {
    Nothing,
    Stopped(Box<Stop>),
    End,
}

type RequestResult = Result<(Option<Value>, FollowUp), DebugError>;

fn arguments<T: DeserializeOwned>(request: &Request) -> Result<T, DebugError> {
    serde_json::from_value(request.arguments.clone())
        .map_err(|error| DebugError::new(format!("`{}`: {error}", request.command)))
}

impl Server {
    /// Serves the client's debug session until the client ends it or disconnects. Sources below the
    /// folder of the target are shown by any name.
    ///
    /// # Errors
    /// Returns an error if the streams break, or the input violates the protocol.
    pub fn debug(&mut self, launch: &Launch, debugger: Debugger, target: &Path) -> io::Result<()> {
        let debugger = self.begin(launch, debugger)?;
        let entry = launch.arguments.get("stopOnEntry").and_then(Value::as_bool);
        Session::new(self, debugger, target, entry.unwrap_or(true)).serve()
    }
}

impl Session<'_> {
    /// Answers requests until the client ends the session or disconnects.
    ///
    /// Requests that resume the run are answered before it resumes, as the protocol requires, and
    /// the `stopped` event follows. During the run, the server keeps reading requests; one that
    /// cannot wait, such as `pause`, interrupts the run (`server.clear_interrupt` clears the interruption
    /// before each request).
    fn serve(mut self) -> io::Result<()> {
        while let Some(request) = self.server.next()? {
            self.server.clear_interrupt();
            let goes = matches!(
                request.command.as_str(),
                "continue" | "reverseContinue" | "next" | "stepIn" | "stepOut" | "stepBack"
            );
            if goes {
                let motion = match self.requested_motion(&request) {
                    Ok(motion) => motion,
                    Err(complaint) => {
                        self.server.refuse(&request, &complaint)?;
                        continue;
                    }
                };
                // Lets the client show that all threads run.
                let body =
                    (request.command == "continue").then(|| json!({ "allThreadsContinued": true }));
                self.server.respond(&request, body)?;
                let stop = match motion {
                    (None, direction) => self.debugger.run(direction),
                    (Some(step), direction) => self.debugger.step(step, direction),
                };
                self.stopped(&stop)?;
                continue;
            }
            match self.answer(&request) {
                Ok((body, then)) => {
                    self.server.respond(&request, body)?;
                    match then {
                        FollowUp::Nothing => {}
                        FollowUp::Stopped(stop) => self.stopped(&stop)?,
                        FollowUp::End => {
                            if !std::mem::replace(&mut self.terminated, true) {
                                self.server.event("terminated", None)?;
                            }
                            if request.command == "disconnect" {
                                return Ok(());
                            }
                        }
                    }
                }
                Err(complaint) => self.server.refuse(&request, &complaint)?,
            }
        }
        Ok(())
    }

    /// The requested step, if any, and its direction. Selects the context of a step.
    fn requested_motion(
        &mut self,
        request: &Request,
    ) -> Result<(Option<Step>, Direction), DebugError> {
        let asked: ThreadArguments = arguments(request)?;
        let direction = match request.command.as_str() {
            "reverseContinue" | "stepBack" => Direction::Back,
            _ => Direction::Forward,
        };
        let by_word = asked.granularity.as_deref() == Some("instruction");
        let step = match request.command.as_str() {
            "continue" | "reverseContinue" => return Ok((None, direction)),
            "stepOut" => Step::Out,
            _ if by_word => Step::Instruction,
            "stepIn" => Step::Into,
            _ => Step::Line,
        };
        self.debugger.select(address::thread(asked.thread_id)?)?;
        if step == Step::Out && self.debugger.thread().is_core() {
            return Err(DebugError::new("what called this function is not known")
                .help("use `finish` under `npsim debug --gdb`"));
        }
        if step == Step::Out && self.debugger.frames(self.debugger.thread()).len() < 2 {
            return Err(DebugError::new("the context is not in a macro"));
        }
        Ok((Some(step), direction))
    }

    fn send_output(&mut self, text: &str, category: &str) -> io::Result<()> {
        let body = json!({ "category": category, "output": format!("{text}\n") });
        self.server.event("output", Some(body))
    }

    /// Reports to the client where and why the run stopped.
    fn stopped(&mut self, stop: &Stop) -> io::Result<()> {
        for said in &stop.said {
            let place = said.place.map(|it| format!(" {}.{}", it.me, it.context));
            let place = place.unwrap_or_default();
            self.send_output(
                &format!("[{}{place}] {}", said.moment.cycle, said.text),
                "console",
            )?;
        }
        let cycle = self.debugger.cycle();
        let time = time_text(cycle, self.debugger.timeline().hertz());
        let at = format!("cycle {cycle} ({time})");
        let mut hits: Vec<u32> = Vec::new();
        let (reason, text) = match view::reason(&self.debugger, &stop.reason) {
            StopReason::Entry => ("entry", None),
            StopReason::Step => ("step", None),
            StopReason::Goto => ("goto", None),
            StopReason::Breakpoint { hits: all } => {
                hits = all.iter().map(|it| it.number).collect();
                let failures = all.iter().filter_map(|it| it.failure.clone());
                let failure = failures.reduce(|all, more| format!("{all}; {more}"));
                let by: Vec<_> = all.iter().flat_map(|it| it.by.clone()).collect();
                if let Some(failure) = failure {
                    let text = format!("it cannot be computed here, {failure}");
                    ("breakpoint", Some(text))
                } else if !by.is_empty() {
                    ("data breakpoint", Some(by.join(" and ")))
                } else if all.iter().any(|it| it.change.is_some()) {
                    ("data breakpoint", None)
                } else {
                    ("breakpoint", None)
                }
            }
            StopReason::Fault { message, .. } => ("exception", Some(message)),
            StopReason::End { text } => ("pause", Some(text)),
            StopReason::Beginning => ("pause", Some("the beginning of the run".to_owned())),
            StopReason::Interrupted => ("pause", None),
        };
        let description = match &text {
            Some(text) => format!("{at}: {text}"),
            None => format!("{reason} at {at}"),
        };
        let mut body = json!({
            "reason": reason,
            "description": description,
            "threadId": address::thread_id(stop.thread),
            "allThreadsStopped": true,
        });
        if let Some(text) = text {
            body["text"] = text.into();
        }
        if !hits.is_empty() {
            body["hitBreakpointIds"] = json!(hits);
        }
        self.server.event("stopped", Some(body))
    }

    fn answer(&mut self, request: &Request) -> RequestResult {
        let body = match request.command.as_str() {
            "configurationDone" => return Ok((None, self.configured())),
            "pause" => {
                let stop = current_stop(&self.debugger, StopCause::Interrupted);
                return Ok((None, FollowUp::Stopped(Box::new(stop))));
            }
            "disconnect" | "terminate" => return Ok((None, FollowUp::End)),
            "evaluate" => return self.evaluate(&arguments(request)?),
            "cancel" => return Ok((None, FollowUp::Nothing)),
            "threads" => self.threads(),
            "stackTrace" => self.stack(&arguments(request)?)?,
            "scopes" => {
                let asked: Scopes = arguments(request)?;
                variables::scopes(address::thread_of_frame(asked.frame_id)?)
            }
            "variables" => self.variables(&arguments(request)?)?,
            "setVariable" => self.set_variable(&arguments(request)?)?,
            "setBreakpoints" => self.set_breakpoints(&arguments(request)?),
            "setExceptionBreakpoints" => self.set_exceptions(&arguments(request)?),
            "setInstructionBreakpoints" => self.set_instructions(&arguments(request)?),
            "dataBreakpointInfo" => self.data_info(&arguments(request)?)?,
            "setDataBreakpoints" => self.set_data(&arguments(request)?),
            "breakpointLocations" => self.breakpoint_locations(&arguments(request)?),
            "gotoTargets" => self.goto_targets(&arguments(request)?)?,
            "goto" => {
                let stop = self.goto(&arguments(request)?)?;
                return Ok((None, FollowUp::Stopped(Box::new(stop))));
            }
            "exceptionInfo" => self.exception()?,
            "completions" => self.completions(&arguments(request)?),
            "disassemble" => self.disassemble(&arguments(request)?)?,
            "readMemory" => self.read_memory(&arguments(request)?)?,
            "writeMemory" => self.write_memory(&arguments(request)?)?,
            "source" => self.source(&arguments(request)?)?,
            "loadedSources" => self.sources(),
            other => {
                return Err(DebugError::new(format!(
                    "there is no request `{other}` here"
                )));
            }
        };
        Ok((Some(body), FollowUp::Nothing))
    }

    fn configured(&mut self) -> FollowUp {
        if std::mem::replace(&mut self.configured, true) {
            return FollowUp::Nothing;
        }
        let stop = if self.stops_on_entry {
            current_stop(&self.debugger, StopCause::Entry)
        } else {
            self.debugger.run(Direction::Forward)
        };
        FollowUp::Stopped(Box::new(stop))
    }

    fn threads(&self) -> Value {
        let threads = self.debugger.threads();
        let threads = threads.iter().map(|it| {
            let Thread { me, context } = it.thread;
            let name = format!("ME{me} ctx{context} {}", it.stage);
            json!({ "id": address::thread_id(it.thread), "name": name })
        });
        let core = self.debugger.core().map(|core| {
            let name = format!("core {}", core.name());
            json!({ "id": address::thread_id(Thread::CORE), "name": name })
        });
        json!({ "threads": threads.chain(core).collect::<Vec<_>>() })
    }

    fn stack(&self, asked: &StackTrace) -> Result<Value, DebugError> {
        let thread = address::thread(asked.thread_id)?;
        let frames = self.debugger.frames(thread);
        let total = frames.len();
        let levels = if asked.levels == 0 {
            total
        } else {
            asked.levels
        };
        let pc = self.debugger.pc(thread);
        let shown = frames
            .iter()
            .enumerate()
            .skip(asked.start_frame)
            .take(levels);
        let shown = shown.map(|(at, frame)| {
            let mut shown = json!({
                "id": address::frame_id(thread, at),
                "name": frame.name,
                "line": frame.line,
                "column": frame.column,
            });
            if !frame.file.is_empty() {
                shown["source"] = source_of(&frame.file);
            }
            if at == 0 && !thread.is_core() {
                let reference = address::code(thread.me, pc.into());
                shown["instructionPointerReference"] = format!("{reference:#x}").into();
            }
            shown
        });
        let frames: Vec<_> = shown.collect();
        Ok(json!({ "stackFrames": frames, "totalFrames": total }))
    }

    fn evaluate(&mut self, asked: &Evaluate) -> RequestResult {
        let thread = match asked.frame_id {
            Some(frame) => address::thread_of_frame(frame)?,
            None => self.debugger.thread(),
        };
        let value = self.debugger.evaluate(&asked.expression, thread);
        if asked.context != "repl" {
            let body = self.shown(&asked.expression, value?, thread, asked);
            return Ok((Some(body), FollowUp::Nothing));
        }
        let target = self.target.clone();
        let sources = |file: &str| readable_source(Path::new(file), &target);
        self.debugger.select(thread)?;
        match execute(&mut self.debugger, &sources, &asked.expression) {
            Ok(answer) => {
                let text = answer.lines.join("\n");
                let body = json!({ "result": text, "variablesReference": 0 });
                let then = match answer.stop {
                    Some(stop) => FollowUp::Stopped(Box::new(Stop {
                        said: Vec::new(),
                        ..stop
                    })),
                    None => FollowUp::Nothing,
                };
                Ok((Some(body), then))
            }
            // Text that is not a command may be an expression.
            Err(complaint) => match value {
                Ok(value) => {
                    let body = self.shown(&asked.expression, value, thread, asked);
                    Ok((Some(body), FollowUp::Nothing))
                }
                Err(_) => Err(complaint),
            },
        }
    }

    fn shown(&self, expression: &str, value: u64, thread: Thread, asked: &Evaluate) -> Value {
        let mut body = json!({
            "result": variables::text(value, &asked.format),
            "variablesReference": 0,
        });
        let scope = self.debugger.scope(thread);
        let location = expression
            .parse::<Expression>()
            .and_then(|it| it.location(&scope));
        if let Ok(Lvalue::Word(memory, address)) = location
            && let Some(reference) = address::memory_address(memory, address)
        {
            body["memoryReference"] = format!("{reference:#x}").into();
        }
        body
    }

    fn exception(&self) -> Result<Value, DebugError> {
        let StopCause::Fault(fault) = self.debugger.reason() else {
            return Err(DebugError::new("no check has stopped the run here"));
        };
        let name = fault.check.map_or("fault", Check::name);
        let mut details = fault.notes.clone();
        details.extend(fault.also.iter().map(|it| {
            let image = self.debugger.image(it.me);
            let place = image.map_or_else(String::new, |image| image.place(it.pc));
            format!("{}.{} {}, at {place}", it.me, it.context, it.what)
        }));
        details.extend(fault.help.iter().map(|help| format!("help: {help}")));
        Ok(json!({
            "exceptionId": name,
            "description": fault.message,
            "breakMode": "always",
            "details": { "message": fault.message, "typeName": name, "stackTrace": details.join("\n") },
        }))
    }

    fn completions(&self, asked: &Completions) -> Value {
        let column = asked.column.saturating_sub(1);
        let before: String = asked.text.chars().take(column).collect();
        let (from, found) = completions(&self.debugger, &before);
        let start = before[..from].chars().count();
        let length = column.saturating_sub(start);
        let targets = found
            .iter()
            .map(|it| json!({ "label": it, "start": start, "length": length }));
        json!({ "targets": targets.collect::<Vec<_>>() })
    }

    fn disassemble(&self, asked: &Disassemble) -> Result<Value, DebugError> {
        let count = asked.instruction_count;
        if !(0..=MAX_WORDS).contains(&count) {
            return Err(DebugError::new(format!(
                "{count} instructions are too many"
            )));
        }
        let base = address::address_at(&asked.memory_reference, asked.offset)?;
        let (me, pc) = address::instruction(base)?;
        let image = self.debugger.image(me);
        let first = pc.checked_add(asked.instruction_offset);
        let first = { first.filter(|it| it.unsigned_abs() <= MAX_INSTRUCTION_OFFSET) }
            .ok_or_else(|| DebugError::new("no instruction is that far away"))?;
        // Each file is looked up on disk only once.
        let mut sources: BTreeMap<String, Value> = BTreeMap::new();
        let words = (first..first + count).map(|at| {
            let reference = format!("{:#x}", address::code(me, at));
            let word = u16::try_from(at).ok().and_then(|pc| {
                let image = image?;
                let bits = image.words.get(usize::from(pc))?;
                Some((pc, *bits, image))
            });
            let Some((pc, bits, image)) = word else {
                return json!({
                    "address": reference, "instruction": "", "presentationHint": "invalid",
                });
            };
            let text = image
                .instruction(pc)
                .map_or_else(|| ".word".to_owned(), |it| it.to_string());
            let mut shown = json!({
                "address": reference,
                "instruction": text,
                "instructionBytes": format!("{bits:010x}"),
            });
            if let Some(frame) = npsim_debug::source::frames(image, pc).first()
                && !frame.file.is_empty()
            {
                let source = sources.entry(frame.file.clone());
                let source = source.or_insert_with_key(|file| source_of(file));
                shown["location"] = source.clone();
                shown["line"] = frame.line.into();
            }
            shown
        });
        Ok(json!({ "instructions": words.collect::<Vec<_>>() }))
    }

    fn read_memory(&self, asked: &ReadMemory) -> Result<Value, DebugError> {
        let start = address::address_at(&asked.memory_reference, asked.offset)?;
        let count = asked.count.clamp(0, MAX_BYTES);
        let scope = self.debugger.scope(self.debugger.thread());
        let mut bytes = Vec::new();
        // Longwords are big-endian, in network byte order.
        for at in start..start + count {
            let Ok((memory, address)) = address::memory(at) else {
                break;
            };
            let Ok(word) = scope.word(memory, address) else {
                break;
            };
            bytes.push(word.to_be_bytes()[(address & 3) as usize]);
        }
        Ok(json!({
            "address": format!("{start:#x}"),
            "unreadableBytes": asked.count.max(0) - bytes.len() as i64,
            "data": address::base64(&bytes),
        }))
    }

    fn write_memory(&mut self, asked: &WriteMemory) -> Result<Value, DebugError> {
        let start = address::address_at(&asked.memory_reference, asked.offset)?;
        let bytes = address::from_base64(&asked.data)?;
        let thread = self.debugger.thread();
        let mut words: Vec<(npsim_debug::names::Memory, u32, u32)> = Vec::new();
        for (at, byte) in (start..).zip(&bytes) {
            let (memory, address) = address::memory(at)?;
            let first = address & !3;
            if words
                .last()
                .is_none_or(|it| (it.0, it.1) != (memory, first))
            {
                let word = self.debugger.scope(thread).word(memory, first)?;
                words.push((memory, first, word));
            }
            if let Some(last) = words.last_mut() {
                let mut whole = last.2.to_be_bytes();
                whole[(address & 3) as usize] = *byte;
                last.2 = u32::from_be_bytes(whole);
            }
        }
        // Consecutive words are written as one change.
        let follows = |a: &(_, u32, u32), b: &(_, u32, u32)| (a.0, a.1 + 4) == (b.0, b.1);
        for run in words.chunk_by(follows) {
            let values: Vec<u32> = run.iter().map(|it| it.2).collect();
            self.debugger.write(run[0].0, run[0].1, &values, thread)?;
        }
        Ok(json!({ "bytesWritten": bytes.len() }))
    }

    fn source(&self, asked: &SourceText) -> Result<Value, DebugError> {
        let path = asked.source.path.clone().unwrap_or_default();
        // Only sources of the loaded programs are read.
        let cores = self.debugger.chip().microengines().iter();
        let mut files = cores.flat_map(|core| &core.program().image().files);
        let file = files.find(|file| npsim_image::same_file(file, &path));
        let file =
            file.ok_or_else(|| DebugError::new(format!("no program has a file `{path}`")))?;
        let text = readable_source(Path::new(file), &self.target).ok_or_else(|| {
            DebugError::new(format!(
                "`{file}` is not a readable source of at most 64 MiB"
            ))
        })?;
        Ok(json!({ "content": text, "mimeType": "text/plain" }))
    }

    fn sources(&self) -> Value {
        let files = self.debugger.files();
        let sources: Vec<_> = files.iter().map(|file| source_of(file)).collect();
        json!({ "sources": sources })
    }
}

fn current_stop(debugger: &Debugger, reason: StopCause) -> Stop {
    Stop {
        reason,
        thread: debugger.thread(),
        said: Vec::new(),
    }
}

/// The protocol's description of a source file.
fn source_of(file: &str) -> Value {
    let full = npsim::files::canonical(Path::new(file));
    let name = full.file_name().map(|it| it.to_string_lossy().into_owned());
    json!({ "name": name.unwrap_or_default(), "path": full.to_string_lossy() })
}
