//! The control socket of a live run, for requests of an operator.
//!
//! A request is a line of text; its answer is a line of JSON: `{"ok": TEXT OR OBJECT}`, or
//! `{"error": TEXT, "help": TEXT}`. The socket belongs to the user alone, and is removed at the
//! end of the run.

use std::collections::VecDeque;
use std::fs::{self, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use npsim_project::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum length of a request, in bytes.
const MAX_REQUEST: usize = 4_096;
/// The maximum length of a Unix socket's path, in bytes; `sun_path` has room for one more, the
/// terminator.
const MAX_PATH: usize = 107;
/// The maximum number of clients at a time.
const MAX_CLIENTS: usize = 16;

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    Done {
        ok: Value,
    },
    Refused {
        error: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<String>,
    },
}

#[derive(Debug)]
struct Client {
    number: u64,
    stream: UnixStream,
    /// The part of the next request that has arrived.
    beginning: Vec<u8>,
}

/// The control socket.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    listener: UnixListener,
    clients: Vec<Client>,
    /// Pending requests with the numbers of their clients.
    requests: VecDeque<(u64, String)>,
    /// The client of the request that was taken last.
    asking: u64,
    number: u64,
}

impl ControlSocket {
    /// Listens at a path that is free, or that has the socket of a run that has ended.
    ///
    /// # Errors
    /// Returns an error if something else is there, or another run listens there.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let failed = |error: io::Error| Problem::io("listen at", path, &error);
        fits(path)?;
        if let Ok(found) = fs::symlink_metadata(path) {
            if !found.file_type().is_socket() {
                return Err(Problem::new(format!(
                    "`{}` is a file, so the control socket cannot be created there",
                    path.display()
                ))
                .help("name a path that does not exist"));
            }
            if UnixStream::connect(path).is_ok() {
                return Err(
                    Problem::new(format!("another run listens at `{}`", path.display()))
                        .help("name another path with `--control`"),
                );
            }
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            listener,
            clients: Vec::new(),
            requests: VecDeque::new(),
            asking: 0,
            number: 0,
        })
    }

    /// The file descriptors on which requests arrive.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let clients = self.clients.iter().map(|client| client.stream.as_fd());
        clients.chain([self.listener.as_fd()])
    }

    /// Reads what has arrived. A client that has disconnected, or violates the protocol, is
    /// removed.
    pub fn receive(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.clients.len() < MAX_CLIENTS && stream.set_nonblocking(true).is_ok() {
                self.number += 1;
                self.clients.push(Client {
                    number: self.number,
                    stream,
                    beginning: Vec::new(),
                });
            }
        }
        let requests = &mut self.requests;
        self.clients.retain_mut(|client| client.read(requests));
    }

    /// Takes the next request.
    pub fn next_request(&mut self) -> Option<String> {
        let (client, request) = self.requests.pop_front()?;
        self.asking = client;
        Some(request)
    }

    /// Answers the request that was taken last.
    pub fn answer(&mut self, text: &Result<String, Problem>) {
        let answer = match text {
            // A status is already an object.
            Ok(text) => Answer::Done {
                ok: serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
            },
            Err(problem) => Answer::Refused {
                error: problem.message.clone(),
                help: problem.help.clone(),
            },
        };
        let Ok(line) = serde_json::to_string(&answer) else {
            return;
        };
        let asking = self.asking;
        self.clients.retain_mut(|client| {
            // A client that does not read its answers is removed.
            client.number != asking || writeln!(client.stream, "{line}").is_ok()
        });
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // A socket that cannot be removed here is removed by the next run.
        let _ = fs::remove_file(&self.path);
    }
}

impl Client {
    /// Reads requests; returns false when no more can arrive.
    fn read(&mut self, requests: &mut VecDeque<(u64, String)>) -> bool {
        let mut room = [0; MAX_REQUEST];
        let later = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
        let open = match self.stream.read(&mut room) {
            Ok(0) => false,
            Ok(length) => {
                self.beginning.extend_from_slice(&room[..length]);
                true
            }
            Err(error) => later.contains(&error.kind()),
        };
        while let Some(end) = self.beginning.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.beginning.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if !line.is_empty() {
                requests.push_back((self.number, line));
            }
        }
        // A disconnected client is kept until its requests are answered.
        let fits = self.beginning.len() <= MAX_REQUEST;
        open && fits || requests.iter().any(|(client, _)| *client == self.number)
    }
}

/// Rejects a path that is too long for a socket.
fn fits(path: &Path) -> Result<(), Problem> {
    let bytes = path.as_os_str().len();
    if bytes <= MAX_PATH {
        return Ok(());
    }
    Err(Problem::new(format!(
        "`{}` has {bytes} bytes, and the path of a Unix socket has at most {MAX_PATH}",
        path.display()
    ))
    .help("name a shorter one: relative to this folder, or in /tmp or $XDG_RUNTIME_DIR"))
}

/// Sends a request to a live run, and returns its answer.
///
/// # Errors
/// Returns an error if no run listens there, or if it refuses the request, with its reason.
pub fn ask(path: &Path, request: &str) -> Result<String, Problem> {
    fits(path)?;
    let failed = |error: io::Error| {
        Problem::new(format!(
            "no live run answers at `{}`: {error}",
            path.display()
        ))
        .help("begin one with `npsim live TARGET --control PATH`, and name its path")
    };
    let mut stream = UnixStream::connect(path).map_err(failed)?;
    writeln!(stream, "{}", request.replace('\n', " ")).map_err(failed)?;
    let mut line = Vec::new();
    let mut room = [0; MAX_REQUEST];
    while !line.ends_with(b"\n") {
        match stream.read(&mut room).map_err(failed)? {
            0 => return Err(failed(io::ErrorKind::UnexpectedEof.into())),
            length => line.extend_from_slice(&room[..length]),
        }
    }
    match serde_json::from_slice(&line) {
        Ok(Answer::Done {
            ok: Value::String(text),
        }) => Ok(text),
        Ok(Answer::Done { ok }) => {
            serde_json::to_string_pretty(&ok).map_err(|it| failed(it.into()))
        }
        Ok(Answer::Refused { error, help }) => Err(Problem {
            help,
            ..Problem::new(error)
        }),
        Err(error) => Err(failed(error.into())),
    }
}
