//! Messages waiting for the server: all of them are taken into account before any work that no
//! request needs, and requests that the editor has cancelled are not answered.

use std::collections::VecDeque;

use lsp_server::{Message, Request, RequestId};
use lsp_types::notification::{Cancel, Notification as _};
use lsp_types::{CancelParams, NumberOrString};

/// Messages in order of arrival, and deferred requests.
#[derive(Debug, Default)]
pub struct Inbox {
    messages: VecDeque<Message>,
    put_off: Vec<Request>,
}

impl Inbox {
    /// Adds a message. If it cancels a request that is waiting here, returns the number of that
    /// request.
    pub fn push(&mut self, message: Message) -> Option<RequestId> {
        let Some(id) = cancelled_request(&message) else {
            self.messages.push_back(message);
            return None;
        };
        let before = self.messages.len() + self.put_off.len();
        self.messages
            .retain(|it| !matches!(it, Message::Request(request) if request.id == id));
        self.put_off.retain(|request| request.id != id);
        (self.messages.len() + self.put_off.len() < before).then_some(id)
    }

    /// Removes the oldest message.
    pub fn pop(&mut self) -> Option<Message> {
        self.messages.pop_front()
    }

    /// Defers a request.
    pub fn put_off(&mut self, request: Request) {
        self.put_off.push(request);
    }

    /// Removes and returns the deferred requests that are `due`.
    pub fn due(&mut self, due: impl Fn(&Request) -> bool) -> Vec<Request> {
        self.put_off
            .extract_if(.., |request| due(request))
            .collect()
    }
}

/// The request that a message cancels, if any.
fn cancelled_request(message: &Message) -> Option<RequestId> {
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

    fn notify(method: &str, parameters: Value) -> Message {
        Message::Notification(Notification::new(method.to_owned(), parameters))
    }

    #[test]
    fn cancelled_request_is_removed_from_both_queues() {
        let mut inbox = Inbox::default();
        let cancel = |id| notify("$/cancelRequest", json!({ "id": id }));
        assert_eq!(inbox.push(request(1).into()), None);
        assert_eq!(inbox.push(request(2).into()), None);
        inbox.put_off(request(3));
        assert_eq!(inbox.push(cancel(2)), Some(2.into()));
        assert_eq!(inbox.push(cancel(3)), Some(3.into()));
        // Already answered, or never sent.
        assert_eq!(inbox.push(cancel(2)), None);
        assert!(inbox.due(|_| true).is_empty());
        assert!(matches!(inbox.pop(), Some(Message::Request(it)) if it.id == 1.into()));
        assert!(inbox.pop().is_none());
    }
}
