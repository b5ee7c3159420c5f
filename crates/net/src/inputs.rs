//! Records the files that a process reads, so that another process can be given the same ones
//! elsewhere.
//!
//! Nothing is recorded unless [`record_inputs_to`] was called. Code that opens a file whose content affects a
//! command first calls [`note_read`]; code that only checks whether a file exists calls [`note_existence`]; code
//! that reads standard input calls [`note_standard_input`].

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The path in the note on standard input.
pub const STANDARD_INPUT: &str = "-";
/// File in the notes folder that lists the notes.
const LIST: &str = "list";

/// What is known about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// A regular file was read. A copy of it at that moment is named after the number of the note.
    Read,
    /// A regular file was seen to exist.
    File,
    /// A folder was seen to exist.
    Folder,
    /// Something else was read, such as a pipe, or a file that could not be copied.
    Other,
}

impl NoteKind {
    const ALL: [(Self, u8); 4] = [
        (Self::Read, b'r'),
        (Self::File, b'f'),
        (Self::Folder, b'd'),
        (Self::Other, b'o'),
    ];
}

/// A note on one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputNote {
    /// What is known about the path.
    pub kind: NoteKind,
    /// The absolute path as it was opened; [`STANDARD_INPUT`] for standard input.
    pub path: PathBuf,
    /// The copy of a file that was read.
    pub copy: PathBuf,
}

#[derive(Debug)]
struct Notes {
    folder: PathBuf,
    list: File,
    count: usize,
    known: BTreeSet<(PathBuf, NoteKind)>,
}

static NOTES: OnceLock<Mutex<Notes>> = OnceLock::new();

/// Starts recording what this process reads to `folder`, which must exist and be empty. Each note is
/// written at once, so that the notes survive a crash.
///
/// # Errors
/// Returns an error if nothing can be written there.
pub fn record_inputs_to(folder: &Path) -> io::Result<()> {
    let list = OpenOptions::new()
        .create_new(true)
        .append(true)
        .open(folder.join(LIST))?;
    let notes = Notes {
        folder: folder.to_path_buf(),
        list,
        count: 0,
        known: BTreeSet::new(),
    };
    // A second call has no effect: the first list continues.
    let _ = NOTES.set(Mutex::new(notes));
    Ok(())
}

/// Notes that the file at `path` is about to be read.
pub fn note_read(path: &Path) {
    note(path, true);
}

/// Notes that the existence of `path` affects what happens next.
pub fn note_existence(path: &Path) {
    note(path, false);
}

/// Notes that standard input is about to be read.
pub fn note_standard_input() {
    if let Some(notes) = NOTES.get() {
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.add(Path::new(STANDARD_INPUT), NoteKind::Other);
    }
}

fn note(path: &Path, read: bool) {
    let Some(notes) = NOTES.get() else { return };
    // A path that does not exist here will not exist elsewhere either.
    let Ok(found) = fs::metadata(path) else {
        return;
    };
    let Ok(path) = std::path::absolute(path) else {
        return;
    };
    let kind = match (found.is_file(), found.is_dir(), read) {
        (true, _, true) => NoteKind::Read,
        (true, _, false) => NoteKind::File,
        (_, true, _) => NoteKind::Folder,
        (_, _, true) => NoteKind::Other,
        (_, _, false) => return,
    };
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    notes.add(&path, kind);
}

impl Notes {
    fn add(&mut self, path: &Path, kind: NoteKind) {
        if !self.known.insert((path.to_path_buf(), kind)) {
            return;
        }
        let copy = self.folder.join(self.count.to_string());
        let copied = kind != NoteKind::Read || fs::copy(path, copy).is_ok();
        let kind = if copied { kind } else { NoteKind::Other };
        let mark = { NoteKind::ALL.iter() }.find_map(|(it, mark)| (*it == kind).then_some(*mark));
        let mut line = vec![mark.unwrap_or(b'o')];
        line.extend(path.as_os_str().as_encoded_bytes());
        line.push(0);
        // A note that cannot be written shows up as missing when the notes are read.
        if self.list.write_all(&line).is_ok() {
            self.count += 1;
        }
    }
}

/// Returns the notes that a process left in `folder`; none if it read nothing.
///
/// # Errors
/// Returns an error if they cannot be read or a path is not valid UTF-8.
pub fn read_notes(folder: &Path) -> io::Result<Vec<InputNote>> {
    let bytes = fs::read(folder.join(LIST))?;
    let lines = bytes.split(|&byte| byte == 0).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    lines
        .map(|(number, line)| {
            let kind =
                { NoteKind::ALL.iter() }.find_map(|(it, mark)| (*mark == line[0]).then_some(*it));
            let path = std::str::from_utf8(&line[1..]).map_err(|_| {
                let name = String::from_utf8_lossy(&line[1..]).into_owned();
                io::Error::new(io::ErrorKind::InvalidData, format!("`{name}` is not UTF-8"))
            })?;
            Ok(InputNote {
                kind: kind.unwrap_or(NoteKind::Other),
                path: PathBuf::from(path),
                copy: folder.join(number.to_string()),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{NoteKind, note_existence, note_read, read_notes, record_inputs_to};

    #[test]
    fn files_are_noted_once_with_their_contents() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join("notes");
        let file = dir.path().join("a.uc");
        std::fs::create_dir(&notes).unwrap();
        std::fs::write(&file, "before").unwrap();
        note_read(&file);
        record_inputs_to(&notes).unwrap();
        for _ in 0..2 {
            note_read(&file);
            note_existence(dir.path());
            note_read(&dir.path().join("missing"));
        }
        std::fs::write(&file, "after").unwrap();
        let found = read_notes(&notes).unwrap();
        let found: Vec<_> = { found.iter() }
            // Other tests of this process run concurrently and read captures of their own.
            .filter(|it| it.path.starts_with(dir.path()))
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].kind, NoteKind::Read);
        assert_eq!(found[0].path, file);
        assert_eq!(std::fs::read(&found[0].copy).unwrap(), b"before");
        assert_eq!(found[1].kind, NoteKind::Folder);
    }
}
