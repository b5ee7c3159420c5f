//! An assembled program of a project.

use std::path::PathBuf;

use npsim_asm::SourceMap;
use npsim_image::Image;

/// A program that a microengine can run, with the texts it came from.
#[derive(Clone, Debug)]
pub struct Program {
    /// The microengine.
    pub me: u8,
    /// The source as it is shown.
    pub source: PathBuf,
    /// The words and all that is known of them.
    pub image: Image,
    /// The texts.
    pub sources: SourceMap,
}
