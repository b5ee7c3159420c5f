//! Finds the files of `#include`: first in the folder of the including file, then in the given
//! folders, in order. The including file itself is tried last, so that a program's `transmit.uc`
//! can include the library's. A name that leads to no file is tried once more by the rules of other
//! systems: `\` separates folders, and letter case is ignored.

use std::path::{Component, Path, PathBuf};

use npsim_asm::Includes;

use crate::files::{Files, simplify_path};

/// Looks up include files in the including file's folder and a list of folders.
#[derive(Clone, Copy, Debug)]
pub struct FileIncludes<'a> {
    files: &'a dyn Files,
    folders: &'a [PathBuf],
}

impl<'a> FileIncludes<'a> {
    /// Creates a lookup in `folders` after the including file's own folder.
    #[must_use]
    pub fn new(files: &'a dyn Files, folders: &'a [PathBuf]) -> Self {
        Self { files, folders }
    }

    /// Returns the path and the text of a file; `None` if there is no such file.
    fn read(&self, path: &Path) -> Result<Option<(String, String)>, String> {
        match self.files.read(path) {
            Ok(bytes) => {
                let shown = simplify_path(self.files, Path::new("."), path);
                Ok(Some((shown.display().to_string(), decode(bytes))))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("`{}`: {error}", path.display())),
        }
    }

    /// Returns the paths that an include may refer to, in the order in which they are tried.
    fn candidates(&self, name: &str, including: Option<&str>) -> Vec<PathBuf> {
        let Some(including) = including else {
            return vec![PathBuf::from(name)];
        };
        if Path::new(name).is_absolute() {
            return vec![PathBuf::from(name)];
        }
        let own = Path::new(including)
            .parent()
            .unwrap_or(Path::new(""))
            .to_path_buf();
        let mut candidates = Vec::new();
        let mut itself = None;
        for folder in std::iter::once(&own).chain(self.folders) {
            let path = folder.join(name);
            if path == Path::new(including) {
                // A file of the same name elsewhere takes precedence.
                itself = Some(path);
            } else if !candidates.contains(&path) {
                candidates.push(path);
            }
        }
        candidates.extend(itself);
        candidates
    }
}

impl Includes for FileIncludes<'_> {
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String> {
        let candidates = self.candidates(name, including);
        for path in &candidates {
            if let Some(found) = self.read(path)? {
                return Ok(found);
            }
        }
        if including.is_some() {
            for path in self.candidates(&name.replace('\\', "/"), including) {
                let alike = matches_ignoring_case(self.files, &path);
                if let [path] = alike.as_slice()
                    && let Some(found) = self.read(path)?
                {
                    return Ok(found);
                }
                if let [first, second, ..] = alike.as_slice() {
                    return Err(format!(
                        "`{}` and `{}` differ from this name only in letter case; name one of them exactly",
                        first.display(),
                        second.display()
                    ));
                }
            }
        }
        if including.is_none() {
            return Err(format!("there is no file `{name}`"));
        }
        let places: Vec<_> = candidates
            .iter()
            .map(|path| format!("`{}`", path.display()))
            .collect();
        let advice = match library_with(self.files, name, including) {
            Some(folder) => format!("the file is in `{0}`: add `-I {0}`", folder.display()),
            None => "add the folder that has it with -I DIR".to_owned(),
        };
        Err(format!(
            "there is no {}; {advice}, or `include` in the project file",
            places.join(" nor ")
        ))
    }
}

/// Returns the paths that differ from the given one only in letter case: none, one, or, in the
/// folder where they diverge, several.
fn matches_ignoring_case(files: &dyn Files, path: &Path) -> Vec<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        let exact = found.join(part);
        let Component::Normal(name) = part else {
            found = exact;
            continue;
        };
        if files.kind(&exact).is_ok() {
            found = exact;
            continue;
        }
        let folder = match found.as_os_str() {
            none if none.is_empty() => Path::new("."),
            _ => found.as_path(),
        };
        let listed = files.list(folder).unwrap_or_default();
        let names = listed.iter().filter_map(|path| path.file_name());
        let alike = names.filter(|other| other.eq_ignore_ascii_case(name));
        let mut alike: Vec<_> = alike.map(|name| found.join(name)).collect();
        alike.sort();
        let [only] = alike.as_slice() else {
            return alike;
        };
        found.clone_from(only);
    }
    vec![found]
}

/// Returns a `lib` folder near the including file that contains the requested file.
fn library_with(files: &dyn Files, name: &str, including: Option<&str>) -> Option<PathBuf> {
    let own = Path::new(including?).parent()?;
    let above = match own.file_name() {
        Some(_) => own.parent()?.join("lib"),
        None => own.join("..").join("lib"),
    };
    [own.join("lib"), above]
        .into_iter()
        .find(|folder| files.is_file(&folder.join(name)))
}

/// The character encoding of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16 with a byte order mark, as written by some editors.
    Utf16 {
        /// Whether the upper byte of each unit comes first.
        upper_first: bool,
    },
    /// Latin-1, found in the comments of old sources: assumed for anything that is not UTF-8.
    Latin1,
}

impl Encoding {
    /// Detects the encoding of a file.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0xff, 0xfe, ..] => Self::Utf16 { upper_first: false },
            [0xfe, 0xff, ..] => Self::Utf16 { upper_first: true },
            _ if std::str::from_utf8(bytes).is_ok() => Self::Utf8,
            _ => Self::Latin1,
        }
    }

    /// Encodes a text for a file. Characters that Latin-1 lacks are truncated.
    #[must_use]
    pub fn encode(self, text: String) -> Vec<u8> {
        match self {
            Self::Utf8 => text.into_bytes(),
            Self::Latin1 => text.chars().map(|c| c as u8).collect(),
            Self::Utf16 { upper_first } => {
                let bytes = |unit: u16| {
                    if upper_first {
                        unit.to_be_bytes()
                    } else {
                        unit.to_le_bytes()
                    }
                };
                text.encode_utf16().flat_map(bytes).collect()
            }
        }
    }
}

/// Decodes the text of a source, keeping a byte order mark.
#[must_use]
pub fn decode(bytes: Vec<u8>) -> String {
    match Encoding::of(&bytes) {
        Encoding::Utf16 { upper_first } => {
            let unit = |pair: &[u8]| match (pair, upper_first) {
                (&[first, second], true) => u16::from_be_bytes([first, second]),
                (&[first, second], false) => u16::from_le_bytes([first, second]),
                // Half a character at the end of the file.
                _ => 0xfffd,
            };
            let units: Vec<u16> = bytes.chunks(2).map(unit).collect();
            String::from_utf16_lossy(&units)
        }
        Encoding::Utf8 | Encoding::Latin1 => String::from_utf8(bytes)
            .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, FileIncludes, decode};
    use crate::files::Disk;
    use npsim_asm::Includes;

    #[test]
    fn including_folder_is_searched_before_include_list() -> Result<(), Box<dyn std::error::Error>>
    {
        let dir = tempfile::tempdir()?;
        let path = |name: &str| dir.path().join(name);
        for folder in ["main", "lib"] {
            std::fs::create_dir(path(folder))?;
            std::fs::write(path(folder).join("both.uc"), folder)?;
        }
        std::fs::write(path("lib/only.uc"), "only")?;
        let folders = [path("lib")];
        let includes = FileIncludes::new(&Disk, &folders);
        let main = path("main/main.uc").display().to_string();
        assert_eq!(includes.load("both.uc", Some(&main))?.1, "main");
        assert_eq!(includes.load("only.uc", Some(&main))?.1, "only");
        let error = includes.load("none.uc", Some(&main)).unwrap_err();
        assert!(
            error.contains("main/none.uc")
                && error.contains("lib/none.uc")
                && error.contains("-I DIR"),
            "{error}"
        );
        let error = FileIncludes::new(&Disk, &[])
            .load("only.uc", Some(&main))
            .unwrap_err();
        let folder = path("lib").display().to_string();
        assert!(error.contains(&format!("add `-I {folder}`")), "{error}");
        Ok(())
    }

    #[test]
    fn same_named_include_is_preferred_over_the_including_file()
    -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let path = |name: &str| dir.path().join(name);
        for folder in ["main", "lib"] {
            std::fs::create_dir(path(folder))?;
        }
        std::fs::write(path("main/same.uc"), "main")?;
        let folders = [path("lib")];
        let includes = FileIncludes::new(&Disk, &folders);
        let main = path("main/same.uc").display().to_string();
        assert_eq!(includes.load("same.uc", Some(&main))?.1, "main");
        std::fs::write(path("lib/same.uc"), "lib")?;
        assert_eq!(includes.load("same.uc", Some(&main))?.1, "lib");
        Ok(())
    }

    #[test]
    fn includes_ignore_case_and_accept_backslashes() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let path = |name: &str| dir.path().join(name);
        for folder in ["main", "Lib"] {
            std::fs::create_dir(path(folder))?;
        }
        std::fs::write(path("main/ok.uc"), "ok")?;
        std::fs::write(path("Lib/only.uc"), "only")?;
        let folders = [path("Lib")];
        let includes = FileIncludes::new(&Disk, &folders);
        let main = path("main/main.uc").display().to_string();
        for (name, text) in [
            ("OK.UC", "ok"),
            (r"..\lib\ONLY.uc", "only"),
            (r".\ok.uc", "ok"),
            ("../MAIN/Ok.uc", "ok"),
            ("Only.UC", "only"),
        ] {
            let (found, read) = includes.load(name, Some(&main))?;
            assert_eq!(read, text, "{name}");
            assert!(std::fs::metadata(&found).is_ok(), "{found}");
        }
        std::fs::write(path("main/Ok.UC"), "another")?;
        let error = includes.load("OK.uc", Some(&main)).unwrap_err();
        for name in ["main/ok.uc`", "main/Ok.UC`", "name one of them"] {
            assert!(error.contains(name), "{error}");
        }
        assert_eq!(
            includes.load("ok.uc", Some(&main))?.1,
            "ok",
            "as it is written"
        );
        Ok(())
    }

    #[test]
    fn latin_1_and_utf_16_are_decoded() {
        assert_eq!(decode(vec![0xb5, b's']), "µs");
        assert_eq!(decode("µs".into()), "µs");
        let marked = "\u{feff}µ𝄞\r\n";
        for upper_first in [false, true] {
            let bytes = Encoding::Utf16 { upper_first }.encode(marked.to_owned());
            assert_eq!(Encoding::of(&bytes), Encoding::Utf16 { upper_first });
            assert_eq!(decode(bytes.clone()), marked);
            assert_eq!(
                decode([&bytes[..], b"n"].concat()),
                format!("{marked}\u{fffd}")
            );
        }
    }
}
