use npsim_isa::{AluOp, Condition, Instruction};

use super::{Bench, HALT, NONE, a, alu, b, immed, k};
use npsim_chip::core::Core;

const fn br(condition: Condition, target: u16, defer: u8) -> Instruction {
    Instruction::Branch {
        condition,
        target,
        defer,
    }
}

/// The cycle at which address 9 runs after a branch to it at address 2, which itself runs at cycle
/// 2, or at `at` if instructions precede it.
fn landing(before: &[Instruction], branch: Instruction) -> u64 {
    let mut program = before.to_vec();
    program.push(branch);
    program.resize(9, Instruction::Nop);
    program.push(HALT);
    let bench = Bench::run(&program);
    bench.cycles(9)[0] - bench.cycles(before.len() as u16)[0]
}

#[test]
fn taken_branch_penalty_is_reduced_by_defer_slots() {
    let set = [immed(a(0), 1), alu(NONE, a(0), AluOp::Sub, k(1))];
    let settled = [
        immed(a(0), 1),
        alu(NONE, a(0), AluOp::Sub, k(1)),
        Instruction::Nop,
    ];
    assert_eq!(landing(&[], br(Condition::Always, 9, 0)), 3);
    assert_eq!(landing(&[], br(Condition::Always, 9, 1)), 3);
    assert_eq!(landing(&[], br(Condition::Always, 9, 2)), 3);
    assert_eq!(landing(&set, br(Condition::Eq, 9, 0)), 4);
    assert_eq!(landing(&set, br(Condition::Eq, 9, 3)), 4);
    assert_eq!(landing(&settled, br(Condition::Eq, 9, 0)), 3);
    assert_eq!(
        landing(
            &set,
            Instruction::BranchBit {
                set: true,
                src: a(0),
                bit: 0,
                target: 9,
                defer: 0
            }
        ),
        4
    );
    assert_eq!(
        landing(
            &set,
            Instruction::BranchByte {
                equal: true,
                src: a(0),
                byte: 0,
                value: 1,
                target: 9,
                defer: 1
            }
        ),
        4
    );
    assert_eq!(
        landing(
            &set,
            Instruction::Jump {
                src: a(0),
                base: 8,
                defer: 0
            }
        ),
        4
    );
    assert_eq!(
        landing(
            &set,
            Instruction::BranchCtx {
                equal: true,
                context: 0,
                target: 9,
                defer: 0
            }
        ),
        3
    );
}

#[test]
fn untaken_branches_cost_one_cycle() {
    let bench = Bench::run(&[
        immed(a(0), 1),
        alu(NONE, a(0), AluOp::Sub, k(1)),
        br(Condition::Ne, 0, 0),
        HALT,
    ]);
    assert_eq!(bench.cycles(3), [3]);
}

#[test]
fn defer_slots_run_whether_or_not_the_branch_is_taken() {
    for (condition, skipped) in [(Condition::Eq, 0), (Condition::Ne, 1)] {
        let mut bench = Bench::new(&[
            immed(a(0), 1),
            alu(NONE, a(0), AluOp::Sub, k(1)),
            br(condition, 6, 2),
            immed(a(1), 1),
            immed(b(1), 1),
            immed(a(2), 1),
            HALT,
        ]);
        bench.mes[0].write_register(a(2), 0, 0);
        bench.start(1);
        assert_eq!(bench.until(100), None);
        assert_eq!(
            (bench.get(a(1)), bench.get(b(1)), bench.get(a(2))),
            (1, 1, skipped)
        );
    }
}

#[test]
fn branch_conditions_follow_signed_and_unsigned_order() {
    let values = [0, 1, 5, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    for x in values {
        for y in values {
            let (i, j) = (x as i32, y as i32);
            let expected = [
                (Condition::Eq, x == y),
                (Condition::Ne, x != y),
                (Condition::Cs, x >= y),
                (Condition::Cc, x < y),
                (Condition::Ge, i >= j),
                (Condition::Lt, i < j),
                (Condition::Le, i <= j),
                (Condition::Gt, i > j),
                (Condition::Mi, i.wrapping_sub(j) < 0),
                (Condition::Pl, i.wrapping_sub(j) >= 0),
                (Condition::Vs, i.checked_sub(j).is_none()),
                (Condition::Vc, i.checked_sub(j).is_some()),
            ];
            for (condition, taken) in expected {
                let mut bench = Bench::new(&[
                    alu(NONE, a(0), AluOp::Sub, b(0)),
                    br(condition, 3, 0),
                    immed(a(1), 1),
                    HALT,
                ]);
                bench.mes[0].write_register(a(0), 0, x);
                bench.mes[0].write_register(b(0), 0, y);
                bench.mes[0].write_register(a(1), 0, 0);
                bench.start(1);
                assert_eq!(bench.until(100), None);
                assert_eq!(bench.get(a(1)) == 0, taken, "{x:#x} {condition:?} {y:#x}");
            }
        }
    }
}

#[test]
fn bit_and_byte_branches_test_the_selected_field() {
    let taken = |instruction| {
        let mut bench = Bench::new(&[instruction, immed(b(1), 1), HALT]);
        bench.mes[0].write_register(a(0), 0, 0x8012_3400);
        bench.mes[0].write_register(b(1), 0, 0);
        bench.start(1);
        assert_eq!(bench.until(100), None);
        bench.get(b(1)) == 0
    };
    let bit = |set, bit| Instruction::BranchBit {
        set,
        src: a(0),
        bit,
        target: 2,
        defer: 0,
    };
    assert!(taken(bit(true, 31)) && taken(bit(false, 0)) && taken(bit(true, 10)));
    assert!(!taken(bit(false, 31)) && !taken(bit(true, 0)));
    let byte = |equal, byte, value| Instruction::BranchByte {
        equal,
        src: a(0),
        byte,
        value,
        target: 2,
        defer: 0,
    };
    assert!(
        taken(byte(true, 3, 0x80)) && taken(byte(true, 1, 0x34)) && taken(byte(false, 2, 0x13))
    );
    assert!(!taken(byte(true, 0, 1)) && !taken(byte(false, 0, 0)));
}

#[test]
fn jump_target_includes_its_base() {
    let bench = Bench::run(&[
        immed(a(0), 2),
        Instruction::Jump {
            src: a(0),
            base: 3,
            defer: 1,
        },
        immed(b(0), 7),
        HALT,
        HALT,
        immed(b(1), 9),
        HALT,
    ]);
    assert_eq!((bench.get(b(0)), bench.get(b(1))), (7, 9));
}
