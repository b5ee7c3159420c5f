//! Runs that are disturbed on purpose: delays are no longer than requested, the same disturbances
//! give the same bytes, and such a run cannot be mistaken for a plain one.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use npsim::engine::ENGINE;
use npsim::links::Links;
use npsim::project::{Overrides, Setting};
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{Cause, TraceEvent};
use npsim_chip::watch::Sampler;

use npsim_systems::project::{assembled, load};

/// One context waits for one command after another.
const ONE_BY_ONE: &str = "\
.reg base count $s $s1 $$d0 $$d1
.xfer_order $s $s1
.xfer_order $$d0 $$d1
.sig done both
    br!=ctx[0, end#]
    immed[base, 64]
    immed[count, 100]
    alu[$s, --, B, base]
    alu[$s1, --, B, base]
    alu[$$d0, --, B, base]
    alu[$$d1, --, B, base]
again#:
    scratch[write, $s, base, 0, 1], ctx_swap[done]
    sram[write, $s, base, 0, 1], ctx_swap[done]
    dram[write, $$d0, base, 0, 1], ctx_swap[both]
    scratch[read, $s, base, 0, 1], ctx_swap[done]
    sram[read, $s, base, 0, 1], ctx_swap[done]
    dram[read, $$d0, base, 0, 1], ctx_swap[both]
    hash_48[$s, 1], ctx_swap[done]
    alu[count, count, -, 1]
    bne[again#]
end#:
    ctx_arb[kill]
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The time of each command from its issue to its last signal, by operation.
#[derive(Default)]
struct Times {
    issued: Cycle,
    taken: BTreeMap<String, Vec<Cycle>>,
}

impl Sampler for Times {}

impl Observer for Times {
    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        match what {
            TraceEvent::Command { command, .. } => {
                self.issued = at;
                let name = format!("{:?}", command.op);
                self.taken.entry(name).or_default().push(0);
            }
            TraceEvent::Signal {
                cause: Cause::Command { op, .. },
                ..
            } => {
                let name = format!("{op:?}");
                let last = self.taken.get_mut(&name).and_then(|it| it.last_mut());
                *last.expect("the command was issued") = at - self.issued;
            }
            TraceEvent::Signal { cause, .. } => panic!("{cause:?}"),
            _ => {}
        }
    }
}

fn times(settings: &[&str]) -> BTreeMap<String, Vec<Cycle>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.uc");
    std::fs::write(&path, ONE_BY_ONE).unwrap();
    let overrides = Overrides {
        set: settings
            .iter()
            .map(|text| text.parse::<Setting>().unwrap())
            .collect(),
        ..Overrides::default()
    };
    let project = load(&path, &overrides);
    let programs = assembled(&project);
    let mut simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
    let mut links = Links::idle(project.capacity.hertz);
    let mut times = Times::default();
    let ending =
        simulation.run_watched(
            &mut links,
            &mut times,
            &mut |_, _| ControlFlow::Continue(()),
        );
    assert_eq!(ending, Ending::NoEvents);
    times.taken
}

#[test]
fn signals_are_late_by_at_most_the_requested_delay() {
    const MOST: [(&str, Cycle); 4] = [("Dram", 400), ("Sram", 50), ("Scratch", 1000), ("Hash", 0)];
    let plain = times(&[]);
    let disturbed = times(&[
        "disturb.dram=400",
        "disturb.sram=50",
        "disturb.scratch=1000",
    ]);
    assert_eq!(plain.len(), 7);
    for (op, times) in &plain {
        let most = MOST.iter().find(|it| op.starts_with(it.0)).unwrap().1;
        let (least, longest) = (times.iter().min().unwrap(), times.iter().max().unwrap());
        let late = &disturbed[op];
        assert_eq!((late.len(), times.len()), (100, 100), "{op}");
        // The bus clock or refresh that a command meets differs.
        let slack = longest - least + 4;
        let (earliest, latest) = (late.iter().min().unwrap(), late.iter().max().unwrap());
        assert!(earliest + slack >= *least, "{op}: {earliest} after {least}");
        assert!(*latest <= longest + slack + most, "{op}: {latest}");
        assert!(*latest >= least + most * 3 / 4, "{op}: {latest}");
        let distinct: std::collections::BTreeSet<_> = late.iter().collect();
        assert!(most == 0 || distinct.len() > 20, "{op}: {distinct:?}");
    }
}

/// A folder for the outputs of runs.
struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Runs `npsim` at the root of the repository; `@NAME` is a file of the folder.
    #[track_caller]
    fn npsim(&self, command: &str, code: i32, phrases: &[&str]) {
        let words = command.split(' ').map(|word| match word.split_once('@') {
            Some(("", name)) => self.0.path().join(name).display().to_string(),
            _ => word.to_owned(),
        });
        let output = Command::new(env!("CARGO_BIN_EXE_npsim-under-test"))
            .current_dir(root())
            .args(words)
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
        for phrase in phrases {
            let there = out.contains(phrase) || err.contains(phrase);
            assert!(there, "no `{phrase}` in\n{out}\n{err}");
        }
    }
}

const FORWARD: &str = "run microcode/forward --load 0.9 --time 200us";
const LATE: &str = "--set disturb.dram=400 --set disturb.sram=200 --set disturb.scratch=100";
const HANG: &str = "--stall 0.3@50us+100us";

#[test]
fn equal_disturbances_give_identical_outputs() {
    let dir = Dir::new();
    let run = |name: &str, options: &str| {
        let command = format!("{FORWARD} --stats @{name}.json --out @{name}.pcap {options}");
        dir.npsim(command.trim_end(), 0, &["all traffic is handled"]);
        [format!("{name}.json"), format!("{name}.pcap")].map(|name| dir.read(&name))
    };
    let plain = run("plain", "");
    let late = run("late", LATE);
    assert!(late == run("again", LATE));
    let other = run("other", &format!("{LATE} --set disturb.seed=2"));
    assert!(late[1] != other[1], "another seed makes no difference");
    assert!(late[1] != plain[1], "nothing comes late");
    let hung = run("hung", HANG);
    assert!(hung == run("hung_again", HANG));
    assert!(hung[1] != plain[1], "no context stalls");
    // Perturbations that disturb nothing leave no trace in a run.
    let nothing = run("nothing", "--set disturb.seed=9");
    assert!(nothing[1] == plain[1]);
    let never = run("never", "--stall 0.3@1s+1s");
    assert!(never[1] == plain[1]);
}

#[test]
fn disturbances_are_shown_in_all_outputs() {
    let dir = Dir::new();
    let options = "--stats @s.json --timeline @t.json --report @page --window 90us..100us";
    let late = "completions come late at random: dram up to 400 cycles, sram up to 200 cycles, scratch up to 100 cycles (seed 1)";
    let folded = late.replace("scratch up", "scratch\n             up");
    let hang = "microengine 0 context 3 stalled from cycle 30000 until 90000";
    dir.npsim(
        &format!("{FORWARD} {options} {LATE} {HANG}"),
        0,
        &[
            &format!("disturbed    {folded}"),
            &format!("disturbed    {hang}"),
        ],
    );
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("s.json")).unwrap();
    let expected = serde_json::json!({
        "late": { "seed": 1, "dram": 400, "sram": 200, "scratch": 100 },
        "stalls": [{ "me": 0, "context": 3, "from": 30000, "until": 90000 }],
    });
    assert_eq!(stats["disturbances"], expected);
    let timeline: serde_json::Value = serde_json::from_slice(&dir.read("t.json")).unwrap();
    let both = format!("{late}; {hang}");
    assert_eq!(timeline["otherData"]["disturbed"], both);
    let text = dir.text("t.json");
    assert!(text.contains("context 3 stalled") && text.contains("stalled on purpose"));
    assert!(dir.text("page/index.html").contains(&both));
    dir.npsim(&format!("{FORWARD} --stats @plain.json"), 0, &[]);
    assert!(!dir.text("plain.json").contains("disturbances"));
}

#[test]
fn disturbed_run_resumes_from_a_checkpoint() {
    let dir = Dir::new();
    let run = format!("{FORWARD} {LATE} {HANG}");
    dir.npsim(
        &format!("{run} --until 180us --stats @whole.json --out @whole.pcap"),
        0,
        &["the time is up"],
    );
    dir.npsim(
        &format!("{run} --until 100us --stats @part.json --out @part.pcap --checkpoint @c.ckpt"),
        0,
        &["the time is up"],
    );
    assert!(dir.read("whole.json") != dir.read("part.json"));
    dir.npsim("run --resume @c.ckpt --until 180us", 0, &["disturbed    "]);
    assert!(dir.read("whole.json") == dir.read("part.json"));
    assert!(dir.read("whole.pcap") == dir.read("part.pcap"));
}

#[test]
fn stalls_in_the_project_file_are_applied() {
    let dir = Dir::new();
    let file = |name: &str, text: &str| std::fs::write(dir.0.path().join(name), text).unwrap();
    file("a.uc", "end#:\nctx_arb[voluntary]\nbr[end#]\n");
    file(
        "four.uc",
        ".num_contexts 4\nend#:\nctx_arb[voluntary]\nbr[end#]\n",
    );
    let project = |source: &str, rest: &str| {
        format!("[[me]]\nid = \"0-1\"\nsource = \"{source}\"\n[[port]]\n{rest}\n")
    };
    let stall = "[[stall]]\nme = \"0-1\"\ncontext = \"2-3\"\nfrom = \"1us\"\nfor = \"2us\"\n";
    file("a.toml", &project("a.uc", stall));
    dir.npsim(
        "run @a.toml --until 10us",
        0,
        &["microengine 1 contexts 2 and 3 stalled from cycle 600 until 1800"],
    );
    dir.npsim(
        "run @a.toml --until 10us --set stall.0.me=0 --set stall.*.for=3us",
        0,
        &["microengine 0 contexts 2 and 3 stalled from cycle 600 until 2400"],
    );
    file("four.toml", &project("four.uc", stall));
    dir.npsim(
        "run @four.toml --until 10us",
        1,
        &["context 3 of microengine 0 does not run, so it cannot be stalled"],
    );
}

#[test]
fn invalid_disturbances_are_refused() {
    let dir = Dir::new();
    for (options, code, expected) in [
        ("--stall 0.3", 2, "is not ME.CONTEXT@FROM+FOR"),
        ("--stall 0.3@1us+1", 0, "all traffic is handled"),
        ("--stall 0.3@1us+0", 1, "a stall must be longer than 0"),
        ("--stall 0.8@1us+1us", 1, "there is no context 8"),
        ("--stall 9.0@1us+1us", 1, "there is no microengine 9"),
        ("--stall 7.0@1us+1us", 1, "microengine 7 has no program"),
        ("--set disturb.dram=many", 1, "must be a whole number"),
        ("--set disturb.dram=2000000", 1, "use 0 to 1000000 cycles"),
        ("--set disturb.drum=2", 1, "did you mean `dram`?"),
    ] {
        let command = format!("run microcode/forward --load 0.1 --time 20us {options}");
        dir.npsim(&command, code, &[expected]);
    }
}
