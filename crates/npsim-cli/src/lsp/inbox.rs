//! Messages that wait for the server: all that are here count before anything is found out
//! that no answer needs, and what the editor takes back is not answered.

use std::collections::VecDeque;

use lsp_server::{Message, Request, RequestId};
use lsp_types::notification::{Cancel, Notification as _};
use lsp_types::{CancelParams, NumberOrString};

/// Messages in the order in which they came, and requests that were put off.
#[derive(Debug, Default)]
pub struct Inbox {
    messages: VecDeque<Message>,
    put_off: Vec<Request>,
}

impl Inbox {
    /// Takes in a message. One that takes back a request which waits here gives that
    /// request's number.
    pub fn push(&mut self, message: Message) -> Option<RequestId> {
        let Some(id) = taken_back(&message) else {
            self.messages.push_back(message);
            return None;
        };
        let before = self.messages.len() + self.put_off.len();
        self.messages
            .retain(|it| !matches!(it, Message::Request(request) if request.id == id));
        self.put_off.retain(|request| request.id != id);
        (self.messages.len() + self.put_off.len() < before).then_some(id)
    }

    /// The message that has waited longest.
    pub fn pop(&mut self) -> Option<Message> {
        self.messages.pop_front()
    }

    /// Keeps a request for later.
    pub fn put_off(&mut self, request: Request) {
        self.put_off.push(request);
    }

    /// Gives back the requests that were put off and are `due`.
    pub fn due(&mut self, due: impl Fn(&Request) -> bool) -> Vec<Request> {
        self.put_off
            .extract_if(.., |request| due(request))
            .collect()
    }
}

/// The request that a message takes back.
fn taken_back(message: &Message) -> Option<RequestId> {
    let Message::Notification(notification) = message else {
        return None;
    };
    if notification.method != Cancel::METHOD {
        return None;
    }
    let cancel: CancelParams = serde_json::from_value(notification.params.clone()).ok()?;
    Some(match cancel.id {
        NumberOrString::Number(number) => number.into(),
        NumberOrString::String(text) => text.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::Inbox;
    use lsp_server::{Message, Notification, Request};
    use serde_json::{Value, json};

    fn request(id: i32) -> Request {
        Request::new(id.into(), "textDocument/hover".to_owned(), Value::Null)
    }

    fn tell(method: &str, parameters: Value) -> Message {
        Message::Notification(Notification::new(method.to_owned(), parameters))
    }

    #[test]
    fn cancelled_request_is_gone_wherever_it_waits() {
        let mut inbox = Inbox::default();
        let cancel = |id| tell("$/cancelRequest", json!({ "id": id }));
        assert_eq!(inbox.push(request(1).into()), None);
        assert_eq!(inbox.push(request(2).into()), None);
        inbox.put_off(request(3));
        assert_eq!(inbox.push(cancel(2)), Some(2.into()));
        assert_eq!(inbox.push(cancel(3)), Some(3.into()));
        // Answered already, or never asked.
        assert_eq!(inbox.push(cancel(2)), None);
        assert!(inbox.due(|_| true).is_empty());
        assert!(matches!(inbox.pop(), Some(Message::Request(it)) if it.id == 1.into()));
        assert!(inbox.pop().is_none());
    }
}
