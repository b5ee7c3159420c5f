//! A slow-path task of your own: the general-purpose core writes a table by a timer,
//! and microcode reads it.
//!
//! ```text
//! cargo run --release -p npsim --example write_a_task
//! ```
//!
//! `npsim.toml` beside this file is a project that has it; `reader.uc` is its microcode. A task that
//! takes packets or polls implements `Task` and `TaskKind`.

use npsim::chip::kernel::row::Row;
use npsim::chip::kernel::trace_event::Level;
use npsim::project::keys::Spanned;
use npsim::project::timer_job::{AfterAccess, KeyMistake, TableAccess, TimerJob};
use npsim::simulation::Ending;
use npsim::system::{System, Traffic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose turn it is: the table has a version and then the numbers 0 to n - 1, which
/// move up by one place each time that the timer goes off.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rotation {
    entries: u32,
    version: u32,
}

/// `[gpp.rotation]`, beside its table and its period.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RotationKeys {
    /// How many entries it has, 1 to 8.
    entries: Spanned<u32>,
}

/// What a trace shows over time.
const VERSION: Level = Level {
    name: "version of the table",
    unit: "writes",
};

impl TimerJob for Rotation {
    const NAME: &'static str = "rotation";
    type Keys = RotationKeys;

    fn new(keys: &RotationKeys) -> Result<Self, KeyMistake> {
        let (entries, version) = (*keys.entries.get_ref(), 0);
        if !(1..=8).contains(&entries) {
            let message = format!("{entries} entries cannot be written in one access");
            return Err(KeyMistake::new(&keys.entries, message, "use 1 to 8"));
        }
        Ok(Self { entries, version })
    }

    fn bytes(&self) -> u32 {
        4 * (1 + self.entries)
    }

    /// A reader that finds the new version finds the new entries: the version is written last.
    fn access(
        &mut self,
        number: u32,
        table: &mut TableAccess<'_, '_>,
    ) -> (&'static str, AfterAccess) {
        if number == 0 {
            let turn = |at| (at + self.version) % self.entries;
            let entries: Vec<u32> = (0..self.entries).map(turn).collect();
            table.write(4, &entries);
            return ("write the entries", AfterAccess::More);
        }
        self.version += 1;
        table.show(VERSION, self.version.into());
        table.write(0, &[self.version]);
        ("publish the version", AfterAccess::Done)
    }

    fn counts(&self) -> Row {
        Row::default().with("writes", self.version)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/write_a_task");
    let registry = npsim::registry().with_timer_job::<Rotation>();
    let system = System::load_custom(folder, &registry)?;
    // The microcode ends with the fifth version, and the timer with it.
    let mut run = system.start(Traffic::None)?;
    assert_eq!(run.finish()?, &Ending::NoEvents);
    let stats = &run.report().nodes[0].chip;
    let row = &stats.gpp.rows.of(Rotation::NAME)[0];
    assert_eq!(row.get("writes"), Some(5));
    let seen = system.define("SEEN").ok_or("no SEEN")?;
    // Version 5 begins with 4 % 4.
    assert_eq!(run.chip().units().scratch.read(seen), Some(0));
    println!("ended at cycle {}", stats.cycles);
    Ok(())
}
