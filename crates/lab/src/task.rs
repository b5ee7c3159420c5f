//! Tasks: processes that run points into one folder. Each leaves a record there of what it was
//! to run and how it ended. Records influence no result; they explain why an outcome is
//! missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim_project::atomic_file::write_atomically;
use npsim_project::problem::Problem;
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

/// The work of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The points to run.
    pub part: Part,
    /// A description of the process, such as a cluster job and its node.
    pub by: String,
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TaskState {
    /// Its points are running, or it was killed.
    Begun,
    /// The outcomes of all its points were saved.
    Done,
    /// The user interrupted it.
    Interrupted,
    /// It failed with this message.
    Failed(String),
}

/// The saved record of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskRecord {
    schema: String,
    /// A description of the points that it runs.
    pub part: String,
    /// A description of the process.
    pub by: String,
    /// The number of shards, if it runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<usize>,
    /// The version of npsim.
    pub version: String,
    /// The hash of its model.
    pub model: String,
    pub state: TaskState,
    /// The point of each key, identified independently of the version, the model and the
    /// sources.
    pub points: BTreeMap<String, String>,
}

impl TaskRecord {
    /// The record of a task that starts.
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

    /// Whether this build of npsim wrote it.
    pub fn is_from_this_build(&self) -> bool {
        self.version == VERSION && self.model == MODEL
    }
}

/// Identifies a point within its study, independently of what else its outcome depends on.
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

/// The records in a results folder.
#[derive(Clone, Debug)]
pub(crate) struct TaskFolder(PathBuf);

impl TaskFolder {
    pub fn of(results: &Path) -> Self {
        Self(results.join("tasks"))
    }

    /// Saves the record of a task, replacing that of an earlier task with the same part.
    pub fn put(&self, part: &Part, record: &TaskRecord) -> Result<(), Problem> {
        let Self(folder) = self;
        std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
        let path = folder.join(format!("{}.json", part.file_name()));
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Problem::new(format!("`{}`: {error}", path.display())))?;
        write_atomically(&path, (text + "\n").as_bytes())
            .map_err(|error| Problem::io("write", &path, &error))
    }

    /// Returns all records, ordered by file name; files that are not records are skipped.
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
