//! Options of the commands that assemble a whole target without further changes.

use std::path::Path;

use clap::Args;
use npsim::assemble::{Program, assemble_project_from};
use npsim::files::Disk;
use npsim::problem::Problems;
use npsim::project::Project;

use super::message_options::MessageOptions;
use super::source_options::SourceOptions;

/// Settings over the project, and the treatment of messages.
#[derive(Debug, Args)]
pub struct TargetOptions {
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
}

/// An assembled target.
pub struct Assembled {
    /// The project.
    pub project: Project,
    /// The programs, unless there were errors or no instruction.
    pub programs: Option<Vec<Program>>,
    /// The number of errors reported.
    pub errors: usize,
}

impl TargetOptions {
    /// Reads and assembles a target, and shows the assembler's messages.
    ///
    /// # Errors
    /// Returns an error if there are mistakes in the project.
    pub fn assemble(&self, target: &Path) -> Result<Assembled, Problems> {
        let overrides = self.source.overrides(None);
        let project = Project::load(target, &overrides, &npsim::registry())?;
        let (programs, messages) = assemble_project_from(&Disk, &project, &self.messages.lints());
        self.messages.show(&messages);
        Ok(Assembled {
            project,
            programs,
            errors: messages.errors,
        })
    }
}
