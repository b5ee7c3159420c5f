//! Reads compressed data.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Compression, MAGIC_BYTES};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// Reads compressed data of one or several members. Trailing bytes that are not a member, such as the
/// zeros that pad a tape block, are counted and ignored.
pub struct Decompressor {
    part: Part,
    compression: Compression,
    bytes_behind: u64,
}

enum Part {
    /// Between two members.
    Between(Source),
    Gzip(Box<GzDecoder<Source>>),
    Zstd(Box<FrameDecoder>, Source),
    /// At the end of the data, or after an error.
    Over,
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Decompressor")
            .field("compression", &self.compression)
            .field("bytes_behind", &self.bytes_behind)
            .finish_non_exhaustive()
    }
}

impl Decompressor {
    /// Creates a decompressor for data that [`Compression::of_data`] has recognised.
    #[must_use]
    pub fn new(compression: Compression, input: Box<dyn Read + Send>) -> Self {
        Self {
            part: Part::Between(Source {
                input,
                window: Vec::new(),
                start: 0,
            }),
            compression,
            bytes_behind: 0,
        }
    }

    /// Returns the number of bytes found so far after the end of the data.
    #[must_use]
    pub fn bytes_behind(&self) -> u64 {
        self.bytes_behind
    }

    /// Begins the next member, if there is one.
    fn begin(&mut self, mut source: Source) -> io::Result<Part> {
        let beginning = source.peek(MAGIC_BYTES)?;
        if beginning.is_empty() {
            return Ok(Part::Over);
        }
        let cut = beginning.len() < MAGIC_BYTES && self.compression.may_begin(beginning);
        if !cut && Compression::of_data(beginning) != Some(self.compression) {
            self.bytes_behind = io::copy(&mut source, &mut io::sink())?;
            return Ok(Part::Over);
        }
        match self.compression {
            Compression::Gzip => Ok(Part::Gzip(Box::new(GzDecoder::new(source)))),
            Compression::Zstd => zstd_frame(source),
        }
    }

    /// Reads on; `None` at the end of a member.
    fn read_part(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match std::mem::replace(&mut self.part, Part::Over) {
            Part::Between(source) => self.part = self.begin(source)?,
            Part::Gzip(mut decoder) => {
                let bytes = decoder.read(buffer)?;
                if bytes > 0 {
                    self.part = Part::Gzip(decoder);
                    return Ok(Some(bytes));
                }
                self.part = Part::Between(decoder.into_inner());
            }
            Part::Zstd(mut decoder, mut source) => {
                while decoder.can_collect() == 0 && !decoder.is_finished() {
                    let one = BlockDecodingStrategy::UptoBlocks(1);
                    decoder.decode_blocks(&mut source, one).map_err(damage)?;
                }
                if decoder.can_collect() > 0 {
                    let bytes = decoder.read(buffer)?;
                    self.part = Part::Zstd(decoder, source);
                    return Ok(Some(bytes));
                }
                let stated = decoder.get_checksum_from_data();
                if stated.is_some() && stated != decoder.get_calculated_checksum() {
                    return Err(io::Error::other("the checksum does not match the data"));
                }
                self.part = Part::Between(source);
            }
            Part::Over => return Ok(Some(0)),
        }
        Ok(None)
    }
}

impl Read for Decompressor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(bytes) = self.read_part(buffer)? {
                return Ok(bytes);
            }
        }
    }
}

/// Begins a zstd frame, or skips one that holds no data.
fn zstd_frame(mut source: Source) -> io::Result<Part> {
    let mut decoder = FrameDecoder::new();
    match decoder.init(&mut source) {
        Ok(()) => Ok(Part::Zstd(Box::new(decoder), source)),
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
            length,
            ..
        })) => {
            let length = u64::from(length);
            if io::copy(&mut source.by_ref().take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(Part::Between(source))
        }
        Err(error) => Err(damage(error)),
    }
}

/// Returns the error of the zstd decoder, or the I/O error that caused it.
fn damage(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return match io.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io.kind().into(),
            };
        }
        cause = inner.source();
    }
    io::Error::other(error)
}

/// Source of compressed data, with the bytes that were peeked at but not read.
struct Source {
    input: Box<dyn Read + Send>,
    window: Vec<u8>,
    start: usize,
}

impl Source {
    /// Returns the next bytes without reading them; fewer at the end.
    fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        while self.window.len() - self.start < bytes && self.fill()? {}
        let known = bytes.min(self.window.len() - self.start);
        Ok(&self.window[self.start..self.start + known])
    }

    /// Reads more into memory; returns `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.window.drain(..self.start);
        self.start = 0;
        let before = self.window.len();
        self.window.resize(before + CHUNK, 0);
        let result = loop {
            match self.input.read(&mut self.window[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.window
            .truncate(before + *result.as_ref().unwrap_or(&0));
        Ok(result? > 0)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.window.len() {
            self.fill()?;
        }
        Ok(&self.window[self.start..])
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let bytes = available.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&available[..bytes]);
        self.consume(bytes);
        Ok(bytes)
    }
}
