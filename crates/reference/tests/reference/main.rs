//! The engine and the reference core on the same random programs: the same registers, codes, local
//! memory, CAM and CRC, the same contexts, times and counts, and the same faults.

mod chips;
mod programs;
mod reached;
mod word_oracle;

use npsim_chip::core::Program;
use npsim_chip::core::{Core, CoreKind};
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{Fabric, TransferKind};
use npsim_chip::units::Units;
use npsim_engine::ENGINE;
use npsim_image::{Image, NnMode};
use npsim_isa::{Bank, ContextSet, Instruction, Operand, encode};
use npsim_profile::Profile;
use npsim_reference::REFERENCE;
use proptest::prelude::*;

/// Far more cycles than a random program that ends takes. Contexts that overwrite each other's loop
/// counters may not end.
const MAX_CYCLES: u64 = 1 << 18;

/// The initial contents of cores, and how they are run.
#[derive(Debug)]
struct Setup<'a> {
    /// The program of each microengine. A single one is its own neighbour, so that what it
    /// sends comes back.
    programs: &'a [Vec<Instruction>],
    /// Bit c: context c is started.
    contexts: u16,
    s_in: &'a [u32; 128],
    d_in: &'a [u32; 128],
    /// Cycles between two horizons.
    steps: u64,
    /// Cores are saved and restored at each horizon.
    saved: bool,
}

/// Cores that have reached their end without units around them.
struct Ended {
    cores: Vec<Box<dyn Core>>,
    fabric: Fabric,
}

impl Ended {
    /// The cores at their end; `None` if they do not reach one.
    fn of(kind: CoreKind, setup: &Setup<'_>) -> Option<Self> {
        let profile = Profile::load("ixp2400").unwrap();
        let mut fabric = Fabric::new(profile.clone(), Units::inlets);
        fabric.checks.allow(Check::LocalMemoryEarly);
        fabric.checks.allow(Check::SignalRaisedTwice);
        let cores = (0..).zip(setup.programs).map(|(me, program)| {
            let words = program.iter();
            let words = words.map(|instruction| encode(instruction).unwrap());
            let mut image = Image::from_words("random", words.collect());
            if setup.programs.len() == 1 {
                image.nn_mode = NnMode::Own;
            }
            let mut core = (kind.make)(me, &profile);
            core.load(Program::new(&image, &profile).unwrap());
            core.push(TransferKind::S, 0, setup.s_in);
            core.push(TransferKind::D, 0, setup.d_in);
            core.start(ContextSet::from_bits(setup.contexts), &mut fabric);
            core
        });
        let cores = cores.collect();
        let mut ended = Self { cores, fabric };
        let mut until = 0;
        while !ended.fabric.events.is_empty() && ended.fabric.checks.fault().is_none() {
            if until >= MAX_CYCLES {
                return None;
            }
            until += setup.steps;
            ended.run(until);
            if setup.saved {
                for core in &mut ended.cores {
                    let state = core.save().unwrap();
                    *core = core.restored(&state).unwrap();
                }
            }
        }
        Some(ended)
    }

    fn run(&mut self, until: u64) {
        let Self { cores, fabric } = self;
        fabric.horizon = until;
        while fabric.events.next_time() < until && fabric.checks.fault().is_none() {
            let (time, event) = fabric.events.pop().unwrap();
            fabric.now = time;
            let (Event::Microengine(me)
            | Event::Signal { me, .. }
            | Event::Timer { me, .. }
            | Event::NnPut { me, .. }) = event
            else {
                panic!("{event:?} without units");
            };
            // Data sent to a microengine without a program is lost.
            let Some(core) = cores.get_mut(usize::from(me)) else {
                continue;
            };
            match event {
                Event::Signal {
                    context, signal, ..
                } => core.signal(context, 1 << signal, fabric),
                Event::Timer { context, .. } => core.timer(context, fabric),
                Event::NnPut {
                    index, value, ring, ..
                } => core.nn_put(index, value, ring, fabric),
                _ => core.run(fabric),
            }
        }
    }

    fn fault(&self) -> Option<&Fault> {
        self.fabric.checks.fault()
    }
}

fn text(programs: &[Vec<Instruction>]) -> String {
    let lines = programs.iter().enumerate().flat_map(|(me, program)| {
        let lines = program.iter().enumerate();
        lines.map(move |(n, instruction)| format!("microengine {me}, {n}: {instruction}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Everything observable from outside, by name.
fn view(ended: &Ended) -> Vec<(String, String)> {
    let cores = ended.cores.iter().enumerate();
    let mut seen: Vec<_> = cores
        .flat_map(|(me, core)| view_of(me, core.as_ref(), &ended.fabric))
        .collect();
    let passed_over: Vec<_> = ended.fabric.checks.passed_over().collect();
    seen.push(("complaints".to_owned(), format!("{passed_over:?}")));
    seen
}

/// Everything observable about a core.
fn view_of(me: usize, core: &dyn Core, fabric: &Fabric) -> Vec<(String, String)> {
    let now = fabric.now;
    let mut seen: Vec<(String, String)> = Vec::new();
    let mut see = |name: &str, what: &dyn std::fmt::Debug| {
        seen.push((format!("microengine {me}, {name}"), format!("{what:?}")));
    };
    for n in 0..128 {
        for (name, bank) in [("a", Bank::A), ("b", Bank::B)] {
            let value = core.read_register(Operand::GprAbsolute(bank, n), 0);
            see(&format!("@{name}{n}"), &value);
        }
        for (name, kind) in [("$", TransferKind::S), ("$$", TransferKind::D)] {
            see(&format!("{name}{n}"), &core.read_out_register(kind, n));
        }
        see(
            &format!("n${n}"),
            &core.read_register(Operand::Nn(n % 16), n / 16),
        );
    }
    see("local memory", &core.local_memory());
    see("codes", &core.condition_codes());
    see("CRC", &core.crc_remainder());
    see("CAM order", &core.cam_order());
    for entry in 0..16 {
        see(&format!("CAM entry {entry}"), &core.cam_entry(entry));
    }
    for context in 0..8 {
        see(&format!("context {context}"), &core.context(context));
    }
    see("report", &core.state_report());
    see("cycle", &(core.local_time(), now));
    see("counts", &core.stats_at(now));
    see("ring", &fabric.nn_rings[me]);
    seen
}

fn compare(setup: &Setup<'_>) -> Result<(), TestCaseError> {
    let engine = Ended::of(ENGINE, setup);
    let reference = Ended::of(REFERENCE, setup);
    prop_assert_eq!(
        engine.is_some(),
        reference.is_some(),
        "one ends, the other does not, of\n{}",
        text(setup.programs)
    );
    let (Some(engine), Some(reference)) = (engine, reference) else {
        return Ok(());
    };
    let place = |ended: &Ended| ended.fault().map(|it| (it.check, it.me, it.pc, it.cycle));
    prop_assert_eq!(
        place(&engine),
        place(&reference),
        "{:?} and {:?} of\n{}",
        engine.fault(),
        reference.fault(),
        text(setup.programs)
    );
    if engine.fault().is_none() {
        for (engine, reference) in view(&engine).iter().zip(&view(&reference)) {
            prop_assert_eq!(engine, reference, "of\n{}", text(setup.programs));
        }
    }
    Ok(())
}

fn registers(seed: [u32; 32]) -> ([u32; 128], [u32; 128]) {
    let s_in: [u32; 128] = std::array::from_fn(|n| seed[n % 32].wrapping_mul(n as u32 + 1));
    let d_in = std::array::from_fn(|n| s_in[127 - n] ^ n as u32);
    (s_in, d_in)
}

fn steps() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1 << 20), Just(1_u64), 2..50_u64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: npsim_strategy::cases(300), max_local_rejects: 1 << 24, ..ProptestConfig::default() })]

    #[test]
    fn both_cores_agree_on_one_context(
        program in programs::single_context(),
        seed in proptest::array::uniform32(any::<u32>()),
        steps in steps(),
    ) {
        let (s_in, d_in) = registers(seed);
        compare(&Setup { programs: &[program], contexts: 1, s_in: &s_in, d_in: &d_in, steps, saved: false })?;
    }

    /// Horizons lie within iterations: they are farther apart than the program's length; closer to
    /// a horizon, the engine checks each instruction.
    #[test]
    fn both_cores_agree_on_loops(
        program in programs::rounds::looping(),
        seed in proptest::array::uniform32(any::<u32>()),
        steps in prop_oneof![Just(1_u64 << 20), 100..1000_u64],
        saved in proptest::bool::weighted(0.1),
    ) {
        let (s_in, d_in) = registers(seed);
        compare(&Setup { programs: &[program], contexts: 1, s_in: &s_in, d_in: &d_in, steps, saved })?;
    }

    #[test]
    fn both_cores_agree_on_contexts_sharing_registers_and_signals(
        program in programs::multi_context(),
        others in 0..0x40_u16,
        seed in proptest::array::uniform32(any::<u32>()),
        steps in steps(),
        saved in proptest::bool::weighted(0.1),
    ) {
        let (s_in, d_in) = registers(seed);
        compare(&Setup { programs: &[program], contexts: others << 1 | 1, s_in: &s_in, d_in: &d_in, steps: steps.max(if saved { 500 } else { 16 }), saved })?;
    }

    /// Each has its own program, raises signals of both neighbours and fills the ring of the next
    /// one.
    #[test]
    fn both_cores_agree_on_neighbouring_microengines(
        programs in proptest::collection::vec(programs::neighbouring(), 2..5),
        others in 0..0x10_u16,
        seed in proptest::array::uniform32(any::<u32>()),
        steps in steps(),
        saved in proptest::bool::weighted(0.1),
    ) {
        let (s_in, d_in) = registers(seed);
        compare(&Setup { programs: &programs, contexts: others << 1 | 1, s_in: &s_in, d_in: &d_in, steps: steps.max(if saved { 500 } else { 16 }), saved })?;
    }
}
