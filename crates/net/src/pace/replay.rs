//! Replays a capture file on lines without holding it in memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use super::frame_reader::FrameReader;
use super::placing::Placing;
use super::{ArrivalSchedule, Pace, PaceError, PortAssignment, PortLine};
use crate::LineFrame;
use crate::capture::{CaptureError, CaptureNotes, CaptureOptions, CaptureReader};
use crate::inputs;
use crate::recording::{RecordingReader, RecordingSurvey};

/// Why a capture cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The capture is at fault.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The lines or the pace are at fault.
    #[error(transparent)]
    Pace(#[from] PaceError),
}

/// A capture file that has been scanned and can be replayed on lines any number of times.
///
/// [`Replay::frames`] yields the same frames at the same times as [`schedule`](super::schedule) does for
/// the capture in memory.
#[derive(Debug)]
pub struct Replay {
    file: Stored,
    placing: Placing,
    survey: Survey,
}

/// Results of scanning the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Number of frames.
    pub frames: u64,
    /// Time of the first frame in nanoseconds since 1970 (UTC); 0 for a capture without times.
    pub first_timestamp_ns: i128,
    /// Names of the interfaces, indexed by [`Frame::port`](crate::Frame::port).
    pub interfaces: Vec<String>,
    /// Number of frames of each interface.
    pub interface_frames: Vec<u64>,
    /// Whether the interface determines the port, provided that there are enough ports.
    pub by_interface: bool,
    /// Irregularities found in the capture.
    pub notes: CaptureNotes,
    /// What a recording holds besides its frames, at the pace `recorded`.
    pub recording: Option<RecordingSurvey>,
    /// Traffic at the ports; its list of arrivals is empty.
    pub plan: ArrivalSchedule,
}

/// A file that can be read several times.
#[derive(Debug)]
struct Stored {
    /// The path as given, for errors.
    path: PathBuf,
    options: CaptureOptions,
    data: StoredData,
    /// Whether to read it as a recording.
    recorded: bool,
}

/// Location of the bytes of a [`Stored`] file.
#[derive(Debug)]
enum StoredData {
    /// In the file at its path.
    File,
    /// In a copy of an input that can be read only once.
    Copy(NamedTempFile),
    /// In memory.
    Memory(Arc<[u8]>),
}

/// Number of bytes that suffice to recognise a capture.
const DETECTION_BYTES: u64 = 64 * 1024;

impl Stored {
    fn new(path: &Path, options: CaptureOptions, recorded: bool) -> Result<Self, CaptureError> {
        let failed = |source| CaptureError::Io {
            path: path.to_path_buf(),
            source,
        };
        inputs::note_read(path);
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let data = if metadata.is_file() || metadata.is_dir() {
            StoredData::File
        } else {
            let mut beginning = Vec::new();
            file.by_ref()
                .take(DETECTION_BYTES)
                .read_to_end(&mut beginning)
                .map_err(failed)?;
            // An input that is not a capture may be endless.
            let head = io::Cursor::new(beginning.clone());
            if let Err(error @ CaptureError::NotACapture { .. }) =
                CaptureReader::new(path, Box::new(head), options)
            {
                return Err(error);
            }
            let mut copy = NamedTempFile::new().map_err(failed)?;
            io::copy(&mut beginning.as_slice().chain(file), &mut copy).map_err(failed)?;
            StoredData::Copy(copy)
        };
        Ok(Self {
            path: path.to_path_buf(),
            options,
            data,
            recorded,
        })
    }

    fn read(&self) -> Result<FrameReader, CaptureError> {
        let file: io::Result<Box<dyn Read + Send>> = match &self.data {
            StoredData::Copy(copy) => copy.reopen().map(|it| Box::new(it) as _),
            StoredData::Memory(bytes) => Ok(Box::new(io::Cursor::new(Arc::clone(bytes)))),
            StoredData::File if !self.recorded => {
                let reader = CaptureReader::open_with(&self.path, self.options)?;
                return Ok(FrameReader::Capture(reader));
            }
            StoredData::File => File::open(&self.path).map(|it| Box::new(it) as _),
        };
        let file = file.map_err(|source| CaptureError::Io {
            path: self.path.clone(),
            source,
        })?;
        if self.recorded {
            let reader = RecordingReader::new(&self.path, file)?;
            return Ok(FrameReader::of_recording(reader));
        }
        let reader = CaptureReader::new(&self.path, file, self.options)?;
        Ok(FrameReader::Capture(reader))
    }
}

impl Replay {
    /// Scans the capture file at `path`. An input that can be read only once, such as a pipe, is copied to
    /// a temporary file.
    ///
    /// # Errors
    /// Returns an error for anything wrong with the file or its frames' times; nothing can fail later
    /// unless the file changes.
    pub fn open(
        path: &Path,
        ports: &[PortLine],
        assignment: PortAssignment,
        pace: Pace,
    ) -> Result<Replay, ReplayError> {
        Self::open_with(path, ports, assignment, pace, CaptureOptions::default())
    }

    /// Scans the capture file at `path` and reads it according to `options`.
    ///
    /// # Errors
    /// See [`Replay::open`].
    pub fn open_with(
        path: &Path,
        ports: &[PortLine],
        assignment: PortAssignment,
        pace: Pace,
        options: impl Into<CaptureOptions>,
    ) -> Result<Replay, ReplayError> {
        let file = Stored::new(path, options.into(), pace == Pace::Recorded)?;
        Self::of(file, ports, assignment, pace)
    }

    /// Scans a capture in memory; `name` stands for the path in errors.
    ///
    /// # Errors
    /// See [`Replay::open`].
    pub fn from_bytes(
        (name, bytes): (&Path, Arc<[u8]>),
        ports: &[PortLine],
        assignment: PortAssignment,
        pace: Pace,
        options: impl Into<CaptureOptions>,
    ) -> Result<Replay, ReplayError> {
        let file = Stored {
            path: name.to_path_buf(),
            options: options.into(),
            data: StoredData::Memory(bytes),
            recorded: pace == Pace::Recorded,
        };
        Self::of(file, ports, assignment, pace)
    }

    fn of(
        file: Stored,
        ports: &[PortLine],
        assignment: PortAssignment,
        pace: Pace,
    ) -> Result<Replay, ReplayError> {
        let placing = Placing::new(ports, assignment, pace)?;
        let mut scan_placing = placing.clone();
        let mut reader = file.read()?;
        reader.check_lines(ports)?;
        let mut interface_frames = Vec::new();
        for (index, frame) in reader.by_ref().enumerate() {
            let (frame, seen_ps) = frame?;
            let interface = frame.port as usize;
            if interface >= interface_frames.len() {
                interface_frames.resize(interface + 1, 0);
            }
            interface_frames[interface] += 1;
            scan_placing.place(index, &frame, seen_ps)?;
        }
        interface_frames.resize(reader.interfaces().len(), 0);
        let survey = Survey {
            frames: reader.frames(),
            first_timestamp_ns: reader.first_timestamp_ns(),
            interfaces: reader.interfaces(),
            interface_frames,
            by_interface: assignment == PortAssignment::ByInterface,
            notes: reader.notes(),
            recording: reader.recording(),
            plan: scan_placing.plan,
        };
        Ok(Replay {
            file,
            placing,
            survey,
        })
    }

    /// Returns the results of scanning the file.
    #[must_use]
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Returns the frames in order of their first bits.
    ///
    /// One line may be far behind another, so each port that gets frames reads the file independently.
    ///
    /// # Errors
    /// Returns an error if the file can no longer be read.
    pub fn frames(&self) -> Result<ReplayFrames, CaptureError> {
        let loads = self.survey.plan.ports.iter();
        let used = (0u32..).zip(loads).filter(|(_, load)| load.frames > 0);
        let mut lines = Vec::new();
        for (port, _) in used {
            let mut line = ReplayLine {
                port,
                reader: self.file.read()?,
                index: 0,
                placing: self.placing.clone(),
                next: None,
            };
            line.fetch()?;
            lines.push(line);
        }
        Ok(ReplayFrames {
            lines,
            failure: None,
        })
    }
}

/// The frames of a [`Replay`].
///
/// After an error there are no more frames.
#[derive(Debug)]
pub struct ReplayFrames {
    lines: Vec<ReplayLine>,
    failure: Option<CaptureError>,
}

/// The frames of one port.
#[derive(Debug)]
struct ReplayLine {
    port: u32,
    reader: FrameReader,
    /// Index of the next frame to read.
    index: usize,
    placing: Placing,
    next: Option<LineFrame>,
}

impl ReplayLine {
    /// Finds the next frame of the port.
    fn fetch(&mut self) -> Result<(), CaptureError> {
        self.next = None;
        for frame in self.reader.by_ref() {
            let (frame, seen_ps) = frame?;
            let index = self.index;
            self.index += 1;
            if self.placing.port(index, &frame) != self.port {
                continue;
            }
            // In an unchanged file, the times are known to fit.
            let Ok(arrival) = self.placing.place(index, &frame, seen_ps) else {
                return Ok(());
            };
            self.next = Some(LineFrame {
                start_ps: arrival.start_ps,
                end_ps: arrival.end_ps,
                port: self.port,
                bytes: frame.bytes,
            });
            return Ok(());
        }
        Ok(())
    }
}

impl Iterator for ReplayFrames {
    type Item = Result<LineFrame, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failure.take() {
            self.lines.clear();
            return Some(Err(error));
        }
        let waiting = self.lines.iter().enumerate();
        let (first, _) = waiting
            .filter_map(|(place, line)| Some((place, line.next.as_ref()?.start_ps)))
            .min_by_key(|&(place, start_ps)| (start_ps, place))?;
        let line = &mut self.lines[first];
        let frame = line.next.take();
        self.failure = line.fetch().err();
        frame.map(Ok)
    }
}
