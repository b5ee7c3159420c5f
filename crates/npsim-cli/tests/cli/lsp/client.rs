//! An editor that opens texts, edits them, and sends requests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

/// How long a test waits for the server before it fails.
const TIMEOUT: Duration = Duration::from_mins(1);

/// An editor with a folder and a server in the same process.
pub struct Editor {
    pub folder: tempfile::TempDir,
    connection: Connection,
    server: Option<JoinHandle<()>>,
    texts: BTreeMap<String, (i32, String)>,
    /// The last diagnostics of each file, by name below the folder.
    pub shown: BTreeMap<String, Vec<Value>>,
    next: i32,
}

impl Editor {
    /// Writes the files, starts a server and opens the folder.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::with_settings(files, &Value::Null)
    }

    /// A client with settings that the editor sends at the start.
    pub fn with_settings(files: &[(&str, &str)], settings: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("make it");
            std::fs::write(path, text).expect("write it");
        }
        let (connection, remote) = Connection::memory();
        let server = std::thread::spawn(move || {
            npsim_cli::lsp::serve(&remote).expect("serve");
        });
        let mut editor = Self {
            folder,
            connection,
            server: Some(server),
            texts: BTreeMap::new(),
            shown: BTreeMap::new(),
            next: 0,
        };
        let root = uri(editor.folder.path());
        let answer = editor.ask(
            "initialize",
            json!({"capabilities": {}, "initializationOptions": settings,
                   "workspaceFolders": [{"uri": root, "name": "test"}]}),
        );
        assert!(
            answer["capabilities"]["renameProvider"].is_object(),
            "{answer}"
        );
        editor.notify("initialized", json!({}));
        for (name, text) in files
            .iter()
            .filter(|(name, _)| !name.ends_with("npsim.toml"))
        {
            editor
                .texts
                .insert((*name).to_owned(), (0, (*text).to_owned()));
        }
        editor
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder
            .path()
            .canonicalize()
            .expect("a path")
            .join(name)
    }

    pub fn uri(&self, name: &str) -> String {
        uri(&self.path(name))
    }

    fn name(&self, uri: &str) -> String {
        let root = self.uri("");
        uri.strip_prefix(root.as_str()).unwrap_or(uri).to_owned()
    }

    pub fn notify(&self, method: &str, parameters: Value) {
        let notification = Notification::new(method.to_owned(), parameters);
        self.connection
            .sender
            .send(Message::Notification(notification))
            .expect("the server listens");
    }

    fn receive(&mut self) -> Message {
        let message = self
            .connection
            .receiver
            .recv_timeout(TIMEOUT)
            .expect("an answer");
        if let Message::Notification(notification) = &message
            && notification.method == "textDocument/publishDiagnostics"
        {
            let name = self.name(notification.params["uri"].as_str().expect("a URI"));
            let list = notification.params["diagnostics"]
                .as_array()
                .expect("a list");
            self.shown.insert(name, list.clone());
        }
        message
    }

    pub fn response(&mut self, method: &str, parameters: Value) -> Response {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), parameters);
        self.connection
            .sender
            .send(Message::Request(request))
            .expect("the server listens");
        loop {
            if let Message::Response(response) = self.receive()
                && response.id == id
            {
                return response;
            }
        }
    }

    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let value = serde_json::to_value(self.response(method, parameters)).expect("JSON");
        assert!(value["error"].is_null(), "{method}: {value}");
        value["result"].clone()
    }

    /// Opens a file as it is on disk, and waits for its diagnostics.
    pub fn open(&mut self, name: &str) -> &mut Self {
        let text = std::fs::read_to_string(self.path(name)).expect("a file");
        self.open_text(name, &text)
    }

    /// Opens a text under a name, and waits for its diagnostics.
    pub fn open_text(&mut self, name: &str, text: &str) -> &mut Self {
        self.texts.insert(name.to_owned(), (1, text.to_owned()));
        self.notify(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": self.uri(name), "languageId": "uc", "version": 1, "text": text}}),
        );
        self.wait_for_diagnostics(name, 1)
    }

    /// Replaces the first occurrence of a text by another, as typing does.
    pub fn edit(&mut self, name: &str, old: &str, new: &str) -> &mut Self {
        let (version, text) = self.texts.get_mut(name).expect("an open text");
        let at = text.find(old).expect("the text");
        let range = json!({"start": place(text, at), "end": place(text, at + old.len())});
        text.replace_range(at..at + old.len(), new);
        *version += 1;
        let version = *version;
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": self.uri(name), "version": version},
                   "contentChanges": [{"range": range, "text": new}]}),
        );
        self.wait_for_diagnostics(name, version)
    }

    /// Types letters one by one after a text, without waiting; returns the number of versions that
    /// had diagnostics until those of the last version arrived.
    pub fn type_without_waiting(&mut self, name: &str, mark: &str, letters: &str) -> usize {
        let mut at = self.texts[name].1.find(mark).expect("the text") + mark.len();
        for letter in letters.chars() {
            let (version, text) = self.texts.get_mut(name).expect("an open text");
            let here = place(text, at);
            text.insert(at, letter);
            at += letter.len_utf8();
            *version += 1;
            let version = *version;
            let change = json!({"range": {"start": here, "end": here}, "text": letter});
            self.notify(
                "textDocument/didChange",
                json!({"textDocument": {"uri": self.uri(name), "version": version},
                       "contentChanges": [change]}),
            );
        }
        let (wanted, last) = (self.uri(name), self.texts[name].0);
        let mut shown = 0;
        loop {
            if let Message::Notification(it) = self.receive()
                && it.params["uri"] == wanted.as_str()
            {
                shown += 1;
                if it.params["version"] == last {
                    return shown;
                }
            }
        }
    }

    /// Sends a request and cancels it at once; returns the error's number if it was not answered.
    pub fn request_and_cancel(&mut self, method: &str, parameters: Value) -> Option<i64> {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), parameters);
        let sent = self.connection.sender.send(request.into());
        sent.expect("the server listens");
        self.notify("$/cancelRequest", json!({ "id": self.next }));
        // The next request is answered later.
        let mut answers = Vec::new();
        self.next += 1;
        let end = RequestId::from(self.next);
        let request = Request::new(
            end.clone(),
            "workspace/symbol".into(),
            json!({"query": "?"}),
        );
        let sent = self.connection.sender.send(request.into());
        sent.expect("the server listens");
        let mut over = false;
        while !over || answers.is_empty() {
            if let Message::Response(response) = self.receive() {
                over |= response.id == end;
                if response.id == id {
                    answers.push(serde_json::to_value(response).expect("JSON"));
                }
            }
        }
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers[0]["error"]["code"].as_i64()
    }

    /// Waits for the diagnostics of a version of a text.
    fn wait_for_diagnostics(&mut self, name: &str, version: i32) -> &mut Self {
        let wanted = self.uri(name);
        loop {
            if let Message::Notification(notification) = self.receive()
                && notification.params["uri"] == wanted.as_str()
                && notification.params["version"] == version
            {
                break;
            }
        }
        // Diagnostics of other files arrive before the next answer.
        self.ask(
            "textDocument/documentSymbol",
            json!({"textDocument": {"uri": wanted}}),
        );
        self
    }

    /// Severity, code, first line and the text under each diagnostic of a file.
    pub fn diagnostics(&self, name: &str) -> Vec<String> {
        let text = &self.texts.get(name).expect("a text").1;
        let list = self.shown.get(name).map_or(&[][..], Vec::as_slice);
        list.iter()
            .map(|shown| {
                let start = offset(text, &shown["range"]["start"]);
                let end = offset(text, &shown["range"]["end"]);
                format!(
                    "{} {} `{}`",
                    shown["severity"],
                    shown["code"].as_str().unwrap_or("-"),
                    &text[start..end]
                )
            })
            .collect()
    }

    /// The parameters of a request about the position of `mark` in a text: that of `|` in the mark,
    /// or else its beginning.
    pub fn at(&self, name: &str, mark: &str) -> Value {
        let text = &self.texts.get(name).expect("a text").1;
        let bar = mark.find('|').unwrap_or(0);
        let plain = mark.replacen('|', "", 1);
        let at = text.find(&plain).unwrap_or_else(|| panic!("no `{plain}`")) + bar;
        json!({"textDocument": {"uri": self.uri(name)}, "position": place(text, at)})
    }

    /// The Markdown shown for a place; empty if there is none.
    pub fn hover(&mut self, name: &str, mark: &str) -> String {
        let parameters = self.at(name, mark);
        let answer = self.ask("textDocument/hover", parameters);
        answer["contents"]["value"]
            .as_str()
            .unwrap_or("")
            .to_owned()
    }

    /// Where the name at a place is defined: `file:line text`.
    pub fn definition(&mut self, name: &str, mark: &str) -> Vec<String> {
        let parameters = self.at(name, mark);
        let answer = self.ask("textDocument/definition", parameters);
        let list = answer.as_array().expect("a list").clone();
        list.iter()
            .map(|place| self.describe_location(place))
            .collect()
    }

    /// `file:line text` of a place.
    pub fn describe_location(&self, place: &Value) -> String {
        let file = self.name(place["uri"].as_str().expect("a URI"));
        let text = &self
            .texts
            .get(&file)
            .unwrap_or_else(|| panic!("no {file}"))
            .1;
        let start = offset(text, &place["range"]["start"]);
        let end = offset(text, &place["range"]["end"]);
        let line = place["range"]["start"]["line"].as_u64().expect("a line") + 1;
        format!("{file}:{line} {}", &text[start..end])
    }

    /// Labels of the completions at a place.
    pub fn completion(&mut self, name: &str, mark: &str) -> Vec<String> {
        let parameters = self.at(name, mark);
        let answer = self.ask("textDocument/completion", parameters);
        let list = answer.as_array().expect("a list");
        list.iter()
            .map(|item| item["label"].as_str().expect("a label").to_owned())
            .collect()
    }

    /// The answer to a request about a whole text.
    pub fn document_request(&mut self, name: &str, method: &str) -> Value {
        let parameters = json!({"textDocument": {"uri": self.uri(name)}});
        self.ask(method, parameters)
    }

    /// A text after edits of it.
    pub fn apply_edits(&self, name: &str, edits: &Value) -> String {
        let mut text = self.texts.get(name).expect("a text").1.clone();
        let mut edits = edits.as_array().expect("edits").clone();
        // From the end, so that earlier positions stay valid.
        edits.sort_by_key(|edit| offset(&text, &edit["range"]["start"]));
        for edit in edits.iter().rev() {
            let start = offset(&text, &edit["range"]["start"]);
            let end = offset(&text, &edit["range"]["end"]);
            text.replace_range(start..end, edit["newText"].as_str().expect("a text"));
        }
        text
    }

    /// The texts after a rename, or the reason for which it was refused.
    pub fn rename(
        &mut self,
        name: &str,
        mark: &str,
        new: &str,
    ) -> Result<BTreeMap<String, String>, String> {
        let mut parameters = self.at(name, mark);
        parameters["newName"] = new.into();
        let response = self.response("textDocument/rename", parameters);
        let response = serde_json::to_value(response).expect("JSON");
        if let Some(why) = response["error"]["message"].as_str() {
            return Err(why.to_owned());
        }
        let mut changed = BTreeMap::new();
        for (file, edits) in response["result"]["changes"].as_object().expect("changes") {
            let file = self.name(file);
            let text = self.apply_edits(&file, edits);
            changed.insert(file, text);
        }
        Ok(changed)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let Some(server) = self.server.take() else {
            return;
        };
        if !std::thread::panicking() {
            self.ask("shutdown", Value::Null);
            self.notify("exit", Value::Null);
            server.join().expect("the server ends well");
        }
    }
}

/// The `file:` URI of a path without odd characters.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Line and UTF-16 column of a byte.
pub fn place(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    json!({"line": before.matches('\n').count(), "character": before[start..].encode_utf16().count()})
}

/// The byte of a line and UTF-16 column.
fn offset(text: &str, place: &Value) -> usize {
    let line = place["line"].as_u64().expect("a line") as usize;
    let column = place["character"].as_u64().expect("a column") as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = 0;
    for (at, character) in text[start..].char_indices() {
        if units >= column {
            return start + at;
        }
        units += character.len_utf16();
    }
    text.len()
}
