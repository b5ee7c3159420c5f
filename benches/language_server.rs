//! Response times of the language server while a program of ten thousand lines is being
//! edited: each request directly follows a change of the text, so that nothing about the
//! text is cached; the next change follows when the diagnostics have arrived.

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use lsp_server::{Connection, Message, Notification, Request};
use npsim_benches::large_source;
use serde_json::{Value, json};

const LINES: usize = 10_000;
/// Number of times that each request is sent.
const ROUNDS: usize = 20;
/// Number of changes in a row, as from a key that is held down.
const BURST: usize = 30;
/// Within this time a response appears immediate.
const INSTANT_LIMIT: Duration = Duration::from_millis(100);

/// Every request, with the text that it refers to and its additional parameter. `|` marks
/// the position.
const QUESTIONS: &[(&str, &str, &str)] = &[
    ("textDocument/hover", "+, ot|her]", ""),
    ("textDocument/definition", "cl|amp(total", ""),
    ("textDocument/references", "clamp(to|tal", "context"),
    ("textDocument/documentHighlight", "clamp(to|tal", ""),
    ("textDocument/completion", "alu[total, to|tal", ""),
    ("textDocument/completion", "    |clamp(total", ""),
    ("textDocument/signatureHelp", "add_all(total, |value", ""),
    ("textDocument/prepareRename", "clamp(to|tal", ""),
    ("textDocument/rename", "clamp(to|tal", "newName"),
    ("textDocument/prepareCallHierarchy", "cl|amp(total", ""),
    ("npsim/expandMacro", "cl|amp(total", ""),
    ("textDocument/documentSymbol", "", ""),
    ("textDocument/documentLink", "", ""),
    ("textDocument/foldingRange", "", ""),
    ("textDocument/formatting", "", "options"),
    ("textDocument/codeLens", "", ""),
    ("textDocument/codeAction", "", "range"),
    ("textDocument/inlayHint", "", "range"),
    ("textDocument/semanticTokens/full", "", ""),
    ("workspace/symbol", "", "query"),
];

/// An editor in the same process, with a server on its own thread.
struct Editor {
    connection: Connection,
    uri: String,
    text: String,
    version: i32,
    asked: i32,
}

impl Editor {
    fn open(folder: &std::path::Path) -> Self {
        let text = large_source(LINES);
        let file = folder.join("main.uc");
        std::fs::write(&file, &text).expect("write the program");
        let (connection, remote) = Connection::memory();
        std::thread::spawn(move || npsim_cli::lsp::serve(&remote).expect("serve"));
        let mut editor = Self {
            connection,
            uri: format!("file://{}", file.display()),
            text,
            version: 1,
            asked: 0,
        };
        let root = format!("file://{}", folder.display());
        let folders = json!([{ "uri": root, "name": "bench" }]);
        editor.ask(
            "initialize",
            json!({ "capabilities": {}, "workspaceFolders": folders }),
        );
        editor.notify("initialized", json!({}));
        let (uri, text) = (&editor.uri, &editor.text);
        let document = json!({ "uri": uri, "languageId": "uc", "version": 1, "text": text });
        editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
        editor.settle();
        editor
    }

    fn notify(&self, method: &str, parameters: Value) {
        let message = Notification::new(method.to_owned(), parameters);
        let sent = self.connection.sender.send(message.into());
        sent.expect("the server listens");
    }

    /// Waits for the diagnostics of the newest version; returns the number of versions
    /// that got any.
    fn settle(&self) -> usize {
        let mut published = 0;
        loop {
            let message = self.connection.receiver.recv().expect("the server talks");
            if let Message::Notification(it) = message
                && it.method == "textDocument/publishDiagnostics"
            {
                published += 1;
                let told = it.params["diagnostics"].as_array().expect("a list");
                let wrong = told.iter().find(|it| it["severity"] == 1);
                assert_eq!(wrong, None, "the program has no errors");
                if it.params["version"] == self.version {
                    return published;
                }
            }
        }
    }

    /// Sends a request, waits for the response and serialises it; returns the time that
    /// this takes.
    fn ask(&mut self, method: &str, parameters: Value) -> Duration {
        self.asked += 1;
        let id = self.asked.into();
        let began = Instant::now();
        let request = Request::new(self.asked.into(), method.to_owned(), parameters);
        let sent = self.connection.sender.send(request.into());
        sent.expect("the server listens");
        loop {
            let message = self.connection.receiver.recv().expect("the server talks");
            let Message::Response(answer) = &message else {
                continue;
            };
            if answer.id == id {
                assert!(answer.response_result.is_ok(), "{method}: {answer:?}");
                let mut line = Vec::new();
                message.write(&mut line).expect("write to memory");
                return began.elapsed();
            }
        }
    }

    fn position(&self, at: usize) -> Value {
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        json!({ "line": before.matches('\n').count(), "character": at - start })
    }

    /// The offset in a block where `nop` is inserted or removed.
    fn block(&self, number: usize) -> usize {
        let label = format!("\nblock_{number}#:\n");
        self.text.find(&label).expect("the block") + label.len()
    }

    /// Inserts an instruction into a block, or removes it again.
    fn edit(&mut self, block: usize) {
        const WORD: &str = "nop\n";
        let at = self.block(block);
        let (from, new) = (self.position(at), !self.text[at..].starts_with(WORD));
        let (end, text) = if new {
            (at, WORD)
        } else {
            (at + WORD.len(), "")
        };
        let range = json!({ "start": from, "end": self.position(end) });
        self.text.replace_range(at..end, text);
        self.version += 1;
        let document = json!({ "uri": self.uri, "version": self.version });
        let changes = json!([{ "range": range, "text": text }]);
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    /// The parameters of a request about a block.
    fn parameters(&self, block: usize, (_, mark, more): (&str, &str, &str)) -> Value {
        let mut all = json!({ "textDocument": { "uri": self.uri } });
        let from = self.block(block);
        if let Some((before, after)) = mark.split_once('|') {
            let plain = format!("{before}{after}");
            let at = self.text[from..].find(&plain).expect("the place");
            all["position"] = self.position(from + at + before.len());
        }
        match more {
            "context" => all["context"] = json!({ "includeDeclaration": true }),
            "newName" => all["newName"] = json!("sum_of_all"),
            "options" => all["options"] = json!({ "tabSize": 4, "insertSpaces": true }),
            "query" => all["query"] = json!("block_1"),
            "range" => {
                let end = self.position(self.text[from..].find(".end").expect("an end") + from);
                all["range"] = json!({ "start": self.position(from), "end": end });
                all["context"] = json!({ "diagnostics": [] });
            }
            _ => {}
        }
        all
    }
}

/// The given percentile of times, in milliseconds.
fn percentile(times: &mut [Duration], part: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * part).div_ceil(100).max(1) - 1;
    times[at].as_secs_f64() * 1e3
}

fn answers(_: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut editor = Editor::open(folder.path());
    let blocks = editor.text.matches("\nblock_").count();
    let mut all: Vec<Duration> = Vec::new();
    for (number, question) in QUESTIONS.iter().enumerate() {
        let mut own: Vec<Duration> = Vec::new();
        for round in 0..ROUNDS {
            let block = (number * 37 + round / 2 * 11) % blocks;
            editor.edit(block);
            let parameters = editor.parameters(block, *question);
            own.push(editor.ask(question.0, parameters));
            editor.settle();
        }
        all.extend_from_slice(&own);
        println!(
            "language server: {:40} median {:5.1} ms, 95 % within {:5.1} ms",
            question.0,
            percentile(&mut own, 50),
            percentile(&mut own, 95),
        );
    }
    let at_once = all.iter().filter(|it| **it <= INSTANT_LIMIT).count();
    println!(
        "language server: {} answers in {LINES} lines, each behind a change: {:.1} % within \
         {} ms; median {:.1} ms, 95 % within {:.1} ms",
        all.len(),
        100.0 * at_once as f64 / all.len() as f64,
        INSTANT_LIMIT.as_millis(),
        percentile(&mut all, 50),
        percentile(&mut all, 95),
    );
    let began = Instant::now();
    for _ in 0..BURST {
        editor.edit(0);
    }
    let published = editor.settle();
    println!(
        "language server: {BURST} changes in a row: diagnostics of {published} versions, those \
         of the last after {:.1} ms",
        began.elapsed().as_secs_f64() * 1e3
    );
}

criterion_group!(benches, answers);
criterion_main!(benches);
