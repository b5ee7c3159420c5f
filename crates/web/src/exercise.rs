//! Exercises: runs of a project, judged by its goals.

use npsim::exercise::{VerdictFile, judge};
use npsim::project::Overrides;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::fault_text::FaultText;
use crate::file_store::FileStore;
use crate::scenario::{programs, project};

/// Runs a project to its end and judges the run by its goals.
///
/// # Errors
/// Returns an error if there are mistakes in the project or in its sources, or it has no goals.
pub fn check(files: &FileStore, target: &str) -> Result<Value, Failure> {
    let project = project(files, target, &Overrides::default())?;
    let (programs, messages) = programs(files, &project)?;
    let verdict = judge(&project, &programs)?;
    let file = serde_json::to_value(VerdictFile::from(&verdict));
    let mut answer = file.map_err(|error| Failure::new(error.to_string()))?;
    let goals = answer["goals"].as_array_mut().into_iter().flatten();
    for (goal, outcome) in goals.zip(&verdict.goals) {
        goal["figure_text"] = outcome.figure_text().into();
        goal["bounds_text"] = outcome.bounds_text().into();
        goal["file"] = files.path(&outcome.goal.place.path).into();
    }
    let place = |me: u8, at: u16| {
        let image = programs.iter().find(|it| it.me == me).map(|it| &it.image);
        image.map_or_else(String::new, |image| image.place(at))
    };
    let text = |fault| json!(FaultText::of(fault, place));
    answer["fault"] = verdict.fault.as_ref().map_or(Value::Null, |it| text(&it.0));
    answer["race"] = verdict.race.as_ref().map_or(Value::Null, text);
    answer["messages"] = json!(messages);
    Ok(answer)
}
