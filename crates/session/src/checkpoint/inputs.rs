//! The inputs that a run depends on: a run is only resumed when they are unchanged.

use std::fs::File;
use std::io;
use std::path::Path;

use npsim_net::load::Load;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::session::Session;
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;

/// An input that must not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointInput {
    /// A description of the input, with its path if it has one.
    pub what: String,
    /// SHA-256 of its content.
    pub digest: [u8; 32],
}

impl CheckpointInput {
    /// An input with this content.
    pub fn new(what: impl Into<String>, content: impl AsRef<[u8]>) -> Self {
        Self {
            what: what.into(),
            digest: Sha256::digest(content).into(),
        }
    }

    /// A file that frames are read from.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn capture(path: &Path) -> Result<Self, Problem> {
        let mut digest = Sha256::new();
        File::open(path)
            .and_then(|mut file| io::copy(&mut file, &mut digest))
            .map_err(|error| Problem::io("read", path, &error))?;
        Ok(Self {
            what: format!("the capture `{}`", path.display()),
            digest: digest.finalize().into(),
        })
    }
}

/// A chip's profile, project file and programs.
#[must_use]
pub fn of_system(project: &Project, programs: &[Program]) -> Vec<CheckpointInput> {
    let mut inputs = vec![CheckpointInput::new(
        format!("the chip profile `{}`", project.profile.name()),
        project.profile.fingerprint(),
    )];
    if !project.is_default {
        inputs.push(CheckpointInput::new(
            format!("the project file `{}`", project.text.path),
            project.text.text.as_bytes(),
        ));
    }
    inputs.extend(programs.iter().map(|program| {
        CheckpointInput::new(
            format!(
                "the microcode of microengine {} (`{}`)",
                program.me,
                program.source.display()
            ),
            program.image.to_file_bytes(),
        )
    }));
    inputs
}

/// The simulated system. The session must not have run yet: the states of its chips contain
/// everything that options and tables put into them.
///
/// # Errors
/// Returns an error if the state cannot be encoded.
pub fn of_session(session: &Session) -> Result<Vec<CheckpointInput>, Problem> {
    let mut inputs = of_system(session.project(), session.programs());
    if session.nodes().len() > 1 {
        let links = format!("{} of {}", session.nodes().len(), session.link_cycles());
        inputs.push(CheckpointInput::new(
            "the routers and the links between them",
            links,
        ));
    }
    let mut states = Vec::new();
    for node in session.nodes() {
        let state = node.chip().save();
        states.extend(state.map_err(|error| Problem::new(error.to_string()))?);
    }
    inputs.push(CheckpointInput::new(INITIAL_STATE, states));
    Ok(inputs)
}

/// Generated traffic.
///
/// # Errors
/// Returns an error if the load cannot be encoded.
pub fn load(load: &Load) -> Result<CheckpointInput, Problem> {
    // By the names of the project file, which stay when a type or field of the library is renamed.
    let text = serde_json::to_vec(load).map_err(|error| Problem::new(error.to_string()))?;
    Ok(CheckpointInput::new(
        "the generated traffic ([load] and its options)",
        text,
    ))
}

/// The chip's whole content at cycle 0; most other inputs change it too.
pub const INITIAL_STATE: &str =
    "what is in the chip at the start (its tables, memories, ports, checks and seed)";

/// Checks that the inputs are unchanged.
///
/// # Errors
/// Returns an error that names those that have changed.
pub fn compare(before: &[CheckpointInput], now: &[CheckpointInput]) -> Result<(), Problem> {
    let find = |list: &[CheckpointInput], what: &str| {
        let found = list.iter().find(|input| input.what == what);
        found.map(|input| input.digest)
    };
    let mut changed = Vec::new();
    for input in before {
        match find(now, &input.what) {
            Some(digest) if digest == input.digest => {}
            Some(_) if input.what == INITIAL_STATE && !changed.is_empty() => {}
            Some(_) => changed.push(format!("{} has changed", input.what)),
            None => changed.push(format!("{} is no longer part of the run", input.what)),
        }
    }
    for input in now {
        if find(before, &input.what).is_none() {
            changed.push(format!("{} is new in the run", input.what));
        }
    }
    let Some((first, others)) = changed.split_first() else {
        return Ok(());
    };
    let mut problem = Problem::new(format!(
        "the run cannot go on, because its inputs have changed: {first}"
    ));
    for other in others {
        problem = problem.note(other.clone());
    }
    Err(problem.help("restore the inputs that the checkpoint was made with, or restart the run"))
}

#[cfg(test)]
mod tests {
    use super::{CheckpointInput, INITIAL_STATE, compare};

    #[test]
    fn changed_inputs_are_named() {
        let one = [
            CheckpointInput::new("the capture `a`", "1"),
            CheckpointInput::new(INITIAL_STATE, "1"),
        ];
        assert!(compare(&one, &one).is_ok());
        let other = [
            CheckpointInput::new("the capture `a`", "2"),
            CheckpointInput::new(INITIAL_STATE, "2"),
        ];
        let problem = compare(&one, &other).unwrap_err();
        assert!(problem.message.ends_with("the capture `a` has changed"));
        assert!(problem.notes.is_empty(), "the start follows from the rest");
        let problem = compare(&one, &[CheckpointInput::new(INITIAL_STATE, "2")]).unwrap_err();
        assert!(problem.message.contains("no longer"), "{problem:?}");
        let problem = compare(&one[..1], &one).unwrap_err();
        assert!(problem.message.contains("is new"), "{problem:?}");
        let problem = compare(&one[1..], &[CheckpointInput::new(INITIAL_STATE, "3")]).unwrap_err();
        assert!(problem.message.contains("tables"), "{problem:?}");
    }
}
