//! What a request is answered.

use npsim::debug::DebugError;
use npsim::problem::{Problem, Problems};
use serde::Serialize;
use serde_json::{Value, json};

use crate::message::Message;

/// What a request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An object as JSON, which has `ok`.
    Json(String),
    /// A file.
    Bytes(Vec<u8>),
}

impl Answer {
    /// The fields of an object, and that all went well.
    ///
    /// # Errors
    /// The value cannot be written as JSON, which its type excludes.
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

    /// That all went well.
    #[must_use]
    pub fn done() -> Self {
        Self::Json(r#"{"ok":true}"#.to_owned())
    }

    /// Why nothing was done.
    #[must_use]
    pub fn refusal(failure: &Failure) -> Self {
        Self::Json(failure.json().to_string())
    }
}

/// Why a request has no answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong.
    pub message: String,
    /// Reasons.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// Mistakes that have places.
    pub(crate) messages: Vec<Message>,
}

impl Failure {
    /// Without reasons and help.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Says what to do.
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
