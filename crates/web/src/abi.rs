//! The functions exported by the WebAssembly module. Addresses refer to its linear memory; there
//! is one thread, one playground, one request and one answer.

#![allow(
    unsafe_code,
    reason = "an exported name is one, since it may hide another"
)]

use std::cell::RefCell;

use serde_json::json;

use crate::answer::Answer;
use crate::playground::Playground;

/// The state of the module.
#[derive(Default)]
struct Module {
    playground: Option<Playground>,
    request: Vec<u8>,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
    /// Separate, since a panic writes it while the module is in use.
    static ANSWER: RefCell<Vec<u8>> = RefCell::default();
}

/// The kind of an answer in JSON.
const JSON: u32 = 0;
/// The kind of an answer that is a file.
const BYTES: u32 = 1;

fn set(answer: Answer) -> u32 {
    let (kind, bytes) = match answer {
        Answer::Json(text) => (JSON, text.into_bytes()),
        Answer::Bytes(bytes) => (BYTES, bytes),
    };
    ANSWER.with_borrow_mut(|answer| *answer = bytes);
    kind
}

/// Makes the message of a panic the answer; the page observes the trap in which the panic ends.
fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let error = json!({ "message": panic.to_string(), "notes": [], "help": null });
        let answer = json!({ "ok": false, "panic": true, "error": error, "messages": [] });
        set(Answer::Json(answer.to_string()));
    }));
}

/// Applies `work` to the playground and the request, which is consumed.
fn with(work: impl FnOnce(&mut Playground, Vec<u8>) -> Answer) -> u32 {
    #[cfg(target_arch = "wasm32")]
    crate::heap::begin();
    MODULE.with_borrow_mut(|module| {
        let request = std::mem::take(&mut module.request);
        let playground = module.playground.get_or_insert_with(|| {
            install_panic_hook();
            Playground::default()
        });
        set(work(playground, request))
    })
}

/// Allocates room for the bytes of the next request; null if there is no memory left.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn request(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        let mut room = Vec::new();
        if room.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        room.resize(length, 0);
        module.request = room;
        module.request.as_mut_ptr()
    })
}

/// Stores a file: the request is its path, of `path_length` bytes, followed by its contents.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn put(path_length: usize, length: usize) -> u32 {
    with(|playground, mut request| {
        request.truncate(length);
        let path_length = path_length.min(request.len());
        let path = String::from_utf8_lossy(&request[..path_length]).into_owned();
        request.drain(..path_length);
        playground.put(&path, request)
    })
}

/// Handles the request, which is JSON; the answer is JSON (0) or a file (1).
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn ask(length: usize) -> u32 {
    with(|playground, mut request| {
        request.truncate(length);
        playground.ask(&request)
    })
}

/// The address of the answer.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(Vec::as_ptr)
}

/// The length of the answer, in bytes.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
#[must_use]
pub extern "C" fn answer_len() -> usize {
    ANSWER.with_borrow(Vec::len)
}
