//! Points whose outcomes are missing, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use npsim_project::problem::Problem;

use crate::part;
use crate::results::CachedPoint;
use crate::store::Store;
use crate::task::{MODEL, TaskFolder, TaskRecord, TaskState, VERSION, identity};

/// Number of digits shown of a model's hash.
const SHOWN_DIGITS: usize = 12;

/// The problem that some of the points have not run.
pub(crate) fn missing(
    results: &Path,
    store: &Store,
    points: &[CachedPoint],
    gone: &[&CachedPoint],
) -> Problem {
    let records = TaskFolder::of(results).all();
    let index = RecordIndex::new(&records, points);
    let mut reasons: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for cached in gone {
        let why = index.why(cached, store);
        reasons.entry(why).or_default().push(cached.point.number);
    }
    let numbers: Vec<usize> = gone.iter().map(|cached| cached.point.number).collect();
    let mut problem = Problem::new(format!(
        "{} of {} points were not run yet: {}",
        gone.len(),
        points.len(),
        shown(&numbers)
    ));
    for (why, numbers) in reasons {
        let word = if numbers.len() == 1 {
            "point"
        } else {
            "points"
        };
        problem = problem.note(format!("{word} {}: {why}", shown(&numbers)));
    }
    problem.help(format!(
        "run each with `--point N --out {0}`, a shard with `--shard K/N --out {0}`, or all of them without \
         `--merge`; what is saved is passed over",
        results.display()
    ))
}

/// Records of tasks, indexed by the points that they were to run.
struct RecordIndex<'a> {
    /// Records of this build, by key.
    here: BTreeMap<&'a str, Vec<&'a TaskRecord>>,
    /// All records, by the identity of the point, with the key that it had.
    points: BTreeMap<&'a str, Vec<(&'a str, &'a TaskRecord)>>,
    /// The number of shards that this build split the points into, with the
    /// shard of each.
    shards: Option<(usize, BTreeMap<&'a str, usize>)>,
}

impl<'a> RecordIndex<'a> {
    fn new(records: &'a [TaskRecord], points: &'a [CachedPoint]) -> Self {
        let mut index = Self {
            here: BTreeMap::new(),
            points: BTreeMap::new(),
            shards: None,
        };
        let mut counts = BTreeSet::new();
        for record in records {
            for (key, point) in &record.points {
                index.points.entry(point).or_default().push((key, record));
                if record.is_from_this_build() {
                    index.here.entry(key).or_default().push(record);
                }
            }
            counts.extend(record.shards.filter(|_| record.is_from_this_build()));
        }
        // If tasks used different numbers of shards, the intended number is
        // unknown.
        if let (1, Some(&shards)) = (counts.len(), counts.first()) {
            let dealt = part::assign_shards(points, shards.clamp(1, part::MAX_SHARDS));
            let keys = points.iter().map(|cached| cached.key.as_str());
            index.shards = Some((shards, keys.zip(dealt).collect()));
        }
        index
    }

    fn why(&self, cached: &CachedPoint, store: &Store) -> String {
        if store.path(&cached.key).exists() {
            return "its file in `points` is damaged, or of another format".to_owned();
        }
        let key = cached.key.as_str();
        if let Some(record) = self
            .here
            .get(key)
            .and_then(|records| most_informative(records))
        {
            let task = match &*record.by {
                "" => record.part.clone(),
                by => format!("{} ({by})", record.part),
            };
            return match &record.state {
                TaskState::Begun => {
                    format!("{task} began and has not ended: killed, or still running")
                }
                TaskState::Done => format!("{task} saved it, and its file was removed since"),
                TaskState::Interrupted => format!("{task} was interrupted"),
                TaskState::Failed(why) => format!("{task} failed: {why}"),
            };
        }
        let identity = identity(&cached.point);
        let before = self.points.get(&*identity).into_iter().flatten();
        let mut saved = before.filter(|(key, _)| store.path(key).exists());
        if let Some((_, record)) = saved.next_back() {
            return other_inputs(record);
        }
        match &self.shards {
            Some((shards, dealt)) => {
                let number = dealt.get(key).copied().unwrap_or(1);
                format!("shard {number}/{shards} was never started")
            }
            None => "never run".to_owned(),
        }
    }
}

/// Returns the most informative of the records of tasks that were to run a
/// point.
fn most_informative<'a>(records: &[&'a TaskRecord]) -> Option<&'a TaskRecord> {
    let rank = |record: &&TaskRecord| match record.state {
        TaskState::Failed(_) => 0,
        TaskState::Begun => 1,
        TaskState::Interrupted => 2,
        TaskState::Done => 3,
    };
    records.iter().copied().min_by_key(rank)
}

/// Why a point that has run has a different key now.
fn other_inputs(record: &TaskRecord) -> String {
    let digits = |model: &str| model.chars().take(SHOWN_DIGITS).collect::<String>();
    if record.version != VERSION {
        format!("run by npsim {}; this is npsim {VERSION}", record.version)
    } else if record.model != MODEL {
        format!(
            "run by npsim with another model, {}; that of this npsim is {}",
            digits(&record.model),
            digits(MODEL)
        )
    } else {
        "run before something that it reads was changed: a source, a project, a capture, the window, or the metrics"
            .to_owned()
    }
}

/// Numbers in ascending order; runs of more than three as `1-40`.
fn shown(numbers: &[usize]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let rows = sorted.chunk_by(|one, next| one + 1 == *next);
    let texts = rows.flat_map(|row| match row {
        [first, _, _, .., last] if row.len() > 3 => vec![format!("{first}-{last}")],
        _ => row.iter().map(ToString::to_string).collect(),
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn consecutive_numbers_are_shown_as_ranges() {
        assert_eq!(super::shown(&[1, 2, 3]), "1, 2, 3");
        assert_eq!(super::shown(&[9, 1, 2, 3, 4, 6]), "1-4, 6, 9");
    }
}
