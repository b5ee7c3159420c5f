//! Everything visible at a stop of the run.

use npsim::debug::debugger::standpoint::Standpoint;
use npsim::debug::history::History;
use npsim::debug::names::{NamedRegister, live_at, owner_text};
use npsim::debug::view::StopView;
use npsim::image::TransferDirection;
use npsim::inspect::Inspect;
use npsim::inspect::stats::Stats;
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::opening::OpenRun;
use crate::place::{RunEnd, SourcePlace};

/// The default number of cycles before a stop whose lanes and packets are shown.
const WINDOW: u64 = 2_000;
/// The longest such window, in cycles.
const MAX_WINDOW: u64 = 200_000;

#[derive(Debug, Serialize)]
struct View {
    #[serde(flatten)]
    stop: StopView,
    from: u64,
    reached: u64,
    end: Option<RunEnd>,
    until: Option<u64>,
    seconds: f64,
    place: Option<SourcePlace>,
    stand: Option<Standpoint>,
    registers: Vec<RegisterInfo>,
    signals: Vec<SignalInfo>,
    microengines: Vec<MicroengineInfo>,
    units: Vec<UnitInfo>,
    ports: Vec<PortInfo>,
    totals: Value,
    memory: Value,
}

#[derive(Debug, Serialize)]
struct RegisterInfo {
    name: String,
    register: String,
    value: u32,
    text: String,
    /// `in`, `out`, or `None` if there is only one side.
    side: Option<&'static str>,
    written: bool,
    /// The command that holds it.
    owner: Option<String>,
}

#[derive(Debug, Serialize)]
struct SignalInfo {
    name: String,
    number: u8,
    came: bool,
}

#[derive(Debug, Serialize)]
struct MicroengineInfo {
    me: u64,
    stage: String,
    executing: f64,
    aborted: f64,
    stalled: f64,
    idle: f64,
    instructions: u64,
}

#[derive(Debug, Serialize)]
struct UnitInfo {
    name: String,
    busy: f64,
    queue: u64,
    queue_peak: u64,
    commands: u64,
}

#[derive(Debug, Serialize)]
struct PortInfo {
    port: usize,
    bits_per_second: u64,
    came: u64,
    came_bytes: u64,
    left: u64,
    left_bytes: u64,
    lost: u64,
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The registers and signals whose names are live at the selected context's position.
fn named(run: &OpenRun) -> (Vec<RegisterInfo>, Vec<SignalInfo>) {
    let (mut registers, mut signals) = (Vec::new(), Vec::new());
    let debugger = &run.debugger;
    let thread = debugger.thread();
    let inspect = Inspect::new(debugger.chip());
    let (Some(image), Some(view)) = (debugger.image(thread.me), inspect.microengine(thread.me))
    else {
        return (registers, signals);
    };
    let come = view.context(thread.context).signals;
    for named in live_at(image, debugger.point(thread)) {
        match named {
            NamedRegister::Register(symbol, side) => {
                let Some(it) = view.register(symbol.operand, side, thread.context) else {
                    continue;
                };
                let owner = it.owner.as_ref();
                registers.push(RegisterInfo {
                    name: symbol.name.clone(),
                    register: symbol.operand.to_string(),
                    value: it.value,
                    text: format!("{} ({:#x})", it.value, it.value),
                    side: match side {
                        TransferDirection::Read => Some("in"),
                        TransferDirection::Write => Some("out"),
                        TransferDirection::Both => None,
                    },
                    written: it.initialised != Some(false),
                    owner: owner.map(|it| owner_text(&inspect, thread.me, it)),
                });
            }
            NamedRegister::Signal(symbol) => signals.push(SignalInfo {
                name: symbol.name.clone(),
                number: symbol.number,
                came: come >> symbol.number & 1 == 1,
            }),
        }
    }
    (registers, signals)
}

/// The complete state at a stop, with the lanes and packets of the last cycles.
///
/// # Errors
/// Returns an error if it cannot be serialized, which its type rules out.
pub fn view(files: &FileStore, run: &OpenRun, cycles: Option<u64>) -> Result<Value, Failure> {
    let debugger = &run.debugger;
    let cycle = debugger.cycle();
    let from = cycle.saturating_sub(cycles.unwrap_or(WINDOW).min(MAX_WINDOW));
    let mut stop = StopView::of(debugger, &History::of(debugger, from));
    for context in &mut stop.contexts {
        for frame in &mut context.frames {
            frame.file = files.path(&frame.file);
        }
    }
    let stats = Stats::collect(debugger.chip());
    let queues = Inspect::new(debugger.chip());
    let waiting = |name: &str| {
        let flights = queues.flights().iter();
        flights.filter(|it| it.target.name() == name).count() as u64
    };
    let microengines = stats.microengines.iter().map(|me| MicroengineInfo {
        me: me.index,
        stage: debugger.stage(me.index as u8),
        executing: share(me.executing, cycle),
        aborted: share(me.aborted, cycle),
        stalled: share(me.stalled, cycle),
        idle: share(me.idle, cycle),
        instructions: me.instructions,
    });
    let runs = |me: &MicroengineInfo| {
        let mut programs = run.scenario.programs.iter();
        programs.any(|it| u64::from(it.me) == me.me)
    };
    let units = stats.units.iter().map(|unit| UnitInfo {
        busy: unit.busy_permille as f64 / 1000.0,
        queue: waiting(&unit.name),
        queue_peak: unit.queue_peak,
        commands: unit.commands.iter().map(|it| it.count).sum(),
        name: unit.name.clone(),
    });
    let traffic = debugger.timeline().traffic();
    let ports = run.scenario.project.boot.ports.iter().enumerate();
    let ports = ports.map(|(port, line)| {
        let seen = traffic.ports.get(port).copied().unwrap_or_default();
        PortInfo {
            port,
            bits_per_second: line.bits_per_second,
            came: seen.offered_frames,
            came_bytes: seen.offered_bytes,
            left: seen.sent_frames,
            left_bytes: seen.sent_bytes,
            lost: seen.dropped_frames,
        }
    });
    let media = traffic.drops.iter().map(
        |((port, reason), count)| json!({ "port": port, "reason": reason.text(), "count": count }),
    );
    let counted = stats.counters.iter().filter(|it| it.drop && it.value > 0);
    let counted = counted.map(|it| json!({ "port": null, "reason": it.text, "count": it.value }));
    let lost: u64 = traffic.drops.values().sum::<u64>() + { stats.counters.iter() }
        .filter(|it| it.drop)
        .map(|it| it.value)
        .sum::<u64>();
    let gone = traffic.sent_frames + lost + stats.gpp.exceptions;
    let totals = json!({
        "came": traffic.offered_frames,
        "left": traffic.sent_frames,
        "lost": lost,
        "slow_path": stats.gpp.exceptions,
        "drops": media.chain(counted).collect::<Vec<_>>(),
        "inside": traffic.offered_frames.saturating_sub(gone),
    });
    let (bytes, states) = debugger.timeline().memory();
    let (registers, signals) = named(run);
    let view = View {
        from,
        reached: debugger.timeline().recorded_to(),
        end: RunEnd::of(run),
        until: run.until,
        seconds: cycle as f64 / stop.hertz as f64,
        place: SourcePlace::of(files, run, debugger.thread()),
        stand: debugger.standpoint(),
        registers,
        signals,
        microengines: microengines.filter(runs).collect(),
        units: units.collect(),
        ports: ports.collect(),
        totals,
        memory: json!({ "bytes": bytes, "states": states }),
        stop,
    };
    serde_json::to_value(view).map_err(|error| Failure::new(error.to_string()))
}
