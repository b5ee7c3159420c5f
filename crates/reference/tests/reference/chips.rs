//! Whole chips: commands of several microengines meet at buses and units, and what is told of
//! a run is the same on both cores, too.

use std::collections::VecDeque;

use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::core::CoreKind;
use npsim_chip::engine::ENGINE;
use npsim_chip::gpp::boot::{
    Boot, MemoryImage, PortSetup, QueueSetup, RingSetup, RingStatus, Space,
};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::disturb::{Disturbances, Lateness, Stall};
use npsim_chip::kernel::lines::{Arrival, Departure, Lines, MediaDrop};
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_chip::microengine::Program;
use npsim_chip::profile::Profile;
use npsim_image::Image;
use npsim_isa::{CommandOp, Instruction, Unit, encode};
use npsim_reference::REFERENCE;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::programs::commands::{
    Descriptor, JOURNAL, QUEUE, QUEUE_DESCRIPTOR, RING, RINGS, Reach, of_chips,
};
use super::{text, view_of};

/// Far more cycles than programs take that end.
pub(super) const MOST_CYCLES: Cycle = 1 << 14;

/// Ports, and what each takes in a second.
const PORTS: u8 = 2;
const BITS_PER_SECOND: u64 = 1_000_000_000;

/// Longwords at the beginning of each memory that are compared, the rings among them.
const LONGWORDS: u32 = 1536;

/// All that is told, with instructions one by one: how many are told at once is up to a core.
#[derive(Default)]
struct Told {
    events: Vec<(Cycle, TraceEvent)>,
    last: Cycle,
}

impl Observer for Told {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        assert!(self.last <= at, "{event:?} of {at} behind {}", self.last);
        self.last = at;
        let TraceEvent::Issued {
            me,
            context,
            pc,
            count,
        } = *event
        else {
            self.events.push((at, *event));
            return;
        };
        let each = (0..count).map(|n| {
            let issued = TraceEvent::Issued {
                me,
                context,
                pc: pc + n,
                count: 1,
            };
            (at + Cycle::from(n), issued)
        });
        self.events.extend(each);
    }
}

impl Told {
    /// By cycle and rank, as they are promised to come. Within them what the pipeline does
    /// comes first, for a core may tell it ahead of signals of the same cycle; the rest stays
    /// as it was told. A fault ends a run within its cycle, and what is told of that cycle and
    /// beyond depends on who had his turn.
    fn of(mut self, chip: &Chip) -> Vec<(Cycle, TraceEvent)> {
        let end = chip.fault().map_or(Cycle::MAX, |fault| fault.cycle);
        self.events.retain(|(at, _)| *at < end);
        let of_pipeline = |event: &TraceEvent| {
            matches!(
                event,
                TraceEvent::Issued { .. }
                    | TraceEvent::Aborted { .. }
                    | TraceEvent::Held { .. }
                    | TraceEvent::Stalled { .. }
            )
        };
        self.events
            .sort_by_key(|(at, event)| (*at, event.rank(), !of_pipeline(event)));
        self.events
    }
}

/// What programs run on, and what disturbs them.
#[derive(Clone, Debug)]
pub(super) struct Bench {
    pub(super) chip: &'static str,
    pub(super) programs: Vec<Vec<Instruction>>,
    /// In the order of their beginnings.
    pub(super) frames: Vec<Arrival>,
    /// Nobody knows of a frame before its first bit comes, as between chips of a network.
    pub(super) surprised: bool,
    pub(super) disturbances: Disturbances,
    /// Who uses a register that a unit owns ends the run.
    pub(super) strict: bool,
}

/// Where the frames of a bench come from, and what became of any.
struct Wire {
    coming: VecDeque<Arrival>,
    told: Vec<String>,
    /// Of frames that begin later nobody knows yet.
    known_to: Cycle,
    /// Cycles after the first bit of a frame that leaves after which the outside may answer, if
    /// it ever does.
    answers_after: Option<Cycle>,
    /// When it may answer to one of those that are leaving.
    latest: Cycle,
}

impl Lines for Wire {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let next = self.coming.front()?;
        (next.start <= self.known_to).then(|| self.coming.pop_front())?
    }

    fn departing(&mut self, departure: Departure<'_>) {
        if let Some(after) = self.answers_after {
            self.latest = self.latest.min(departure.start + after);
        }
    }

    fn latest(&self) -> Cycle {
        self.latest
    }

    fn departed(&mut self, departure: Departure<'_>) {
        self.told.push(format!("{departure:?}"));
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        let what = format!("frame {frame:?} of port {port} at {cycle}: {reason:?}");
        self.told.push(what);
    }
}

pub(super) fn chip(kind: CoreKind, bench: &Bench) -> Chip {
    let profile = Profile::load(bench.chip).unwrap();
    let ring = |number: u8| RingSetup {
        number,
        base: 0x1000 + 0x200 * u32::from(number),
        size: 128,
        status: RingStatus::NearlyFull,
    };
    let descriptor = |of: &Descriptor| MemoryImage {
        space: Space::Sram(0),
        address: 4 * of.at,
        words: of.words.to_vec(),
    };
    let port = PortSetup {
        bits_per_second: BITS_PER_SECOND,
    };
    let boot = Boot {
        rings: RINGS.map(ring).collect(),
        queues: vec![QueueSetup {
            channel: 0,
            entry: QUEUE as u8,
            descriptor: 4 * QUEUE_DESCRIPTOR,
        }],
        memory: vec![descriptor(&RING), descriptor(&JOURNAL)],
        ports: vec![port; PORTS.into()],
        disturbances: bench.disturbances.clone(),
        ..Boot::default()
    };
    let programs = (0..).zip(&bench.programs).map(|(me, program)| {
        let words = program.iter().map(|it| encode(it).unwrap()).collect();
        let image = Image::from_words("random", words);
        (me, Program::new(&image, &profile).unwrap())
    });
    let programs = programs.collect();
    let mut chip = Chip::with_cores(kind, profile, &boot, programs).unwrap();
    if !bench.strict {
        chip.allow(Check::TransferInFlight);
    }
    for check in [
        Check::UninitialisedRead,
        Check::LocalMemoryEarly,
        Check::SignalRaisedTwice,
        Check::RingOverflow,
        Check::RbufDoubleFree,
        Check::Deadlock,
    ] {
        chip.allow(check);
    }
    chip
}

/// How a chip is run: from one horizon to the next, with what happens at each of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) cycles: Cycle,
    /// What was saved goes on in another chip.
    pub(super) saved: bool,
    /// There is a horizon so many cycles after the first bit of each frame that leaves, too.
    pub(super) answered: Option<Cycle>,
}

const AT_ONCE: Steps = Steps {
    cycles: MOST_CYCLES,
    saved: false,
    answered: None,
};

/// A chip at its end, how that came, and what became of frames.
pub(super) struct Ended {
    pub(super) chip: Chip,
    pub(super) stop: Stop,
    frames: Vec<String>,
}

pub(super) fn ended(
    kind: CoreKind,
    bench: &Bench,
    steps: Steps,
    observer: &mut dyn Observer,
) -> Ended {
    let mut it = chip(kind, bench);
    let mut wire = Wire {
        coming: bench.frames.clone().into(),
        told: Vec::new(),
        known_to: MOST_CYCLES,
        answers_after: steps.answered,
        latest: Cycle::MAX,
    };
    let mut now = 0;
    let mut step_ends = steps.cycles;
    loop {
        let mut until = MOST_CYCLES.min(step_ends);
        if bench.surprised {
            wire.known_to = now;
            let mut later = wire.coming.iter().map(|it| it.start);
            let unknown = later.find(|start| *start > now);
            until = until.min(unknown.unwrap_or(until));
        }
        let stop = it.run(until, &mut wire, observer);
        now = until.min(wire.latest);
        // What is quiet now may be woken by a frame.
        let goes_on = match stop {
            Stop::Reached => now < MOST_CYCLES,
            Stop::Quiet => !wire.coming.is_empty(),
            Stop::Fault(_) => false,
        };
        if !goes_on {
            return Ended {
                chip: it,
                stop,
                frames: wire.told,
            };
        }
        wire.latest = Cycle::MAX;
        if now == step_ends {
            step_ends += steps.cycles;
        }
        if steps.saved {
            let state = it.save().unwrap();
            it = chip(kind, bench);
            it.restore(&state).unwrap();
        }
    }
}

/// Everything that can be seen of a chip, by name.
fn view(ended: &Ended) -> Vec<(String, String)> {
    let Ended { chip, stop, frames } = ended;
    let mut seen = vec![
        ("stop".to_owned(), format!("{stop:?}")),
        ("frames".to_owned(), format!("{frames:?}")),
    ];
    let inspect = chip.inspect();
    let named = |it: &dyn std::fmt::Debug| ("media and queues".to_owned(), format!("{it:?}"));
    seen.extend(inspect.rbuf().map(|it| named(&it)));
    seen.extend(inspect.tbuf().map(|it| named(&it)));
    seen.extend(inspect.freelists().map(|it| named(&it)));
    seen.extend(inspect.queues().map(|it| named(&it)));
    for (me, core) in chip.microengines().iter().enumerate() {
        seen.extend(view_of(me, core.as_ref(), chip.fabric()));
    }
    let units = chip.units();
    for address in (0..LONGWORDS).map(|n| 4 * n) {
        let words = [
            units.scratch.read(address),
            units.sram.read_word(address),
            units.sram.read_word(1 << 30 | address),
            units.dram.read_word(address),
        ];
        seen.push((format!("memories at {address:#x}"), format!("{words:?}")));
    }
    seen.push(("counts".to_owned(), format!("{:?}", chip.stats())));
    seen
}

fn disturbances() -> impl Strategy<Value = Disturbances> {
    let late = (any::<u64>(), 0..300_u32, 0..300_u32, 0..300_u32).prop_map(
        |(seed, dram, sram, scratch)| Lateness {
            seed,
            dram,
            sram,
            scratch,
        },
    );
    let stall = (0..3_u8, 0..7_u8, 0..4000_u64, 1..3000_u64);
    let stall = stall.prop_map(|(me, context, from, cycles)| Stall {
        me,
        context,
        from,
        until: from + cycles,
    });
    let late = prop_oneof![2 => Just(Lateness::default()), 1 => late];
    let stalls = prop_oneof![
        2 => Just(Vec::new()),
        1 => proptest::collection::vec(stall, 1..4)
    ];
    (late, stalls).prop_map(|(late, stalls)| Disturbances { late, stalls })
}

fn frames() -> impl Strategy<Value = Vec<Arrival>> {
    // How long each begins after the one before it if its line is free then; one line leads to
    // no port.
    let frame = (0..1600_u64, 0..=PORTS, 60..300_usize, any::<u8>());
    proptest::collection::vec(frame, 0..12).prop_map(|frames| {
        let (mut start, mut ends) = (0, [0; PORTS as usize + 1]);
        let in_turn = (0..).zip(frames);
        let arrivals = in_turn.map(|(frame, (gap, port, bytes, first))| {
            let line: &mut Cycle = &mut ends[usize::from(port)];
            start = (*line).max(start + gap);
            *line = start + 5 * bytes as Cycle;
            Arrival {
                start,
                end: *line,
                port,
                bytes: (0..bytes).map(|n| first.wrapping_add(n as u8)).collect(),
                frame,
            }
        });
        arrivals.filter(|it| it.start < MOST_CYCLES).collect()
    })
}

fn bench() -> impl Strategy<Value = Bench> {
    let chip = select(vec!["ixp2400", "ixp2800"]);
    let programs = |reach| proptest::collection::vec(of_chips(reach), 1..7);
    let programs = prop_oneof![programs(Reach::Own), programs(Reach::Others)];
    let strict = proptest::bool::weighted(0.15);
    let frames = (frames(), any::<bool>());
    (chip, programs, frames, disturbances(), strict).prop_map(
        |(chip, programs, (frames, surprised), mut disturbances, strict)| {
            let there = |stall: &Stall| usize::from(stall.me) < programs.len();
            disturbances.stalls.retain(there);
            Bench {
                chip,
                programs,
                frames,
                surprised,
                disturbances,
                strict,
            }
        },
    )
}

fn steps() -> impl Strategy<Value = Steps> {
    let steps = prop_oneof![
        4 => Just((MOST_CYCLES, false)),
        4 => (1..400_u64, Just(false)),
        4 => (300..3000_u64, Just(true)),
        // So often that hardly a command is served without a save between.
        1 => (40..300_u64, Just(true)),
    ];
    let answered = proptest::option::of(1..600_u64);
    (steps, answered).prop_map(|((cycles, saved), answered)| Steps {
        cycles,
        saved,
        answered,
    })
}

/// A few chips do all that there is but what the host's bus would: else programs would not
/// come to what this is about.
#[test]
fn few_chips_do_each_command() {
    let mut left: Vec<_> = CommandOp::ALL
        .into_iter()
        .filter(|op| op.info().unit != Unit::Pci)
        .collect();
    let mut runner = TestRunner::deterministic();
    let benches = bench();
    for _ in 0..100 {
        let bench = benches.new_tree(&mut runner).unwrap().current();
        let mut told = Told::default();
        ended(ENGINE, &bench, AT_ONCE, &mut told);
        for (_, event) in &told.events {
            if let TraceEvent::Done { command, .. } = event {
                left.retain(|op| *op != command.op);
            }
        }
    }
    assert_eq!(left, []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_local_rejects: 1 << 24, ..ProptestConfig::default() })]

    /// The engine that is watched, the engine that nobody watches, and the reference core.
    #[test]
    fn chips_are_the_same_with_both_cores(bench in bench(), steps in steps()) {
        let mut by_reference = Told::default();
        let reference = ended(REFERENCE, &bench, AT_ONCE, &mut by_reference);
        let mut by_engine = Told::default();
        let watched_steps = Steps { saved: false, ..steps };
        let engine = ended(ENGINE, &bench, watched_steps, &mut by_engine);

        let source = || {
            let around = (bench.chip, &bench.frames, bench.surprised, &bench.disturbances, bench.strict);
            format!("{around:?} of\n{}", text(&bench.programs))
        };
        let place = |it: &Ended| {
            { it.chip.fault() }.map(|it| (it.check, it.me, it.pc, it.cycle))
        };
        prop_assert_eq!(
            place(&engine), place(&reference),
            "{:?} and {:?} {}", engine.chip.fault(), reference.chip.fault(), source()
        );
        let (told, expected) = (by_engine.of(&engine.chip), by_reference.of(&reference.chip));
        let mut places = 0..told.len().max(expected.len());
        if let Some(at) = places.find(|&at| told.get(at) != expected.get(at)) {
            let around = |told: &[(Cycle, TraceEvent)]| {
                let few = told.iter().skip(at.saturating_sub(8)).take(12);
                few.map(|it| format!("{it:?}")).collect::<Vec<_>>().join("\n")
            };
            let (told, expected) = (around(&told), around(&expected));
            prop_assert!(
                false, "the engine tells\n{}\nthe reference core\n{}\n{}", told, expected, source()
            );
        }
        let alone = ended(ENGINE, &bench, steps, &mut NoObserver);
        prop_assert_eq!(place(&alone), place(&reference), "unwatched, {}", source());
        if reference.chip.fault().is_some() {
            return Ok(());
        }
        let expected = view(&reference);
        for (who, seen) in [
            ("watched", view(&engine)),
            ("unwatched", view(&alone)),
        ] {
            prop_assert_eq!(seen.len(), expected.len());
            for (engine, reference) in seen.iter().zip(&expected) {
                prop_assert_eq!(engine, reference, "{}, {}", who, source());
            }
        }
    }
}
