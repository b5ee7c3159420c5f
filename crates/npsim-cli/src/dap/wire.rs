//! Messages from a client.

use serde::Deserialize;
use serde_json::Value;

/// A request of the client.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Request {
    pub seq: i64,
    pub command: String,
    #[serde(default)]
    pub arguments: Value,
}

/// A message of the client.
#[derive(Debug)]
pub(super) enum Incoming {
    Request(Request),
    /// A message that is not a request, and the reason.
    Unreadable(String),
}

impl Incoming {
    /// Parses the bytes of a message.
    pub fn of(bytes: &[u8]) -> Self {
        match serde_json::from_slice(bytes) {
            Ok(request) => Self::Request(request),
            Err(error) => Self::Unreadable(format!(
                "a message of {} bytes is not a request: {error}",
                bytes.len()
            )),
        }
    }
}
