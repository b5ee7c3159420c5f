//! Several images in one file: the programs of the microengines of a chip.

use super::{ImageFileError, MAGIC};
use crate::image::Image;

/// The version that is written, and the newest that is read.
const SET_VERSION: u32 = 1;

/// The first word of a file with the images of several microengines.
pub const SET_MAGIC: &str = "npsim-images";

/// An image and the microengines that run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedImage {
    /// Indices of the microengines, ascending.
    pub microengines: Vec<u8>,
    /// The program they run.
    pub image: Image,
}

/// Whether the bytes begin like an image file of either kind.
#[must_use]
pub fn is_image_file(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC.as_bytes())
}

/// Returns the images of a chip as the bytes of one file.
#[must_use]
pub fn set_to_file_bytes(images: &[PlacedImage]) -> Vec<u8> {
    let mut bytes = format!("{SET_MAGIC} {SET_VERSION}\n").into_bytes();
    for placed in images {
        let ids: Vec<_> = placed.microengines.iter().map(u8::to_string).collect();
        bytes.extend(format!("microengines {}\n", ids.join(" ")).into_bytes());
        bytes.extend(placed.image.to_file_bytes());
    }
    bytes.extend(b"end-images\n");
    bytes
}

/// Reads a file written by [`set_to_file_bytes`].
///
/// # Errors
/// Returns an error that names the offending line and the reason, also if a
/// microengine has two images.
pub fn set_from_file_bytes(bytes: &[u8]) -> Result<Vec<PlacedImage>, ImageFileError> {
    let mut reader = LineReader {
        rest: bytes,
        line: 0,
    };
    let first = reader.next().unwrap_or_default();
    header(first).map_err(|message| reader.fail(message))?;
    let mut images: Vec<PlacedImage> = Vec::new();
    loop {
        let Some(line) = reader.next() else {
            reader.line += 1;
            return Err(reader.fail("the file ends without `end-images`".to_owned()));
        };
        if line == b"end-images" {
            break;
        }
        let microengines = ids(line, &images).map_err(|message| reader.fail(message))?;
        let image = reader.image()?;
        images.push(PlacedImage {
            microengines,
            image,
        });
    }
    while let Some(line) = reader.next() {
        if !line.is_empty() {
            return Err(reader.fail("nothing may follow `end-images`".to_owned()));
        }
    }
    Ok(images)
}

fn header(line: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(line);
    let version = text
        .strip_prefix(SET_MAGIC)
        .and_then(|rest| rest.strip_prefix(' '))
        .ok_or_else(|| {
            format!("this is not a file of images: it does not begin with `{SET_MAGIC}`")
        })?;
    match version.parse::<u32>() {
        Ok(SET_VERSION) => Ok(()),
        Ok(other) => Err(format!(
            "version {other} of the format is not known; this program reads version {SET_VERSION}"
        )),
        Err(_) => Err(format!("`{version}` is not a version")),
    }
}

/// Reads the microengines of the next image.
fn ids(line: &[u8], before: &[PlacedImage]) -> Result<Vec<u8>, String> {
    let text = String::from_utf8_lossy(line);
    let list = text.strip_prefix("microengines ").ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        format!("expected `microengines` or `end-images`, found `{shown}`")
    })?;
    let mut ids: Vec<u8> = Vec::new();
    for word in list.split(' ') {
        let id: u8 = word
            .parse()
            .map_err(|_| format!("`{word}` is not an index of a microengine"))?;
        if ids.last().is_some_and(|last| *last >= id) {
            return Err(format!("microengine {id} is out of order"));
        }
        if before.iter().any(|other| other.microengines.contains(&id)) {
            return Err(format!("microengine {id} has two images"));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// The lines that are still to be read.
struct LineReader<'a> {
    rest: &'a [u8],
    /// Number of lines read so far.
    line: usize,
}

impl<'a> LineReader<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[..0]),
        };
        self.rest = rest;
        Some(line)
    }

    /// Reads an image, including its first line and its `end`.
    fn image(&mut self) -> Result<Image, ImageFileError> {
        let (text, before) = (self.rest, self.line);
        while let Some(line) = self.next() {
            if line == b"end" {
                break;
            }
        }
        let length = text.len() - self.rest.len();
        Image::from_file_bytes(&text[..length]).map_err(|error| ImageFileError {
            line: error.line + before,
            ..error
        })
    }

    fn fail(&self, message: String) -> ImageFileError {
        ImageFileError {
            line: self.line.max(1),
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_images() -> Vec<PlacedImage> {
        let image = |name: &str, words: &[u64]| Image::from_words(name, words.to_vec());
        vec![
            PlacedImage {
                microengines: vec![0, 1, 3],
                image: image("a \"b\".uc", &[0xf0_000c_0300]),
            },
            PlacedImage {
                microengines: vec![2],
                image: image("end", &[1, 2]),
            },
        ]
    }

    #[test]
    fn image_sets_round_trip() {
        for images in [two_images(), Vec::new()] {
            let bytes = set_to_file_bytes(&images);
            assert!(is_image_file(&bytes));
            assert_eq!(set_from_file_bytes(&bytes), Ok(images));
        }
    }

    #[test]
    fn image_set_errors_name_the_line() {
        let text = String::from_utf8(set_to_file_bytes(&two_images())).unwrap();
        let error = |text: &str| {
            set_from_file_bytes(text.as_bytes())
                .unwrap_err()
                .to_string()
        };
        let second = text.lines().position(|l| l == "microengines 2").unwrap();
        let wrong = text.replace("word 0000000002", "word 2");
        let line = wrong.lines().position(|l| l == "word 2").unwrap() + 1;
        assert!(
            error(&wrong).starts_with(&format!("line {line}: `2` is not a word")),
            "{}",
            error(&wrong)
        );
        let twice = text.replace("microengines 2", "microengines 3");
        assert_eq!(
            error(&twice),
            format!("line {}: microengine 3 has two images", second + 1)
        );
        assert!(error(&text.replace("0 1 3", "1 0 3")).contains("line 2: microengine 0"));
        assert!(error(&text.replace("0 1 3", "0 x")).contains("`x` is not an index"));
        assert!(error(&text.replace("-images 1", "-images 9")).contains("version 9"));
        assert!(error(&format!("{text}x\n")).contains("nothing may follow"));
        assert!(error("npsim-image 1\n").contains("line 1"));
        assert!(error("").contains("line 1"));
        for (at, _) in text.match_indices('\n') {
            if at + 1 < text.len() {
                assert!(set_from_file_bytes(&text.as_bytes()[..=at]).is_err());
            }
        }
    }
}
