//! Programs that take their operands from memory and leave their results there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_chip::chip::Chip;
use npsim_chip::gpp::boot::{MemoryImage, Space};
use proptest::prelude::*;

use crate::remarks::assembled_without_messages;
use npsim_systems::names;
use npsim_systems::project::load;
use npsim_systems::quiet::run_to_end;

/// Cycles after which a run is stopped: no program here needs half of them.
const LATEST: u64 = 400_000_000;

/// Longwords of a case's input and of its output.
pub type Words = [u32; 8];

/// A program of this folder on a chip.
pub struct Program<'a> {
    /// File name without `.uc`.
    pub name: &'a str,
    /// Microengines that run it.
    pub ids: &'a str,
    /// Additions to the project file.
    pub project: &'a str,
    /// Names for the source.
    pub defines: &'a [(&'a str, String)],
}

impl<'a> Program<'a> {
    pub const fn new(name: &'a str) -> Self {
        Self {
            name,
            ids: "0",
            project: "",
            defines: &[],
        }
    }
}

/// A run that has ended.
pub struct Run {
    pub chip: Chip,
    project: Project,
}

impl Run {
    /// The value of this name in sources.
    pub fn value(&self, name: &str) -> u32 {
        names::value(&self.project, name)
    }
}

fn macros_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/macros")
}

/// Runs a program, with these longwords at CASES, until nothing moves.
pub fn run(program: &Program, cases: &[u32]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!(
        "name = \"macros\"\ninclude = ['{}', '{}']\n[chip]\nboard = \"ixp2400-plain\"\n\
         [[me]]\nid = \"{}\"\nsource = '{}'\n[[memory]]\nname = \"CASES\"\nspace = \"dram\"\nsize = {}\nalign = 64\n",
        macros_folder().display(),
        macros_folder()
            .join("../../../../../microcode/lib")
            .display(),
        program.ids,
        macros_folder()
            .join(format!("{}.uc", program.name))
            .display(),
        (4 * cases.len()).max(64),
    );
    text.write_str(program.project).unwrap();
    let path = folder.path().join("npsim.toml");
    std::fs::write(&path, text).unwrap();
    let mut defines = program.defines.to_vec();
    defines.push(("CASE_COUNT", (cases.len() / 16).to_string()));
    let overrides = Overrides {
        defines: defines
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
        ..Overrides::default()
    };
    let mut project = load(&path, &overrides);
    let programs = assembled_without_messages(&project);
    let address = names::value(&project, "CASES");
    project.boot.memory.push(MemoryImage {
        space: Space::Dram,
        address,
        words: cases.to_vec(),
    });
    let settings = RunSettings {
        until: Some(LATEST),
        ..RunSettings::new(ENGINE)
    };
    let mut simulation = Simulation::new(&project, &programs, settings).unwrap();
    let ending = run_to_end(&project, &mut simulation);
    assert_eq!(ending, Ending::NoEvents, "{}", program.name);
    Run {
        chip: simulation.chip().clone(),
        project,
    }
}

/// A program's results for each case, and the run.
pub fn results_and_run(program: &Program, cases: &[Words]) -> (Vec<Words>, Run) {
    let records: Vec<u32> = cases
        .iter()
        .flat_map(|given| given.iter().copied().chain([0; 8]))
        .collect();
    let run = run(program, &records);
    let bytes = run
        .chip
        .units()
        .dram
        .read_bytes(run.value("CASES"), 64 * cases.len())
        .unwrap();
    let results = bytes
        .chunks(64)
        .map(|record| {
            std::array::from_fn(|word| {
                let at = 32 + 4 * word;
                u32::from_be_bytes(record[at..at + 4].try_into().unwrap())
            })
        })
        .collect();
    (results, run)
}

/// A program's results for each case.
pub fn results(program: &Program, cases: &[Words]) -> Vec<Words> {
    results_and_run(program, cases).0
}

/// Longwords of all sorts: arbitrary, small, near powers of two.
pub fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => any::<u32>(),
        1 => 0_u32..8,
        2 => (0_u32..32, -2_i32..=2).prop_map(|(bit, off)| (1_u32 << bit).wrapping_add_signed(off)),
        1 => prop::sample::select(vec![0xffff, 0x1_0000, 0xffff_0000, 0x8000_0000, u32::MAX]),
    ]
}

/// Cases of eight such longwords.
pub fn cases(count: usize) -> impl Strategy<Value = Vec<Words>> {
    prop::collection::vec(prop::array::uniform8(word()), count)
}

/// A few runs of many cases each.
pub fn few_runs() -> ProptestConfig {
    ProptestConfig {
        cases: 3,
        max_shrink_iters: 8,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
