//! What explanations say an instruction costs is what a run takes for it.

use std::collections::BTreeSet;

use npsim::chip::Cycle;
use npsim::chip::kernel::check::Check;
use npsim::chip::kernel::fabric::Fabric;
use npsim::chip::kernel::observer::Observer;
use npsim::chip::kernel::trace_event::TraceEvent;
use npsim::chip::microengine::{Microengine, Program};
use npsim::chip::profile::Profile;
use npsim::explain::{Cost, costs};
use npsim::image::Image;
use npsim::isa::strategy::arb_instruction;
use npsim::isa::{CtxArb, Flow, Instruction, encode, mnemonics};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// The instruction that is looked at; defer slots and an end follow it.
const AT: u16 = 1;
/// Where it leads to.
const TARGET: u16 = 8;
/// Cycles after which nothing more is expected of one microengine.
const LONG_ENOUGH: Cycle = 200;

/// The issue slots that one microengine used.
#[derive(Default)]
struct Slots {
    issued: Vec<u16>,
    aborted: Cycle,
}

impl Observer for Slots {
    const ON: bool = true;

    fn see(&mut self, _: Cycle, what: &TraceEvent) {
        match *what {
            TraceEvent::Issued { pc, count, .. } => self.issued.extend(pc..pc + count),
            TraceEvent::Aborted { pc: AT, slots, .. } => self.aborted += slots,
            _ => {}
        }
    }
}

fn program(before: Instruction, instruction: Instruction) -> Vec<Instruction> {
    let halt = Instruction::CtxArb(CtxArb {
        mask: 0,
        any: false,
        breakpoint: true,
        keep_mask: false,
        resume: None,
        defer: 0,
    });
    let mut program = vec![halt; usize::from(TARGET) + 1];
    program[0] = before;
    program[usize::from(AT)] = instruction.with_target(TARGET);
    program[2..5].fill(Instruction::Nop);
    program
}

fn run(program: &[Instruction], profile: &Profile) -> Slots {
    let words = program.iter().map(|one| encode(one).unwrap()).collect();
    let image = Image::from_words("generated", words);
    let mut fabric = Fabric::new(profile.clone());
    for &check in Check::ALL {
        fabric.checks.allow(check);
    }
    let mut me = Microengine::new(0, profile);
    me.load(Program::new(&image, profile).unwrap());
    me.start(1, &mut fabric);
    fabric.horizon = LONG_ENOUGH;
    let mut slots = Slots::default();
    while fabric.checks.fault().is_none() && fabric.events.next_time() < LONG_ENOUGH {
        let Some((time, _)) = fabric.events.pop() else {
            break;
        };
        fabric.now = time;
        me.run(&mut fabric, &mut slots);
    }
    slots
}

/// Whether the instruction was executed, and cost what was foretold.
fn compare(program: &[Instruction], profile: &Profile) -> bool {
    let decoded: Vec<_> = program.iter().copied().map(Some).collect();
    let cost: &Cost = &costs(&decoded, profile)[usize::from(AT)];
    let slots = run(program, profile);
    let issued = slots.issued.iter().filter(|&&pc| pc == AT).count() as u64;
    if issued == 0 {
        // It or the one before it is no good without the rest of a chip.
        return false;
    }
    let instruction = &program[usize::from(AT)];
    let text = format!("`{instruction}` after `{}`: {cost:?}", program[0]);
    assert_eq!(issued, cost.cycles, "{text}");
    let goes = match instruction.form().flow {
        Flow::Next => false,
        Flow::Branch | Flow::Jump => true,
        Flow::Arbitration | Flow::Command => instruction.swaps(),
        Flow::Codes | Flow::Bit | Flow::State => slots.issued.contains(&TARGET),
    };
    assert_eq!(slots.aborted, if goes { cost.aborted } else { 0 }, "{text}");
    true
}

#[test]
fn explained_costs_are_those_of_the_run_for_every_form_over_generated_programs() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_instruction();
    let mut any = move || strategy.new_tree(&mut runner).unwrap().current();
    let all: usize = mnemonics().iter().map(|row| row.forms.len()).sum();
    let other_spellings = ["load_addr", "halt"].len();
    let profile = Profile::load("ixp2400").unwrap();
    let mut seen = BTreeSet::new();
    for _ in 0..8192 {
        let (before, instruction) = (any(), any());
        if before.is_control_flow() {
            continue;
        }
        if compare(&program(before, instruction), &profile) {
            seen.insert(std::ptr::from_ref(instruction.form()));
        }
    }
    assert_eq!(seen.len() + other_spellings, all, "some form was never run");
}

#[test]
fn a_branch_pays_for_new_codes_after_everything_that_sets_them() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_instruction().prop_filter("falls through", |one| !one.is_control_flow());
    let mut any = move || strategy.new_tree(&mut runner).unwrap().current();
    let branches: Vec<Instruction> = npsim::isa::Condition::ALL
        .into_iter()
        .map(|condition| Instruction::Branch {
            condition,
            target: TARGET,
            defer: 0,
        })
        .collect();
    for name in ["ixp2400", "ixp2800"] {
        let profile = Profile::load(name).unwrap();
        for _ in 0..1024 {
            let before = any();
            for &branch in &branches {
                compare(&program(before, branch), &profile);
            }
        }
    }
}
