//! A client of the debug adapter that checks the form of each message.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::form::check;

/// The repository.
pub fn root() -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::fs::canonicalize(root).unwrap()
}

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    seq: i64,
    last: i64,
    events: VecDeque<Value>,
    /// The commands that have been answered.
    pub answered: Vec<String>,
}

impl Client {
    pub fn new() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_npsim"))
            .arg("dap")
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            seq: 0,
            last: 0,
            events: VecDeque::new(),
            answered: Vec::new(),
        }
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        // The adapter may have exited before it has read everything.
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    #[expect(clippy::needless_pass_by_value, reason = "requests are made in place")]
    pub fn send(&mut self, command: &str, arguments: Value) -> i64 {
        self.seq += 1;
        let message = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        })
        .to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{message}", message.len()).as_bytes());
        self.seq
    }

    /// The next message; `None` at the end of the stream.
    fn next(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(digits) => length = digits.parse().unwrap(),
                None if line.trim_end().is_empty() => break,
                None => panic!("a header of another kind: {line}"),
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        check(&message);
        let seq = message["seq"].as_i64().unwrap();
        assert_eq!(seq, self.last + 1, "messages are numbered");
        self.last = seq;
        Some(message)
    }

    /// The response to a request; events that arrive before it are kept for later.
    pub fn response(&mut self, seq: i64) -> Value {
        loop {
            let message = self.next().expect("the adapter has gone");
            if message["type"] == "response" {
                assert_eq!(message["request_seq"], seq, "{message}");
                self.answered
                    .push(message["command"].as_str().unwrap().to_owned());
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// The body of a response.
    pub fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let seq = self.send(command, arguments);
        let response = self.response(seq);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// The reason for which a request is refused.
    pub fn refused(&mut self, command: &str, arguments: Value) -> String {
        let seq = self.send(command, arguments);
        let response = self.response(seq);
        assert_eq!(response["success"], false, "{response}");
        response["body"]["error"]["format"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// The body of the next event of a kind; earlier events of other kinds are skipped.
    pub fn event(&mut self, kind: &str) -> Value {
        loop {
            let message = match self.events.pop_front() {
                Some(message) => message,
                None => self.next().expect("the adapter has gone"),
            };
            if message["event"] == kind {
                return message["body"].clone();
            }
            assert_eq!(message["type"], "event", "{message}");
        }
    }

    /// Continues the run and waits for it to stop.
    pub fn go(&mut self, command: &str, thread: i64) -> Value {
        self.ask(command, json!({ "threadId": thread }));
        self.event("stopped")
    }

    /// Starts a session as editors do.
    pub fn launch(&mut self, arguments: Value) {
        self.ask(
            "initialize",
            json!({ "adapterID": "npsim", "linesStartAt1": true }),
        );
        self.ask("launch", arguments);
        self.event("initialized");
    }

    /// Closes the stream and waits for the adapter to exit.
    pub fn hang_up(self) -> i32 {
        self.end().0
    }

    /// Closes the stream; returns the exit code and the contents of standard error.
    pub fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        let ended = self.child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
        (ended.status.code().unwrap(), errors)
    }
}
