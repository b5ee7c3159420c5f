//! Exceptions, interrupts, modes, system registers, unaligned accesses and refused ones.
// Events as steps return them.
#![allow(clippy::unnecessary_wraps)]

use npsim_arm::{ByteOrder, Event, Exception, Line, Mode, RunEnd, Unpredictable, status};

use crate::machine::{Machine, START};

const SWI: u32 = 0xef00_0042;
const NOP: u32 = 0xe1a0_0000;

fn exception(kind: Exception, address: u32, word: u32) -> Option<Event> {
    Some(Event::Exception {
        kind,
        address,
        word,
    })
}

fn unpredictable(why: Unpredictable) -> Option<Event> {
    Some(Event::Unpredictable {
        why,
        address: START,
    })
}

#[test]
fn software_interrupt_enters_its_vector_and_returns() {
    let mut machine = Machine::new(&[SWI, NOP]);
    machine.memory.words[2] = 0xe1b0_f00e; // movs pc, lr
    machine
        .cpu
        .set_cpsr(Mode::User.bits() | status::N | status::Q);
    machine.cpu.set_register(13, 7);
    let (_, event) = machine.step();
    assert_eq!(event, exception(Exception::SoftwareInterrupt, START, 0x42));
    assert_eq!(machine.cpu.mode(), Mode::Supervisor);
    assert_eq!(machine.cpu.pc(), 8);
    assert_eq!(machine.cpu.register(14), START + 4);
    assert_eq!(machine.cpu.register(13), 0);
    assert_eq!(machine.cpu.banked_register(Mode::User, 13), 7);
    assert_eq!(
        machine.cpu.spsr(),
        Some(Mode::User.bits() | status::N | status::Q)
    );
    assert_eq!(machine.cpu.cpsr() & (status::I | status::F), status::I);
    assert_eq!(machine.step().1, None);
    assert_eq!(
        (machine.cpu.mode(), machine.cpu.pc()),
        (Mode::User, START + 4)
    );
    assert_eq!(machine.cpu.register(13), 7);
    assert_eq!(machine.cpu.spsr(), None);
}

#[test]
fn exceptions_in_thumb_state_link_to_the_right_instruction() {
    // swi 1, undefined, bkpt 2: each from its own address.
    for (half, kind, word, link) in [
        (0xdf01, Exception::SoftwareInterrupt, 1, 2),
        (0xde00, Exception::Undefined, 0xde00, 2),
        (0xbe02, Exception::PrefetchAbort, 2, 4),
    ] {
        let mut machine = Machine::new(&[half << 16]);
        machine.cpu.set_cpsr(machine.cpu.cpsr() | status::T);
        assert_eq!(machine.step().1, exception(kind, START, word));
        assert_eq!(machine.cpu.register(14), START + link);
        assert_eq!(machine.cpu.mode(), kind.mode());
        assert_eq!(machine.cpu.pc(), kind.vector());
        assert!(!machine.cpu.thumb());
        assert_ne!(machine.cpu.spsr().unwrap() & status::T, 0);
    }
}

#[test]
fn interrupts_are_pending_until_unmasked() {
    // mrs r0, cpsr; bic r0, r0, #0x80; msr cpsr_c, r0; nop
    let mut machine = Machine::new(&[0xe10f_0000, 0xe3c0_0080, 0xe121_f000, NOP]);
    machine.memory.words[6] = 0xe25e_f004; // subs pc, lr, #4
    machine.cpu.interrupt(Line::Irq, true);
    assert!(machine.cpu.interrupt_asserted());
    assert_eq!(machine.cpu.interrupt_due(), None);
    let (_, end) = machine.run(1000);
    assert_eq!(
        RunEnd::Event(exception(Exception::Irq, START + 12, 0).unwrap()),
        end
    );
    assert_eq!(machine.cpu.pc(), 0x18);
    assert_eq!(machine.cpu.register(14), START + 16);
    machine.cpu.interrupt(Line::Irq, false);
    machine.steps(1);
    assert_eq!(
        (machine.cpu.mode(), machine.cpu.pc()),
        (Mode::Supervisor, START + 12)
    );
}

#[test]
fn fast_interrupt_uses_banked_registers() {
    let mut machine = Machine::new(&[NOP]);
    machine.memory.words[7] = 0xe3a0_8005; // mov r8, #5
    machine.cpu.set_register(8, 1);
    machine.cpu.set_cpsr(Mode::System.bits());
    machine.cpu.interrupt(Line::Irq, true);
    machine.cpu.interrupt(Line::Fiq, true);
    assert_eq!(machine.step().1, exception(Exception::Fiq, START, 0));
    let masks = status::I | status::F;
    assert_eq!(machine.cpu.cpsr() & masks, masks);
    machine.steps(1);
    assert_eq!(machine.cpu.register(8), 5);
    assert_eq!(machine.cpu.banked_register(Mode::User, 8), 1);
}

#[test]
fn exception_vectors_follow_base_and_high_vectors_bit() {
    let mut machine = Machine::new(&[SWI]);
    machine.cpu.set_vectors(0x400);
    machine.step();
    assert_eq!(machine.cpu.pc(), 0x408);
    // mrc p15, 0, r0, c1, c0, 0; orr r0, r0, #0x2000; mcr p15, 0, r0, c1, c0, 0; swi
    let mut machine = Machine::new(&[0xee11_0f10, 0xe380_0a02, 0xee01_0f10, SWI]);
    machine.steps(3);
    machine.step();
    assert_eq!(machine.cpu.pc(), 0xffff_0008);
}

#[test]
fn unaligned_word_load_is_rotated() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for low in 0..4 {
            // ldr r1, [r0]
            let mut machine = Machine::with_order(&[0xe590_1000], order);
            machine.memory.words[0x80] = 0x1122_3344;
            machine.cpu.set_register(0, 0x200 + low);
            machine.steps(1);
            let expected = 0x1122_3344u32.rotate_right(8 * low);
            assert_eq!(machine.cpu.register(1), expected);
        }
    }
}

#[test]
fn unaligned_swap_rotates_the_loaded_word() {
    for low in 0..4 {
        // swp r1, r2, [r0]
        let mut machine = Machine::new(&[0xe100_1092]);
        machine.memory.words[0x80] = 0x1122_3344;
        machine.cpu.set_register(0, 0x200 + low);
        machine.cpu.set_register(2, 0x5566_7788);
        machine.steps(1);
        let expected = 0x1122_3344u32.rotate_right(8 * low);
        assert_eq!(machine.cpu.register(1), expected);
        assert_eq!(machine.memory.words[0x80], 0x5566_7788);
    }
}

#[test]
fn other_unaligned_accesses_are_reported() {
    for (word, why) in [
        (0xe1d0_10b0, Unpredictable::UnalignedHalf), // ldrh r1, [r0]
        (0xe1c0_10b0, Unpredictable::UnalignedHalf), // strh r1, [r0]
        (0xe1c0_20d0, Unpredictable::UnalignedDouble), // ldrd r2, [r0]
        (0xe1c0_20f0, Unpredictable::UnalignedDouble), // strd r2, [r0]
        (0xe890_0006, Unpredictable::UnalignedBlock), // ldm r0, {r1, r2}
        (0xe880_0006, Unpredictable::UnalignedBlock), // stm r0, {r1, r2}
    ] {
        let mut machine = Machine::new(&[word]);
        machine.cpu.set_register(0, 0x201);
        assert_eq!(machine.step().1, unpredictable(why), "{word:08x}");
        assert_eq!(machine.cpu.pc(), START + 4);
    }
}

#[test]
fn unaligned_accesses_abort_with_alignment_checking() {
    // mrc p15, 0, r1, c1, c0, 0; orr r1, r1, #2; mcr p15, 0, r1, c1, c0, 0; ldr r2, [r0], #4
    let mut machine = Machine::new(&[0xee11_1f10, 0xe381_1002, 0xee01_1f10, 0xe490_2004]);
    // mrc p15, 0, r3, c5, c0, 0; mrc p15, 0, r4, c6, c0, 0
    machine.memory.words[4..6].copy_from_slice(&[0xee15_3f10, 0xee16_4f10]);
    machine.cpu.set_register(0, 0x203);
    machine.steps(3);
    let (_, event) = machine.step();
    assert_eq!(event, exception(Exception::DataAbort, START + 12, 0));
    assert_eq!(machine.cpu.register(14), START + 20);
    assert_eq!(machine.cpu.register(0), 0x203);
    machine.steps(2);
    assert_eq!(
        (machine.cpu.register(3), machine.cpu.register(4)),
        (1, 0x203)
    );
}

#[test]
fn refused_access_leaves_state_unchanged_and_can_be_retried() {
    for word in [
        0xe5b0_1004, // ldr r1, [r0, #4]!
        0xe4a0_1004, // strt r1, [r0], #4
        0xe8b0_001e, // ldm r0!, {r1-r4}
        0xe8a0_001e, // stm r0!, {r1-r4}
        0xe0c0_20d8, // ldrd r2, [r0], #8
        0xe1e0_20f8, // strd r2, [r0, #8]!
        0xe100_1092, // swp r1, r2, [r0]
    ] {
        let mut machine = Machine::new(&[word]);
        machine.cpu.set_register(0, 0x200);
        machine.cpu.set_register(3, 3);
        machine.memory.words[0x80..0x88].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let mut allowed = machine.clone();
        machine.memory.closed = 0x200;
        let before = machine.clone();
        for _ in 0..2 {
            assert!(machine.cpu.step(&mut machine.memory).is_err());
            assert!((0..16).all(|n| machine.cpu.register(n) == before.cpu.register(n)));
            assert_eq!(machine.memory, before.memory);
            assert_eq!(machine.cpu.cycles(), 0);
        }
        machine.memory.closed = u32::MAX;
        machine.steps(1);
        allowed.steps(1);
        assert_eq!(machine, allowed, "{word:08x}");
    }
}

#[test]
fn block_transfer_with_caret_moves_user_registers() {
    // stm r0, {r8, sp}^; ldm r1, {r9, lr}^
    let mut machine = Machine::new(&[0xe8c0_2100, 0xe8d1_4200]);
    machine.cpu.set_cpsr(Mode::Fiq.bits());
    machine.cpu.set_banked_register(Mode::User, 8, 88);
    machine.cpu.set_banked_register(Mode::User, 13, 1313);
    machine.cpu.set_register(8, 1);
    machine.cpu.set_register(0, 0x200);
    machine.cpu.set_register(1, 0x200);
    machine.steps(2);
    assert_eq!(machine.memory.words[0x80..0x82], [88, 1313]);
    assert_eq!(machine.cpu.banked_register(Mode::User, 9), 88);
    assert_eq!(machine.cpu.banked_register(Mode::User, 14), 1313);
    assert_eq!(machine.cpu.register(9), 0);
}

#[test]
fn invalidating_the_code_cache_refetches_code() {
    // mov r0, #1; (again) mcr p15, 0, r0, c7, c5, 0; b to the first
    let mut machine = Machine::new(&[0xe3a0_0001, 0xee07_0f15, 0xeaff_fffc]);
    machine.steps(1);
    machine.memory.words[START as usize / 4] = 0xe3a0_0002;
    machine.cpu.set_pc(START);
    machine.steps(1);
    assert_eq!(machine.cpu.register(0), 1);
    machine.steps(3);
    assert_eq!(machine.cpu.register(0), 2);
    // The same within one run.
    machine.memory.words[START as usize / 4] = 0xe3a0_0003;
    assert_eq!(machine.run(50).1, RunEnd::CyclesSpent);
    assert_eq!(machine.cpu.register(0), 3);
}

#[test]
fn coprocessor_access_is_undefined_in_user_mode_or_without_coprocessor() {
    let id = 0xee10_0f10; // mrc p15, 0, r0, c0, c0, 0
    let mut machine = Machine::new(&[id]);
    machine.steps(1);
    assert_eq!(machine.cpu.register(0) >> 16, 0x6905);
    let mut machine = Machine::new(&[id]);
    machine.cpu.set_cpsr(Mode::User.bits());
    assert_eq!(machine.step().1, exception(Exception::Undefined, START, id));
    let floating = 0xee00_0a10; // mcr p10, 0, r0, c0, c0, 0
    let mut machine = Machine::new(&[floating]);
    assert_eq!(
        machine.step().1,
        exception(Exception::Undefined, START, floating)
    );
}

#[test]
fn wait_for_interrupt_ends_the_run_with_an_event() {
    // mcr p14, 0, r0, c7, c0, 0; mcr p15, 0, r0, c7, c0, 4, which is the bus's
    let mut machine = Machine::new(&[0xee07_0e10, 0xee07_0f90]);
    machine.memory.waits = true;
    machine.cpu.set_register(0, 1);
    assert_eq!(machine.run(100).1, RunEnd::Event(Event::WaitForInterrupt));
    assert_eq!(machine.cpu.pc(), START + 4);
    assert_eq!(machine.run(100).1, RunEnd::Event(Event::WaitForInterrupt));
    assert_eq!(machine.cpu.pc(), START + 8);
}

#[test]
fn invalid_modes_and_missing_spsr_are_reported() {
    // msr cpsr_c, #0xd4
    let mut machine = Machine::new(&[0xe321_f0d4]);
    assert_eq!(machine.step().1, unpredictable(Unpredictable::Mode));
    assert_eq!(machine.cpu.mode(), Mode::Supervisor);
    // mrs r0, spsr
    let mut machine = Machine::new(&[0xe14f_0000]);
    machine.cpu.set_cpsr(Mode::System.bits());
    assert_eq!(machine.step().1, unpredictable(Unpredictable::Mode));
}
