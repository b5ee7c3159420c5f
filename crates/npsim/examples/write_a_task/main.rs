//! A slow-path task of your own: the general-purpose core writes a table by a timer,
//! and microcode reads it.
//!
//! ```text
//! cargo run --release --example write_a_task
//! ```
//!
//! A task is three things, all in this file: what it does on the chip ([`Rotation`], a
//! `Task`), what a project says about it ([`RotationSection`] and [`RotationKind`]),
//! and one line that puts it into the registry (in `main`). `npsim.toml` beside this
//! file is a project that has it; `reader.uc` is its microcode.

use std::error::Error;
use std::path::Path;

use npsim::chip::Cycle;
use npsim::chip::gpp::task::next_time;
use npsim::chip::gpp::{Access, LoadError, Memories, Next, Place, Start, Task};
use npsim::chip::kernel::row::Row;
use npsim::chip::kernel::trace_event::Level;
use npsim::files::Disk;
use npsim::project::Overrides;
use npsim::project::keys::Spanned;
use npsim::project::registry::{PlannedTask, TaskKind};
use npsim::project::resolve::{Memory, Resolver};
use npsim::simulation::Ending;
use npsim::system::{System, Traffic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose turn it is: the table has a version and then the numbers 0 to n - 1, which
/// move up by one place each time that the timer goes off.
///
/// The four derived traits are all that copying, saving and restoring a chip needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rotation {
    table: Place,
    entries: u32,
    period: Cycle,
    /// When the timer goes off next.
    due: Cycle,
    /// How often it has.
    version: u32,
    step: Step,
}

/// A job is a sequence of accesses. Between two of them simulated time passes, so what
/// comes next has to be kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Step {
    Entries,
    Version,
}

/// What a trace shows over time.
const VERSION: Level = Level {
    name: "version of the table",
    unit: "writes",
};

impl Task for Rotation {
    fn name(&self) -> &'static str {
        RotationKind::NAME
    }

    /// Before the first cycle: is the memory there? When does the first job begin?
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        start.check(self.table, 4 * (1 + self.entries))?;
        Ok(Some(self.due))
    }

    /// One access: what it is for, and what follows. `access.write` books the core's
    /// share of the bus and of the memory and says how long that takes.
    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, Next) {
        match self.step {
            Step::Entries => {
                let turn = |at| (at + self.version) % self.entries;
                let entries: Vec<u32> = (0..self.entries).map(turn).collect();
                self.step = Step::Version;
                let cost = access.write(self.table.after(4), &entries);
                ("write the entries", Next::After(cost))
            }
            // Who sees the new version finds the new entries.
            Step::Version => {
                self.version += 1;
                self.step = Step::Entries;
                access.tell(0, VERSION, self.version.into());
                let cost = access.write(self.table, &[self.version]);
                self.due = next_time(self.due, self.period, access.now());
                let due = self.due;
                ("publish the version", Next::Done { cost, due })
            }
        }
    }

    /// `gpp.rotation` of the statistics.
    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        vec![
            Row::default()
                .with("entries", self.entries)
                .with("writes", self.version),
        ]
    }

    /// A line of the summary.
    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        vec![format!(
            "{} entries written {} times",
            self.entries, self.version
        )]
    }
}

/// `[gpp.rotation]`. `Spanned` keeps where a key stands, so that mistakes can be
/// shown there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RotationSection {
    /// The memory that the table is in.
    table: Spanned<String>,
    /// How many entries it has, 1 to 8.
    entries: Spanned<u32>,
    /// Time from one write to the next; `10us` if not given.
    period: Option<Spanned<String>>,
}

struct RotationKind;

impl TaskKind for RotationKind {
    const NAME: &'static str = "rotation";
    type Keys = RotationSection;

    fn resolve(
        &self,
        section: &Spanned<RotationSection>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let keys = section.get_ref();
        let entries = *keys.entries.get_ref();
        if !(1..=8).contains(&entries) {
            resolver.fail(
                keys.entries.span(),
                format!("a table of {entries} entries cannot be written in one access"),
                "",
                "use 1 to 8",
            );
            return None;
        }
        let memory = Memory::new("table", Some(&keys.table), "");
        let table = resolver.task_memory(&section.span(), &memory, 4 * u64::from(1 + entries))?;
        let period = resolver.time(keys.period.as_ref(), "10us");
        Some(PlannedTask {
            text: format!("{entries} entries, written every {period} cycles"),
            task: Box::new(Rotation {
                table,
                entries,
                period,
                due: period,
                version: 0,
                step: Step::Entries,
            }),
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The one line: what npsim brings, and the new kind.
    let registry = npsim::registry().with_task(RotationKind);

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/write_a_task");
    let system = System::load_with(&Disk, folder, &Overrides::default(), &registry)?;
    println!("planned      {}", system.project().tasks.join("; "));

    // The microcode ends with the fifth version, and the timer with it.
    let mut run = system.start(Traffic::None)?;
    assert_eq!(run.finish()?, &Ending::NoEvents);
    let stats = &run.report().nodes[0].chip;
    let writes = stats.gpp.rows.of(RotationKind::NAME)[0].get("writes");
    assert_eq!(writes, Some(5));
    let seen = system.define("SEEN").ok_or("no SEEN")?;
    let word = run.chip().units().scratch.read(seen);
    assert_eq!(word, Some(0), "version 5 begins with 4 % 4");
    for task in &stats.gpp.tasks {
        println!("{:<12} {}", task.name, task.summary.join("; "));
    }
    println!("ended at cycle {}", stats.cycles);
    Ok(())
}
