//! Timer jobs: tasks of the general-purpose core that work on a table again and again.
//!
//! A kind says which keys it has and which accesses a job makes ([`TimerJob`]). Where the table
//! lies, when jobs are due, what an access costs and saved states are the same for all such kinds
//! and come from here. A task that polls, takes packets or works on several memories implements
//! [`Task`] and [`TaskKind`](crate::registry::TaskKind).

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

/// What follows an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAccess {
    /// The job's next access.
    More,
    /// The job rests until the timer goes off again.
    Done,
}

/// A kind of timer job, and what one has besides its table.
pub trait TimerJob: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name in `tasks` of `[gpp]`, of its section `[gpp.NAME]` and in statistics.
    const NAME: &'static str;
    /// Time from one job to the next where the section does not say it.
    const PERIOD: &'static str = "10us";
    /// The keys of the section besides `table` and `period`; `#[serde(deny_unknown_fields)]`
    /// finds what is misspelt. Their texts are what editors say of them.
    type Keys: DeserializeOwned + JsonSchema + Send + Sync;

    /// The name of its kind: [`Self::NAME`], unless kinds are known only when the program runs.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// A job of a project.
    ///
    /// # Errors
    /// The keys ask for none that there can be.
    fn new(keys: &Self::Keys) -> Result<Self, KeyMistake>;

    /// Bytes of its table.
    fn bytes(&self) -> u32;

    /// Makes the access `number` of a job, from 0, to the table: one read or write. Between two
    /// of them simulated time passes. Gives what it is for, and what follows.
    fn access(
        &mut self,
        number: u32,
        table: &mut TableAccess<'_, '_>,
    ) -> (&'static str, AfterAccess);

    /// What it has counted, for statistics.
    fn counts(&self) -> Row {
        Row::default()
    }

    /// What the summary of a run says of it.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// The table of a job, through the core's share of the buses.
pub struct TableAccess<'t, 'a> {
    access: &'t mut Access<'a>,
    table: LongwordAddress,
    /// Cycles that the access takes.
    cost: Cycle,
}

impl TableAccess<'_, '_> {
    /// So many longwords, at most eight, from a byte offset on.
    pub fn read_words(&mut self, offset: u32, count: usize) -> Vec<u32> {
        let (words, cost) = self.access.read_words(self.table.after(offset), count);
        self.cost += cost;
        words
    }

    /// The longwords from a byte offset on.
    pub fn read<const N: usize>(&mut self, offset: u32) -> [u32; N] {
        let (words, cost) = self.access.read(self.table.after(offset));
        self.cost += cost;
        words
    }

    /// Writes longwords from a byte offset on.
    pub fn write(&mut self, offset: u32, words: &[u32]) {
        self.cost += self.access.write(self.table.after(offset), words);
    }

    /// A value that traces show over time.
    pub fn show(&mut self, level: Level, value: i64) {
        self.access.tell(0, level, value);
    }
}

/// The keys that all kinds have.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimerKeys {
    /// The memory that the table is in.
    table: Spanned<String>,
    /// Time from one job to the next.
    period: Option<Spanned<String>>,
}

const TIMER_KEYS: [&str; 2] = ["table", "period"];

impl Registry {
    /// The registry with one more kind of timer job.
    #[must_use]
    pub fn with_timer_job<J: TimerJob>(self) -> Self {
        self.with_timer_job_named(J::NAME, J::new)
    }

    /// As [`Self::with_timer_job`], of a kind that is known when the program runs: `make` makes a job
    /// of a section of this name, and [`TimerJob::name`] of each is `name`.
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
    /// When the present job was due, or the next one is.
    due: Cycle,
    /// The access that comes next.
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

    fn is_like(&self, saved: &Self) -> bool {
        (self.table, self.period, self.job.bytes())
            == (saved.table, saved.period, saved.job.bytes())
    }
}
