//! The connection to an editor over a pair of streams.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use lsp_server::{Connection, ErrorCode, Message};
use lsp_types::notification::{Exit, Notification as _};
use serde_json::json;

use super::server::{Failure, serve};
use crate::framing;

/// Serves one editor over a pair of streams until it exits. An unreadable message is answered with
/// an error, and reading continues with the next one.
///
/// # Errors
/// Returns an error if the streams break, the framing of the input is broken, or the editor
/// violates the protocol.
pub fn serve_streams(
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), Failure> {
    let (connection, remote) = Connection::memory();
    let Connection { sender, receiver } = remote;
    let output = Arc::new(Mutex::new(output));
    let broken = Arc::new(Mutex::new(None));

    let (answers, why) = (Arc::clone(&output), Arc::clone(&broken));
    thread::spawn(move || {
        let result = listen(&mut input, &answers, |message| sender.send(message).is_ok());
        // Must be stored before `sender` is dropped, which is how the server learns of the end of
        // input.
        *lock(&why) = result.err();
    });
    let writer = thread::spawn(move || {
        let mut written = Ok(());
        // Drains the channel even when the output is closed: senders must find a receiver.
        for message in receiver {
            if written.is_ok() {
                written = write(&output, &message);
            }
        }
        written
    });

    let served = serve(&connection);
    // The writer ends when the last sender is dropped.
    drop(connection);
    let written = writer.join();
    if let Some(error) = lock(&broken).take() {
        return Err(error.into());
    }
    served?;
    written.map_err(|_| "the writer failed")??;
    Ok(())
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forwards each message until the editor exits or the server is gone.
fn listen<W: Write>(
    input: &mut dyn BufRead,
    answers: &Mutex<W>,
    mut hand_on: impl FnMut(Message) -> bool,
) -> io::Result<()> {
    while let Some(bytes) = framing::read(input)? {
        match serde_json::from_slice::<Message>(&bytes) {
            Ok(message) => {
                let leaves =
                    matches!(&message, Message::Notification(it) if it.method == Exit::METHOD);
                if !hand_on(message) || leaves {
                    break;
                }
            }
            Err(error) => {
                // JSON-RPC prescribes a null id if the request's id is unknown.
                let answer = json!({
                    "jsonrpc": "2.0",
                    "id": null,
                    "error": {
                        "code": ErrorCode::ParseError as i32,
                        "message": format!("a message of {} bytes cannot be read: {error}", bytes.len()),
                    },
                });
                framing::write(&mut *lock(answers), &answer.to_string())?;
            }
        }
    }
    Ok(())
}

fn write<W: Write>(output: &Mutex<W>, message: &Message) -> io::Result<()> {
    message.write(&mut *lock(output))
}
