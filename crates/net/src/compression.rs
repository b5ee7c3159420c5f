//! Data that are compressed, as gzip and zstd do it: told by how they begin where they are read, and
//! by the end of a file's name where they are written.

mod compressor;
mod decompressor;

use std::path::{Path, PathBuf};

pub use compressor::Compressor;
pub use decompressor::Decompressor;

/// Bytes that are enough to tell how data are compressed.
pub const MAGIC_BYTES: usize = 4;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Of parts of zstd data that hold nothing; the lowest four bits may be any.
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// How data are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As `gzip` does it.
    Gzip,
    /// As `zstd` does it.
    Zstd,
}

impl Compression {
    /// All that are known.
    pub const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// How data that begin with these bytes are compressed.
    #[must_use]
    pub fn of_data(beginning: &[u8]) -> Option<Self> {
        if beginning.starts_with(&GZIP) {
            return Some(Self::Gzip);
        }
        is_zstd(beginning).then_some(Self::Zstd)
    }

    /// How a file of this name is compressed.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|it| it.ending() == ending)
    }

    /// Whether such data may begin with these few bytes.
    fn may_begin(self, beginning: &[u8]) -> bool {
        let magic: &[u8] = match self {
            Self::Gzip => &GZIP,
            Self::Zstd => &ZSTD,
        };
        magic.starts_with(beginning) || beginning.starts_with(magic)
    }

    /// What the names of such files end in, without the dot.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
        }
    }

    /// The program that makes such data, and takes them apart with `-d`.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The name that a file has when it is not compressed.
#[must_use]
pub fn without_ending(path: &Path) -> PathBuf {
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
