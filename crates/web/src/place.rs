//! Places in the sources and in time, as a page uses them.

use npsim::debug::Thread;
use npsim::debug::source::SourceFrame;
use npsim::debug::view::end_text;
use serde::Serialize;

use crate::file_store::FileStore;
use crate::opening::OpenRun;

/// The end of a run.
#[derive(Debug, Serialize)]
pub struct RunEnd {
    cycle: u64,
    text: String,
}

/// A source line in the stack of macro frames of a word.
#[derive(Debug, Serialize)]
pub struct FrameInfo {
    name: String,
    arguments: Vec<(String, String)>,
    file: String,
    line: u32,
    column: u32,
}

/// Converts frames, with the paths that a page uses.
fn frames(files: &FileStore, frames: Vec<SourceFrame>) -> Vec<FrameInfo> {
    let frames = frames.into_iter().map(|it| FrameInfo {
        file: files.path(&it.file),
        name: it.name,
        arguments: it.arguments,
        line: it.line,
        column: it.column,
    });
    frames.collect()
}

/// A place in the sources, with the macros that contain it.
#[derive(Debug, Serialize)]
pub struct SourcePlace {
    path: String,
    line: u32,
    frames: Vec<FrameInfo>,
}

impl SourcePlace {
    /// The place of a context; `None` without source.
    pub fn of(files: &FileStore, run: &OpenRun, thread: Thread) -> Option<Self> {
        let frames = frames(files, run.debugger.frames(thread));
        let innermost = frames.first()?;
        let (path, line) = (innermost.file.clone(), innermost.line);
        Some(Self { path, line, frames })
    }
}

impl RunEnd {
    /// The end of a run, once it has been reached.
    pub fn of(run: &OpenRun) -> Option<Self> {
        let end = run.debugger.timeline().end()?;
        Some(Self {
            cycle: end.cycle,
            text: end_text(&end.ending),
        })
    }
}
