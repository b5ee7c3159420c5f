//! Timer jobs: tasks of the general-purpose core that periodically work on a table.
//!
//! A kind defines its keys and the accesses of a job ([`TimerJob`]). The place of the table, the due
//! times, the cost of accesses and saved states are common to all such kinds and are implemented
//! here. A task that polls, takes packets or works on several memories implements [`Task`] and
//! [`TaskKind`](crate::registry::TaskKind).

use std::fmt::Debug;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::gpp::task::next_time;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use npsim_chip::kernel::trace_event::Level;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use crate::keys::Spanned;
use crate::registry::{PlannedTask, ReadSection, RegisteredKind, Registry};
use crate::resolve::{Resolver, TaskMemory};
use crate::section;
pub use crate::section::KeyMistake;
use crate::toml_errors::KeyError;

/// What comes after an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAccess {
    /// The job's next access.
    More,
    /// Nothing, until the timer expires again.
    Done,
}

/// A kind of timer job, with its state besides the table.
pub trait TimerJob: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name in `tasks` of `[gpp]`, of its section `[gpp.NAME]` and in statistics.
    const NAME: &'static str;
    /// Time from one job to the next if the section does not give it.
    const PERIOD: &'static str = "10us";
    /// Keys of the section besides `table` and `period`; `#[serde(deny_unknown_fields)]` catches
    /// misspelt ones. Their doc comments are the descriptions that editors show.
    type Keys: DeserializeOwned + JsonSchema + Send + Sync;

    /// Returns the name of the kind: [`Self::NAME`], unless kinds are defined only at run time.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// Creates a job of a project.
    ///
    /// # Errors
    /// Returns an error if the keys describe an impossible job.
    fn new(keys: &Self::Keys) -> Result<Self, KeyMistake>;

    /// Returns the size of its table in bytes.
    fn bytes(&self) -> u32;

    /// Makes access `number` of a job, from 0, to the table: one read or write. Simulated time passes
    /// between two accesses. Returns the purpose of the access, and what comes after it.
    fn access(
        &mut self,
        number: u32,
        table: &mut TableAccess<'_, '_>,
    ) -> (&'static str, AfterAccess);

    /// Returns its counts, for statistics.
    fn counts(&self) -> Row {
        Row::default()
    }

    /// Returns its part of the run summary.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// The table of a job, accessed through the core's share of the buses.
pub struct TableAccess<'t, 'a> {
    access: &'t mut Access<'a>,
    table: LongwordAddress,
    /// Cycles that the access takes.
    cost: Cycle,
}

impl TableAccess<'_, '_> {
    /// Reads `count` longwords, at most eight, from a byte offset on.
    pub fn read_words(&mut self, offset: u32, count: usize) -> Vec<u32> {
        let (words, cost) = self.access.read_words(self.table.after(offset), count);
        self.cost += cost;
        words
    }

    /// Reads longwords from a byte offset on.
    pub fn read<const N: usize>(&mut self, offset: u32) -> [u32; N] {
        let (words, cost) = self.access.read(self.table.after(offset));
        self.cost += cost;
        words
    }

    /// Writes longwords from a byte offset on.
    pub fn write(&mut self, offset: u32, words: &[u32]) {
        self.cost += self.access.write(self.table.after(offset), words);
    }

    /// Records a value that traces show over time.
    pub fn show(&mut self, level: Level, value: i64) {
        self.access.trace_level(0, level, value);
    }
}

/// The keys that all kinds have.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimerKeys {
    /// The memory that contains the table.
    table: Spanned<String>,
    /// Time from one job to the next.
    period: Option<Spanned<String>>,
}

const TIMER_KEYS: [&str; 2] = ["table", "period"];

impl Registry {
    /// Adds a kind of timer job to the registry.
    #[must_use]
    pub fn with_timer_job<J: TimerJob>(self) -> Self {
        self.with_timer_job_named(J::NAME, J::new)
    }

    /// Like [`Self::with_timer_job`], for a kind that is defined at run time: `make` makes a job from
    /// a section of this name, and [`TimerJob::name`] of each must return `name`.
    #[must_use]
    pub fn with_timer_job_named<J: TimerJob>(
        self,
        name: &'static str,
        make: impl Fn(&J::Keys) -> Result<J, KeyMistake> + Send + Sync + 'static,
    ) -> Self {
        type Planned = Option<PlannedTask>;
        let make = Arc::new(make);
        let read =
            move |value: toml::Spanned<DeValue<'_>>| -> Result<ReadSection<Planned>, KeyError> {
                let (timer, keys) = section::read::<TimerKeys, J::Keys>(value, &TIMER_KEYS)?;
                let make = Arc::clone(&make);
                Ok(Box::new(move |resolver| match make(keys.get_ref()) {
                    Ok(job) => plan(job, &timer, resolver),
                    Err(mistake) => {
                        mistake.report(resolver);
                        None
                    }
                }))
            };
        self.add_task(RegisteredKind {
            name,
            listed: true,
            runs: false,
            schema: section::schema::<TimerKeys, J::Keys>,
            read: Box::new(read),
        })
    }
}

fn plan<J: TimerJob>(job: J, keys: &TimerKeys, resolver: &mut Resolver<'_>) -> Option<PlannedTask> {
    let memory = TaskMemory::new("table", Some(&keys.table), "");
    let bytes = u64::from(job.bytes());
    let table = resolver.task_memory(&keys.table.span(), &memory, bytes)?;
    let period = resolver.time(keys.period.as_ref(), J::PERIOD);
    Some(PlannedTask {
        text: format!("works on `{}` every {period} cycles", keys.table.get_ref()),
        task: Box::new(Timer {
            job,
            table,
            period,
            due: period,
            number: 0,
        }),
    })
}

/// A job with its timer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "J: TimerJob")]
struct Timer<J> {
    job: J,
    table: LongwordAddress,
    period: Cycle,
    /// Cycle in which the current job was due, or the next one is.
    due: Cycle,
    /// Number of the next access.
    number: u32,
}

impl<J: TimerJob> Task for Timer<J> {
    fn name(&self) -> &'static str {
        self.job.name()
    }

    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        start.check(self.table, self.job.bytes())?;
        Ok(Some(self.due))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        let mut table = TableAccess {
            access,
            table: self.table,
            cost: 0,
        };
        let (what, then) = self.job.access(self.number, &mut table);
        let cost = table.cost;
        let next = match then {
            AfterAccess::More => {
                self.number += 1;
                NextAction::After(cost)
            }
            AfterAccess::Done => {
                self.number = 0;
                self.due = next_time(self.due, self.period, now);
                NextAction::Done {
                    cost,
                    due: self.due,
                }
            }
        };
        (what, next)
    }

    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        vec![self.job.counts()]
    }

    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        self.job.summary().into_iter().collect()
    }

    fn is_compatible_with(&self, saved: &Self) -> bool {
        (self.table, self.period, self.job.bytes())
            == (saved.table, saved.period, saved.job.bytes())
    }
}
