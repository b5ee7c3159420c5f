//! Runs that repeat a live run cycle by cycle: what its recording requires besides its frames, which
//! are [traffic](crate::traffic).

use std::path::Path;

use npsim_net::capture::{CaptureOptions, LinkTypes};
use npsim_net::pace::Pace;
use npsim_net::recording::{RecordingSurvey, survey};
use npsim_project::problem::Problem;
use npsim_project::quantity::grouped;
use npsim_project::{Overrides, Project};

use crate::traffic::CaptureTraffic;

/// A recording of a live run of one chip.
#[derive(Clone, Debug)]
pub struct Recording(RecordingSurvey);

impl Recording {
    /// The recording in this capture; `None` if the capture is played at another pace.
    ///
    /// # Errors
    /// Returns an error if it is not a recording of a chip, or if `capture` reads it with other options
    /// than those it was written with.
    pub fn of(capture: &CaptureTraffic) -> Result<Option<Self>, Problem> {
        if capture.pace != Pace::Recorded {
            return Ok(None);
        }
        if capture.options != CaptureOptions::from(LinkTypes::Ethernet) {
            let message = "frames of a recording are whole and have Ethernet headers";
            return Err(Problem::new(message).help("leave `--link` and `--pad` out"));
        }
        let survey = survey(&capture.path).map_err(|error| Problem::new(error.to_string()))?;
        if survey.head.is_network() {
            let message = "the recording is of a network, and the target is one chip";
            return Err(Problem::new(message).help(format!(
                "`npsim network {} --recorded FILE.pcapng` repeats it",
                survey.head.target
            )));
        }
        Ok(Some(Self(survey)))
    }

    /// Reserves the memory that the recorded route changes need, in a project that is yet to be read.
    pub fn reserve(&self, overrides: &mut Overrides) {
        overrides.route_blocks = self.0.head.reserved_blocks();
    }

    /// Plans the recorded route changes in a project. Returns a remark for each command that changes no
    /// routes and is therefore skipped.
    ///
    /// # Errors
    /// Returns an error if the project's clock differs from the recorded chip's, or if the route
    /// changes are not possible in it.
    pub fn prepare(&self, project: &mut Project) -> Result<Vec<String>, Problem> {
        let Self(recording) = self;
        let (hertz, recorded) = (project.capacity.hertz, recording.head.hertz);
        if hertz != recorded {
            return Err(Problem::new(format!(
                "the recording is of a chip of {} Hz, and the project's has {} Hz",
                grouped(recorded),
                grouped(hertz)
            ))
            .help(self.remedy()));
        }
        let (mut changes, mut passed_over) = (Vec::new(), Vec::new());
        for command in &recording.commands {
            if Project::is_route_command(&command.text) {
                changes.push(project.route_change(&command.text, command.cycle(hertz))?);
            } else {
                passed_over.push(format!(
                    "the command `{}` of the recording changes no routes and is ignored",
                    command.text
                ));
            }
        }
        let planned = project.plan_route_changes(&changes);
        planned.map_err(|problem| problem.help(self.remedy()))?;
        Ok(passed_over)
    }

    fn remedy(&self) -> String {
        format!("run what was recorded, `{}`", self.0.head.target)
    }

    /// What the recording contains besides its frames.
    #[must_use]
    pub fn survey(&self) -> &RecordingSurvey {
        &self.0
    }
}

/// The differences between the recorded run and a run of this target with this seed.
#[must_use]
pub fn differences(recording: &RecordingSurvey, target: &Path, seed: Option<u64>) -> Vec<String> {
    let head = &recording.head;
    let mut remarks = Vec::new();
    if Path::new(&head.target) != target {
        remarks.push(format!(
            "the recording is of `{}`, and `{}` runs",
            head.target,
            target.display()
        ));
    }
    if let Some(seed) = seed.filter(|seed| Some(*seed) != head.seed) {
        let recorded = head.seed.map_or("without a seed".to_owned(), |seed| {
            format!("with `--seed {seed}`")
        });
        remarks.push(format!(
            "the recording was made {recorded}, and this run has `--seed {seed}`"
        ));
    }
    remarks
}
