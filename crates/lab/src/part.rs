//! A part of the points, for runs on several machines that share a folder: a shard or a single
//! point.
//!
//! Points are assigned to shards by their inputs alone, so every machine computes the same
//! assignment. The contents of the store have no influence: a restarted shard has the same
//! points as before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use npsim_chip::Cycle;
use npsim_project::problem::Problem;

use crate::points::Point;
use crate::results::CachedPoint;

/// Maximum number of shards.
pub const MAX_SHARDS: usize = 100_000;

/// One of several shards of all points, of about equal cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The shard's number, from 1.
    number: usize,
    /// The number of shards.
    of: usize,
}

impl Shard {
    /// Creates shard `number` of `of`.
    ///
    /// # Errors
    /// Returns an error if there is no such shard.
    pub fn new(number: usize, of: usize) -> Result<Self, String> {
        if of == 0 || of > MAX_SHARDS {
            return Err(format!(
                "points can be divided into 1 to {MAX_SHARDS} shards, not into {of}"
            ));
        }
        if number == 0 || number > of {
            return Err(format!("the shards are 1/{of} to {of}/{of}"));
        }
        Ok(Self { number, of })
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            let number = number.trim().parse().ok()?;
            Some((number, of.trim().parse().ok()?))
        });
        let (number, of) =
            numbers.ok_or("a shard is given as K/N, such as 2/8 for the second of eight")?;
        Self::new(number, of)
    }
}

/// The points to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    #[default]
    Whole,
    /// One shard.
    Shard(Shard),
    /// One point, given by its number or its key.
    Point(String),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => write!(f, "the run of all points"),
            Self::Shard(Shard { number, of }) => write!(f, "shard {number}/{of}"),
            Self::Point(point) => write!(f, "the run of point {point}"),
        }
    }
}

impl Part {
    /// The number of shards, if the part is a shard.
    #[must_use]
    pub fn shards(&self) -> Option<usize> {
        match self {
            Self::Shard(shard) => Some(shard.of),
            Self::Whole | Self::Point(_) => None,
        }
    }

    /// The part's name in file names.
    pub(crate) fn file_name(&self) -> String {
        match self {
            Self::Whole => "whole".to_owned(),
            Self::Shard(Shard { number, of }) => format!("shard-{number}-of-{of}"),
            Self::Point(point) => format!("point-{point}"),
        }
    }

    /// Returns the points whose keys are needed to find the points of the part.
    ///
    /// # Errors
    /// Returns an error if no point has the number.
    pub(crate) fn candidates(&self, mut points: Vec<Point>) -> Result<Vec<Point>, Problem> {
        let Self::Point(wanted) = self else {
            return Ok(points);
        };
        // A key can consist of digits alone, but it is longer than any point number.
        let number = wanted.parse::<usize>().ok().filter(|_| wanted.len() < 9);
        if let Some(number) = number {
            let count = points.len();
            points.retain(|point| point.number == number);
            if points.is_empty() {
                return Err(no_point(wanted, count));
            }
        }
        Ok(points)
    }

    /// Selects the points of the part from its [candidates](Self::candidates).
    ///
    /// # Errors
    /// Returns an error if no point has the key.
    pub(crate) fn select(&self, mut points: Vec<CachedPoint>) -> Result<Vec<CachedPoint>, Problem> {
        match self {
            Self::Whole => {}
            Self::Shard(shard) => {
                let mut dealt = assign_shards(&points, shard.of).into_iter();
                points.retain(|_| dealt.next() == Some(shard.number));
            }
            Self::Point(wanted) if points.len() > 1 => {
                let found = points.iter().position(|cached| cached.key == *wanted);
                let found = found.ok_or_else(|| no_point(wanted, points.len()))?;
                points = vec![points.swap_remove(found)];
            }
            // Already selected by number, or a single point that may have the requested key.
            Self::Point(wanted) => {
                let fits = |cached: &CachedPoint| {
                    cached.key == *wanted || cached.point.number.to_string() == *wanted
                };
                if !points.iter().any(fits) {
                    return Err(no_point(wanted, points.len()));
                }
            }
        }
        Ok(points)
    }
}

fn no_point(wanted: &str, count: usize) -> Problem {
    Problem::new(format!("there is no point `{wanted}`")).help(format!(
        "the points are 1 to {count}; `--list` shows them, and with `--format json` their keys"
    ))
}

/// Assigns each point to a shard and returns the shards' numbers. The most expensive runs come
/// first, each going to the shard with the least load so far; points that share a run or a key
/// stay together.
#[must_use]
pub fn assign_shards(points: &[CachedPoint], shards: usize) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let different: Vec<&CachedPoint> = points
        .iter()
        .filter(|cached| seen.insert(&cached.key))
        .collect();
    let mut runs = together(&different);
    let name = |run: &[&CachedPoint]| run.first().map(|first| first.key.clone());
    runs.sort_by_cached_key(|run| (std::cmp::Reverse(cost(run)), name(run)));
    let mut loads: BTreeSet<(u128, usize)> = (1..=shards).map(|number| (0, number)).collect();
    let mut dealt: BTreeMap<&str, usize> = BTreeMap::new();
    for run in &runs {
        let Some((load, number)) = loads.pop_first() else {
            break;
        };
        // Starting a run costs something even if it simulates no cycles.
        loads.insert((load + u128::from(cost(run).max(1)), number));
        dealt.extend(run.iter().map(|cached| (cached.key.as_str(), number)));
    }
    let shard_of = |cached: &CachedPoint| dealt.get(cached.key.as_str()).copied();
    points.iter().map(|it| shard_of(it).unwrap_or(1)).collect()
}

/// Groups points that share a run, in the order of their first points.
pub(crate) fn together<'a>(points: &[&'a CachedPoint]) -> Vec<Vec<&'a CachedPoint>> {
    let mut runs: Vec<Vec<&CachedPoint>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for cached in points {
        let Some(run) = &cached.run else {
            runs.push(vec![cached]);
            continue;
        };
        let at = *known.entry(run).or_insert(runs.len());
        match runs.get_mut(at) {
            Some(run) => run.push(cached),
            None => runs.push(vec![cached]),
        }
    }
    runs
}

/// The number of runs that the points take.
#[must_use]
pub fn runs(points: &[CachedPoint]) -> usize {
    let names = points.iter().map(CachedPoint::run_name);
    names.collect::<BTreeSet<_>>().len()
}

/// The cost of a run: that of its longest point.
pub(crate) fn cost(run: &[&CachedPoint]) -> Cycle {
    run.iter().map(|cached| cached.cycles).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{CachedPoint, Part, Point, Shard, assign_shards};
    use crate::study::SubjectKind;

    fn point(number: usize, cycles: u64, run: Option<&str>) -> CachedPoint {
        CachedPoint {
            point: Point {
                number,
                sweep: "s".into(),
                coordinates: Vec::new(),
                settings: Vec::new(),
                trace: None,
                seed: None,
                hops: None,
                kind: SubjectKind::Chip,
                window: None,
                run: 0,
            },
            key: format!("key{number}"),
            chip: None,
            cycles,
            run: run.map(str::to_owned),
        }
    }

    #[test]
    fn shards_are_balanced_and_keep_runs_together() {
        let mut points: Vec<_> = [50, 10, 10, 10, 10, 10].into_iter().zip(1..).collect();
        let points: Vec<_> = points
            .drain(..)
            .map(|(cycles, number)| point(number, cycles, None))
            .collect();
        assert_eq!(assign_shards(&points, 2), [1, 2, 2, 2, 2, 2]);
        let shared: Vec<_> = (1..=4).map(|it| point(it, 7, Some("one"))).collect();
        let mut all = shared;
        all.push(point(5, 8, None));
        // A shared run counts once.
        assert_eq!(assign_shards(&all, 2), [2, 2, 2, 2, 1]);
        assert_eq!(assign_shards(&all, 7), [2, 2, 2, 2, 1], "some stay empty");
    }

    #[test]
    fn sharding_is_independent_of_point_order() {
        let points: Vec<_> = (1..40).map(|it| point(it, (it % 5) as u64, None)).collect();
        let mut turned = points.clone();
        turned.reverse();
        let mut dealt = assign_shards(&turned, 6);
        dealt.reverse();
        assert_eq!(assign_shards(&points, 6), dealt);
        for number in 1..=6 {
            assert!(dealt.contains(&number));
        }
    }

    #[test]
    fn points_with_equal_keys_share_a_shard() {
        let mut points: Vec<_> = (1..5).map(|it| point(it, 9, None)).collect();
        points[3].key = points[0].key.clone();
        let dealt = assign_shards(&points, 3);
        assert_eq!(dealt[0], dealt[3]);
    }

    #[test]
    fn shard_arguments_are_parsed() {
        assert_eq!("2/4".parse(), Shard::new(2, 4));
        for (text, why) in [
            ("5/4", "1/4 to 4/4"),
            ("0/4", "1/4 to 4/4"),
            ("1/0", "not into 0"),
            ("x", "K/N"),
            ("1/", "K/N"),
            ("-1/4", "K/N"),
            ("1/99999999", "100000"),
            ("99999999999999999999999/4", "K/N"),
        ] {
            let said = text.parse::<Shard>().unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
        let part = Part::Shard(Shard::new(2, 4).unwrap());
        assert_eq!(part.to_string(), "shard 2/4");
    }
}
