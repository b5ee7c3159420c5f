//! The archive file: a gzipped tar of regular files and nothing else. Equal contents give equal bytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use npsim::atomic_file::AtomicFile;
use npsim::problem::Problem;
use npsim_net::compression::Compression as ByName;
use tar::{Archive, Builder, EntryType, Header};

use super::manifest::{Manifest, PackedFile};

const MANIFEST: &str = "bundle.json";
const STDOUT: &str = "stdout";
const STDERR: &str = "stderr";
/// The folder of the files that the command reads.
const FILES: &str = "files/";
/// The maximum size of all files together, in bytes, so that a small file cannot fill a disk.
pub const MAX_BYTES: u64 = 1 << 30;
/// The maximum number of files.
pub const MAX_FILES: usize = 10_000;
/// The maximum size of the table of contents, in bytes: that many files with long paths, as inputs and outputs.
const MAX_MANIFEST_BYTES: u64 = 32 << 20;
/// The maximum length of a path, in bytes.
const MAX_PATH_BYTES: usize = 1024;

/// The contents of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    pub manifest: Manifest,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The inputs, by path.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Whether a path is relative, never leads up, and means the same on every system.
pub fn is_plain(path: &str) -> bool {
    let strange = |part: &str| {
        part.is_empty() || part == "." || part == ".." || part.contains(['\\', ':', '\0'])
    };
    let mut components = Path::new(path).components();
    path.len() <= MAX_PATH_BYTES
        && !path.split('/').any(strange)
        && components.all(|it| matches!(it, Component::Normal(_)))
}

impl Bundle {
    /// Writes the bundle.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        self.write_to(path)
            .map_err(|error| Problem::io("write", path, &error))
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let file = AtomicFile::create(path)?;
        // [`AtomicFile`] itself compresses a file whose name ends in `.gz`.
        if ByName::of_name(path) == Some(ByName::Gzip) {
            return self.pack_into(file)?.commit();
        }
        // The gzip header contains no time or operating system, and the tar headers no owner.
        let packed = GzEncoder::new(file, Compression::default());
        self.pack_into(packed)?.finish()?.commit()
    }

    fn pack_into<W: Write>(&self, into: W) -> io::Result<W> {
        let mut tar = Builder::new(into);
        let mut manifest = serde_json::to_vec_pretty(&self.manifest)?;
        manifest.push(b'\n');
        let own = [
            (MANIFEST.to_owned(), &manifest),
            (STDOUT.to_owned(), &self.stdout),
            (STDERR.to_owned(), &self.stderr),
        ];
        let files = { self.files.iter() }.map(|(path, bytes)| (format!("{FILES}{path}"), bytes));
        for (path, bytes) in own.into_iter().chain(files) {
            let mut header = Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_mtime(0);
            header.set_uid(0);
            header.set_gid(0);
            tar.append_data(&mut header, path, bytes.as_slice())?;
        }
        tar.into_inner()
    }

    /// Reads a bundle, and checks each of its files against its table of contents.
    ///
    /// # Errors
    /// Returns an error if the file is no bundle, is damaged, has foreign contents, or is too large.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let shown = path.display();
        let file = File::open(path).map_err(|error| Problem::io("read", path, &error))?;
        let mut entries = entries(path, file)?;
        let mut own = |name: &str| {
            entries.remove(name).ok_or_else(|| {
                Problem::new(format!("the bundle `{shown}` has no `{name}`"))
                    .help("name a file that `npsim bundle make` has written")
            })
        };
        let manifest = Manifest::parse(path, &own(MANIFEST)?)?;
        let (stdout, stderr) = (own(STDOUT)?, own(STDERR)?);
        let mut files = BTreeMap::new();
        for (name, bytes) in entries {
            let Some(below) = name.strip_prefix(FILES) else {
                return Err(foreign(path, &name, "a file that bundles do not have"));
            };
            files.insert(below.to_owned(), bytes);
        }
        let bundle = Self {
            manifest,
            stdout,
            stderr,
            files,
        };
        bundle.check(path)?;
        Ok(bundle)
    }

    /// Checks the files against the table of contents.
    fn check(&self, path: &Path) -> Result<(), Problem> {
        let shown = path.display();
        let lies = |name: &str, why: &str| {
            Problem::new(format!("`{name}` of the bundle `{shown}` {why}"))
                .note("`bundle.json` lists the checksum of each file")
                .help("use an intact copy, or make the bundle again")
        };
        let manifest = &self.manifest;
        let outcome = &manifest.outcome;
        let own = [
            (&outcome.stdout, &self.stdout),
            (&outcome.stderr, &self.stderr),
        ];
        for (said, bytes) in own {
            if PackedFile::of(said.path.as_str(), bytes) != *said {
                return Err(lies(&said.path, "does not match its checksum"));
            }
        }
        for input in &manifest.inputs {
            let Some(bytes) = self.files.get(&input.path) else {
                return Err(lies(&input.path, "is missing"));
            };
            if PackedFile::of(input.path.as_str(), bytes) != *input {
                return Err(lies(&input.path, "does not match its checksum"));
            }
        }
        let listed = |name: &String| manifest.inputs.iter().any(|input| input.path == *name);
        if let Some(extra) = self.files.keys().find(|name| !listed(name)) {
            return Err(lies(extra, "is not listed in `bundle.json`"));
        }
        if manifest.request.folders.len() > MAX_FILES {
            let why = format!("the bundle `{shown}` has more than {MAX_FILES} folders");
            return Err(Problem::new(why));
        }
        let places = manifest
            .request
            .folders
            .iter()
            .chain([&manifest.request.folder]);
        let places = places.filter(|place| !place.is_empty());
        let outputs = outcome.outputs.iter().map(|output| &output.path);
        for place in places.chain(outputs) {
            if !is_plain(place) {
                return Err(foreign(path, place, "a path outside the bundle"));
            }
        }
        // A path cannot be both a file and the folder of another file.
        for name in self.files.keys() {
            let folders = Path::new(name).ancestors().skip(1);
            if let Some(both) = { folders }.find_map(|it| self.files.get_key_value(it.to_str()?)) {
                return Err(foreign(path, both.0, "both a file and a folder"));
            }
            if manifest.request.folders.contains(name) || manifest.request.folder == *name {
                return Err(foreign(path, name, "both a file and a folder"));
            }
        }
        Ok(())
    }
}

fn foreign(path: &Path, name: &str, what: &str) -> Problem {
    let name = name.escape_default();
    Problem::new(format!(
        "the bundle `{}` names {what}: `{name}`",
        path.display()
    ))
    .note("npsim does not write such a bundle; nothing was unpacked")
}

/// Reads the regular files of the archive.
fn entries(path: &Path, file: File) -> Result<BTreeMap<String, Vec<u8>>, Problem> {
    let shown = path.display();
    let broken = |error: io::Error| {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return Problem::new(format!("the bundle `{shown}` is too large: {error}"));
        }
        Problem::new(format!(
            "`{shown}` is not a bundle, or it is truncated or damaged: {error}"
        ))
        .help("use an intact copy; `npsim bundle make` writes bundles")
    };
    let mut archive = Archive::new(Limited {
        input: GzDecoder::new(file),
        // Headers and padding take a kilobyte per file.
        left: MAX_BYTES + ((MAX_FILES as u64) << 11),
    });
    let mut found = BTreeMap::new();
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        if found.len() == MAX_FILES {
            let why = format!("the bundle `{shown}` has more than {MAX_FILES} files");
            return Err(Problem::new(why));
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() != EntryType::Regular {
            return Err(foreign(path, &name, "something that is not a regular file"));
        }
        if !is_plain(&name) {
            return Err(foreign(path, &name, "a path outside the bundle"));
        }
        if name == MANIFEST && entry.size() > MAX_MANIFEST_BYTES {
            let why = format!(
                "its `{MANIFEST}` has more than {} MiB",
                MAX_MANIFEST_BYTES >> 20
            );
            return Err(broken(io::Error::new(io::ErrorKind::FileTooLarge, why)));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(broken)?;
        if bytes.len() as u64 != entry.size() {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        if found.insert(name.clone(), bytes).is_some() {
            return Err(foreign(path, &name, "a file twice"));
        }
    }
    // The rest is padding, and the checksum of the whole.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
    Ok(found)
}

/// A reader that returns an error when the input exceeds the size of any bundle.
struct Limited<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(into)?;
        let left = self.left.checked_sub(got as u64);
        self.left = left.ok_or_else(|| {
            let why = format!("its files have more than {} MiB", MAX_BYTES >> 20);
            io::Error::new(io::ErrorKind::FileTooLarge, why)
        })?;
        Ok(got)
    }
}
