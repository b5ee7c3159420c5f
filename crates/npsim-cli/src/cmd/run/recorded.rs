//! What a recording asks of the run that replays it, besides its frames.

use std::path::Path;

use npsim::problem::Problem;
use npsim::project::Project;
use npsim::quantity::grouped;
use npsim_net::recording::RecordingSurvey;

use crate::output;

/// Checks that the project is on the recorded clock, and lets it know the changes of routes.
pub fn prepare(project: &mut Project, recording: &RecordingSurvey) -> Result<(), Problem> {
    if recording.head.is_of_network() {
        let message = "the recording is of a network, and the target is one chip";
        return Err(Problem::new(message).help(format!(
            "`npsim network {} --recorded FILE.pcapng` repeats it",
            recording.head.target
        )));
    }
    let (hertz, recorded) = (project.capacity.hertz, recording.head.hertz);
    if hertz != recorded {
        return Err(Problem::new(format!(
            "the recording is of a chip of {} Hz, and the project's has {} Hz",
            grouped(recorded),
            grouped(hertz)
        ))
        .help(remedy(recording)));
    }
    let mut changes = Vec::new();
    for command in &recording.commands {
        if !Project::is_route_command(&command.text) {
            output::line(&format!(
                "note: the command `{}` of the recording changes no routes and is passed over",
                command.text
            ));
            continue;
        }
        changes.push(project.route_change(&command.text, command.cycle(hertz))?);
    }
    let planned = project.plan_route_changes(&changes);
    planned.map_err(|problem| problem.help(remedy(recording)))
}

fn remedy(recording: &RecordingSurvey) -> String {
    format!("run what was recorded, `{}`", recording.head.target)
}

/// Says where the run is not as it was recorded.
pub fn tell_differences(recording: &RecordingSurvey, target: &Path, seed: Option<u64>) {
    let head = &recording.head;
    if Path::new(&head.target) != target {
        output::line(&format!(
            "note: the recording is of `{}`, and `{}` runs",
            head.target,
            target.display()
        ));
    }
    if let Some(seed) = seed.filter(|seed| Some(*seed) != head.seed) {
        let recorded = head.seed.map_or("without a seed".to_owned(), |seed| {
            format!("with `--seed {seed}`")
        });
        output::line(&format!(
            "note: the recording was made {recorded}, and this run has `--seed {seed}`"
        ));
    }
}
