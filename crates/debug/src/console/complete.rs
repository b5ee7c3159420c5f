//! Completion at the cursor.

use npsim_chip::kernel::check::Check;

use super::table::{CompletionKind, commands, find};
use crate::debugger::Debugger;
use crate::names::live_at;

/// The completions of the last word of a line, up to the cursor, and the byte offset of that word.
#[must_use]
pub fn completions(debugger: &Debugger, line: &str) -> (usize, Vec<String>) {
    let after = |last: Option<usize>| {
        last.map_or(0, |at| {
            at + line[at..].chars().next().map_or(1, char::len_utf8)
        })
    };
    let word = after(line.rfind(char::is_whitespace));
    let mut words: Vec<_> = line[..word].split_whitespace().collect();
    if words.first().is_some_and(|it| *it == "back" || *it == "b") {
        words.remove(0);
    }
    let completes = match words.first() {
        None => CompletionKind::Command,
        Some(word) => {
            find(word, debugger.ends()).map_or(CompletionKind::Nothing, |it| it.completes)
        }
    };
    let inside = line.rfind('{') > line.rfind('}');
    let expression = completes == CompletionKind::Expression || words.contains(&"if") || inside;
    let from = if expression {
        let ends = |c: char| c.is_whitespace() || "()[]{}!~<>=&|^+-*/%?:,".contains(c);
        after(line.rfind(ends))
    } else {
        word
    };
    let begun = &line[from..];
    let all = if expression {
        of(debugger, CompletionKind::Expression)
    } else {
        of(debugger, completes)
    };
    let mut found: Vec<_> = all.into_iter().filter(|it| it.starts_with(begun)).collect();
    found.sort();
    found.dedup();
    (from, found)
}

fn of(debugger: &Debugger, completes: CompletionKind) -> Vec<String> {
    let names = debugger.names();
    let thread = debugger.thread();
    match completes {
        CompletionKind::Nothing => Vec::new(),
        CompletionKind::Command => commands(debugger.ends())
            .map(|it| it.name.to_owned())
            .collect(),
        CompletionKind::Check => Check::ALL.iter().map(|it| it.name().to_owned()).collect(),
        CompletionKind::Context => {
            let threads = debugger.selectable();
            threads.iter().map(ToString::to_string).collect()
        }
        CompletionKind::Ring => names.rings().iter().map(|it| it.0.clone()).collect(),
        CompletionKind::File => debugger.files(),
        CompletionKind::Expression => {
            let mut all: Vec<String> = [
                "cycle", "packet", "me", "context", "pc", "scratch", "dram", "lm",
            ]
            .map(str::to_owned)
            .to_vec();
            all.extend(["ring", "queue", "signal", "out", "cam", "csr"].map(str::to_owned));
            all.extend(names.rings().iter().map(|it| it.0.clone()));
            all.extend(names.memories().iter().map(|it| it.0.clone()));
            if let Some(image) = debugger.image(thread.me) {
                let live = live_at(image, debugger.point(thread));
                all.extend(live.iter().map(|it| it.name().to_owned()));
            }
            all
        }
    }
}
