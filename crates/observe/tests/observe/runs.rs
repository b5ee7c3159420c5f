//! Runs to observe.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use npsim_chip::core::CoreKind;
use npsim_chip::watch::Watcher;
use npsim_engine::ENGINE;
use npsim_net::capture::Capture;
use npsim_net::pace::{ArrivalSchedule, Pace, PortAssignment, schedule};
use npsim_project::assemble::{Program, assemble_project};
use npsim_project::{Overrides, Project};
use npsim_session::links::{Links, captured};
use npsim_session::simulation::{Ending, RunSettings, Simulation};

/// Something to run.
pub struct Run {
    pub project: Project,
    pub programs: Vec<Program>,
    capture: Capture,
    plan: ArrivalSchedule,
    core: CoreKind,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Run {
    fn load(target: &Path, overrides: &Overrides, capture: Option<&str>) -> Self {
        let project =
            Project::load(target, overrides, &npsim_protocols::registry()).expect("a project");
        let (programs, messages) = assemble_project(&project);
        let programs = programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n")));
        let capture = capture.map_or_else(Capture::default, |name| {
            Capture::open(&root().join("traces").join(name)).expect("a capture")
        });
        let lines = npsim_project::load::lines(&project);
        let plan = schedule(
            &capture.frames,
            &lines,
            PortAssignment::RoundRobin,
            "line".parse::<Pace>().expect("a pace"),
        )
        .expect("a plan");
        Self {
            project,
            programs,
            capture,
            plan,
            core: ENGINE,
        }
    }

    /// The shipped forwarder with more frames than it can take.
    pub fn forwarder() -> Self {
        Self::load(
            &root().join("microcode/forward"),
            &Overrides::default(),
            Some("minsize.pcap.gz"),
        )
    }

    /// A shipped system without arriving frames.
    pub fn idle(system: &str) -> Self {
        let target = root().join("microcode").join(system);
        Self::load(&target, &Overrides::default(), None)
    }

    /// The forwarder on the larger chip, which has a different media bus and clock.
    pub fn forwarder_on_2800() -> Self {
        let overrides = Overrides {
            chip: Some("ixp2800".to_owned()),
            ..Overrides::default()
        };
        Self::load(
            &root().join("microcode/forward"),
            &overrides,
            Some("mixed.pcap"),
        )
    }

    /// A source without traffic on some microengines.
    pub fn source(text: &str, microengines: &str) -> (Self, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("main.uc");
        std::fs::write(&path, text).expect("a source");
        let overrides = Overrides {
            ids: Some(microengines.to_owned()),
            ..Overrides::default()
        };
        (Self::load(&path, &overrides, None), folder)
    }

    /// A test program on the core, and idle microengines.
    pub fn core_program(name: &str) -> (Self, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let elf = root().join(format!("crates/xscale/tests/programs/{name}.elf"));
        let project = "name = \"program\"\n[chip]\nprofile = \"ixp2400\"\n[[me]]\nid = 0\nsource = \"main.uc\"\n\
            [[port]]\nrate = \"1Gbps\"\n[gpp]\nprogram = \"program.elf\"\n";
        let files = [
            ("program.elf", std::fs::read(elf).expect("a program")),
            ("main.uc", b"ctx_arb[kill]\n".to_vec()),
            ("npsim.toml", project.into()),
        ];
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).expect("a file");
        }
        (
            Self::load(folder.path(), &Overrides::default(), None),
            folder,
        )
    }

    /// The run on another kind of core.
    pub fn on(self, core: CoreKind) -> Self {
        Self { core, ..self }
    }

    pub fn simulation(&self, until: Option<u64>) -> Simulation {
        let settings = RunSettings {
            until,
            core: self.core,
            drain: (!self.capture.frames.is_empty()).then_some(60_000),
            ..RunSettings::new(ENGINE)
        };
        Simulation::new(&self.project, &self.programs, settings).expect("it fits")
    }

    pub fn links(&self) -> Links {
        let hertz = self.project.capacity.hertz;
        let frames = captured(self.capture.frames.as_slice(), self.plan.clone());
        Links::streaming(frames, 0, hertz, None)
    }

    pub fn watch(&self, simulation: &mut Simulation, observer: &mut dyn Watcher) -> Ending {
        let mut links = self.links();
        simulation.run_watched(&mut links, observer, &mut |_, _| ControlFlow::Continue(()))
    }
}

/// Eight contexts that write bursts to scratch as fast as they can, so that the
/// command FIFO fills up; beside them arithmetic, branches with and without
/// defer slots, and macros within macros.
pub fn crowd() -> String {
    let mut text = String::from(
        "\
.num_contexts 8
.reg n m address $a $b $c $d $e $f $g $h
.xfer_order $a $b $c $d $e $f $g $h
.sig done
#macro bump(what, COUNT)
    alu[what, what, +, COUNT]
    bne[over#], defer[1]
    alu[m, m, +, 1]
over#:
#endm
#macro twice(what)
    bump(what, 1)
    bump(what, 2)
#endm
    immed[n, 0]
    immed[m, 0]
    immed[address, 0x400]
",
    );
    for name in "abcdefgh".chars() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    immed[${name}, 0]");
    }
    text.push_str(
        "\
again#:
    twice(n)
    scratch[write, $a, address, 0, 8], sig_done[done]
    ctx_arb[done]
    scratch[incr, --, address, 0]
    scratch[incr, --, address, 4]
    scratch[incr, --, address, 8]
    scratch[incr, --, address, 12]
    br[again#]
",
    );
    text
}
