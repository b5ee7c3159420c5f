//! Streams that do not follow the protocol, or almost do, through standard input of the real
//! command.

use std::io::{BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long the server may take to end.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The server process, with pipes.
fn start() -> Child {
    Command::new(env!("CARGO_BIN_EXE_npsim"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start npsim")
}

/// The server's output for a stream that ends, its messages on standard error, and its exit code.
fn conversation(stream: &[u8]) -> (Vec<Value>, String, i32) {
    let mut child = start();
    let mut input = child.stdin.take().expect("a pipe");
    let stream = stream.to_vec();
    // It may exit before it has read everything.
    let writer = std::thread::spawn(move || drop(input.write_all(&stream)));
    let begun = Instant::now();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut said = Vec::new();
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes).expect("read");
    let mut rest = &bytes[..];
    while let Some(message) = next_message(&mut rest) {
        said.push(message);
    }
    let mut errors = String::new();
    { child.stderr.take().expect("a pipe") }
        .read_to_string(&mut errors)
        .expect("read");
    writer.join().expect("written");
    assert!(begun.elapsed() < TIMEOUT, "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    let code = child.wait().expect("an end").code();
    (said, errors, code.expect("no signal"))
}

fn next_message(rest: &mut &[u8]) -> Option<Value> {
    if rest.is_empty() {
        return None;
    }
    let text = std::str::from_utf8(rest).expect("UTF-8");
    let (header, body) = text.split_once("\r\n\r\n").expect("a header");
    let length: usize = { header.strip_prefix("Content-Length: ") }
        .and_then(|it| it.parse().ok())
        .expect("a length");
    *rest = &rest[header.len() + 4 + length..];
    Some(serde_json::from_str(&body[..length]).expect("JSON"))
}

fn framed(message: impl AsRef<[u8]>) -> Vec<u8> {
    let message = message.as_ref();
    [
        format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes(),
        message,
    ]
    .concat()
}

fn request(id: i32, method: &str, parameters: &Value) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
    framed(message.to_string())
}

fn notification(method: &str) -> Vec<u8> {
    framed(json!({"jsonrpc": "2.0", "method": method, "params": {}}).to_string())
}

fn begun() -> Vec<u8> {
    let initialize = request(1, "initialize", &json!({"capabilities": {}}));
    [initialize, notification("initialized")].concat()
}

fn ended() -> Vec<u8> {
    [request(99, "shutdown", &Value::Null), notification("exit")].concat()
}

#[test]
fn a_broken_stream_ends_the_server_with_a_message() {
    let huge = format!("Content-Length: {}\r\n\r\n{{}}", 1_u64 << 63);
    let large = format!("Content-Length: {}\r\n\r\n{{}}", 1_u64 << 40);
    let endless = vec![b'x'; 1 << 20];
    for (stream, why) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "is not a header line"),
        (b"Content-Length: -5\r\n\r\n{}", "names no length"),
        (
            b"Content-Length: 99999999999999999999\r\n\r\n{}",
            "names no length",
        ),
        (huge.as_bytes(), "9223372036854775808 bytes; the longest"),
        (large.as_bytes(), "1099511627776 bytes; the longest"),
        (b"Content-Type: json\r\n\r\n{}", "no Content-Length"),
        (b"\xff\xfe\xfd\r\n\r\n", "is not a header line"),
        (b"Content-Length: 20\r\n\r\n{}", "after 2 of 20 bytes"),
        (b"Content-Length: 20\r\n", "ends inside a header"),
        (&endless, "does not end within 4096 bytes"),
    ] {
        for begin in [Vec::new(), begun()] {
            let whole = [&begin, stream].concat();
            let (said, errors, code) = conversation(&whole);
            assert!(errors.contains(why), "{errors}, not {why}");
            assert!(errors.contains("the editor's connection broke"), "{errors}");
            assert_eq!(code, 1, "{errors}");
            let answered = usize::from(!begin.is_empty());
            assert_eq!(said.len(), answered, "{said:?}");
        }
    }
}

#[test]
fn unreadable_message_is_answered_and_the_server_continues() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let inside = format!(r#"{{"id":5,"method":"textDocument/hover","params":{deep}}}"#);
    let bad: [&[u8]; 7] = [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"{\"id\":3,\"method\":\"\xff\xfe\",\"params\":{}}",
        deep.as_bytes(),
        inside.as_bytes(),
    ];
    for message in bad {
        let stream = [
            begun(),
            framed(message),
            request(7, "no/such/method", &json!({"a": [1]})),
            ended(),
        ]
        .concat();
        let (said, errors, code) = conversation(&stream);
        let shown = String::from_utf8_lossy(&message[..message.len().min(60)]);
        assert_eq!(code, 0, "{shown}: {errors}");
        assert_eq!(errors, "");
        let refused = said
            .iter()
            .find(|it| it["id"].is_null() && it["error"].is_object());
        let refused = refused.unwrap_or_else(|| panic!("{shown}: {said:?}"));
        assert_eq!(refused["error"]["code"], -32700);
        let why = refused["error"]["message"].as_str().expect("a text");
        assert!(why.contains("cannot be read"), "{why}");
        let unknown = said.iter().find(|it| it["id"] == 7).expect("an answer");
        assert_eq!(unknown["error"]["code"], -32601);
        assert!(said.iter().any(|it| it["id"] == 99));
    }
}

#[test]
fn requests_before_initialize_are_refused() {
    let stream = [
        request(5, "textDocument/hover", &json!({})),
        notification("textDocument/didOpen"),
        begun(),
        ended(),
    ]
    .concat();
    let (said, errors, code) = conversation(&stream);
    assert_eq!(said[0]["id"], 5);
    assert_eq!(said[0]["error"]["code"], -32002);
    assert_eq!(said[1]["id"], 1);
    assert_eq!((errors.as_str(), code), ("", 0));
}

#[test]
fn failed_initialization_is_reported() {
    for (stream, why) in [
        (Vec::new(), "disconnected"),
        (notification("exit"), "expected initialize"),
        (
            [
                request(1, "initialize", &json!({"capabilities": 3})),
                notification("initialized"),
            ]
            .concat(),
            "invalid type",
        ),
    ] {
        let (_, errors, code) = conversation(&stream);
        assert!(errors.contains(why), "{errors}, not {why}");
        assert_eq!(code, 1);
    }
}

#[test]
fn closed_output_causes_no_panic() {
    let mut child = start();
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("a pipe");
    for number in 2..20 {
        // The server may have exited.
        let _ = input.write_all(&request(number, "textDocument/hover", &json!({})));
    }
    let _ = input.write_all(&[begun(), ended()].concat());
    drop(input);
    let ended = child.wait_with_output().expect("an end");
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(ended.status.code().is_some());
}
