//! Message framing of the Language Server Protocol and the Debug Adapter Protocol: header lines
//! that include the length, an empty line, and that many bytes of JSON.
//!
//! A stream that violates the framing cannot be read any further, because the start of the next
//! message is unknown. A correctly framed message that is not valid JSON is left to the caller.

use std::io::{self, BufRead, Read, Write};

/// The longest message accepted, in bytes. The longest that editors send is an open text.
pub const MAX_MESSAGE_BYTES: u64 = 64 << 20;

/// The longest header accepted, all lines together, in bytes.
const MAX_HEADER_BYTES: u64 = 4096;

/// Bytes of a bad message that are quoted in errors.
const SHOWN: usize = 60;

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

/// Reads the next message; `None` at the end of the stream.
///
/// # Errors
/// Returns an error if the stream breaks or ends inside a message, if a header is malformed or has
/// no usable length, or if the message is longer than [`MAX_MESSAGE_BYTES`].
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = header(&mut input.take(MAX_HEADER_BYTES))? else {
        return Ok(None);
    };
    if length > MAX_MESSAGE_BYTES {
        return Err(invalid(format!(
            "a message has {length} bytes; the longest that is read has {MAX_MESSAGE_BYTES}"
        )));
    }
    // Memory is allocated for what has arrived, not for the announced length.
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(invalid(format!(
            "the stream ends inside a message, after {} of {length} bytes",
            bytes.len()
        )));
    }
    Ok(Some(bytes))
}

/// Reads a header and returns the length it announces; `None` at the end of the stream.
fn header(input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    let mut line = Vec::new();
    let mut total = 0;
    loop {
        line.clear();
        input.read_until(b'\n', &mut line)?;
        total += line.len() as u64;
        if line.last() != Some(&b'\n') {
            return match total {
                0 => Ok(None),
                MAX_HEADER_BYTES.. => Err(invalid(format!(
                    "a header does not end within {MAX_HEADER_BYTES} bytes"
                ))),
                _ => Err(invalid("the stream ends inside a header")),
            };
        }
        let text = line.trim_ascii_end();
        if text.is_empty() {
            break;
        }
        let shown = || String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).into_owned();
        let Some(colon) = text.iter().position(|&byte| byte == b':') else {
            return Err(invalid(format!("`{}` is not a header line", shown())));
        };
        let (name, value) = (&text[..colon], text[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(value).ok();
            let read = digits.and_then(|it| it.parse().ok());
            let Some(read) = read else {
                return Err(invalid(format!("`{}` names no length in bytes", shown())));
            };
            length = Some(read);
        }
    }
    let length = length.ok_or_else(|| invalid("a header has no Content-Length"))?;
    Ok(Some(length))
}

/// Writes a message.
///
/// # Errors
/// Returns an error if the stream breaks.
pub fn write(output: &mut dyn Write, text: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::read;

    /// All messages of a stream, and the error that ends it early, if any.
    fn messages(mut stream: &[u8]) -> (Vec<Vec<u8>>, Option<String>) {
        let mut all = Vec::new();
        loop {
            match read(&mut stream) {
                Ok(Some(message)) => all.push(message),
                Ok(None) => return (all, None),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn headers_are_read_in_any_order_and_case() {
        let stream =
            b"Content-Type: x\r\ncontent-length:2\r\n\r\n{}Content-Length: 0\n\nCONTENT-LENGTH: 1 \r\n\r\n7";
        let (all, why) = messages(stream);
        assert_eq!(all, [&b"{}"[..], b"", b"7"]);
        assert_eq!(why, None);
    }

    #[test]
    fn malformed_stream_ends_with_a_reason() {
        let endless = vec![b'a'; 10_000];
        let many = b"A: b\r\n".repeat(1000);
        for (stream, expected) in [
            (&b"Content-Length: -1\r\n\r\n{}"[..], "names no length"),
            (
                b"Content-Length: 9223372036854775808\r\n\r\n",
                "the longest that is read",
            ),
            (
                b"Content-Length: 18446744073709551616\r\n\r\n",
                "names no length",
            ),
            (b"Content-Length: 2x\r\n\r\n{}", "names no length"),
            (b"Content-Length: \xff\r\n\r\n{}", "names no length"),
            (b"Content-Length:\r\n\r\n{}", "names no length"),
            (b"Content-Type: x\r\n\r\n{}", "no Content-Length"),
            (b"\r\n", "no Content-Length"),
            (b"\xff\xfe\r\n\r\n", "is not a header line"),
            (b"Content-Length: 5\r\n\r\n{}", "after 2 of 5 bytes"),
            (b"Content-Length: 5\r\n", "inside a header"),
            (b"Content-Le", "inside a header"),
            (&endless, "does not end within"),
            (&many, "does not end within"),
        ] {
            let (all, why) = messages(stream);
            assert!(all.is_empty());
            let why = why.expect("an error");
            assert!(why.contains(expected), "{why}, not {expected}");
        }
    }
}
