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
    /// What executes the microcode: `engine`, or `reference`, which is written to be read and gives the same bytes several times slower, but for the words of a fault
    ///
    /// The reference executes one instruction at a time, at its own cycle, and shares
    /// no code with the engine. A run whose results differ between the two shows a
    /// mistake in one of them. A checkpoint goes on with the core that wrote it.
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
    /// Go on where this check would stop the run (`npsim checks` lists them); may be repeated
    #[arg(long, value_name = "CHECK", value_parser = parser::<Check>())]
    pub allow: Vec<Check>,
    /// Begin `PSEUDO_RANDOM_NUMBER` of each microengine with a value made from N, not with 1
    ///
    /// The same N gives the same run; another N gives firmware that draws random
    /// numbers other ones, and makes other traffic of the same kind.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub core: CoreOption,
    /// Simulate also the time in which nothing happens but what has just happened
    ///
    /// When contexts poll and nothing comes, the state of the chip recurs, and the run
    /// goes to the next frame, timer or end in one step. The results are the same in
    /// every byte with and without it.
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
