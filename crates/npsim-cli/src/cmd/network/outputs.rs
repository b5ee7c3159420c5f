//! What a run of a network writes.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use npsim::problem::Problem;
use npsim::whole_file::WholeFile;
use npsim_net::egress::KeptFile;
use npsim_network::Network;
use npsim_network::checkpoint::{Checkpoint, Outputs as Positions};
use npsim_network::chips::System;
use npsim_network::counters::NetworkCounters;
use npsim_network::file::NetworkFile;
use npsim_network::results::Results;
use npsim_network::series::{Sampler, Series};

use super::arguments::Arguments;
use super::captures::Captures;
use super::keeping::{Keeping, lacks};
use super::report::Report;
use super::taps::{Taps, Timeline};
use crate::cmd::destinations::{self, Output};
use crate::cmd::run::outputs::keep_apart;
use crate::cmd::run::report::page_path;
use crate::cmd::saved_command::forget;

/// Samples over time, on their way to a file.
enum SeriesFile {
    Whole(Series<std::io::BufWriter<WholeFile>>),
    Kept(Series<KeptFile>),
}

/// The results as JSON.
enum Stats {
    Not,
    /// Its place, and the file if that is open already.
    File(PathBuf, Option<WholeFile>),
}

/// All outputs of a run but its summary.
pub struct Outputs {
    /// Captures and the timeline, which see what goes over lines.
    pub taps: Taps,
    series: Option<(PathBuf, SeriesFile)>,
    report: Option<Report>,
    stats: Stats,
    sampler: Sampler,
}

/// Gives standard output to the output that asks for it.
///
/// # Errors
/// It cannot have it.
pub fn claim(arguments: &Arguments) -> Result<(), Problem> {
    let text = { arguments.stats.iter().map(|path| ("--stats", path)) }
        .chain(arguments.series.iter().map(|path| ("--series", path)))
        .chain(arguments.timeline.iter().map(|path| ("--timeline", path)))
        .map(|(option, path)| Output::text(option, path));
    let mut captures: Vec<_> = arguments.capture.iter().map(|it| &it.file).collect();
    // Several links may go to one.
    captures.sort_unstable();
    captures.dedup();
    let captures = captures
        .into_iter()
        .map(|path| Output::binary("--capture", path));
    let summary = Output::text("--format json", Path::new("-"));
    let summary = (arguments.format.is_json() && !arguments.quiet).then_some(summary);
    let outputs: Vec<_> = text.chain(captures).chain(summary).collect();
    destinations::claim(&["network"], &outputs)
}

/// Refuses an output that would take the place of what the run reads, or of another output.
pub fn keep_inputs(arguments: &Arguments, file: &Path, systems: &[System]) -> Result<(), Problem> {
    let mut inputs = vec![(file.to_owned(), "the network's file")];
    for system in systems {
        let files = system.project.text.files.iter().cloned();
        inputs.extend(files.map(|path| (path, "the project file of a router")));
        for program in &system.programs {
            let files = program.sources.files().iter();
            let files = files.map(|file| PathBuf::from(&file.path));
            inputs.extend(files.map(|path| (path, "a source")));
        }
    }
    let page = arguments.report.as_deref().map(page_path);
    let mut outputs: Vec<(&str, &PathBuf)> = Vec::new();
    let saving = &arguments.saving;
    outputs.extend(saving.checkpoint.iter().map(|path| ("--checkpoint", path)));
    outputs.extend(arguments.stats.iter().map(|path| ("--stats", path)));
    outputs.extend(arguments.series.iter().map(|path| ("--series", path)));
    outputs.extend(arguments.timeline.iter().map(|path| ("--timeline", path)));
    outputs.extend(page.iter().map(|path| ("--report", path)));
    let mut captures: Vec<_> = arguments.capture.iter().map(|it| &it.file).collect();
    // Several links may go to one.
    captures.sort_unstable();
    captures.dedup();
    outputs.extend(captures.into_iter().map(|path| ("--capture", path)));
    keep_apart(&inputs, &outputs)
}

impl Outputs {
    /// Opens all files of a run that begins, or goes on from a checkpoint; `sampled` is what was
    /// counted at the last sample before it.
    pub fn open(
        arguments: &Arguments,
        file: &NetworkFile,
        network: &mut Network,
        checkpoint: Option<&Checkpoint>,
        sampled: Option<NetworkCounters>,
    ) -> Result<Self, Problem> {
        let keeping = match (checkpoint, &arguments.saving.checkpoint) {
            (Some(checkpoint), _) => Keeping::At(checkpoint.outputs()),
            (None, Some(path)) => {
                forget(path)?;
                Keeping::Begun
            }
            (None, None) => Keeping::Not,
        };
        let create = |path: &Path| {
            WholeFile::create(path).map_err(|error| Problem::io("write", path, &error))
        };
        let stats = match &arguments.stats {
            None => Stats::Not,
            Some(path) => {
                let out = create(path)?;
                // A process that is killed cannot remove it.
                let out = matches!(keeping, Keeping::Not).then_some(out);
                Stats::File(path.clone(), out)
            }
        };
        let series = { arguments.series.as_ref() }
            .map(|path| Ok((path.clone(), SeriesFile::open(path, keeping)?)))
            .transpose()?;
        let window = arguments.window.unwrap_or_default();
        let timeline = { arguments.timeline.as_deref() }
            .map(|path| Timeline::open(path, window, file, network))
            .transpose()?;
        Ok(Self {
            taps: Taps {
                captures: Captures::open(file, &arguments.capture, keeping)?,
                timeline,
            },
            series,
            report: { arguments.report.as_deref() }
                .map(Report::create)
                .transpose()?,
            stats,
            sampler: Sampler::resumed(file.scale, sampled),
        })
    }

    /// Whether anything is drawn over time.
    pub const fn are_sampled(&self) -> bool {
        self.series.is_some() || self.report.is_some()
    }

    /// What was counted at the last sample.
    pub const fn last_sample(&self) -> Option<&NetworkCounters> {
        self.sampler.last()
    }

    /// Takes the samples of the present moment.
    pub fn sample(&mut self, network: &Network) -> std::io::Result<()> {
        let Self {
            series,
            report,
            sampler,
            ..
        } = self;
        sampler.sample(network.outside(), &mut |sample| {
            if let Some(report) = report {
                report.tracks.add(sample);
            }
            match series {
                Some((_, SeriesFile::Whole(series))) => series.write(sample),
                Some((_, SeriesFile::Kept(series))) => series.write(sample),
                None => Ok(()),
            }
        })
    }

    /// How far the outputs have come that are to be gone on with; they are on the disk up to there.
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

    /// Completes everything with the results.
    pub fn finish(self, network: &Network, results: &Results) -> anyhow::Result<()> {
        self.taps.finish(network)?;
        if let Some((path, series)) = self.series {
            series
                .finish()
                .map_err(|error| Problem::io("write", &path, &error))?;
        }
        if let Some(report) = self.report {
            report.finish(results)?;
        }
        let json = || anyhow::Ok(serde_json::to_string_pretty(results)? + "\n");
        match self.stats {
            Stats::Not => {}
            Stats::File(path, out) => {
                let json = json()?;
                let written = out
                    .map_or_else(|| WholeFile::create(&path), Ok)
                    .and_then(|mut out| out.write_all(json.as_bytes()).map(|()| out))
                    .and_then(WholeFile::commit);
                written.map_err(|error| Problem::io("write", &path, &error))?;
            }
        }
        Ok(())
    }
}

impl SeriesFile {
    fn open(path: &Path, keeping: Keeping<'_>) -> Result<Self, Problem> {
        let opened = match keeping {
            Keeping::Not => WholeFile::create(path)
                .and_then(|file| Series::new(std::io::BufWriter::new(file)).map(Self::Whole)),
            Keeping::Begun => {
                KeptFile::create(path).and_then(|file| Series::new(file).map(Self::Kept))
            }
            Keeping::At(Positions {
                series: Some(at), ..
            }) => KeptFile::resume(path, at).map(|file| Self::Kept(Series::resumed(file))),
            Keeping::At(_) => return Err(lacks("samples")),
        };
        opened.map_err(|error| Problem::io("write", path, &error))
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Whole(series) => {
                let out = series.finish()?.into_inner();
                out.map_err(std::io::IntoInnerError::into_error)?.commit()
            }
            Self::Kept(series) => series.finish()?.commit(),
        }
    }
}
