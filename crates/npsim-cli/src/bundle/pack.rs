//! Making a bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use npsim::atomic_file::{check_creatable, is_standard_output, same_file};
use npsim::problem::Problem;
use npsim_net::compression::Compression;
use npsim_net::inputs::{InputNote, NoteKind, STANDARD_INPUT};

use super::archive::{Bundle, MAX_BYTES, MAX_FILES, is_plain};
use super::command_line::{
    absolute_or_parent_paths, below, check_command, check_places, common, relative, tidy,
};
use super::manifest::{Build, Manifest, PackedFile, Request, SCHEMA};
use super::outcome::first_difference;
use super::process;
use super::stage;

/// A bundle that has been written.
#[derive(Debug)]
pub struct Packed {
    /// Its manifest.
    pub manifest: Manifest,
    /// Notes to show to the user.
    pub notes: Vec<String>,
}

/// Runs the command here, and again among copies of the files it read, and writes the bundle; `None` if it was
/// interrupted.
///
/// # Errors
/// Returns an error if the command or one of the files it reads cannot be bundled, or if the bundle cannot be
/// written.
pub fn pack(
    words: &[String],
    path: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Packed>, Problem> {
    check_command(words)?;
    check_name(path)?;
    let folder =
        std::env::current_dir().map_err(|error| Problem::io("read", Path::new("."), &error))?;
    let temporary = tempfile::Builder::new().prefix("npsim-bundle-").tempdir();
    let temporary = temporary
        .map_err(|error| Problem::new(format!("cannot create a temporary folder: {error}")))?;
    let Some(ran) = process::run(words, &folder, None, temporary.path(), stop)? else {
        return Ok(None);
    };
    let notes = stage::notes_of(temporary.path())?;
    if let Some(note) = notes.iter().find(|note| note.kind == NoteKind::Other) {
        if note.path == Path::new(STANDARD_INPUT) {
            return Err(Problem::new(
                "the command reads standard input, which cannot be in a bundle",
            )
            .help("name a file instead; for `npsim debug` give `--script FILE` with `--batch`"));
        }
        if note.path.is_file() {
            return Err(Problem::new(format!(
                "`{}` cannot be in a bundle: it could not be copied to a temporary folder",
                note.path.display()
            ))
            .help("is the disk full that `TMPDIR` is on?"));
        }
        return Err(outside(&note.path, "not a regular file"));
    }
    let read = { notes.iter() }.find(|it| it.kind != NoteKind::Folder && same_file(&it.path, path));
    if let Some(note) = read {
        return Err(would_overwrite(path, "the command reads", &note.path));
    }
    let root = root_of(&folder, words, &notes);
    let (files, folders) = contents(&root, &notes)?;
    let request = Request {
        command: relative(words, &folder),
        folder: below(&root, &folder),
        folders: folders.into_iter().collect(),
    };
    check_places(&request.command, &request.folder)?;
    let Some(staged) = stage::run(&request, &files, stop)? else {
        return Ok(None);
    };
    if let Some(path) = staged.outside.first() {
        return Err(outside(path, "named by its absolute path within a file"));
    }
    let outputs = { staged.outcome.outputs.iter() }.map(|it| root.join(&it.path));
    if let Some(output) = { outputs }.find(|it| same_file(it, path)) {
        return Err(would_overwrite(path, "the command writes", &output));
    }
    if staged.outcome.ended != ran.ended {
        let (_, _, line) = first_difference(b"", &staged.stderr);
        return Err(Problem::new(format!(
            "the command behaves differently from a bundle: {}, not {}",
            staged.outcome.ended, ran.ended
        ))
        .note(format!("from the bundle it says: {line}"))
        .help("is each file named by a path relative to the project, and none by a link?"));
    }
    let mut notes = Vec::new();
    let (stdout, stderr) = stage::masked_output(&ran, &root);
    for (name, here, there) in [
        ("standard output", stdout, &staged.stdout),
        ("standard error", stderr, &staged.stderr),
    ] {
        // Paths that were made relative are printed in their new form, so the outputs differ then.
        if here != *there && request.command == words {
            let (number, one, other) = first_difference(&here, there);
            notes.push(format!(
                "line {number} of {name} is `{other}` from the bundle and `{one}` here; the bundle stores the former"
            ));
        }
    }
    let inputs = files
        .iter()
        .map(|(path, bytes)| PackedFile::of(path, bytes));
    let bundle = Bundle {
        manifest: Manifest {
            schema: SCHEMA.to_owned(),
            made_by: Build::own(),
            request,
            inputs: inputs.collect(),
            outcome: staged.outcome,
        },
        stdout: staged.stdout,
        stderr: staged.stderr,
        files,
    };
    bundle.write(path)?;
    Ok(Some(Packed {
        manifest: bundle.manifest,
        notes,
    }))
}

fn outside(path: &Path, what: &str) -> Problem {
    Problem::new(format!(
        "`{}` cannot be in a bundle: it is {what}",
        path.display()
    ))
    .help("name a regular file, by a path relative to the file that names it")
}

/// Rejects, before anything runs, a name whose extension is that of another compression than gzip, and a path
/// that cannot be written.
fn check_name(path: &Path) -> Result<(), Problem> {
    match Compression::of_name(path) {
        _ if is_standard_output(path) => Ok(()),
        None | Some(Compression::Gzip) => {
            check_creatable(path).map_err(|error| Problem::io("write", path, &error))
        }
        Some(other) => Err(Problem::new(format!(
            "a bundle is compressed by gzip, not as `.{}` promises: `{}`",
            other.ending(),
            path.display()
        ))
        .help("leave that ending out")),
    }
}

/// The error for a bundle that would overwrite a file of its command.
fn would_overwrite(path: &Path, what: &str, file: &Path) -> Problem {
    Problem::new(format!(
        "the bundle `{}` would overwrite what {what}: `{}`",
        path.display(),
        file.display()
    ))
    .help("give the bundle another name")
}

/// The folder that becomes the bundle's top folder: the deepest one that contains everything read or named.
fn root_of(folder: &Path, words: &[String], notes: &[InputNote]) -> PathBuf {
    let read = notes.iter().filter(|note| note.kind != NoteKind::Folder);
    let read = read.map(|note| tidy(&note.path));
    // The parent of a named file or output; a named folder is used as it is.
    let named = absolute_or_parent_paths(words, folder).into_iter();
    let places = read.chain(named);
    places.fold(folder.to_path_buf(), |root, place| {
        let above = if place.is_dir() {
            place.as_path()
        } else {
            place.parent().unwrap_or(&place)
        };
        common(&root, above)
    })
}

/// The files and the folders of a bundle.
#[expect(clippy::type_complexity, reason = "two lists")]
fn contents(
    root: &Path,
    notes: &[InputNote],
) -> Result<(BTreeMap<String, Vec<u8>>, BTreeSet<String>), Problem> {
    let mut files = BTreeMap::new();
    let mut folders = BTreeSet::new();
    let mut bytes = 0;
    // In this order, a file that was read takes precedence over one that was only seen.
    let of = |kind: NoteKind| notes.iter().filter(move |note| note.kind == kind);
    for note in of(NoteKind::Read).chain(of(NoteKind::File)) {
        let path = tidy(&note.path);
        let name = below(root, &path);
        if !is_plain(&name) {
            return Err(outside(
                &note.path,
                "named in a way that other systems do not accept",
            ));
        }
        if files.contains_key(&name) {
            continue;
        }
        let content = if note.kind == NoteKind::Read {
            fs::read(&note.copy).map_err(|error| Problem::io("read", &note.path, &error))?
        } else {
            Vec::new()
        };
        bytes += content.len() as u64;
        files.insert(name, content);
    }
    for note in of(NoteKind::Folder) {
        let path = tidy(&note.path);
        let name = below(root, &path);
        if path.starts_with(root) && is_plain(&name) {
            folders.insert(name);
        }
    }
    if bytes > MAX_BYTES || files.len() + folders.len() + 3 > MAX_FILES {
        return Err(Problem::new(format!(
            "the command reads {} files with {} MiB, and a bundle has at most {} with {} MiB",
            files.len(),
            bytes >> 20,
            MAX_FILES - 3,
            MAX_BYTES >> 20
        ))
        .help("a shorter capture, or `--set load.rate=...` instead of one, shows the same fault"));
    }
    Ok((files, folders))
}
