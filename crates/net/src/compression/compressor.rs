//! Compresses data on their way to a file.

use std::fmt;
use std::io::{self, Write};

use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::Compression;

/// Bytes of data in one zstd frame. As much is kept in memory.
const FRAME: usize = 1 << 20;

/// Writes data compressed or unchanged.
pub struct Compressor<W: Write>(Encoder<W>);

enum Encoder<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    /// The output, and the data not yet compressed.
    Zstd(W, Vec<u8>),
}

impl<W: Write> fmt::Debug for Compressor<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Compressor")
            .field(&self.compression())
            .finish()
    }
}

impl<W: Write> Compressor<W> {
    /// Creates a writer to `out` that compresses as given, or not at all.
    pub fn new(compression: Option<Compression>, out: W) -> Self {
        Self(match compression {
            None => Encoder::Plain(out),
            Some(Compression::Gzip) => {
                Encoder::Gzip(GzEncoder::new(out, flate2::Compression::default()))
            }
            Some(Compression::Zstd) => Encoder::Zstd(out, Vec::new()),
        })
    }

    fn compression(&self) -> Option<Compression> {
        match &self.0 {
            Encoder::Plain(_) => None,
            Encoder::Gzip(_) => Some(Compression::Gzip),
            Encoder::Zstd(..) => Some(Compression::Zstd),
        }
    }

    /// Returns the underlying writer if the data are not compressed.
    pub fn plain(&mut self) -> Option<&mut W> {
        match &mut self.0 {
            Encoder::Plain(out) => Some(out),
            Encoder::Gzip(_) | Encoder::Zstd(..) => None,
        }
    }

    /// Writes the end of the data and returns the underlying writer, which is not flushed.
    ///
    /// # Errors
    /// Returns an error if the end cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Encoder::Plain(out) => Ok(out),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(mut out, waiting) => {
                out.write_all(&frame(&waiting))?;
                Ok(out)
            }
        }
    }
}

fn frame(data: &[u8]) -> Vec<u8> {
    compress_to_vec(data, CompressionLevel::Fastest)
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Encoder::Plain(out) => out.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(out, waiting) => {
                let taken = bytes.len().min(FRAME - waiting.len());
                waiting.extend(&bytes[..taken]);
                if waiting.len() == FRAME {
                    out.write_all(&frame(waiting))?;
                    waiting.clear();
                }
                Ok(taken)
            }
        }
    }

    /// Flushes the underlying writer. Data that wait to be compressed are kept, so that the same data
    /// always give the same bytes.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Encoder::Plain(out) | Encoder::Zstd(out, _) => out.flush(),
            Encoder::Gzip(encoder) => encoder.get_mut().flush(),
        }
    }
}
