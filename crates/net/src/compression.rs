//! Compressed data in the formats of gzip and zstd: recognised by their first bytes when read, and
//! selected by the extension of the file name when written.

mod compressor;
mod decompressor;

use std::path::{Path, PathBuf};

pub use compressor::Compressor;
pub use decompressor::Decompressor;

/// Number of bytes that suffice to recognise a compression.
pub const MAGIC_BYTES: usize = 4;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// First bytes of a skippable zstd frame; the lowest four bits may have any value.
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// The format of `gzip`.
    Gzip,
    /// The format of `zstd`.
    Zstd,
}

impl Compression {
    /// All supported formats.
    pub const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// Returns the compression of data that begin with these bytes.
    #[must_use]
    pub fn of_data(beginning: &[u8]) -> Option<Self> {
        if beginning.starts_with(&GZIP) {
            return Some(Self::Gzip);
        }
        is_zstd(beginning).then_some(Self::Zstd)
    }

    /// Returns the compression that a file name's extension stands for.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|it| it.ending() == ending)
    }

    /// Whether data in this format may begin with these few bytes.
    fn may_begin(self, beginning: &[u8]) -> bool {
        let magic: &[u8] = match self {
            Self::Gzip => &GZIP,
            Self::Zstd => &ZSTD,
        };
        magic.starts_with(beginning) || beginning.starts_with(magic)
    }

    /// Returns the file extension of this format, without the dot.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
        }
    }

    /// Returns the name of the program that compresses to this format, and decompresses with `-d`.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Returns a file's name without the extension of a compression.
#[must_use]
pub fn without_extension(path: &Path) -> PathBuf {
    match Compression::of_name(path) {
        Some(_) => path.with_extension(""),
        None => path.to_path_buf(),
    }
}

fn is_zstd(beginning: &[u8]) -> bool {
    let skippable = |&[first, rest @ ..]: &[u8; 4]| {
        let [own, own_rest @ ..] = SKIPPABLE;
        first & 0xf0 == own && rest == own_rest
    };
    beginning.starts_with(&ZSTD) || beginning.first_chunk().is_some_and(skippable)
}
