//! A temporary folder with the files of a bundle and nothing else, in which its command runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use npsim::problem::Problem;
use npsim_net::inputs::{InputNote, NoteKind, notes_in};

use super::archive::MOST_BYTES;
use super::command_line::{below, tidy};
use super::manifest::{Outcome, Request};
use super::outcome::{of_any_host, outcome};
use super::process::{self, Ran};

/// What came of the command of a bundle among the bundle's files.
#[derive(Debug)]
pub struct Staged {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Files outside of the folder that were read nevertheless.
    pub outside: Vec<PathBuf>,
}

fn failed(error: &io::Error) -> Problem {
    Problem::new(format!("the bundle cannot be unpacked to be run: {error}"))
}

/// Unpacks files, runs the command among them, and removes them; `None` if it was interrupted.
///
/// # Errors
/// The disk is full, or the like.
pub fn run(
    request: &Request,
    files: &BTreeMap<String, Vec<u8>>,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Staged>, Problem> {
    let temporary = tempfile::Builder::new().prefix("npsim-bundle-").tempdir();
    let temporary = temporary.map_err(|error| failed(&error))?;
    let base = npsim::files::canonical(temporary.path());
    let (root, notes) = (base.join("files"), base.join("notes"));
    let made = fs::create_dir(&notes).and_then(|()| unpack(request, files, &root));
    made.map_err(|error| failed(&error))?;
    let folder = root.join(&request.folder);
    let Some(ran) = process::run(&request.command, &folder, Some(&root), &notes, stop)? else {
        return Ok(None);
    };
    let mut outputs = BTreeMap::new();
    let mut left = MOST_BYTES;
    gather(&root, &root, &mut left, &mut outputs)?;
    outputs.retain(|path, bytes| files.get(path) != Some(bytes));
    let outside = notes_of(&notes)?.into_iter().filter(|note| {
        let read = matches!(note.kind, NoteKind::Read | NoteKind::Other);
        read && !tidy(&note.path).starts_with(&root)
    });
    Ok(Some(Staged {
        outcome: outcome(&ran, &root, &outputs),
        stdout: of_any_host(&ran.stdout, &root),
        stderr: of_any_host(&ran.stderr, &root),
        outside: outside.map(|note| note.path).collect(),
    }))
}

/// The notes of a process; an error if it could not write any.
pub fn notes_of(folder: &Path) -> Result<Vec<InputNote>, Problem> {
    notes_in(folder).map_err(|error| {
        Problem::new(format!(
            "what the command reads cannot be found out: {error}"
        ))
        .help("are the names of all files in UTF-8, and is the disk full?")
    })
}

fn unpack(request: &Request, files: &BTreeMap<String, Vec<u8>>, root: &Path) -> io::Result<()> {
    let folders = request.folders.iter().chain([&request.folder]);
    for folder in folders {
        fs::create_dir_all(root.join(folder))?;
    }
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        // Names that a file system takes for one would otherwise take each other's place.
        let mut file = fs::File::create_new(&path)?;
        io::Write::write_all(&mut file, bytes)?;
    }
    Ok(())
}

/// All regular files below a folder.
fn gather(
    root: &Path,
    folder: &Path,
    left: &mut u64,
    found: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Problem> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    for entry in entries.map_err(|error| failed(&error))? {
        let path = entry.path();
        let about = entry.metadata().map_err(|error| failed(&error))?;
        if about.is_dir() {
            gather(root, &path, left, found)?;
        } else if about.is_file() {
            *left = left.checked_sub(about.len()).ok_or_else(|| {
                let most = MOST_BYTES >> 20;
                Problem::new(format!("the command writes more than {most} MiB"))
                    .help("a shorter run, or fewer outputs, shows the same fault")
            })?;
            let bytes = fs::read(&path).map_err(|error| Problem::io("read", &path, &error))?;
            found.insert(below(root, &path), bytes);
        }
    }
    Ok(())
}

/// What came of a process in place, as [`run`] gives it.
pub fn in_place(ran: &Ran, root: &Path) -> (Vec<u8>, Vec<u8>) {
    (
        of_any_host(&ran.stdout, root),
        of_any_host(&ran.stderr, root),
    )
}
