//! Conversations with editors: one message per line, so that the fuzzer spends no time on lengths.

use serde_json::{Value, json};

/// The protocol spoken with the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The Language Server Protocol.
    Language,
    /// The Debug Adapter Protocol.
    Debug,
}

/// The stream of a fuzzer's input, after the messages that begin a session.
///
/// The bytes after a NUL are the stream itself. Otherwise, each line is a message: `METHOD PARAMETERS`, or a complete
/// message if it begins with a brace.
#[must_use]
pub fn stream(protocol: Protocol, begin: &[&str], input: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut number = 0;
    let mut say = |line: &[u8]| {
        number += 1;
        let message = message(protocol, number, line);
        stream.extend(format!("Content-Length: {}\r\n\r\n", message.len()).bytes());
        stream.extend(message);
    };
    for line in begin {
        say(line.as_bytes());
    }
    if let Some(raw) = input.strip_prefix(b"\0") {
        stream.extend(raw);
    } else {
        for line in input.split(|&byte| byte == b'\n') {
            say(line);
        }
    }
    stream
}

fn message(protocol: Protocol, number: u32, line: &[u8]) -> Vec<u8> {
    if line.first() == Some(&b'{') {
        return line.to_vec();
    }
    let line = String::from_utf8_lossy(line);
    let (method, parameters) = line.split_once(' ').unwrap_or((&line, ""));
    let parameters: Value = serde_json::from_str(parameters).unwrap_or_default();
    let is_notification = method.contains("/did") || method.starts_with("initialized");
    let message = match protocol {
        Protocol::Language if is_notification => {
            json!({ "jsonrpc": "2.0", "method": method, "params": parameters })
        }
        Protocol::Language => {
            json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": parameters })
        }
        Protocol::Debug => {
            json!({ "seq": number, "type": "request", "command": method, "arguments": parameters })
        }
    };
    message.to_string().into_bytes()
}
