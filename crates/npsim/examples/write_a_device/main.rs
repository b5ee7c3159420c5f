//! A look-aside device of your own: a ternary content-addressable memory (TCAM) on an
//! SRAM channel, which microcode fills and asks.
//!
//! ```text
//! cargo run --release -p npsim --example write_a_device
//! ```
//!
//! `npsim.toml` beside this file is a project that has one; `lookup.uc` is its microcode. The
//! window of such a device, its place in saved states and its part of the statistics come from
//! [`LookAside`]; one with a window of another shape implements `Device` and `DeviceKind`.

use std::error::Error;

use npsim::chip::Cycle;
use npsim::chip::kernel::row::Row;
use npsim::project::keys::Spanned;
use npsim::project::look_aside::{KeyMistake, LookAside, LookAsideAnswer};
use npsim::simulation::Ending;
use npsim::system::{System, Traffic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longwords of an entry: value, mask, result, nothing.
const ENTRY: u32 = 4;
const MAX_ENTRIES: u32 = 128;
/// The answer if nothing matches.
const MISS: u32 = u32::MAX;

/// The device, but for its table. The derived traits copy, save and restore it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tcam {
    entries: u32,
    /// Cycles that a search takes.
    cycles: Cycle,
    searches: u64,
    hits: u64,
}

/// `[tcam]`, or `[[tcam]]` for several. `Spanned` keeps where a key stands, so that
/// mistakes can be shown there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TcamKeys {
    /// How many entries it has.
    entries: Spanned<u32>,
    /// Cycles that a search takes; 12 if not given.
    cycles: Option<Cycle>,
}

impl LookAside for Tcam {
    const NAME: &'static str = "tcam";
    type Keys = TcamKeys;

    fn new(keys: &TcamKeys) -> Result<Self, KeyMistake> {
        let entries = *keys.entries.get_ref();
        if !(1..=MAX_ENTRIES).contains(&entries) {
            let message = format!("a TCAM of {entries} entries is not possible");
            let help = format!("use 1 to {MAX_ENTRIES}");
            return Err(KeyMistake::new(&keys.entries, message, help));
        }
        Ok(Self {
            entries,
            cycles: keys.cycles.unwrap_or(12),
            searches: 0,
            hits: 0,
        })
    }

    fn longwords(&self) -> u32 {
        ENTRY * self.entries
    }

    /// The first entry counts whose mask is not zero and that matches.
    fn answer(&mut self, table: &[u32], key: u32) -> LookAsideAnswer {
        let mut entries = table.chunks_exact(ENTRY as usize);
        let found = entries.find(|entry| entry[1] != 0 && (key ^ entry[0]) & entry[1] == 0);
        self.searches += 1;
        self.hits += u64::from(found.is_some());
        LookAsideAnswer {
            value: found.map_or(MISS, |entry| entry[2]),
            cycles: self.cycles,
        }
    }

    fn counts(&self) -> Row {
        Row::default()
            .with("searches", self.searches)
            .with("hits", self.hits)
    }

    fn summary(&self) -> Option<String> {
        let misses = self.searches - self.hits;
        Some(format!("{} searches, {misses} misses", self.searches))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/write_a_device");
    let registry = npsim::registry().with_look_aside::<Tcam>();
    let system = System::load_custom(folder, &registry)?;
    let mut run = system.start(Traffic::None)?;
    assert_eq!(run.finish()?, &Ending::NoEvents);

    // What the microcode kept: the longer prefix, the shorter one, a miss.
    let address = system.define("ANSWERS").ok_or("no ANSWERS")?;
    let scratch = &run.chip().units().scratch;
    let answers = [0, 4, 8].map(|offset| scratch.read(address + offset));
    assert_eq!(answers, [Some(7), Some(3), Some(MISS)]);

    let stats = &run.report().nodes[0].chip;
    let tcam = stats.devices.of(Tcam::NAME).ok_or("no TCAM")?;
    assert_eq!(tcam.counts.get("searches"), Some(3));
    assert_eq!(tcam.counts.get("hits"), Some(2));
    println!("{}", tcam.summary.join("\n"));
    println!("ended at cycle {}", stats.cycles);
    Ok(())
}
