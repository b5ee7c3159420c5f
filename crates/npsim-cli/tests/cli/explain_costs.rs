//! The cost of an instruction in explanations equals its cost in a run.

use std::collections::BTreeSet;

use npsim::chip::Cycle;
use npsim::chip::chip::Chip;
use npsim::chip::core::Program;
use npsim::chip::gpp::boot::BootPlan;
use npsim::chip::kernel::check::Check;
use npsim::chip::kernel::observer::Observer;
use npsim::chip::kernel::port_io::NoTraffic;
use npsim::chip::kernel::trace_event::TraceEvent;
use npsim::engine::ENGINE;
use npsim::explain::{Cost, costs};
use npsim::image::{FlowGraph, Image};
use npsim::isa::{CtxArb, FlowClass, Instruction, encode_in, mnemonics};
use npsim::profile::Profile;
use npsim_strategy::{NEWEST, arb_instruction};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::harness::newest;

/// The instruction under test; defer slots and an end follow it.
const TESTED_PC: u16 = 1;
/// Its target.
const TARGET: u16 = 8;
/// Cycles after which a sleeping context has given up its slots.
const SETTLE_CYCLES: Cycle = 200;

/// The issue slots that one microengine used.
#[derive(Default)]
struct Slots {
    issued: Vec<u16>,
    aborted: Cycle,
}

impl Observer for Slots {
    fn see(&mut self, _: Cycle, what: &TraceEvent) {
        match *what {
            TraceEvent::Issued {
                context: 0,
                pc,
                count,
                ..
            } => self.issued.extend(pc..pc + count),
            TraceEvent::Aborted {
                context: 0,
                pc: TESTED_PC,
                slots,
                ..
            } => self.aborted += slots,
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
    program[usize::from(TESTED_PC)] = instruction.with_target(TARGET);
    program[2..5].fill(Instruction::Nop);
    program
}

fn image(program: &[Instruction]) -> Image {
    let words = { program.iter() }.map(|one| encode_in(one, NEWEST).unwrap());
    Image {
        generation: NEWEST.generation,
        ..Image::from_words("generated", words.collect())
    }
}

fn run(image: &Image, profile: &Profile) -> Slots {
    let program = Program::new(image, profile).unwrap();
    let mut chip = Chip::new(
        ENGINE,
        profile.clone(),
        &BootPlan::default(),
        vec![(0, program)],
    )
    .unwrap();
    for &check in Check::ALL {
        chip.allow(check);
    }
    let mut slots = Slots::default();
    chip.run(SETTLE_CYCLES, &mut NoTraffic, &mut slots);
    slots
}

/// Whether the instruction was executed, with the predicted cost.
fn compare(program: &[Instruction], profile: &Profile) -> bool {
    let image = image(program);
    let cost: &Cost = &costs(&FlowGraph::of(&image), profile)[usize::from(TESTED_PC)];
    let slots = run(&image, profile);
    let issued = slots.issued.iter().filter(|&&pc| pc == TESTED_PC).count() as u64;
    if issued == 0 {
        // This instruction or the one before it needs the rest of the chip.
        return false;
    }
    let instruction = &program[usize::from(TESTED_PC)];
    let text = format!("`{instruction}` after `{}`: {cost:?}", program[0]);
    assert_eq!(issued, cost.cycles, "{text}");
    let goes = match instruction.form().flow {
        FlowClass::Next => false,
        FlowClass::Branch | FlowClass::Jump => true,
        FlowClass::Arbitration | FlowClass::Command => instruction.swaps(),
        FlowClass::Codes | FlowClass::Bit | FlowClass::State => slots.issued.contains(&TARGET),
    };
    assert_eq!(slots.aborted, if goes { cost.aborted } else { 0 }, "{text}");
    true
}

#[test]
fn explained_costs_match_runs_of_generated_programs() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_instruction();
    let mut any = move || strategy.new_tree(&mut runner).unwrap().current();
    let profile = newest("ixp2400");
    let mut seen = BTreeSet::new();
    for round in 0..16384 {
        let (before, instruction) = (any(), any());
        // In half of all cases, nothing delays the instruction.
        let before = if round % 2 == 0 {
            Instruction::Nop
        } else {
            before
        };
        if !before.is_control_flow() && compare(&program(before, instruction), &profile) {
            seen.insert(std::ptr::from_ref(instruction.form()));
        }
    }
    for row in mnemonics() {
        for (number, form) in row.forms.iter().enumerate() {
            // These are other spellings of instructions.
            let spelling = ["load_addr", "halt"].contains(&row.name);
            assert!(
                spelling || seen.contains(&std::ptr::from_ref(form)),
                "form {number} of {} was never run",
                row.name
            );
        }
    }
}

#[test]
fn branch_pays_for_fresh_condition_codes() {
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
        let profile = newest(name);
        for _ in 0..256 {
            let before = any();
            for &branch in &branches {
                compare(&program(before, branch), &profile);
            }
        }
    }
}
