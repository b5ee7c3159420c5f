//! Input of the analysis.

use std::path::Path;

use npsim_chip::gpp::boot::LockSetup;
use npsim_observe::flow::TrafficFlow;
use npsim_observe::sections::SerialSections;
use npsim_observe::series::Series;
use npsim_project::Project;
use npsim_session::report::NodeReport;
use serde::Serialize;

/// Microengines that run the same source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// The source's file name.
    pub name: String,
    /// Their indices.
    pub microengines: Vec<u8>,
}

impl Stage {
    /// The stages of a project, in the order of their first microengine.
    #[must_use]
    pub fn all(project: &Project) -> Vec<Self> {
        let mut stages: Vec<(&Path, Self)> = Vec::new();
        for program in &project.programs {
            let known = stages
                .iter_mut()
                .find(|(source, _)| *source == program.source);
            if let Some((_, stage)) = known {
                stage.microengines.push(program.me);
            } else {
                let name = program.source.file_name().unwrap_or_default();
                let stage = Self {
                    name: name.to_string_lossy().into_owned(),
                    microengines: vec![program.me],
                };
                stages.push((&program.source, stage));
            }
        }
        stages.into_iter().map(|(_, stage)| stage).collect()
    }

    /// Its microengines and source: `microengine 0 (forward.uc)`.
    pub(super) fn title(&self) -> String {
        let ids: Vec<_> = self.microengines.iter().map(u8::to_string).collect();
        match ids.as_slice() {
            [one] => format!("microengine {one} ({})", self.name),
            _ => format!("microengines {} ({})", ids.join(", "), self.name),
        }
    }
}

/// Input of the analysis.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The report of the run.
    pub report: &'a NodeReport,
    /// Counters and depths over time.
    pub series: &'a Series,
    /// Where each microengine takes work from and gives it to.
    pub flow: &'a TrafficFlow,
    /// The serial sections, each passed by one context at a time.
    pub sections: &'a SerialSections,
    /// The microengines that run each source.
    pub stages: &'a [Stage],
    /// The locks of the project.
    pub locks: &'a [LockSetup],
    /// Clusters of microengines on the chip.
    pub clusters: u8,
}
