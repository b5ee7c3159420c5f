//! The report page of a run: self-contained HTML to read on a screen, a phone
//! or paper, with or without scripts. The same run gives the same bytes.

pub mod close_up;
mod content;
mod fingerprint;
pub(crate) mod parts;
mod tables;

use npsim_observe::series::Series;
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_session::histogram::Histogram;
use npsim_session::report::NodeReport;

use crate::bottleneck::{Analysis, Stage};
use npsim_observe::lanes::ContextLanes;

pub use minijinja::Error as PageError;

/// The data of a page.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The report of the run.
    pub report: &'a NodeReport,
    /// Its samples over time.
    pub series: &'a Series,
    /// The analysis of what limits it.
    pub analysis: &'a Analysis,
    /// The stages and their programs.
    pub stages: &'a [Stage],
    /// The project.
    pub project: &'a Project,
    /// The programs.
    pub programs: &'a [Program],
    /// Latencies of packets in cycles, from the last bit in to the last bit
    /// out.
    pub latencies: &'a Histogram,
    /// A close-up of context activity, and what it shows.
    pub lanes: Option<(&'a ContextLanes, &'a str)>,
    /// The options of the run: name and value.
    pub settings: &'a [(String, String)],
}

impl Run<'_> {
    /// The source that a microengine runs; empty if it runs none.
    fn source(&self, me: u64) -> String {
        let runs = |stage: &&Stage| {
            let mut microengines = stage.microengines.iter();
            microengines.any(|&index| u64::from(index) == me)
        };
        let stage = self.stages.iter().find(runs);
        stage.map_or_else(String::new, |stage| stage.name.clone())
    }
}

/// Renders the page.
///
/// # Errors
/// Returns an error only if the template does not fit the data, which a test
/// excludes.
pub fn render(run: &Run<'_>) -> Result<String, PageError> {
    parts::render(include_str!("page/page.html"), content::content(run))
}
