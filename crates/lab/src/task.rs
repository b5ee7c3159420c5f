//! Tasks: processes that run points into one folder, each with a record there of what it was to
//! run and how it ended. Records decide nothing; they say why an outcome is missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim_project::problem::Problem;
use npsim_project::whole_file::write_whole;
use serde::{Deserialize, Serialize};

use crate::fingerprint::hash;
use crate::part::Part;
use crate::points::Point;
use crate::results::CachedPoint;

/// Name of the file format.
const SCHEMA: &str = "npsim-task-1";
/// The version of npsim.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A hash of the sources that the outcomes of points depend on.
pub const MODEL: &str = env!("NPSIM_MODEL");

/// What a process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Which points.
    pub part: Part,
    /// The process in words, such as a job of a cluster with its node.
    pub by: String,
}

/// How a task stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TaskState {
    /// Its points are being run, or it was killed.
    Begun,
    /// The outcomes of all its points were saved.
    Done,
    /// It was asked to end.
    Interrupted,
    /// It ended with a mistake.
    Failed(String),
}

/// What is saved of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskRecord {
    schema: String,
    /// Which points it runs, in words.
    pub part: String,
    /// The process.
    pub by: String,
    /// How many shards there are, if it runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<usize>,
    /// The version of npsim.
    pub version: String,
    /// The hash of its model.
    pub model: String,
    pub state: TaskState,
    /// What each key is the outcome of, whatever the version, the model and the sources.
    pub points: BTreeMap<String, String>,
}

impl TaskRecord {
    /// The record of a task that begins.
    pub fn begun(task: &Task, points: &[CachedPoint]) -> Self {
        let points = points.iter();
        Self {
            schema: SCHEMA.to_owned(),
            part: task.part.to_string(),
            by: task.by.clone(),
            shards: task.part.shards(),
            version: VERSION.to_owned(),
            model: MODEL.to_owned(),
            state: TaskState::Begun,
            points: points
                .map(|cached| (cached.key.clone(), identity(&cached.point)))
                .collect(),
        }
    }

    /// Whether this npsim wrote it.
    pub fn is_of_this_build(&self) -> bool {
        self.version == VERSION && self.model == MODEL
    }
}

/// Names a point among those of its study, whatever its outcome depends on besides.
pub(crate) fn identity(point: &Point) -> String {
    let mut name = hash(
        format!(
            "{}\n{}\n{}",
            point.shown(),
            point.run,
            point.shown_settings().join("\n")
        )
        .as_bytes(),
    );
    name.truncate(16);
    name
}

/// The records in a folder of results.
#[derive(Clone, Debug)]
pub(crate) struct TaskFolder(PathBuf);

impl TaskFolder {
    pub fn of(results: &Path) -> Self {
        Self(results.join("tasks"))
    }

    /// Saves the record of a task, in place of that of an earlier task with its part.
    pub fn put(&self, part: &Part, record: &TaskRecord) -> Result<(), Problem> {
        let Self(folder) = self;
        std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
        let path = folder.join(format!("{}.json", part.file_name()));
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Problem::new(format!("`{}`: {error}", path.display())))?;
        write_whole(&path, (text + "\n").as_bytes())
            .map_err(|error| Problem::io("write", &path, &error))
    }

    /// All records by the names of their files; what is no record is left out.
    pub fn all(&self) -> Vec<TaskRecord> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let records = paths.iter().filter_map(|path| {
            let text = std::fs::read_to_string(path).ok()?;
            serde_json::from_str::<TaskRecord>(&text).ok()
        });
        records.filter(|it| it.schema == SCHEMA).collect()
    }
}
