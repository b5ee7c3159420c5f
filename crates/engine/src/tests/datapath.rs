use npsim_isa::{
    AluOp, ByteOrder, CamLmTarget, Condition, CrcBytes, CrcKind, ImmedShift, Instruction, MulPhase,
    MulWidth, Operand, ShfOp, Shift, ShiftCount, UnaryOp, csr,
};

use super::{Bench, HALT, NONE, a, alu, b, immed, k, load};
use npsim_chip::core::Core;

/// N, Z, V and C after the last ALU instruction, determined with the branches that test them.
fn run_alu(x: u32, y: u32, op: AluOp, carry: bool) -> (u32, [bool; 4]) {
    let mut program = Vec::new();
    program.extend(load(a(0), x));
    program.extend(load(b(0), y));
    // 0 - 0 does not borrow, 0 - 1 does.
    program.push(immed(a(1), 0));
    program.push(alu(NONE, a(1), AluOp::Sub, k(u8::from(!carry))));
    let unary = matches!(op, AluOp::B | AluOp::NotB);
    program.push(alu(a(2), if unary { NONE } else { a(0) }, op, b(0)));
    for (bit, condition) in [Condition::Mi, Condition::Eq, Condition::Vs, Condition::Cs]
        .into_iter()
        .enumerate()
    {
        let here = program.len() as u16;
        program.push(Instruction::Branch {
            condition,
            target: here + 3,
            defer: 0,
        });
        program.push(immed(b(4 + bit as u8), 0));
        program.push(Instruction::Branch {
            condition: Condition::Always,
            target: here + 4,
            defer: 0,
        });
        program.push(immed(b(4 + bit as u8), 1));
    }
    program.push(HALT);
    let bench = Bench::run(&program);
    (bench.get(a(2)), [4, 5, 6, 7].map(|n| bench.get(b(n)) == 1))
}

#[test]
fn alu_results_and_condition_codes_are_correct() {
    let cases = [
        // x, y, op, carry in, result, N Z V C
        (1, 2, AluOp::Add, false, 3, "...."),
        (u32::MAX, 1, AluOp::Add, false, 0, ".Z.C"),
        (0x7fff_ffff, 1, AluOp::Add, false, 0x8000_0000, "N.V."),
        (0x8000_0000, 0x8000_0000, AluOp::Add, false, 0, ".ZVC"),
        (5, 7, AluOp::Sub, false, 0xffff_fffe, "N..."),
        (7, 5, AluOp::Sub, false, 2, "...C"),
        (5, 5, AluOp::Sub, false, 0, ".Z.C"),
        (0x8000_0000, 1, AluOp::Sub, false, 0x7fff_ffff, "..VC"),
        (5, 7, AluOp::SubReverse, false, 2, "...C"),
        (7, 5, AluOp::SubReverse, false, 0xffff_fffe, "N..."),
        (1, 2, AluOp::AddCarry, true, 4, "...."),
        (u32::MAX, 0, AluOp::AddCarry, true, 0, ".Z.C"),
        (u32::MAX, u32::MAX, AluOp::AddCarry, true, u32::MAX, "N..C"),
        (9, 4, AluOp::SubCarry, true, 5, "...C"),
        (9, 4, AluOp::SubCarry, false, 4, "...C"),
        (4, 4, AluOp::SubCarry, false, u32::MAX, "N..."),
        (0x10, 0xabcd_1234, AluOp::Add16, false, 0x1244, "...."),
        (0x10, 0xabcd_1234, AluOp::Add8, false, 0x44, "...."),
        (
            0xff00_ff00,
            0xf0f0_f0f0,
            AluOp::And,
            true,
            0xf000_f000,
            "N...",
        ),
        (
            0xff00_ff00,
            0xf0f0_f0f0,
            AluOp::NotAAnd,
            true,
            0x00f0_00f0,
            "....",
        ),
        (
            0xff00_ff00,
            0xf0f0_f0f0,
            AluOp::AndNot,
            true,
            0x0f00_0f00,
            "....",
        ),
        (
            0xff00_ff00,
            0xf0f0_f0f0,
            AluOp::Or,
            true,
            0xfff0_fff0,
            "N...",
        ),
        (0xff00_ff00, 0xff00_ff00, AluOp::Xor, true, 0, ".Z.."),
        (1, 0xf0f0_f0f0, AluOp::B, true, 0xf0f0_f0f0, "N..."),
        (1, 0xf0f0_f0f0, AluOp::NotB, true, 0x0f0f_0f0f, "...."),
    ];
    for (x, y, op, carry, result, codes) in cases {
        let (got, flags) = run_alu(x, y, op, carry);
        let text: String = flags
            .iter()
            .zip("NZVC".chars())
            .map(|(&on, c)| if on { c } else { '.' })
            .collect();
        assert_eq!(
            (got, text.as_str()),
            (result, codes),
            "{x:#x} {op:?} {y:#x}"
        );
    }
}

/// Runs one instruction that reads a0 and b0 and writes a2.
fn result(x: u32, y: u32, before: &[Instruction], instruction: Instruction) -> u32 {
    let mut program = Vec::new();
    program.extend(load(a(0), x));
    program.extend(load(b(0), y));
    program.extend(before);
    program.push(instruction);
    program.push(HALT);
    Bench::run(&program).get(a(2))
}

#[test]
fn shift_operations_give_documented_results() {
    let shf = |op, shift| Instruction::AluShf {
        op,
        dest: a(2),
        a: a(0),
        b: b(0),
        shift,
    };
    let only = |shift| Instruction::AluShf {
        op: ShfOp::B,
        dest: a(2),
        a: NONE,
        b: b(0),
        shift,
    };
    let y = 0x8765_4321;
    assert_eq!(result(0, y, &[], only(Shift::None)), y);
    assert_eq!(result(0, y, &[], only(Shift::Left(4))), 0x7654_3210);
    assert_eq!(result(0, y, &[], only(Shift::Left(31))), 0x8000_0000);
    assert_eq!(result(0, y, &[], only(Shift::Right(8))), 0x0087_6543);
    assert_eq!(result(0, y, &[], only(Shift::Right(31))), 1);
    assert_eq!(result(0, y, &[], only(Shift::RotateRight(4))), 0x1876_5432);
    assert_eq!(
        result(0xff, y, &[], shf(ShfOp::Or, Shift::Left(8))),
        0x6543_21ff
    );
    assert_eq!(result(0xff, y, &[], shf(ShfOp::And, Shift::Right(4))), 0x32);
    assert_eq!(
        result(0xff, y, &[], shf(ShfOp::NotAAnd, Shift::Right(4))),
        0x0876_5400
    );
    assert_eq!(
        result(0xff, y, &[], shf(ShfOp::AndNot, Shift::Right(4))),
        0xcd
    );
    assert_eq!(
        result(
            0,
            y,
            &[],
            Instruction::AluShf {
                op: ShfOp::NotB,
                dest: a(2),
                a: NONE,
                b: b(0),
                shift: Shift::Left(4)
            }
        ),
        !0x7654_3210
    );
}

#[test]
fn indirect_shifts_take_the_previous_a_operand() {
    let amount = |n| [immed(a(3), n), alu(NONE, a(3), AluOp::Or, k(0))];
    let only = |shift| Instruction::AluShf {
        op: ShfOp::B,
        dest: a(2),
        a: NONE,
        b: b(0),
        shift,
    };
    assert_eq!(
        result(0, 0x8000_0001, &amount(4), only(Shift::LeftIndirect)),
        0x10
    );
    assert_eq!(
        result(0, 0x8000_0001, &amount(31), only(Shift::RightIndirect)),
        1
    );
    assert_eq!(
        result(0, 0x8000_0001, &amount(0), only(Shift::RightIndirect)),
        0x8000_0001
    );
    assert_eq!(
        result(0, 0x8000_0001, &amount(36), only(Shift::LeftIndirect)),
        0x10
    );
    // The source that `B` ignores is the count: as written, or as named by the otherwise unused
    // field, which is a0, or b0 for a shift that takes its second source from bank A.
    let passed = [immed(a(3), 5), alu(NONE, a(3), AluOp::B, k(0))];
    assert_eq!(result(0, 1, &passed, only(Shift::LeftIndirect)), 0x20);
    let passed = [alu(NONE, a(0), AluOp::NotB, k(0))];
    assert_eq!(result(5, 1, &passed, only(Shift::LeftIndirect)), 0x20);
    let passed = [alu(NONE, NONE, AluOp::B, k(0))];
    assert_eq!(result(5, 1, &passed, only(Shift::LeftIndirect)), 0x20);
    let passed = [alu(NONE, NONE, AluOp::B, a(0))];
    assert_eq!(result(5, 1, &passed, only(Shift::LeftIndirect)), 1);
    let shifted = Instruction::AluShf {
        op: ShfOp::B,
        dest: NONE,
        a: NONE,
        b: a(0),
        shift: Shift::Right(1),
    };
    assert_eq!(result(9, 3, &[shifted], only(Shift::LeftIndirect)), 24);
    let double = Instruction::DblShf {
        dest: a(2),
        a: a(0),
        b: b(0),
        count: ShiftCount::Indirect,
    };
    assert_eq!(
        result(0x1122_3344, 0x5566_7788, &amount(8), double),
        0x4455_6677
    );
    let shifted = Instruction::LdField {
        dest: a(2),
        mask: 0b0011,
        src: b(0),
        shift: Shift::RightIndirect,
        clear: true,
        load_cc: false,
    };
    assert_eq!(result(0, 0x1122_3344, &amount(16), shifted), 0x1122);
}

#[test]
fn double_and_arithmetic_shifts_give_documented_results() {
    let double = |n| Instruction::DblShf {
        dest: a(2),
        a: a(0),
        b: b(0),
        count: ShiftCount::By(n),
    };
    assert_eq!(
        result(0x1122_3344, 0x5566_7788, &[], double(16)),
        0x3344_5566
    );
    assert_eq!(result(1, 0, &[], double(1)), 0x8000_0000);
    let asr = |n| Instruction::Asr {
        dest: a(2),
        src: b(0),
        count: ShiftCount::By(n),
    };
    let sign_of = |x| [alu(NONE, NONE, AluOp::B, x)];
    assert_eq!(result(0, 0x8000_0000, &sign_of(b(0)), asr(4)), 0xf800_0000);
    assert_eq!(result(0, 0x4000_0000, &sign_of(b(0)), asr(4)), 0x0400_0000);
    // The fill is the sign of the previous result, not of the operand.
    assert_eq!(
        result(0x8000_0000, 0x4000_0000, &sign_of(a(0)), asr(4)),
        0xf400_0000
    );
}

#[test]
fn byte_align_matches_documented_examples() {
    let run = |order, words: [u32; 4], with: u8| {
        let mut program = vec![immed(a(9), u16::from(with))];
        program.push(Instruction::LocalCsrWrite {
            csr: csr::BYTE_INDEX,
            src: a(9),
        });
        for (n, word) in words.into_iter().enumerate() {
            program.extend(load(
                if order == ByteOrder::Big {
                    b(n as u8)
                } else {
                    a(n as u8)
                },
                word,
            ));
        }
        for n in 0..4 {
            let src = if order == ByteOrder::Big { b(n) } else { a(n) };
            let dest = if n == 0 {
                NONE
            } else if order == ByteOrder::Big {
                a(3 + n)
            } else {
                b(3 + n)
            };
            program.push(Instruction::ByteAlign { order, dest, src });
        }
        program.push(HALT);
        let bench = Bench::run(&program);
        [4, 5, 6].map(|n| bench.get(if order == ByteOrder::Big { a(n) } else { b(n) }))
    };
    let big = [0x0001_0203, 0x0405_0607, 0x0809_0a0b, 0x0c0d_0e0f];
    assert_eq!(
        run(ByteOrder::Big, big, 2),
        [0x0203_0405, 0x0607_0809, 0x0a0b_0c0d]
    );
    assert_eq!(
        run(ByteOrder::Big, big, 0),
        [0x0001_0203, 0x0405_0607, 0x0809_0a0b]
    );
    let little = [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c];
    assert_eq!(
        run(ByteOrder::Little, little, 2),
        [0x0504_0302, 0x0908_0706, 0x0d0c_0b0a]
    );
    assert_eq!(
        run(ByteOrder::Little, little, 3),
        [0x0605_0403, 0x0a09_0807, 0x0e0d_0c0b]
    );
}

#[test]
fn ld_field_and_immediates_write_selected_bytes() {
    let field = |mask, shift, clear| Instruction::LdField {
        dest: a(0),
        mask,
        src: b(0),
        shift,
        clear,
        load_cc: false,
    };
    let run = |instruction| {
        let mut program = Vec::from(load(a(0), 0x1122_3344));
        program.extend(load(b(0), 0xaabb_ccdd));
        program.extend([instruction, HALT]);
        Bench::run(&program).get(a(0))
    };
    assert_eq!(run(field(0b1001, Shift::None, false)), 0xaa22_33dd);
    assert_eq!(run(field(0b1001, Shift::None, true)), 0xaa00_00dd);
    assert_eq!(run(field(0b0110, Shift::Left(8), false)), 0x11cc_dd44);
    assert_eq!(
        run(field(0b0011, Shift::RotateRight(28), false)),
        0x1122_cdda
    );
    assert_eq!(
        run(Instruction::ImmedByte {
            dest: a(0),
            byte: 2,
            value: 0x99
        }),
        0x1199_3344
    );
    assert_eq!(
        run(Instruction::ImmedWord {
            dest: a(0),
            word: 1,
            value: 0x99
        }),
        0x0099_3344
    );
    let immed = |value, shift, invert| Instruction::Immed {
        dest: a(0),
        value,
        shift,
        invert,
    };
    assert_eq!(run(immed(0xabcd, ImmedShift::By8, false)), 0x00ab_cd00);
    assert_eq!(run(immed(0xabcd, ImmedShift::By16, false)), 0xabcd_0000);
    assert_eq!(run(immed(0x00ff, ImmedShift::None, true)), 0xffff_ff00);
    assert_eq!(run(immed(0x0001, ImmedShift::By16, true)), 0xfffe_ffff);
}

#[test]
fn ld_field_sets_condition_codes_only_with_load_cc() {
    for load_cc in [false, true] {
        let program = [
            immed(a(0), 5),
            immed(b(0), 0),
            alu(NONE, a(0), AluOp::Or, k(0)),
            Instruction::LdField {
                dest: a(1),
                mask: 15,
                src: b(0),
                shift: Shift::None,
                clear: true,
                load_cc,
            },
            Instruction::Branch {
                condition: Condition::Eq,
                target: 6,
                defer: 0,
            },
            HALT,
            immed(b(3), 1),
            HALT,
        ];
        let mut bench = Bench::new(&program);
        bench.mes[0].write_register(b(3), 0, 0);
        bench.start(1);
        assert_eq!(bench.until(1000), None);
        assert_eq!(bench.get(b(3)) == 1, load_cc);
    }
}

#[test]
fn condition_codes_are_unchanged_when_cc_enable_is_off() {
    let bench = Bench::run(&[
        immed(a(0), 0),
        alu(NONE, a(0), AluOp::Sub, k(0)),
        Instruction::LocalCsrWrite {
            csr: csr::CC_ENABLE,
            src: k(0),
        },
        alu(a(1), a(0), AluOp::Add, k(7)),
        Instruction::Branch {
            condition: Condition::Eq,
            target: 6,
            defer: 0,
        },
        HALT,
        immed(b(3), 1),
        HALT,
    ]);
    assert_eq!((bench.get(a(1)), bench.get(b(3))), (7, 1));
}

#[test]
fn multiply_steps_give_the_product() {
    let (x, y) = (0xfedc_ba98, 0x8765_4321);
    let run = |width, steps: u8, high| {
        let mut program = Vec::from(load(a(0), x));
        program.extend(load(b(0), y));
        program.push(Instruction::MulStep {
            phase: MulPhase::Start,
            a: a(0),
            b: b(0),
        });
        for n in 1..=steps {
            program.push(Instruction::MulStep {
                phase: MulPhase::Step(width, n),
                a: a(0),
                b: b(0),
            });
        }
        program.push(Instruction::MulLast {
            width,
            high: false,
            dest: a(2),
        });
        if high {
            program.push(Instruction::MulLast {
                width,
                high,
                dest: a(2),
            });
        }
        program.push(HALT);
        Bench::run(&program).get(a(2))
    };
    let product = u64::from(x) * u64::from(y);
    assert_eq!(run(MulWidth::W32x32, 4, false), product as u32);
    assert_eq!(run(MulWidth::W32x32, 4, true), (product >> 32) as u32);
    assert_eq!(run(MulWidth::W16x16, 2, false), (x & 0xffff) * (y & 0xffff));
    assert_eq!(
        run(MulWidth::W24x8, 1, false),
        ((x & 0xff_ffff) as u64 * (y & 0xff) as u64) as u32
    );
}

#[test]
fn ffs_and_pop_count_are_correct() {
    let ffs = Instruction::Unary {
        op: UnaryOp::Ffs,
        dest: a(2),
        src: b(0),
    };
    assert_eq!(result(0, 0x00f0_0100, &[], ffs), 8);
    assert_eq!(result(0, 0x8000_0000, &[], ffs), 31);
    assert_eq!(result(0, 0, &[], ffs), 0);
    let count = [UnaryOp::PopCount1, UnaryOp::PopCount2].map(|op| Instruction::Unary {
        op,
        dest: Operand::None,
        src: b(0),
    });
    assert_eq!(
        result(
            0,
            0xf00f_0001,
            &count,
            Instruction::Unary {
                op: UnaryOp::PopCount3,
                dest: a(2),
                src: b(0)
            }
        ),
        9
    );
}

#[test]
fn crc_copies_its_source_and_updates_the_remainder() {
    let mut program = Vec::from(load(b(0), 0x3132_3334));
    program.extend(load(a(5), u32::MAX));
    program.push(Instruction::LocalCsrWrite {
        csr: csr::CRC_REMAINDER,
        src: a(5),
    });
    program.push(Instruction::Crc {
        order: ByteOrder::Big,
        kind: CrcKind::Crc32,
        dest: a(2),
        src: b(0),
        bytes: CrcBytes::All,
        bit_swap: true,
    });
    program.push(Instruction::LocalCsrRead {
        csr: csr::CRC_REMAINDER,
    });
    program.extend([immed(a(3), 0), HALT]);
    let bench = Bench::run(&program);
    assert_eq!(bench.get(a(2)), 0x3132_3334);
    // CRC-32 of "1234" in the form used by the catalogues.
    assert_eq!(bench.get(a(3)).reverse_bits() ^ u32::MAX, 0x9be3_e0a3);
}

#[test]
fn cam_instructions_read_and_write_entries() {
    let mut program = vec![immed(a(0), 0x77), immed(b(0), 3), Instruction::CamClear];
    program.push(Instruction::CamWrite {
        entry: b(0),
        src: a(0),
        state: 9,
    });
    program.push(Instruction::CamLookup {
        dest: a(2),
        src: a(0),
        lm_addr: Some(CamLmTarget {
            pointer: 1,
            block: 0,
        }),
    });
    program.push(Instruction::CamWriteState {
        entry: b(0),
        state: 4,
    });
    program.push(Instruction::Unary {
        op: UnaryOp::CamReadState,
        dest: a(3),
        src: b(0),
    });
    program.push(Instruction::Unary {
        op: UnaryOp::CamReadTag,
        dest: a(4),
        src: b(0),
    });
    program.push(immed(a(5), 0x1234));
    program.push(alu(
        Operand::LocalMemory {
            pointer: 1,
            offset: 1,
        },
        a(5),
        AluOp::Add,
        k(0),
    ));
    program.push(HALT);
    let bench = Bench::run(&program);
    assert_eq!(bench.get(a(2)), 9 << 8 | 1 << 7 | 3 << 3);
    assert_eq!(bench.get(a(3)), 4 << 8);
    assert_eq!(bench.get(a(4)), 0x77);
    // The result without block: byte address 0x398 is word 0xe6, and with offset 1 it is 0xe7.
    assert_eq!(
        bench.mes[0].local_memory()[(bench.get(a(2)) as usize & 0x3ff) >> 2 | 1],
        0x1234
    );
}
