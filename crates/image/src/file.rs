//! Images as files: a line of text for each fact, in a format with a version.
//! The format is described in the book (`image-format.md`).

mod read;
mod set;
mod write;

use std::fmt;

pub use set::{PlacedImage, SET_MAGIC, is_image_file, set_from_file_bytes, set_to_file_bytes};

use crate::image::Image;

/// The version that is written, and the newest that is read. Version 1 says
/// nothing of live ranges, scopes, statements and the arguments of macros, version 2
/// nothing of synonyms and of the scopes that words stand in.
const VERSION: u32 = 3;

/// The oldest version that is read.
const OLDEST: u32 = 1;

/// The first word of every image file.
const MAGIC: &str = "npsim-image";

/// Why a file is not an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFileError {
    /// The line, from 1; one past the last where the file ends too early.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ImageFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ImageFileError {}

impl Image {
    /// The image as the bytes of a file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        write::to_file_bytes(self)
    }

    /// Reads an image that [`Self::to_file_bytes`] has made.
    ///
    /// # Errors
    /// The line that is not as it should be, and why.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, ImageFileError> {
        read::from_file_bytes(bytes)
    }
}
