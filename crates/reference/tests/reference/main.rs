//! The engine and the reference core on the same random programs: the same
//! registers, codes, local memory, CAM and CRC, the same contexts, times and
//! counts, and the same complaints.

mod programs;

use npsim_chip::core::{Core, CoreKind};
use npsim_chip::engine::ENGINE;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{Fabric, TransferKind};
use npsim_chip::microengine::Program;
use npsim_chip::profile::Profile;
use npsim_chip::units::Units;
use npsim_image::{Image, NnMode};
use npsim_isa::{Bank, Instruction, Operand, encode};
use npsim_reference::REFERENCE;
use proptest::prelude::*;

/// Far more cycles than a random program takes that ends. Contexts that overwrite
/// each other's loop counters may not.
const MOST_CYCLES: u64 = 1 << 18;

/// What is put into a core before it starts, and how it is run.
#[derive(Debug)]
struct Setup<'a> {
    program: &'a [Instruction],
    contexts: u8,
    s_in: &'a [u32; 128],
    d_in: &'a [u32; 128],
    /// Cycles between two horizons.
    steps: u64,
    /// The core is saved and restored at each horizon.
    saved: bool,
}

/// A core that has come to its end without units around it.
struct Ended {
    core: Box<dyn Core>,
    fabric: Fabric,
}

impl Ended {
    /// The core at its end; nothing if it does not come to one.
    fn of(kind: CoreKind, setup: &Setup<'_>) -> Option<Self> {
        let profile = Profile::load("ixp2400").unwrap();
        let words = setup.program.iter();
        let words = words.map(|instruction| encode(instruction).unwrap());
        let mut image = Image::from_words("random", words.collect());
        // Its neighbour is itself, so that what it sends comes back.
        image.nn_mode = NnMode::Own;
        let mut fabric = Fabric::new(profile.clone(), Units::inlets);
        fabric.checks.allow(Check::LocalMemoryEarly);
        fabric.checks.allow(Check::SignalRaisedTwice);
        let mut core = (kind.make)(0, &profile);
        core.load(Program::new(&image, &profile).unwrap());
        core.push(TransferKind::S, 0, setup.s_in);
        core.push(TransferKind::D, 0, setup.d_in);
        core.start(setup.contexts, &mut fabric);
        let mut ended = Self { core, fabric };
        let mut until = 0;
        while !ended.fabric.events.is_empty() && ended.fabric.checks.fault().is_none() {
            if until >= MOST_CYCLES {
                return None;
            }
            until += setup.steps;
            ended.run(until);
            if setup.saved {
                let state = ended.core.save().unwrap();
                ended.core = ended.core.restored(&state).unwrap();
            }
        }
        Some(ended)
    }

    fn run(&mut self, until: u64) {
        let Self { core, fabric } = self;
        fabric.horizon = until;
        while fabric.events.next_time() < until && fabric.checks.fault().is_none() {
            let (time, event) = fabric.events.pop().unwrap();
            fabric.now = time;
            match event {
                Event::Microengine(0) => core.run(fabric),
                Event::Signal {
                    context, signal, ..
                } => core.signal(context, 1 << signal, fabric),
                Event::Timer { context, .. } => core.timer(context, fabric),
                other => panic!("{other:?} without units"),
            }
        }
    }

    fn fault(&self) -> Option<&Fault> {
        self.fabric.checks.fault()
    }
}

fn text(program: &[Instruction]) -> String {
    let lines: Vec<_> = program
        .iter()
        .enumerate()
        .map(|(n, instruction)| format!("{n}: {instruction}"))
        .collect();
    lines.join("\n")
}

/// Everything that can be seen of a core from outside, by name.
fn view(ended: &Ended) -> Vec<(String, String)> {
    let core = &ended.core;
    let now = ended.fabric.now;
    let mut seen: Vec<(String, String)> = Vec::new();
    let mut see = |name: &str, what: &dyn std::fmt::Debug| {
        seen.push((name.to_owned(), format!("{what:?}")));
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
    let passed_over: Vec<_> = ended.fabric.checks.passed_over().collect();
    see("complaints", &passed_over);
    see("ring", &ended.fabric.nn_rings[0]);
    seen
}

fn compare(setup: &Setup<'_>) -> Result<(), TestCaseError> {
    let engine = Ended::of(ENGINE, setup);
    let reference = Ended::of(REFERENCE, setup);
    prop_assert_eq!(
        engine.is_some(),
        reference.is_some(),
        "one ends, the other does not, of\n{}",
        text(setup.program)
    );
    let (Some(engine), Some(reference)) = (engine, reference) else {
        return Ok(());
    };
    let place = |ended: &Ended| ended.fault().map(|it| (it.check, it.pc, it.cycle));
    prop_assert_eq!(
        place(&engine),
        place(&reference),
        "{:?} and {:?} of\n{}",
        engine.fault(),
        reference.fault(),
        text(setup.program)
    );
    if engine.fault().is_none() {
        for (engine, reference) in view(&engine).iter().zip(&view(&reference)) {
            prop_assert_eq!(engine, reference, "of\n{}", text(setup.program));
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
    #![proptest_config(ProptestConfig { cases: 1500, max_local_rejects: 1 << 24, ..ProptestConfig::default() })]

    #[test]
    fn one_context_is_the_same_on_both_cores(
        program in programs::of_one_context(),
        seed in proptest::array::uniform32(any::<u32>()),
        steps in steps(),
    ) {
        let (s_in, d_in) = registers(seed);
        compare(&Setup { program: &program, contexts: 1, s_in: &s_in, d_in: &d_in, steps, saved: false })?;
    }

    /// Horizons lie within rounds: they are farther apart than the program is long, before
    /// which the engine looks at each instruction.
    #[test]
    fn lines_that_go_round_are_the_same_on_both_cores(
        program in programs::of_rounds(),
        seed in proptest::array::uniform32(any::<u32>()),
        steps in prop_oneof![Just(1_u64 << 20), 100..1000_u64],
        saved in proptest::bool::weighted(0.1),
    ) {
        let (s_in, d_in) = registers(seed);
        compare(&Setup { program: &program, contexts: 1, s_in: &s_in, d_in: &d_in, steps, saved })?;
    }

    #[test]
    fn contexts_that_share_registers_and_signals_are_the_same_on_both_cores(
        program in programs::of_contexts(),
        others in 0..0x40_u8,
        seed in proptest::array::uniform32(any::<u32>()),
        steps in steps(),
        saved in proptest::bool::weighted(0.1),
    ) {
        let (s_in, d_in) = registers(seed);
        compare(&Setup { program: &program, contexts: others << 1 | 1, s_in: &s_in, d_in: &d_in, steps: steps.max(if saved { 500 } else { 16 }), saved })?;
    }
}
