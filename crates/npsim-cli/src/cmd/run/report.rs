//! `--report`: the run as a page, and what limits it as text.

use std::path::Path;

use npsim::assemble::Program;
use npsim::bottleneck::{self, Analysis, Observed, Stage};
use npsim::links::Traffic;
use npsim::observe::flow::TrafficFlow;
use npsim::observe::lanes::CapturePoints;
use npsim::observe::sections::SerialSections;
use npsim::observe::series::Series;
use npsim::observe::set::Observations;
use npsim::page::close_up::CloseUp;
use npsim::page::{self, Run};
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::report::{NodeReport, Report};
use npsim_net::pace::Pace;

use super::Arguments;
use crate::cmd::page_file;

/// A run that is over, with all that was seen of it.
pub struct Seen<'a> {
    pub project: &'a Project,
    pub programs: &'a [Program],
    pub report: &'a NodeReport,
    pub traffic: &'a Traffic,
    pub series: &'a Series,
    pub flow: &'a TrafficFlow,
    pub sections: &'a SerialSections,
    pub moments: Option<&'a CapturePoints>,
    /// How the run was asked for.
    pub settings: Vec<(String, String)>,
}

impl<'a> Seen<'a> {
    /// A run of one chip, if it was observed for a report.
    pub fn of(
        (project, programs): (&'a Project, &'a [Program]),
        (report, traffic): (&'a NodeReport, &'a Traffic),
        observed: &'a Observations,
        settings: Vec<(String, String)>,
    ) -> Option<Self> {
        Some(Self {
            project,
            programs,
            report,
            traffic,
            series: observed.series.as_ref()?,
            flow: observed.flow.as_ref()?,
            sections: observed.sections.as_ref()?,
            moments: observed.moments.as_ref(),
            settings,
        })
    }

    /// What limits the run.
    pub fn analysis(&self) -> Analysis {
        bottleneck::analyse(&Observed {
            report: self.report,
            series: self.series,
            flow: self.flow,
            sections: self.sections,
            stages: &Stage::all(self.project),
            locks: &self.project.boot.locks,
            clusters: self.project.profile.clusters(),
        })
    }

    /// Writes the page.
    pub fn write(&self, folder: &Path, analysis: &Analysis) -> Result<(), Problem> {
        let moments = self.moments;
        let close_up = moments.and_then(|it| CloseUp::of(self.report, self.series, it));
        let page = page::render(&Run {
            report: self.report,
            series: self.series,
            analysis,
            stages: &Stage::all(self.project),
            project: self.project,
            programs: self.programs,
            latencies: &self.traffic.latencies,
            lanes: close_up.as_ref().map(|it| (it.lanes, it.why.as_str())),
            settings: &self.settings,
        });
        page_file::write(folder, page.map_err(Into::into))
    }
}

/// What the page says about how the run was asked for.
pub fn settings(
    arguments: &Arguments,
    report: &Report,
    node: &NodeReport,
) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
    if let Some(target) = &arguments.target {
        add("Project", target.display().to_string());
    }
    if report.nodes.len() > 1 {
        add("Router", format!("{} of {}", node.node, report.nodes.len()));
    }
    if let Some(trace) = &arguments.system.trace {
        add("Capture", trace.display().to_string());
        let pace = arguments
            .system
            .speed
            .map_or(arguments.system.pace, |speed| Pace::Trace { speed });
        add("Pace", pace.to_string());
        add("Ports", arguments.system.ports.to_string());
    }
    if let Some(load) = &report.load {
        add("Traffic", format!("{load}, for {}", load.time));
    }
    if let Some(until) = arguments.system.until {
        add("Until", until.to_string());
    }
    if let Some(seed) = arguments.system.machine.seed {
        add("Seed", seed.to_string());
    }
    if !node.disturbances.is_none() {
        add("Disturbed", node.disturbances.lines().join("; "));
    }
    settings
}
