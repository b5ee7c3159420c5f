//! A chip with a program.

use std::path::Path;

use npsim_chip::gpp::LongwordAddress;
use npsim_chip::gpp::boot::Space;
use npsim_chip::kernel::check::Fault;
use npsim_project::files::MemoryFiles;
use npsim_project::problem::Problems;
use npsim_project::{Overrides, Project, Registry};
use npsim_testkit::slow_path::{self, Bench};
use npsim_xscale::{Processor, with_program};

/// The common part of all projects here.
const PROJECT: &str = r#"
name = "bench"
[chip]
profile = "ixp2400"
[[me]]
id = 0
source = "a.uc"
[[port]]
rate = "1Gbps"
address = "10.1.0.1/24"
[[ring]]
name = "IN"
size = 256
[[ring]]
name = "OUT"
size = 128
[[queue]]
name = "FREE_BUFFERS"
channel = 0
[buffers]
count = 16
size = 2048
channel = 0
queue = "FREE_BUFFERS"
[[memory]]
name = "SHARED"
space = "dram"
size = 4096
"#;

/// The bytes of a program's file.
pub fn elf(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    std::fs::read(path.join(format!("{name}.elf"))).unwrap()
}

/// A project with the sections of a program's file.
pub fn project_of(bytes: Vec<u8>, sections: &str) -> Result<Project, Problems> {
    project_with(bytes, sections, &Overrides::default())
}

/// The same with settings that override those of the project.
pub fn project_with(
    bytes: Vec<u8>,
    sections: &str,
    overrides: &Overrides,
) -> Result<Project, Problems> {
    let files = MemoryFiles::from_iter([
        ("p/npsim.toml", format!("{PROJECT}{sections}").into_bytes()),
        ("p/a.uc", b"nop\n".to_vec()),
        ("p/program.elf", bytes),
    ]);
    let registry = with_program(Registry::default());
    Project::load_from(&files, Path::new("p"), overrides, &registry)
}

/// A project with a program, and keys of its section.
pub fn project(name: &str, keys: &str) -> Project {
    let sections = format!("[gpp.program]\nelf = \"program.elf\"\n{keys}");
    project_of(elf(name), &sections).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A chip with a program.
pub struct Running {
    pub bench: Bench,
    pub project: Project,
}

impl Running {
    pub fn new(name: &str, keys: &str) -> Self {
        let project = project(name, keys);
        let bench = slow_path::load(&project.boot).unwrap();
        Self { bench, project }
    }

    pub fn run_until(&mut self, cycle: u64) {
        self.bench.run_until(cycle);
    }

    /// Runs to a cycle; nothing may stop the chip.
    pub fn run_without_fault(mut self, cycle: u64) -> Self {
        self.run_until(cycle);
        assert_eq!(self.fault(), None);
        self
    }

    pub fn processor(&self) -> &Processor {
        self.bench.gpp.task().unwrap()
    }

    pub fn text(&self) -> String {
        self.processor().text()
    }

    pub fn fault(&self) -> Option<&Fault> {
        self.bench.fabric.checks.fault()
    }

    /// A longword of scratch.
    pub fn scratch(&self, address: u32) -> u32 {
        let space = Space::Scratch;
        self.bench.word(LongwordAddress { space, address }, 0)
    }

    /// Puts a longword on a ring, as a microengine would.
    pub fn put(&mut self, ring: u8, word: u32) {
        let (units, fabric) = (&mut self.bench.units, &mut self.bench.fabric);
        units.scratch.ring_put(ring, word, fabric);
        self.bench.gpp.wake_pollers(&units.scratch, fabric);
    }

    /// The contents of a ring.
    pub fn on_ring(&self, ring: u8) -> Vec<u32> {
        self.bench.units.scratch.ring_words(ring).collect()
    }

    /// The number of a ring.
    pub fn ring(&self, at: usize) -> u8 {
        self.project.boot.rings[at].number
    }

    /// A number of the task's row in statistics.
    pub fn count(&self, name: &str) -> i128 {
        use npsim_chip::gpp::{Memories, Task};
        let memories = Memories {
            scratch: &self.bench.units.scratch,
            sram: &self.bench.units.sram,
        };
        self.processor().rows(memories)[0].get(name).unwrap()
    }
}
