//! The files, the run and the analysis of a page.

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::file_store::FileStore;
use crate::language::Language;
use crate::measurement::Measurement;
use crate::opening::{OpenRun, open};
use crate::request::{OpenRequest, PlaceRequest, Request};
use crate::travel::Moved;
use crate::{breakpoints, capture_table, console, exercise, lookup, stop_answer, systems};

/// The default number of cycles per stretch of a measurement.
const CYCLES: u64 = 200_000;
/// The default number of rows of a table.
const ROWS: usize = 200;
/// The default number of longwords of a memory query.
const WORDS: u32 = 64;

/// The files, the run and the analysis of a page.
#[derive(Debug, Default)]
pub struct Playground {
    files: FileStore,
    run: Option<OpenRun>,
    language: Option<Language>,
}

impl Playground {
    /// Stores a file, replacing one with the same path.
    pub fn put(&mut self, path: &str, bytes: Vec<u8>) -> Answer {
        match self.store(path, bytes) {
            Ok(()) => Answer::done(),
            Err(failure) => Answer::refusal(&failure),
        }
    }

    fn store(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), Failure> {
        if path.trim_matches('/').is_empty() {
            return Err(Failure::new("the file has no name"));
        }
        self.files.put(Path::new(path), bytes)?;
        if let Some(language) = &mut self.language {
            language.changed(Path::new(path));
        }
        Ok(())
    }

    /// Handles a request, which is JSON.
    pub fn ask(&mut self, request: &[u8]) -> Answer {
        let request = serde_json::from_slice::<Request>(request);
        let answer = request
            .map_err(|error| {
                Failure::new(format!("the request cannot be read: {error}"))
                    .help("`crates/web/README.md` has all requests")
            })
            .and_then(|request| self.answer(request));
        answer.unwrap_or_else(|failure| Answer::refusal(&failure))
    }

    fn run(&mut self) -> Result<(&FileStore, &mut OpenRun), Failure> {
        let run = self.run.as_mut();
        let run = run.ok_or_else(|| Failure::new("nothing is open").help("ask `open` first"))?;
        Ok((&self.files, run))
    }

    fn language(&mut self) -> &mut Language {
        let files = &self.files;
        let project = self.run.as_ref().map(|it| &it.scenario.project.text.path);
        self.language.get_or_insert_with(|| {
            let mut language = Language::new(files);
            if let Some(project) = project {
                language.set_project(project);
            }
            language
        })
    }

    fn open(&mut self, asked: &OpenRequest) -> Result<Answer, Failure> {
        let (run, opened) = open(&self.files, asked)?;
        if let Some(language) = &mut self.language {
            language.set_project(&run.scenario.project.text.path);
        }
        self.run = Some(run);
        Answer::of(&opened)
    }

    fn measure(&mut self, cycles: u64, again: bool, observe: bool) -> Result<Answer, Failure> {
        let (_, run) = self.run()?;
        let mut measurement = match run.measurement.take().filter(|_| !again) {
            Some(measurement) => measurement,
            None => Measurement::begin(&run.scenario, observe)?,
        };
        // A failed run is dropped here, and starts again at the next request.
        let progress = measurement.resume(cycles)?;
        run.measurement = Some(measurement);
        Answer::of(&progress)
    }

    fn measured(&mut self) -> Result<&Measurement, Failure> {
        let (_, run) = self.run()?;
        run.measurement.as_ref().ok_or_else(|| {
            Failure::new("the run was not measured").help("ask `measure` until it is `done`")
        })
    }

    fn look<T: Serialize>(
        &mut self,
        look: impl FnOnce(&FileStore, &mut OpenRun) -> Result<T, Failure>,
    ) -> Result<Answer, Failure> {
        let (files, run) = self.run()?;
        Answer::of(&look(files, run)?)
    }

    fn answer(&mut self, request: Request) -> Result<Answer, Failure> {
        match request {
            Request::Remove { path } => {
                let removed = self.files.remove(Path::new(&path));
                if let Some(language) = &mut self.language {
                    language.removed(Path::new(&path));
                }
                Answer::of(&json!({ "removed": removed }))
            }
            Request::Files { under } => {
                let sizes = self.files.sizes(under.as_deref().unwrap_or("/").as_ref());
                let files = sizes.iter().map(
                    |(path, bytes)| json!({ "path": path.display().to_string(), "bytes": bytes }),
                );
                Answer::of(&json!({ "files": files.collect::<Vec<_>>() }))
            }
            Request::Read { path } => self.file(&path).map(Answer::Bytes),
            Request::Systems => Answer::of(&systems::list(&self.files)),
            Request::Open(asked) => self.open(&asked),
            Request::Run(asked) => self.look(|files, run| {
                let stop = run.resume(&asked);
                Ok(Moved::of(files, run, &stop))
            }),
            Request::Step(asked) => self.look(|files, run| {
                let stop = run.step(&asked)?;
                Ok(Moved::of(files, run, &stop))
            }),
            Request::Goto { at, cycles, stand } => self.look(|files, run| {
                let stop = run.goto(&at, cycles, stand)?;
                Ok(Moved::of(files, run, &stop))
            }),
            Request::Select { me, context } => self.look(|files, run| {
                run.debugger.select(npsim::debug::Thread { me, context })?;
                Ok(Moved::here(files, run))
            }),
            Request::Command { line, cycles } => self.look(|files, run| {
                run.set_cycle_budget(cycles);
                console::command(files, run, &line)
            }),
            Request::Complete { line } => self.look(|_, run| Ok(console::complete(run, &line))),
            Request::Commands => Answer::of(&console::commands()),
            Request::Break(asked) => self.look(|files, run| breakpoints::set(files, run, &asked)),
            Request::Watch { what } => {
                self.look(|files, run| breakpoints::watch(files, run, &what))
            }
            Request::Unbreak { number } => self.look(|_, run| {
                breakpoints::remove(run, &number)?;
                Ok(json!({}))
            }),
            Request::Breakpoints => self.look(|files, run| Ok(breakpoints::list(files, run))),
            Request::View { cycles } => {
                self.look(|files, run| stop_answer::view(files, run, cycles))
            }
            Request::Packet { number, cycles } => self.look(|files, run| {
                run.set_cycle_budget(cycles);
                lookup::packet(files, run, number)
            }),
            Request::Why { me, context } => {
                self.look(|files, run| console::lines(files, run, (me, context), "why"))
            }
            Request::Who { what, me, context } => self.look(|files, run| {
                run.set_cycle_budget(None);
                console::lines(files, run, (me, context), &format!("who {what}"))
            }),
            Request::Memory {
                name,
                address,
                words,
            } => self.look(|_, run| lookup::memory(run, &name, (address, words.unwrap_or(WORDS)))),
            Request::Evaluate { expression } => {
                self.look(|_, run| lookup::evaluate(run, &expression))
            }
            Request::Listing { path, me } => {
                self.look(|files, run| Ok(lookup::listing(files, run, &path, me)))
            }
            Request::Cost { path, line } => self.look(|_, run| Ok(lookup::cost(run, &path, line))),
            Request::Measure {
                cycles,
                again,
                observe,
            } => self.measure(cycles.unwrap_or(CYCLES), again, observe != Some(false)),
            Request::Stats => self.measured()?.stats(),
            Request::Summary => {
                let text = self.measured()?.summary()?;
                Answer::of(&json!({ "text": text }))
            }
            Request::Bottleneck => {
                let (analysis, text) = self.measured()?.bottleneck()?;
                Answer::of(&json!({
                    "headline": analysis.headline,
                    "evidence": analysis.evidence,
                    "advice": analysis.advice,
                    "text": text,
                }))
            }
            Request::Report => {
                let page = self.measured()?.page()?;
                Ok(Answer::Bytes(page.into_bytes()))
            }
            Request::Departures {
                format,
                from,
                count,
            } => {
                let measured = self.measured()?;
                if format == "json" {
                    let table = measured.table(from.unwrap_or(0), count.unwrap_or(ROWS))?;
                    return Answer::of(&table);
                }
                measured.capture(&format).map(Answer::Bytes)
            }
            Request::Arrivals { path, from, count } => {
                let part = (from.unwrap_or(0), count.unwrap_or(ROWS));
                let bytes = self.file(&path)?;
                Answer::of(&capture_table::table(&path, bytes, part, None)?)
            }
            Request::Exercise { target } => Answer::of(&exercise::check(&self.files, &target)?),
            Request::Edit { path, text } => {
                self.store(&path, text.into_bytes())?;
                Ok(Answer::done())
            }
            other => self.answer_source_request(other),
        }
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, Failure> {
        use npsim::files::Files as _;
        let bytes = self.files.read(path.as_ref());
        bytes.map_err(|_| {
            Failure::new(format!("there is no file `{path}`")).help("`files` lists all files")
        })
    }

    /// Handles requests about sources and project files.
    fn answer_source_request(&mut self, request: Request) -> Result<Answer, Failure> {
        let language = self.language();
        let answer = match request {
            Request::Check { path } => language.check(&path),
            Request::Hover(at) => language.hover(&at),
            Request::Completion(at) => language.completion(&at),
            Request::Signature(at) => language.signature(&at),
            Request::Definition(at) => language.places(&at, false),
            Request::References(at) => language.places(&at, true),
            Request::Highlights(at) => language.highlights(&at),
            Request::Renameable(at) => language.renameable(&at),
            Request::Rename {
                path,
                line,
                column,
                name,
            } => {
                let at = PlaceRequest { path, line, column };
                language.rename(&at, &name)
            }
            Request::Format { path, range } => language.format(&path, range),
            Request::Tokens { path } => language.tokens(&path),
            Request::Outline { path } => language.outline(&path),
            Request::Folds { path } => language.folds(&path),
            Request::Hints { path } => language.hints(&path),
            Request::Expand(at) => language.expand(&at),
            _ => Err(Failure::new("the request is not about a file")),
        };
        Answer::of(&answer?)
    }
}
