//! Whole chips: commands of several microengines meet at buses and units, and the events that
//! observers receive are also equal on both cores.

pub(super) mod course;
mod observed_events;
mod tasks;
mod view;

use std::collections::BTreeSet;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::CoreKind;
use npsim_chip::core::Program;
use npsim_chip::gpp::boot::{
    BootPlan, MemoryImage, PortSetup, QueueSetup, RingSetup, RingStatus, Space,
};
use npsim_chip::gpp::{LongwordAddress, Task};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::fault_injection::{Lateness, Perturbations, Stall};
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::Arrival;
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_engine::ENGINE;
use npsim_image::{ContextMode, Image};
use npsim_isa::{CommandOp, Instruction, Target, Unit, encode_in};
use npsim_profile::Profile;
use npsim_reference::REFERENCE;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::programs::commands::{
    Descriptor, JOURNAL, QUEUE, QUEUE_DESCRIPTOR, RING, RINGS, Reach, Upper, chip_program,
};
use super::programs::media::for_ixp2800;
use super::{text, view_of};
use course::{Ended, Steps, ended};
use observed_events::RecordedEvents;
use tasks::{Clerk, Watch};
use view::view;

/// Far more cycles than programs that end take.
pub(super) const MAX_CYCLES: Cycle = 1 << 14;

/// Ports, and the rate of each.
const PORTS: u8 = 2;
const BITS_PER_SECOND: u64 = 1_000_000_000;

/// The chip on which programs run, and its disturbances.
#[derive(Clone, Debug)]
pub(super) struct Bench {
    pub(super) chip: &'static str,
    pub(super) programs: Vec<Vec<Instruction>>,
    /// The microengines that run them.
    pub(super) places: Vec<u8>,
    /// Bit n: that of program n has four contexts.
    pub(super) four_contexts: u8,
    /// In the order of their beginnings.
    pub(super) frames: Vec<Arrival>,
    /// No frame is known before its first bit arrives, as between chips of a network.
    pub(super) surprised: bool,
    /// The work of the general-purpose core.
    pub(super) tasks: Vec<Box<dyn Task>>,
    pub(super) disturbances: Perturbations,
    /// A use of a register that a unit owns ends the run.
    pub(super) strict: bool,
}

/// Byte address of a ring in scratch.
const fn ring_base(ring: u8) -> u32 {
    0x1000 + 0x200 * ring as u32
}

pub(super) fn chip(kind: CoreKind, bench: &Bench) -> Chip {
    let profile = Profile::load(bench.chip).unwrap();
    let ring = |number: u8| RingSetup {
        number,
        base: ring_base(number),
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
    let boot = BootPlan {
        rings: RINGS.map(ring).collect(),
        queues: vec![QueueSetup {
            channel: 0,
            entry: QUEUE as u8,
            descriptor: 4 * QUEUE_DESCRIPTOR,
        }],
        memory: vec![descriptor(&RING), descriptor(&JOURNAL)],
        ports: vec![port; PORTS.into()],
        tasks: bench.tasks.clone(),
        task_kinds: vec!["clerk".to_owned(), "watch".to_owned()],
        disturbances: bench.disturbances.clone(),
        ..BootPlan::default()
    };
    let programs = (0..).zip(&bench.programs).map(|(n, program)| {
        let contexts = match bench.four_contexts >> n & 1 {
            0 => ContextMode::Eight,
            _ => ContextMode::Four,
        };
        let words = program.iter();
        let words = words.map(|it| encode_in(it, Target::with_mode(contexts)).unwrap());
        let mut image = Image::from_words("random", words.collect());
        image.contexts = contexts;
        (bench.places[n], Program::new(&image, &profile).unwrap())
    });
    let programs = programs.collect();
    let mut chip = Chip::new(kind, profile, &boot, programs).unwrap();
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

fn disturbances() -> impl Strategy<Value = Perturbations> {
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
    (late, stalls).prop_map(|(late, stalls)| Perturbations { late, stalls })
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
        arrivals.filter(|it| it.start < MAX_CYCLES).collect()
    })
}

/// The work of the core: most often none, because a core with work never comes to rest.
fn tasks() -> impl Strategy<Value = Vec<Box<dyn Task>>> {
    let space = select(vec![Space::Scratch, Space::Sram(0), Space::Sram(1)]);
    let clerk = (space, 0..8_u32, 200..4000_u64).prop_map(|(space, word, period)| {
        let address = 4 * word;
        Box::new(Clerk::new(LongwordAddress { space, address }, period)) as Box<dyn Task>
    });
    let watch = (RINGS, 0..3_u32, 100..2000_u64).prop_map(|(ring, word, period)| {
        let place = LongwordAddress {
            space: Space::Scratch,
            address: ring_base(ring) + 4 * word,
        };
        Box::new(Watch::new(ring, place, period)) as Box<dyn Task>
    });
    let task = prop_oneof![clerk, watch];
    prop_oneof![
        3 => Just(Vec::new()),
        1 => proptest::collection::vec(task, 1..4),
    ]
}

fn bench() -> impl Strategy<Value = Bench> {
    // Of an IXP2800 both clusters have eight: programs are in the first, or on both sides of the
    // border, or in both by turns. The fourth of the second cluster has none.
    let chip = select(vec![
        ("ixp2400", [0, 1, 2, 3, 4, 5]),
        ("ixp2400", [0, 1, 2, 3, 4, 5]),
        ("ixp2400", [0, 4, 1, 5, 2, 6]),
        ("ixp2800", [0, 1, 2, 3, 4, 5]),
        ("ixp2800", [7, 8, 6, 9, 5, 10]),
        ("ixp2800", [0, 8, 1, 9, 2, 10]),
    ]);
    let upper = (any::<u16>(), any::<bool>(), any::<bool>());
    let upper = upper.prop_map(|(general, s_transfer, d_transfer)| Upper {
        general,
        s_transfer,
        d_transfer,
    });
    let four = proptest::option::weighted(0.2, upper);
    let program = move |reach| (chip_program(reach), four.clone());
    let programs = |reach| proptest::collection::vec(program(reach), 1..7);
    let programs = prop_oneof![programs(Reach::Own), programs(Reach::Others)];
    let strict = proptest::bool::weighted(0.15);
    let frames = (frames(), any::<bool>());
    let around = (tasks(), disturbances());
    (chip, programs, frames, around, strict).prop_map(
        |((chip, places), programs, (frames, surprised), (tasks, mut disturbances), strict)| {
            let mut four_contexts = 0;
            let each = (0..).zip(programs).map(|(n, (mut program, four))| {
                if chip == "ixp2800" {
                    program = for_ixp2800(program);
                }
                let Some(upper) = four else {
                    return program;
                };
                four_contexts |= 1 << n;
                upper.program(program)
            });
            let programs: Vec<_> = each.collect();
            disturbances.stalls.retain_mut(|stall| {
                let n = stall.me;
                stall.me = places[usize::from(n)];
                usize::from(n) < programs.len()
                    && (four_contexts >> n & 1 == 0 || stall.context % 2 == 0)
            });
            Bench {
                chip,
                places: places[..programs.len()].to_vec(),
                programs,
                four_contexts,
                frames,
                surprised,
                tasks,
                disturbances,
                strict,
            }
        },
    )
}

fn steps() -> impl Strategy<Value = Steps> {
    let steps = prop_oneof![
        4 => Just((MAX_CYCLES, false)),
        4 => (1..400_u64, Just(false)),
        4 => (300..3000_u64, Just(true)),
        // Saves so frequent that hardly any command is served without one in between.
        1 => (40..300_u64, Just(true)),
    ];
    let answered = proptest::option::of(1..600_u64);
    let breath = proptest::option::weighted(0.3, 1..500_u64);
    (steps, answered, looks(), breath).prop_map(|((cycles, saved), answered, looks, breath)| {
        Steps {
            cycles,
            saved,
            answered,
            looks,
            pauses: true,
            breath,
        }
    })
}

/// The cycles at which a chip is inspected: anywhere in the time that most programs take, and more
/// than once while the same commands are in flight.
fn looks() -> impl Strategy<Value = Vec<Cycle>> {
    let group = (1..5000_u64, proptest::collection::vec(1..40_u64, 0..4));
    proptest::collection::vec(group, 0..4).prop_map(|groups| {
        let mut looks = Vec::new();
        for (mut at, behind) in groups {
            looks.push(at);
            for after in behind {
                at += after;
                looks.push(at);
            }
        }
        looks.sort_unstable();
        looks.dedup();
        looks
    })
}

/// A few chips exercise everything except the host's bus: otherwise the programs would miss cases
/// under test.
#[test]
fn generated_chips_exercise_every_command() {
    let mut left: Vec<_> = CommandOp::ALL
        .into_iter()
        .filter(|op| op.info().unit != Unit::Pci)
        .collect();
    let mut runner = TestRunner::deterministic();
    let benches = bench();
    let (mut both, mut upper) = (0, 0);
    let mut jobs = Vec::new();
    for _ in 0..200 {
        let bench = benches.new_tree(&mut runner).unwrap().current();
        let second = if bench.chip == "ixp2800" { 8 } else { 4 };
        let clusters = |far| bench.places.iter().any(|it| (*it >= second) == far);
        both += u32::from(clusters(false) && clusters(true));
        let mut told = RecordedEvents::default();
        ended(ENGINE, &bench, &Steps::AT_ONCE, &mut told);
        for (_, event) in &told.events {
            if let TraceEvent::Gpp { step, .. } = event {
                jobs.push(*step);
            }
            if let TraceEvent::Done { command, .. } = event {
                left.retain(|op| *op != command.op);
                let n = bench.places.iter().position(|it| *it == command.me);
                let four = bench.four_contexts >> n.unwrap() & 1 == 1;
                upper += u32::from(four && command.transfer % 32 >= 16);
            }
        }
    }
    assert_eq!(left, []);
    assert!(upper > 100, "{upper} commands move upper registers");
    for (step, least) in [("unlock", 100), ("look", 20)] {
        let times = jobs.iter().filter(|it| **it == step).count();
        assert!(times > least, "{step}: {times}");
    }
    assert!(both > 80, "{both} chips with both clusters");
}

/// Chips reach most of the pauses, some run past one, and much is in flight at them.
#[test]
fn generated_chips_pause_with_commands_in_flight() {
    let mut runner = TestRunner::deterministic();
    let both = (bench(), steps());
    let (mut pauses, mut beyond, mut busy) = (0, 0, 0);
    for _ in 0..150 {
        let (bench, steps) = both.new_tree(&mut runner).unwrap().current();
        let ended = ended(ENGINE, &bench, &steps, &mut NoObserver);
        for look in &ended.looks {
            pauses += 1;
            beyond += u32::from(look.at > look.pause);
            let commands = look.seen.iter().find(|it| it.0 == "commands");
            busy += u32::from(commands.is_some_and(|it| it.1 != "[]"));
        }
    }
    let all = (pauses, beyond, busy);
    assert!(pauses > 200 && beyond > 5 && busy > 100, "{all:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: npsim_strategy::cases(60), max_local_rejects: 1 << 24, ..ProptestConfig::default() })]

    /// The observed engine, the engine without an observer, and the reference core.
    #[test]
    fn both_cores_agree_on_whole_chips(bench in bench(), steps in steps()) {
        let mut by_engine = RecordedEvents::default();
        let watched_steps = Steps { saved: false, ..steps.clone() };
        let engine = ended(ENGINE, &bench, &watched_steps, &mut by_engine);
        let alone = ended(ENGINE, &bench, &steps, &mut NoObserver);
        let looks: BTreeSet<_> = engine.looks.iter().chain(&alone.looks).map(|it| it.at).collect();
        let mut by_reference = RecordedEvents::default();
        let looked_at = Steps { looks: looks.into_iter().collect(), ..Steps::AT_ONCE };
        let reference = ended(REFERENCE, &bench, &looked_at, &mut by_reference);

        let source = || {
            let around = (bench.chip, &bench.places, bench.four_contexts, &bench.frames, bench.surprised, &bench.tasks, &bench.disturbances, bench.strict);
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
                false, "the engine reports\n{}\nthe reference core\n{}\n{}", told, expected, source()
            );
        }
        prop_assert_eq!(place(&alone), place(&reference), "unwatched, {}", source());
        for look in &engine.looks {
            let before = expected.iter().filter(|it| it.0 < look.pause).count();
            prop_assert_eq!(look.told, before, "told before {}, {}", look.pause, source());
        }
        for look in engine.looks.iter().chain(&alone.looks) {
            let at = (look.pause, look.at);
            let expected = reference.looks.iter().find(|it| it.at == look.at);
            prop_assert!(expected.is_some(), "the reference core does not come to {:?}, {}", at, source());
            for (engine, reference) in look.seen.iter().zip(&expected.unwrap().seen) {
                // The counts include only part of the last cycle.
                if look.at == look.pause || !["cycle", "counts"].contains(&&*reference.0) {
                    prop_assert_eq!(engine, reference, "at {:?}, {}", at, source());
                }
            }
        }
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
