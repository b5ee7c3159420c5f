//! Round trips of every table row through the encoder and the decoder.

use crate::*;

const A: Operand = Operand::Gpr(Bank::A, 1);
const B: Operand = Operand::Gpr(Bank::B, 2);

fn round_trip(instruction: Instruction) -> u64 {
    let word = encode(&instruction).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    assert_eq!(decode(word), Ok(instruction), "{instruction}");
    word
}

fn refusal(instruction: Instruction) -> EncodeError {
    match encode(&instruction) {
        Ok(word) => panic!("{instruction} encoded as {word:010x}"),
        Err(error) => error,
    }
}

#[test]
fn alu_operations_round_trip_and_other_codes_are_undefined() {
    for code in 0..32u8 {
        let word = Format::Alu.info().match_value
            | raw::alu::OP.put(code.into())
            | raw::alu::DEST.put(unused::ALU_B.into())
            | raw::alu::B.put(unused::ALU_B.into());
        let known = AluOp::from_code(code).is_some()
            || AluSpecial::from_code(code).is_some()
            || UnaryOp::from_code(code).is_some();
        let undefined = decode(word).is_err_and(|error| {
            error.reason == DecodeReason::Undefined && error.bits == raw::alu::OP.mask()
        });
        assert_eq!(known, !undefined, "{code}");
    }
    for op in AluOp::ALL {
        let a = if op.is_unary() { Operand::None } else { A };
        for dest in [Operand::None, A, B] {
            round_trip(Instruction::Alu { op, dest, a, b: B });
        }
    }
}

#[test]
fn every_shift_of_every_shf_operation_round_trips() {
    let mut words = std::collections::BTreeSet::new();
    for op in ShfOp::ALL {
        let a = if op.is_unary() { Operand::None } else { B };
        let shifts = (1..32u8)
            .flat_map(|n| [Shift::Left(n), Shift::Right(n), Shift::RotateRight(n)])
            .chain([Shift::None, Shift::LeftIndirect, Shift::RightIndirect]);
        for shift in shifts {
            let dest = A;
            let b = A;
            words.insert(round_trip(Instruction::AluShf {
                op,
                dest,
                a,
                b,
                shift,
            }));
        }
    }
    assert_eq!(words.len(), 6 * (31 * 3 + 3));
}

#[test]
fn operand_codes_are_unambiguous_per_role() {
    for form in [&UNRESTRICTED, &RESTRICTED] {
        for role in [Role::Source, Role::Dest] {
            for code in 0..1u16 << form.bits {
                let rows = form.rows.iter().filter(|row| {
                    let serves = match role {
                        Role::Source => row.source,
                        Role::Dest => row.dest,
                    };
                    serves && code & row.mask == row.value
                });
                assert!(rows.count() <= 1, "{} {code:#x}", form.name);
                if let Some(operand) = form.decode(code, role, Bank::A) {
                    assert_eq!(form.encode(operand, role), Ok(code), "{operand}");
                }
            }
        }
    }
}

#[test]
fn restricted_constants_are_split_as_in_golden_words() {
    // 96 is 11 00000 with the marker bit between its parts.
    assert_eq!(
        RESTRICTED.encode(Operand::Constant(96), Role::Source),
        Ok(0xe0)
    );
    assert_eq!(
        RESTRICTED.encode(Operand::Constant(128), Role::Source),
        Err(Unencodable::Index { max: 127 })
    );
}

#[test]
fn every_branch_condition_and_input_state_round_trips() {
    let (target, defer) = (8191, 2);
    for condition in Condition::ALL {
        round_trip(Instruction::Branch {
            condition,
            target,
            defer,
        });
    }
    for state in InputState::ALL {
        for set in [true, false] {
            assert_eq!(InputState::from_number(state.number()), Some(state));
            round_trip(Instruction::BranchInputState {
                set,
                state,
                target,
                defer,
            });
        }
    }
}

#[test]
fn every_crc_option_round_trips() {
    for kind in CrcKind::ALL {
        for bytes in CrcBytes::ALL {
            for (order, bit_swap) in [
                (ByteOrder::Big, false),
                (ByteOrder::Little, true),
                (ByteOrder::Big, true),
            ] {
                for src in [A, B] {
                    round_trip(Instruction::Crc {
                        order,
                        kind,
                        dest: A,
                        src,
                        bytes,
                        bit_swap,
                    });
                }
            }
        }
    }
}

#[test]
fn commands_round_trip_with_minimum_and_maximum_count() {
    for op in CommandOp::ALL {
        let info = op.info();
        assert_eq!(
            CommandOp::by_name(info.unit, &info.name.to_uppercase()),
            Some(op)
        );
        for count in [u8::from(info.takes_count), info.max_count] {
            let operand = |operand| {
                if info.takes_operands {
                    operand
                } else {
                    Operand::None
                }
            };
            let transfer = match (info.takes_transfer, info.default_transfer) {
                (false, _) => TransferRegister::None,
                (true, TransferKind::S) => TransferRegister::S(15),
                (true, TransferKind::D) => TransferRegister::D(15),
            };
            let completion = if info.signals == SignalRule::None {
                Completion::Silent
            } else {
                Completion::CtxSwap {
                    signal: 14,
                    defer: 2,
                }
            };
            let command = Command {
                op,
                transfer,
                a: operand(A),
                b: operand(Operand::Constant(127)),
                count,
                completion,
                indirect: true,
                ignore_data_error: info.ignore_error,
            };
            round_trip(Instruction::Command(command));
            if info.takes_count {
                let count = info.max_count + 1;
                let error = refusal(Instruction::Command(Command { count, ..command }));
                assert_eq!(error.operand, OperandRole::Count);
            }
        }
    }
}

#[test]
fn signal_pair_commands_require_an_even_signal() {
    let command = |op, signal| {
        Instruction::Command(Command {
            op,
            transfer: TransferRegister::None,
            a: A,
            b: B,
            count: 1,
            completion: Completion::SigDone(signal),
            indirect: true,
            ignore_data_error: false,
        })
    };
    assert_eq!(
        refusal(command(CommandOp::DramTbufWr, 5)).kind,
        EncodeErrorKind::OddSignal { signal: 5 }
    );
    round_trip(command(CommandOp::DramTbufWr, 4));
}

#[test]
fn encode_errors_name_the_operand_and_reason() {
    let shf = |a, b| Instruction::AluShf {
        op: ShfOp::And,
        dest: A,
        a,
        b,
        shift: Shift::None,
    };
    let alu = |a, b| Instruction::Alu {
        op: AluOp::Add,
        dest: A,
        a,
        b,
    };
    let absolute = Operand::GprAbsolute(Bank::B, 3);
    assert_eq!(
        refusal(shf(A, absolute)).to_string(),
        "second source: @b3 cannot be read in the restricted operand form of this instruction; copy it to a register with alu[]"
    );
    assert_eq!(
        refusal(alu(A, A)).kind,
        EncodeErrorKind::BankConflict {
            bank: Bank::A,
            a: A,
            b: A
        }
    );
    assert_eq!(
        refusal(alu(Operand::Constant(1), Operand::Constant(2))).kind,
        EncodeErrorKind::TwoConstants
    );
    let (x, y) = (Operand::STransfer(1), Operand::STransfer(2));
    assert_eq!(
        refusal(alu(x, y)).kind,
        EncodeErrorKind::PathConflict { a: x, b: y }
    );
    round_trip(alu(x, x));
    assert_eq!(
        refusal(alu(Operand::None, B)).to_string(),
        "first source: missing, `--` is not allowed here"
    );
    let branch = Instruction::Branch {
        condition: Condition::Always,
        target: 0,
        defer: 3,
    };
    assert_eq!(
        refusal(branch).to_string(),
        "defer count: 3 is outside 0 to 2"
    );
    let nop = Instruction::Immed {
        dest: Operand::None,
        value: 0,
        shift: ImmedShift::None,
        invert: false,
    };
    assert_eq!(
        refusal(nop).kind,
        EncodeErrorKind::UseInstead { text: "nop" }
    );
}

#[test]
fn nonstandard_unused_bits_decode_only_leniently() {
    // The unused A field of `ffs` holds 1 instead of the value that the
    // assembler writes.
    let word = 0xa700100801;
    let instruction = decode_lenient(word).unwrap();
    assert_eq!(instruction.to_string(), "ffs[a1, b2]");
    let error = decode(word).unwrap_err();
    assert_eq!(error.bits, 1);
    assert_eq!(
        error.to_string(),
        "word a700100801: bits 0 (alu.a) should be unused; the same instruction is a700100800"
    );
}

#[test]
fn operators_that_pass_b_preserve_the_a_operand() {
    let alu = |a, b| Instruction::Alu {
        op: AluOp::B,
        dest: Operand::None,
        a,
        b,
    };
    let shf = |a, b| Instruction::AluShf {
        op: ShfOp::NotB,
        dest: Operand::None,
        a,
        b,
        shift: Shift::Left(3),
    };
    for instruction in [alu(A, B), alu(B, A), alu(A, Operand::Constant(0))] {
        round_trip(instruction);
    }
    for instruction in [shf(A, B), shf(B, A), shf(Operand::Constant(200), A)] {
        round_trip(instruction);
    }
    // The unused-operand code is also that of a register, or of the constant 0.
    let named = |instruction: Instruction| {
        let first = instruction.first_source().unwrap();
        let written = match instruction {
            Instruction::Alu { op, dest, b, .. } => Instruction::Alu {
                op,
                dest,
                a: first,
                b,
            },
            Instruction::AluShf {
                op, dest, b, shift, ..
            } => Instruction::AluShf {
                op,
                dest,
                a: first,
                b,
                shift,
            },
            other => other,
        };
        assert_eq!(encode(&written), encode(&instruction));
        assert_eq!(decode(encode(&written).unwrap()), Ok(instruction));
        first
    };
    let (a0, b0) = (Operand::Gpr(Bank::A, 0), Operand::Gpr(Bank::B, 0));
    assert_eq!(named(alu(Operand::None, B)), a0);
    assert_eq!(named(alu(Operand::None, A)), Operand::Constant(0));
    assert_eq!(named(shf(Operand::None, B)), a0);
    assert_eq!(named(shf(Operand::None, A)), b0);
    // A first source that no source text can express beside B is dropped.
    let word = encode(&alu(Operand::STransfer(1), B)).unwrap() & !raw::alu::B.mask()
        | raw::alu::B.put(0x182);
    let instruction = decode_lenient(word).unwrap();
    assert_eq!(instruction.to_string(), "alu[--, --, B, $2]");
    assert!(decode(word).is_err());
}

#[test]
fn cap_fast_write_preserves_the_indirect_ref_bit() {
    let word = 0x3300012f20 | raw::cap_csr::INDIRECT.put(1);
    assert_eq!(
        decode(word).map(|it| it.to_string()),
        Ok("cap[fast_wr, 0, 0x4b20], indirect_ref".to_owned())
    );
}

#[test]
fn decode_errors_name_reserved_and_unknown_bits() {
    let nop = encode(&Instruction::Nop).unwrap();
    let error = decode(nop | 1 << 32).unwrap_err();
    assert_eq!(
        (error.bits, error.fields()),
        (1 << 32, vec!["immed reserved bits".to_owned()])
    );
    let error = decode(0xffffffffff).unwrap_err();
    assert_eq!(error.reason, DecodeReason::UnknownClass);
    assert_eq!(error.ranges(), [(39, 32)]);
    let error = decode(1 << 40).unwrap_err();
    assert_eq!((error.bits, error.reason), (1 << 40, DecodeReason::TooWide));
}

#[test]
fn transfer_field_depends_on_the_context_count() {
    let read = |transfer| {
        Instruction::Command(Command {
            op: CommandOp::SramRead,
            transfer,
            a: A,
            b: Operand::Constant(0),
            count: 1,
            completion: Completion::SigDone(1),
            indirect: false,
            ignore_data_error: false,
        })
    };
    let word = encode(&read(TransferRegister::D(3))).unwrap();
    assert_eq!(
        encode_in(
            &read(TransferRegister::S(19)),
            Target::with_mode(ContextMode::Four)
        ),
        Ok(word)
    );
    assert_eq!(
        decode_in(word, Target::with_mode(ContextMode::Four)),
        Ok(read(TransferRegister::S(19)))
    );
    assert_eq!(
        encode_in(
            &read(TransferRegister::D(3)),
            Target::with_mode(ContextMode::Four)
        )
        .unwrap_err()
        .kind,
        EncodeErrorKind::WrongTransferKind
    );
    assert_eq!(
        refusal(read(TransferRegister::S(16))).operand,
        OperandRole::Transfer
    );
}

#[test]
fn registers_are_found_by_name_and_address() {
    for csr in csr::all() {
        assert_eq!(csr::by_name(&csr.name.to_lowercase()), Some(csr.address));
        assert_eq!(csr::name(csr.address), Some(csr.name));
        for alias in csr.aliases {
            assert_eq!(csr::by_name(alias), Some(csr.address));
        }
    }
    assert_eq!(csr::by_name("lm_addr_0"), Some(csr::ACTIVE_LM_ADDR_0));
    assert_eq!(csr::name(0x3fc), None);
    assert_eq!(cap_csr::by_name("XSCALE_INT_A"), Some(0x4b20));
    assert_eq!(cap_csr::name(0x4810), Some("SCRATCH_RING_BASE_1"));
    assert_eq!(cap_csr::by_name("hash_multiplier_48_1"), Some(0x4c00));
    assert_eq!(msf_csr::by_name("RBUF_ELEMENT_DONE"), Some(0x44));
    assert_eq!(msf_csr::by_name("TBUF_ELEMENT_CONTROL_1"), Some(0x1808));
}

#[test]
fn enumeration_values_are_found_by_text_and_alias() {
    assert_eq!(Condition::from_text("BHS"), Some(Condition::Cs));
    assert_eq!(Condition::from_text("blo"), Some(Condition::Cc));
    assert_eq!(AluOp::from_text("and~"), Some(AluOp::AndNot));
    assert_eq!(
        InputState::from_text("SCR_Ring3_Status"),
        Some(InputState::ScratchRing3)
    );
    for op in AluOp::ALL {
        assert_eq!(AluOp::from_text(op.text()), Some(op));
        assert_eq!(AluOp::from_code(op.code()), Some(op));
    }
}

#[test]
fn branch_targets_can_be_replaced() {
    let arb = |resume| {
        Instruction::CtxArb(CtxArb {
            mask: 2,
            any: false,
            breakpoint: false,
            keep_mask: false,
            resume,
            defer: 0,
        })
    };
    assert_eq!(arb(Some(1)).with_target(9), arb(Some(9)));
    assert_eq!(arb(None).with_target(9), arb(None));
    assert_eq!(arb(Some(9)).target(), Some(9));
    assert!(arb(None).is_control_flow());
    assert!(!Instruction::Nop.is_control_flow());
}

/// Questions that the sources leave open, by the table row they concern.
#[test]
fn open_questions_are_marked_uncertain() {
    use CommandOp as C;
    for op in [
        C::SramSwap,
        C::ScratchSwap,
        C::SramPut,
        C::SramTestAndIncr,
        C::ScratchTestAndDecr,
        C::Hash48,
        C::Hash64,
        C::Hash128,
        C::CapRead,
        C::CapWrite,
        C::CapReflectRead,
        C::CapReflectWrite,
    ] {
        assert!(op.info().uncertain.is_some(), "{op:?}");
    }
    for format in [
        Format::Hash,
        Format::Cap,
        Format::MulStep,
        Format::BrBit,
        Format::BrByte,
        Format::Jump,
    ] {
        assert!(format.info().uncertain.is_some(), "{format:?}");
    }
    for special in [
        AluSpecial::CamClear,
        AluSpecial::CamLookup,
        AluSpecial::CamWrite,
    ] {
        assert!(special.info().uncertain.is_some(), "{special:?}");
    }
    assert!(UnaryOp::CamReadState.info().uncertain.is_some());
    assert!(ShfSpecial::ByteAlign.info().uncertain.is_some());
    for test in [BranchTest::SignalSet, BranchTest::SignalClear] {
        assert!(test.info().uncertain.is_some(), "{test:?}");
    }
    for kind in [CrcKind::Ccitt, CrcKind::Crc10, CrcKind::Crc5] {
        assert!(kind.info().uncertain.is_some(), "{kind:?}");
    }
    for bytes in CrcBytes::ALL {
        assert_eq!(bytes.info().uncertain.is_some(), bytes != CrcBytes::All);
    }
    for name in [
        "br=ctx",
        "br!=ctx",
        "br_signal",
        "br_!signal",
        "br_inp_state",
        "br_!inp_state",
        "ffs",
        "cap",
    ] {
        assert!(mnemonic(name).unwrap().uncertain.is_some(), "{name}");
    }
    for csr in csr::all() {
        let open = [
            "TIMESTAMP_LOW",
            "TIMESTAMP_HIGH",
            "T_INDEX",
            "CTX_ARB_CNTL",
            "ACTIVE_CTX_STS",
        ];
        assert_eq!(
            csr.uncertain.is_some(),
            open.contains(&csr.name),
            "{}",
            csr.name
        );
    }
    for csr in cap_csr::all() {
        assert_eq!(
            csr.uncertain.is_none(),
            csr.name == "XSCALE_INT_A",
            "{}",
            csr.name
        );
    }
}
