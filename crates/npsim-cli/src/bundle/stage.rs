//! A temporary folder with the files of a bundle and nothing else, in which its command runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use npsim::problem::Problem;
use npsim_net::inputs::{InputNote, NoteKind, read_notes};

use super::archive::MAX_BYTES;
use super::command_line::{below, tidy};
use super::manifest::{Outcome, Request};
use super::outcome::{mask_host_details, outcome};
use super::process::{self, ProcessResult};

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
    let mut left = MAX_BYTES;
    gather(&root, &root, files, &mut left, &mut outputs)?;
    let outside = notes_of(&notes)?.into_iter().filter(|note| {
        let read = matches!(note.kind, NoteKind::Read | NoteKind::Other);
        read && !tidy(&note.path).starts_with(&root)
    });
    Ok(Some(Staged {
        outcome: outcome(&ran, &root, &outputs),
        stdout: mask_host_details(&ran.stdout, &root),
        stderr: mask_host_details(&ran.stderr, &root),
        outside: outside.map(|note| note.path).collect(),
    }))
}

/// The notes of a process; an error if it could not write any.
pub fn notes_of(folder: &Path) -> Result<Vec<InputNote>, Problem> {
    read_notes(folder).map_err(|error| {
        Problem::new(format!("cannot determine what the command reads: {error}"))
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

/// The regular files below a folder that are not as they were unpacked, of `left` bytes together at most.
fn gather(
    root: &Path,
    folder: &Path,
    unpacked: &BTreeMap<String, Vec<u8>>,
    left: &mut u64,
    found: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), Problem> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    for entry in entries.map_err(|error| failed(&error))? {
        let path = entry.path();
        let about = entry.metadata().map_err(|error| failed(&error))?;
        if about.is_dir() {
            gather(root, &path, unpacked, left, found)?;
            continue;
        }
        if !about.is_file() {
            continue;
        }
        let read = || fs::read(&path).map_err(|error| Problem::io("read", &path, &error));
        let name = below(root, &path);
        let before = unpacked.get(&name);
        // One at a time: the inputs are in memory already.
        if let Some(before) = before.filter(|it| it.len() as u64 == about.len())
            && read()? == *before
        {
            continue;
        }
        *left = left.checked_sub(about.len()).ok_or_else(|| {
            let most = MAX_BYTES >> 20;
            Problem::new(format!("the command writes more than {most} MiB"))
                .help("a shorter run, or fewer outputs, shows the same fault")
        })?;
        found.insert(name, read()?);
    }
    Ok(())
}

/// What came of a process in place, as [`run`] gives it.
pub fn masked_output(ran: &ProcessResult, root: &Path) -> (Vec<u8>, Vec<u8>) {
    (
        mask_host_details(&ran.stdout, root),
        mask_host_details(&ran.stderr, root),
    )
}

#[cfg(test)]
mod tests {
    use super::gather;
    use std::collections::BTreeMap;

    #[test]
    fn unchanged_inputs_do_not_count_towards_the_limit() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text);
        write("input", &"a".repeat(100))?;
        write("output", "eight by")?;
        let unpacked = BTreeMap::from([("input".to_owned(), vec![b'a'; 100])]);
        let gathered = || {
            let (mut left, mut found) = (10, BTreeMap::new());
            gather(dir.path(), dir.path(), &unpacked, &mut left, &mut found)
                .map(|()| (left, found.into_keys().collect::<Vec<_>>()))
        };
        let (left, found) = gathered().expect("eight bytes of ten");
        assert_eq!((left, found), (2, vec!["output".to_owned()]));
        write("input", &"b".repeat(100))?;
        assert!(gathered().is_err(), "108 bytes of ten");
        Ok(())
    }
}
