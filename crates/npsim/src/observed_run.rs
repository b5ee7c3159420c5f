//! An observed run: its bottleneck in words, and its report page.

use npsim_observe::flow::TrafficFlow;
use npsim_observe::lanes::CapturePoints;
use npsim_observe::sections::SerialSections;
use npsim_observe::series::Series;
use npsim_observe::set::Observations;
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_report::bottleneck::{self, Analysis, Observed, Stage};
use npsim_report::page::close_up::CloseUp;
use npsim_report::page::{self, Run};
use npsim_session::links::Traffic;
use npsim_session::report::NodeReport;

/// A chip whose run has ended, with everything observed during it.
#[derive(Clone, Copy, Debug)]
pub struct ObservedRun<'a> {
    project: &'a Project,
    programs: &'a [Program],
    report: &'a NodeReport,
    traffic: &'a Traffic,
    series: &'a Series,
    flow: &'a TrafficFlow,
    sections: &'a SerialSections,
    moments: Option<&'a CapturePoints>,
}

impl<'a> ObservedRun<'a> {
    /// A run of one chip; `None` unless it was [observed for a
    /// report](npsim_observe::set::ObserverConfig::and_report).
    #[must_use]
    pub fn of(
        (project, programs): (&'a Project, &'a [Program]),
        (report, traffic): (&'a NodeReport, &'a Traffic),
        observed: &'a Observations,
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
        })
    }

    /// What limits the run.
    #[must_use]
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

    /// Renders the run as one HTML page. `settings` are the lines that describe how it was
    /// started.
    ///
    /// # Errors
    /// Returns an error if the page's data cannot be serialized, which its types rule out.
    pub fn page(
        &self,
        analysis: &Analysis,
        settings: &[(String, String)],
    ) -> Result<String, page::PageError> {
        let moments = self.moments;
        let close_up = moments.and_then(|it| CloseUp::of(self.report, self.series, it));
        page::render(&Run {
            report: self.report,
            series: self.series,
            analysis,
            stages: &Stage::all(self.project),
            project: self.project,
            programs: self.programs,
            latencies: &self.traffic.latencies,
            lanes: close_up.as_ref().map(|it| (it.lanes, it.why.as_str())),
            settings,
        })
    }
}
