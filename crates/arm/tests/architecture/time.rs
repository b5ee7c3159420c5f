//! The cost of instructions, and that time is the same however a program is run.

use npsim_arm::{Line, RunEnd};

use crate::machine::{Machine, START};

#[test]
fn a_loaded_register_is_waited_for() {
    // ldr r1, [r0]; add r2, r1, #1
    let mut machine = Machine::new(&[0xe590_1000, 0xe281_2001]);
    assert_eq!(machine.steps(2), [1, 3]);
    // One instruction between.
    let mut machine = Machine::new(&[0xe590_1000, 0xe283_3001, 0xe281_2001]);
    assert_eq!(machine.steps(3), [1, 1, 2]);
    // Bus time is added, and other instructions do not wait for it.
    let mut machine = Machine::new(&[0xe590_1000, 0xe283_3001, 0xe281_2001]);
    machine.memory.cost = 10;
    assert_eq!(machine.steps(3), [1, 1, 12]);
}

#[test]
fn a_product_takes_longer_the_larger_its_multiplier() {
    for (multiplier, cycles) in [(0x7fff, 2), (0xffff_8000, 2), (0x8000, 3), (0x0800_0000, 4)] {
        // mul r2, r0, r1; mov r3, r2
        let mut machine = Machine::new(&[0xe002_0190, 0xe1a0_3002]);
        machine.cpu.set_register(1, multiplier);
        assert_eq!(machine.steps(2), [1, cycles], "{multiplier:x}");
    }
}

#[test]
fn products_of_halves_issue_and_end_as_the_core_s() {
    // smlalbb r2, r3, r0, r1; mov r4, r2: the low half is available after two cycles, which the issue takes.
    let mut machine = Machine::new(&[0xe143_2180, 0xe1a0_4002]);
    assert_eq!(machine.steps(2), [2, 1]);
    // The high half is available a cycle later.
    let mut machine = Machine::new(&[0xe143_2180, 0xe1a0_4003]);
    assert_eq!(machine.steps(2), [2, 2]);
    // ldr r0, [r5]; smulbb r2, r1, r1, which does not read r0.
    let mut machine = Machine::new(&[0xe595_0000, 0xe162_0181]);
    assert_eq!(machine.steps(2), [1, 1]);
    // ldr r0, [r5]; smlabb r2, r1, r1, r0, which does.
    let mut machine = Machine::new(&[0xe595_0000, 0xe102_0181]);
    assert_eq!(machine.steps(2), [1, 3]);
}

#[test]
fn registers_moved_in_a_block_take_a_cycle_each() {
    // ldm r0, {r1-r4}; add r5, r4, r1
    let mut machine = Machine::new(&[0xe890_001e, 0xe084_5001]);
    assert_eq!(machine.steps(2), [6, 1]);
}

#[test]
fn a_loop_pays_for_its_first_branch_and_its_last() {
    // mov r0, #10; subs r0, r0, #1; bne; nop
    let mut machine = Machine::new(&[0xe3a0_000a, 0xe250_0001, 0x1aff_fffd, 0xe1a0_0000]);
    let cycles = machine.steps(21);
    let branches: Vec<_> = cycles[2..].iter().step_by(2).copied().collect();
    assert_eq!(branches, [5, 1, 1, 1, 1, 1, 1, 1, 1, 5]);
}

#[test]
fn a_loaded_pc_takes_longer_the_more_registers_come_with_it() {
    // ldr pc, [r0]; ldm r0, {r1, pc}; ldm r0, {r1-r7, pc}
    for (word, cycles) in [(0xe590_f000, 8), (0xe890_8002, 10), (0xe890_80fe, 15)] {
        let mut machine = Machine::new(&[word]);
        assert_eq!(machine.steps(1), [cycles], "{word:x}");
    }
}

#[test]
fn a_shift_through_the_carry_takes_a_cycle_more() {
    // mov r1, r0, rrx; mov r1, r0, lsl r2; mov r1, r0, lsl #1
    let mut machine = Machine::new(&[0xe1a0_1060, 0xe1a0_1210, 0xe1a0_1080]);
    assert_eq!(machine.steps(3), [2, 2, 1]);
}

#[test]
fn an_unforeseen_branch_takes_a_cycle_more_in_thumb() {
    // add r0, pc, #1; bx r0; b to the next but one
    let mut machine = Machine::new(&[0xe28f_0001, 0xe12f_ff10, 0xe7ff_e7ff]);
    assert_eq!(machine.steps(3), [1, 5, 6]);
}

/// A loop with loads, stores, a multiplication and a branch that is seldom taken.
const PROGRAM: [u32; 10] = [
    0xe3a0_0c02, // mov r0, #0x200
    0xe201_10fc, // and r1, r1, #0xfc
    0xe790_2001, // ldr r2, [r0, r1]
    0xe023_2392, // mla r3, r2, r3, r2
    0xe083_3002, // add r3, r3, r2
    0xe780_3001, // str r3, [r0, r1]
    0xe281_1004, // add r1, r1, #4
    0xe313_0003, // tst r3, #3
    0x0aff_fff7, // beq to the second
    0xeaff_fff6, // b to the second
];

#[test]
fn steps_portions_and_a_copy_give_the_same_state() {
    let mut whole = Machine::new(&PROGRAM);
    whole.cpu.set_register(3, 12345);
    let mut portions = whole.clone();
    let mut steps = whole.clone();
    assert_eq!(whole.run(5000).1, RunEnd::Spent);
    while portions.cpu.cycles() < 5000 {
        let left = 5000 - portions.cpu.cycles();
        portions.run(left.min(7));
        // A checkpoint does not contain decoded code.
        let text = serde_json::to_string(&portions.cpu).unwrap();
        portions.cpu = serde_json::from_str(&text).unwrap();
    }
    let mut cycles = 0;
    while cycles < 5000 {
        cycles += steps.step().0;
    }
    assert_eq!(portions, whole);
    assert_eq!(steps, whole);
    assert!(whole.cpu.instructions() > 2500);
    assert_ne!(whole.cpu.register(3), 12345);
}

#[test]
fn a_refused_access_keeps_the_cycles_that_were_waited() {
    // ldr r1, [r0]; str r1, [r2], whose store is refused once
    let program = [0xe590_1000, 0xe582_1000];
    let mut machine = Machine::new(&program);
    machine.cpu.set_register(2, 0x800);
    let mut refused = machine.clone();
    machine.steps(2);
    refused.memory.closed = 0x800;
    let (spent, end) = refused.run(100);
    assert_eq!((spent, end), (3, RunEnd::Refused(0x800)));
    assert_eq!(refused.cpu.pc(), START + 4);
    refused.memory.closed = u32::MAX;
    assert_eq!(refused.steps(1), [1]);
    assert_eq!(refused.cpu.cycles(), machine.cpu.cycles());
}

#[test]
fn the_cycle_counter_counts_idle_time() {
    // mov r0, #5; mcr p14, 0, r0, c0, c1, 0; mrc p14, 0, r1, c1, c1, 0
    let mut machine = Machine::new(&[0xe3a0_0005, 0xee00_0e11, 0xee11_1e11]);
    machine.steps(2);
    machine.cpu.idle(1000);
    machine.cpu.interrupt(Line::Irq, true);
    machine.steps(1);
    let counted = machine.cpu.register(1);
    assert!((1000..1010).contains(&counted), "{counted}");
    assert!(machine.cpu.cycles() > 1000);
}
