//! An embedder's own parts: their keys in a project, their state, and that a layer around a core
//! changes nothing.

use std::ops::ControlFlow;

use npsim::chip::core::{Core, CoreKind};
use npsim::chip::kernel::fabric::Fabric;
use npsim::chip::kernel::row::Row;
use npsim::core_layer::{CoreLayer, layer_of, layered};
use npsim::files::MemoryFiles;
use npsim::project::Overrides;
use npsim::project::keys::Spanned;
use npsim::project::look_aside::{KeyMistake, LookAside, LookAsideAnswer};
use npsim::project::timer_job::{AfterAccess, TableAccess, TimerJob};
use npsim::reference::REFERENCE;
use npsim::session::{Endpoints, Plan, Session};
use npsim::simulation::{Ending, RunSettings};
use npsim::system::{System, Traffic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Adds the requested value to the longwords of its table.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Adder(u32);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Size {
    longwords: Spanned<u32>,
}

impl Size {
    fn checked(&self) -> Result<u32, KeyMistake> {
        match *self.longwords.get_ref() {
            0 => Err(KeyMistake::new(&self.longwords, "nothing to add", "use 1")),
            longwords => Ok(longwords),
        }
    }
}

impl LookAside for Adder {
    const NAME: &'static str = "adder";
    type Keys = Size;

    fn new(keys: &Size) -> Result<Self, KeyMistake> {
        keys.checked().map(Self)
    }

    fn longwords(&self) -> u32 {
        self.0
    }

    fn answer(&mut self, table: &[u32], question: u32) -> LookAsideAnswer {
        LookAsideAnswer {
            value: table.iter().sum::<u32>() + question,
            cycles: 40,
        }
    }
}

/// Increments the first longword of its table by a read and a write.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tick {
    seen: u32,
    ticks: u32,
}

impl TimerJob for Tick {
    const NAME: &'static str = "tick";
    type Keys = Size;

    fn new(keys: &Size) -> Result<Self, KeyMistake> {
        keys.checked()?;
        Ok(Self::default())
    }

    fn bytes(&self) -> u32 {
        8
    }

    fn access(
        &mut self,
        number: u32,
        table: &mut TableAccess<'_, '_>,
    ) -> (&'static str, AfterAccess) {
        if number == 0 {
            [self.seen] = table.read(0);
            return ("read the count", AfterAccess::More);
        }
        self.ticks += 1;
        table.write(0, &[self.seen + 1]);
        ("write the count", AfterAccess::Done)
    }

    fn counts(&self) -> Row {
        Row::default().with("ticks", self.ticks)
    }
}

const PROJECT: &str = r#"
name = "custom"
[[me]]
id = 0
source = "ask.uc"
[[adder]]
name = "SUM"
channel = 1
longwords = 2
[[memory]]
name = "COUNT"
space = "scratch"
size = 8
[gpp]
tasks = ["tick"]
[gpp.tick]
table = "COUNT"
period = "1us"
longwords = 2
"#;

/// Puts 5 and 7 into the table, sends a request with 30 and stores the answer after the count, many times; only context
/// 0 does.
const ASK: &str = "
.num_contexts 4
.reg write $a $b
.xfer_order $a $b
.reg read $answer
.reg write $kept
.reg at rounds
.sig done
    br!=ctx[0, end#]
    immed[rounds, 20]
again#:
    immed[at, (SUM & 0xffff)]
    immed_w1[at, (SUM >> 16)]
    immed[$a, 5]
    immed[$b, 7]
    sram[write, $a, at, 0, 2], ctx_swap[done]
    immed[at, (SUM_ASK & 0xffff)]
    immed_w1[at, (SUM_ASK >> 16)]
    immed[$a, 30]
    sram[write, $a, at, 0, 1], ctx_swap[done]
    sram[read, $answer, at, 4, 1], ctx_swap[done]
    alu[$kept, --, b, $answer]
    immed[at, (COUNT & 0xffff)]
    scratch[write, $kept, at, 4, 1], ctx_swap[done]
    alu[rounds, rounds, -, 1]
    bne[again#]
end#:
    ctx_arb[kill]
";

fn load(project: &str) -> Result<System, String> {
    let mut files = MemoryFiles::default();
    files.insert("lab/npsim.toml", project);
    files.insert("lab/ask.uc", ASK);
    let registry = npsim::registry().with_look_aside::<Adder>();
    let registry = registry.with_timer_job::<Tick>();
    let system = System::load_with(&files, "lab", &Overrides::default(), &registry);
    system.map_err(|problems| problems.to_string())
}

fn session(system: &System, core: CoreKind) -> Session {
    session_with(system, RunSettings::new(core))
}

fn session_with(system: &System, settings: RunSettings) -> Session {
    let settings = RunSettings {
        until: Some(50_000),
        ..settings
    };
    let plan = Plan::one(system.project().clone(), system.programs(), settings);
    Session::new(&plan, Endpoints::default()).unwrap()
}

#[test]
fn a_look_aside_table_answers_and_a_timer_job_writes() {
    let system = load(PROJECT).unwrap();
    let mut run = session(&system, npsim::engine::ENGINE);
    run.run(&mut |_| ControlFlow::Continue(()));
    let report = run.stats();
    let count = system.define("COUNT").unwrap();
    let scratch = &run.node(0).chip().units().scratch;
    assert_eq!(scratch.read(count + 4), Some(42));
    let ticks = report.nodes[0].chip.gpp.rows.of("tick")[0].get("ticks");
    assert_eq!(scratch.read(count).map(i128::from), ticks);
    assert!(ticks > Some(5), "{ticks:?}");
}

#[test]
fn timer_job_continues_only_in_open_runs() {
    let system = load(PROJECT).unwrap();
    let run = |open| {
        let settings = RunSettings {
            open,
            ..RunSettings::new(npsim::engine::ENGINE)
        };
        let mut run = session_with(&system, settings);
        let ending = run.run(&mut |_| ControlFlow::Continue(()));
        let ticks = run.stats().nodes[0].chip.gpp.rows.of("tick")[0].get("ticks");
        (ending, ticks)
    };
    let (closed, open) = (run(false), run(true));
    assert_eq!((closed.0, open.0), (Ending::NoEvents, Ending::Reached));
    // One tick per microsecond, of 600 cycles, up to the end, and none after the contexts are
    // killed.
    assert_eq!(open.1, Some(50_000 / 600));
    assert!(closed.1 < Some(60), "{:?}", closed.1);
}

#[test]
fn custom_parts_are_saved_and_restored() {
    let system = load(PROJECT).unwrap();
    let mut run = session(&system, npsim::engine::ENGINE);
    run.step(900);
    let snapshot = run.snapshot().unwrap();
    let mut again = session(&system, npsim::engine::ENGINE);
    again.restore(&snapshot).unwrap();
    for session in [&mut run, &mut again] {
        session.run(&mut |_| ControlFlow::Continue(()));
    }
    let (one, other) = (run.node(0).chip(), again.node(0).chip());
    assert_eq!(one.save().unwrap(), other.save().unwrap());
}

#[test]
fn errors_in_custom_part_keys_have_a_position() {
    for (from, to, expected) in [
        (
            "longwords = 2\n[[memory]]",
            "longwords = 0\n[[memory]]",
            "nothing to add",
        ),
        (
            "longwords = 2\n[[memory]]",
            "longword = 2\n[[memory]]",
            "longword",
        ),
        ("name = \"SUM\"\n", "", "name"),
        (
            "name = \"SUM\"",
            "name = \"+\"",
            "not a name that a source can use",
        ),
        ("period = \"1us\"", "period = \"1 parsec\"", "parsec"),
        (
            "table = \"COUNT\"",
            "table = \"COUNTS\"",
            "there is no memory `COUNTS`",
        ),
        ("size = 8", "size = 4", "`COUNT` is too small for the task"),
    ] {
        let text = PROJECT.replacen(from, to, 1);
        assert_ne!(text, PROJECT);
        let problems = load(&text).map(|_| ()).unwrap_err();
        assert!(problems.contains(expected), "{expected}:\n{problems}");
        assert!(problems.contains("npsim.toml:"), "no place:\n{problems}");
    }
}

/// Counts turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
struct Turns(u64);

impl CoreLayer for Turns {
    const NAME: &'static str = "turns";
    const BASE: CoreKind = REFERENCE;

    fn run(&mut self, core: &mut dyn Core, fabric: &mut Fabric) {
        self.0 += 1;
        core.run(fabric);
    }
}

#[test]
fn core_layer_changes_nothing_and_is_restored() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");
    let system = System::load(folder).unwrap();
    let finished = |core| {
        let traffic = Traffic::load("0.5").unwrap().lasting("20us").unwrap();
        let mut run = system.start_on(traffic, core).unwrap();
        run.finish().unwrap();
        let report = serde_json::to_value(run.report()).unwrap();
        (run.packets(), report["nodes"].clone(), run)
    };
    let (packets, counts, run) = finished(layered::<Turns>());
    let (expected, expected_counts, plain) = finished(REFERENCE);
    assert!(!packets.is_empty());
    assert!(packets == expected && counts == expected_counts);
    let cores = run.chip().microengines();
    let turns: Vec<u64> = { cores.iter() }
        .map(|core| layer_of::<Turns>(&**core).unwrap().0)
        .collect();
    assert!(turns[0] > 1_000, "{turns:?}");
    assert_eq!(layer_of::<Turns>(&*plain.chip().microengines()[0]), None);

    let small = load(PROJECT).unwrap();
    let mut run = session(&small, layered::<Turns>());
    run.step(700);
    let snapshot = run.snapshot().unwrap();
    let mut again = session(&small, layered::<Turns>());
    again.restore(&snapshot).unwrap();
    let at = |session: &Session| layer_of::<Turns>(&*session.node(0).chip().microengines()[0]);
    assert_eq!(at(&run), at(&again));
    assert!(at(&run) > Some(Turns(0)));
}
