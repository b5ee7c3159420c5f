//! A file that is written while a run goes on.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use npsim_project::whole_file::WholeFile;

/// A file that is there when it is whole, compressed if its name ends in `.gz`; `-` is standard
/// output.
#[derive(Debug)]
pub struct StreamFile(Encoder);

#[derive(Debug)]
enum Encoder {
    Plain(BufWriter<WholeFile>),
    Gzip(GzEncoder<BufWriter<WholeFile>>),
}

impl StreamFile {
    /// Begins a file.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(WholeFile::create(path)?);
        let zipped = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        Ok(Self(if zipped {
            Encoder::Gzip(GzEncoder::new(file, Compression::default()))
        } else {
            Encoder::Plain(file)
        }))
    }

    /// The file is whole: it takes its name.
    ///
    /// # Errors
    /// It cannot be written to the end or renamed.
    pub fn commit(self) -> io::Result<()> {
        let file = match self.0 {
            Encoder::Plain(file) => file,
            Encoder::Gzip(encoder) => encoder.finish()?,
        };
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .commit()
    }
}

impl Write for StreamFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Encoder::Plain(file) => file.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Encoder::Plain(file) => file.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
        }
    }
}
