//! The outputs of a network run.

use std::path::{Path, PathBuf};

use npsim::atomic_file::{AtomicFile, write_atomically};
use npsim::problem::Problem;
use npsim_net::egress::ResumableFile;
use npsim_network::Network;
use npsim_network::chips::System;
use npsim_network::counters::NetworkCounters;
use npsim_network_file::checkpoint::{Checkpoint, Outputs as Positions};
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_network_file::series::{Sampler, Series};
use npsim_report::network_page::{self, Tracks};

use super::arguments::Arguments;
use super::captures::Captures;
use super::taps::{Taps, Timeline};
use crate::cmd::continued_outputs::{OutputContinuation, incomplete_checkpoint};
use crate::cmd::destinations::{self, OutputOption};
use crate::cmd::file_forms::{CAPTURE, CSV, JSON};
use crate::cmd::page_file;

/// The file of samples over time.
enum SeriesFile {
    Whole(Series<AtomicFile>),
    Kept(Series<ResumableFile>),
}

/// All outputs of a run except its summary.
pub struct Outputs {
    /// Captures and the timeline, which observe the frames on lines.
    pub taps: Taps,
    series: Option<(PathBuf, SeriesFile)>,
    /// The folder of the page, and the curves that it shows.
    report: Option<(PathBuf, Tracks)>,
    stats: Option<PathBuf>,
    sampler: Sampler,
}

/// All outputs.
fn outputs(arguments: &Arguments) -> Vec<OutputOption> {
    let mut all = Vec::new();
    all.extend(arguments.saving.output());
    all.extend(
        { arguments.stats.iter() }
            .map(|path| OutputOption::new("--stats", path, &JSON).written_late()),
    );
    all.extend({ arguments.out.iter() }.map(|path| OutputOption::new("--out", path, &CAPTURE)));
    all.extend({ arguments.series.iter() }.map(|path| OutputOption::new("--series", path, &CSV)));
    all.extend(
        { arguments.timeline.iter() }.map(|path| OutputOption::new("--timeline", path, &JSON)),
    );
    all.extend({ arguments.report.iter() }.map(|folder| OutputOption::page(folder)));
    let mut captures: Vec<_> = arguments.capture.iter().map(|it| &it.file).collect();
    // Several links may share one file.
    captures.sort_unstable();
    captures.dedup();
    let captures = captures.into_iter();
    all.extend(captures.map(|path| OutputOption::new("--capture", path, &CAPTURE)));
    all.extend(OutputOption::results(arguments.format, arguments.quiet));
    all
}

/// Reserves standard output for the output that claims it.
///
/// # Errors
/// Returns an error if it cannot be reserved.
pub fn claim(arguments: &Arguments) -> anyhow::Result<()> {
    destinations::claim(&["network"], &outputs(arguments))
}

/// Rejects an output that would overwrite an input or another output, and one that cannot be
/// written.
///
/// # Errors
/// Returns an error for the first such output.
pub fn check(arguments: &Arguments, file: &Path, systems: &[System]) -> Result<(), Problem> {
    let mut inputs = vec![(file.to_owned(), "the network's file")];
    inputs.extend({ arguments.recorded.iter() }.map(|path| (path.clone(), "the recording")));
    for system in systems {
        inputs.extend(destinations::files_of(&system.project, &system.programs));
    }
    let outputs = outputs(arguments);
    destinations::check_overwrites(&inputs, &outputs)?;
    destinations::check_writable(&outputs)
}

impl Outputs {
    /// Opens all files of a run that starts, or is resumed from a checkpoint; `sampled` are the
    /// counters at the last sample before it.
    pub fn open(
        arguments: &Arguments,
        file: &NetworkFile,
        network: &mut Network,
        checkpoint: Option<&Checkpoint>,
        sampled: Option<NetworkCounters>,
    ) -> Result<Self, Problem> {
        let continuation =
            OutputContinuation::of(checkpoint, arguments.saving.checkpoint.as_deref())?;
        let series = { arguments.series.as_ref() }
            .map(|path| Ok((path.clone(), SeriesFile::open(path, continuation)?)))
            .transpose()?;
        let window = arguments.window.unwrap_or_default();
        let timeline = { arguments.timeline.as_deref() }
            .map(|path| Timeline::open(path, window, file, network))
            .transpose()?;
        Ok(Self {
            taps: Taps {
                captures: Captures::open(file, &arguments.capture, continuation)?,
                timeline,
            },
            series,
            report: { arguments.report.clone() }.map(|folder| (folder, Tracks::default())),
            stats: arguments.stats.clone(),
            sampler: Sampler::resumed(file.scale, sampled),
        })
    }

    /// Whether any output is sampled over time.
    pub const fn are_sampled(&self) -> bool {
        self.series.is_some() || self.report.is_some()
    }

    /// The counters at the last sample.
    pub const fn last_sample(&self) -> Option<&NetworkCounters> {
        self.sampler.last()
    }

    /// Takes samples of the current state.
    pub fn sample(&mut self, network: &Network) -> Result<(), Problem> {
        let Self {
            series,
            report,
            sampler,
            ..
        } = self;
        let sampled = sampler.sample(network.packet_simulation(), &mut |sample| {
            if let Some((_, tracks)) = report {
                tracks.add(sample);
            }
            match series {
                Some((_, SeriesFile::Whole(series))) => series.write(sample),
                Some((_, SeriesFile::Kept(series))) => series.write(sample),
                None => Ok(()),
            }
        });
        // Only the series is written here; without one, no error can occur.
        sampled.map_err(|error| {
            let path = { series.as_ref() }.map_or(Path::new(""), |(path, _)| path.as_path());
            Problem::io("write", path, &error)
        })
    }

    /// The positions of the outputs that a resumed run continues; everything before them is on
    /// disk.
    pub fn positions(&mut self) -> Result<Positions, Problem> {
        let series = match &mut self.series {
            Some((path, SeriesFile::Kept(series))) => {
                let position = series.out().position();
                Some(position.map_err(|error| Problem::io("write", path, &error))?)
            }
            _ => None,
        };
        Ok(Positions {
            series,
            captures: self.taps.captures.positions()?,
        })
    }

    /// Completes all outputs with the results.
    pub fn finish(self, network: &Network, results: &Results) -> anyhow::Result<()> {
        self.taps.finish(network)?;
        if let Some((path, series)) = self.series {
            series
                .finish()
                .map_err(|error| Problem::io("write", &path, &error))?;
        }
        if let Some((folder, tracks)) = self.report {
            let page = network_page::render(results, &tracks);
            page_file::write(&folder, page.map_err(Into::into))?;
        }
        if let Some(path) = self.stats {
            let json = serde_json::to_string_pretty(results)? + "\n";
            write_atomically(&path, json.as_bytes())
                .map_err(|error| Problem::io("write", &path, &error))?;
        }
        Ok(())
    }
}

impl SeriesFile {
    fn open(path: &Path, continuation: OutputContinuation<'_, Positions>) -> Result<Self, Problem> {
        let opened = match continuation {
            OutputContinuation::NotKept => {
                AtomicFile::create(path).and_then(|file| Series::new(file).map(Self::Whole))
            }
            OutputContinuation::FromStart => {
                ResumableFile::create(path).and_then(|file| Series::new(file).map(Self::Kept))
            }
            OutputContinuation::From(Positions {
                series: Some(at), ..
            }) => ResumableFile::resume(path, at).map(|file| Self::Kept(Series::resumed(file))),
            OutputContinuation::From(_) => return Err(incomplete_checkpoint("samples")),
        };
        opened.map_err(|error| Problem::io("write", path, &error))
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Whole(series) => series.finish()?.commit(),
            Self::Kept(series) => series.finish()?.commit(),
        }
    }
}
