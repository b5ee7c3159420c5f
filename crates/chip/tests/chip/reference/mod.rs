//! The engine against a simple interpreter on random programs of one context:
//! the same registers, codes, local memory, CAM, CRC and times.

mod interpreter;
mod programs;

use interpreter::Reference;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{Fabric, TransferKind};
use npsim_chip::microengine::{ContextPhase, Microengine, Program};
use npsim_chip::profile::Profile;
use npsim_chip::units::Units;
use npsim_image::Image;
use npsim_isa::{Bank, Instruction, Operand, encode};
use proptest::prelude::*;

fn engine(
    program: &[Instruction],
    s_in: &[u32],
    d_in: &[u32],
    steps: u64,
) -> (Microengine, Option<Fault>) {
    let profile = Profile::load("ixp2400").unwrap();
    let words = program
        .iter()
        .map(|instruction| encode(instruction).unwrap())
        .collect();
    let image = Image::from_words("random", words);
    let mut fabric = Fabric::new(profile.clone(), Units::inlets);
    fabric.checks.allow(Check::LocalMemoryEarly);
    let mut me = Microengine::new(0, &profile);
    me.load(Program::new(&image, &profile).unwrap());
    me.push(TransferKind::S, 0, s_in);
    me.push(TransferKind::D, 0, d_in);
    me.start(1, &mut fabric);
    let mut until = 0;
    while me.context_state(0) != ContextPhase::Inactive {
        until += steps;
        fabric.horizon = until;
        while fabric.events.next_time() < until {
            let (time, event) = fabric.events.pop().unwrap();
            fabric.now = time;
            assert!(matches!(event, Event::Microengine(0)));
            me.run(&mut fabric);
            if let Some(fault) = fabric.checks.fault() {
                let fault = fault.clone();
                return (me, Some(fault));
            }
        }
        assert!(until < 1 << 30, "the program must end");
    }
    (me, None)
}

fn text(program: &[Instruction]) -> String {
    let lines: Vec<_> = program
        .iter()
        .enumerate()
        .map(|(n, instruction)| format!("{n}: {instruction}"))
        .collect();
    lines.join("\n")
}

fn compare(
    program: &[Instruction],
    me: &Microengine,
    reference: &Reference,
) -> Result<(), TestCaseError> {
    for n in 0..128 {
        let of = |bank| me.read_register(Operand::GprAbsolute(bank, n), 0);
        prop_assert_eq!(
            of(Bank::A),
            reference.a[n as usize],
            "a{} of\n{}",
            n,
            text(program)
        );
        prop_assert_eq!(
            of(Bank::B),
            reference.b[n as usize],
            "b{} of\n{}",
            n,
            text(program)
        );
        prop_assert_eq!(
            me.read_out_register(TransferKind::S, n),
            reference.s_out[n as usize],
            "${}",
            n
        );
        prop_assert_eq!(
            me.read_out_register(TransferKind::D, n),
            reference.d_out[n as usize],
            "$${}",
            n
        );
    }
    prop_assert_eq!(
        me.local_memory(),
        &reference.lm[..],
        "local memory of\n{}",
        text(program)
    );
    prop_assert_eq!(
        me.condition_codes(),
        reference.codes,
        "codes of\n{}",
        text(program)
    );
    prop_assert_eq!(
        me.crc_remainder(),
        reference.crc,
        "CRC of\n{}",
        text(program)
    );
    let mut order: Vec<u8> = (0..16).collect();
    order.sort_by_key(|&entry| reference.used[entry as usize]);
    prop_assert_eq!(
        &me.cam_order()[..],
        &order[..],
        "CAM order of\n{}",
        text(program)
    );
    for entry in 0..16 {
        let expected = (
            reference.tags[entry as usize],
            reference.states[entry as usize],
        );
        prop_assert_eq!(
            me.cam_entry(entry),
            expected,
            "CAM entry {} of\n{}",
            entry,
            text(program)
        );
    }
    prop_assert_eq!(
        me.local_time(),
        reference.cycle,
        "time of\n{}",
        text(program)
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_local_rejects: 1 << 24, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_the_reference(
        program in programs::program(),
        s_in in proptest::array::uniform32(any::<u32>()),
        steps in prop_oneof![Just(1 << 20), Just(1_u64), 2..50_u64],
    ) {
        let s_in: [u32; 128] = std::array::from_fn(|n| s_in[n % 32].wrapping_mul(n as u32 + 1));
        let d_in: [u32; 128] = std::array::from_fn(|n| s_in[127 - n] ^ n as u32);
        let (me, fault) = engine(&program, &s_in, &d_in, steps);
        let mut reference = Reference::new(&s_in, &d_in);
        let stopped = reference.run(&program);
        prop_assert_eq!(fault.as_ref().and_then(|it| Some((it.pc?, it.cycle))), stopped, "{:?} of\n{}", fault, text(&program));
        if stopped.is_none() {
            compare(&program, &me, &reference)?;
        }
    }
}
