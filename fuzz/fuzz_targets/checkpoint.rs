//! Checkpoints: rejected, or restored into a session that can then be saved and continued.
//!
//! The first byte of an input selects the form of the rest: 0 a file; 1 the bytes covered by the
//! digest; 2 edits of the header and 3 edits of the state of a genuine checkpoint, four bytes each:
//! a position (24 bits) and a value. Digests are correct, because no fuzzer finds them.

#![no_main]

use std::io::{Read, Write};
use std::sync::OnceLock;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use libfuzzer_sys::fuzz_target;
use npsim::checkpoint::{Checkpoint, RunOrigin};
use npsim_fuzz::forwarder;
use sha2::{Digest, Sha256};

/// Bytes before those covered by the digest: eight of the kind, four of the format, and the digest.
const PREFIX_BYTES: usize = 44;

struct Genuine {
    /// Kind and format.
    kind: Vec<u8>,
    header: Vec<u8>,
    state: Vec<u8>,
}

fn genuine() -> &'static Genuine {
    static TAKEN: OnceLock<Genuine> = OnceLock::new();
    TAKEN.get_or_init(|| {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut session = forwarder::session();
        let _ = session.step(4000);
        let taken = Checkpoint::take(&RunOrigin::default(), &mut session, 0).expect("a state");
        taken.write(file.path()).expect("written");
        let bytes = std::fs::read(file.path()).expect("it is there");
        let (length, rest) = bytes[PREFIX_BYTES..].split_first_chunk().expect("a length");
        let (header, packed) = rest.split_at(u32::from_le_bytes(*length) as usize);
        let mut state = Vec::new();
        ZlibDecoder::new(packed).read_to_end(&mut state).expect("packed");
        Genuine {
            kind: bytes[..12].to_vec(),
            header: header.to_vec(),
            state,
        }
    })
}

fn edited(bytes: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for edit in edits.chunks_exact(4) {
        let at = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]) as usize % bytes.len();
        bytes[at] = edit[3];
    }
    bytes
}

/// A file of header and state.
fn checkpoint_file(header: &[u8], state: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(state).expect("in memory");
    let state = encoder.finish().expect("in memory");
    with_digest(&[&(header.len() as u32).to_le_bytes(), header, &state].concat())
}

fn with_digest(rest: &[u8]) -> Vec<u8> {
    [&genuine().kind, &Sha256::digest(rest)[..], rest].concat()
}

fuzz_target!(|input: &[u8]| {
    let Some((&what, rest)) = input.split_first() else {
        return;
    };
    let Genuine { header, state, .. } = genuine();
    let bytes = match what {
        0 => rest.to_vec(),
        1 => with_digest(rest),
        2 => checkpoint_file(&edited(header, rest), state),
        _ => checkpoint_file(header, &edited(state, rest)),
    };
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("written");
    let read = match Checkpoint::read(file.path()) {
        Ok(read) => read,
        Err(problem) => {
            assert!(!problem.to_string().is_empty());
            return;
        }
    };
    let mut session = forwarder::session();
    match read.restore(&mut session) {
        Ok(()) => {
            let again = Checkpoint::take(read.origin(), &mut session, 0);
            again.expect("what was restored can be saved");
        }
        Err(problem) => assert!(!problem.to_string().is_empty()),
    }
});
