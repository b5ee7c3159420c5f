//! What the user of an analysis has set.

use std::path::PathBuf;

/// Where sources and projects are looked for beside the folders of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Folders for `#include`, for sources of no project.
    pub include: Vec<PathBuf>,
    /// A project file, or the folder of one, that counts wherever it is.
    pub project: Option<PathBuf>,
    /// The profile of a run, as `npsim run --profile=FILE.json` writes it.
    pub profile: Option<PathBuf>,
}
