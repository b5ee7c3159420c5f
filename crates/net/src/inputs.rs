//! Which files a process reads, noted for a process that must find the same ones elsewhere.
//!
//! Nothing is noted unless [`note_into`] was called. What opens a file that decides what a command
//! does calls [`reading`] before, what only looks whether one is there, [`seeing`], and what takes
//! the standard input, [`reading_standard_input`].

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The path of the note on standard input.
pub const STANDARD_INPUT: &str = "-";
/// The file in the folder of notes that has one note after the other.
const LIST: &str = "list";

/// What is known of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// A regular file was read; a copy of it, as it was then, has the number of the note as its name.
    Read,
    /// A regular file was seen to be there.
    File,
    /// A folder was seen to be there.
    Folder,
    /// Something that is neither was read, such as a pipe, or a file that could not be copied.
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

/// What was noted of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputNote {
    /// What is known of it.
    pub kind: NoteKind,
    /// As it was opened, beginning with the root; [`STANDARD_INPUT`] for that.
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

/// From now on this process notes into `folder`, which is there and empty, what it reads. Each note is
/// written at once, so that those of a process that crashes are there.
///
/// # Errors
/// Nothing can be written there.
pub fn note_into(folder: &Path) -> io::Result<()> {
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
    // A second call changes nothing: the first list goes on.
    let _ = NOTES.set(Mutex::new(notes));
    Ok(())
}

/// The file at `path` is about to be read.
pub fn reading(path: &Path) {
    note(path, true);
}

/// Whether there is something at `path` decides what comes next.
pub fn seeing(path: &Path) {
    note(path, false);
}

/// Standard input is about to be read.
pub fn reading_standard_input() {
    if let Some(notes) = NOTES.get() {
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.add(Path::new(STANDARD_INPUT), NoteKind::Other);
    }
}

fn note(path: &Path, read: bool) {
    let Some(notes) = NOTES.get() else { return };
    // What is not there will not be there elsewhere either.
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
        // A note that cannot be written is missed where the notes are read.
        if self.list.write_all(&line).is_ok() {
            self.count += 1;
        }
    }
}

/// The notes that a process left in `folder`; none if it read nothing.
///
/// # Errors
/// They cannot be read, or a path is not in UTF-8.
pub fn notes_in(folder: &Path) -> io::Result<Vec<InputNote>> {
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
    use super::{NoteKind, note_into, notes_in, reading, seeing};

    #[test]
    fn files_are_noted_once_with_what_they_held() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join("notes");
        let file = dir.path().join("a.uc");
        std::fs::create_dir(&notes).unwrap();
        std::fs::write(&file, "before").unwrap();
        reading(&file);
        note_into(&notes).unwrap();
        for _ in 0..2 {
            reading(&file);
            seeing(dir.path());
            reading(&dir.path().join("missing"));
        }
        std::fs::write(&file, "after").unwrap();
        let found = notes_in(&notes).unwrap();
        let found: Vec<_> = { found.iter() }
            // Tests of this process that run beside this one read captures of theirs.
            .filter(|it| it.path.starts_with(dir.path()))
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].kind, NoteKind::Read);
        assert_eq!(found[0].path, file);
        assert_eq!(std::fs::read(&found[0].copy).unwrap(), b"before");
        assert_eq!(found[1].kind, NoteKind::Folder);
    }
}
