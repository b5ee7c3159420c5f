//! User settings of an analysis.

use std::path::PathBuf;

/// Where to look for sources and projects besides the folders of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Folders for `#include`, for sources that do not belong to a project.
    pub include: Vec<PathBuf>,
    /// A project file, or its folder, that is used wherever it is.
    pub project: Option<PathBuf>,
    /// The profile of a run, as written by `npsim run --profile=FILE.json`.
    pub profile: Option<PathBuf>,
}
