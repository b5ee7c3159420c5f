//! Answers to requests.

use npsim::debug::DebugError;
use npsim::problem::{Problem, Problems};
use serde::Serialize;
use serde_json::{Value, json};

use crate::message::Message;

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A JSON object with the field `ok`.
    Json(String),
    /// A file.
    Bytes(Vec<u8>),
}

impl Answer {
    /// Success, with the fields of an object.
    ///
    /// # Errors
    /// Returns an error if the value cannot be serialized, which its type rules out.
    pub fn of(value: &impl Serialize) -> Result<Self, Failure> {
        #[derive(Serialize)]
        struct Done<'a, T> {
            ok: bool,
            #[serde(flatten)]
            value: &'a T,
        }
        let done = Done { ok: true, value };
        let text = serde_json::to_string(&done);
        text.map(Self::Json)
            .map_err(|error| Failure::new(error.to_string()))
    }

    /// Success.
    #[must_use]
    pub fn done() -> Self {
        Self::Json(r#"{"ok":true}"#.to_owned())
    }

    /// The answer for a failed request.
    #[must_use]
    pub fn refusal(failure: &Failure) -> Self {
        Self::Json(failure.json().to_string())
    }
}

/// The reason why a request failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The error message.
    pub message: String,
    /// Explanatory notes.
    pub notes: Vec<String>,
    /// A suggested remedy.
    pub help: Option<String>,
    /// Errors with locations.
    pub(crate) messages: Vec<Message>,
}

impl Failure {
    /// A failure without notes and remedy.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Adds a suggested remedy.
    #[must_use]
    pub fn help(self, text: impl Into<String>) -> Self {
        Self {
            help: Some(text.into()),
            ..self
        }
    }

    fn json(&self) -> Value {
        json!({
            "ok": false,
            "error": { "message": self.message, "notes": self.notes, "help": self.help },
            "messages": self.messages,
        })
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self {
            message: problem.message,
            notes: problem.notes,
            help: problem.help,
            messages: Vec::new(),
        }
    }
}

impl From<Problems> for Failure {
    fn from(Problems(all): Problems) -> Self {
        let first = all.into_iter().next();
        first.map_or_else(|| Self::new("it cannot be read"), Self::from)
    }
}

impl From<DebugError> for Failure {
    fn from(error: DebugError) -> Self {
        Self {
            message: error.message,
            help: error.help,
            ..Self::default()
        }
    }
}
