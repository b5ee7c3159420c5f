//! Whole chips: commands of several microengines meet at buses and units, and what is told of
//! a run is the same on both cores, too.

use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::core::CoreKind;
use npsim_chip::engine::ENGINE;
use npsim_chip::gpp::boot::{Boot, QueueSetup, RingSetup, RingStatus};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::disturb::{Disturbances, Lateness, Stall};
use npsim_chip::kernel::lines::NoTraffic;
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_chip::microengine::Program;
use npsim_chip::profile::Profile;
use npsim_image::Image;
use npsim_isa::{Instruction, encode};
use npsim_reference::REFERENCE;
use proptest::prelude::*;
use proptest::sample::select;

use super::programs::commands::{QUEUE, RINGS, of_chips};
use super::{text, view_of};

/// Far more cycles than programs take that end.
pub(super) const MOST_CYCLES: Cycle = 1 << 14;

/// Longwords at the beginning of each memory that are compared, the rings among them.
const LONGWORDS: u32 = 1536;

/// All that is told, with instructions one by one: how many are told at once is up to a core.
#[derive(Default)]
struct Told(Vec<(Cycle, TraceEvent)>);

impl Observer for Told {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        let TraceEvent::Issued {
            me,
            context,
            pc,
            count,
        } = *event
        else {
            self.0.push((at, *event));
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
        self.0.extend(each);
    }
}

impl Told {
    /// By cycle and rank, as they are promised to come. Within them what the pipeline does
    /// comes first, for a core may tell it ahead of signals of the same cycle; the rest stays
    /// as it was told. A fault ends a run within its cycle, and what is told of that cycle and
    /// beyond depends on who had his turn.
    fn of(mut self, chip: &Chip) -> Vec<(Cycle, TraceEvent)> {
        let end = chip.fault().map_or(Cycle::MAX, |fault| fault.cycle);
        self.0.retain(|(at, _)| *at < end);
        let of_pipeline = |event: &TraceEvent| {
            matches!(
                event,
                TraceEvent::Issued { .. }
                    | TraceEvent::Aborted { .. }
                    | TraceEvent::Held { .. }
                    | TraceEvent::Stalled { .. }
            )
        };
        self.0
            .sort_by_key(|(at, event)| (*at, event.rank(), !of_pipeline(event)));
        self.0
    }
}

/// What programs run on, and what disturbs them.
#[derive(Clone, Debug)]
pub(super) struct Bench {
    pub(super) chip: &'static str,
    pub(super) programs: Vec<Vec<Instruction>>,
    pub(super) disturbances: Disturbances,
    /// Who uses a register that a unit owns ends the run.
    pub(super) strict: bool,
}

pub(super) fn chip(kind: CoreKind, bench: &Bench) -> Chip {
    let profile = Profile::load(bench.chip).unwrap();
    let ring = |number: u8| RingSetup {
        number,
        base: 0x1000 + 0x200 * u32::from(number),
        size: 128,
        status: RingStatus::NearlyFull,
    };
    let boot = Boot {
        rings: RINGS.map(ring).collect(),
        queues: vec![QueueSetup {
            channel: 0,
            entry: QUEUE as u8,
            descriptor: 0x800,
        }],
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
}

const AT_ONCE: Steps = Steps {
    cycles: MOST_CYCLES,
    saved: false,
};

/// A chip at its end, and how that came.
pub(super) fn ended(
    kind: CoreKind,
    bench: &Bench,
    steps: Steps,
    observer: &mut dyn Observer,
) -> (Chip, Stop) {
    let mut it = chip(kind, bench);
    let mut until = 0;
    loop {
        until = MOST_CYCLES.min(until + steps.cycles);
        let stop = it.run(until, &mut NoTraffic, observer);
        if stop != Stop::Reached || until == MOST_CYCLES {
            return (it, stop);
        }
        if steps.saved {
            let state = it.save().unwrap();
            it = chip(kind, bench);
            it.restore(&state).unwrap();
        }
    }
}

/// Everything that can be seen of a chip, by name.
fn view(chip: &Chip, stop: &Stop) -> Vec<(String, String)> {
    let mut seen = vec![("stop".to_owned(), format!("{stop:?}"))];
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

fn bench() -> impl Strategy<Value = Bench> {
    let chip = select(vec!["ixp2400", "ixp2800"]);
    let programs = proptest::collection::vec(of_chips(), 1..7);
    let strict = proptest::bool::weighted(0.15);
    (chip, programs, disturbances(), strict).prop_map(
        |(chip, programs, mut disturbances, strict)| {
            let there = |stall: &Stall| usize::from(stall.me) < programs.len();
            disturbances.stalls.retain(there);
            Bench {
                chip,
                programs,
                disturbances,
                strict,
            }
        },
    )
}

fn steps() -> impl Strategy<Value = Steps> {
    prop_oneof![
        Just(AT_ONCE),
        (1..400_u64).prop_map(|cycles| Steps {
            cycles,
            saved: false
        }),
        (300..3000_u64).prop_map(|cycles| Steps {
            cycles,
            saved: true
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_local_rejects: 1 << 24, ..ProptestConfig::default() })]

    /// The engine that is watched, the engine that nobody watches, and the reference core.
    #[test]
    fn chips_are_the_same_with_both_cores(bench in bench(), steps in steps()) {
        let mut by_reference = Told::default();
        let (reference, stop) = ended(REFERENCE, &bench, AT_ONCE, &mut by_reference);
        let mut by_engine = Told::default();
        let watched_steps = Steps { saved: false, ..steps };
        let (engine, engine_stop) = ended(ENGINE, &bench, watched_steps, &mut by_engine);

        let source = || format!("{:?} of\n{}", (bench.chip, &bench.disturbances), text(&bench.programs));
        let place = |chip: &Chip| chip.fault().map(|it| (it.check, it.me, it.pc, it.cycle));
        prop_assert_eq!(
            place(&engine), place(&reference),
            "{:?} and {:?} {}", engine.fault(), reference.fault(), source()
        );
        let (told, expected) = (by_engine.of(&engine), by_reference.of(&reference));
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
        let (alone, alone_stop) = ended(ENGINE, &bench, steps, &mut NoObserver);
        prop_assert_eq!(place(&alone), place(&reference), "unwatched, {}", source());
        if reference.fault().is_some() {
            return Ok(());
        }
        let expected = view(&reference, &stop);
        for (who, seen) in [
            ("watched", view(&engine, &engine_stop)),
            ("unwatched", view(&alone, &alone_stop)),
        ] {
            prop_assert_eq!(seen.len(), expected.len());
            for (engine, reference) in seen.iter().zip(&expected) {
                prop_assert_eq!(engine, reference, "{}, {}", who, source());
            }
        }
    }
}
