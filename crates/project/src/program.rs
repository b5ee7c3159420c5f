//! An assembled program of a project.

use std::path::PathBuf;

use npsim_asm::SourceMap;
use npsim_image::Image;

/// A program that a microengine can run, with its source texts.
#[derive(Clone, Debug)]
pub struct Program {
    /// The microengine.
    pub me: u8,
    /// The path of the source as shown to the user.
    pub source: PathBuf,
    /// The words and all metadata.
    pub image: Image,
    /// The source texts.
    pub sources: SourceMap,
}
