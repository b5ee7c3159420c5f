//! Programs with loops that run several times before the program continues.

use npsim_isa::{AluOp, Bank, Condition, Instruction, Operand, ShfOp, Shift, encode};
use proptest::prelude::*;
use proptest::sample::select;

use super::{BREAKPOINT, assemble, immed, shf_op, values};

/// Counts the iterations of one line; nothing else in a program with loops uses it.
const ROUNDS: Operand = Operand::Gpr(Bank::B, 15);

/// An operation on a few registers, so that many use the result of the one before them.
fn chained() -> BoxedStrategy<Instruction> {
    let register = || {
        select(vec![Bank::A, Bank::B])
            .prop_flat_map(|bank| (0..3_u8).prop_map(move |n| Operand::Gpr(bank, n)))
    };
    let result = move || prop_oneof![7 => register(), 1 => Just(Operand::None)];
    let source = move || prop_oneof![7 => register(), 1 => any::<u8>().prop_map(Operand::Constant)];
    let op = select(vec![
        AluOp::B,
        AluOp::Add,
        AluOp::Add16,
        AluOp::And,
        AluOp::Or,
        AluOp::Xor,
        AluOp::Xor,
        AluOp::Sub,
        AluOp::SubReverse,
    ]);
    let by = prop_oneof![
        (1..32_u8).prop_map(Shift::Left),
        (1..32_u8).prop_map(Shift::Right)
    ];
    let (merged, by_field) = (register(), by.clone());
    prop_oneof![
        6 => (op, result(), source(), source())
            .prop_map(|(op, dest, a, b)| Instruction::Alu { op, dest, a, b }),
        6 => (result(), register(), by).prop_map(|(dest, b, shift)| Instruction::AluShf {
            op: ShfOp::B,
            dest,
            a: Operand::None,
            b,
            shift,
        }),
        1 => (shf_op(), result(), source(), source(), (1..32_u8).prop_map(Shift::RotateRight))
            .prop_map(|(op, dest, a, b, shift)| Instruction::AluShf { op, dest, a, b, shift }),
        1 => (merged, 0..16_u8, register(), by_field, any::<bool>(), any::<bool>()).prop_map(
            |(dest, mask, src, shift, clear, load_cc)| Instruction::LdField { dest, mask, src, shift, clear, load_cc }
        ),
        1 => (register(), any::<u16>()).prop_map(|(dest, value)| Instruction::ImmedWord { dest, word: 1, value }),
    ]
    .prop_filter("not encodable", |instruction| encode(instruction).is_ok())
    .boxed()
}

/// A branch back to the start of its own line, which is taken until a count of iterations ends, or
/// for less long.
fn back() -> impl Strategy<Value = Instruction> {
    let condition = select(vec![
        Condition::Ne,
        Condition::Ne,
        Condition::Eq,
        Condition::Pl,
        Condition::Gt,
        Condition::Ge,
        Condition::Cs,
    ]);
    prop_oneof![
        6 => condition.prop_map(|condition| Instruction::Branch { condition, target: 0, defer: 0 }),
        1 => (any::<bool>(), 0..4_u8)
            .prop_map(|(set, bit)| Instruction::BranchBit { set, src: ROUNDS, bit, target: 0, defer: 0 }),
        1 => Just(Instruction::BranchByte { equal: false, src: ROUNDS, byte: 0, value: 0, target: 0, defer: 0 }),
    ]
}

/// A program with loops that run several times before it continues.
pub fn looping() -> impl Strategy<Value = Vec<Instruction>> {
    let chain = |most| proptest::collection::vec(chained(), 0..most);
    let line = (
        1..90_u16,
        chain(9),
        proptest::option::weighted(0.3, any::<u16>()),
        back(),
    );
    let line = line.prop_map(|(rounds, mut line, between, back)| {
        line.push(Instruction::Alu {
            op: AluOp::Sub,
            dest: ROUNDS,
            a: ROUNDS,
            b: Operand::Constant(1),
        });
        // This instruction does not change the condition codes.
        line.extend(between.map(|value| immed(Operand::Gpr(Bank::A, 1), value)));
        line.push(back);
        vec![vec![immed(ROUNDS, rounds)], line]
    });
    let block = prop_oneof![2 => line, 1 => chain(4).prop_map(|it| vec![it])];
    (values(), proptest::collection::vec(block, 1..6), 1..4_u16)
        .prop_map(|(values, blocks, rounds)| assemble(&values, blocks.concat(), rounds, BREAKPOINT))
}
