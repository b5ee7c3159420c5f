//! Individual queries about a run: a packet, a memory, a value, the words of a file.

use std::path::Path;

use npsim::analysis::explain;
use npsim::assemble::Program;
use npsim::debug::source;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::opening::OpenRun;

/// The maximum number of longwords returned at once.
const MAX_WORDS: u32 = 65_536;

/// The events of a packet.
///
/// # Errors
/// Returns an error if no such packet arrives.
pub fn packet(files: &FileStore, run: &mut OpenRun, number: u64) -> Result<Value, Failure> {
    let trail = run.debugger.packet(number)?;
    let events = trail.events.iter().map(|event| {
        let place = event.place;
        let image = place.and_then(|it| run.debugger.image(it.me));
        let frames = image
            .zip(place)
            .map(|(image, it)| source::frames(image, it.pc));
        let line = frames.as_ref().and_then(|it| it.first());
        json!({
            "cycle": event.cycle,
            "what": event.what,
            "me": place.map(|it| it.me),
            "context": place.map(|it| it.context),
            "path": line.map(|it| files.path(&it.file)),
            "line": line.map(|it| it.line),
        })
    });
    Ok(json!({
        "packet": trail.packet,
        "over": trail.over,
        "until": trail.until,
        "events": events.collect::<Vec<_>>(),
    }))
}

/// Longwords of a memory, or of a region of the project.
///
/// # Errors
/// Returns an error if there is no such memory, or it ends before the first longword.
pub fn memory(
    run: &OpenRun,
    name: &str,
    (address, words): (Option<u32>, u32),
) -> Result<Value, Failure> {
    let debugger = &run.debugger;
    let scope = debugger.scope(debugger.thread());
    let region = debugger.names().memory(name);
    let (memory, first, most) = if let Some((memory, first, bytes)) = region {
        let offset = address.unwrap_or(0);
        let left = bytes.saturating_sub(offset) / 4;
        (memory, first.saturating_add(offset), left)
    } else {
        let memory = npsim::debug::names::Memory::named(name).ok_or_else(|| {
            Failure::new(format!("there is no memory `{name}`"))
                .help("the memories are scratch, sram0, dram, lm and the regions of the project")
        })?;
        (memory, address.unwrap_or(0), MAX_WORDS)
    };
    let words = words.min(most).min(MAX_WORDS);
    let mut values = Vec::new();
    for number in 0..words {
        match scope.word(memory, first.saturating_add(4 * number)) {
            Ok(value) => values.push(value),
            Err(error) if number == 0 => return Err(error.into()),
            // The memory ends here.
            Err(_) => break,
        }
    }
    Ok(json!({ "memory": memory.name(), "address": first, "values": values }))
}

/// The value of an expression for the selected context.
///
/// # Errors
/// Returns an error if it is not an expression, or refers to something that does not exist.
pub fn evaluate(run: &OpenRun, expression: &str) -> Result<Value, Failure> {
    let debugger = &run.debugger;
    let value = debugger.evaluate(expression, debugger.thread())?;
    Ok(json!({ "value": value, "text": format!("{value} ({value:#x})") }))
}

/// The words assembled from the lines of a file, program by program; programs with the same words
/// are listed once.
pub fn listing(files: &FileStore, run: &OpenRun, path: &str, me: Option<u8>) -> Value {
    let path = files.path(path);
    let mut parts: Vec<(&Program, Vec<u8>)> = Vec::new();
    for program in run.scenario.programs.iter() {
        if me.is_some_and(|me| me != program.me) {
            continue;
        }
        let same = |it: &&mut (&Program, Vec<u8>)| {
            it.0.source == program.source && it.0.image == program.image
        };
        match parts.iter_mut().find(same) {
            Some((_, mes)) => mes.push(program.me),
            None => parts.push((program, vec![program.me])),
        }
    }
    let programs = parts.into_iter().filter_map(|(program, mes)| {
        let image = &program.image;
        let words = (0..image.words.len() as u16).filter_map(|address| {
            // The innermost line in this file counts.
            let frames = source::frames(image, address);
            let line = frames.iter().find(|it| files.path(&it.file) == path)?.line;
            let word = image.words[usize::from(address)];
            let text = image.instruction(address);
            Some(json!({
                "line": line,
                "address": address,
                "word": format!("{word:010x}"),
                "text": text.map_or_else(|| format!(".word {word:#012x}"), |it| it.to_string()),
            }))
        });
        let words: Vec<_> = words.collect();
        let stage = run.debugger.stage(program.me);
        (!words.is_empty())
            .then(|| json!({ "me": program.me, "mes": mes, "stage": stage, "words": words }))
    });
    json!({ "programs": programs.collect::<Vec<_>>() })
}

/// The words of a line and their cost.
pub fn cost(run: &OpenRun, path: &str, line: u32) -> Value {
    let scenario = &run.scenario;
    let profile = &scenario.project.profile;
    let found = explain::explain(&scenario.programs, profile, Path::new(path), Some(line));
    if found.programs.is_empty() {
        return json!({ "text": null, "explanation": null });
    }
    json!({ "text": explain::full(&found), "explanation": found })
}
