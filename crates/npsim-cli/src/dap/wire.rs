//! Messages on a stream: a header with their length, then JSON.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::Value;

/// The longest message that is read, in bytes.
const LONGEST: usize = 16 << 20;

/// What the client asks for.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Request {
    pub seq: i64,
    pub command: String,
    #[serde(default)]
    pub arguments: Value,
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

/// The next message; nothing at the end of the stream.
pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return match length {
                None => Ok(None),
                Some(_) => Err(invalid("the stream ends inside a message")),
            };
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length: usize = length.ok_or_else(|| invalid("a message has no Content-Length"))?;
    if length > LONGEST {
        return Err(invalid(format!("a message has {length} bytes")));
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| invalid(error.to_string()))
}

/// Writes a message.
pub(super) fn write(output: &mut dyn Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}
