//! Options of all commands that run a chip: the core, the seed, and the checks to ignore.

use std::str::FromStr;

use clap::Args;
use npsim::simulation::RunSettings;
use npsim_chip::core::CoreKind;
use npsim_chip::kernel::check::Check;
use npsim_engine::ENGINE;
use npsim_reference::REFERENCE;

use crate::cmd::value::parser;

/// The cores that `--core` can select.
const CORES: [CoreKind; 2] = [ENGINE, REFERENCE];

/// A core by its name.
#[derive(Clone, Copy, Debug)]
pub struct Core(pub CoreKind);

impl FromStr for Core {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = CORES.into_iter().find(|core| core.name == name);
        found.map(Self).ok_or_else(|| {
            let names = CORES.map(|core| format!("`{}`", core.name)).join(" and ");
            format!("there is no core `{name}`; the cores are {names}")
        })
    }
}

/// `--core`.
#[derive(Debug, Args)]
pub struct CoreOption {
    /// Core that executes the microcode: `engine`, or `reference`, which is written for readability and gives identical results several times slower, except for the wording of faults
    ///
    /// The reference executes one instruction at a time, at its own cycle, and shares
    /// no code with the engine. Any difference between their results is a bug
    /// in one of them. A checkpoint can only be resumed with the core that wrote it.
    #[arg(long, value_name = "NAME", default_value = "engine", value_parser = parser::<Core>())]
    core: Core,
}

impl CoreOption {
    /// The core.
    pub fn kind(&self) -> CoreKind {
        self.core.0
    }
}

/// `--allow`, `--seed`, `--core`, `--no-skip`.
#[derive(Debug, Args)]
pub struct MachineOptions {
    /// Continue where this check would stop the run (`npsim checks` lists the checks); may be repeated
    #[arg(long, value_name = "CHECK", value_parser = parser::<Check>())]
    pub allow: Vec<Check>,
    /// Begin `PSEUDO_RANDOM_NUMBER` of each microengine at a value derived from N instead of at 1
    ///
    /// The same N gives the same run; another N gives firmware different random
    /// numbers, and generates different traffic of the same kind.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub core: CoreOption,
    /// Simulate recurring idle time cycle by cycle instead of skipping it
    ///
    /// When contexts poll and nothing arrives, the state of the chip recurs, and the run
    /// skips to the next frame, timer or end in one step. The results are identical byte
    /// for byte either way.
    #[arg(long)]
    pub no_skip: bool,
}

impl MachineOptions {
    /// The settings of a run without an end, from these options.
    pub fn settings(&self) -> RunSettings {
        RunSettings {
            allow: self.allow.clone(),
            seed: self.seed,
            no_skip: self.no_skip,
            ..RunSettings::new(self.core.kind())
        }
    }
}
