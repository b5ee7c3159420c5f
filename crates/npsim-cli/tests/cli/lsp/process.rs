//! The server through standard input and output of the real command.

use std::io::{BufReader, Write};
use std::process::{Command, Stdio};

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::json;

use super::client::uri;

#[test]
fn lsp_command_serves_and_exits_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path").join("a.uc");
    let mut child = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start npsim");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut send = |message: Message| {
        message.write(&mut input).expect("write");
        input.flush().expect("write");
    };
    let request = |id: i32, method: &str, parameters| {
        Message::Request(Request::new(
            RequestId::from(id),
            method.to_owned(),
            parameters,
        ))
    };
    let notification = |method: &str, parameters| {
        Message::Notification(Notification::new(method.to_owned(), parameters))
    };
    send(request(1, "initialize", json!({"capabilities": {}})));
    let Some(Message::Response(answer)) = Message::read(&mut output).expect("read") else {
        panic!("no answer");
    };
    assert_eq!(answer.id, RequestId::from(1));
    send(notification("initialized", json!({})));
    send(notification(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": uri(&path), "languageId": "uc", "version": 7, "text": "bogus\n"}}),
    ));
    let Some(Message::Notification(shown)) = Message::read(&mut output).expect("read") else {
        panic!("no diagnostics");
    };
    assert_eq!(shown.params["version"], 7);
    assert_eq!(
        shown.params["diagnostics"][0]["code"],
        "unknown-instruction"
    );
    send(request(2, "shutdown", json!(null)));
    let Some(Message::Response(answer)) = Message::read(&mut output).expect("read") else {
        panic!("no answer");
    };
    assert_eq!(answer.id, RequestId::from(2));
    send(notification("exit", json!(null)));
    assert!(child.wait().expect("an end").success());
}
