//! Already assembled firmware: image files, and bare words as text or binary.

use std::path::Path;

use npsim_image::Image;
use npsim_image::file::{PlacedImage, SET_MAGIC, is_image_file, set_from_file_bytes};
use npsim_net::compression::Compression;

use crate::files::Files;
use crate::problem::Problem;

/// Extensions of the files that [`read`] accepts.
pub(crate) const ENDINGS: [&str; 4] = ["npi", "hex", "txt", "bin"];

/// Whether a path names assembled firmware, judged by its extension.
#[must_use]
pub fn is_firmware(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        ENDINGS
            .iter()
            .any(|ending| extension.eq_ignore_ascii_case(ending))
    })
}

/// Whether a path names bare words, which do not specify how to set up contexts and next-neighbour
/// registers.
#[must_use]
pub(crate) fn is_bare(path: &Path) -> bool {
    let image = |extension: &std::ffi::OsStr| extension.eq_ignore_ascii_case(ENDINGS[0]);
    is_firmware(path) && !path.extension().is_some_and(image)
}

/// One program of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmwareProgram {
    /// The comment before its words, if they are text with such a comment.
    pub title: Option<String>,
    /// The microengines it is meant for; empty if the file does not specify them.
    pub microengines: Vec<u8>,
    /// The program.
    pub image: Image,
}

/// Reads all programs of a file. The contents determine the format: an image file, a file of
/// several images, words as text or binary words.
///
/// # Errors
/// Returns an error if the file cannot be read or its contents are invalid.
pub fn read(files: &dyn Files, path: &Path) -> Result<Vec<FirmwareProgram>, Problem> {
    let bytes = files
        .read(path)
        .map_err(|error| Problem::io("read", path, &error))?;
    let shown = path.display();
    // Some compressed files would even disassemble if taken for binary words.
    if let Some(compression) = Compression::of_name(path)
        && Compression::of_data(&bytes) == Some(compression)
    {
        let program = compression.program();
        return Err(Problem::new(format!(
            "`{shown}` is compressed; firmware is read without decompression"
        ))
        .help(format!("unpack it with `{program} -d`")));
    }
    let mut parts = if is_image_file(&bytes) {
        images(&bytes).map_err(|error| {
            Problem::new(format!("{shown}: {error}"))
                .help("write the file again with `npsim asm TARGET -o FILE.npi`")
        })?
    } else if is_text(&bytes) {
        words(&String::from_utf8_lossy(&bytes)).map_err(|error| {
            let problem = Problem::new(format!("{shown}: {error}"));
            if crate::is_source(path) {
                return problem.help(format!(
                    "this is a source; `npsim asm {shown} --listing` shows its words"
                ));
            }
            problem.help(
                "words as text are ten hexadecimal digits, or eleven with parity, one word a line",
            )
        })?
    } else {
        let image = Image::from_be_bytes(&bytes).map_err(|error| {
            Problem::new(format!("{shown}: {error}"))
                .help("words in binary have five bytes each, most significant first")
        })?;
        vec![FirmwareProgram::without_place(None, image)]
    };
    for part in &mut parts {
        if part.image.name.is_empty() {
            part.image.name = shown.to_string();
        }
    }
    Ok(parts)
}

/// Returns a file's program for one microengine: the one that the file assigns to it, or the only
/// one if the file assigns none.
///
/// # Errors
/// Returns an error as [`read`] does, or if there is no such program.
pub(crate) fn read_for(files: &dyn Files, path: &Path, me: u8) -> Result<Image, Problem> {
    let parts = read(files, path)?;
    let ids: Vec<_> = parts
        .iter()
        .flat_map(|part| &part.microengines)
        .map(u8::to_string)
        .collect();
    let count = parts.len();
    let found = parts
        .into_iter()
        .find(|part| part.microengines.contains(&me) || (ids.is_empty() && count == 1));
    found.map(|part| part.image).ok_or_else(|| {
        let problem = Problem::new(format!(
            "`{}` has no program for microengine {me}",
            path.display()
        ));
        if ids.is_empty() {
            problem.note("the file has no program, or several that name no microengine")
        } else {
            problem.note(format!("the file has programs for {}", ids.join(", ")))
        }
    })
}

/// Returns the list of microengines that a file's programs are meant for, such as `0,1,4`; `None`
/// if the file does not specify them.
///
/// # Errors
/// See [`read`].
pub(crate) fn microengines(files: &dyn Files, path: &Path) -> Result<Option<String>, Problem> {
    let mut ids: Vec<u8> = read(files, path)?
        .into_iter()
        .flat_map(|part| part.microengines)
        .collect();
    ids.sort_unstable();
    let ids: Vec<_> = ids.iter().map(u8::to_string).collect();
    Ok((!ids.is_empty()).then(|| ids.join(",")))
}

impl FirmwareProgram {
    fn without_place(title: Option<String>, image: Image) -> Self {
        Self {
            title,
            microengines: Vec::new(),
            image,
        }
    }
}

fn images(bytes: &[u8]) -> Result<Vec<FirmwareProgram>, npsim_image::file::ImageFileError> {
    if !bytes.starts_with(SET_MAGIC.as_bytes()) {
        return Ok(vec![FirmwareProgram::without_place(
            None,
            Image::from_file_bytes(bytes)?,
        )]);
    }
    let images = set_from_file_bytes(bytes)?;
    let part = |placed: PlacedImage| FirmwareProgram {
        title: None,
        microengines: placed.microengines,
        image: placed.image,
    };
    Ok(images.into_iter().map(part).collect())
}

fn words(text: &str) -> Result<Vec<FirmwareProgram>, String> {
    let mut parts = Vec::new();
    for section in sections(text) {
        // Empty lines stand for the lines before the section, so that errors have the line numbers
        // of the file.
        let lines = "\n".repeat(section.first_line) + section.text;
        let image = Image::from_hex(&lines)?;
        parts.push(FirmwareProgram {
            title: section.title.map(str::to_owned),
            microengines: section.title.map_or_else(Vec::new, listed),
            image,
        });
    }
    Ok(parts)
}

/// Returns the microengines of `; me 0-2,4: name`; empty if it is not such a list.
fn listed(title: &str) -> Vec<u8> {
    let list = programs_for(title).and_then(|list| list.split(':').next());
    let ids = list.and_then(|list| crate::text::parse_ids(list, u8::MAX).ok());
    ids.unwrap_or_default()
}

/// Whether the file is text: hardly any file of binary words is free of control characters.
fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        text.trim_start().starts_with(';')
            || text
                .chars()
                .all(|c| !c.is_control() || c.is_ascii_whitespace())
    })
}

/// Returns the text after `; me` in a comment before the words of a program, in any letter case and
/// with any white space; `None` for any other line.
fn programs_for(line: &str) -> Option<&str> {
    let comment = line.trim().strip_prefix(';')?.trim_start();
    let (word, rest) = comment.split_at_checked(2)?;
    let ours = word.eq_ignore_ascii_case("me") && rest.starts_with([' ', '\t']);
    ours.then(|| rest.trim())
}

/// The words of one program in a text.
struct ProgramSection<'a> {
    title: Option<&'a str>,
    text: &'a str,
    first_line: usize,
}

fn sections(text: &str) -> Vec<ProgramSection<'_>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if programs_for(line).is_some() {
            starts.push((number, at, Some(line.trim())));
        }
        at += line.len();
    }
    let before = starts.first().map_or(text.len(), |(_, at, _)| *at);
    if starts.is_empty()
        || text[..before]
            .lines()
            .any(|line| !line.trim().is_empty() && !line.trim_start().starts_with(';'))
    {
        starts.insert(0, (0, 0, None));
    }
    let ends: Vec<_> = starts
        .iter()
        .skip(1)
        .map(|(_, at, _)| *at)
        .chain([text.len()])
        .collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|((first_line, at, title), end)| ProgramSection {
            title,
            text: &text[at..end],
            first_line,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{is_bare, is_firmware, is_text, listed, sections};
    use std::path::Path;

    #[test]
    fn sections_are_split_at_microengine_titles() {
        let text = "; me 0: a.uc\n01\n02\n; me 1: b.uc\n03\n";
        let parts: Vec<_> = sections(text)
            .iter()
            .map(|s| (s.title, s.text, s.first_line))
            .collect();
        assert_eq!(
            parts,
            [
                (Some("; me 0: a.uc"), "; me 0: a.uc\n01\n02\n", 0),
                (Some("; me 1: b.uc"), "; me 1: b.uc\n03\n", 3)
            ]
        );
        assert_eq!(sections("01\n").len(), 1);
        assert_eq!(sections("01\n; me 1: b\n02\n").len(), 2);
        assert_eq!(sections("").len(), 1);
        assert_eq!(sections(";me 0\n01\n  ; ME 1\n02\n").len(), 2);
        assert_eq!(sections("; memory\n01\n;mess 1\n02\n").len(), 1);
    }

    #[test]
    fn titles_name_microengines() {
        for title in ["; me 0-2,4: a.uc", ";ME 0-2, 4", "  ;\tMe\t0-2,4 : x"] {
            assert_eq!(listed(title), [0, 1, 2, 4], "{title}");
        }
        assert!(listed("; me x: a.uc").is_empty());
    }

    #[test]
    fn text_and_binary_firmware_are_distinguished() {
        assert!(is_text(b"F000000000\r\n; x\n"));
        assert!(!is_text(&[0xf0, 0, 0, 0, 0]));
        assert!(is_text("Words: \u{201e}f0000c0300\u{201c}\n".as_bytes()));
        assert!(
            is_firmware(Path::new("a/b.NPI"))
                && !is_bare(Path::new("a/b.NPI"))
                && !is_firmware(Path::new("a.uc"))
        );
        assert!(is_bare(Path::new("a.hex")) && !is_bare(Path::new("a.uc")));
    }
}
