//! The cost of instructions, and that time is the same however a program is run.

use npsim_arm::{Line, RunEnd};

use crate::machine::{Machine, START};

#[test]
fn load_use_delay_stalls_a_dependent_instruction() {
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
fn multiply_latency_grows_with_the_multiplier() {
    for (multiplier, cycles) in [(0x7fff, 2), (0xffff_8000, 2), (0x8000, 3), (0x0800_0000, 4)] {
        // mul r2, r0, r1; mov r3, r2
        let mut machine = Machine::new(&[0xe002_0190, 0xe1a0_3002]);
        machine.cpu.set_register(1, multiplier);
        assert_eq!(machine.steps(2), [1, cycles], "{multiplier:x}");
    }
}

#[test]
fn halfword_multiplies_have_xscale_issue_and_result_latency() {
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
fn block_transfer_takes_a_cycle_per_register() {
    // ldm r0, {r1-r4}; add r5, r4, r1
    let mut machine = Machine::new(&[0xe890_001e, 0xe084_5001]);
    assert_eq!(machine.steps(2), [6, 1]);
}

#[test]
fn loop_mispredicts_only_its_first_and_last_branch() {
    // mov r0, #10; subs r0, r0, #1; bne; nop
    let mut machine = Machine::new(&[0xe3a0_000a, 0xe250_0001, 0x1aff_fffd, 0xe1a0_0000]);
    let cycles = machine.steps(21);
    let branches: Vec<_> = cycles[2..].iter().step_by(2).copied().collect();
    assert_eq!(branches, [5, 1, 1, 1, 1, 1, 1, 1, 1, 5]);
}

#[test]
fn pc_load_latency_grows_with_the_register_count() {
    // ldr pc, [r0]; ldm r0, {r1, pc}; ldm r0, {r1-r7, pc}
    for (word, cycles) in [(0xe590_f000, 8), (0xe890_8002, 10), (0xe890_80fe, 15)] {
        let mut machine = Machine::new(&[word]);
        assert_eq!(machine.steps(1), [cycles], "{word:x}");
    }
}

#[test]
fn rrx_and_register_shifts_take_an_extra_cycle() {
    // mov r1, r0, rrx; mov r1, r0, lsl r2; mov r1, r0, lsl #1
    let mut machine = Machine::new(&[0xe1a0_1060, 0xe1a0_1210, 0xe1a0_1080]);
    assert_eq!(machine.steps(3), [2, 2, 1]);
}

#[test]
fn mispredicted_thumb_branch_takes_an_extra_cycle() {
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
fn stepped_and_restored_runs_match_an_uninterrupted_run() {
    let mut whole = Machine::new(&PROGRAM);
    whole.cpu.set_register(3, 12345);
    let mut portions = whole.clone();
    let mut steps = whole.clone();
    assert_eq!(whole.run(5000).1, RunEnd::CyclesSpent);
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
fn refused_access_keeps_the_stall_cycles_already_spent() {
    // ldr r1, [r0]; str r1, [r2], whose store is refused once
    let program = [0xe590_1000, 0xe582_1000];
    let mut machine = Machine::new(&program);
    machine.cpu.set_register(2, 0x800);
    let mut refused = machine.clone();
    machine.steps(2);
    refused.memory.closed = 0x800;
    let (spent, end) = refused.run(100);
    assert_eq!((spent, end), (3, RunEnd::AccessRefused(0x800)));
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
