//! Runs that repeat a live run in its cycles: what its recording asks for besides its frames, which are
//! [traffic](crate::traffic).

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
    /// The recording that this capture is; none if it is played at another pace.
    ///
    /// # Errors
    /// It is no recording of a chip, or is to be read in another way than it was written.
    pub fn of(capture: &CaptureTraffic) -> Result<Option<Self>, Problem> {
        if capture.pace != Pace::Recorded {
            return Ok(None);
        }
        if capture.options != CaptureOptions::from(LinkTypes::Ethernet) {
            let message = "frames of a recording are whole and have Ethernet headers";
            return Err(Problem::new(message).help("leave `--link` and `--pad` out"));
        }
        let survey = survey(&capture.path).map_err(|error| Problem::new(error.to_string()))?;
        if survey.head.is_of_network() {
            let message = "the recording is of a network, and the target is one chip";
            return Err(Problem::new(message).help(format!(
                "`npsim network {} --recorded FILE.pcapng` repeats it",
                survey.head.target
            )));
        }
        Ok(Some(Self(survey)))
    }

    /// Reserves what the recorded changes of routes need, in a project that is still to be read.
    pub fn reserve(&self, overrides: &mut Overrides) {
        overrides.route_blocks = self.0.head.reserved_blocks();
    }

    /// Lets a project know the recorded changes of routes. The commands that change none are given
    /// back, as remarks.
    ///
    /// # Errors
    /// The project has another clock than the recorded chip, or cannot change its routes so.
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
                    "the command `{}` of the recording changes no routes and is passed over",
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

    /// What it says besides its frames.
    #[must_use]
    pub fn survey(&self) -> &RecordingSurvey {
        &self.0
    }
}

/// Where a run of this target with this seed is not as it was recorded.
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
