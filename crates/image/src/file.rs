//! Image files: a versioned text format with one fact per line. The book describes it
//! (`image-format.md`).

mod read;
mod set;
mod write;

use std::fmt;

pub use set::{PlacedImage, SET_MAGIC, is_image_file, set_from_file_bytes, set_to_file_bytes};

use crate::image::Image;

/// The version that is written, and the newest that is read. Version 1 has no live ranges, scopes,
/// statements or macro arguments; version 2 has no synonyms and no scopes of words.
const VERSION: u32 = 3;

/// The oldest version that is read.
const OLDEST: u32 = 1;

/// The first word of every image file.
const MAGIC: &str = "npsim-image";

/// Why a file is not a valid image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFileError {
    /// The line, counted from 1; one past the last if the file ends too early.
    pub line: usize,
    /// What is wrong with the line.
    pub message: String,
}

impl fmt::Display for ImageFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ImageFileError {}

impl Image {
    /// Returns the image as the bytes of a file.
    #[must_use]
    pub fn to_file_bytes(&self) -> Vec<u8> {
        write::to_file_bytes(self)
    }

    /// Reads an image written by [`Self::to_file_bytes`].
    ///
    /// # Errors
    /// Returns an error that names the offending line and the reason.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, ImageFileError> {
        read::from_file_bytes(bytes)
    }
}
